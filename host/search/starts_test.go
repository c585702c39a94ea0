package search

import (
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// TestAnIndexIsTheSameAfterManyStarts saves and loads an index again and again between writes, removals and merges, and compares it with one
// that was never saved.
func TestAnIndexIsTheSameAfterManyStarts(t *testing.T) {
	for seed := range int64(40) {
		rng := rand.New(rand.NewSource(seed))
		s := &shelf{blobs: map[string][]byte{}}
		var docs []Doc
		x, steps := New(Options{Tail: 1 + rng.Intn(20)}), ""
		version, branches := uint64(0), []store.BranchID{1, 2, 3}
		for step := range 60 {
			switch n := rng.Intn(12); {
			case n < 5:
				for range 1 + rng.Intn(25) {
					version++
					d := Doc{Branch: branches[rng.Intn(len(branches))], Version: version, Namespace: []string{"a", "b"}[rng.Intn(2)], Key: fmt.Sprint("k", rng.Intn(40)),
						Text: []string{text(rng)}, State: []string{Active, Active, "archived"}[rng.Intn(3)], Deleted: rng.Intn(6) == 0}
					if rng.Intn(4) == 0 {
						d.Tags = []string{fmt.Sprint("tag", rng.Intn(50))}
					}
					if rng.Intn(4) == 0 {
						d.Expires = time.UnixMicro(int64(50 + rng.Intn(100)))
					}
					if rng.Intn(3) == 0 && !d.Deleted {
						d.Turn = &Turn{Session: fmt.Sprint("s", rng.Intn(4)), Position: rng.Int63n(20), Speaker: []string{"anna", "bert"}[rng.Intn(2)]}
					}
					docs = append(docs, d)
					x.Apply(d)
				}
				steps += fmt.Sprint(" apply to ", version)
			case n == 5:
				tend(t, x)
				steps += " tend"
			case n == 6 && len(branches) > 1:
				i := 1 + rng.Intn(len(branches)-1)
				gone := branches[i]
				branches[i] += 10
				x.Drop(gone)
				docs = slices.DeleteFunc(docs, func(d Doc) bool { return d.Branch == gone })
				steps += fmt.Sprint(" drop ", gone)
			case n == 7 && len(docs) > 0:
				i := rng.Intn(len(docs))
				if docs[i].Deleted {
					break
				}
				docs[i].Text, docs[i].Tags = []string{text(rng)}, nil
				x.Replace(docs[i])
				steps += fmt.Sprint(" replace ", docs[i].Version)
			default:
				save := x.Save
				if rng.Intn(2) == 0 {
					save = x.SaveAll
				}
				if s.fails = rng.Intn(12); rng.Intn(2) == 0 {
					s.fails = 0
				}
				err := save(t.Context(), s, version)
				if err != nil && !errors.Is(err, errShelf) {
					t.Fatal(err)
				}
				s.fails = 0
				steps += fmt.Sprint(" save ", err)
				if rng.Intn(2) == 0 {
					break
				}
				y := New(Options{Tail: 1 + rng.Intn(20)})
				covered, err := y.Load(t.Context(), s, silent())
				if err != nil {
					t.Fatal(err)
				}
				for _, id := range covered.Branches() {
					if !slices.Contains(branches, id) {
						y.Drop(id)
					}
				}
				for _, d := range docs {
					if d.Version > covered.Of(d.Branch) {
						y.Apply(d)
					} else if y.Missing(d) > 0 {
						y.Replace(d) // it was replaced since
					}
				}
				x = y
				steps += fmt.Sprint(" load ", covered)
			}
			if err := x.check(); err != nil {
				t.Fatalf("seed %d, step %d: %v:%s", seed, step, err, steps)
			}
		}
		fresh := New(Options{})
		fresh.Apply(docs...)
		for _, l := range []store.Lineage{{{Branch: branches[0], At: store.Latest}}, {{Branch: branches[2], At: store.Latest}, {Branch: branches[1], At: version / 2}, {Branch: branches[0], At: version / 3}}} {
			for range 5 {
				v, q := View{Lineage: l, Now: time.UnixMicro(100)}, Query{Text: text(rng), K: 100}
				got, err := x.Search(t.Context(), v, q)
				want, failed := fresh.Search(t.Context(), v, q)
				if err = errors.Join(err, failed); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
					t.Fatalf("seed %d: found\n%v\nnot\n%v\n%v:%s", seed, got, want, err, steps)
				}
			}
		}
	}
}

// check compares what the index knows of its rows.
func (x *Index) check() error {
	t := x.table
	count := map[store.BranchID]statistics{}
	for number := range t.rows.Len() {
		r := t.row(number)
		if r.name == none {
			continue
		}
		at := t.placeOf(number)
		p := x.parts[at.part]
		if p == nil {
			return fmt.Errorf("row %d is in part %d, which is not there", number, at.part)
		}
		if rows := p.rows; !r.gone && (int(at.local) >= len(rows) || rows[at.local] != number) || r.gone && (int(at.local) >= len(p.ghosts) || p.ghosts[at.local] != number) {
			return fmt.Errorf("row %d is not at %d of part %d", number, at.local, at.part)
		}
		if r.previous != none && t.row(r.previous).name != r.name {
			return fmt.Errorf("row %d has the previous row %d of another document", number, r.previous)
		}
		n := t.nameAt(r.name)
		if id := t.nameOf(n); id != r.name {
			return fmt.Errorf("the name %v of row %d has number %d, not %d", n, number, id, r.name)
		}
		if found := t.at(r.branch, r.name, r.version); found != number {
			return fmt.Errorf("row %d is found as %d", number, found)
		}
		live := r.until == store.Latest && !r.gone
		if live != t.live.has(number) {
			return fmt.Errorf("row %d is live: %v", number, !live)
		}
		if _, ok := count[r.branch]; !ok {
			count[r.branch] = newStatistics()
		}
		if live {
			count[r.branch].count(t, number, 1)
		}
	}
	for id, b := range x.branches {
		for facet, s := range b.newestOnes.sums {
			if s != count[id].sums[facet] {
				return fmt.Errorf("branch %d has %v of facet %d, not %v", id, s, facet, count[id].sums[facet])
			}
		}
		for facet, s := range count[id].sums {
			if s != b.newestOnes.sums[facet] {
				return fmt.Errorf("branch %d has %v of facet %d, not %v", id, b.newestOnes.sums[facet], facet, s)
			}
		}
		for _, p := range b.parts {
			for _, number := range append(slices.Clone(p.rows), p.ghosts...) {
				if number != none && (t.row(number).name == none || t.row(number).branch != id) {
					return fmt.Errorf("part %d of branch %d has row %d, which is %+v", p.id, id, number, *t.row(number))
				}
			}
		}
	}
	return nil
}
