package settings

import alcove "github.com/alcove-memory/alcove/sdk/go"

// RollbackConfig puts a setting back to the value that it had at a version, as a new version. Version 0 is before it was ever set. With
// scopeId, the override of that scope.
//
//alcove:description Put a setting back to an earlier version.
//alcove:title Roll a setting back
//alcove:camel
type RollbackConfig struct {
	Key     string `alcove:"required"`
	Version uint64 `alcove:"required"`
	ScopeID string
	Reason  string
}

// RolledBack is a setting that was put back, with its new version.
type RolledBack struct {
	Key     string
	Version uint64
	Value   alcove.Raw // null: it is not set.
}

// Call puts it back.
func (in RollbackConfig) Call(c *alcove.Call) (out RolledBack, err error) {
	scope, name := scopeOf(in.ScopeID)
	done, err := c.ConfigRollback(alcove.ConfigRollbackRequest{Key: in.Key, Version: in.Version, Scope: scope, Name: name, Reason: in.Reason})
	if err != nil {
		return out, err
	}
	return RolledBack{in.Key, done.Changed.Version, or(done.Changed.After)}, announce(c, done.Changed, name)
}
