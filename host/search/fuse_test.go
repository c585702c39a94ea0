package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// counting is a Semantic that compares what it is asked among with each row by itself.
type counting struct {
	t     *testing.T
	index *Index
	view  View
	asked int
}

func (*counting) Begin(Documents, Held) {}

func (*counting) Saving()      {}
func (*counting) Saved(string) {}

func (*counting) EmbedDocument(*Doc, DocumentWords) Embedding { return Embedding{} }
func (*counting) Fusion(Query) *Fusion                        { return nil }
func (*counting) Estimate(Query, []uint32) []float64          { return nil }
func (c *counting) Add(uint32, Ref, Embedding)                {}
func (c *counting) Remove(uint32)                             {}
func (c *counting) Fuse(Query, []Candidate)                   {}

func (c *counting) Nearest(_ context.Context, q Query, among Set, _ int) ([]Near, error) {
	c.t.Helper()
	for number := range c.index.table.rows.Len() {
		if want := c.admits(q, number); among.Has(number) != want {
			c.t.Errorf("%+v: that row %d is among them is %v, want %v", q, number, !want, want)
		}
	}
	c.asked += among.Len()
	return nil, nil
}

func (c *counting) admits(q Query, number uint32) bool {
	x := c.index
	x.cacheMu.Lock()
	seen := x.view(c.view.Lineage).rows.has(number)
	x.cacheMu.Unlock()
	if !seen {
		return false
	}
	r := x.table.row(number)
	s, expires := x.table.space(r), x.table.expiresAt(r)
	if !c.view.selects(s.namespace, s.collection) || expires != 0 && expires <= c.view.Now.UnixMicro() {
		return false
	}
	var columns Columns
	test := q.filter().At(c.view.Now)
	x.columns(r, &columns, test)
	return test.Admits(&columns)
}

func TestWhatMeaningIsAskedAmongIsCountedRight(t *testing.T) {
	r, c := rand.New(rand.NewPCG(1, 2)), &counting{t: t}
	x := New(Options{Semantic: c, Tail: 150})
	c.index = x
	at := func(n int) time.Time { return time.Unix(int64(n), 0) }
	for i := range 1200 {
		d := Doc{Branch: store.BranchID(1 + r.IntN(2)), Version: uint64(i + 1), Namespace: fmt.Sprint(r.IntN(2)), Collection: "c", Key: fmt.Sprint(r.IntN(600)), State: Active, Time: at(i), Text: []string{"word"}}
		switch r.IntN(8) {
		case 0:
			d.Deleted = true
		case 1:
			d.Expires = at(300 + r.IntN(400))
		case 2:
			d.State = "archived"
		case 3, 4:
			d.Tags = []string{"odd"}
		}
		x.Apply(d)
		if i%100 == 0 {
			if err := x.Maintain(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if i%150 == 149 {
			x.Trim(1, uint64(i/2), nil)
		}
	}
	for i := range 60 {
		v := View{Lineage: store.Lineage{{Branch: 1, At: store.Latest}, {Branch: 2, At: uint64(400 + r.IntN(200))}}, Now: at(r.IntN(800))}
		q := Query{Text: "word", Vector: []float32{1}}
		if i%3 == 0 {
			v.Namespaces = []string{"1"}
		}
		if i%4 == 0 {
			q.States = []string{"archived"}
		}
		switch i % 5 {
		case 0:
			q.Tags = []string{"odd"}
		case 1:
			q.NoTags = []string{"odd"}
		case 2:
			q.Since = at(r.IntN(500))
		}
		if c.view = v; i%10 == 0 { // which makes the columns that were asked for
			if err := x.Maintain(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := x.Search(t.Context(), v, q); err != nil {
			t.Fatal(err)
		}
	}
	if c.asked < 1000 {
		t.Errorf("only %d documents were asked among", c.asked)
	}
}

func TestTurnsOfAWordAreThoseWithASlot(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	slots := make([]uint32, 150)
	for i := range slots {
		slots[i] = []uint32{none, 0, none - 1, uint32(i)}[r.IntN(4)]
	}
	for row := range uint32(300) {
		want := int(row) < len(slots) && slots[row] != none
		if got := turnsOf(slots, int(row/64))>>(row%64)&1 == 1; got != want {
			t.Errorf("that row %d is a turn is %v, want %v", row, got, want)
		}
	}
}
