// Package settings serves the family settings: the configuration that families share, as tools.
//
// Every family declares its settings, with defaults and ranges. Here they are read, changed for everything or for one scope, and put back.
// A scope is a namespace. The value of a scope is used before that of the system, and that before the default. Changes that break a rule,
// such as the sum of the ranking weights, are refused; several changes are made together or not at all. Every change has a version, an
// author and a reason. The capabilities and limits of families are no settings: only the operator changes them.
//
//alcove:family settings 1.0.0
//alcove:description Read, change, override and roll back configuration.
//alcove:keywords setting, configure, configuration, option, parameter, preference, value, default, limit, threshold, override, per project, policy, scope
//alcove:keywords switch on, switch off, enable, disable, turn on, turn off, adjust, change back, roll back, revert, who changed, audit, semantic search, rebuild vectors
//alcove:example what is this option set to?
//alcove:example show all the configuration values
//alcove:example change the default limit of results
//alcove:example use another value in this namespace alone
//alcove:example undo the change of a setting
//alcove:example who changed this option, and when?
//alcove:example reset a parameter to its default
//alcove:example turn search by meaning on or off
//alcove:example compute all embeddings anew
//alcove:example set a policy for a scope
//alcove:example increase the capacity of the buffer in the configuration
//alcove:example history of configuration changes
//alcove:example lower the threshold for duplicates
//alcove:example what is the current value of an option?
//alcove:example set a parameter to another number
//alcove:example raise the weight of freshness in the configuration
//alcove:example change the decay rate
//alcove:example set the number of results to twenty by default
//alcove:example different configuration for one project
//alcove:example somebody altered the configuration, put the former value back
//alcove:example who modified the settings this morning?
//alcove:example list everything that can be adjusted
//alcove:example restore factory values
//alcove:example disable semantic search
//alcove:example rebuild the index of vectors after a change of model
//alcove:example make old memories decay more slowly
//alcove:example set how many thoughts fit in the buffer
//alcove:example which settings are not at their default?
//alcove:example adjust the weight of importance
//alcove:example how long are events kept, change that
//alcove:example give freshness more weight in the ranking
//alcove:example how many results does a search return by default?
//alcove:example bump the default page size to 50
//alcove:example what is the forget threshold at present?
//alcove:example print the entire configuration
//alcove:example list options of the category ranking
//alcove:example which knobs are there?
//alcove:example show tunables and their allowed ranges
//alcove:example explain what this option does and what it is set to
//alcove:example switch the dedup threshold to 0.9
//alcove:example set importance_weight_decision to 0.6
//alcove:example change several parameters in one go
//alcove:example let decisions count for more by default
//alcove:example increase the half-life of observations
//alcove:example disable automatic forgetting
//alcove:example enable the reranker
//alcove:example turn that feature off for everybody
//alcove:example activate linking of mentions
//alcove:example make the buffer hold nine items instead of seven
//alcove:example shorten how long feed entries are kept
//alcove:example raise the retention to 60 days
//alcove:example make semantic matching stricter
//alcove:example loosen the similarity needed for a semantic hit
//alcove:example turn on vector search
//alcove:example lexical search only, no embeddings please
//alcove:example recompute all vectors
//alcove:example re-embed everything, we switched models
//alcove:example refresh the embeddings from scratch
//alcove:example who turned off the reranker, and when?
//alcove:example log of configuration edits
//alcove:example what was this parameter last week?
//alcove:example show earlier values of the decay rate
//alcove:example previous versions of the settings
//alcove:example put the old value of the threshold back
//alcove:example roll the configuration back to Monday
//alcove:example take back my last tweak of the weights
//alcove:example that change of settings made things worse, undo it
//alcove:example revert the parameter
//alcove:example back to defaults
//alcove:example reset everything to how it came
//alcove:example the finance project needs a different limit from the rest
//alcove:example override the retention for the namespace legal
//alcove:example exceptions to the settings for this scope
//alcove:example which settings differ in the test namespace?
//alcove:example what overrides apply to our project?
//alcove:example remove the special value for one namespace
//alcove:example per-namespace configuration
//alcove:example does a policy override the default here?
//alcove:example the value in this scope and where it comes from
//alcove:example adjust how fast memories fade
//alcove:example give importance less influence in the search order by configuration
//alcove:example tweak the weights: semantic 0.5, lexical 0.1
//alcove:example change how often the daily job runs
//alcove:example allow longer facts: up to 16 KB each
//alcove:example configure the token budget that sessions start with
//alcove:example lower the maximum number of hits
//alcove:example is semantic search on?
//alcove:example what's the current alpha for outcomes?
//alcove:example tune the parameters of the memory server
//alcove:example preferences of the server
//alcove:example set the language of the classifier option
//alcove:example make the alert fire at a drop of five percent
//alcove:example update the config key route_min_similarity
//alcove:example where do I change how strict duplicates are judged?
//alcove:example is this option still at its default?
//alcove:license Apache-2.0
//alcove:needs config.read * to show settings
//alcove:needs config.shared * to change settings, for callers with the right to
//alcove:needs feed.emit * to announce changes
//alcove:needs feed.kind config_changed to announce them under this name
//alcove:needs embed.rebuild to have all embeddings made again, when asked to
package settings

import alcove "github.com/alcove-memory/alcove/sdk/go"

//go:generate alcove family gen

// Config is how meaning is searched for. It is what memory_configure_semantic changes.
type Config struct {
	Enabled   bool    `alcove:"key=semantic_enabled,shared,category=semantic,default=true"`                            // Whether tools search by meaning
	Threshold float64 `alcove:"key=semantic_threshold,shared,category=semantic,min=0,max=1,default=0"`                 // The least likeness of what is found by meaning alone
	Method    string  `alcove:"key=semantic_method,shared,category=semantic,enum=embedding|lexical,default=embedding"` // How likeness is computed
}

// Family is settings.
func Family() *alcove.Family {
	return alcove.New(GetConfig{}, ListConfigs{}, UpdateConfig{}, ConfigHistory{}, RollbackConfig{}, SetScopePolicy{}, ListScopePolicies{}, ConfigureSemantic{}, RegenerateVectors{})
}
