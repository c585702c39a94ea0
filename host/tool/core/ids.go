package core

import (
	"context"
	"errors"
	"strings"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

// An id is namespace#key. Keys may contain #, too, so a key is an id only if no memory has it as its key and the call does
// not name another namespace. Storing never parses ids: the argument is the key.

// identified splits a key that may be an id; ok is false if it cannot be one.
func (c *call) identified(key string, location memory.Location) (at memory.Location, name string, ok bool) {
	namespace, name, found := strings.Cut(key, "#")
	if !found || namespace == "" || name == "" || (c.Arguments.Has("namespace") || c.Namespace != "") && namespace != location.Namespace {
		return location, key, false
	}
	return memory.Location{Branch: location.Branch, Namespace: namespace}, name, true
}

// orNotAnID returns the error of a lookup by id, or nil if it only means an invalid id or a namespace hidden from the
// caller: then the memory does not exist.
func orNotAnID(err error) error {
	var known *memory.Error
	if errors.As(err, &known) && (known.Code == memory.InvalidArgument || known.Code == memory.Denied) {
		return nil
	}
	return err
}

// locate finds the namespace of keys that may be ids. All must be in one namespace.
func (c *call) locate(ctx context.Context, location memory.Location, keys []string) (memory.Location, []string, error) {
	located, at := make([]string, len(keys)), make([]memory.Location, len(keys))
	for i, key := range keys {
		var err error
		if at[i], located[i], err = c.locateOne(ctx, location, key); err != nil {
			return location, nil, err
		}
		if at[i] != at[0] {
			return location, nil, tool.Invalid(map[string]any{"parameters": []string{"key"}},
				"%s works in one namespace at a time: %q is in %s, %q in %s; nothing was changed: call it once for each",
				c.Tool.Name, tool.Clip(keys[0], 64), at[0].Namespace, tool.Clip(key, 64), at[i].Namespace)
		}
	}
	if len(at) > 0 {
		location = at[0]
	}
	return location, located, nil
}

func (c *call) locateOne(ctx context.Context, location memory.Location, key string) (memory.Location, string, error) {
	at, name, ok := c.identified(key, location)
	if !ok {
		return location, key, nil
	}
	here, err := c.memories().Get(ctx, location, []string{key})
	if err != nil || here[0] != nil {
		return location, key, err
	}
	there, err := c.memories().Get(ctx, at, []string{name})
	if err != nil || there[0] == nil {
		return location, key, orNotAnID(err)
	}
	return at, name, nil
}
