package search

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/testing/await"
)

// TestAnIndexIsUsedByManyAtOnce applies, searches, lists, tends, saves, trims, replaces and drops at once. What is left is as if it
// had been done one after the other.
func TestAnIndexIsUsedByManyAtOnce(t *testing.T) {
	x := New(Options{Tail: 20, Views: 4})
	ctx, stop := context.WithDeadline(t.Context(), await.Deadline())
	defer stop()
	done := make(chan struct{})
	var writers, others sync.WaitGroup
	const branches, each = 4, 150
	for w := range branches {
		writers.Go(func() {
			for i := range each {
				d := Doc{Branch: store.BranchID(w + 1), Version: uint64(i + 1), Key: fmt.Sprint(i % 100), Text: []string{fmt.Sprintf("tea own%d", i%100)}, State: Active}
				if i%5 == 0 {
					d.Turn = &Turn{Session: "s", Position: int64(i % 100), Speaker: "Anna"}
				}
				x.Apply(d)
				if i%50 == 49 {
					x.Trim(store.BranchID(w+1), uint64(i-20), nil)
				}
			}
			x.Drop(store.BranchID(w + 100))
		})
	}
	again := func(do func(i int) error) {
		others.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				if err := do(i); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 4 {
		again(func(i int) error {
			l := store.Lineage{{Branch: store.BranchID(1 + i%branches), At: store.Latest}, {Branch: 9, At: 5}}
			_, err := x.Search(ctx, View{Lineage: l, Now: time.UnixMicro(1)}, Query{Text: "tea own* anna", K: 5, Explain: i%7 == 0})
			return err
		})
	}
	for range 2 {
		again(func(i int) error {
			v := View{Lineage: store.Lineage{{Branch: store.BranchID(1 + i%branches), At: store.Latest}, {Branch: 9, At: 5}}, Collections: []string{""}}
			f := []Filter{{}, {States: []string{Active}}, {AnyTags: []string{"none"}}, {Updated: Span{Until: time.UnixMicro(1)}}}[i%4]
			last := ""
			return x.Select(ctx, v, f, Ordering{By: ByName, Most: 1 + i%9}, func(c *Columns) bool {
				if c.InOrder && c.Key <= last {
					t.Errorf("%s comes behind %s", c.Key, last)
				}
				last = c.Key
				return true
			})
		})
	}
	s := &shelf{blobs: map[string][]byte{}}
	again(func(int) error { return x.Maintain(ctx) })
	again(func(i int) error {
		x.Replace(Doc{Branch: 9, Version: 1, Key: fmt.Sprint(i), Text: []string{"tea"}, State: Active})
		if i%3 == 2 {
			x.Drop(9)
		}
		if i%2 == 0 {
			return x.SaveAll(ctx, s, 0)
		}
		return x.Save(ctx, s, 0)
	})
	writers.Wait()
	close(done)
	others.Wait()
	x.Drop(9)
	for w := range branches {
		r, err := x.Search(ctx, View{Lineage: store.Lineage{{Branch: store.BranchID(w + 1), At: store.Latest}}}, Query{Text: "tea", Plain: true, K: 200})
		if err != nil || r.Total != 100 {
			t.Errorf("branch %d has %d documents, not 100: %v", w+1, r.Total, err)
		}
	}
	if rows := x.table.held(); rows > branches*each {
		t.Errorf("%d rows are held", rows)
	}
}
