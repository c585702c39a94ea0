//go:build guests

package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/guests"
	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/outbound"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/registry"
)

// The figures of the first-party families, measured with their real modules:
//
//	make guests && go test -tags guests -run Figures -v ./host

// space is a space with the first-party families.
func space(t *testing.T, dir, compiled string) (*memory.Space, *family.Families) {
	t.Helper()
	engine, err := bolt.Open(t.Context(), dir, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := memory.Open(t.Context(), memory.Options{Engine: engine, Index: search.New(search.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.New(sandbox.Config{Dir: compiled})
	if err != nil {
		t.Fatal(err)
	}
	var built []family.Module
	for _, g := range guests.All() {
		built = append(built, family.Module{Digest: g.Digest, Bytes: g.Bytes})
	}
	f, err := family.New(t.Context(), family.Options{Space: s, Sandbox: box, Dir: dir, Built: built, Outside: outbound.Client{}})
	if err != nil {
		t.Fatal(err)
	}
	s.SetHooks(f)
	t.Cleanup(func() {
		if err := errors.Join(f.Close(), box.Close(), s.Close(context.Background()), engine.Close()); err != nil {
			t.Error(err)
		}
	})
	return s, f
}

// residentNow is how many bytes of memory this process has.
func residentNow(t *testing.T) int64 {
	t.Helper()
	runtime.GC()
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("resident memory is read from /proc")
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(data), &size, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

func TestFiguresOfLoading(t *testing.T) {
	compiled := filepath.Join(t.TempDir(), "modules")
	for _, run := range []string{"cold", "warm"} {
		_, f := space(t, t.TempDir(), compiled)
		for _, d := range f.All() {
			before, began := residentNow(t), time.Now()
			if err := f.Load(t.Context(), d.Manifest.Name); err != nil {
				t.Fatal(err)
			}
			took := time.Since(began)
			t.Logf("%s load of %s: %v, %.1f MB more", run, d.Manifest.Name, took.Round(time.Millisecond), float64(residentNow(t)-before)/1e6)
			if limit := map[string]time.Duration{"cold": 20 * time.Second, "warm": time.Second}[run]; took > limit {
				t.Errorf("%s load of %s took %v", run, d.Manifest.Name, took)
			}
		}
	}
}

// sentences are texts such as agents store.
func sentences(n int) []string {
	people := []string{"Anna Kowalski", "Ben Ortiz", "Chidi Eze", "Dana Lee", "Emil Sato", "Fatima Noor", "Greg Stone"}
	verbs := []string{"prefers", "decided to use", "has trouble with", "moved to", "asked about", "finished", "reviews"}
	things := []string{"the staging database", "green tea in the afternoon", "the Lisbon office", "a new deploy script", "quarterly planning", "the billing service", "vim over other editors"}
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("%s %s %s, as noted on 2026-%02d-%02d in ticket %d.", people[i%7], verbs[(i/7)%7], things[(i/49)%7], 1+i%12, 1+i%28, 1000+i)
	}
	return list
}

func percentiles(took []time.Duration) (p50, p99 time.Duration) {
	slices.Sort(took)
	return took[len(took)/2], took[len(took)*99/100]
}

func storeAll(t *testing.T, s *memory.Space, prefix string, texts []string) []time.Duration {
	t.Helper()
	took := make([]time.Duration, len(texts))
	for i, text := range texts {
		value, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := s.Store(t.Context(), memory.Place{}, []memory.Item{{Key: fmt.Sprintf("%s%05d", prefix, i), Value: value}}, memory.Write{}); err != nil {
			t.Fatal(err)
		}
		took[i] = time.Since(began)
	}
	return took
}

func on(t *testing.T, f *family.Families, name string, h abi.Hook) {
	t.Helper()
	if _, err := f.Grant(family.GrantRequest{Family: name, Hooks: map[abi.Hook]registry.On{h: {}}}); err != nil {
		t.Fatal(err)
	}
	if err := f.Load(t.Context(), name); err != nil {
		t.Fatal(err)
	}
}

func off(t *testing.T, f *family.Families, name string, h abi.Hook) {
	t.Helper()
	if _, err := f.Grant(family.GrantRequest{Family: name, Revoke: []string{string(h)}}); err != nil {
		t.Fatal(err)
	}
}

func TestFiguresOfStoresWithAutoTag(t *testing.T) {
	s, f := space(t, t.TempDir(), compiledHere())
	storeAll(t, s, "before", sentences(500))
	var with, without []time.Duration
	for round := range 4 { // by turns, so that a noisy machine is noisy for both
		without = append(without, storeAll(t, s, fmt.Sprint("without", round), sentences(250))...)
		on(t, f, "auto-tag", abi.HookStore)
		storeAll(t, s, fmt.Sprint("warm", round), sentences(20))
		with = append(with, storeAll(t, s, fmt.Sprint("with", round), sentences(250))...)
		off(t, f, "auto-tag", abi.HookStore)
	}
	m, err := s.Recall(t.Context(), memory.Place{}, "with300000", memory.AsOf{})
	if err != nil || m == nil || len(m.Tags) == 0 {
		t.Fatalf("it was not tagged: %+v, %v", m, err)
	}
	a50, a99 := percentiles(without)
	b50, b99 := percentiles(with)
	t.Logf("a store: p50 %v without auto-tag, %v with it: %v more (target 1 ms); p99 %v and %v", a50, b50, b50-a50, a99, b99)
	if b50-a50 > 10*time.Millisecond {
		t.Errorf("auto-tag costs %v a store", b50-a50)
	}
}

func TestFiguresOfSearchesWithRanking(t *testing.T) {
	s, f := space(t, t.TempDir(), compiledHere())
	texts := sentences(10_000)
	for part := range slices.Chunk(texts, 500) {
		var items []memory.Item
		for _, text := range part {
			value, err := json.Marshal(text)
			if err != nil {
				t.Fatal(err)
			}
			items = append(items, memory.Item{Value: value, Type: "decision"})
		}
		if _, err := s.Store(t.Context(), memory.Place{}, items, memory.Write{}); err != nil {
			t.Fatal(err)
		}
	}
	query := func() []time.Duration {
		var took []time.Duration
		for i := range 300 {
			began := time.Now()
			found, err := s.Search(t.Context(), memory.Search{Text: strings.Join(strings.Fields(texts[i*31])[:5], " ")})
			if err != nil || len(found.Hits) == 0 || len(found.Notes) > 0 {
				t.Fatalf("found %v, %v", found, err)
			}
			took = append(took, time.Since(began))
		}
		return took
	}
	query()
	var with, without []time.Duration
	for range 4 {
		without = append(without, query()...)
		on(t, f, "ranking", abi.HookRank)
		with = append(with, query()...)
		off(t, f, "ranking", abi.HookRank)
	}
	a50, a99 := percentiles(without)
	b50, b99 := percentiles(with)
	t.Logf("a search of 10,000: p50 %v without ranking, %v with it: %v more (target 0.5 ms); p99 %v and %v", a50, b50, b50-a50, a99, b99)
	if b50-a50 > 10*time.Millisecond {
		t.Errorf("ranking costs %v a search", b50-a50)
	}
}

// compiledHere is where compiled modules are kept from one run of the tests to the next.
func compiledHere() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("alcove-tests-%d", os.Getuid()))
}
