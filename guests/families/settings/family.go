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
