package hooks

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
)

// conditional is a family whose hooks nothing calls for yet.
func conditional(w abi.When) *plain {
	x := &plain{manifest: abi.Manifest{Name: "x", Config: []abi.Setting{{Key: "rules"}}}}
	x.manifest.Hooks = abi.Hooks{Store: &abi.StoreHook{When: w}, Stored: &abi.StoreHook{When: w}, Rank: &abi.RankHook{Features: []string{"score"}, When: w}}
	return x
}

func TestAStoreHookIsAskedOnlyWhenSomethingCallsForIt(t *testing.T) {
	for name, c := range map[string]struct {
		when    abi.When
		types   []string
		differs bool
		keeps   []string
		want    string // keys
	}{
		"no condition":                     {want: "typed untyped"},
		"a default setting":                {when: abi.When{Settings: []string{"rules"}}},
		"a changed setting":                {when: abi.When{Settings: []string{"rules"}}, differs: true, want: "typed untyped"},
		"no record":                        {when: abi.When{Records: []string{"judged"}}, keeps: []string{"other"}},
		"a record":                         {when: abi.When{Records: []string{"judged"}}, keeps: []string{"judged"}, want: "typed untyped"},
		"a missing type":                   {when: abi.When{Lacks: []string{"type"}}, want: "untyped"},
		"a missing member":                 {when: abi.When{Lacks: []string{"metadata.tier"}}, want: "typed"},
		"any of two":                       {when: abi.When{Settings: []string{"rules"}, Lacks: []string{"type"}}, differs: true, want: "typed untyped"},
		"a type":                           {types: []string{"plan"}, want: "typed"},
		"a type that lacks what it has":    {types: []string{"plan"}, when: abi.When{Lacks: []string{"type"}}},
		"missing tags, of a type":          {types: []string{"plan"}, when: abi.When{Lacks: []string{"tags", "importance"}}, want: "typed"},
		"a changed setting, of a type":     {types: []string{"plan"}, when: abi.When{Settings: []string{"rules"}}, differs: true, want: "typed"},
		"a type that no memory of it has":  {types: []string{"note"}},
		"a record of a second collection":  {when: abi.When{Records: []string{"judged", "other"}}, keeps: []string{"other"}, want: "typed untyped"},
		"a default setting, and no record": {when: abi.When{Settings: []string{"rules"}, Records: []string{"judged"}}},
	} {
		x := conditional(c.when)
		x.manifest.Hooks.Store.Types, x.differs, x.keeps = c.types, c.differs, c.keeps
		var asked []string
		x.answer = func(request []byte, _ *memory.Stage) ([]byte, error) {
			var r abi.HookRequest
			err := json.Unmarshal(request, &r)
			for _, e := range r.Entries {
				asked = append(asked, e.Key)
			}
			return []byte(`{}`), err
		}
		h, _ := open(t, present{storing: []Store{{x, abi.OnFailureRefuse}}})
		items := []memory.Item{{Key: "typed", Type: "plan", Value: json.RawMessage(`1`)}, {Key: "untyped", Value: json.RawMessage(`2`), Metadata: map[string]json.RawMessage{"tier": json.RawMessage(`1`)}}}
		d, err := h.Storing(t.Context(), memory.Storing{Location: memory.Location{Branch: memory.Default, Namespace: memory.Default}, Change: memory.ChangeStore, Items: items,
			Caller: memory.Caller{Rights: memory.FullRights()}, Check: func(memory.Item) error { return nil }})
		if got := strings.Join(asked, " "); err != nil || len(d.Items) != 2 || got != c.want {
			t.Errorf("%s: got asked about %q, %d items, %v, want %q and 2 items", name, got, len(d.Items), err, c.want)
		}
	}
}

func TestAFamilyIsNotToldOfWhatWasStoredBeforeItWasCalledFor(t *testing.T) {
	x := conditional(abi.When{Settings: []string{"rules"}})
	x.answer = says(`{}`)
	h, space := open(t, present{on: map[abi.Hook][]Family{abi.HookStored: {x}}})
	tell := func() {
		t.Helper()
		for more := true; more; {
			var err error
			if more, err = h.deliverAll(t.Context(), "x"); err != nil {
				t.Fatal(err)
			}
		}
	}
	tell() // from now on
	for _, step := range []struct {
		key     string
		differs bool
		want    int // requests so far
	}{{"before", false, 0}, {"after", true, 1}, {"later", true, 2}, {"between", false, 2}, {"again", true, 3}} {
		x.differs = step.differs
		if _, _, err := keep(t, space, step.key, `1`); err != nil {
			t.Fatal(err)
		}
		tell()
		if x.times() != step.want {
			t.Errorf("after %s: got %d requests, want %d", step.key, x.times(), step.want)
		}
	}
	for i, key := range []string{"after", "later", "again"} {
		if got := string(x.asked[i]); strings.Count(got, `"key"`) != 1 || !strings.Contains(got, `"key":"`+key+`"`) {
			t.Errorf("request %d is about %s, want only %s", i, got, key)
		}
	}
}

func TestAFamilyIsToldOfWhatLacksAField(t *testing.T) {
	x := conditional(abi.When{Lacks: []string{"metadata.tier"}})
	x.answer = says(`{}`)
	h, space := open(t, present{on: map[abi.Hook][]Family{abi.HookStored: {x}}})
	if _, err := h.deliverAll(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	has := memory.Item{Key: "has", Value: json.RawMessage(`1`), Metadata: map[string]json.RawMessage{"tier": json.RawMessage(`1`)}}
	if _, err := space.As(memory.Caller{Agent: "ann", Rights: memory.FullRights()}).Store(t.Context(), memory.Location{}, []memory.Item{has, {Key: "lacks", Value: json.RawMessage(`1`)}}, memory.Write{}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := h.deliverAll(t.Context(), "x"); err != nil {
			t.Fatal(err)
		}
	}
	if x.times() != 1 || strings.Contains(string(x.asked[0]), `"key":"has"`) || !strings.Contains(string(x.asked[0]), `"key":"lacks"`) {
		t.Errorf("got %d requests, %s, want one, about what lacks the member", x.times(), x.asked)
	}
}

func TestASearchIsRankedOnlyWhenSomethingCallsForIt(t *testing.T) {
	x := conditional(abi.When{Settings: []string{"rules"}})
	x.answer, x.loading = says("\x00\x00\x80\x3f"), true
	h, _ := open(t, present{on: map[abi.Hook][]Family{abi.HookRank: {x}}})
	r := memory.Ranking{Caller: memory.Caller{Rights: memory.FullRights()}, Hits: 1, Types: []string{"plan"}, Column: func(string) []float32 { return nil }}
	if rank, depth := h.Ranker(t.Context(), r); rank != nil || depth != 0 {
		t.Errorf("the best %d hits would be ranked, want that nothing is", depth)
	}
	x.differs = true
	if _, depth := h.Ranker(t.Context(), r); depth != rankDepth {
		t.Errorf("the best %d hits are ranked, want %d", depth, rankDepth)
	}
	if scores, ok, err := ranked(t, h, r); !ok || err != nil || len(scores) != 1 {
		t.Errorf("ranked = %v, %t, %v, want one score, though the family had to be loaded", scores, ok, err)
	}
}

func TestARatedHitCallsForARankHookThatReadsOutcomes(t *testing.T) {
	for _, c := range []struct {
		features []string
		outcome  float32
		ranked   bool
	}{{[]string{"outcome"}, .5, true}, {[]string{"outcome"}, float32(math.NaN()), false}, {[]string{"score"}, .5, false}} {
		x := conditional(abi.When{Settings: []string{"rules"}})
		x.manifest.Hooks.Rank.Features = c.features
		x.answer = says("\x00\x00\x80\x3f")
		h, _ := open(t, present{on: map[abi.Hook][]Family{abi.HookRank: {x}}})
		r := memory.Ranking{Caller: memory.Caller{Rights: memory.FullRights()}, Hits: 1, Types: []string{"plan"}, Column: func(string) []float32 { return []float32{c.outcome} }}
		if _, ok, err := ranked(t, h, r); ok != c.ranked || err != nil {
			t.Errorf("%v with an outcome of %g: got ranked %t, %v, want %t", c.features, c.outcome, ok, err, c.ranked)
		}
	}
}

func TestAFamilyThatIsToldLaterIsSkippedWithoutANoteWhileItIsLoaded(t *testing.T) {
	x := conditional(abi.When{})
	x.loading = true
	x.answer = fails
	on := map[abi.Hook][]Family{}
	_, space := open(t, present{storing: []Store{{x, abi.OnFailureSkip}}, on: on})
	for _, want := range []int{1, 0} { // notes
		if _, notes, err := keep(t, space, "k", `1`); err != nil || len(notes) != want {
			t.Errorf("told later %t: got notes %q, %v, want %d", len(on) > 0, notes, err, want)
		}
		on[abi.HookStored] = []Family{x}
	}
	x.loading = false
	if _, notes, err := keep(t, space, "k", `2`); err != nil || len(notes) != 1 {
		t.Errorf("a failure: got notes %q, %v, want one", notes, err)
	}
}

func TestAHookThatNothingCallsForIsIdle(t *testing.T) {
	for name, c := range map[string]struct {
		when    abi.When
		shared  bool
		differs bool
		want    bool
	}{
		"no condition":      {},
		"a default setting": {when: abi.When{Settings: []string{"rules"}}, want: true},
		"a changed setting": {when: abi.When{Settings: []string{"rules"}}, differs: true},
		"a shared setting":  {when: abi.When{Settings: []string{"ru*"}}, shared: true},
		"records":           {when: abi.When{Settings: []string{"rules"}, Records: []string{"judged"}}},
		"fields":            {when: abi.When{Lacks: []string{"type"}}},
	} {
		x := conditional(c.when)
		x.differs, x.manifest.Config[0].Shared = c.differs, c.shared
		if got, err := (Store{Family: x}).Uncalled(t.Context()); err != nil || got != c.want {
			t.Errorf("%s: got %t, %v, want %t", name, got, err, c.want)
		}
	}
}

func TestAConditionThatCannotBeReadKeepsAStoreOut(t *testing.T) {
	x := conditional(abi.When{Settings: []string{"rules"}})
	x.unreadable = errors.New("the disk is gone")
	_, space := open(t, present{storing: []Store{{x, abi.OnFailureRefuse}}})
	if _, _, err := keep(t, space, "k", `1`); err == nil || !strings.Contains(err.Error(), "the disk is gone") {
		t.Errorf("got %v, want that the condition cannot be read", err)
	}
}
