package wordvec

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/search"
)

// compared is a Semantic that compares the vector of a document's words with that of its text.
type compared struct {
	t        *testing.T
	table    *Table
	compared int
	other    int // documents of another analysis
}

func (*compared) Begin(search.Documents, search.Held) {}

func (*compared) Saving()      {}
func (*compared) Saved(string) {}

func (c *compared) EmbedDocument(d *search.Doc, w search.DocumentWords) search.Embedding {
	parts := slices.Clone(d.Text)
	if d.Turn != nil {
		parts = append(append([]string{d.Turn.Speaker + ":"}, parts...), d.Turn.Caption)
	}
	got, ok := c.table.OfWords(w)
	if !ok {
		c.other++
		return search.Embedding{}
	}
	c.compared++
	if want := c.table.Vector(strings.Join(parts, "\n")); !slices.Equal(got, want) {
		c.t.Errorf("the vector of the words of %.60q is %.40v, want %.40v", parts, got, want)
	}
	return search.Embedding{}
}

func (*compared) Add(uint32, search.Ref, search.Embedding)  {}
func (*compared) Remove(uint32)                             {}
func (*compared) Estimate(search.Query, []uint32) []float64 { return nil }
func (*compared) Fusion(search.Query) *search.Fusion        { return nil }
func (*compared) Fuse(search.Query, []search.Candidate)     {}
func (*compared) Nearest(context.Context, search.Query, search.Set, int) ([]search.Near, error) {
	return nil, nil
}

func TestTheVectorOfWordsIsThatOfTheirText(t *testing.T) {
	table, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	c := &compared{t: t, table: table}
	x := search.New(search.Options{Semantic: c, Languages: map[string]string{"german": "german"}})
	texts := [][]string{
		{"we deploy on tuesdays, and never on fridays"}, {"the tea", "don't drink it: it's Anna's", ""}, {""}, nil, {"  \n "},
		{"café naïve coöperate", "plain words follow"}, {"plain words", "北京大学 and 東京", "user_name@example.com is 42.5"}, {"qzxv blorp fnord", "zzyzx"},
		{strings.Repeat("word after word ", 2000)}, {"a\xffb broken \xf0 text"}, {"when", "who", "why’s that"},
	}
	for i, text := range texts {
		for _, collection := range []string{"memory", "german"} {
			d := search.Doc{Branch: 1, Version: uint64(i + 1), Namespace: "n", Collection: collection, Key: "tea garden", Text: text, Tags: []string{"green", "tea"}, State: search.Active}
			x.Apply(d)
			d.Key, d.Turn = "turn", &search.Turn{Session: "s", Position: int64(i), Speaker: "Anna Lee", Caption: "a picture of a dog"}
			x.Apply(d)
		}
	}
	if c.compared != 2*len(texts) || c.other != 2*len(texts) {
		t.Errorf("%d documents were compared, and %d of another language, want %d of each", c.compared, c.other, 2*len(texts))
	}
}
