package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/stress"
	"github.com/alcove-memory/alcove/host/testing/testclock"
)

// ledger is every memory of a space, kept beside it in plain maps. It decides about filters by itself.
type ledger struct {
	branches map[string]map[place2]entry
	past     []snapshot
}

type snapshot struct {
	branch  string
	version uint64
	now     time.Time
	entries map[place2]entry
}

// entry is a memory in a ledger.
type entry struct {
	item             Item
	agent            string
	version          uint64
	created, updated time.Time
	accesses         int64
	accessed         time.Time
	health           float64
	fresh            bool // staged, and new
}

func (e entry) expired(now time.Time) bool {
	return !e.item.ExpiresAt.IsZero() && !e.item.ExpiresAt.After(now)
}

// field is a field of a memory as JSON has it; nil: it is not there.
func (e entry) field(name string) any {
	read := func(raw json.RawMessage) (v any) {
		if raw != nil {
			if err := json.Unmarshal(raw, &v); err != nil {
				return "beyond all numbers: " + string(raw)
			}
		}
		return v
	}
	if name, ok := strings.CutPrefix(name, "metadata."); ok {
		return read(e.item.Metadata[name])
	}
	if name, ok := strings.CutPrefix(name, "value."); ok {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(e.item.Value, &object); err != nil {
			return nil // no object
		}
		return read(object[name])
	}
	here := map[string]bool{"type": e.item.Type != "", "importance": e.item.Importance != nil, "tags": len(e.item.Tags) > 0, "agent": e.agent != "",
		"expires_at": !e.item.ExpiresAt.IsZero(), "links": len(e.item.Links) > 0, "supersedes": len(e.item.Supersedes) > 0}
	if here[name] {
		return true
	}
	return nil
}

func (e entry) admitted(key string, f Filter, now time.Time) bool {
	one := func(list []string, value string) bool { return len(list) == 0 || slices.Contains(list, value) }
	tagged := func(tag string) bool { return slices.Contains(e.item.Tags, tag) }
	within := func(s Span, at time.Time) bool {
		return (s.Since.IsZero() || !at.Before(s.Since)) && (s.Until.IsZero() || at.Before(s.Until))
	}
	if e.expired(now) && f.Expiry == HideExpired || !e.expired(now) && f.Expiry == OnlyExpired {
		return false
	}
	for _, test := range f.Fields {
		value := e.field(test.Field)
		if test.Equals != nil {
			var want any
			if err := json.Unmarshal(test.Equals, &want); err != nil {
				panic(err)
			}
			if value == nil || !reflect.DeepEqual(value, want) {
				return false
			}
			continue
		}
		if (value != nil) != (test.Exists == nil || *test.Exists) {
			return false
		}
	}
	for _, tag := range f.Tags {
		if !tagged(tag) {
			return false
		}
	}
	if f.Importance.Min != nil && (e.item.Importance == nil || *e.item.Importance < *f.Importance.Min) ||
		f.Importance.Max != nil && (e.item.Importance == nil || *e.item.Importance > *f.Importance.Max) {
		return false
	}
	if f.Accesses.Min != nil && e.accesses < *f.Accesses.Min || f.Accesses.Max != nil && e.accesses > *f.Accesses.Max ||
		f.Health.Min != nil && e.health < *f.Health.Min || f.Health.Max != nil && e.health > *f.Health.Max {
		return false
	}
	if f.Accessed != (Span{}) && (e.accessed.IsZero() || !within(f.Accessed, e.accessed)) {
		return false
	}
	states := len(f.States) == 0 || slices.Contains(f.States, cmp.Or(e.item.State, Active))
	return states && strings.HasPrefix(key, f.Prefix) && one(f.Types, e.item.Type) && one(f.Writers, e.agent) &&
		(len(f.AnyTags) == 0 || slices.ContainsFunc(f.AnyTags, tagged)) && !slices.ContainsFunc(f.NoTags, tagged) &&
		within(f.Created, e.created) && within(f.Updated, e.updated)
}

// listed are the keys of a namespace that a listing has, in order.
func listed(entries map[place2]entry, l Listing, now time.Time) []string {
	var keys []string
	for _, p := range ordered(entries, l.Order, func(p place2, e entry) bool { return p.namespace == l.Namespace && e.admitted(p.key, l.Filter, now) }) {
		keys = append(keys, p.key)
	}
	return keys
}

// ordered are the places of entries in an order.
func ordered(entries map[place2]entry, o Order, wanted func(place2, entry) bool) []place2 {
	var keys []place2
	for p, e := range entries {
		if wanted(p, e) {
			keys = append(keys, p)
		}
	}
	of := func(p place2) entry { return entries[p] }
	importance := func(key place2) float64 {
		if e := of(key); e.item.Importance != nil {
			return *e.item.Importance
		}
		return -1
	}
	slices.SortFunc(keys, func(a, b place2) int {
		x, y := of(a), of(b)
		by := map[Order]int{ByNewest: y.created.Compare(x.created), ByOldest: x.created.Compare(y.created), ByUpdate: y.updated.Compare(x.updated),
			ByImportance: cmp.Compare(importance(b), importance(a)), ByAccesses: cmp.Compare(y.accesses, x.accesses), ByAccess: y.accessed.Compare(x.accessed)}
		return cmp.Or(by[o], strings.Compare(a.namespace, b.namespace), strings.Compare(a.key, b.key))
	})
	return keys
}

// watchedIndex counts what listings ask an index.
type watchedIndex struct {
	*search.Index
	selects atomic.Int64
	held    atomic.Pointer[chan struct{}] // the next Apply sends, and waits until it receives
}

func (w *watchedIndex) Select(ctx context.Context, v search.View, f search.Filter, o search.Ordering, do func(*search.Columns) bool) error {
	w.selects.Add(1)
	return w.Index.Select(ctx, v, f, o, do)
}

func (w *watchedIndex) SelectKeys(ctx context.Context, v search.View, f search.Filter, keys iter.Seq[string], do func(*search.Columns) bool) error {
	w.selects.Add(1)
	return w.Index.SelectKeys(ctx, v, f, keys, do)
}

func (w *watchedIndex) Tally(ctx context.Context, v search.View, f search.Filter) (int, bool, error) {
	n, ok, err := w.Index.Tally(ctx, v, f)
	if ok {
		w.selects.Add(1)
	}
	return n, ok, err
}

// lister makes random changes and random listings.
func (w *watchedIndex) Apply(docs ...search.Doc) {
	if held := w.held.Swap(nil); held != nil {
		*held <- struct{}{}
		<-*held
	}
	w.Index.Apply(docs...)
}

type lister struct {
	*testing.T
	rng    *rand.Rand
	now    time.Time
	clock  atomic.Int64 // now in µs, for the space's background work
	space  *Space
	index  *watchedIndex
	ledger ledger
	serial int
}

func (r *lister) advance(d time.Duration) {
	r.now = r.now.Add(d)
	r.clock.Store(r.now.UnixMicro())
}

var listNamespaces = []string{"default", "other"}

func (r *lister) one(list ...string) string { return list[r.rng.IntN(len(list))] }

func (r *lister) some(list ...string) (found []string) {
	for _, s := range list {
		if r.rng.IntN(3) == 0 {
			found = append(found, s)
		}
	}
	return found
}

func (r *lister) chance(one int) bool { return r.rng.IntN(one) == 0 }

func (r *lister) key() string { return fmt.Sprintf("k%02d", r.rng.IntN(60)) }

func (r *lister) tags() []string { return r.some("red", "green", "blue") }

func (r *lister) json() json.RawMessage {
	return json.RawMessage(r.one(`"a"`, `"b"`, `1`, `1.0`, `true`, `null`, `[1,2.0]`, `[1.0,2]`, `{"a":1,"b":2}`, `{"b":2e0,"a":1}`, `1e400`, `0.3`))
}

func (r *lister) item(key string) Item {
	r.serial++
	it := Item{Key: key, Type: r.one("", "fact", "rule"), Tags: r.tags(), State: State(r.one("", "", "archived", "merged"))}
	it.Value = json.RawMessage(fmt.Sprintf(`"text %d"`, r.serial))
	if r.chance(2) {
		it.Value = json.RawMessage(fmt.Sprintf(`{"n":%d,"kind":%s}`, r.serial, r.json()))
	}
	if r.chance(2) {
		it.Metadata = map[string]json.RawMessage{"source": r.json()}
	}
	if !r.chance(3) {
		it.Importance = pointer([]float64{0, math.Copysign(0, -1), .1, .3, .3000000001, .7, 1}[r.rng.IntN(7)])
	}
	if r.chance(3) {
		it.Links = []string{r.key()}
	}
	if r.chance(4) {
		it.ExpiresAt = r.now.Add(time.Duration(1+r.rng.IntN(120)) * time.Minute).Truncate(time.Microsecond)
	}
	return it
}

func pointer[T any](v T) *T { return &v }

func (r *lister) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// change stages changes, and makes them in a copy of the ledger's entries; entries with version 0 are staged.
func (r *lister) change(st *Stage, entries map[place2]entry) map[place2]entry {
	entries = maps.Clone(entries)
	for range 1 + r.rng.IntN(6) {
		namespace, key := r.one(listNamespaces...), r.key()
		p := place2{namespace, key}
		was, there := entries[p]
		alive := there && !was.expired(st.Now())
		switch r.rng.IntN(6) {
		case 0:
			_, err := st.Delete(r.Context(), namespace, []string{key})
			r.must(err)
			if alive {
				delete(entries, p)
			}
		case 1:
			importance := r.rng.Float64()
			_, err := st.Patch(r.Context(), namespace, []Patch{{Key: key, Importance: &importance, AddTags: []string{"patched"}}})
			r.must(err)
			if alive {
				was.item.Importance, was.version, was.updated, was.agent = &importance, 0, st.Now(), st.agent
				if was.item.Tags = slices.Clone(was.item.Tags); !slices.Contains(was.item.Tags, "patched") {
					was.item.Tags = append(was.item.Tags, "patched")
				}
				entries[p] = was
			}
		default:
			it := r.item(key)
			_, err := st.Put(r.Context(), namespace, []Item{it})
			r.must(err)
			e := entry{item: it, agent: st.agent, created: st.Now(), updated: st.Now(), fresh: !alive || was.fresh}
			if alive {
				e.created, e.accesses, e.accessed, e.health = was.created, was.accesses, was.accessed, was.health
			} else if there { // it expired: what was counted stays
				e.accesses, e.accessed, e.health = was.accesses, was.accessed, was.health
			}
			entries[p] = e
		}
	}
	return entries
}

// commit makes what is staged final.
func (r *lister) commit(st *Stage, branch string, entries map[place2]entry) {
	done, err := st.Commit(r.Context(), Commit{})
	r.must(err)
	for p, e := range entries {
		if e.version == 0 {
			if e.version = done.Version; e.fresh {
				e.created, e.fresh = done.Timestamp, false
			}
			e.updated = done.Timestamp
			entries[p] = e
		}
	}
	r.ledger.branches[branch] = entries
	if done.Version != 0 {
		r.ledger.past = append(r.ledger.past, snapshot{branch, done.Version, done.Timestamp, entries})
	}
}

func (r *lister) branch() string {
	return r.one(slices.Sorted(maps.Keys(r.ledger.branches))...)
}

func (r *lister) begin(branch string) *Stage {
	st, err := r.space.As(Caller{Agent: r.one("ann", "bob", ""), Family: "facts", Rights: FullRights()}).Stage(r.Context(), branch)
	r.must(err)
	return st
}

// step changes the space in one of several ways.
func (r *lister) step() {
	branch := r.branch()
	switch r.rng.IntN(8) {
	case 0:
		r.advance(time.Duration(r.rng.IntN(20)) * time.Minute)
	case 1:
		if name := fmt.Sprintf("b%d", r.serial); len(r.ledger.branches) < 5 && r.ledger.branches[name] == nil {
			_, err := r.space.As(Caller{Rights: FullRights()}).Fork(r.Context(), branch, name, AsOf{}, Write{})
			r.must(err)
			r.ledger.branches[name] = r.ledger.branches[branch]
		}
	case 2:
		r.touch(branch)
	case 3:
		r.must(r.space.Flush(r.Context()))
	default:
		st := r.begin(branch)
		r.commit(st, branch, r.change(st, r.ledger.branches[branch]))
	}
}

func (r *lister) touch(branch string) {
	namespace, key, n, health := r.one(listNamespaces...), r.key(), int64(r.rng.IntN(4)), r.rng.Float64()*2-1
	st := r.begin(branch)
	_, err := st.Touch(r.Context(), namespace, []string{key}, n, health)
	r.must(err)
	_, err = st.Commit(r.Context(), Commit{})
	r.must(err)
	p := place2{namespace, key}
	e, there := r.ledger.branches[branch][p]
	if !there {
		return
	}
	entries := maps.Clone(r.ledger.branches[branch])
	e.accesses, e.accessed, e.health = e.accesses+n, r.now, max(-1, min(1, e.health+health))
	entries[p] = e
	r.ledger.branches[branch] = entries
}

func (r *lister) span() Span {
	at := r.now.Add(-time.Duration(r.rng.IntN(90)) * time.Minute)
	switch r.rng.IntN(3) {
	case 0:
		return Span{Since: at}
	case 1:
		return Span{Until: at}
	}
	return Span{Since: at, Until: at.Add(time.Hour)}
}

func (r *lister) fieldTest() FieldTest {
	name := r.one("metadata.source", "value.kind", "value.n", "metadata.none", "type", "importance", "tags", "agent", "expires_at", "links", "supersedes")
	if strings.Contains(name, ".") && r.chance(2) {
		value := r.json()
		for string(value) == "null" || string(value) == "1e400" {
			value = r.json()
		}
		return FieldTest{Field: name, Equals: value}
	}
	return FieldTest{Field: name, Exists: pointer(r.chance(2))}
}

func (r *lister) filter(past bool) (f Filter) {
	f.Expiry = []Expiry{HideExpired, HideExpired, WithExpired, OnlyExpired}[r.rng.IntN(4)]
	for range r.rng.IntN(4) {
		switch n := r.rng.IntN(14); {
		case n == 0:
			f.Prefix = r.one("k", "k1", "k2", "z")
		case n == 1:
			f.Types = r.some("fact", "rule", "", "none")
		case n == 2:
			f.States = []State{Active, State(r.one("archived", "merged", "pruned"))}
		case n == 3:
			f.Writers = r.some("ann", "family:facts", "cid")
		case n == 4:
			f.Tags = r.tags()
		case n == 5:
			f.AnyTags = r.tags()
		case n == 6:
			f.NoTags = r.tags()
		case n == 7:
			f.Importance = Range[float64]{Min: pointer(.3)}
		case n == 8:
			f.Importance.Max = pointer(.3 + r.rng.Float64()/2)
		case n == 9:
			f.Created = r.span()
		case n == 10:
			f.Updated = r.span()
		case n == 11:
			f.Fields = append(f.Fields, r.fieldTest())
		case !past && n == 12:
			f.Accesses = Range[int64]{Min: pointer(int64(r.rng.IntN(3)))}
		case !past && n == 13:
			f.Health = []Range[float64]{{Max: pointer(r.rng.Float64())}, {Min: pointer(.05 + r.rng.Float64()/4)}, {Max: pointer(-.05)}, {Min: pointer(-.5), Max: pointer(-.1)}}[r.rng.IntN(4)]
			f.Accessed = []Span{{}, r.span()}[r.rng.IntN(2)]
		}
	}
	return f
}

func (r *lister) listing(past bool) Listing {
	orders := []Order{ByKey, ByNewest, ByOldest, ByUpdate, ByImportance, ByAccesses, ByAccess}
	if past {
		orders = orders[:5]
	}
	return Listing{Namespace: r.one(listNamespaces...), Filter: r.filter(past), Order: orders[r.rng.IntN(len(orders))], Limit: 1 + r.rng.IntN(12)}
}

// check compares a listing, page by page, and its counts with the entries of a ledger. between runs between two pages.
func (r *lister) check(st *Stage, l Listing, entries map[place2]entry, now time.Time, between func() *Stage) {
	r.Helper()
	want := listed(entries, l, now)
	l.Count = CountOnly
	counted, err := st.Select(r.Context(), l)
	r.must(err)
	if counted.Total != len(want) || len(counted.Memories) != 0 {
		r.Fatalf("%+v: counted %d, not %d", l, counted.Total, len(want))
	}
	l.Count = []Counting{CountAlso, ""}[r.rng.IntN(2)]
	var got []string
	for {
		page, err := st.Select(r.Context(), l)
		r.must(err)
		if l.Count != "" && page.Total != len(want) {
			r.Fatalf("%+v: a page counts %d, not %d", l, page.Total, len(want))
		}
		for _, m := range page.Memories {
			got = append(got, m.Key)
			e := entries[place2{l.Namespace, m.Key}]
			if m.Namespace != l.Namespace || m.Version != e.version || m.Agent != e.agent || m.Version != 0 && !m.Timestamp.Equal(e.updated) {
				r.Fatalf("%+v: %s is %+v, not %+v", l, m.Key, m, e)
			}
		}
		if l.After = page.Next; l.After == "" {
			break
		}
		if between != nil {
			st = between()
		}
	}
	if !slices.Equal(got, want) {
		r.Fatalf("%+v at %s: listed %q, not %q", l, now, got, want)
	}
}

// search compares an ordered search, with a text or without, with the entries of a ledger.
func (r *lister) search(branch string, entries map[place2]entry) {
	q := Search{Branch: branch, K: 1 + r.rng.IntN(50), Offset: r.rng.IntN(10), Order: Order(r.one("", "newest", "oldest", "updated", "importance", "accesses", "accessed", "key")), Tags: r.some("red"),
		Types: r.some("fact", "rule"), Writers: r.some("ann", "bob", "family:facts")}
	f := Filter{States: []State{Active}, Tags: q.Tags, Types: q.Types, Writers: q.Writers}
	if r.chance(3) {
		q.MinImportance = pointer(.3)
		f.Importance.Min = q.MinImportance
	}
	if r.chance(2) {
		q.Namespaces = []string{"other"}
	}
	order := cmp.Or(q.Order, ByNewest)
	if q.Order != "" && r.chance(2) {
		q.Text = "a text of something"
	}
	want := ordered(entries, order, func(p place2, e entry) bool {
		return (q.Namespaces == nil || p.namespace == "other") && (q.Text == "" || strings.HasPrefix(string(e.item.Value), `"`)) && e.admitted(p.key, f, r.now)
	})
	found, err := r.space.Search(r.Context(), q)
	r.must(err)
	var got []place2
	for _, h := range found.Hits {
		got = append(got, place2{h.Namespace, h.Key})
	}
	page := want[min(q.Offset, len(want)):]
	if page = page[:min(q.K, len(page))]; found.Total != len(want) || !slices.Equal(got, page) {
		r.Fatalf("%+v: found %v of %d, not %v of %d", q, got, found.Total, page, len(want))
	}
	r.rest(branch, q, found, want[min(q.Offset+len(page), len(want)):])
}

// rest compares the pages of an ordered search after the first, beside writers unless it is ordered by counters, which are present ones.
func (r *lister) rest(branch string, q Search, found Found, want []place2) {
	var got []place2
	total := found.Total
	for q.Offset = 0; found.Next != "" && len(got) < len(want); {
		if !q.Order.counts() {
			writer := r.begin(branch)
			r.commit(writer, branch, r.change(writer, r.ledger.branches[branch]))
			r.advance(time.Duration(r.rng.IntN(3)) * time.Minute)
		}
		q.After, q.K = found.Next, 1+r.rng.IntN(20)
		var err error
		found, err = r.space.Search(r.Context(), q)
		r.must(err)
		for _, h := range found.Hits {
			got = append(got, place2{h.Namespace, h.Key})
		}
		if found.Total != total {
			r.Fatalf("%+v: a page counts %d, not %d", q, found.Total, total)
		}
	}
	if !slices.Equal(got, want) || found.Next != "" {
		r.Fatalf("%+v: the pages after the first list %v, not %v, and then %q", q, got, want, found.Next)
	}
}

// behind runs something while the index does not have everything.
func (r *lister) behind(do func()) {
	held, done := make(chan struct{}), make(chan struct{})
	r.index.held.Store(&held)
	go func() {
		defer close(done)
		item := Item{Key: fmt.Sprintf("k%d", r.serial), Value: json.RawMessage(`"aside"`)} // something newer than it has
		if _, err := r.space.Store(r.Context(), Location{Branch: "aside"}, []Item{item}, Write{}); err != nil {
			r.Error(err)
		}
	}()
	<-held
	before := r.index.selects.Load()
	do()
	held <- struct{}{}
	<-done
	if asked := r.index.selects.Load() - before; asked != 0 {
		r.Errorf("the index was asked %d times while it was behind", asked)
	}
}

func TestListingsAgreeWithAFullScanOfAllThatWasWritten(t *testing.T) {
	load := stress.FromEnvironment(t)
	r := &lister{T: t, rng: load.Random(11), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), index: &watchedIndex{Index: search.New(search.Options{Tail: 32})}}
	r.advance(0)
	space, closeSpace := openSpaceWith(t, t.TempDir(), func() time.Time { return time.UnixMicro(r.clock.Load()).UTC() }, r.index)
	t.Cleanup(closeSpace)
	r.space, r.ledger.branches = space, map[string]map[place2]entry{Default: {}}
	r.must(space.Ready(t.Context()))
	fork(t, space, "", "aside")
	asked := 0
	for round := range load.Rounds(400) {
		r.serial++
		r.step()
		branch := r.branch()
		entries := r.ledger.branches[branch]
		switch round % 5 {
		case 0: // with staged changes
			st := r.begin(branch)
			staged := r.change(st, entries)
			r.check(st, r.listing(false), staged, st.Now(), nil)
		case 1: // in the past
			if len(r.ledger.past) == 0 {
				continue
			}
			s := r.ledger.past[r.rng.IntN(len(r.ledger.past))]
			st, err := space.As(Caller{Rights: FullRights()}).StageAt(t.Context(), s.branch, AsOf{Version: s.version})
			r.must(err)
			r.check(st, r.listing(true), s.entries, s.now, nil)
		case 2: // beside writers, each page in a call of its own
			st, l := r.begin(branch), r.listing(true)
			r.check(st, l, entries, st.Now(), func() *Stage {
				writer := r.begin(branch)
				r.commit(writer, branch, r.change(writer, r.ledger.branches[branch]))
				r.advance(time.Duration(r.rng.IntN(3)) * time.Minute)
				return r.begin(branch)
			})
		case 3: // while the index is behind
			if round%15 == 3 { // each waits for it
				r.behind(func() {
					st := r.begin(branch)
					r.check(st, Listing{Namespace: "default", Filter: r.filter(false), Order: ByImportance, Limit: 100}, entries, st.Now(), nil)
				})
			}
		default:
			st := r.begin(branch)
			r.check(st, r.listing(false), entries, st.Now(), nil)
			r.search(branch, entries)
		}
		asked++
	}
	if r.index.selects.Load() < int64(asked) {
		t.Errorf("the index was asked %d times for %d listings", r.index.selects.Load(), asked)
	}
}

// TestAListingByCountersHasEachMemoryOnceThatIsNotRecalledMeanwhile recalls memories between pages, as a sweep does with those that it
// has listed.
func TestAListingByCountersHasEachMemoryOnceThatIsNotRecalledMeanwhile(t *testing.T) {
	for _, order := range []Order{ByAccesses, ByAccess} {
		now := atomic.Int64{}
		s, closeSpace := openSpace(t, t.TempDir(), func() time.Time { return time.UnixMicro(now.Add(1)) })
		t.Cleanup(closeSpace)
		recall := func(key string) { s.counters.Touch(must.Get(s.branch(Default)), memoryKey(Default, key), 1, 0) }
		for i := range 40 {
			key := fmt.Sprintf("k%02d", i)
			put(t, s, "", key, key)
			for range i % 7 * 2 {
				recall(key)
			}
		}
		r := s.Flush(t.Context())
		if r != nil {
			t.Fatalf("Flush: %v", r)
		}
		listed, skipped := map[string]int{}, ""
		l := Listing{Order: order, Limit: 6}
		for page := 0; ; page++ {
			found, err := stage(t, s, "").Select(t.Context(), l)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range found.Memories {
				listed[m.Key]++
				recall(m.Key)
			}
			if page == 1 && listed["k28"] == 0 { // never recalled: among the last
				skipped = "k28"
				for range 20 {
					recall(skipped)
				}
			}
			if l.After = found.Next; l.After == "" {
				break
			}
		}
		for i := range 40 {
			if key := fmt.Sprintf("k%02d", i); listed[key] != 1 && key != skipped {
				t.Errorf("by %s, %s is listed %d times", order, key, listed[key])
			}
		}
		if skipped == "" || listed[skipped] != 0 {
			t.Errorf("by %s, what was recalled before its page came is listed %d times", order, listed[skipped])
		}
	}
}

func TestNamespacesAreThoseOfAFullScan(t *testing.T) {
	s := testSpace(t)
	for _, p := range []Location{{Namespace: "b"}, {Namespace: "a"}, {Namespace: "c"}} {
		if _, err := s.Store(t.Context(), p, []Item{{Key: "k", Value: json.RawMessage(`1`)}}, Write{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Forget(t.Context(), Location{Namespace: "c"}, []string{"k"}, Write{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	st := stage(t, s, "")
	listed, err := st.Namespaces(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	scanned, err := st.scanNamespaces(t.Context())
	if want := []string{"a", "b"}; err != nil || !slices.Equal(listed, want) || !slices.Equal(scanned, want) {
		t.Errorf("the index has %q, a scan %q: %v", listed, scanned, err)
	}
}

func TestExpiredMemoriesAreFoundChangedAndDeletedWhereThatIsAskedFor(t *testing.T) {
	now := testclock.At(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	s, closeSpace := openSpace(t, t.TempDir(), now.Now)
	t.Cleanup(closeSpace)
	for _, key := range []string{"archived", "deleted", "revived"} {
		if _, err := s.Store(t.Context(), Location{}, []Item{{Key: key, Value: json.RawMessage(`1`), ExpiresAt: now.Now().Add(time.Hour)}}, Write{}); err != nil {
			t.Fatal(err)
		}
	}
	now.Add(2 * time.Hour)
	st := stage(t, s, "")
	if missing, err := st.Patch(t.Context(), "", []Patch{{Key: "archived", State: Archived}}); err != nil || len(missing) != 1 {
		t.Errorf("a patch finds an expired memory: missing %q, %v", missing, err)
	}
	err := st.WithExpiry(WithExpired, func() error {
		if _, err := st.Patch(t.Context(), "", []Patch{{Key: "archived", State: Archived}, {Key: "revived", Clear: []string{"expires_at"}}}); err != nil {
			return err
		}
		n, err := st.Delete(t.Context(), "", []string{"deleted"})
		if n != 1 {
			t.Errorf("deleted %d", n)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	stageCommit(t, st, Commit{})
	st = stage(t, s, "")
	for _, c := range []struct {
		expiry Expiry
		want   string
	}{{HideExpired, "revived"}, {WithExpired, "archived revived"}, {OnlyExpired, "archived"}} {
		page, err := st.Select(t.Context(), Listing{Filter: Filter{Expiry: c.expiry}})
		var keys []string
		for _, m := range page.Memories {
			keys = append(keys, m.Key)
		}
		if err != nil || strings.Join(keys, " ") != c.want {
			t.Errorf("expiry %d: %q, not %q: %v", c.expiry, keys, c.want, err)
		}
	}
	if got, err := st.Get(t.Context(), "", []string{"archived"}); err != nil || got[0] != nil {
		t.Errorf("an expired memory is found without asking for it: %+v, %v", got, err)
	}
	if page, err := st.Select(t.Context(), Listing{Filter: Filter{Expiry: OnlyExpired, States: []State{Archived}}, Count: CountOnly}); err != nil || page.Total != 1 {
		t.Errorf("%d archived ones have expired: %v", page.Total, err)
	}
}

func TestAFilterThatCannotBeAnsweredIsAnErrorThatNamesIt(t *testing.T) {
	s := testSpace(t)
	st := stage(t, s, "")
	many := make([]string, 65)
	yes := true
	for name, c := range map[string]struct {
		l    Listing
		says string
	}{
		"types":        {Listing{Filter: Filter{Types: many}}, "types has 65 elements"},
		"writers":      {Listing{Filter: Filter{Writers: many}}, "writers has 65 elements"},
		"any_tags":     {Listing{Filter: Filter{AnyTags: many}}, "any_tags has 65 elements"},
		"long tag":     {Listing{Filter: Filter{NoTags: []string{strings.Repeat("x", 129)}}}, "an element of no_tags has 129 bytes"},
		"state":        {Listing{Filter: Filter{States: []State{"lost"}}}, `state "lost"`},
		"importance":   {Listing{Filter: Filter{Importance: Range[float64]{Min: pointer(1.5)}}}, "a bound of importance is 1.5"},
		"empty range":  {Listing{Filter: Filter{Accesses: Range[int64]{Min: pointer(int64(3)), Max: pointer(int64(2))}}}, "the range of accesses"},
		"not a number": {Listing{Filter: Filter{Health: Range[float64]{Min: pointer(math.NaN())}}}, "a bound of health is NaN"},
		"span":         {Listing{Filter: Filter{Created: Span{Since: time.Unix(2, 0), Until: time.Unix(1, 0)}}}, "created begins at"},
		"field":        {Listing{Filter: Filter{Fields: []FieldTest{{Field: "colour"}}}}, `"colour" is not a field`},
		"bare prefix":  {Listing{Filter: Filter{Fields: []FieldTest{{Field: "metadata."}}}}, `"metadata." is not a field`},
		"both":         {Listing{Filter: Filter{Fields: []FieldTest{{Field: "value.x", Equals: json.RawMessage(`1`), Exists: &yes}}}}, "field value.x has both"},
		"column":       {Listing{Filter: Filter{Fields: []FieldTest{{Field: "type", Equals: json.RawMessage(`1`)}}}}, "field type can only exist or not"},
		"null":         {Listing{Filter: Filter{Fields: []FieldTest{{Field: "value.x", Equals: json.RawMessage(`null`)}}}}, "value.x cannot equal null"},
		"long value":   {Listing{Filter: Filter{Fields: []FieldTest{{Field: "value.x", Equals: json.RawMessage(strings.Repeat("1", 4097))}}}}, "4097 bytes"},
		"no JSON":      {Listing{Filter: Filter{Fields: []FieldTest{{Field: "value.x", Equals: json.RawMessage(`{`)}}}}, "field value.x is to equal is not valid JSON"},
		"many fields":  {Listing{Filter: Filter{Fields: make([]FieldTest, 17)}}, "fields has 17 conditions"},
		"order":        {Listing{Order: "random"}, `order "random"`},
		"count":        {Listing{Count: "maybe"}, `count "maybe"`},
		"after":        {Listing{After: "tea"}, "after is not what"},
		"other after":  {Listing{After: cursor{version: 1}.String()}, "after is of another listing"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := st.Select(t.Context(), c.l); codeOf(err) != InvalidArgument || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, which does not say %q", err, c.says)
			}
		})
	}
	past, err := s.As(Caller{Rights: FullRights()}).StageAt(t.Context(), "", AsOf{Version: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := past.Select(t.Context(), Listing{Order: ByAccesses}); codeOf(err) != InvalidArgument || !strings.Contains(err.Error(), "counters are of the present") {
		t.Errorf("counters of the past: %v", err)
	}
}

func TestAListingOverAVersionThatRetentionDroppedIsToBeginAgain(t *testing.T) {
	now := testclock.At(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	s, closeSpace := openSpace(t, t.TempDir(), now.Now)
	t.Cleanup(closeSpace)
	for _, key := range []string{"a", "b", "c"} {
		put(t, s, "", key, key)
	}
	page, err := stage(t, s, "").Select(t.Context(), Listing{Order: ByNewest, Limit: 1})
	if err != nil || page.Next == "" {
		t.Fatalf("Select = %+v, %v, want a page with a next", page, err)
	}
	now.Add(48 * time.Hour)
	put(t, s, "", "a", "changed")
	if err := s.trim(t.Context(), must.Get(s.branch(Default)), must.Get(s.engine.Head(t.Context())).Version, nil); err != nil {
		t.Fatal(err)
	}
	for _, count := range []Counting{"", CountOnly} {
		_, err = stage(t, s, "").Select(t.Context(), Listing{Order: ByNewest, Limit: 1, After: page.Next, Count: count})
		if codeOf(err) != InvalidArgument && codeOf(err) != NotFound || !strings.Contains(err.Error(), "2026-03-0") {
			t.Errorf("count %q: %v", count, err)
		}
	}
}

func TestAStoredSearchIndexAnswersListingsAfterAStart(t *testing.T) {
	if testing.Short() {
		t.Skip("it works through much data on one goroutine: the tests without -short run it")
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	dir, clock := t.TempDir(), func() time.Time { return now }
	s, closeSpace := openSpaceWith(t, dir, clock, search.New(search.Options{Tail: 64}))
	for i := range 1500 {
		importance := float64(i) / 3000
		it := Item{Key: fmt.Sprintf("k%04d", i), Value: fmt.Appendf(nil, `{"n":%d}`, i%10), Importance: &importance, Metadata: map[string]json.RawMessage{"source": []byte(`"a"`)}}
		if i%3 == 0 {
			it.ExpiresAt = now.Add(time.Hour)
		}
		if _, err := s.As(Caller{Agent: fmt.Sprint("agent", i%2), Rights: FullRights()}).Store(t.Context(), Location{}, []Item{it}, Write{}); err != nil {
			t.Fatal(err)
		}
	}
	put(t, s, "", "k0001", "changed")
	l := Listing{Order: ByOldest, Limit: 20, Count: CountAlso, Filter: Filter{Writers: []string{"agent0"}, Importance: Range[float64]{Min: pointer(100.0 / 3000)},
		Fields: []FieldTest{{Field: "value.n", Equals: json.RawMessage(`4`)}, {Field: "expires_at", Exists: pointer(false)}}}}
	before, err := stage(t, s, "").Select(t.Context(), l)
	if err != nil || before.Total == 0 {
		t.Fatalf("Select = %d in all, %v, want some", before.Total, err)
	}
	closeSpace()
	index := &watchedIndex{Index: search.New(search.Options{Tail: 64})}
	s, closeSpace = openSpaceWith(t, dir, clock, index)
	t.Cleanup(closeSpace)
	if err := s.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	after, err := stage(t, s, "").Select(t.Context(), l)
	before.Next, after.Next = "", ""
	if err != nil || !reflect.DeepEqual(before, after) || index.selects.Load() != 1 {
		t.Errorf("%d before the start, %d after, by %d selects: %v", before.Total, after.Total, index.selects.Load(), err)
	}
}

func TestEqualFieldsHaveEqualDigests(t *testing.T) {
	same := [][]string{
		{`1`, `1.0`, `1e0`, `10E-1`}, {`0`, `-0`, `0.0`}, {`"a"`, `"\u0061"`}, {`"/"`, `"\/"`}, {"\"\u2028\"", `"\u2028"`}, {`"<"`, `"\u003c"`},
		{`{"a":1,"b":[2]}`, `{ "b" : [ 2.0 ], "a" : 1 }`}, {`true`}, {`false`}, {`"true"`}, {`"1"`}, {`[]`}, {`{}`}, {`""`}, {`9007199254740993`}, {`9007199254740992`},
		{`0.1`, `1e-1`}, {`1e300`, `1.0e300`}, {`1e400`},
	}
	seen := map[search.Digest]int{}
	for i, list := range same {
		for _, text := range list {
			d := record.FieldDigest(json.RawMessage(text))
			if other, ok := seen[d]; ok && other != i || d == (search.Digest{}) {
				t.Errorf("%s is as one of %q", text, same[other])
			}
			if seen[d] = i; d != record.FieldDigest(json.RawMessage(list[0])) {
				t.Errorf("%s is not as %s", text, list[0])
			}
		}
	}
	if d := record.FieldDigest(json.RawMessage(`"` + strings.Repeat("x", record.LongestEqual) + `"`)); d != (search.Digest{}) {
		t.Error("a value that is too long equals another")
	}
}
