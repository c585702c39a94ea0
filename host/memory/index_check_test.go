package memory

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory/query"
	"github.com/alcove-memory/alcove/host/store"
)

// loseEntries deletes what an index has on the first branch, as no write would.
func loseEntries(t *testing.T, s *Space, collection string, fields query.Index) {
	t.Helper()
	id := s.indexes.Covering(collection, fields, s.catalogue.Named(Default).Lineage)[0].Branch
	var batch store.Batch
	for e, err := range store.Entries(t.Context(), s.engine.ScanAt, store.Lineage{{Branch: id, At: store.Latest}}, store.Range{}, 100) {
		if err != nil {
			t.Fatal(err)
		}
		batch.Writes = append(batch.Writes, store.Write{Branch: id, Key: e.Key, Delete: true})
	}
	if len(batch.Writes) == 0 {
		t.Fatal("the index is empty: the test shows nothing")
	}
	if _, err := s.engine.Commit(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
}

func TestIndexesOfRecordsAndLinksThatLackEntriesAreFoundAndRebuilt(t *testing.T) {
	s, _ := openSpace(t, t.TempDir(), time.Now)
	c := tasksCollection()
	s.DeclareIndexes(c)
	if err := s.indexes.KeepLinks(t.Context()); err != nil {
		t.Fatal(err)
	}
	st := stage(t, s, "")
	keepIn(t, st, c, "a", `{"owner":"ann","rank":1}`)
	keepIn(t, st, c, "b", `{"owner":"bob"}`)
	if _, err := st.Put(t.Context(), "", []Item{{Key: "tea", Value: json.RawMessage(`1`), Links: []string{"cup"}}, {Key: "cup", Value: json.RawMessage(`2`)}}); err != nil {
		t.Fatal(err)
	}
	stageCommit(t, st, Commit{})
	fork(t, s, "", "try")
	st = stage(t, s, "try")
	if _, err := st.DeleteRecords(t.Context(), c, "", []string{"b"}); err != nil {
		t.Fatal(err)
	}
	stageCommit(t, st, Commit{})
	settled(t, s)
	verified := func() (whats []string) {
		t.Helper()
		report, err := s.Verify(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range report.Findings {
			whats = append(whats, f.What)
		}
		return whats
	}
	if found := verified(); len(found) != 0 {
		t.Fatalf("before anything was lost: %q", found)
	}
	loseEntries(t, s, c.Name, c.Indexes[0])
	loseEntries(t, s, memories, nil)
	if got := queried(t, stage(t, s, ""), c, byOwner("bob")); got != "" {
		t.Fatalf("the index still finds %q: the test shows nothing", got)
	}
	if found := strings.Join(verified(), "\n"); !strings.Contains(found, "the indexes of fam/tasks lack 2 entries") || !strings.Contains(found, "the indexes of memory lack 1 entries") {
		t.Errorf("it found %s", found)
	}
	settled(t, s)
	if found := verified(); len(found) != 0 {
		t.Errorf("after the rebuild: %q", found)
	}
	if got := queried(t, stage(t, s, ""), c, byOwner("bob")) + queried(t, stage(t, s, "try"), c, byOwner("ann")); got != "ba" {
		t.Errorf("the rebuilt index finds %q", got)
	}
}
