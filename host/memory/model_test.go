package memory

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/store/postgres"
	servers "github.com/alcove-memory/alcove/host/testing/postgres"
	"github.com/alcove-memory/alcove/host/testing/stress"
)

var vocabulary = strings.Fields("tea coffee green black afternoon morning deploy script staging key garden rain?")

type model struct {
	t      *testing.T
	rng    *rand.Rand
	dir    string
	now    time.Time
	ticks  atomic.Int64 // now in µs, for those in the background
	space  *Space
	driver store.Driver
	engine store.Engine
	oracle *oracle
	trace  []string
	forks  int
	// deepening is how often, of ten times, the newest branch is worked on.
	deepening int
	deepest   int
	tail      int // of the index
}

func (m *model) open() {
	var err error
	m.ticks.Store(m.now.UnixMicro())
	clock := func() time.Time { return time.UnixMicro(m.ticks.Load()).UTC() }
	if m.engine, err = m.driver.Open(m.t.Context(), m.dir, store.Options{Clock: clock}); err != nil {
		m.t.Fatal(err)
	}
	m.space, err = Open(m.t.Context(), Options{Engine: m.engine, Index: search.New(search.Options{Views: 8, Tail: m.tail}), Clock: clock, DeepChain: 5})
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *model) close() {
	if err := errors.Join(m.space.WaitIdle(m.t.Context()), m.engine.Check(m.t.Context()), m.space.Close(m.t.Context()), m.engine.Close()); err != nil {
		m.fail("close: %v", err)
	}
}

func (m *model) fail(format string, args ...any) {
	m.t.Helper()
	m.t.Fatalf("%s\nafter:\n%s", fmt.Sprintf(format, args...), strings.Join(m.trace, "\n"))
}

func (m *model) must(err error) {
	m.t.Helper()
	if err != nil {
		m.fail("%v", err)
	}
}

func (m *model) note(format string, args ...any) {
	m.trace = append(m.trace, fmt.Sprintf(format, args...))
}

func pickOne[T any](m *model, list []T) T { return list[m.rng.Intn(len(list))] }

func (m *model) branch() string {
	names := slices.Sorted(maps.Keys(m.oracle.timelines)) // default comes last, behind b001, b002…
	if len(names) > 1 && m.rng.Intn(10) < m.deepening {
		return names[len(names)-2] // the newest, so that chains grow deep
	}
	return pickOne(m, names)
}

func (m *model) where() place2 {
	return place2{pickOne(m, modelNamespaces), fmt.Sprintf("k%d", m.rng.Intn(12))}
}

func (m *model) text() string {
	var words []string
	for range 1 + m.rng.Intn(6) {
		words = append(words, pickOne(m, vocabulary))
	}
	return strings.Join(words, " ")
}

func (m *model) step() {
	m.now = m.now.Add(time.Second)
	m.ticks.Store(m.now.UnixMicro())
	switch n := m.rng.Intn(100); {
	case n < 34:
		m.put()
	case n < 42:
		m.forget()
	case n < 46:
		m.archive()
	case n < 62:
		m.fork()
	case n < 70:
		m.merge()
	case n < 74:
		m.drop()
	case n < 76:
		m.trim()
	case n < 81:
		m.log()
	case n < 83:
		m.note("reopen")
		m.close()
		m.open()
	default:
		m.look()
	}
}

// invent makes up a memory.
func (m *model) invent() cell {
	c := cell{state: Active, version: store.Latest}
	if c.text = m.text(); m.rng.Intn(2) == 0 {
		c.text, c.fields = "", map[string]string{}
		for _, name := range []string{"a", "b", "c"}[:1+m.rng.Intn(3)] {
			c.fields[name] = pickOne(m, vocabulary)
		}
	}
	if m.rng.Intn(3) == 0 {
		c.meta = map[string]string{pickOne(m, []string{"x", "y"}): pickOne(m, vocabulary[:2])}
	}
	if m.rng.Intn(3) == 0 {
		c.meta = joined(c.meta, m.turn())
	}
	for _, tag := range vocabulary[:3] {
		if m.rng.Intn(4) == 0 {
			c.tags = append(c.tags, tag)
		}
	}
	if m.rng.Intn(5) == 0 {
		c.expires = m.now.Add(time.Duration(1+m.rng.Intn(20)) * time.Second)
	}
	return c
}

// turn makes up what somebody said when in a conversation.
func (m *model) turn() map[string]string {
	return map[string]string{
		"session": pickOne(m, []string{"s1", "s2"}), "seq": strconv.Itoa(m.rng.Intn(6)), "speaker": pickOne(m, []string{"anna", "bert"}),
		"caption": pickOne(m, vocabulary), "ts": pickOne(m, []string{"2025-06-03", "2025-09-03T10:00:00Z", "2026-06-20", "2026-01-02"}),
		"role": pickOne(m, []string{"host", "user", "assistant"}),
	}
}

// edit changes one thing about a memory.
func (m *model) edit(c cell) cell {
	c.fields, c.meta = maps.Clone(c.fields), joined(c.meta, nil)
	switch m.rng.Intn(3) {
	case 0:
		c.meta[pickOne(m, []string{"x", "y"})] = pickOne(m, vocabulary[:3])
	case 1:
		c.tags = mergeTags(nil, []string{pickOne(m, vocabulary[:3])}, c.tags)
	case 2:
		if c.fields == nil {
			c.text = m.text()
		} else {
			c.fields[pickOne(m, []string{"a", "b", "c"})] = pickOne(m, vocabulary)
		}
	}
	if len(c.meta) == 0 {
		c.meta = nil
	}
	c.state = Active
	return c
}

func (c cell) item(key string) Item {
	item := Item{Key: key, Value: json.RawMessage(c.value()), Tags: c.tags, ExpiresAt: c.expires}
	for name, value := range c.meta {
		if item.Metadata == nil {
			item.Metadata = map[string]json.RawMessage{}
		}
		item.Metadata[name] = json.RawMessage(strconv.Quote(value))
	}
	return item
}

func (m *model) put() {
	branch, p := m.branch(), m.where()
	c := m.invent()
	if was, live := m.live(branch, p); live && m.rng.Intn(2) == 0 {
		c = m.edit(was)
	}
	m.note("put %s %v %s", branch, p, c.says())
	stored, err := m.space.Store(m.t.Context(), Location{branch, p.namespace}, []Item{c.item(p.key)}, Write{})
	m.must(err)
	if was := m.oracle.head(branch).cell(p); was.says() == c.says() {
		if stored[0].Version != was.version {
			m.fail("storing the same again gave version %d, not %d", stored[0].Version, was.version)
		}
		return
	}
	m.oracle.write(branch, stored[0].Version, stored[0].Timestamp, commit{cells: map[place2]cell{p: c}})
}

func (m *model) log() {
	branch, namespace, text := m.branch(), pickOne(m, modelNamespaces), m.text()
	m.note("log %s %s %s", branch, namespace, text)
	e, err := m.space.Append(m.t.Context(), Location{branch, namespace}, "noted", json.RawMessage(strconv.Quote(text)), Write{})
	m.must(err)
	m.oracle.write(branch, e.Version, e.Timestamp, commit{events: map[string]string{namespace: "noted " + strconv.Quote(text)}})
}

func (m *model) newest(branch string, p place2) Memory {
	versions, _, err := m.space.History(m.t.Context(), Location{branch, p.namespace}, p.key, AsOf{}, 1)
	m.must(err)
	return versions[0]
}

func (m *model) live(branch string, p place2) (cell, bool) {
	c := m.oracle.head(branch).cell(p)
	return c, c.live(m.now)
}

func (m *model) forget() {
	branch, p := m.branch(), m.where()
	m.note("forget %s %v", branch, p)
	n, err := m.space.Forget(m.t.Context(), Location{branch, p.namespace}, []string{p.key}, Write{})
	m.must(err)
	_, live := m.live(branch, p)
	if live != (n == 1) {
		m.fail("forgot %d", n)
	}
	if live {
		at := m.newest(branch, p)
		m.oracle.write(branch, at.Version, at.Timestamp, commit{cells: map[place2]cell{p: {deleted: true}}})
	}
}

func (m *model) archive() {
	branch, p := m.branch(), m.where()
	m.note("archive %s %v", branch, p)
	_, err := m.space.SetState(m.t.Context(), Location{branch, p.namespace}, []string{p.key}, Archived, Write{})
	m.must(err)
	c, live := m.live(branch, p)
	if live && c.state != Archived {
		at := m.newest(branch, p)
		c.state = Archived
		m.oracle.write(branch, at.Version, at.Timestamp, commit{cells: map[place2]cell{p: c}})
	}
}

func (m *model) fork() {
	if len(m.oracle.timelines) > 90 {
		return
	}
	from := m.branch()
	m.forks++
	name := fmt.Sprintf("b%03d", m.forks)
	line := m.oracle.timelines[from]
	at := AsOf{}
	if past := pickOne(m, line); m.rng.Intn(6) == 0 && past.version != 0 {
		at = AsOf{Version: past.version}
	}
	m.note("fork %s from %s at %d", name, from, at.Version)
	made, err := m.space.Fork(m.t.Context(), from, name, at, Write{})
	if m.trimmedAway(err, at.Version) {
		return
	}
	m.must(err)
	m.deepest = max(m.deepest, made.Depth)
	kept := slices.Clone(line)
	if at.Version != 0 {
		kept = slices.DeleteFunc(kept, func(x instant) bool { return x.version > at.Version })
	}
	m.oracle.timelines[name] = kept
}

// trimmedAway reports whether an error rightly says that a past is no longer kept.
func (m *model) trimmedAway(err error, version uint64) bool {
	if err == nil || !strings.Contains(err.Error(), "further back than is kept") {
		return false
	}
	if version == 0 || version >= m.oracle.floor {
		m.fail("version %d is at or above every floor (%d): %v", version, m.oracle.floor, err)
	}
	return true
}

func (m *model) merge() {
	want := Merge{
		Source: m.branch(), Target: pickOne(m, slices.Sorted(maps.Keys(m.oracle.timelines))),
		Strategy:   pickOne(m, []Strategy{Strict, Source, Target, Newest, Fields}),
		Namespaces: pickOne(m, [][]string{nil, nil, {"default"}, {"other"}, {"default", "other"}}),
	}
	w := Write{DryRun: m.rng.Intn(8) == 0}
	if want.Source == want.Target {
		return
	}
	strict := want
	strict.Strategy = Strict
	clashing := m.oracle.merged(strict).unresolved
	slices.SortFunc(clashing, func(a, b place2) int { return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.key, b.key)) })
	for i := range m.rng.Intn(3) {
		p := m.where()
		if len(clashing) > 0 {
			p = clashing[i%len(clashing)]
		}
		r := Resolution{Namespace: p.namespace, Key: p.key, Take: pickOne(m, []string{"source", "target", "delete", "value"})}
		if r.Take == "value" {
			r.Value = json.RawMessage(strconv.Quote(m.text()))
		}
		if len(clashing) > 0 && !slices.ContainsFunc(want.Resolutions, func(o Resolution) bool { return o.Namespace == r.Namespace && o.Key == r.Key }) {
			want.Resolutions = append(want.Resolutions, r)
		}
	}
	m.note("merge %+v, dry run %t", want, w.DryRun)
	verdict := m.oracle.merged(want)
	result, err := m.space.Merge(m.t.Context(), want, w)
	m.must(err)
	m.judge(w, result, verdict)
	if !result.Merged || result.Version == 0 { // or there was nothing to merge
		return
	}
	for _, p := range verdict.unsure {
		m.adopt(want.Target, p, verdict)
	}
	m.oracle.write(want.Target, result.Version, result.Timestamp, m.mergeCommit(want, verdict))
}

// judge compares what a merge said with what it had to do.
func (m *model) judge(w Write, result MergeResult, v verdict) {
	if v.unsure == nil && result.Unresolved != len(v.unresolved) || result.Unresolved < len(v.unresolved) {
		m.fail("%d clashes are unresolved (%v), not %v", result.Unresolved, places(result.Clashes), v.unresolved)
	}
	if (result.Merged || result.Unchanged && !w.DryRun) != (result.Unresolved == 0 && !w.DryRun) {
		m.fail("merged is %v with %d unresolved clashes", result.Merged, result.Unresolved)
	}
	applied := slices.DeleteFunc(places(result.Applied), func(p place2) bool { return slices.Contains(v.unsure, p) })
	if len(applied) != len(v.writes) {
		m.fail("%v are merged, not %v", applied, slices.Collect(maps.Keys(v.writes)))
	}
}

// adopt takes over what a merge by fields made of a key with several bases.
func (m *model) adopt(branch string, p place2, v verdict) {
	got := m.newest(branch, p)
	if got.Version == m.oracle.head(branch).cell(p).version {
		return
	}
	v.writes[p] = cellOf(got)
}

func cellOf(got Memory) cell {
	c := cell{tags: got.Tags, state: got.State, expires: got.ExpiresAt, version: got.Version}
	if json.Unmarshal(got.Value, &c.fields) != nil {
		c.fields = nil
		c.text, _ = strconv.Unquote(string(got.Value))
	}
	for name, value := range got.Metadata {
		c.meta = joined(c.meta, map[string]string{name: strings.Trim(string(value), `"`)})
	}
	return c
}

func (m *model) mergeCommit(want Merge, v verdict) commit {
	c := commit{cells: v.writes, events: map[string]string{}, merged: maps.Clone(m.oracle.head(want.Source))}
	for p := range v.writes {
		c.events[p.namespace] = "merge " + want.Source
	}
	maps.DeleteFunc(c.merged, func(namespace string, _ *node) bool {
		return want.Namespaces != nil && !slices.Contains(want.Namespaces, namespace)
	})
	return c
}

func places(list []Difference) []place2 {
	var found []place2
	for _, d := range list {
		found = append(found, place2{d.Namespace, d.Key})
	}
	return found
}

func (m *model) drop() {
	branch := m.branch()
	if branch == Default {
		return
	}
	m.note("delete %s", branch)
	m.must(m.space.Delete(m.t.Context(), branch, Write{}))
	delete(m.oracle.timelines, branch)
}

func (m *model) trim() {
	branch := m.branch()
	at := pickOne(m, m.oracle.timelines[branch])
	if at.version == 0 || m.rng.Intn(2) == 0 {
		return
	}
	m.note("trim %s before %d", branch, at.version)
	_, err := m.space.Trim(m.t.Context(), branch, AsOf{Version: at.version})
	if m.trimmedAway(err, at.version) {
		return
	}
	m.must(err)
	m.oracle.floor = max(m.oracle.floor, at.version)
}

// look compares a branch with the oracle, now or at a moment.
func (m *model) look() {
	branch := m.branch()
	n, now, at := m.oracle.head(branch), m.now, AsOf{}
	if past := pickOne(m, m.oracle.timelines[branch]); m.rng.Intn(2) == 0 && past.version != 0 {
		at, now = AsOf{Version: past.version}, past.time
		n = m.oracle.at(branch, past.version)
		if m.rng.Intn(2) == 0 {
			at = AsOf{Time: past.time}
		}
	}
	m.note("look at %s as of %+v", branch, at)
	for i := range 12 {
		p := place2{pickOne(m, modelNamespaces), fmt.Sprintf("k%d", i)}
		got, err := m.space.Recall(m.t.Context(), Location{branch, p.namespace}, p.key, at)
		if m.trimmedAway(err, m.versionOf(at, branch)) {
			return
		}
		m.must(err)
		m.compare(p, got, n.cell(p), now)
	}
	m.compareSearch(branch, at, n, now)
	m.compareLog(branch, at, n)
}

// compareLog reads a log as it was, and checks the chain of the log as it is.
func (m *model) compareLog(branch string, at AsOf, n tree) {
	namespace := pickOne(m, modelNamespaces)
	list, err := m.space.Events(m.t.Context(), Location{branch, namespace}, at, 0, 1000)
	m.must(err)
	var got []string
	for _, e := range list {
		if e.Event != mergeEvent {
			got = append(got, e.Event+" "+string(e.Data))
			continue
		}
		var b brief
		m.must(json.Unmarshal(e.Data, &b))
		got = append(got, e.Event+" "+b.Source)
	}
	if !slices.Equal(got, n[namespace].events) {
		m.fail("the log of %s is\n%s\nnot\n%s", namespace, strings.Join(got, "\n"), strings.Join(n[namespace].events, "\n"))
	}
	now := m.oracle.head(branch)[namespace].events
	if count, err := m.space.VerifyLog(m.t.Context(), Location{branch, namespace}); err != nil || count != len(now) {
		m.fail("the log of %s verifies %d of %d events: %v", namespace, count, len(now), err)
	}
}

func (m *model) versionOf(at AsOf, branch string) uint64 {
	if at.Version != 0 {
		return at.Version
	}
	version := uint64(0)
	for _, x := range m.oracle.timelines[branch] {
		if !at.Time.IsZero() && !x.time.After(at.Time) {
			version = x.version
		}
	}
	return version
}

func (m *model) compare(p place2, got *Memory, c cell, now time.Time) {
	live := c.live(now)
	switch {
	case got == nil && live:
		m.fail("%v is not found; it should be %s", p, c.says())
	case got != nil && !live:
		m.fail("%v is found as %s at version %d; it should be gone", p, got.Value, got.Version)
	case got != nil && (cellOf(*got).says() != c.says() || got.Version != c.version):
		m.fail("%v is %s at version %d; it should be %s at %d", p, cellOf(*got).says(), got.Version, c.says(), c.version)
	}
}

func (m *model) compareSearch(branch string, at AsOf, n tree, now time.Time) {
	query := m.text()
	switch m.rng.Intn(6) {
	case 0, 1:
		query += pickOne(m, []string{" anna", " june 2025", " 2025", " june bert"})
	case 2:
		query = pickOne(m, []string{"june", "2025", "june 2025"})
	}
	namespaces := pickOne(m, [][]string{nil, {"default"}, {"other"}, {"default", "other"}})
	found, err := m.space.Search(m.t.Context(), Search{Text: query, Branch: branch, Namespaces: namespaces, AsOf: at})
	m.must(err)
	var got []string
	for _, h := range found.Hits {
		got = append(got, fmt.Sprintf("%s/%s %v", h.Namespace, h.Key, h.Score))
	}
	if want := ranked(n, now, query, namespaces); !slices.Equal(got, want) {
		m.fail("search for %q in %v found\n%s\nand should have found\n%s", query, namespaces, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// runModel returns how deep the deepest branch was.
func runModel(t *testing.T, driver store.Driver, seed int64, steps int) int {
	m := &model{t: t, driver: driver, rng: rand.New(rand.NewSource(seed)), dir: t.TempDir(), now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
	m.oracle = newOracle()
	m.deepening = []int{3, 5, 10}[seed%3]
	m.tail = []int{8000, 6, 8000, 20, 8000}[seed%5]
	m.note("seed %d", seed)
	m.open()
	for range steps {
		m.step()
	}
	m.close()
	return m.deepest
}

// TestRandomOperationsAgreeWithAFullCopyOracle runs six of 20 seeds, others each day, or as many as fit into ALCOVE_MODEL_TIME (such as 2h),
// from the seed ALCOVE_MODEL_SEED on.
func TestRandomOperationsAgreeWithAFullCopyOracle(t *testing.T) {
	deepest := 0
	agrees := func(seed int64) bool {
		return t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			deepest = max(deepest, runModel(t, bolt.Driver{NoSync: true}, seed, []int{300, 300, 800}[seed%3]))
		})
	}
	first, given := os.LookupEnv("ALCOVE_MODEL_SEED")
	long, _ := time.ParseDuration(os.Getenv("ALCOVE_MODEL_TIME"))
	if !given && long == 0 {
		for _, seed := range stress.Seeds(t, 6, 20) {
			if !agrees(int64(seed)) {
				return
			}
		}
		if deepest < 40 && stress.All() {
			t.Errorf("the deepest branch had only %d ancestors", deepest)
		}
		return
	}
	seed, _ := strconv.ParseInt(first, 10, 64)
	began, seeds := time.Now(), 0
	for ; seeds < 20 || time.Since(began) < long; seeds++ {
		if !agrees(seed + int64(seeds)) {
			return
		}
	}
	t.Logf("%d seeds in %s, branches up to %d deep", seeds, time.Since(began).Round(time.Second), deepest)
}

// TestRandomOperationsAgreeOnPostgreSQL runs one of the same seeds, others each day.
func TestRandomOperationsAgreeOnPostgreSQL(t *testing.T) {
	server := servers.Start(t)
	for _, seed := range stress.Seeds(t, 1, 20) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			url, err := server.Database()
			if err != nil {
				t.Fatal(err)
			}
			driver, err := postgres.New(url, postgres.Options{})
			if err != nil {
				t.Fatal(err)
			}
			runModel(t, driver, int64(seed), 300)
		})
	}
}
