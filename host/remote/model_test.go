package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/testclock"
	"github.com/alcove-memory/alcove/host/testing/testspace"
)

// wire is a Peer in this process. What passes is encoded as over HTTP, and cut after cut bytes unless that is negative.
type wire struct {
	server *Server
	who    memory.Caller
	cut    func(n int) int // of an answer or a request with n bytes: after how many it is cut; nil: none is
	sent   *bytes.Buffer   // all that was sent to the server; nil: not kept
	bytes  *int            // that passed, both ways
}

var errWire = errors.New("the line was cut")

func (w wire) pass(data []byte) ([]byte, error) {
	if w.bytes != nil {
		*w.bytes += len(data)
	}
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
	if err := p.write(&b); err != nil {
		return page{}, err
	}
	if w.sent != nil && up {
		json.NewEncoder(w.sent).Encode(p.header)
		json.NewEncoder(w.sent).Encode(p.versions)
	}
	data, broken := w.pass(b.Bytes())
	p, err := readPage(bytes.NewReader(data))
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
	return through(w, done, false)
}

// model is what is true of the memories of three spaces: of each write, which ones it replaced with their author's knowledge.
type model struct {
	t                        *testing.T
	random                   *rand.Rand
	names                    []string
	spaces                   []*Space
	clocks                   []*testclock.Clock
	past                     map[string]map[string]bool // of a write, all writes that its author knew under its key
	by                       map[string]string          // the key of a write
	writes                   int
	cuts, conflicts, deleted int
}

func owner(name string) memory.Caller { return memory.Caller{Agent: name, Rights: memory.FullRights()} }

func newModel(t *testing.T, seed uint64, page int) *model {
	m := &model{t: t, random: rand.New(rand.NewPCG(seed, 40)), names: []string{"laptop", "desk", "hub"}, past: map[string]map[string]bool{}, by: map[string]string{}}
	for i, name := range m.names {
		clock := testclock.At(time.Date(2026, 3, 1, 6*i, 0, 0, 0, time.UTC)) // hours apart
		m.clocks = append(m.clocks, clock)
		s := testspace.Open(t, testspace.Options{Clock: clock.Now})
		m.spaces = append(m.spaces, &Space{Memory: s, Caller: owner(name), Page: page})
	}
	return m
}

func (m *model) access(i int) *memory.Access { return m.spaces[i].Memory.As(m.spaces[i].Caller) }

func (m *model) key() (string, string) {
	return []string{"default", "notes"}[m.random.IntN(2)], "k" + strconv.Itoa(m.random.IntN(12))
}

// value is what a memory holds: its own write, and all that it stands for.
type value struct {
	Write string `json:"w"`
}

func (m *model) at(i int, branch, namespace, key string) string {
	found, err := m.access(i).Get(m.t.Context(), memory.Location{Branch: branch, Namespace: namespace}, []string{key})
	if err != nil {
		m.t.Fatalf("read %s: %v", key, err)
	}
	if found[0] == nil {
		return ""
	}
	var v value
	if err := json.Unmarshal(found[0].Value, &v); err != nil {
		m.t.Fatalf("read %s: %v", key, err)
	}
	return v.Write
}

func (m *model) store(i int, branch string) {
	namespace, key := m.key()
	m.writes++
	id := fmt.Sprintf("%s%d", m.names[i], m.writes)
	text, _ := json.Marshal(value{id})
	if m.random.IntN(4) == 0 { // of a few values, which others write, too
		text, _ = json.Marshal(value{"same" + strconv.Itoa(m.random.IntN(3))})
	}
	_, err := m.access(i).Store(m.t.Context(), memory.Location{Branch: branch, Namespace: namespace}, []memory.Item{{Key: key, Value: text}}, memory.Write{})
	if err != nil {
		m.t.Fatalf("store %s on %s: %v", key, m.names[i], err)
	}
}

func (m *model) forget(i int, branch string) {
	namespace, key := m.key()
	if _, err := m.access(i).Forget(m.t.Context(), memory.Location{Branch: branch, Namespace: namespace}, []string{key}, memory.Write{}); err != nil {
		m.t.Fatalf("forget %s on %s: %v", key, m.names[i], err)
	}
	m.deleted++
}

// fork forks a branch, changes it, and merges it back.
func (m *model) fork(i int) {
	ctx, a := m.t.Context(), m.access(i)
	if _, err := a.Fork(ctx, "", "idea", memory.AsOf{}, memory.Write{}); err != nil {
		m.t.Fatalf("fork: %v", err)
	}
	m.store(i, "idea")
	m.store(i, "")
	m.forget(i, "idea")
	if _, err := a.Merge(ctx, memory.Merge{Source: "idea", Strategy: memory.Newest}, memory.Write{}); err != nil {
		m.t.Fatalf("merge: %v", err)
	}
	if err := a.Delete(ctx, memory.Deletion{Branch: "idea", Force: true, Final: true}, memory.Write{}); err != nil {
		m.t.Fatalf("delete: %v", err)
	}
}

// sync exchanges two spaces' memories. The line is cut somewhere, sometimes.
func (m *model) sync(i, j int, cut bool, strategy memory.Strategy) {
	w := wire{server: &Server{Memory: m.spaces[j].Memory, Page: m.spaces[j].Page}, who: owner(m.names[j])}
	if cut {
		left := m.random.IntN(6000)
		w.cut = func(n int) int {
			left -= n
			return max(n+min(left, 0), 0)
		}
	}
	e := Exchange{Remote: m.names[j], Strategy: strategy}
	for _, do := range []func(context.Context, Peer, Exchange) (Result, error){m.spaces[i].Pull, m.spaces[i].Push} {
		if m.random.IntN(3) == 0 && cut {
			continue
		}
		got, err := do(m.t.Context(), w, e)
		m.conflicts += len(got.Conflicts)
		switch {
		case err == nil:
		case cut:
			m.cuts++
		default:
			m.t.Fatalf("sync %s with %s: %v", m.names[i], m.names[j], err)
		}
	}
}

// all are the memories of a space.
func (m *model) all(i int) string {
	var out bytes.Buffer
	if err := m.spaces[i].Memory.WriteMemories(m.t.Context(), memory.Selection{}, &out); err != nil {
		m.t.Fatalf("list: %v", err)
	}
	var list bytes.Buffer
	for l := range bytes.Lines(out.Bytes()) {
		var one struct {
			Namespace, Key string
			Value          json.RawMessage
		}
		if json.Unmarshal(l, &one) == nil && one.Key != "" {
			fmt.Fprintf(&list, "%s/%s=%s\n", one.Namespace, one.Key, one.Value)
		}
	}
	return list.String()
}

func (m *model) converge() {
	for range 2 {
		for i := range m.spaces {
			m.sync(i, (i+1)%len(m.spaces), false, memory.Newest)
		}
	}
	for i := range m.spaces[1:] {
		if a, b := m.all(0), m.all(i+1); a != b {
			m.t.Fatalf("after a circle %s has\n%s\nand %s has\n%s", m.names[0], a, m.names[i+1], b)
		}
	}
}

func (m *model) step(n int) {
	i := m.random.IntN(3)
	m.clocks[i].Add(time.Second)
	switch k := m.random.IntN(100); {
	case k < 60:
		m.store(i, "")
	case k < 75:
		m.forget(i, "")
	case k < 77:
		m.fork(i)
	default:
		strategies := []memory.Strategy{memory.Newest, memory.Newest, memory.Source, memory.Target, memory.Fields}
		m.sync(i, (i+1+m.random.IntN(2))%3, m.random.IntN(2) == 0, strategies[m.random.IntN(len(strategies))])
	}
}

func TestThreeSpacesConvergeWhateverWasCut(t *testing.T) {
	steps := 2000
	if n, err := strconv.Atoi(os.Getenv("ALCOVE_STRESS_STEPS")); err == nil {
		steps = n
	}
	seed, _ := strconv.ParseUint(os.Getenv("ALCOVE_SEED"), 10, 64)
	m := newModel(t, 1+seed, 3)
	for n := range steps {
		m.step(n)
		if n%200 == 199 {
			m.converge()
		}
	}
	m.converge()
	t.Logf("%d writes, %d deletions, %d cuts, %d conflicts", m.writes, m.deleted, m.cuts, m.conflicts)
}
