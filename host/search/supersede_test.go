package search

import (
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// replacing is a document that replaces others.
func replacing(version uint64, key string, old ...string) Doc {
	d := Doc{Branch: 1, Version: version, Key: key, Text: []string{"tea"}, State: Active}
	for _, k := range old {
		d.Fields = append(d.Fields, Field{Name: FieldSupersedes, Value: DigestOf([]byte(k))})
	}
	return d
}

// markOf is who supersedes a key at a version.
func markOf(x *Index, key string, at uint64) string {
	hits := []Hit{{Key: key}}
	x.MarkSuperseded(View{Lineage: store.Lineage{{Branch: 1, At: at}}, Now: time.Unix(9, 0)}, hits)
	return hits[0].SupersededBy
}

func TestWhoSupersedesWhomSurvivesARestartAndEndsWithTheVersion(t *testing.T) {
	x, s := New(Options{Tail: 1}), &shelf{blobs: map[string][]byte{}}
	x.Apply(replacing(1, "old"), replacing(2, "new", "old"), replacing(3, "newer", "old"))
	tend(t, x)
	if err := x.Save(t.Context(), s, 3); err != nil {
		t.Fatal(err)
	}
	y := New(Options{})
	if _, err := y.Load(t.Context(), s, silent()); err != nil {
		t.Fatal(err)
	}
	for i, x := range []*Index{x, y} {
		for at, want := range map[uint64]string{1: "", 2: "new", 3: "newer", store.Latest: "newer"} {
			if got := markOf(x, "old", at); got != want {
				t.Errorf("index %d, version %d: old is superseded by %q, want %q", i, at, got, want)
			}
		}
		if got := markOf(x, "new", store.Latest); got != "" || !x.Supersedes() {
			t.Errorf("index %d: new is superseded by %q, want none, and Supersedes %v, want true", i, got, x.Supersedes())
		}
		x.Apply(replacing(4, "newer"))
		if got := markOf(x, "old", store.Latest); got != "new" {
			t.Errorf("index %d: after newer supersedes nothing old is superseded by %q, want new", i, got)
		}
		x.Drop(1)
		if x.Supersedes() || len(x.table.superseding) > 0 {
			t.Errorf("index %d: after the branch was dropped %d keys are superseded, want none", i, len(x.table.superseding))
		}
	}
}
