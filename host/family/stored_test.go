package family

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/await"
)

func onStored(name string) *abi.Manifest {
	m := aFamily(name)
	m.Hooks.Stored = &abi.StoreHook{}
	m.Collections = []abi.Collection{{Name: "calls", Per: "space"}}
	return m
}

// told counts the calls that a family noted with record.append.
func (w *world) told(name string) int {
	w.t.Helper()
	stage, err := w.space.As(owner("")).Stage(w.t.Context(), "")
	if err != nil {
		w.t.Fatal(err)
	}
	list, _, err := stage.ListRecords(w.t.Context(), memory.Collection{Name: name + "/calls", PerSpace: true}, "default", "", "", 0)
	if err != nil {
		w.t.Fatal(err)
	}
	return len(list)
}

// isFollowed reports whether a family's stored hook was seen on.
func (w *world) isFollowed(name string) bool {
	w.t.Helper()
	stage, err := w.space.As(owner("")).Stage(w.t.Context(), "")
	if err != nil {
		w.t.Fatal(err)
	}
	found, err := stage.Records(w.t.Context(), memory.Collection{Name: "_stored", PerSpace: true, Internal: true}, ops.SystemNamespace, []string{name})
	if err != nil {
		w.t.Fatal(err)
	}
	return found[0] != nil
}

func (w *world) followed(names ...string) *world {
	w.t.Helper()
	await.That(w.t, "they are followed", func() bool {
		return !slices.ContainsFunc(names, func(name string) bool { return !w.isFollowed(name) })
	})
	return w
}

var noteCall = []step{{"record.append", `{"collection":"calls","values":[1]}`}}

func TestAFamilyIsToldOfWhatIsStoredOnABranchTheMomentItIsMade(t *testing.T) {
	w := open(t, nil).with(onStored("watch"), script{steps: noteCall}).followed("watch")
	for _, branch := range []string{"a", "b", "c"} {
		if _, err := w.space.As(owner("")).Fork(t.Context(), "", branch, memory.AsOf{}, memory.Write{}); err != nil {
			t.Fatal(err)
		}
		item := memory.Item{Key: "k", Value: json.RawMessage(`"on ` + branch + `"`)}
		if _, err := w.space.As(owner("")).Store(t.Context(), memory.Location{Branch: branch}, []memory.Item{item}, memory.Write{}); err != nil {
			t.Fatal(err)
		}
	}
	await.That(t, "it was told of each branch", func() bool { return w.told("watch") == 3 })
}

func TestAFamilyThatHangsWhenItIsToldHoldsUpNoOther(t *testing.T) {
	hangs := onStored("a-hangs")
	hangs.Limits.CPUMS = 60_000
	hangs.Limits.WallMS = 300_000
	w := open(t, nil).with(hangs, script{spins: true}).with(onStored("watch"), script{steps: noteCall}).followed("a-hangs", "watch")
	w.store("k", `"tea"`)
	await.That(t, "the other was told", func() bool { return w.told("watch") == 1 })
	w.store("k", `"more tea"`)
	await.That(t, "the other was told again", func() bool { return w.told("watch") == 2 })
}

func TestWhatIsPublishedWhenAFamilyIsToldIsThere(t *testing.T) {
	w := open(t, nil).with(onStored("maker"), script{steps: []step{{"tools.publish",
		`{"tool":{"name":"maker_made","description":"Made.","input_schema":{"type":"object"}}}`}}}).followed("maker")
	w.store("k", `"tea"`)
	await.That(t, "the tool is there", func() bool { return !strings.Contains(w.says("maker_made"), "there is no tool") })
}

func TestAProposalOfAFamilyThatIsToldIsMadeOnce(t *testing.T) {
	m := onStored("tidy")
	m.Capabilities = without(abi.CanMemoryWrite)
	w := open(t, nil).with(m, script{steps: []step{{"memory.put", `{"items":[{"key":"summary","value":1}]}`}}}).followed("tidy")
	w.store("k", `"tea"`)
	await.That(t, "it is proposed", func() bool { return len(w.proposals("tidy")) > 0 })
	first := w.proposals("tidy")
	if err := w.space.As(owner("")).Delete(t.Context(), memory.Deletion{Branch: first[0], Force: true}, memory.Write{}); err != nil {
		t.Fatal(err)
	}
	w.store("k", `"more tea"`)
	await.That(t, "it is proposed again", func() bool { return len(w.proposals("tidy")) > 0 })
	if second := w.proposals("tidy"); len(first) != 1 || len(second) != 1 || first[0] == second[0] {
		t.Errorf("two stores are proposed on %q, then %q, want one branch each", first, second)
	}
}
