package ops

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/config"
	"github.com/alcove-memory/alcove/host/memory"
)

func configSet(call *Call, ctx context.Context, r abi.ConfigSetRequest) (out abi.ConfigSetResponse, err error) {
	out.Config, err = call.Config.Configure(ctx, r.Values)
	return out, err
}

func configGet(call *Call, ctx context.Context, r abi.ConfigGetRequest) (out abi.ConfigGetResponse, err error) {
	if len(r.Keys) == 0 && r.Namespace == "" && !r.Details {
		out.Config, err = call.Config.Config(ctx)
		return out, err
	}
	keys := r.Keys
	if len(keys) == 0 {
		for _, s := range call.Manifest.Config {
			keys = append(keys, s.Key)
		}
	}
	for _, key := range keys {
		if err := call.mayReadSetting(key); err != nil {
			return out, err
		}
	}
	states, err := call.states(ctx, keys, r.Namespace)
	if err != nil {
		return out, err
	}
	out.Config = map[string]json.RawMessage{}
	for _, s := range states {
		out.Config[s.Key.Key] = s.Value
		if r.Details {
			out.Settings = append(out.Settings, settingState(s))
		}
	}
	for _, key := range keys {
		if _, found := out.Config[key]; !found {
			return out, asABI(call.Config.Settings().Unknown(key))
		}
	}
	return out, nil
}

// mayReadSetting checks the right to read a setting: the family's own needs none.
func (call *Call) mayReadSetting(key string) error {
	if call.Config.Settings().Own.Declares(key) {
		return nil
	}
	return call.Powers.Check(abi.CanConfigRead, key)
}

// states returns settings as they apply in a namespace; empty: the call's.
func (call *Call) states(ctx context.Context, keys []string, namespace string) ([]config.State, error) {
	to := call.Config.For()
	if namespace != "" {
		if !call.Caller.Rights.MayRead(namespace) {
			return nil, noAccess("read", namespace)
		}
		to.Namespace = namespace
	}
	return call.Config.Settings().States(ctx, keys, to)
}

func noAccess(verb, namespace string) error {
	return &abi.Error{Code: abi.CodeDenied, Message: fmt.Sprintf("the caller may not %s namespace %.128q", verb, namespace), Details: map[string]any{"namespace": namespace}}
}

func settingState(s config.State) abi.SettingState {
	out := abi.SettingState{Key: s.Key.Key, Value: s.Value, Scope: string(cmp.Or(s.Scope.Kind, "default")), Name: s.Scope.Name, Version: s.Version, Priority: s.Priority,
		UpdatedBy: s.By, Unused: s.Unused, Default: s.Key.Default, Schema: s.Key.Allowed(), Category: s.Key.Category, Description: s.Key.Description, Families: s.Key.Families}
	if !s.At.IsZero() {
		out.UpdatedAt = memory.FormatTime(s.At)
	}
	return out
}

// scope returns the scope that a request names; empty names are the call's own.
func (call *Call) scope(kind, name string) config.Scope {
	s := config.Scope{Kind: cmp.Or(config.Kind(kind), config.System), Name: name}
	switch {
	case s.Name != "":
	case s.Kind == config.Namespace:
		s.Name = call.Namespace
	case s.Kind == config.Agent:
		s.Name = call.Caller.Agent
	case s.Kind == config.OfFamily:
		s.Name = call.Manifest.Name
	}
	return s
}

// mayReadScope checks the right to read the settings of a scope. Those of another agent require the right to read every
// namespace, and those of a family are that family's.
func (call *Call) mayReadScope(s config.Scope) error {
	_, all := call.Caller.Rights.Ceiling().Readable()
	switch {
	case s.Kind == config.Namespace && !call.Caller.Rights.MayRead(s.Name):
		return noAccess("read", s.Name)
	case s.Kind == config.Agent && s.Name != call.Caller.Agent && !all:
		return &abi.Error{Code: abi.CodeDenied, Message: "settings of another agent are shown to callers that may read every namespace"}
	case s.Kind == config.OfFamily && s.Name != call.Manifest.Name:
		return &abi.Error{Code: abi.CodeDenied, Message: "settings of another family are shown to operators: alcove config list --family NAME"}
	}
	return nil
}

// mayWriteScope checks the right to change the settings of a scope: those of the system, or of an agent, require the right to write every
// namespace. Clients choose the names of agents themselves, and two in different namespaces may share one.
func (call *Call) mayWriteScope(s config.Scope) error {
	_, all := call.Caller.Rights.Ceiling().Writable()
	switch {
	case !call.Caller.Rights.May(memory.ToConfigure):
		return &abi.Error{Code: abi.CodeDenied, Message: "the caller may not change shared settings: its key lacks the right config"}
	case s.Kind == config.System && !all:
		return &abi.Error{Code: abi.CodeDenied, Message: "scope system applies to every namespace, and the caller may not write all: use scope namespace"}
	case s.Kind == config.Namespace && !call.Caller.Rights.MayWrite(s.Name):
		return noAccess("write", s.Name)
	case s.Kind == config.Agent && !all:
		return &abi.Error{Code: abi.CodeDenied, Message: "scope agent applies in every namespace, and the caller may not write all: use scope namespace"}
	}
	return nil
}

func configList(call *Call, ctx context.Context, r abi.ConfigListRequest) (out abi.ConfigListResponse, err error) {
	var states []config.State
	if r.Scope != "" {
		scope := call.scope(r.Scope, r.Name)
		if err := call.mayReadScope(scope); err != nil {
			return out, err
		}
		states, err = call.Config.Settings().In(ctx, scope)
	} else {
		states, err = call.states(ctx, call.Config.Settings().Keys.Names(), r.Namespace)
	}
	if err != nil {
		return out, err
	}
	out.Settings = []abi.SettingState{}
	limit := cmp.Or(r.Limit, defaultPage)
	for _, s := range states {
		switch key := s.Key.Key; {
		case key <= r.After, !s.Key.Shared, !strings.HasPrefix(key, r.Prefix), r.Category != "" && s.Key.Category != r.Category, !call.Powers.Allows(abi.CanConfigRead, key):
			continue
		}
		if len(out.Settings) == limit {
			out.Next = out.Settings[limit-1].Key
			break
		}
		out.Settings = append(out.Settings, settingState(s))
	}
	return out, nil
}

func configPut(call *Call, ctx context.Context, r abi.ConfigPutRequest) (out abi.ConfigPutResponse, err error) {
	scope := call.scope(r.Scope, r.Name)
	changes := make([]config.Change, len(r.Changes))
	for i, c := range r.Changes {
		if err := call.Powers.Check(abi.CanConfigShared, c.Key); err != nil {
			return out, err
		}
		changes[i] = config.Change{Key: c.Key, Value: c.Value, Priority: c.Priority, IfVersion: c.IfVersion}
	}
	if err := call.mayWriteScope(scope); err != nil {
		return out, err
	}
	done, err := call.Config.Settings().Put(ctx, scope, changes, call.by(r.Reason))
	if err != nil {
		return out, err
	}
	for _, c := range done {
		out.Changed = append(out.Changed, abi.SettingChanged(c))
	}
	return out, nil
}

func (call *Call) by(reason string) config.By {
	return config.By{Agent: call.Caller.Agent, Family: call.Manifest.Name, Reason: reason}
}

func configHistory(call *Call, ctx context.Context, r abi.ConfigHistoryRequest) (out abi.ConfigHistoryResponse, err error) {
	if err := call.mayReadSetting(r.Key); err != nil {
		return out, err
	}
	scope := call.scope(r.Scope, r.Name)
	if err := call.mayReadScope(scope); err != nil {
		return out, err
	}
	list, next, err := call.Config.Settings().History(ctx, scope, r.Key, r.Before, cmp.Or(r.Limit, defaultPage))
	if err != nil {
		return out, err
	}
	out.Versions, out.Next = []abi.SettingVersion{}, next
	for _, v := range list {
		out.Versions = append(out.Versions, abi.SettingVersion{Version: v.Version, Before: v.Before, After: v.After, Priority: v.Priority, Timestamp: memory.FormatTime(v.At),
			Agent: v.Agent, Family: v.Family, Reason: v.Reason, RolledBackTo: v.RolledBackTo, Change: v.Change})
	}
	return out, nil
}

func configRollback(call *Call, ctx context.Context, r abi.ConfigRollbackRequest) (out abi.ConfigRollbackResponse, err error) {
	if err := call.Powers.Check(abi.CanConfigShared, r.Key); err != nil {
		return out, err
	}
	scope := call.scope(r.Scope, r.Name)
	if err := call.mayWriteScope(scope); err != nil {
		return out, err
	}
	done, err := call.Config.Settings().Rollback(ctx, scope, r.Key, r.Version, r.IfVersion, call.by(r.Reason))
	if err != nil {
		return out, err
	}
	changed := abi.SettingChanged(done)
	out.Changed = changed
	return out, nil
}

func configUndo(call *Call, ctx context.Context, r abi.ConfigUndoRequest) (out abi.ConfigUndoResponse, err error) {
	scope := call.scope(r.Scope, r.Name)
	if err := call.mayWriteScope(scope); err != nil {
		return out, err
	}
	may := func(key string) error { return call.Powers.Check(abi.CanConfigShared, key) }
	done, err := call.Config.Settings().Undo(ctx, scope, r.Change, call.by(r.Reason), may)
	for _, c := range done {
		out.Changed = append(out.Changed, abi.SettingChanged(c))
	}
	return out, err
}

func configRules(call *Call, _ context.Context, _ abi.ConfigRulesRequest) (abi.ConfigRulesResponse, error) {
	out := abi.ConfigRulesResponse{Rules: []abi.SettingRule{}}
	for _, rule := range call.Config.Settings().Rules() {
		if slices.ContainsFunc(rule.Keys, func(key string) bool { return call.mayReadSetting(key) == nil }) {
			out.Rules = append(out.Rules, abi.SettingRule{Rule: rule.Rule, Keys: rule.Keys, Equals: rule.Equals, Within: rule.Within, Families: rule.Families})
		}
	}
	return out, nil
}
