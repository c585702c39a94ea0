package search

import (
	"fmt"
	"log/slog"
	"testing"
	"time"
)

// TestMissingFindsEveryOtherText changes a part of the content of one document in turn, also of one that is not analysed again, in a tail,
// in sealed and merged parts, and in those that were loaded.
func TestMissingFindsEveryOtherText(t *testing.T) {
	docs := make([]Doc, 3*analysedEach)
	for i := range docs {
		docs[i] = Doc{Branch: 1, Version: uint64(i + 1), Namespace: "n", Collection: "c", Key: fmt.Sprint("k", i), State: Active, Time: time.Unix(int64(i), 0),
			Text: []string{fmt.Sprint("passage ", i), "and one more word"}, Tags: []string{"tea"}}
		if i%2 == 1 {
			docs[i].Turn = &Turn{Session: "s", Position: int64(i), Speaker: "Ann", Caption: "a dog"}
		}
	}
	x := New(Options{Tail: 20})
	check := func(when string) {
		t.Helper()
		if n := x.Missing(docs...); n != 0 {
			t.Errorf("%s %d documents are missing, want none", when, n)
		}
		for i := range docs {
			changed := append([]Doc(nil), docs...)
			switch d := &changed[i]; {
			case d.Turn != nil:
				turn := *d.Turn
				turn.Caption, d.Turn = "a cat", &turn
			case i%4 == 0:
				d.Text = []string{fmt.Sprint("passage ", i), "and one more work"}
			default:
				d.Text = []string{fmt.Sprint("passage ", i, " and one more word")}
			}
			if n := x.Missing(changed...); n != 1 {
				t.Errorf("%s %d documents are missing, want number %d, which is another", when, n, i)
			}
		}
	}
	for from := 0; from < len(docs); from += 16 {
		x.Apply(docs[from : from+16]...)
		if err := x.Maintain(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	check("after writing")
	blobs := &shelf{blobs: map[string][]byte{}}
	if err := x.SaveAll(t.Context(), blobs, uint64(len(docs))); err != nil {
		t.Fatal(err)
	}
	check("after saving")
	x = New(Options{Tail: 20})
	c, err := x.Load(t.Context(), blobs, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range docs {
		if d.Version > c.Of(1) {
			x.Apply(d)
		}
	}
	check("after loading")
}
