package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// counting is a Semantic that counts what it is asked among, in two ways.
type counting struct {
	t     *testing.T
	asked int
}

func (*counting) EmbedDocument(*Doc) Embedding       { return Embedding{} }
func (*counting) Fusion(Query) *Fusion               { return nil }
func (*counting) Estimate(Query, []uint32) []float64 { return nil }
func (c *counting) Add(uint32, Ref, Embedding)       {}
func (c *counting) Remove(uint32)                    {}
func (c *counting) Fuse(Query, []Candidate)          {}

func (c *counting) Nearest(_ context.Context, q Query, among Set, _ int) ([]Near, error) {
	c.t.Helper()
	n := 0
	among.Each(func(number uint32) bool {
		if !among.Has(number) {
			c.t.Errorf("%d is among them and is not", number)
		}
		n++
		return true
	})
	if n != among.Len() {
		c.t.Errorf("%+v: %d are among them, and there are %d", q, n, among.Len())
	}
	c.asked += n
	return nil, nil
}

func TestWhatMeaningIsAskedAmongIsCountedRight(t *testing.T) {
	r, c := rand.New(rand.NewPCG(1, 2)), &counting{t: t}
	x := New(Options{Semantic: c, Tail: 64})
	at := func(n int) time.Time { return time.Unix(int64(n), 0) }
	for i := range 600 {
		d := Doc{Branch: store.BranchID(1 + r.IntN(2)), Version: uint64(i + 1), Namespace: fmt.Sprint(r.IntN(2)), Collection: "c", Key: fmt.Sprint(r.IntN(200)), State: Active, Time: at(i), Text: []string{"word"}}
		switch r.IntN(8) {
		case 0:
			d.Deleted = true
		case 1:
			d.Expires = at(300 + r.IntN(400))
		case 2:
			d.State = "archived"
		}
		x.Apply(d)
		if i%100 == 0 {
			if err := x.Tend(t.Context()); err != nil {
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
		if _, err := x.Search(t.Context(), v, q); err != nil {
			t.Fatal(err)
		}
	}
	if c.asked < 1000 {
		t.Errorf("only %d documents were asked among", c.asked)
	}
}
