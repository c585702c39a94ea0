package bolt

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/alcove-memory/alcove/host/store"
)

func TestWritesAndAppendsAreTogetherInKeyOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var writes, appends []store.Write
	for i := range 200 {
		w := store.Write{Branch: store.BranchID(rng.IntN(3)), Key: store.Key{Namespace: "n", Collection: fmt.Sprint("c", rng.IntN(3)), Name: fmt.Sprint(i, "\x00")}}
		if rng.IntN(3) == 0 {
			appends = append(appends, w)
		} else {
			writes = append(writes, w)
		}
	}
	got := mergeWrites(keyedWrites(writes), keyedWrites(appends))
	want := keyedWrites(slices.Concat(writes, appends))
	if !slices.EqualFunc(got, want, func(a, b keyedWrite) bool { return a.Branch == b.Branch && a.Key == b.Key }) {
		t.Errorf("got %d writes in an order of their own, want the order of one sorted list of %d", len(got), len(want))
	}
}
