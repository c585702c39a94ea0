// Package testspace opens memories for tests.
package testspace

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// Options say what a memory is like. The zero value is an empty one in a temporary directory.
type Options struct {
	Dir       string                       // where it is stored; default: a new directory
	Clock     func() time.Time             // default: time.Now
	IsPrivate func(collection string) bool // see memory.Options
	Hooks     func() memory.Hooks          // see memory.Options
	Synced    func() []memory.SyncedCollection
}

// Open opens a memory. Its store is checked and closed with its test. What it stores is not synced to the disk.
func Open(t testing.TB, o Options) *memory.Space {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	engine, err := bolt.Open(t.Context(), o.Dir, bolt.Options{NoSync: true, MapSize: 1 << 24, Now: o.Clock})
	if err != nil {
		t.Fatalf("open the store: %v", err)
	}
	s, err := memory.Open(t.Context(), memory.Options{Engine: engine, Index: search.New(search.Options{}), Clock: o.Clock, IsPrivate: o.IsPrivate, Hooks: o.Hooks, Synced: o.Synced})
	if err != nil {
		t.Fatalf("open the memory: %v", err)
	}
	t.Cleanup(func() {
		ctx := context.Background()
		if err := errors.Join(s.Close(ctx), engine.Check(ctx), engine.Close()); err != nil {
			t.Errorf("close the memory: %v", err)
		}
	})
	return s
}
