package core

import (
	"context"
	"errors"
	"strings"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

// An id is namespace#key. Keys may have a # in them, too, so a key is an id only where nothing has it for a key, and where
// the call does not name another namespace. New memories are never stored under an id: what is given there is the key.

// identified takes a key apart that may be an id; ok is false when it cannot be one.
func (c *call) identified(key string, place memory.Place) (at memory.Place, name string, ok bool) {
	namespace, name, found := strings.Cut(key, "#")
	_, given := c.Arguments.Get("namespace")
	if !found || namespace == "" || name == "" || (given || c.Namespace != "") && namespace != place.Namespace {
		return place, key, false
	}
	return memory.Place{Branch: place.Branch, Namespace: namespace}, name, true
}

// orNotAnID is the error of looking for a memory by its id, unless that is no id, or one of a namespace that is hidden from the
// caller: nothing is there for it.
func orNotAnID(err error) error {
	var known *memory.Error
	if errors.As(err, &known) && (known.Code == memory.InvalidArgument || known.Code == memory.Denied) {
		return nil
	}
	return err
}

// memories reads memories without counting that they were; nil where there is none.
func (c *call) memories(ctx context.Context, place memory.Place, keys []string) ([]*memory.Memory, error) {
	stage, err := c.access().Stage(ctx, place.Branch)
	if err != nil {
		return nil, err
	}
	return stage.Get(ctx, place.Namespace, keys)
}

// locate finds the namespace of keys that may be ids, which must all be in the same one.
func (c *call) locate(ctx context.Context, place memory.Place, keys []string) (memory.Place, []string, error) {
	located, at := make([]string, len(keys)), make([]memory.Place, len(keys))
	for i, key := range keys {
		var err error
		if at[i], located[i], err = c.locateOne(ctx, place, key); err != nil {
			return place, nil, err
		}
		if at[i] != at[0] {
			return place, nil, tool.Invalid(map[string]any{"parameters": []string{"key"}},
				"%s works in one namespace at a time: %q is in %s, %q in %s; nothing was changed: call it once for each",
				c.Tool.Name, tool.Clip(keys[0], 64), at[0].Namespace, tool.Clip(key, 64), at[i].Namespace)
		}
	}
	if len(at) > 0 {
		place = at[0]
	}
	return place, located, nil
}

func (c *call) locateOne(ctx context.Context, place memory.Place, key string) (memory.Place, string, error) {
	at, name, ok := c.identified(key, place)
	if !ok {
		return place, key, nil
	}
	here, err := c.memories(ctx, place, []string{key})
	if err != nil || here[0] != nil {
		return place, key, err
	}
	there, err := c.memories(ctx, at, []string{name})
	if err != nil || there[0] == nil {
		return place, key, orNotAnID(err)
	}
	return at, name, nil
}
