package family

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/config"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
)

// SettingQuery selects settings for an operator.
type SettingQuery struct {
	Keys      []string     `json:"keys,omitempty"` // none: all shared ones
	Category  string       `json:"category,omitempty"`
	Prefix    string       `json:"prefix,omitempty"`
	Namespace string       `json:"namespace,omitempty"` // that the values apply to
	Agent     string       `json:"agent,omitempty"`     // likewise
	Family    string       `json:"family,omitempty"`    // likewise; its own settings are listed, too
	In        config.Scope `json:"in,omitzero"`         // only what is set there; the zero Scope: what applies
}

// Setting is an operator's view of a setting.
type Setting struct {
	Key         string          `json:"key"`
	Value       json.RawMessage `json:"value"`
	Source      string          `json:"source"` // default, or its scope
	Version     uint64          `json:"version,omitempty"`
	Priority    int             `json:"priority,omitempty"`
	UpdatedAt   string          `json:"updated_at,omitempty"`
	UpdatedBy   string          `json:"updated_by,omitempty"`
	Unused      []string        `json:"unused,omitempty"`
	Default     json.RawMessage `json:"default"`
	Schema      json.RawMessage `json:"schema"`
	Category    string          `json:"category,omitempty"`
	Description string          `json:"description,omitempty"`
	Families    []string        `json:"families"`
}

func settingOf(s config.State) Setting {
	out := Setting{Key: s.Key.Key, Value: s.Value, Source: "default", Version: s.Version, Priority: s.Priority, UpdatedBy: s.By, Unused: s.Unused,
		Default: s.Key.Default, Schema: s.Key.Allowed(), Category: s.Key.Category, Description: s.Key.Description, Families: s.Key.Families}
	if s.Scope.Kind != "" {
		out.Source = s.Scope.String()
	}
	if !s.At.IsZero() {
		out.UpdatedAt = memory.FormatTime(s.At)
	}
	return out
}

// SettingChanges are changes of settings by an operator.
type SettingChanges struct {
	config.Scope
	Changes []config.Change `json:"changes"`
	Reason  string          `json:"reason,omitempty"`
}

// SettingKey names a setting in a scope, for its history and rollback.
type SettingKey struct {
	config.Scope
	Key    string  `json:"key"`
	Before uint64  `json:"before,omitempty"` // of a history: only this version and older ones
	Limit  int     `json:"limit,omitempty"`  // of a history: 0: 100
	To     *uint64 `json:"to,omitempty"`     // the version to roll back to
	Reason string  `json:"reason,omitempty"` // of a rollback
}

// SettingUndo names a change of settings in a scope, to undo it.
type SettingUndo struct {
	config.Scope
	Change string `json:"change"`
	Reason string `json:"reason,omitempty"`
}

// SettingHistory is a page of the history of a setting, the newest change first.
type SettingHistory struct {
	Versions []config.Version `json:"versions"`
	Next     uint64           `json:"next,omitempty"` // Before of the next page; 0: the last page
}

// operatorSettings returns the settings for an operator, with the own ones of the named family, if any.
func (f *Families) operatorSettings(ctx context.Context, name string) (config.Settings, error) {
	var x *catalogue.Family
	if name != "" {
		if x = f.catalogue.Known(name); x == nil {
			return config.Settings{}, f.catalogue.UnknownFamily(name)
		}
	}
	stage, err := f.operatorStage(ctx, x)
	if err != nil {
		return config.Settings{}, err
	}
	s := config.Settings{Stage: stage, Keys: f.catalogue.SharedKeys()}
	if x != nil {
		s.Own = x.Declared
	}
	return s, nil
}

// Settings lists settings for an operator, in the order of their keys.
func (f *Families) Settings(ctx context.Context, q SettingQuery) ([]Setting, error) {
	named := q.Family
	if q.In.Kind == config.OfFamily {
		named = q.In.Name
	}
	s, err := f.operatorSettings(ctx, named)
	if err != nil {
		return nil, err
	}
	var states []config.State
	if q.In.Kind != "" {
		states, err = s.In(ctx, q.In)
	} else {
		states, err = s.States(ctx, s.Names(), config.For{Family: q.Family, Agent: q.Agent, Namespace: q.Namespace})
	}
	if err != nil {
		return nil, err
	}
	for _, key := range q.Keys {
		if !slices.Contains(s.Names(), key) {
			return nil, s.Unknown(key)
		}
	}
	list := []Setting{}
	for _, state := range states {
		name := state.Key.Key
		if (len(q.Keys) == 0 || slices.Contains(q.Keys, name)) && strings.HasPrefix(name, q.Prefix) && cmp.Or(q.Category, state.Key.Category) == state.Key.Category {
			list = append(list, settingOf(state))
		}
	}
	return list, nil
}

// ChangeSettings changes settings: all, or none if any is at fault.
func (f *Families) ChangeSettings(ctx context.Context, c SettingChanges) ([]config.Changed, error) {
	s, err := f.operatorSettings(ctx, familyOf(c.Scope))
	if err != nil {
		return nil, err
	}
	done, err := s.Put(ctx, c.Scope, c.Changes, config.By{Agent: operatorName, Reason: c.Reason})
	if err != nil {
		return nil, err
	}
	_, err = s.Stage.Commit(ctx, memory.Commit{})
	return done, err
}

// SettingHistory lists the changes of a setting in a scope.
func (f *Families) SettingHistory(ctx context.Context, k SettingKey) (SettingHistory, error) {
	s, err := f.operatorSettings(ctx, familyOf(k.Scope))
	if err != nil {
		return SettingHistory{}, err
	}
	list, next, err := s.History(ctx, k.Scope, k.Key, k.Before, min(cmp.Or(max(k.Limit, 0), 100), 1000))
	return SettingHistory{Versions: list, Next: next}, err
}

// RollBackSetting restores the value that a setting had in a scope at a version, as a new version.
func (f *Families) RollBackSetting(ctx context.Context, k SettingKey) (config.Changed, error) {
	if k.To == nil {
		return config.Changed{}, &memory.Error{Code: memory.InvalidArgument, Message: "give the version to roll back to; 0 unsets it"}
	}
	s, err := f.operatorSettings(ctx, familyOf(k.Scope))
	if err != nil {
		return config.Changed{}, err
	}
	done, err := s.Rollback(ctx, k.Scope, k.Key, *k.To, nil, config.By{Agent: operatorName, Reason: k.Reason})
	if err != nil {
		return config.Changed{}, err
	}
	_, err = s.Stage.Commit(ctx, memory.Commit{})
	return done, err
}

// UndoSettings restores the values that the settings of a change had before it: all, or none if one was changed since.
func (f *Families) UndoSettings(ctx context.Context, u SettingUndo) ([]config.Changed, error) {
	s, err := f.operatorSettings(ctx, familyOf(u.Scope))
	if err != nil {
		return nil, err
	}
	done, err := s.Undo(ctx, u.Scope, u.Change, config.By{Agent: operatorName, Reason: u.Reason}, func(string) error { return nil })
	if err != nil {
		return nil, err
	}
	_, err = s.Stage.Commit(ctx, memory.Commit{})
	return done, err
}

// familyOf returns the family of a scope; empty: none.
func familyOf(s config.Scope) string {
	if s.Kind == config.OfFamily {
		return s.Name
	}
	return ""
}

// valuesOf returns the settings that a family declares, as they apply in a namespace to an agent, without those of the family's own scope; none
// of a family that cannot be used. They are read once for each version of the space, since searches ask for them.
func (f *Families) valuesOf(ctx context.Context, name, namespace, agent string) (map[string]json.RawMessage, error) {
	x, err := f.catalogue.Named(name)
	if err != nil {
		return nil, nil
	}
	s, where := f.settingsOf(x, nil), config.For{Namespace: namespace, Agent: agent}
	version, _, err := f.o.Space.As(ops.OwnCaller(name)).VersionAt(ctx, memory.Default, memory.AsOf{})
	if err != nil {
		return nil, err
	}
	if values, ok := s.Known(version, where); ok {
		return values, nil
	}
	if s.Stage, err = f.operatorStage(ctx, x); err != nil {
		return nil, err
	}
	return s.Learn(ctx, where)
}
