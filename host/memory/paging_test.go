package memory

import (
	"encoding/json"
	"fmt"
	"testing"
)

// TestAPageThatEndsAtTheEndHasNoNext lists collections of sizes around that of a page, which are stored, staged or both.
func TestAPageThatEndsAtTheEndHasNoNext(t *testing.T) {
	const limit = 3
	notes := Collection{Name: "notes/list"}
	for size := 0; size <= limit+1; size++ {
		for staged := 0; staged <= size; staged++ {
			t.Run(fmt.Sprintf("%d, of which %d are staged", size, staged), func(t *testing.T) {
				s := testSpace(t)
				st := stage(t, s, "")
				for i := range size {
					if i == size-staged {
						stageCommit(t, st, Commit{})
						st = stage(t, s, "")
					}
					key := fmt.Sprint((i * 2) % 5) // staged ones lie between stored ones
					stagePut(t, st, key, "v")
					if err := st.PutRecord(t.Context(), notes, "", key, json.RawMessage(`1`), nil); err != nil {
						t.Fatal(err)
					}
				}
				list, next, err := st.List(t.Context(), "", "", "", limit)
				records, after, errRecords := st.ListRecords(t.Context(), notes, "", "", "", limit)
				if err != nil || errRecords != nil {
					t.Fatalf("List: %v, ListRecords: %v", err, errRecords)
				}
				more := size > limit
				if len(list) != min(size, limit) || len(records) != len(list) || (next != "") != more || (after != "") != more {
					t.Errorf("%d memories, next %q; %d records, next %q", len(list), next, len(records), after)
				}
				if more && (next != list[limit-1].Key || after != records[limit-1].Key) {
					t.Errorf("next are %q and %q", next, after)
				}
				if keys := stageKeys(t, st, limit); len(keys) != size {
					t.Errorf("all pages have %q", keys)
				}
			})
		}
	}
}

func TestAPageOfThePastThatEndsAtTheEndHasNoNext(t *testing.T) {
	const limit = 3
	s := testSpace(t)
	a := s.owner("")
	for size := range limit + 2 {
		if size > 0 {
			put(t, s, "", fmt.Sprint("k", size), "v")
		}
		head, err := s.engine.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		put(t, s, "", fmt.Sprint("later", size), "v")
		list, next, err := a.List(t.Context(), Location{}, "k", "", AsOf{Version: head.Version}, limit)
		if err != nil || len(list) != min(size, limit) || (next != "") != (size > limit) {
			t.Errorf("of %d memories a page has %d, next %q (%v)", size, len(list), next, err)
		}
	}
}

// What a page does not show is no condition of the commit.
func TestAListExpectsOnlyWhatItGave(t *testing.T) {
	s := testSpace(t)
	for _, key := range []string{"a", "b", "c"} {
		put(t, s, "", key, "v")
	}
	st := stage(t, s, "")
	if _, next, err := st.List(t.Context(), "", "", "", 2); err != nil || next != "b" {
		t.Fatalf("the next page begins at %q, %v, want b", next, err)
	}
	put(t, s, "", "c", "changed")
	stagePut(t, st, "d", "v")
	if _, err := st.Commit(t.Context(), Commit{}); err != nil {
		t.Errorf("a change behind the page is a conflict: %v", err)
	}
	st = stage(t, s, "")
	if _, _, err := st.List(t.Context(), "", "", "", 2); err != nil {
		t.Fatal(err)
	}
	put(t, s, "", "b", "changed")
	stagePut(t, st, "e", "v")
	if _, err := st.Commit(t.Context(), Commit{}); err == nil {
		t.Error("a change in the page is no conflict")
	}
}
