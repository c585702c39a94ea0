package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/provenance"
	"github.com/alcove-memory/alcove/host/memory/purge"
	"github.com/alcove-memory/alcove/host/memory/retention"
	"github.com/alcove-memory/alcove/host/testing/testclock"
	"github.com/alcove-memory/alcove/host/testing/testspace"
)

// side is a space of a test.
type side struct {
	*Space
	t *testing.T
}

func newSide(t *testing.T, name string, o testspace.Options) *side {
	return &side{&Space{Memory: testspace.Open(t, o), Caller: owner(name)}, t}
}

func (s *side) wire() wire { return wire{server: &Server{Memory: s.Memory}, who: s.Caller} }

func (s *side) put(namespace, key, value string) {
	s.t.Helper()
	text, _ := json.Marshal(value)
	_, err := s.Memory.As(s.Caller).Store(s.t.Context(), memory.Location{Namespace: namespace}, []memory.Item{{Key: key, Value: text}}, memory.Write{})
	if err != nil {
		s.t.Fatalf("store %s: %v", key, err)
	}
}

func (s *side) forget(namespace, key string) {
	s.t.Helper()
	if _, err := s.Memory.As(s.Caller).Forget(s.t.Context(), memory.Location{Namespace: namespace}, []string{key}, memory.Write{}); err != nil {
		s.t.Fatalf("forget %s: %v", key, err)
	}
}

func (s *side) get(namespace, key string) string {
	s.t.Helper()
	found, err := s.Memory.As(s.Caller).Get(s.t.Context(), memory.Location{Namespace: namespace}, []string{key})
	if err != nil {
		s.t.Fatalf("read %s: %v", key, err)
	}
	if found[0] == nil {
		return ""
	}
	var text string
	if err := json.Unmarshal(found[0].Value, &text); err != nil {
		s.t.Fatalf("read %s: %v", key, err)
	}
	return text
}

func (s *side) mustHave(namespace, key, want string) {
	s.t.Helper()
	if got := s.get(namespace, key); got != want {
		s.t.Errorf("%s of %s has %q, want %q", key, s.Caller.Agent, got, want)
	}
}

func (s *side) sync(with *side) (pulled, pushed Result) {
	s.t.Helper()
	e := Exchange{Remote: with.Caller.Agent}
	pulled, err := s.Pull(s.t.Context(), with.wire(), e)
	if err == nil {
		pushed, err = s.Push(s.t.Context(), with.wire(), e)
	}
	if err != nil {
		s.t.Fatalf("sync %s with %s: %v", s.Caller.Agent, with.Caller.Agent, err)
	}
	return pulled, pushed
}

func pair(t *testing.T) (laptop, hub *side) {
	return newSide(t, "laptop", testspace.Options{}), newSide(t, "hub", testspace.Options{})
}

func TestNothingIsBroughtTwice(t *testing.T) {
	laptop, hub := pair(t)
	desk := newSide(t, "desk", testspace.Options{})
	laptop.put("default", "k", "one")
	laptop.sync(hub)
	desk.sync(hub)
	desk.sync(laptop)
	laptop.sync(hub)
	for _, s := range []*side{laptop, hub, desk} {
		past, _, err := s.Memory.As(s.Caller).History(t.Context(), memory.Location{}, "k", memory.AsOf{}, 0)
		if err != nil || len(past) != 1 {
			t.Errorf("k has %d versions on %s, %v, want 1", len(past), s.Caller.Agent, err)
		}
		if len(past) > 0 && past[0].Agent != "laptop" {
			t.Errorf("k is by %q on %s, want its author", past[0].Agent, s.Caller.Agent)
		}
		if report, err := s.Memory.Verify(t.Context()); err != nil || len(report.Findings) > 0 {
			t.Errorf("%s is verified with %+v, %v, want no findings", s.Caller.Agent, report, err)
		}
	}
}

func TestAnEditOfWhatCameByAnotherWayIsNoConflict(t *testing.T) {
	laptop, hub := pair(t)
	desk := newSide(t, "desk", testspace.Options{})
	laptop.put("default", "k", "one")
	laptop.sync(hub)
	desk.sync(hub)
	laptop.put("default", "k", "two")
	if pulled, _ := laptop.sync(desk); len(pulled.Conflicts) > 0 {
		t.Errorf("what the desk has by way of the hub is in conflict with its successor: got %v, want none", pulled.Conflicts)
	}
	desk.mustHave("default", "k", "two")
}

func TestADeletionIsKnownByAnyWay(t *testing.T) {
	laptop, hub := pair(t)
	desk := newSide(t, "desk", testspace.Options{})
	laptop.put("default", "k", "one")
	laptop.sync(hub)
	desk.sync(hub)
	laptop.forget("default", "k")
	laptop.sync(hub)
	desk.sync(hub)
	laptop.put("default", "k", "again")
	if pulled, _ := laptop.sync(desk); len(pulled.Conflicts) > 0 {
		t.Errorf("a deletion that the laptop made is in conflict with what it stored later: got %v, want none", pulled.Conflicts)
	}
	desk.mustHave("default", "k", "again")
}

func TestAConflictIsDecidedAsAskedAndOnBothSidesAlike(t *testing.T) {
	for strategy, want := range map[memory.Strategy]string{memory.Newest: "later", memory.Source: "later", memory.Target: "earlier"} {
		laptop, hub := pair(t)
		laptop.put("default", "k", "earlier")
		hub.put("default", "k", "later")
		got, err := laptop.Pull(t.Context(), hub.wire(), Exchange{Remote: "hub", Strategy: strategy})
		if err != nil || len(got.Conflicts) != 1 {
			t.Fatalf("a pull by %s has %v, %v, want one conflict", strategy, got, err)
		}
		if _, err := laptop.Push(t.Context(), hub.wire(), Exchange{Remote: "hub"}); err != nil {
			t.Fatalf("push: %v", err)
		}
		laptop.mustHave("default", "k", want)
		hub.mustHave("default", "k", want)
	}
}

func TestAStrictPullStopsAtAConflictAndLosesNothing(t *testing.T) {
	laptop, hub := pair(t)
	laptop.put("default", "k", "mine")
	hub.put("default", "k", "theirs")
	hub.put("default", "other", "theirs")
	strict := Exchange{Remote: "hub", Strategy: memory.Strict}
	if _, err := laptop.Pull(t.Context(), hub.wire(), strict); err == nil || !strings.Contains(err.Error(), "default#k") {
		t.Errorf("a strict pull is answered with %v, want that k is in conflict", err)
	}
	laptop.mustHave("default", "k", "mine")
	laptop.mustHave("default", "other", "")
	strict.Strategy = memory.Target
	if _, err := laptop.Pull(t.Context(), hub.wire(), strict); err != nil {
		t.Fatalf("pull: %v", err)
	}
	laptop.mustHave("default", "k", "mine")
	laptop.mustHave("default", "other", "theirs")
}

func TestFieldsOfBothSidesAreMerged(t *testing.T) {
	laptop, hub := pair(t)
	store := func(s *side, value string) {
		_, err := s.Memory.As(s.Caller).Store(t.Context(), memory.Location{}, []memory.Item{{Key: "k", Value: json.RawMessage(value)}}, memory.Write{})
		if err != nil {
			t.Fatalf("store: %v", err)
		}
	}
	store(laptop, `{"a":1,"b":1}`)
	laptop.sync(hub)
	store(laptop, `{"a":2,"b":1}`)
	store(hub, `{"a":1,"b":2}`)
	got, err := laptop.Pull(t.Context(), hub.wire(), Exchange{Remote: "hub", Strategy: memory.Fields})
	if err != nil || len(got.Conflicts) != 1 || got.Conflicts[0].Kept != "both" {
		t.Fatalf("the pull has %+v, %v, want one conflict of which both are kept", got, err)
	}
	found, err := laptop.Memory.As(laptop.Caller).Get(t.Context(), memory.Location{}, []string{"k"})
	if err != nil || string(found[0].Value) != `{"a":2,"b":2}` {
		t.Errorf("the memory has %s, %v, want both changes", found[0].Value, err)
	}
}

func TestWhatNeverLeavesIsNotOnTheWire(t *testing.T) {
	laptop, hub := pair(t)
	laptop.put("project/secret", "hideout", "under the bridge")
	laptop.put("private/diary", "hideout", "under the bridge")
	laptop.put("default", "k", "one")
	hub.put("project/secret", "planted", "by the hub")
	w := hub.wire()
	w.sent = &bytes.Buffer{}
	e := Exchange{Remote: "hub", Never: []string{"project/secret", "private/*"}}
	for _, do := range []func(context.Context, Peer, Exchange) (Result, error){laptop.Pull, laptop.Push, laptop.Pull} {
		if _, err := do(t.Context(), w, e); err != nil {
			t.Fatalf("exchange: %v", err)
		}
	}
	sent := w.sent.String()
	for _, secret := range []string{"hideout", "bridge", "secret", "diary", "private"} {
		if strings.Contains(sent, secret) {
			t.Errorf("%q is on the wire, want nothing of what never leaves", secret)
		}
	}
	if !strings.Contains(sent, `"one"`) {
		t.Errorf("the wire has %.200s, want what may leave", sent)
	}
	laptop.mustHave("project/secret", "planted", "")
	hub.mustHave("project/secret", "hideout", "")
}

// eager is a server that asks for more than it is offered.
type eager struct{ wire }

func (w eager) Introduce(ctx context.Context, r introduction) (introduced, error) {
	a, err := w.wire.Introduce(ctx, r)
	a.Scope = provenance.Scope{}
	return a, err
}

func TestAServerCannotAskForWhatNeverLeaves(t *testing.T) {
	laptop, hub := pair(t)
	laptop.put("project/secret", "hideout", "under the bridge")
	if _, err := laptop.Push(t.Context(), eager{hub.wire()}, Exchange{Remote: "hub", Never: []string{"project/secret"}}); err != nil {
		t.Fatalf("push: %v", err)
	}
	hub.mustHave("project/secret", "hideout", "")
}

func TestANamespaceThatWasNarrowedIsBroughtWhenItMayBe(t *testing.T) {
	laptop, hub := pair(t)
	hub.put("a", "k", "one")
	hub.put("b", "k", "two")
	if _, err := laptop.Pull(t.Context(), hub.wire(), Exchange{Remote: "hub", Namespaces: []string{"a"}}); err != nil {
		t.Fatalf("pull: %v", err)
	}
	laptop.mustHave("b", "k", "")
	laptop.sync(hub)
	laptop.mustHave("a", "k", "one")
	laptop.mustHave("b", "k", "two")
}

func TestABranchIsExchangedAsAForkOfTheDefaultOne(t *testing.T) {
	laptop, hub := pair(t)
	laptop.put("default", "k", "one")
	laptop.sync(hub)
	a := laptop.Memory.As(laptop.Caller)
	if _, err := a.Fork(t.Context(), "", "idea", memory.AsOf{}, memory.Write{}); err != nil {
		t.Fatalf("fork: %v", err)
	}
	if _, err := a.Store(t.Context(), memory.Location{Branch: "idea"}, []memory.Item{{Key: "k", Value: json.RawMessage(`"two"`)}}, memory.Write{}); err != nil {
		t.Fatalf("store: %v", err)
	}
	pushed, err := laptop.Push(t.Context(), hub.wire(), Exchange{Remote: "hub", Branch: "idea"})
	if err != nil || pushed.Taken != 1 {
		t.Fatalf("a push of the branch took %d, %v, want the change alone", pushed.Taken, err)
	}
	diff, err := hub.Memory.As(hub.Caller).Diff(t.Context(), memory.DiffQuery{Source: "idea"})
	if err != nil || diff.Changed != 1 || diff.Clashes != 0 {
		t.Errorf("the branch differs at the hub by %+v, %v, want one change without a clash", diff, err)
	}
}

func TestWhatWasPurgedDoesNotComeBack(t *testing.T) {
	laptop, hub := pair(t)
	laptop.put("default", "k", "under the bridge")
	laptop.sync(hub)
	if _, err := laptop.Memory.Purge(t.Context(), purge.Request{Key: "k"}); err != nil {
		t.Fatalf("purge: %v", err)
	}
	laptop.sync(hub)
	laptop.mustHave("default", "k", "")
	desk := newSide(t, "desk", testspace.Options{})
	w := laptop.wire()
	if _, err := desk.Pull(t.Context(), w, Exchange{Remote: "laptop"}); err != nil {
		t.Fatalf("pull: %v", err)
	}
	desk.mustHave("default", "k", "")
}

func TestClocksDecideConflictsAloneAndNoEditThatKnewTheOther(t *testing.T) {
	ahead := newSide(t, "laptop", testspace.Options{Clock: func() time.Time { return time.Now().Add(5 * time.Hour) }})
	hub := newSide(t, "hub", testspace.Options{})
	ahead.put("default", "k", "of the future")
	ahead.sync(hub)
	hub.put("default", "k", "its successor")
	if pulled, _ := ahead.sync(hub); len(pulled.Conflicts) > 0 {
		t.Errorf("an edit is in conflict with what it replaced: got %v, want none", pulled.Conflicts)
	}
	ahead.mustHave("default", "k", "its successor")
	far := newSide(t, "far", testspace.Options{Clock: func() time.Time { return time.Now().Add(72 * time.Hour) }})
	far.put("default", "f", "of a wrong clock")
	if _, err := far.Push(t.Context(), hub.wire(), Exchange{Remote: "hub"}); err == nil || !strings.Contains(err.Error(), "set the clock that is wrong") {
		t.Errorf("a version of three days ahead is answered with %v, want that a clock is wrong", err)
	}
}

func TestATrimmedLogOfChangesCostsOneComparisonAndLosesNothing(t *testing.T) {
	clock := testclock.At(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	hub := newSide(t, "hub", testspace.Options{Clock: clock.Now})
	laptop := newSide(t, "laptop", testspace.Options{Clock: clock.Now})
	for i := range 30 {
		hub.put("default", fmt.Sprint("k", i), "old")
	}
	laptop.sync(hub)
	for i := range 20 {
		clock.Add(time.Hour)
		hub.put("default", fmt.Sprint("k", i), "new")
	}
	hub.forget("default", "k25")
	if err := hub.Memory.SetRetention(t.Context(), retention.Policy{Keep: 60}); err != nil {
		t.Fatalf("set the retention: %v", err)
	}
	clock.Add(time.Hour)
	if _, err := hub.Memory.Retain(t.Context()); err != nil {
		t.Fatalf("retain: %v", err)
	}
	w := hub.wire()
	w.server.Page = 7
	got, err := laptop.Pull(t.Context(), w, Exchange{Remote: "hub"})
	if err != nil || got.Taken != 21 {
		t.Errorf("a pull past what is kept took %d, %v, want the 20 edits and the deletion", got.Taken, err)
	}
	laptop.mustHave("default", "k19", "new")
	laptop.mustHave("default", "k25", "")
	laptop.mustHave("default", "k29", "old")
}

// lying sends pages that a space would not.
func lying(edit func(*page)) page {
	p := page{header: header{Space: "0123456789abcdef", Branch: "default", At: 9}}
	v := memory.Exchanged{Origins: []provenance.Version{{Replica: "0123456789abcdef.1", Version: 3, At: 5}}}
	v.Namespace, v.Key, v.Value = "default", "k", json.RawMessage(`"v"`)
	p.versions = []memory.Exchanged{v}
	edit(&p)
	return p
}

func TestWhatAHostileSpaceSendsHasLimits(t *testing.T) {
	hub := newSide(t, "hub", testspace.Options{})
	hub.put("default", "own", "one")
	own, err := hub.Memory.As(hub.Caller).Peer(t.Context(), "", 0, provenance.Scope{}, memory.ToRead)
	if err != nil {
		t.Fatalf("introduce: %v", err)
	}
	long := strings.Repeat("x", 3000)
	many := provenance.Vector{}
	for i := range 20_001 {
		many[fmt.Sprint("r", i)] = 1
	}
	scopes := make(provenance.Knowledge, 65)
	for name, c := range map[string]struct {
		edit func(*page)
		says string
	}{
		"a long key":   {func(p *page) { p.versions[0].Key = long }, "key has 3000 bytes"},
		"a long value": {func(p *page) { p.versions[0].Value = json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`) }, "value has 1048578 bytes"},
		"a name":       {func(p *page) { p.versions[0].Namespace = "../x y" }, "may hold only letters"},
		"tags":         {func(p *page) { p.versions[0].Tags = strings.Split(strings.Repeat("t,", 70), ",") }, "71 tags"},
		"an agent":     {func(p *page) { p.versions[0].Agent = long }, "agent has 3000 bytes"},
		"no origin":    {func(p *page) { p.versions[0].Origins = nil }, "it has 0 origins"},
		"many origins": {func(p *page) { p.versions[0].Origins = make([]provenance.Version, 65) }, "it has 65 origins"},
		"an origin":    {func(p *page) { p.versions[0].Origins[0].Replica = long }, "is none"},
		"a version":    {func(p *page) { p.versions[0].Origins[0].Version = 0 }, "is none"},
		"an own version": {func(p *page) {
			p.versions[0].Origins[0] = provenance.Version{Replica: own.Space + ".1", Version: 1 << 40}
		}, "older copy"},
		"a known own version": {func(p *page) {
			p.Known = provenance.Knowledge{{Versions: provenance.Vector{own.Space + ".1": 1 << 40}}}
		}, "older copy"},
		"the future":        {func(p *page) { p.versions[0].Origins[0].At = time.Now().Add(48 * time.Hour).UnixMicro() }, "set the clock"},
		"much knowledge":    {func(p *page) { p.Known = provenance.Knowledge{{Versions: many}} }, "at most 20000"},
		"many scopes":       {func(p *page) { p.Known = scopes }, "at most 20000 in 64"},
		"a replica":         {func(p *page) { p.Known = provenance.Knowledge{{Versions: provenance.Vector{long: 1}}} }, "the name of a replica has 3000"},
		"a scope":           {func(p *page) { p.Scope.Withheld = make([]string, 1001) }, "at most 1000 are allowed"},
		"a namespace twice": {func(p *page) { p.versions = append(p.versions, p.versions[0]) }, "is sent twice"},
		"a space":           {func(p *page) { p.Space = "../../x" }, "is not the id of a space"},
		"a branch":          {func(p *page) { p.Branch = "remotes/hub/default" }, "tracks another space"},
		"a proposal":        {func(p *page) { p.Branch = long }, "branch"},
		"a deep value": {func(p *page) {
			p.versions[0].Value = json.RawMessage(strings.Repeat("[", 600) + strings.Repeat("]", 600))
		}, "nested 600 deep"},
	} {
		_, err := hub.wire().server.receive(t.Context(), hub.Caller, lying(c.edit))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s is answered with %v, want %q", name, err, c.says)
		}
	}
	hub.mustHave("default", "k", "")
	if _, err := hub.wire().server.receive(t.Context(), hub.Caller, lying(func(*page) {})); err != nil {
		t.Errorf("a page without a lie is answered with %v, want that it is taken", err)
	}
	hub.mustHave("default", "k", "v")
}

func packed(t *testing.T, lines ...string) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatalf("compress: %v", err)
	}
	for _, l := range lines {
		if _, err := w.Write([]byte(l)); err != nil {
			t.Fatalf("compress: %v", err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatalf("compress: %v", err)
	}
	return &b
}

func TestAPageThatIsTooLargeIsNotRead(t *testing.T) {
	const head = `{"alcove":"versions","format":1}` + "\n"
	blank := strings.Repeat(" ", 1<<20)
	bomb := []string{head}
	for range 200 {
		bomb = append(bomb, blank)
	}
	for name, c := range map[string]struct {
		body *bytes.Buffer
		says string
	}{
		"a bomb":           {packed(t, bomb...), "too long"},
		"many lines":       {packed(t, append([]string{head}, strings.Repeat("{}\n", 1001))...), "more than 1000 versions"},
		"no end":           {packed(t, head, "{}\n"), "truncated"},
		"a wrong count":    {packed(t, head, "{}\n", `{"end":true,"versions":2}`), "sent 1 versions, and says that it sent 2"},
		"another format":   {packed(t, `{"alcove":"versions","format":2}`+"\n"), "format 2"},
		"no JSON":          {packed(t, "hello\n"), "invalid character"},
		"no compression":   {bytes.NewBufferString(head), "read what the other space sent"},
		"nothing":          {&bytes.Buffer{}, "truncated"},
		"a long next page": {packed(t, head, `{"end":true,"next":"`+strings.Repeat("x", 9000)+`"}`), "says that"},
	} {
		if _, err := (&packing{}).read(c.body); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s is answered with %v, want %q", name, err, c.says)
		}
	}
}

func FuzzReadPage(f *testing.F) {
	var b bytes.Buffer
	if err := (&packing{}).write(&b, lying(func(*page) {})); err != nil {
		f.Fatalf("write a page: %v", err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := (&packing{}).read(bytes.NewReader(data)); err == nil && len(p.versions) > mostVersions {
			t.Errorf("a page has %d versions, want at most %d", len(p.versions), mostVersions)
		}
		if _, err := placeOf(string(data)); err == nil && len(data) > longestToken {
			t.Errorf("a place of %d bytes was read, want at most %d", len(data), longestToken)
		}
	})
}

// censor refuses a word, and replaces another.
type censor struct{}

func (censor) Storing(_ context.Context, s memory.Storing) (memory.Decision, error) {
	for i, it := range s.Items {
		if bytes.Contains(it.Value, []byte("forbidden")) {
			return memory.Decision{}, &memory.Error{Code: memory.Denied, Message: "a hook refuses that word"}
		}
		s.Items[i].Value = bytes.ReplaceAll(it.Value, []byte("password"), []byte("[redacted]"))
	}
	return memory.Decision{Items: s.Items}, nil
}

func (censor) Asks(memory.Change, string) bool                             { return false }
func (censor) Ranker(context.Context, memory.Ranking) (memory.Ranker, int) { return nil, 0 }

func TestHooksOfTheReceiverAreAsked(t *testing.T) {
	hub := newSide(t, "hub", testspace.Options{Hooks: func() memory.Hooks { return censor{} }})
	laptop := newSide(t, "laptop", testspace.Options{})
	laptop.put("default", "k", "the password is tea")
	laptop.sync(hub)
	hub.mustHave("default", "k", "the [redacted] is tea")
	laptop.sync(hub)
	laptop.mustHave("default", "k", "the [redacted] is tea")
	for i := range 9 {
		laptop.put("default", fmt.Sprint("n", i), "allowed")
	}
	laptop.put("default", "n5", "forbidden")
	laptop.Page = 3 // so that some were received before
	if _, err := laptop.Push(t.Context(), hub.wire(), Exchange{Remote: "hub"}); err == nil || !strings.Contains(err.Error(), "default#n5 is refused: a hook refuses that word") {
		t.Errorf("a push of what a hook refuses is answered with %v, want its name and the reason", err)
	}
	hub.mustHave("default", "n5", "")
	laptop.forget("default", "n5")
	laptop.sync(hub)
	hub.mustHave("default", "n8", "allowed")
}

// brief is a server that gives one page.
type brief struct {
	wire
	pages *int
}

func (w brief) Versions(ctx context.Context, r request) (page, error) {
	if *w.pages++; *w.pages > 1 {
		return page{}, errWire
	}
	return w.wire.Versions(ctx, r)
}

func TestWhatWasReceivedIsSearchedOnceItIsMerged(t *testing.T) {
	laptop, hub := pair(t)
	for i := range 20 {
		hub.put("default", fmt.Sprint("k", i), "tea under the bridge")
	}
	w := hub.wire()
	w.server.Page = 7
	if _, err := laptop.Pull(t.Context(), brief{w, new(int)}, Exchange{Remote: "hub"}); err == nil {
		t.Fatal("a pull that was cut ends without an error, want one")
	}
	if report, err := laptop.Memory.Verify(t.Context()); err != nil || len(report.Findings) > 0 {
		t.Errorf("a space with an exchange that was cut is verified with %+v, %v, want no findings", report, err)
	}
	found := func() int {
		t.Helper()
		hits, err := laptop.Memory.As(laptop.Caller).Search(t.Context(), memory.Search{Text: "bridge", K: 50})
		if err != nil {
			t.Fatalf("search: %v", err)
		}
		return len(hits.Hits)
	}
	if n := found(); n != 0 {
		t.Errorf("after a pull that was cut %d memories are found, want none", n)
	}
	got, err := laptop.Pull(t.Context(), w, Exchange{Remote: "hub"})
	if err != nil || got.Taken != 13 {
		t.Errorf("the pull that went on took %d, %v, want the 13 that were left", got.Taken, err)
	}
	if n := found(); n != 20 {
		t.Errorf("after the pull %d memories are found, want 20", n)
	}
}

func TestAnExchangeOfOnePageIsOneCommit(t *testing.T) {
	laptop, hub := pair(t)
	hub.put("default", "k", "one")
	laptop.sync(hub)
	hub.put("default", "k", "two")
	before, err := laptop.Memory.Newest(t.Context())
	if err != nil {
		t.Fatalf("read the newest version: %v", err)
	}
	got, err := laptop.Pull(t.Context(), hub.wire(), Exchange{Remote: "hub"})
	if after, _ := laptop.Memory.Newest(t.Context()); err != nil || after != before+1 || got.Version != after {
		t.Errorf("a pull of one memory made versions %d to %d and says %d, %v, want one", before, after, got.Version, err)
	}
}
