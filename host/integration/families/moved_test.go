//go:build guests

package families_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// kept is a collection with a record under a key of its own in project/a.
type kept struct {
	memory.Collection
	stays bool
}

// everyCollection are those of all families that the program carries.
func everyCollection(t *testing.T) (list []kept) {
	t.Helper()
	staying := []string{"events/subscription", "events/delivery_failure", "governance/seal"}
	for _, f := range server.Families() {
		var m abi.Manifest
		must.Do(t, json.Unmarshal(f.Manifest, &m))
		for _, c := range m.Collections {
			of, err := ops.CollectionOf(&m, c)
			must.Do(t, err)
			of.Indexes = nil // the record is not one of the family's
			list = append(list, kept{of, slices.Contains(staying, of.Name)})
		}
	}
	return list
}

// The records of each family follow the memories of a project to its other name, name each other by it, and come back.
func TestTheRecordsOfEveryFamilyMoveWithAProject(t *testing.T) {
	t.Parallel()
	k := server.Carrying(t, host.Options{})
	k.Put("project/a", "tea", "green")
	everything := k.Host.Memory().As(memory.Caller{Agent: "owner", Rights: memory.FullRights()})
	collections := everyCollection(t)
	if len(collections) < 30 {
		t.Fatalf("got %d collections, want those of all families", len(collections))
	}
	stage, err := everything.Stage(t.Context(), "")
	must.Do(t, err)
	for _, c := range collections {
		must.Do(t, stage.PutRecord(t.Context(), c.Collection, "project/a", "k", json.RawMessage(`{"id":"project/a#tea"}`), nil))
	}
	_, err = stage.Commit(t.Context(), memory.Commit{})
	must.Do(t, err)

	// has compares the records of a namespace; want is empty where there should be none.
	has := func(when, namespace, want string, of func(kept) bool) {
		t.Helper()
		stage, err := everything.Stage(t.Context(), "")
		must.Do(t, err)
		for _, c := range collections {
			if !of(c) {
				continue
			}
			list, err := stage.Records(t.Context(), c.Collection, namespace, []string{"k"})
			must.Do(t, err)
			got := ""
			if list[0] != nil {
				got = string(list[0].Value)
			}
			if got != want {
				t.Errorf("%s, %s in %s: got %q, want %q", when, c.Name, namespace, got, want)
			}
		}
	}
	stays, moves, every := func(c kept) bool { return c.stays }, func(c kept) bool { return !c.stays }, func(kept) bool { return true }

	done, err := operator.Call(t.Context(), k.Acts, operator.MoveMemories, operator.MoveRequest{ID: "m", From: "project/a", To: "project/b"})
	must.Do(t, err)
	if got, want := fmt.Sprint(done.Memories, len(done.Records), len(done.Left)), fmt.Sprint(1, len(collections)-3, 3); got != want {
		t.Errorf("got %s of %+v, want %s", got, done, want)
	}
	has("moved", "project/b", `{"id":"project/b#tea"}`, moves)
	has("moved", "project/a", ``, moves)
	has("moved", "project/a", `{"id":"project/b#tea"}`, stays)

	for n := done.Commits; n > 0; n-- {
		_, err := operator.Call(t.Context(), k.Acts, operator.UndoFamily, operator.UndoRequest{Call: fmt.Sprintf("m.%d", n), Apply: true})
		must.Do(t, err)
	}
	has("undone", "project/a", `{"id":"project/a#tea"}`, every)
	has("undone", "project/b", ``, every)
}

// A link between memories of two projects is one of the merged project, from both of its ends.
func TestLinksBetweenMergedProjectsAreLinksWithin(t *testing.T) {
	t.Parallel()
	k := server.Carrying(t, host.Options{})
	k.Put("project/a", "tea", "green")
	k.Put("project/b", "cup", "white")
	c, err := k.Connect(owner.Hello{Namespace: "project/a"})
	must.Do(t, err)
	server.Answered[any](t, c, "memory_link", map[string]any{"source_id": "tea", "target_id": "project/b#cup", "relation": "part_of"})
	_, err = operator.Call(t.Context(), k.Acts, operator.MoveMemories, operator.MoveRequest{ID: "m", From: "project/a", To: "project/b"})
	must.Do(t, err)

	type links struct {
		Links []struct {
			Source   string `json:"source_id"`
			Target   string `json:"target_id"`
			Relation string
		}
	}
	for _, id := range []string{"project/b#tea", "project/b#cup"} {
		list := server.Answered[links](t, c, "memory_get_links", map[string]any{"id": id})
		if got, want := fmt.Sprint(list.Links), "[{project/b#tea project/b#cup part_of}]"; got != want {
			t.Errorf("links of %s: got %s, want %s", id, got, want)
		}
	}
	server.Answered[any](t, c, "memory_end_link", map[string]any{"source_id": "project/b#tea", "target_id": "project/b#cup", "relation": "part_of"})
}
