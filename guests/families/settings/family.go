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
