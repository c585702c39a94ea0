package hooks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/family/policy"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/testspace"
)

// present are families whose hooks are on.
type present struct {
	storing []Store
	on      map[abi.Hook][]Family
	missing error
}

func (p present) Storing() ([]Store, error)   { return p.storing, p.missing }
func (p present) On(hook abi.Hook) []Family   { return p.on[hook] }
func (p present) Changed() <-chan struct{}    { return nil }
func (p present) all(h abi.Hook, x ...Family) { p.on[h] = x }

// plain is a family whose guest is a function.
type plain struct {
	manifest abi.Manifest
	rest     Breaker
	answer   func(request []byte, stage *memory.Stage) ([]byte, error)
	loading  bool
	replaced int // loads that fail because another version took its place

	reads        []string // the namespaces of its grant; nil: all
	readsRecords []string // the families of its grant
	generations  int      // 0: 1
	setting      string
	differs      bool     // a setting differs from its default
	unreadable   error    // why its settings cannot be read
	keeps        []string // the collections with a record

	mu       sync.Mutex
	asked    [][]byte
	deferred []json.RawMessage
	begun    string // the namespace of the last request
}

func (x *plain) Name() string            { return x.manifest.Name }
func (x *plain) Manifest() *abi.Manifest { return &x.manifest }
func (x *plain) ReachesOutside() bool    { return false }
func (x *plain) Breaker() *Breaker       { return &x.rest }
func (x *plain) Release()                {}

func (x *plain) ReadsRecords(collection string) bool {
	return slices.Contains(x.readsRecords, ownerOf(collection))
}

func (x *plain) Setting(context.Context, string) (string, error) { return x.setting, nil }

func (x *plain) RankWhen() abi.When { return x.Manifest().Hooks.Rank.When }

func (x *plain) Differs(context.Context, abi.When, string, string) (bool, error) {
	return x.differs, x.unreadable
}

func (x *plain) Keeps(_ context.Context, _ memory.Location, collection string) (bool, error) {
	return slices.Contains(x.keeps, collection), nil
}

func (x *plain) Generations(abi.Hook) int { return cmp.Or(x.generations, 1) }

func (x *plain) Rights() memory.Rights {
	if x.reads == nil {
		return memory.FullRights()
	}
	return memory.RightsTo(x.reads, nil)
}

func (x *plain) Loaded() (Guest, bool) { return x, !x.loading && x.replaced == 0 }

func (x *plain) Load(context.Context) (Guest, error) {
	if x.replaced > 0 {
		x.replaced--
		return nil, ErrReplaced
	}
	return x, nil
}

func (x *plain) Defer(_ context.Context, _ memory.Caller, _ memory.Location, payload json.RawMessage) error {
	x.deferred = append(x.deferred, payload)
	return nil
}

func (x *plain) Begin(_ abi.Hook, stage *memory.Stage, c memory.Caller, namespace, requestID string) Request {
	x.begun = namespace
	host := ops.NewHost(ops.Host{Logger: slog.New(slog.DiscardHandler)})
	return plainRequest{x, host.Begin(ops.Request{Manifest: &x.manifest, Stage: stage, Caller: c, Powers: policy.Of(x.Name(), nil, nil, c.Rights),
		Namespace: namespace, RequestID: requestID})}
}

type plainRequest struct {
	family *plain
	call   *ops.Call
}

func (r plainRequest) Operations() *ops.Call { return r.call }
func (r plainRequest) Config(context.Context) (json.RawMessage, error) {
	return json.RawMessage(`{}`), nil
}

func (r plainRequest) Ask(_ context.Context, _ abi.Kind, request []byte, _ time.Duration) ([]byte, error) {
	r.family.mu.Lock()
	r.family.asked = append(r.family.asked, request)
	r.family.mu.Unlock()
	return r.family.answer(request, r.call.Stage)
}

func (r plainRequest) Commit(ctx context.Context) error {
	_, err := r.call.Stage.Commit(ctx, memory.Commit{})
	return err
}

// times is how often the guest was asked.
func (x *plain) times() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.asked)
}

// says answers with a text.
func says(text string) func([]byte, *memory.Stage) ([]byte, error) {
	return func([]byte, *memory.Stage) ([]byte, error) { return []byte(text), nil }
}

// fails is a guest that fails.
func fails([]byte, *memory.Stage) ([]byte, error) { return nil, Failed(errors.New("it trapped")) }

// storer is a family with a store hook.
func storer(name string, answer func([]byte, *memory.Stage) ([]byte, error)) *plain {
	return &plain{manifest: abi.Manifest{Name: name, Hooks: abi.Hooks{Store: &abi.StoreHook{}}}, answer: answer}
}

// open is a space with the hooks of families.
func open(t *testing.T, families Families) (*Hooks, *memory.Space) {
	t.Helper()
	var asked memory.Hooks
	space := testspace.Open(t, testspace.Options{Hooks: func() memory.Hooks { return asked }})
	h := New(Options{Space: space, Families: families, Behind: func(do func()) bool { do(); return true }, Proposal: func(family string, _ time.Time) string { return "proposals/" + family + "/1" }, Clock: time.Now, Retry: time.Millisecond, Logger: slog.New(slog.DiscardHandler)})
	asked = h
	return h, space
}

// keep stores a memory as its owner.
func keep(t *testing.T, s *memory.Space, key, value string) (*memory.Memory, []string, error) {
	t.Helper()
	var notes []string
	a := s.As(memory.Caller{Agent: "ann", Rights: memory.FullRights()})
	_, err := a.Store(t.Context(), memory.Location{}, []memory.Item{{Key: key, Value: json.RawMessage(value)}}, memory.Write{Note: func(note string) { notes = append(notes, note) }})
	if err != nil {
		return nil, notes, err
	}
	m, err := a.Recall(t.Context(), memory.Location{}, key, memory.AsOf{})
	return m, notes, err
}

func code(err error) memory.Code {
	var known *memory.Error
	errors.As(err, &known)
	if known == nil {
		return ""
	}
	return known.Code
}

func TestARefusalsReasonIsALineOfBoundedLength(t *testing.T) {
	most := int(abi.DefaultLimits().RefuseBytes)
	for given, want := range map[string]string{
		" no\ncards ":                       "no cards",
		"\x1b]52;c;x\a":                     "\uFFFD]52;c;x\uFFFD",
		"\u202Eterces":                      "\uFFFDterces",
		"":                                  "it gave no reason",
		"\u200b":                            "\uFFFD",
		strings.Repeat("é", most):           strings.Repeat("é", most/2) + "…",
		strings.Repeat("a", most):           strings.Repeat("a", most),
		"a\xff" + strings.Repeat("b", most): "a\uFFFD" + strings.Repeat("b", most-4) + "…",
	} {
		if got := refused(given).reason; got != want {
			t.Errorf("%.40q becomes %.60q, want %.60q", given, got, want)
		}
	}
}

func TestStoreHooksAreAskedByNameAndRedactorsLast(t *testing.T) {
	a, b, c := storer("a", says(`{"entries":[{"value":"a"}]}`)), storer("b", says(`{"entries":[{"value":"b"}]}`)), storer("c", says(`{"entries":[{"value":"c"}]}`))
	a.manifest.Hooks.Store.Redacts = true
	_, space := open(t, present{storing: []Store{{Family: c}, {Family: a}, {Family: b}}})
	if m, notes, err := keep(t, space, "k", `"x"`); err != nil || string(m.Value) != `"a"` || len(notes) != 0 {
		t.Fatalf("stored %+v with %q, %v", m, notes, err)
	}
	if !strings.Contains(string(c.asked[0]), `"value":"b"`) || !strings.Contains(string(a.asked[0]), `"value":"c"`) {
		t.Errorf("c was asked about %s, the redactor about %s", c.asked[0], a.asked[0])
	}
}

func TestAFailureOfAStoreHookIsTreatedAsTheOperatorSaid(t *testing.T) {
	for failure, want := range map[abi.OnFailure]struct {
		code memory.Code
		note string
	}{
		abi.OnFailureSkip:   {note: "family x was skipped: it trapped"},
		abi.OnFailureDefer:  {note: "family x is asked later: it trapped"},
		abi.OnFailureRefuse: {code: memory.Unavailable},
	} {
		x := storer("x", fails)
		_, space := open(t, present{storing: []Store{{x, failure}}})
		_, notes, err := keep(t, space, "k", `1`)
		if code(err) != want.code || strings.Join(notes, "\n") != want.note {
			t.Errorf("%s: notes %q, %v, want code %q and note %q", failure, notes, err, want.code, want.note)
		}
		if deferred := len(x.deferred) == 1; deferred != (failure == abi.OnFailureDefer) {
			t.Errorf("%s: put off %s", failure, x.deferred)
		}
	}
}

func TestNothingIsStoredWhileAGuardIsMissing(t *testing.T) {
	missing := &memory.Error{Code: memory.Unavailable, Message: "gone"}
	_, space := open(t, present{missing: missing})
	if _, _, err := keep(t, space, "k", `1`); !errors.Is(err, missing) {
		t.Errorf("store: %v, want %v", err, missing)
	}
}

func TestAStoreDoesNotWaitForAHookThatIsBeingLoaded(t *testing.T) {
	x := storer("x", says(`{}`))
	x.loading = true
	_, space := open(t, present{storing: []Store{{x, abi.OnFailureSkip}}})
	if _, notes, err := keep(t, space, "k", `1`); err != nil || len(notes) != 1 || !strings.Contains(notes[0], "it is being loaded") || x.times() != 0 {
		t.Errorf("notes %q, %v, want one, that the family is being loaded", notes, err)
	}
	_, space = open(t, present{storing: []Store{{x, abi.OnFailureRefuse}}})
	if _, _, err := keep(t, space, "k", `1`); err != nil || x.times() != 1 {
		t.Errorf("with refuse: %v after %d requests", err, x.times())
	}
}

func TestAStoreWaitsForAHookThatATypeCallsFor(t *testing.T) {
	x := storer("x", says(`{}`))
	x.manifest.Hooks.Store.Types = []string{"note"}
	x.loading = true
	_, space := open(t, present{storing: []Store{{x, abi.OnFailureSkip}}})
	if _, notes, err := keep(t, space, "k", `1`); err != nil || len(notes) != 0 || x.times() != 0 {
		t.Errorf("a memory of another type: notes %q, %v after %d requests", notes, err, x.times())
	}
	var notes []string
	a := space.As(memory.Caller{Agent: "ann", Rights: memory.FullRights()})
	_, err := a.Store(t.Context(), memory.Location{}, []memory.Item{{Key: "n", Type: "note", Value: json.RawMessage(`1`)}}, memory.Write{Note: func(note string) { notes = append(notes, note) }})
	if err != nil || len(notes) != 0 || x.times() != 1 {
		t.Errorf("a note: notes %q, %v after %d requests", notes, err, x.times())
	}
}

func TestAVersionThatWasReplacedIsAskedByItsSuccessor(t *testing.T) {
	x := storer("x", says(`{}`))
	x.replaced = 2
	_, space := open(t, present{storing: []Store{{x, abi.OnFailureRefuse}}})
	if _, _, err := keep(t, space, "k", `1`); err != nil || x.times() != 1 {
		t.Errorf("%v after %d requests", err, x.times())
	}
}

func TestAHookRestsAfterFailuresInARow(t *testing.T) {
	now := time.Now()
	var r Breaker
	for range FailuresInRow - 1 {
		r.record(errors.New("failed"), now)
	}
	r.record(nil, now)
	for range FailuresInRow - 1 {
		r.record(errors.New("failed"), now)
	}
	if r.Open(now) {
		t.Error("it rests after failures that were not in a row")
	}
	r.record(errors.New("failed"), now)
	if !r.Open(now) || !r.Open(now.Add(Pause-1)) || r.Open(now.Add(Pause)) {
		t.Error("it does not rest for as long as Pause")
	}
	if r.Open(now.Add(-time.Hour)) {
		t.Error("it rests for an hour once the clock was put back")
	}
}

// ranked ranks as a search does; it is not ok if nothing ranks.
func ranked(t *testing.T, h *Hooks, r memory.Ranking) (scores []float32, ok bool, err error) {
	rank, _ := h.Ranker(t.Context(), r)
	if rank == nil {
		return nil, false, nil
	}
	return rank(t.Context(), r)
}

func TestTheFirstFamilyThatRanksOrdersTheHits(t *testing.T) {
	x := &plain{manifest: abi.Manifest{Name: "x", Hooks: abi.Hooks{Rank: &abi.RankHook{Features: []string{"type", "luck"}, Types: []string{"fact"}}}}, answer: fails}
	families := present{on: map[abi.Hook][]Family{}}
	h, _ := open(t, families)
	r := memory.Ranking{Caller: memory.Caller{Rights: memory.FullRights()}, Hits: 1, Types: []string{"fact"}, Column: func(string) []float32 { return nil }}
	if rank, depth := h.Ranker(t.Context(), r); rank != nil || depth != 0 {
		t.Errorf("without a family the best %d hits would be ranked, want none", depth)
	}
	families.all(abi.HookRank, x)
	if _, ok, err := ranked(t, h, r); ok || err == nil || !strings.Contains(err.Error(), "family x failed to rank them: it trapped") {
		t.Errorf("ranked = %t, %v, want the error that x trapped", ok, err)
	}
	x.answer = says("\x00\x00\x80\x3f")
	for _, c := range []struct {
		namespaces []string
		want       string
	}{{nil, ""}, {[]string{"work"}, "work"}, {[]string{"work", "home"}, ""}} {
		r.Namespaces = c.namespaces
		if _, ok, err := ranked(t, h, r); !ok || err != nil || x.begun != c.want {
			t.Errorf("a search of %q is ranked in namespace %q (%v)", c.namespaces, x.begun, err)
		}
	}
	if scores, ok, err := ranked(t, h, r); !ok || err != nil || len(scores) != 1 || scores[0] != 1 {
		t.Errorf("ranked = %v, %t, %v, want the one score 1", scores, ok, err)
	}
	x.answer = func([]byte, *memory.Stage) ([]byte, error) { return nil, &memory.Error{Code: memory.Denied} }
	if _, ok, err := ranked(t, h, r); ok || err != nil {
		t.Errorf("of its own search: %t, %v", ok, err)
	}
}

func TestAFamilyIsToldAgainUntilItSucceeds(t *testing.T) {
	failures := 2
	x := &plain{manifest: abi.Manifest{Name: "x", Hooks: abi.Hooks{Stored: &abi.StoreHook{}}}}
	x.answer = func(request []byte, stage *memory.Stage) ([]byte, error) {
		if failures--; failures >= 0 {
			return nil, Failed(errors.New("it trapped"))
		}
		return nil, stage.PutRecord(t.Context(), memory.Collection{Name: "x/seen"}, "", "k", json.RawMessage(`1`), nil)
	}
	h, space := open(t, present{on: map[abi.Hook][]Family{abi.HookStored: {x}}})
	if more, err := h.deliverAll(t.Context(), "x"); more || err != nil { // from now on
		t.Fatalf("deliverAll = %t, %v, want no more", more, err)
	}
	if _, _, err := keep(t, space, "k", `"tea"`); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := h.deliverAll(t.Context(), "x"); err == nil {
			t.Error("a failure is no error")
		}
	}
	for range 2 { // the second time there is nothing new
		if more, err := h.deliverAll(t.Context(), "x"); more || err != nil {
			t.Errorf("deliverAll = %t, %v, want no more", more, err)
		}
	}
	if x.times() != 3 || !strings.Contains(string(x.asked[2]), `"key":"k","version":3,"agent":"ann","value":"tea"`) {
		t.Errorf("it was asked %d times: %s", x.times(), x.asked)
	}
}

func TestAFamilyIsToldOfOneGenerationAtOnceAndOfNoneBeyondItsNumber(t *testing.T) {
	l := listener{Family: &plain{manifest: abi.Manifest{Name: "x", Hooks: abi.Hooks{Stored: &abi.StoreHook{}}}}, stored: true, merged: true}
	h := New(Options{Clock: time.Now})
	entry := func(version uint64, key, family string, generation int) memory.WrittenEntry {
		return memory.WrittenEntry{Memory: memory.Memory{Key: key, Version: version}, By: memory.Caller{Family: family, Generation: generation}}
	}
	page := memory.Written{Upto: 9, Entries: []memory.WrittenEntry{entry(1, "a", "", 0), entry(2, "own", "x", 0), entry(3, "beyond", "y", 2), entry(4, "b", "", 0),
		entry(6, "answer", "y", 1), entry(7, "later", "y", 2), entry(8, "c", "", 0)},
		Merges: []memory.MergedBranch{{Source: "draft", Version: 5}, {Source: "own", Version: 5, By: memory.Caller{Family: "x"}}, {Source: "next", Version: 8}}}
	n := h.pick(l, "default", page, true)
	var told []string
	for _, e := range n.entries {
		told = append(told, e.Key)
	}
	if strings.Join(told, " ") != "a b" || len(n.merges) != 1 || n.merges[0].Source != "draft" || n.upto != 5 || !n.more || n.generation != 0 {
		t.Errorf("%q and %+v up to %d, more %t, of generation %d", told, n.merges, n.upto, n.more, n.generation)
	}
	if n.cut == nil || n.cut.Count != 1 || n.cut.Version != 3 || n.cut.By != "y" || n.cut.Generation != 2 {
		t.Errorf("cut %+v", n.cut)
	}
	l.Family.(*plain).generations = 2
	if n := h.pick(l, "default", page, true); n.cut != nil || n.upto != 2 || len(n.entries) != 1 {
		t.Errorf("with two generations: %+v", n)
	}
}

func TestAStoreHookIsAskedAboutTheChangesThatItNames(t *testing.T) {
	x := storer("x", says(`{"refuse":"no"}`))
	var asked memory.Hooks
	space := testspace.Open(t, testspace.Options{Hooks: func() memory.Hooks { return asked }})
	a := space.As(memory.Caller{Rights: memory.FullRights()})
	if _, _, err := keep(t, space, "k", `1`); err != nil {
		t.Fatal(err)
	}
	h := New(Options{Space: space, Families: present{storing: []Store{{x, abi.OnFailureSkip}}}, Clock: time.Now, Logger: slog.New(slog.DiscardHandler)})
	asked = h
	forget := func() error {
		_, err := a.Forget(t.Context(), memory.Location{}, []string{"k"}, memory.Write{DryRun: true})
		return err
	}
	archive := func() error {
		_, err := a.SetState(t.Context(), memory.Location{}, []string{"k"}, memory.Archived, memory.Write{DryRun: true})
		return err
	}
	for _, c := range []struct {
		changes        []string
		forget, change bool
	}{{nil, true, true}, {[]string{"delete"}, false, true}, {[]string{"state"}, true, false}, {[]string{"store", "delete", "state"}, false, false}} {
		x.manifest.Hooks.Store.Changes = c.changes
		if deleted, changed := forget() == nil, archive() == nil; deleted != c.forget || changed != c.change {
			t.Errorf("%q: deleted %t, changed %t", c.changes, deleted, changed)
		}
	}
	x.answer = says(`{"entries":[{"value":2}]}`)
	var notes []string
	_, err := a.Forget(t.Context(), memory.Location{}, []string{"k"}, memory.Write{DryRun: true, Note: func(note string) { notes = append(notes, note) }})
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "can only be refused or proposed") {
		t.Errorf("a change of what is deleted: %q, %v", notes, err)
	}
}

func TestAHookThatMayNotReadANamespaceIsNotAskedAboutIt(t *testing.T) {
	x := storer("x", says(`{"refuse":"no"}`))
	x.reads = []string{"work"}
	_, space := open(t, present{storing: []Store{{x, abi.OnFailureSkip}}})
	if _, notes, err := keep(t, space, "k", `1`); err != nil || len(notes) != 0 || x.times() != 0 {
		t.Errorf("notes %q, %v, want none, and the hook not asked", notes, err)
	}
	_, space = open(t, present{storing: []Store{{x, abi.OnFailureRefuse}}})
	if _, _, err := keep(t, space, "k", `1`); code(err) != memory.Denied || x.times() != 1 {
		t.Errorf("without which nothing may be stored: %v", err)
	}
}
