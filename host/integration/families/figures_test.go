//go:build guests

package families_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/registry"
)

// The figures of the first-party families, measured with their real modules:
//
//	make guests && go test -tags guests -run '^$' -bench FirstParty -v ./host/integration/families

// residentNow is how many bytes of memory this process has.
func residentNow(t testing.TB) int64 {
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

// BenchmarkFirstPartyLoad loads each family twice: cold, when its module must be compiled, and warm.
func BenchmarkFirstPartyLoad(b *testing.B) {
	for b.Loop() {
		compiled := filepath.Join(b.TempDir(), "modules")
		for _, run := range []string{"cold", "warm"} {
			_, f := server.Parts(b, b.TempDir(), sandbox.Cache{Dir: compiled})
			for _, d := range f.All() {
				before, began := residentNow(b), time.Now()
				if err := f.Load(b.Context(), d.Manifest.Name); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(time.Since(began).Milliseconds()), run+"-"+d.Manifest.Name+"-ms")
				b.ReportMetric(float64(residentNow(b)-before)/1e6, run+"-"+d.Manifest.Name+"-MB")
			}
		}
	}
	b.ReportMetric(0, "ns/op")
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

func storeAll(t testing.TB, s *memory.Space, prefix string, texts []string) []time.Duration {
	t.Helper()
	took := make([]time.Duration, len(texts))
	for i, text := range texts {
		value, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := server.As(s, "").Store(t.Context(), memory.Location{}, []memory.Item{{Key: fmt.Sprintf("%s%05d", prefix, i), Value: value}}, memory.Write{}); err != nil {
			t.Fatal(err)
		}
		took[i] = time.Since(began)
	}
	return took
}

func on(t testing.TB, f *family.Families, name string, h abi.Hook) {
	t.Helper()
	if _, err := f.Grant(grants.Request{Family: name, Hooks: map[abi.Hook]registry.On{h: {}}}); err != nil {
		t.Fatal(err)
	}
	if err := f.Load(t.Context(), name); err != nil {
		t.Fatal(err)
	}
}

func off(t testing.TB, f *family.Families, name string, h abi.Hook) {
	t.Helper()
	if _, err := f.Grant(grants.Request{Family: name, Revoke: []string{string(h)}}); err != nil {
		t.Fatal(err)
	}
}

func TestAutoTagTagsWhatIsStored(t *testing.T) {
	t.Parallel()
	s, f := server.Parts(t, t.TempDir(), server.Cache())
	on(t, f, "auto-tag", abi.HookStore)
	tags := func(key string) []string {
		m, err := server.As(s, "").Recall(t.Context(), memory.Location{}, key, memory.AsOf{})
		if err != nil || m == nil {
			t.Fatalf("%s is %+v, %v", key, m, err)
		}
		return m.Tags
	}
	n := 0
	await.That(t, "a memory is tagged: the first may take longer than a hook may, and are stored as they are", func() bool {
		n++
		first := fmt.Sprintf("first%d-", n)
		storeAll(t, s, first, sentences(1))
		return len(tags(first+"00000")) > 0
	})
	storeAll(t, s, "with", sentences(10))
	off(t, f, "auto-tag", abi.HookStore)
	storeAll(t, s, "without", sentences(1))
	for key, tagged := range map[string]bool{"with00000": true, "with00009": true, "without00000": false} {
		if got := tags(key); len(got) > 0 != tagged {
			t.Errorf("%s has the tags %q, want some: %v", key, got, tagged)
		}
	}
}

// BenchmarkFirstPartyStores is what auto-tag adds to a store: the target is 1 ms.
func BenchmarkFirstPartyStores(b *testing.B) {
	s, f := server.Parts(b, b.TempDir(), server.Cache())
	storeAll(b, s, "before", sentences(500))
	round := 0
	var with, without []time.Duration
	for b.Loop() { // by turns, so that a noisy machine is noisy for both
		round++
		without = append(without, storeAll(b, s, fmt.Sprintf("without%d-", round), sentences(250))...)
		on(b, f, "auto-tag", abi.HookStore)
		storeAll(b, s, fmt.Sprintf("warm%d-", round), sentences(20))
		with = append(with, storeAll(b, s, fmt.Sprintf("with%d-", round), sentences(250))...)
		off(b, f, "auto-tag", abi.HookStore)
	}
	reportBoth(b, without, with)
}

// BenchmarkCoreBesideStoredHooks is what the core costs beside the stored hooks of all families that have one, and beside none: stores,
// searches and recalls by turns in two spaces, while the hooks of one follow.
func BenchmarkCoreBesideStoredHooks(b *testing.B) {
	without, _ := server.Parts(b, b.TempDir(), server.Cache())
	with, f := server.Parts(b, b.TempDir(), server.Cache())
	if err := f.Listen(b.Context()); err != nil { // as a server does when it starts
		b.Fatal(err)
	}
	for _, name := range []string{"agents", "facts", "governance", "graph"} {
		on(b, f, name, abi.HookStored)
	}
	spaces := [2]*memory.Space{without, with}
	for _, s := range spaces {
		storeTexts(b, s, sentences(10_000))
	}
	var stores, searches, recalls [2][]time.Duration
	round := 0
	for b.Loop() {
		round++
		for i, text := range sentences(200) {
			for j, s := range spaces {
				key := fmt.Sprintf("%d-%d", round, i)
				stores[j] = append(stores[j], storeAll(b, s, key, []string{text})...)
				began := time.Now()
				if _, err := server.As(s, "").Search(b.Context(), memory.Search{Text: text}); err != nil {
					b.Fatal(err)
				}
				searches[j] = append(searches[j], time.Since(began))
				began = time.Now()
				if _, err := server.As(s, "").Recall(b.Context(), memory.Location{}, key+"00000", memory.AsOf{}); err != nil {
					b.Fatal(err)
				}
				recalls[j] = append(recalls[j], time.Since(began))
			}
		}
	}
	for name, took := range map[string][2][]time.Duration{"store": stores, "search": searches, "recall": recalls} {
		for j, beside := range []string{"alone", "beside"} {
			p50, p99 := percentiles(took[j])
			b.ReportMetric(float64(p50.Microseconds()), name+"-"+beside+"-p50-µs")
			b.ReportMetric(float64(p99.Microseconds()), name+"-"+beside+"-p99-µs")
		}
	}
	b.ReportMetric(0, "ns/op")
}

// reportBoth reports how long something takes without a hook and with it.
func reportBoth(b *testing.B, without, with []time.Duration) {
	a50, a99 := percentiles(without)
	b50, b99 := percentiles(with)
	b.ReportMetric(float64(a50.Microseconds()), "without-p50-µs")
	b.ReportMetric(float64(a99.Microseconds()), "without-p99-µs")
	b.ReportMetric(float64(b50.Microseconds()), "with-p50-µs")
	b.ReportMetric(float64(b99.Microseconds()), "with-p99-µs")
	b.ReportMetric(float64((b50 - a50).Microseconds()), "added-p50-µs")
	b.ReportMetric(0, "ns/op")
}

func storeTexts(t testing.TB, s *memory.Space, texts []string) {
	t.Helper()
	for part := range slices.Chunk(texts, 500) {
		var items []memory.Item
		for _, text := range part {
			value, err := json.Marshal(text)
			if err != nil {
				t.Fatal(err)
			}
			items = append(items, memory.Item{Value: value, Type: "decision"})
		}
		if _, err := server.As(s, "").Store(t.Context(), memory.Location{}, items, memory.Write{}); err != nil {
			t.Fatal(err)
		}
	}
}

// searchAll searches for the beginnings of texts.
func searchAll(t testing.TB, s *memory.Space, texts []string, searches int) (took []time.Duration) {
	t.Helper()
	for i := range searches {
		began := time.Now()
		if notes := searchOne(t, s, texts, i); len(notes) > 0 {
			t.Fatalf("search %d says %q", i, notes)
		}
		took = append(took, time.Since(began))
	}
	return took
}

// searchOne searches for the beginning of a text, and returns what the caller is told beside.
func searchOne(t testing.TB, s *memory.Space, texts []string, i int) []string {
	t.Helper()
	found, err := server.As(s, "").Search(t.Context(), memory.Search{Text: strings.Join(strings.Fields(texts[i*31%len(texts)])[:5], " ")})
	if err != nil || len(found.Hits) == 0 {
		t.Fatalf("found %v, %v", found, err)
	}
	return found.Notes
}

func TestRankingRanksEverySearch(t *testing.T) {
	t.Parallel()
	s, f := server.Parts(t, t.TempDir(), server.Cache())
	texts := sentences(1000)
	storeTexts(t, s, texts)
	on(t, f, "ranking", abi.HookRank)
	ranked := 0
	await.That(t, "50 searches are ranked", func() bool {
		switch notes := searchOne(t, s, texts, ranked); {
		case len(notes) == 0:
			ranked++
		case !strings.Contains(notes[0], " longer than "): // a busy machine lets the family run out of its 100 ms
			t.Fatalf("search %d says %q", ranked, notes)
		}
		return ranked == 50
	})
}

// BenchmarkFirstPartySearches is what ranking adds to a search of 10,000 memories: the target is 0.5 ms.
func BenchmarkFirstPartySearches(b *testing.B) {
	s, f := server.Parts(b, b.TempDir(), server.Cache())
	texts := sentences(10_000)
	storeTexts(b, s, texts)
	searchAll(b, s, texts, 300)
	var with, without []time.Duration
	for b.Loop() {
		without = append(without, searchAll(b, s, texts, 300)...)
		on(b, f, "ranking", abi.HookRank)
		with = append(with, searchAll(b, s, texts, 300)...)
		off(b, f, "ranking", abi.HookRank)
	}
	reportBoth(b, without, with)
}
