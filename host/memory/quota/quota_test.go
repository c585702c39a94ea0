package quota

import (
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// A commit is visible in the store before the space counts it.
func TestACommitThatACountHasSeenIsNotCountedAgain(t *testing.T) {
	u, one := New(), Tally{Use: Use{1, 20}}
	change := Change{Owner: "notes", Branch: 1, New: one}
	err := u.Recount(func(add func(string, store.BranchID, Tally)) (uint64, error) {
		add("notes", 1, one)
		return 7, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	u.Count(7, []Change{change})
	if use, err := u.UseOf(t.Context(), "notes", time.Now()); err != nil || use != (Use{1, 20}) {
		t.Errorf("a commit that the count has seen makes it %+v, %v", use, err)
	}
	u.Count(8, []Change{change})
	if use, err := u.UseOf(t.Context(), "notes", time.Now()); err != nil || use != (Use{2, 40}) {
		t.Errorf("a later commit makes it %+v, %v", use, err)
	}
}
