package remote

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/provenance"
	"github.com/alcove-memory/alcove/host/testing/testclock"
	"github.com/alcove-memory/alcove/host/testing/testspace"
)

// wire is a Peer in this process. What passes is encoded as over HTTP, and cut after cut bytes unless that is negative.
type wire struct {
	server *Server
	who    memory.Caller
	cut    func(n int) int // of an answer or a request with n bytes: after how many it is cut; nil: none is
	sent   *bytes.Buffer   // all that was sent to the server; nil: not kept
	took   func(Result)    // is told what the server took, whether its answer arrives or not; nil: nobody is
	ends   func()          // is told that the newest versions were pulled, and histories or counters are next; nil: nobody is
}

var errWire = errors.New("the line was cut")

func (w wire) pass(data []byte) ([]byte, error) {
	if w.cut != nil {
		if n := w.cut(len(data)); n < len(data) {
			return data[:n], errWire
		}
	}
	return data, nil
}

func through[T any](w wire, in T, up bool) (out T, err error) {
	data, err := json.Marshal(in)
	if err != nil {
		return out, err
	}
	if w.sent != nil && up {
		w.sent.Write(data)
	}
	if data, err = w.pass(data); err != nil {
		return out, err
	}
	return out, json.Unmarshal(data, &out)
}

func (w wire) page(p page, up bool) (page, error) {
	var b bytes.Buffer
	if err := (&packing{}).write(&b, p); err != nil {
		return page{}, err
	}
	if w.sent != nil && up {
		json.NewEncoder(w.sent).Encode(p.header)
		json.NewEncoder(w.sent).Encode(p.versions)
		json.NewEncoder(w.sent).Encode(p.counts)
		json.NewEncoder(w.sent).Encode(p.records)
	}
	data, broken := w.pass(b.Bytes())
	p, err := (&packing{}).read(bytes.NewReader(data))
	if broken != nil && err == nil {
		return p, errors.New("a page that was cut was read")
	}
	return p, err
}

func (w wire) Introduce(ctx context.Context, r introduction) (introduced, error) {
	r, err := through(w, r, true)
	if err != nil {
		return introduced{}, err
	}
	a, err := w.server.introduce(ctx, w.who, r)
	if err != nil {
		return a, err
	}
	return through(w, a, false)
}

func (w wire) Versions(ctx context.Context, r request) (page, error) {
	r, err := through(w, r, true)
	if err != nil {
		return page{}, err
	}
	p, err := w.server.versions(ctx, w.who, r)
	if err != nil {
		return p, err
	}
	return w.page(p, false)
}

func (w wire) Receive(ctx context.Context, p page) (Result, error) {
	p, err := w.page(p, true)
	if err != nil {
		return Result{}, err
	}
	done, err := w.server.receive(ctx, w.who, p)
	if err != nil {
		return done, err
	}
	if w.took != nil {
		w.took(done)
	}
	return through(w, done, false)
}

func (w wire) Records(ctx context.Context, r recordRequest) (page, error) {
	r, err := through(w, r, true)
	if err != nil {
		return page{}, err
	}
	p, err := w.server.records(ctx, w.who, r)
	if err != nil {
		return p, err
	}
	return w.page(p, false)
}

func (w wire) Record(ctx context.Context, p page) (Result, error) {
	p, err := w.page(p, true)
	if err != nil {
		return Result{}, err
	}
	done, err := w.server.record(ctx, w.who, p)
	if err != nil {
		return done, err
	}
	return through(w, done, false)
}

func (w wire) Counts(ctx context.Context, r countRequest) (page, error) {
	if w.ends != nil {
		w.ends()
	}
	r, err := through(w, r, true)
	if err != nil {
		return page{}, err
	}
	p, err := w.server.counts(ctx, w.who, r)
	if err != nil {
		return p, err
	}
	return w.page(p, false)
}

func (w wire) Count(ctx context.Context, p page) (Result, error) {
	p, err := w.page(p, true)
	if err != nil {
		return Result{}, err
	}
	done, err := w.server.count(ctx, w.who, p)
	if err != nil {
		return done, err
	}
	return through(w, done, false)
}

func (w wire) History(ctx context.Context, r request) (page, error) {
	if w.ends != nil {
		w.ends()
	}
	r, err := through(w, r, true)
	if err != nil {
		return page{}, err
	}
	p, err := w.server.histories(ctx, w.who, r)
	if err != nil {
		return p, err
	}
	return w.page(p, false)
}

func (w wire) KnownHistories(ctx context.Context, r introduction) (knownHistories, error) {
	r, err := through(w, r, true)
	if err != nil {
		return knownHistories{}, err
	}
	k, err := w.server.knownHistories(ctx, w.who, r)
	if err != nil {
		return k, err
	}
	return through(w, k, false)
}

func (w wire) ReceiveHistories(ctx context.Context, p page) (Result, error) {
	p, err := w.page(p, true)
	if err != nil {
		return Result{}, err
	}
	done, err := w.server.takeHistories(ctx, w.who, p)
	if err != nil {
		return done, err
	}
	return through(w, done, false)
}

// write is a change of a memory, by the number under which the model has it.
type write int

// entry is what a space of the model has under a key.
type entry struct {
	writes  []write // one, or several with the same content
	content string  // empty: it was deleted
}

// known are the writes that a space of the model has seen, or what replaced them.
type known map[write]bool

func (k known) all(list []write) bool {
	return !slices.ContainsFunc(list, func(w write) bool { return !k[w] })
}

// world is a space, and what the model says that it has.
type world struct {
	*Space
	name    string
	clock   *testclock.Clock
	has     map[string]entry // by namespace and key
	known   known
	counted counted
}

// counted are accesses that a space of the model knows of, by namespace and key, each once.
type counted map[string]map[access]bool

// access is one of a space.
type access struct {
	space string
	n     int
}

func (c counted) join(o counted) {
	for key, list := range o {
		if c[key] == nil {
			c[key] = map[access]bool{}
		}
		maps.Copy(c[key], list)
	}
}

// model runs three spaces, and says what each has after each step: an edit replaces what its author had seen; edits that did not know of each
// other are a conflict unless they say the same, and the decision replaces both.
type model struct {
	kept    int    // records, for their values
	last    string // the value that one space gave a record after the last circle; empty: there was none
	t       *testing.T
	random  *rand.Rand
	worlds  []*world
	written []time.Time // when each write was made, by its author's clock
	exact   bool        // each exchange has one page, so that the model knows what was received of one that was cut

	cuts, conflicts, syncs, accesses, versions int
}

func owner(name string) memory.Caller { return memory.Caller{Agent: name, Rights: memory.FullRights()} }

func newModel(t *testing.T, seed uint64, page int) *model {
	m := &model{t: t, random: rand.New(rand.NewPCG(seed, 40)), exact: page == 0}
	for i, name := range []string{"laptop", "desk", "hub"} {
		clock := testclock.At(time.Date(2026, 3, 1, 7*i, 0, i, 0, time.UTC)) // hours apart
		s := testspace.Open(t, testspace.Options{Clock: clock.Now, Synced: synced})
		m.worlds = append(m.worlds, &world{Space: &Space{Memory: s, Caller: owner(name), Page: page}, name: name, clock: clock, has: map[string]entry{}, known: known{}, counted: counted{}})
	}
	_, err := m.worlds[0].access().Store(t.Context(), memory.Location{}, []memory.Item{{Key: "always", Value: json.RawMessage("1")}}, memory.Write{})
	if err != nil {
		t.Fatalf("store: %v", err)
	}
	m.writes(m.worlds[0], "default/always", described(json.RawMessage("1"), nil, time.Time{}))
	return m
}

func (w *world) access() *memory.Access { return w.Memory.As(w.Caller) }

// writes notes a new write of a space.
func (m *model) writes(w *world, key, content string) {
	n := write(len(m.written))
	m.written = append(m.written, w.clock.Now())
	w.has[key], w.known[n] = entry{[]write{n}, content}, true
}

func (m *model) key() (namespace, key, both string) {
	namespace, key = []string{"default", "notes"}[m.random.IntN(2)], "k"+strconv.Itoa(m.random.IntN(12))
	return namespace, key, namespace + "/" + key
}

func (m *model) store(w *world, branch string) {
	namespace, key, both := m.key()
	content := fmt.Sprintf(`{"%s":%d}`, w.name, len(m.written))
	if m.random.IntN(4) == 0 { // others write it, too
		content = fmt.Sprintf(`{"same":%d}`, m.random.IntN(3))
	}
	item := memory.Item{Key: key, Value: json.RawMessage(content)}
	if m.random.IntN(3) == 0 {
		item.Links = []string{"notes#k" + strconv.Itoa(m.random.IntN(2)), "elsewhere#k"}
	}
	if m.random.IntN(3) == 0 {
		item.ExpiresAt = time.Date(2040, 1, 1+m.random.IntN(2), 0, 0, 0, 0, time.UTC)
	}
	if _, err := w.access().Store(m.t.Context(), memory.Location{Branch: branch, Namespace: namespace}, []memory.Item{item}, memory.Write{}); err != nil {
		m.t.Fatalf("store %s on %s: %v", key, w.name, err)
	}
	content = described(item.Value, item.Links, item.ExpiresAt)
	if branch == "" && w.has[both].content != content {
		m.writes(w, both, content)
	}
}

// described is what the model compares of a memory.
func described(value json.RawMessage, links []string, expires time.Time) string {
	return fmt.Sprintf("%s linked to %v until %s", value, links, expires.UTC())
}

func (m *model) forget(w *world, branch string) {
	namespace, key, both := m.key()
	if _, err := w.access().Forget(m.t.Context(), memory.Location{Branch: branch, Namespace: namespace}, []string{key}, memory.Write{}); err != nil {
		m.t.Fatalf("forget %s on %s: %v", key, w.name, err)
	}
	if branch == "" && w.has[both].content != "" {
		m.writes(w, both, "")
	}
}

// access counts an access to a memory, if it is there.
func (m *model) access(w *world) {
	namespace, key, both := m.key()
	if namespace == "default" { // memories of the other one are forgotten, and their counters reset
		both = namespace + "/always"
		key = "always"
	}
	found, err := w.access().Recall(m.t.Context(), memory.Location{Namespace: namespace}, key, memory.AsOf{})
	if err != nil {
		m.t.Fatalf("recall %s on %s: %v", key, w.name, err)
	}
	if found != nil {
		m.accesses++
		w.counted.join(counted{both: {access{w.name, m.accesses}: true}})
	}
}

// countsAlike fails unless all spaces have the same counters, and those of a memory that is never forgotten each access once.
func (m *model) countsAlike() {
	keys := []string{"default/always"}
	for i := range 12 {
		keys = append(keys, "notes/k"+strconv.Itoa(i))
	}
	for _, both := range keys {
		namespace, key, _ := strings.Cut(both, "/")
		var first memory.Counters
		for i, w := range m.worlds {
			now, err := w.access().Counters(m.t.Context(), memory.Location{Namespace: namespace}, key)
			if err != nil {
				m.t.Fatalf("counters of %s on %s: %v", both, w.name, err)
			}
			if i == 0 {
				first = now
			}
			if now != first {
				m.t.Fatalf("after a circle %s has counters of %s: %+v, and %s %+v", w.name, both, now, m.worlds[0].name, first)
			}
			if want := len(w.counted[both]); key == "always" && now.Accesses != int64(want) {
				m.t.Fatalf("after a circle %s has counted %d accesses of %s, want %d", w.name, now.Accesses, both, want)
			}
		}
	}
}

// log adds an event to the log of a space.
func (m *model) log(w *world) {
	namespace, key, _ := m.key()
	if _, err := w.access().Append(m.t.Context(), memory.Location{Namespace: namespace}, "noted", json.RawMessage(strconv.Quote(key)), memory.Write{}); err != nil {
		m.t.Fatalf("log on %s: %v", w.name, err)
	}
}

// events are the hashes of a log, in order, of which each stands for all before it. The empty replica is the space itself.
func (m *model) events(w *world, namespace, replica string) (hashes []string) {
	at := memory.Location{Namespace: namespace}
	for from := uint64(1); ; {
		var list []memory.Event
		var err error
		if replica == "" {
			list, err = w.access().Events(m.t.Context(), at, memory.AsOf{}, from, 0)
		} else {
			var page memory.ChainPage
			page, err = w.access().EventsOf(m.t.Context(), memory.ChainQuery{Location: at, Chain: replica, Oldest: true, After: from - 1})
			if list = page.Events; page.Fault != "" {
				m.t.Fatalf("the log of %q on %s is broken: %s", replica, w.name, page.Fault)
			}
		}
		if err != nil {
			m.t.Fatalf("read the log of %q on %s: %v", replica, w.name, err)
		}
		for _, e := range list {
			if e.Sequence != from {
				m.t.Fatalf("the log of %q on %s has event %d, want %d", replica, w.name, e.Sequence, from)
			}
			hashes, from = append(hashes, e.Hash), from+1
		}
		if len(list) == 0 {
			return hashes
		}
	}
}

// logsAlike fails unless each space has the log of each other one.
func (m *model) logsAlike() {
	for _, namespace := range []string{"default", "notes"} {
		for _, w := range m.worlds {
			var got, want []string
			chains, err := w.access().Chains(m.t.Context(), memory.Location{Namespace: namespace})
			if err != nil {
				m.t.Fatalf("list the logs of %s: %v", w.name, err)
			}
			for _, c := range chains {
				if c.Fault != "" {
					m.t.Fatalf("the log of %s on %s is broken: %s", c.ID, w.name, c.Fault)
				}
				got = append(got, strings.Join(m.events(w, namespace, c.ID), " "))
			}
			for _, o := range m.worlds {
				if own := m.events(o, namespace, ""); o != w && len(own) > 0 {
					want = append(want, strings.Join(own, " "))
				}
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				m.t.Fatalf("after a circle %s has the logs of %s\n%v\nwant\n%v", w.name, namespace, got, want)
			}
		}
	}
}

// fork forks a branch, changes it, and merges it back: what that changes are writes of the space.
func (m *model) fork(w *world) {
	ctx, a := m.t.Context(), w.access()
	if _, err := a.Fork(ctx, "", "idea", memory.AsOf{}, memory.Write{}); err != nil {
		m.t.Fatalf("fork on %s: %v", w.name, err)
	}
	m.store(w, "idea")
	m.store(w, "")
	m.forget(w, "idea")
	if _, err := a.Merge(ctx, memory.Merge{Source: "idea", Strategy: memory.Newest}, memory.Write{}); err != nil {
		m.t.Fatalf("merge on %s: %v", w.name, err)
	}
	if err := a.Delete(ctx, memory.Deletion{Branch: "idea", Force: true, Final: true}, memory.Write{}); err != nil {
		m.t.Fatalf("delete on %s: %v", w.name, err)
	}
	now := m.all(w)
	for _, key := range m.keys(w) {
		if now[key] != w.has[key].content {
			m.writes(w, key, now[key])
		}
	}
}

// keys are those that a space ever had, and those that it has now, in order.
func (m *model) keys(of ...*world) []string {
	all := map[string]bool{}
	for _, w := range of {
		for key := range w.has {
			all[key] = true
		}
		for key := range m.all(w) {
			all[key] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// receive is what an exchange does to its receiver, and returns the conflicts.
func (m *model) receive(to, from *world, strategy memory.Strategy) (conflicts []Conflict) {
	news := false
	for _, key := range slices.Sorted(maps.Keys(from.has)) {
		theirs := from.has[key]
		if to.known.all(theirs.writes) {
			continue
		}
		news = true
		ours, had := to.has[key]
		switch {
		case !had && theirs.content == "":
		case !had || from.known.all(ours.writes):
			to.has[key] = theirs
		case ours.content == theirs.content:
			to.has[key] = entry{append(slices.Clone(ours.writes), theirs.writes...), ours.content}
		default:
			kept := m.decide(ours, theirs, strategy)
			namespace, name, _ := strings.Cut(key, "/")
			conflicts = append(conflicts, Conflict{Namespace: namespace, Key: name, Kept: kept})
			m.writes(to, key, map[string]string{"ours": ours.content, "theirs": theirs.content}[kept])
		}
	}
	if news {
		maps.Copy(to.known, from.known)
	}
	return conflicts
}

func (m *model) decide(ours, theirs entry, strategy memory.Strategy) string {
	last := func(e entry) (at time.Time) {
		for _, w := range e.writes {
			if m.written[w].After(at) {
				at = m.written[w]
			}
		}
		return at
	}
	if strategy == memory.Source || strategy == memory.Newest && last(theirs).After(last(ours)) {
		return "theirs"
	}
	return "ours"
}

// sync exchanges the memories of two spaces. The line is cut somewhere, sometimes.
func (m *model) sync(a, b *world, cut bool, strategy memory.Strategy) {
	m.syncs++
	w := wire{server: &Server{Memory: b.Memory, Page: b.Page}, who: owner(b.name)}
	if cut {
		left := m.random.IntN(6000)
		w.cut = func(n int) int {
			left -= n
			return max(n+min(left, 0), 0)
		}
	}
	pull, push := m.random.IntN(4) > 0 || !cut, m.random.IntN(4) > 0 || !cut
	e := Exchange{Remote: b.name, Strategy: strategy, History: AllVersions}
	if pull {
		ends := false
		w.ends = func() { ends = true }
		got, err := a.Pull(m.t.Context(), w, e)
		m.ended(cut, err)
		if err == nil || ends {
			m.agrees(a, b, strategy, got.Conflicts)
		}
		if err == nil {
			a.counted.join(b.counted)
		}
	}
	if push {
		pushed := false
		w.took = func(got Result) {
			pushed = true
			m.agrees(b, a, strategy, got.Conflicts)
		}
		_, err := a.Push(m.t.Context(), w, e)
		if m.ended(cut, err); err == nil && !pushed {
			m.agrees(b, a, strategy, nil)
		}
		if err == nil {
			b.counted.join(a.counted)
		}
	}
}

func (m *model) ended(cut bool, err error) {
	switch {
	case err == nil:
	case cut:
		m.cuts++
	default:
		m.t.Fatalf("an exchange over a whole line ends with %v", err)
	}
}

// agrees fails unless an exchange did what the model says.
func (m *model) agrees(to, from *world, strategy memory.Strategy, conflicts []Conflict) {
	m.conflicts += len(conflicts)
	if !m.exact {
		return
	}
	want := m.receive(to, from, strategy)
	slices.SortFunc(conflicts, func(a, b Conflict) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Key, b.Key))
	})
	slices.SortFunc(want, func(a, b Conflict) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Key, b.Key))
	})
	if !slices.Equal(conflicts, want) {
		m.t.Fatalf("after %d writes %s has conflicts with %s by %s: %v, want %v", len(m.written), to.name, from.name, strategy, conflicts, want)
	}
	m.holds(to)
}

// holds fails unless a space has what the model says.
func (m *model) holds(w *world) {
	now := m.all(w)
	for _, key := range m.keys(w) {
		if got, want := now[key], w.has[key].content; got != want {
			m.t.Fatalf("after %d writes %s of %s has %s, want %s", len(m.written), key, w.name, got, want)
		}
	}
}

// all are the memories of a space.
func (m *model) all(w *world) map[string]string {
	all := map[string]string{}
	for _, namespace := range []string{"default", "notes"} {
		list, _, err := w.access().List(m.t.Context(), memory.Location{Namespace: namespace}, "", "", memory.AsOf{}, 0)
		if err != nil {
			m.t.Fatalf("list %s of %s: %v", namespace, w.name, err)
		}
		for _, one := range list {
			all[namespace+"/"+one.Key] = described(one.Value, one.Links, one.ExpiresAt)
		}
	}
	return all
}

// converge exchanges in a circle, after which all spaces are the same.
func (m *model) converge() {
	for range 2 {
		for i, w := range m.worlds {
			m.sync(w, m.worlds[(i+1)%len(m.worlds)], false, memory.Newest)
		}
	}
	first := m.all(m.worlds[0])
	for _, w := range m.worlds[1:] {
		if now := m.all(w); !maps.Equal(first, now) {
			m.t.Fatalf("after a circle %s has\n%v\nand %s has\n%v", m.worlds[0].name, first, w.name, now)
		}
	}
	m.countsAlike()
	m.logsAlike()
	m.recordsAlike()
	m.historiesAlike()
}

// chain is each version that a space has of a memory, by where it was written, with what it says.
func (m *model) chain(w *world, namespace, key string) map[string]string {
	at, chain := memory.Location{Namespace: namespace}, map[string]string{}
	replica, err := w.access().Peer(m.t.Context(), "", 0, provenance.Scope{}, memory.ToRead)
	if err != nil {
		m.t.Fatalf("tell about %s: %v", w.name, err)
	}
	add := func(list []memory.Memory) {
		for _, v := range list {
			from := memory.Origin{Space: replica.Space, Version: v.Version, Time: v.Timestamp}
			if v.Origin != nil {
				from = *v.Origin
			}
			content := described(v.Value, v.Links, v.ExpiresAt)
			if v.Deleted {
				content = "deleted"
			}
			if v.Purged != "" {
				content = "purged"
			}
			chain[fmt.Sprintf("%s v%d at %s", from.Space[:6], from.Version, memory.FormatTime(from.Time))] = content
		}
	}
	for before := (memory.AsOf{}); ; {
		list, more, err := w.access().History(m.t.Context(), at, key, before, 50)
		if err != nil {
			m.t.Fatalf("history of %s on %s: %v", key, w.name, err)
		}
		add(list)
		if before.Version = more; more == 0 {
			break
		}
	}
	for after := ""; ; {
		list, next, err := w.access().Elsewhere(m.t.Context(), at, key, memory.AsOf{}, after, 7)
		if err != nil {
			m.t.Fatalf("history of %s on %s: %v", key, w.name, err)
		}
		add(list)
		if after = next; next == "" {
			return chain
		}
	}
}

// historiesAlike fails unless all spaces have the same versions of each memory.
func (m *model) historiesAlike() {
	for _, namespace := range []string{"default", "notes"} {
		for i := range 12 {
			key := "k" + strconv.Itoa(i)
			first := m.chain(m.worlds[0], namespace, key)
			for _, w := range m.worlds[1:] {
				now := m.chain(w, namespace, key)
				if !maps.Equal(first, now) {
					for v, content := range first {
						if now[v] != content {
							m.t.Errorf("%s has %s: %q, and %s %q", m.worlds[0].name, v, content, w.name, now[v])
						}
					}
					for v, content := range now {
						if _, ok := first[v]; !ok {
							m.t.Errorf("%s has %s: %q, and %s has not", w.name, v, content, m.worlds[0].name)
						}
					}
					m.t.FailNow()
				}
				m.versions += len(now)
			}
		}
	}
}

func (m *model) step() {
	w := m.worlds[m.random.IntN(3)]
	w.clock.Add(time.Second)
	switch k := m.random.IntN(1000); {
	case k < 550:
		m.store(w, "")
	case k < 600:
		m.record(w)
	case k < 700:
		m.access(w)
	case k < 860:
		m.forget(w, "")
	case k < 900:
		m.log(w)
	case k < 905:
		m.fork(w)
	default:
		other := m.worlds[m.random.IntN(3)]
		strategies := []memory.Strategy{memory.Newest, memory.Newest, memory.Source, memory.Target}
		if !m.exact {
			strategies = append(strategies, memory.Fields)
		}
		if other != w {
			m.sync(w, other, m.random.IntN(2) == 0, strategies[m.random.IntN(len(strategies))])
		}
	}
}

// Half of the runs compare each space with the model after each exchange. In the others an exchange has many small pages, is cut between them
// and continued, and all spaces are the same after each circle. Together they take 20,000 steps. ALCOVE_SYNC_SEED repeats a run by its seed.
func TestThreeSpacesAreAsAModelSaysWhateverWasCut(t *testing.T) {
	steps := 5000
	if testing.Short() {
		steps = 500 // under the race detector
	}
	if n, err := strconv.Atoi(os.Getenv("ALCOVE_SYNC_STEPS")); err == nil {
		steps = n
	}
	seed, err := strconv.ParseUint(os.Getenv("ALCOVE_SYNC_SEED"), 10, 64)
	if err != nil {
		seed = uint64(time.Now().Unix()/86400) * 4 // others each day
	}
	for i, page := range []int{0, 3, 0, 2} {
		steps := steps + steps/2
		if page > 0 { // each takes longer
			steps /= 3
		}
		t.Run(fmt.Sprintf("%d versions a page, seed %d", page, seed+uint64(i)), func(t *testing.T) {
			t.Parallel()
			m := newModel(t, seed+uint64(i), page)
			for n := range steps {
				if m.step(); n%500 == 499 {
					m.converge()
				}
			}
			m.converge()
			t.Logf("%d writes, %d exchanges, %d cuts, %d conflicts, %d versions compared", len(m.written), m.syncs, m.cuts, m.conflicts, m.versions)
		})
	}
}
