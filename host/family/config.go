package family

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/config"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
)

// settingsOf returns the settings in a stage, including a family's own.
func (f *Families) settingsOf(x *catalogue.Family, stage *memory.Stage) config.Settings {
	return config.Settings{Stage: stage, Keys: f.catalogue.SharedKeys(), Own: x.Declared}
}

// configOf is the configuration of a request's family.
type configOf struct{ *request }

// For returns the scopes whose settings apply to the request.
func (c configOf) For() config.For {
	return config.For{Family: c.family.Name, Agent: c.Caller.Agent, Namespace: c.applies}
}

// Settings implements ops.Config.
func (c configOf) Settings() config.Settings { return c.families.settingsOf(c.family, c.Stage) }

// Config implements ops.Config.
func (c configOf) Config(ctx context.Context) (map[string]json.RawMessage, error) {
	return c.Settings().Values(ctx, c.For())
}

// Configure implements ops.Config.
func (c configOf) Configure(ctx context.Context, values map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	by := config.By{Agent: c.Caller.Agent, Family: c.family.Name}
	if err := configure(ctx, c.Settings(), values, by); err != nil {
		return nil, err
	}
	return c.Config(ctx)
}

// configure stages a change of a family's own values; null restores the default, or the shared value.
func configure(ctx context.Context, s config.Settings, values map[string]json.RawMessage, by config.By) error {
	var changes []config.Change
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !s.Own.Declares(key) {
			return &abi.Error{Code: abi.CodeNotFound, Message: fmt.Sprintf("family %s has no configuration key %.64q", s.Own.Name, key)}
		}
		if err := s.Own.Allows(key, values[key]); err != nil && string(values[key]) != "null" {
			return &abi.Error{Code: abi.CodeInvalidArgument, Message: fmt.Sprintf("%s is not valid: %v", key, err)}
		}
		changes = append(changes, config.Change{Key: key, Value: values[key]})
	}
	_, err := s.Put(ctx, config.Scope{Kind: config.OfFamily, Name: s.Own.Name}, changes, by)
	return err
}

// Configure changes a family's configuration and returns all of it; null restores the default.
func (f *Families) Configure(ctx context.Context, name string, values map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	x, err := f.catalogue.Named(name)
	if g := f.catalogue.Guard(name); err != nil && g != nil {
		x, err = g, nil // it still serves its hook, as configured
	}
	if err != nil {
		return nil, err
	}
	stage, err := f.operatorStage(ctx, x)
	if err != nil {
		return nil, err
	}
	s := f.settingsOf(x, stage)
	if err := configure(ctx, s, values, config.By{Agent: operatorName}); err != nil {
		return nil, asMemory(err)
	}
	values, err = s.Values(ctx, config.For{Family: x.Name})
	if err != nil {
		return nil, err
	}
	_, err = stage.Commit(ctx, memory.Commit{})
	return values, err
}

// operatorName is the author of an operator's changes.
const operatorName = "operator"

// operatorStage begins an operator's change of a family's own records; nil: of shared ones.
func (f *Families) operatorStage(ctx context.Context, x *catalogue.Family) (*memory.Stage, error) {
	operator := ops.OwnCaller("")
	if x != nil {
		operator = ops.OwnCaller(x.Name)
	}
	operator.Agent = operatorName
	return f.o.Space.As(operator).Stage(ctx, memory.Default)
}
