package bolt_test

import (
	"fmt"
	"testing"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

func TestAnOverlayHasEveryKeyWhereverItsTransactionsEnd(t *testing.T) {
	for _, chunk := range []int{1, 2, 7, 30, 60, 1000} {
		t.Run(fmt.Sprint(chunk), func(t *testing.T) {
			t.Parallel()
			s := &stage{t: t, dir: t.TempDir()}
			e := s.open(s.dir, bolt.WithChunk(bolt.Options{NoSync: true}, chunk))
			defer e.Close()
			var root store.Batch
			for i := range 60 {
				root.Writes = append(root.Writes, store.Write{Branch: 1, Key: stageKey(fmt.Sprintf("k%02d", i)), Value: fmt.Append(nil, "root", i)})
			}
			lineage := store.Lineage{{Branch: 1, At: store.Latest}}.At(s.commit(e, root))
			for i := range 20 {
				lineage = lineage.At(s.head(e)).Fork(store.BranchID(2 + i))
				s.commit(e, store.Batch{Writes: []store.Write{{Branch: lineage[0].Branch, Key: stageKey(fmt.Sprintf("k%02d", 3*i)), Value: fmt.Append(nil, "fork", i)}}})
			}
			before := s.list(e, lineage)
			s.ok(e.Consolidate(t.Context(), lineage))
			if after := s.list(e, lineage); after != before {
				t.Errorf("before:\n%s\nafterwards:\n%s", before, after)
			}
			for i := range 60 {
				want := fmt.Sprint("root", i)
				if i%3 == 0 {
					want = fmt.Sprint("fork", i/3)
				}
				if got := s.get(e, lineage, fmt.Sprintf("k%02d", i)); got != want {
					t.Errorf("k%02d is %q, not %q", i, got, want)
				}
			}
		})
	}
}
