package family

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
)

// settings is the collection of what was configured: a record a family, with its keys.
var settings = memory.Collection{Name: "_config", PerSpace: true, Internal: true}

// config reads a family's configuration: what was set, and the defaults of the manifest.
func (x *family) config(ctx context.Context, stage *memory.Stage) (map[string]json.RawMessage, error) {
	values := make(map[string]json.RawMessage, len(x.manifest.Config))
	for _, c := range x.manifest.Config {
		values[c.Key] = c.Default
	}
	if len(values) == 0 {
		return values, nil
	}
	set, err := x.configured(ctx, stage)
	if err != nil {
		return nil, err
	}
	for key, value := range set {
		if x.checkSetting(key, value) == nil { // the manifest may have changed since
			values[key] = value
		}
	}
	return values, nil
}

// configured is what was set.
func (x *family) configured(ctx context.Context, stage *memory.Stage) (map[string]json.RawMessage, error) {
	records, err := stage.Records(ctx, settings, ops.SystemNamespace, []string{x.name})
	if err != nil || records[0] == nil {
		return map[string]json.RawMessage{}, err
	}
	var set map[string]json.RawMessage
	if err := json.Unmarshal(records[0].Value, &set); err != nil {
		return nil, fmt.Errorf("read the configuration of %s: %w", x.name, err)
	}
	return set, nil
}

// configure stages a change of the configuration; null goes back to the default.
func (x *family) configure(ctx context.Context, stage *memory.Stage, values map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	set, err := x.configured(ctx, stage)
	if err != nil {
		return nil, err
	}
	for key, value := range values {
		if string(value) == "null" {
			delete(set, key)
			continue
		}
		if err := x.checkSetting(key, value); err != nil {
			return nil, err
		}
		set[key] = value
	}
	data, err := json.Marshal(set)
	if err != nil {
		return nil, err
	}
	if err := stage.PutRecord(ctx, settings, ops.SystemNamespace, x.name, data, nil); err != nil {
		return nil, err
	}
	return x.config(ctx, stage)
}

// checkSetting refuses a value that a key of the configuration does not take.
func (x *family) checkSetting(key string, value json.RawMessage) error {
	for _, c := range x.manifest.Config {
		if c.Key != key {
			continue
		}
		allowed, err := x.schemas.compiled(settingSchema(c))
		if err != nil {
			return fmt.Errorf("the schema of %s: %w", key, err)
		}
		if err := allowed.Check(value); err != nil {
			return &abi.Error{Code: abi.CodeInvalidArgument, Message: fmt.Sprintf("%s is not valid: %v", key, err)}
		}
		return nil
	}
	return &abi.Error{Code: abi.CodeNotFound, Message: fmt.Sprintf("family %s has no configuration key %.64q", x.name, key)}
}

// Configure changes a family's configuration; null goes back to the default. It returns all of it.
func (f *Families) Configure(ctx context.Context, name string, values map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	x, err := f.named(name)
	if g := f.guardNow(name); err != nil && g != nil {
		x, err = g, nil // it goes on serving its hook, as it is configured
	}
	if err != nil {
		return nil, err
	}
	operator := ops.OwnCaller(x.name)
	operator.Agent = "operator"
	stage, err := f.spaceFor(operator, x).Stage(ctx, memory.Default)
	if err != nil {
		return nil, err
	}
	if len(values) == 0 {
		return x.config(ctx, stage)
	}
	config, err := x.configure(ctx, stage, values)
	if err != nil {
		return nil, asMemory(err)
	}
	_, err = stage.Commit(ctx, memory.Commit{})
	return config, err
}
