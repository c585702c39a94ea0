// Package storetest checks that an engine does what package store says, whatever it is made of.
package storetest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// Open opens the engine's space in a directory, which may hold one already.
type Open func(t *testing.T, dir string, now func() time.Time) store.Engine

// Run checks an engine.
func Run(t *testing.T, open Open) {
	for name, check := range map[string]func(*checker){
		"versions grow by one, and instants grow even if the clock goes back":      versionsGrow,
		"a get returns the version that the lineage sees":                          lineages,
		"a listing is sorted by key and omits deleted entries":                     listings,
		"names may contain any bytes":                                              anyNames,
		"every version is listed, newest first, page by page":                      everyVersion,
		"a page of the change log ends with a whole version":                       changes,
		"a batch with an unmet expectation changes nothing":                        expectations,
		"a repeated request is applied once, also under concurrency":               requests,
		"appends are numbered without gaps":                                        appends,
		"counters are kept as far back as other branches read them":                counters,
		"consolidation changes no answer":                                          consolidation,
		"a commit keeps its note":                                                  notes,
		"a trim keeps pinned and current versions, and reads below the floor fail": trimming,
		"a trim keeps the number of versions that histories want":                  keeping,
		"a reclaimed branch leaves no data":                                        reclaiming,
		"a blob is read back under its name":                                       blobs,
		"a watcher receives the newest version":                                    watching,
		"a reopened engine has the same data":                                      reopening,
		"a closed engine refuses calls":                                            closing,
	} {
		t.Run(name, func(t *testing.T) {
			b := &checker{T: t, open: open, dir: t.TempDir(), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
			b.Engine = open(t, b.dir, b.clock)
			check(b)
			b.ok(b.Check(context.Background()))
			b.ok(b.Close())
		})
	}
}

// checker checks an engine whose clock advances by a second with each reading.
type checker struct {
	*testing.T
	store.Engine
	open  Open
	dir   string
	clocK sync.Mutex
	now   time.Time
}

func (b *checker) clock() time.Time {
	b.clocK.Lock()
	defer b.clocK.Unlock()
	b.now = b.now.Add(time.Second)
	return b.now
}

func (b *checker) ok(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func key(name string) store.Key { return store.Key{Namespace: "n", Collection: "c", Name: name} }

func (b *checker) commit(batch store.Batch) store.Committed {
	b.Helper()
	done, err := b.Commit(context.Background(), batch)
	b.ok(err)
	return done
}

func (b *checker) put(branch store.BranchID, name, value string) uint64 {
	b.Helper()
	return b.commit(store.Batch{Writes: []store.Write{{Branch: branch, Key: key(name), Value: []byte(value)}}}).Version
}

func (b *checker) delete(branch store.BranchID, name string) uint64 {
	b.Helper()
	return b.commit(store.Batch{Writes: []store.Write{{Branch: branch, Key: key(name), Delete: true}}}).Version
}

// get is what a lineage sees of a key: empty for nothing.
func (b *checker) get(l store.Lineage, name string) string {
	b.Helper()
	found, err := b.GetAt(context.Background(), l, []store.Key{key(name)})
	b.ok(err)
	return string(found[0].Value)
}

func (b *checker) want(what string, got, want any) {
	b.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		b.Errorf("%s: %v, not %v", what, got, want)
	}
}

// list gives a range's entries, two at a time, as name=value.
func (b *checker) list(l store.Lineage, r store.Range) string {
	b.Helper()
	return b.pages(func(c store.Cursor) ([]store.Entry, store.Cursor, error) {
		return b.ScanAt(context.Background(), l, r, c, 2)
	})
}

func (b *checker) pages(page func(store.Cursor) ([]store.Entry, store.Cursor, error)) string {
	b.Helper()
	var all []string
	var cursor store.Cursor
	for {
		entries, next, err := page(cursor)
		b.ok(err)
		if len(entries) > 2 {
			b.Fatalf("%d entries on a page of 2", len(entries))
		}
		for _, e := range entries {
			value := string(e.Value)
			if e.Deleted {
				value = "-"
			}
			all = append(all, e.Name+"="+value)
		}
		if next == "" {
			return strings.Join(all, " ")
		}
		cursor = next
	}
}

func head(branch store.BranchID) store.Lineage {
	return store.Lineage{{Branch: branch, At: store.Latest}}
}
