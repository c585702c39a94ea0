package postgres

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/testing/must"
	server "github.com/alcove-memory/alcove/host/testing/postgres"
)

const secret = "a word that is purged"

var (
	cachedKeyed = store.Key{Namespace: "n", Collection: "c", Name: "k"}
	cachedHead  = store.Lineage{{Branch: 1, At: store.Latest}}
)

func cachedEngine(t *testing.T, url string, o Options) *Engine {
	t.Helper()
	e, err := must.Get(New(url, o)).Open(t.Context(), t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e.(*Engine)
}

func cachedPut(t *testing.T, e *Engine, b store.BranchID, k store.Key, value string) uint64 {
	t.Helper()
	return must.Get(e.Commit(t.Context(), store.Batch{Writes: []store.Write{{Branch: b, Key: k, Value: []byte(value)}}})).Version
}

func cachedGet(t *testing.T, e *Engine, l store.Lineage, k store.Key) string {
	t.Helper()
	found, err := e.GetAt(t.Context(), l, []store.Key{k})
	if err != nil {
		t.Fatal(err)
	}
	return string(found[0].Value)
}

// keeps reports whether a cache has a text in a value.
func (c *cache) keeps(text string) bool {
	c.room.mu.Lock()
	defer c.room.mu.Unlock()
	for _, k := range c.keys {
		for _, v := range k.views {
			if bytes.Contains(v.entry.Value, []byte(text)) {
				return true
			}
		}
	}
	return false
}

// The row is damaged behind the engine's back, so that a read of it would fail.
func TestWhatWasReadOrWrittenIsNotReadAgain(t *testing.T) {
	url := must.Get(server.Start(t).Database())
	e := cachedEngine(t, url, Options{OwnedFor: time.Hour})
	at := cachedPut(t, e, 1, cachedKeyed, "one")
	fork := cachedHead.At(at).Fork(2)
	none := store.Key{Namespace: "n", Collection: "c", Name: "none"}
	if got := cachedGet(t, e, fork, cachedKeyed) + cachedGet(t, e, fork, none); got != "one" {
		t.Fatalf("before anything is damaged the fork has %q, want one", got)
	}
	must.Get(e.pool.Exec(t.Context(), `UPDATE alcove.entries SET sum = sum + 1 WHERE space = $1`, e.space))
	for name, l := range map[string]store.Lineage{"the branch": cachedHead, "its fork": fork} {
		found := must.Get(e.GetAt(t.Context(), l, []store.Key{none, cachedKeyed}))
		if found[0].Version != 0 || string(found[1].Value) != "one" || found[1].Version != at {
			t.Errorf("%s has %v, want nothing and one", name, found)
		}
		found[1].Value[0] = 'x' // it is the caller's own
	}
	cachedPut(t, e, 2, cachedKeyed, "two")
	if got := cachedGet(t, e, fork, cachedKeyed); got != "two" {
		t.Errorf("after a write the fork has %q, want two", got)
	}
	if _, err := e.GetAt(t.Context(), cachedHead, []store.Key{cachedKeyed}); err == nil {
		t.Error("a key that was written on another branch was not read again from the database")
	}
}

func TestPurgedBytesLeaveTheCache(t *testing.T) {
	url := must.Get(server.Start(t).Database())
	e := cachedEngine(t, url, Options{OwnedFor: time.Hour})
	at := cachedPut(t, e, 1, cachedKeyed, secret)
	fork := cachedHead.At(at).Fork(2)
	cachedGet(t, e, fork, cachedKeyed)
	raw := [][]byte{[]byte("another key, which is being read while the value is replaced")}
	reading, head := e.lookUp(fork, raw)
	if !e.cache.keeps(secret) {
		t.Fatal("before the purge the cache has nothing: the test shows nothing")
	}
	must.Do(t, e.Replace(t.Context(), []store.Replacement{{Branch: 1, Key: cachedKeyed, Version: at, Value: []byte("gone")}}))
	reading.end(fork, raw, []store.Entry{{Point: store.Point{Version: at}, Branch: 1, Value: []byte(secret)}}, head)
	if e.cache.keeps(secret) {
		t.Error("after the purge the cache has the value still")
	}
	for _, l := range []store.Lineage{cachedHead, fork} {
		if got := cachedGet(t, e, l, cachedKeyed); got != "gone" {
			t.Errorf("after the purge %v has %q, want what replaced the value", l, got)
		}
	}
}

func TestADeletionAndATrimLeaveNothingInTheCache(t *testing.T) {
	url := must.Get(server.Start(t).Database())
	e := cachedEngine(t, url, Options{OwnedFor: time.Hour})
	old := cachedPut(t, e, 1, cachedKeyed, secret)
	cachedGet(t, e, cachedHead.At(old), cachedKeyed)
	at := must.Get(e.Commit(t.Context(), store.Batch{Writes: []store.Write{{Branch: 1, Key: cachedKeyed, Delete: true}}})).Version
	if found := must.Get(e.GetAt(t.Context(), cachedHead, []store.Key{cachedKeyed})); !found[0].Deleted || e.cache.keeps(secret) {
		t.Errorf("after the deletion: got %v, and the value is kept: %v", found, e.cache.keeps(secret))
	}
	cachedGet(t, e, cachedHead.At(old), cachedKeyed)
	must.Do(t, e.Trim(t.Context(), 1, at, nil))
	if _, err := e.GetAt(t.Context(), cachedHead.At(old), []store.Key{cachedKeyed}); err == nil || e.cache.keeps(secret) {
		t.Errorf("after the trim: got %v, and the value is kept: %v", err, e.cache.keeps(secret))
	}
}

// The space is taken over, and purged by the next engine, of which the first one is told nothing.
func TestAnEngineWhoseSpaceIsAnothersHasNoCache(t *testing.T) {
	url := must.Get(server.Start(t).Database())
	e := cachedEngine(t, url, Options{OwnedFor: time.Nanosecond})
	at := cachedPut(t, e, 1, cachedKeyed, secret)
	cachedGet(t, e, cachedHead, cachedKeyed)
	if !e.cache.keeps(secret) {
		t.Fatal("before the space is taken over the cache has nothing: the test shows nothing")
	}
	next := cachedEngine(t, url, Options{})
	must.Do(t, next.Replace(t.Context(), []store.Replacement{{Branch: 1, Key: cachedKeyed, Version: at, Value: []byte("gone")}}))
	if got := cachedGet(t, e, cachedHead, cachedKeyed); got != "gone" {
		t.Errorf("the engine that was not told answers %q, want what replaced the value", got)
	}
	if e.cache.keeps("") {
		t.Error("the cache of the engine that was not told has something still")
	}
}

func TestTheEnginesOfADatabaseKeepNoMoreThanTheyMay(t *testing.T) {
	url := must.Get(server.Start(t).Database())
	const most = 20_000
	d := must.Get(New(url, Options{OwnedFor: time.Hour, Cached: most}))
	var engines []*Engine
	for _, name := range []string{"red", "blue"} {
		e := must.Get(must.Get(d.In(name)).Open(t.Context(), t.TempDir(), store.Options{}))
		defer e.Close()
		engines = append(engines, e.(*Engine))
	}
	for i := range 40 {
		k := store.Key{Namespace: "n", Collection: "c", Name: fmt.Sprint(i)}
		for _, e := range engines {
			cachedPut(t, e, 1, k, strings.Repeat("v", 1000))
			if room := e.cache.room; room.bytes > most || room.bytes < 0 {
				t.Fatalf("after %d entries the engines keep %d bytes: at most %d are allowed", i, room.bytes, most)
			}
		}
	}
	if kept := len(engines[0].cache.keys) + len(engines[1].cache.keys); kept < 10 || kept != d.room.order.Len() {
		t.Errorf("the engines keep %d entries, and %d of them by use: want the same, and 10 at least", kept, d.room.order.Len())
	}
	k := store.Key{Namespace: "n", Collection: "c", Name: "long"}
	cachedPut(t, engines[0], 1, k, strings.Repeat(secret, 10_000))
	if engines[0].cache.keeps(secret) {
		t.Error("a value of 210,000 bytes is kept")
	}
	must.Do(t, engines[0].Close())
	must.Do(t, engines[1].Close())
	if d.room.bytes != 0 {
		t.Errorf("without an engine %d bytes are kept, want 0", d.room.bytes)
	}
}
