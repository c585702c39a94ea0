package memory

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
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
)

// The oracle keeps a full copy of everything after every write, as a graph of states like that of a version control
// system, and works everything out from the copies: it shares no idea with what it judges.

type place2 struct{ namespace, key string }

// cell is what a key holds; deleted ones stay, with the version that deleted them.
type cell struct {
	text    string
	state   State
	expires time.Time
	version uint64
	deleted bool
}

func (c cell) there() bool { return c.version != 0 && !c.deleted }

// says is what a cell says to a merge, which does not look at versions.
func (c cell) says() string {
	if !c.there() {
		return ""
	}
	return fmt.Sprintf("%q %s %d", c.text, c.state, c.expires.UnixMicro())
}

type node struct {
	parents []*node
	cells   map[place2]cell
}

func (n *node) ancestors(into map[*node]bool) map[*node]bool {
	if n == nil || into[n] {
		return into
	}
	into[n] = true
	for _, p := range n.parents {
		p.ancestors(into)
	}
	return into
}

// bases are the common ancestors that are not ancestors of another common one.
func bases(a, b *node) []*node {
	inA, inB := a.ancestors(map[*node]bool{}), b.ancestors(map[*node]bool{})
	common := map[*node]bool{}
	for n := range inA {
		if inB[n] {
			common[n] = true
		}
	}
	for n := range maps.Clone(common) {
		for _, p := range n.parents {
			for older := range p.ancestors(map[*node]bool{}) {
				delete(common, older)
			}
		}
	}
	return slices.Collect(maps.Keys(common))
}

type moment struct {
	version uint64
	time    time.Time
	node    *node
}

type oracle struct {
	timelines map[string][]moment
	floor     uint64 // nothing was trimmed above it
}

func (o *oracle) head(branch string) *node {
	line := o.timelines[branch]
	return line[len(line)-1].node
}

func (o *oracle) at(branch string, version uint64) *node {
	found := &node{cells: map[place2]cell{}}
	for _, m := range o.timelines[branch] {
		if m.version <= version {
			found = m.node
		}
	}
	return found
}

func (o *oracle) write(branch string, version uint64, at time.Time, cells map[place2]cell, other *node) {
	n := &node{parents: []*node{o.head(branch)}, cells: maps.Clone(o.head(branch).cells)}
	if n.cells == nil {
		n.cells = map[place2]cell{}
	}
	if other != nil {
		n.parents = append(n.parents, other)
	}
	for p, c := range cells {
		c.version = version
		n.cells[p] = c
	}
	o.timelines[branch] = append(o.timelines[branch], moment{version, at, n})
}

// merged is what a merge has to write, and how many clashes nothing settles.
func (o *oracle) merged(source, target string, strategy Strategy) (map[place2]cell, []place2) {
	s, t := o.head(source), o.head(target)
	common := bases(s, t)
	was := func(p place2, c cell) bool {
		if len(common) == 0 {
			return c.says() == ""
		}
		return slices.ContainsFunc(common, func(n *node) bool { return n.cells[p].says() == c.says() })
	}
	places := maps.Clone(s.cells)
	maps.Copy(places, t.cells)
	writes, unresolved := map[place2]cell{}, []place2(nil)
	for p := range places {
		cs, ct := s.cells[p], t.cells[p]
		if cs.says() == ct.says() {
			continue
		}
		keepS, keepT := was(p, cs), was(p, ct)
		take := !keepS && keepT
		if !keepS && !keepT {
			switch strategy {
			case Strict:
				unresolved = append(unresolved, p)
			case Source:
				take = true
			case Newest:
				take = cs.version > ct.version
			}
		}
		if take {
			cs.deleted = !cs.there()
			writes[p] = cs
		}
	}
	return writes, unresolved
}

// ranked is what a search has to find: BM25 written down once more, over a copy of the view.
func ranked(n *node, now time.Time, query string, namespaces []string) []string {
	type found struct {
		place place2
		score float64
	}
	docs := map[place2][]string{}
	total := 0
	for p, c := range n.cells {
		live := c.there() && (c.expires.IsZero() || c.expires.After(now)) && c.state != Archived
		if live && (namespaces == nil || slices.Contains(namespaces, p.namespace)) {
			docs[p] = append(search.Terms(c.text), search.Terms(p.key)...)
			total += len(docs[p])
		}
	}
	average := float64(total) / float64(len(docs))
	terms := search.Terms(query)
	slices.Sort(terms)
	scores := map[place2]float64{}
	for _, term := range slices.Compact(terms) {
		df := 0
		for _, words := range docs {
			if slices.Contains(words, term) {
				df++
			}
		}
		idf := math.Log(1 + (float64(len(docs))-float64(df)+.5)/(float64(df)+.5))
		for p, words := range docs {
			tf := 0.0
			for _, w := range words {
				if w == term {
					tf++
				}
			}
			if tf > 0 {
				scores[p] += idf * (tf * (.9 + 1) / (tf + .9*(1-.4+.4*float64(len(words))/average)))
			}
		}
	}
	var list []found
	for p, score := range scores {
		list = append(list, found{p, score})
	}
	slices.SortFunc(list, func(a, b found) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.place.namespace, b.place.namespace), strings.Compare(a.place.key, b.place.key))
	})
	var lines []string
	for _, f := range list[:min(len(list), 10)] {
		lines = append(lines, fmt.Sprintf("%s/%s %v", f.place.namespace, f.place.key, f.score))
	}
	return lines
}

var vocabulary = strings.Fields("tea coffee green black afternoon morning deploy script staging key garden rain")

type model struct {
	t      *testing.T
	rng    *rand.Rand
	dir    string
	now    time.Time
	ticks  atomic.Int64 // now in µs, for those in the background
	space  *Space
	engine *bolt.Engine
	oracle *oracle
	trace  []string
	forks  int
	// deepening is how often, of ten times, the newest branch is worked on.
	deepening int
	deepest   int
}

func (m *model) open() {
	var err error
	m.ticks.Store(m.now.UnixMicro())
	clock := func() time.Time { return time.UnixMicro(m.ticks.Load()).UTC() }
	if m.engine, err = bolt.Open(m.t.Context(), m.dir, bolt.Options{Now: clock}); err != nil {
		m.t.Fatal(err)
	}
	m.space, err = Open(m.t.Context(), Options{Engine: m.engine, Index: search.New(search.Options{Views: 8}), Clock: clock, DeepChain: 5})
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *model) close() {
	if err := errors.Join(m.space.Settle(m.t.Context()), m.engine.Check(m.t.Context()), m.space.Close(m.t.Context()), m.engine.Close()); err != nil {
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
	return place2{pickOne(m, []string{"default", "other"}), fmt.Sprintf("k%d", m.rng.Intn(12))}
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
	case n < 78:
		m.note("reopen")
		m.close()
		m.open()
	default:
		m.look()
	}
}

func (m *model) put() {
	branch, p, c := m.branch(), m.where(), cell{text: m.text(), state: Active, version: store.Latest}
	value, err := json.Marshal(c.text)
	m.must(err)
	item := Item{Key: p.key, Value: value}
	if m.rng.Intn(5) == 0 {
		item.ExpiresAt = m.now.Add(time.Duration(1+m.rng.Intn(20)) * time.Second)
		c.expires = item.ExpiresAt
	}
	m.note("put %s %v %q expires %v", branch, p, c.text, c.expires)
	stored, err := m.space.Store(m.t.Context(), Place{branch, p.namespace}, []Item{item}, Write{})
	m.must(err)
	if was := m.oracle.head(branch).cells[p]; was.says() == c.says() {
		if stored[0].Version != was.version {
			m.fail("storing the same again gave version %d, not %d", stored[0].Version, was.version)
		}
		return
	}
	m.oracle.write(branch, stored[0].Version, stored[0].Timestamp, map[place2]cell{p: c}, nil)
}

func (m *model) newest(branch string, p place2) Memory {
	versions, _, err := m.space.History(m.t.Context(), Place{branch, p.namespace}, p.key, AsOf{}, 1)
	m.must(err)
	return versions[0]
}

func (m *model) live(branch string, p place2) (cell, bool) {
	c := m.oracle.head(branch).cells[p]
	return c, c.there() && (c.expires.IsZero() || c.expires.After(m.now))
}

func (m *model) forget() {
	branch, p := m.branch(), m.where()
	m.note("forget %s %v", branch, p)
	n, err := m.space.Forget(m.t.Context(), Place{branch, p.namespace}, []string{p.key}, Write{})
	m.must(err)
	_, live := m.live(branch, p)
	if live != (n == 1) {
		m.fail("forgot %d", n)
	}
	if live {
		at := m.newest(branch, p)
		m.oracle.write(branch, at.Version, at.Timestamp, map[place2]cell{p: {deleted: true}}, nil)
	}
}

func (m *model) archive() {
	branch, p := m.branch(), m.where()
	m.note("archive %s %v", branch, p)
	_, err := m.space.SetState(m.t.Context(), Place{branch, p.namespace}, []string{p.key}, Archived, Write{})
	m.must(err)
	c, live := m.live(branch, p)
	if live && c.state != Archived {
		at := m.newest(branch, p)
		c.state = Archived
		m.oracle.write(branch, at.Version, at.Timestamp, map[place2]cell{p: c}, nil)
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
		kept = slices.DeleteFunc(kept, func(x moment) bool { return x.version > at.Version })
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
	source, target := m.branch(), pickOne(m, slices.Sorted(maps.Keys(m.oracle.timelines)))
	if source == target {
		return
	}
	strategy := pickOne(m, []Strategy{Strict, Source, Target, Newest})
	m.note("merge %s into %s by %s", source, target, strategy)
	want, unresolved := m.oracle.merged(source, target, strategy)
	result, err := m.space.Merge(m.t.Context(), Merge{Source: source, Target: target, Strategy: strategy}, Write{})
	m.must(err)
	if result.Unresolved != len(unresolved) || result.Merged != (unresolved == nil) {
		m.fail("%d clashes are unresolved (%v), not %v", result.Unresolved, places(result.Clashes), unresolved)
	}
	if !result.Merged {
		return
	}
	if len(result.Applied) != len(want) {
		m.fail("%v are merged, not %v", places(result.Applied), slices.Collect(maps.Keys(want)))
	}
	m.oracle.write(target, result.Version, result.Timestamp, want, m.oracle.head(source))
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
		p := place2{pickOne(m, []string{"default", "other"}), fmt.Sprintf("k%d", i)}
		got, err := m.space.Recall(m.t.Context(), Place{branch, p.namespace}, p.key, at)
		if m.trimmedAway(err, m.versionOf(at, branch)) {
			return
		}
		m.must(err)
		m.compare(p, got, n.cells[p], now)
	}
	m.compareSearch(branch, at, n, now)
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
	live := c.there() && (c.expires.IsZero() || c.expires.After(now))
	switch {
	case got == nil && live:
		m.fail("%v is not found; it should be %q", p, c.text)
	case got != nil && !live:
		m.fail("%v is found as %s at version %d; it should be gone", p, got.Value, got.Version)
	case got != nil && (string(got.Value) != strconv.Quote(c.text) || got.Version != c.version || got.State != c.state):
		m.fail("%v is %s (%s) at version %d; it should be %q (%s) at %d", p, got.Value, got.State, got.Version, c.text, c.state, c.version)
	}
}

func (m *model) compareSearch(branch string, at AsOf, n *node, now time.Time) {
	query := m.text()
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
func runModel(t *testing.T, seed int64, steps int) int {
	m := &model{t: t, rng: rand.New(rand.NewSource(seed)), dir: t.TempDir(), now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
	m.oracle = &oracle{timelines: map[string][]moment{Default: {{node: &node{cells: map[place2]cell{}}}}}}
	m.deepening = []int{3, 5, 10}[seed%3]
	m.note("seed %d", seed)
	m.open()
	for range steps {
		m.step()
	}
	m.close()
	return m.deepest
}

// TestRandomOperationsAgreeWithAFullCopyOracle runs 60 seeds, or as many as fit into ALCOVE_MODEL_TIME (such as 2h),
// from the seed ALCOVE_MODEL_SEED on.
func TestRandomOperationsAgreeWithAFullCopyOracle(t *testing.T) {
	first, _ := strconv.ParseInt(os.Getenv("ALCOVE_MODEL_SEED"), 10, 64)
	long, _ := time.ParseDuration(os.Getenv("ALCOVE_MODEL_TIME"))
	began := time.Now()
	seed, deepest, seeds := first, 0, int64(60)
	if testing.Short() {
		seeds = 6
	}
	for ; seed < first+seeds || time.Since(began) < long; seed++ {
		if !t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { deepest = max(deepest, runModel(t, seed, []int{300, 300, 700}[seed%3])) }) {
			return
		}
	}
	if deepest < 40 && !testing.Short() {
		t.Errorf("the deepest branch had only %d ancestors", deepest)
	}
	t.Logf("%d seeds in %s, branches up to %d deep", seed-first, time.Since(began).Round(time.Second), deepest)
}
