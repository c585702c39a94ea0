package settings

import alcove "github.com/alcove-memory/alcove/sdk/go"

// RollbackConfig puts a setting back to the value that it had at a version, as a new version; or all settings of a change back to what they
// were before it. Version 0 is before it was ever set. A change of which a setting was changed since is refused. With scopeId, overrides of
// that scope.
//
//alcove:description Put a setting back to an earlier version, or take back a change of settings.
//alcove:title Roll a setting back
//alcove:camel
type RollbackConfig struct {
	Key       string
	Version   alcove.Optional[uint64]
	Change    string // Instead of both: undoes all that it set.
	ScopeID   string
	Namespace string `alcove:"advanced"` // The scope, unless scopeId names one.
	Reason    string
}

// RolledBack is a setting that was put back, with its new version; or several.
type RolledBack struct {
	Key      string                `json:",omitzero"`
	Version  uint64                `json:",omitzero"`
	Value    alcove.Raw            `json:",omitzero"` // null: it is not set.
	Change   string                // To undo the rollback.
	Versions map[string]uint64     `json:",omitzero"` // Of a change.
	Values   map[string]alcove.Raw `json:",omitzero"` // null: it is not set.
}

// Call puts it back.
func (in RollbackConfig) Call(c *alcove.Call) (out RolledBack, err error) {
	version, given := in.Version.Get()
	switch {
	case in.Change != "" && (in.Key != "" || given):
		return out, alcove.Errorf(alcove.InvalidArgument, "give a key and a version, or a change: not both")
	case in.Change != "":
		return in.undo(c)
	case in.Key == "" || !given:
		return out, alcove.Errorf(alcove.InvalidArgument, "give a key and a version of memory_config_history, or a change")
	}
	scope, name := scopeOf(in.ScopeID, in.Namespace)
	done, err := c.ConfigRollback(alcove.ConfigRollbackRequest{Key: in.Key, Version: version, Scope: scope, Name: name, Reason: in.Reason})
	if err != nil {
		return out, err
	}
	return RolledBack{Key: in.Key, Version: done.Changed.Version, Value: or(done.Changed.After), Change: done.Changed.Change}, announce(c, done.Changed, name)
}

// undo puts all settings of a change back.
func (in RollbackConfig) undo(c *alcove.Call) (out RolledBack, err error) {
	scope, name := scopeOf(in.ScopeID, in.Namespace)
	done, err := c.ConfigUndo(alcove.ConfigUndoRequest{Change: in.Change, Scope: scope, Name: name, Reason: in.Reason})
	if err != nil {
		return out, err
	}
	out = RolledBack{Versions: map[string]uint64{}, Values: map[string]alcove.Raw{}}
	for _, s := range done.Changed {
		out.Versions[s.Key], out.Values[s.Key], out.Change = s.Version, or(s.After), s.Change
		if err := announce(c, s, name); err != nil {
			return out, err
		}
	}
	return out, nil
}
