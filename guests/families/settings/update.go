package settings

import (
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"slices"
)

// UpdateConfig changes one or several settings together: all, or with any fault none. They are changed for everything, or with scopeId for
// that scope alone. null goes back to the default. expect_version is the version that the setting must have; 0: it was never set.
//
//alcove:description Change one or several settings together.
//alcove:tool idempotent
//alcove:title Change settings
type UpdateConfig struct {
	Key           string
	Value         alcove.Optional[alcove.Raw] `alcove:"clear"`
	Changes       map[string]alcove.Raw       // Values by their keys.
	ScopeID       string                      `alcove:"name=scopeId"` // For this scope alone.
	Namespace     string                      `alcove:"advanced"`     // The scope, unless scopeId names one.
	Reason        string
	ExpectVersion alcove.Optional[uint64] `alcove:"alias=if_version"` // With a key.
}

// Changed is what the settings were before, and their versions now.
type Changed struct {
	Versions map[string]uint64
	Previous map[string]alcove.Raw // null: it was not set.
	Change   string                `json:",omitzero"`        // To roll all of it back.
	ScopeID  string                `json:"scopeId,omitzero"` // The scope that it was changed for; absent: everything.
}

// Call changes them.
func (in UpdateConfig) Call(c *alcove.Call) (Changed, error) {
	changes, err := in.changes()
	if err != nil {
		return Changed{}, err
	}
	scope, name := scopeOf(in.ScopeID, in.Namespace)
	return put(c, alcove.ConfigPutRequest{Scope: scope, Name: name, Changes: changes, Reason: in.Reason})
}

func (in UpdateConfig) changes() (list []alcove.SettingChange, err error) {
	expected, conditional := in.ExpectVersion.Get()
	switch {
	case in.Key == "" && len(in.Changes) == 0:
		return nil, alcove.Errorf(alcove.InvalidArgument, "give a key and its value, or changes: values by their keys")
	case in.Key != "" && in.Value.IsZero():
		return nil, alcove.Errorf(alcove.InvalidArgument, "give the value of %s; null goes back to its default", in.Key)
	case in.Key == "" && conditional:
		return nil, alcove.Errorf(alcove.InvalidArgument, "expect_version needs a key")
	}
	if in.Key != "" {
		one := alcove.SettingChange{Key: in.Key, Value: in.Value.Or(alcove.Raw("null"))}
		if conditional {
			one.IfVersion = &expected
		}
		list = append(list, one)
	}
	return append(list, changesOf(in.Changes, nil)...), nil
}

// changesOf are the changes of some settings, in the order of their keys.
func changesOf(values map[string]alcove.Raw, priority *int) (list []alcove.SettingChange) {
	for key, value := range values {
		list = append(list, alcove.SettingChange{Key: key, Value: value, Priority: priority})
	}
	slices.SortFunc(list, func(a, b alcove.SettingChange) int {
		if a.Key < b.Key {
			return -1
		}
		return 1
	})
	return list
}

// put changes settings, and announces what is another than it was.
func put(c *alcove.Call, r alcove.ConfigPutRequest) (out Changed, err error) {
	done, err := c.ConfigPut(r)
	if err != nil {
		return out, err
	}
	out = Changed{Versions: map[string]uint64{}, Previous: map[string]alcove.Raw{}, ScopeID: r.Name}
	for _, change := range done.Changed {
		out.Versions[change.Key], out.Previous[change.Key] = change.Version, or(change.Before)
		if change.Change != "" {
			out.Change = change.Change
		}
		if err := announce(c, change, r.Name); err != nil {
			return out, err
		}
	}
	return out, nil
}

// announce emits an event about a setting that changed.
func announce(c *alcove.Call, s alcove.SettingChanged, scope string) error {
	if string(s.Before) == string(s.After) {
		return nil
	}
	namespace := scope
	if namespace == "" {
		namespace = c.Namespace
	}
	changes := map[string]any{"key": s.Key, "from": or(s.Before), "to": or(s.After), "by": c.Caller, "version": s.Version, "change": s.Change}
	if scope != "" {
		changes["scopeId"] = scope
	}
	return c.FeedEmit(alcove.FeedEmitRequest{Kind: "config_changed", Namespace: namespace, Payload: alcove.JSON(changes)})
}

// or is a value, or null.
func or(value alcove.Raw) alcove.Raw {
	if len(value) == 0 {
		return alcove.Raw("null")
	}
	return value
}
