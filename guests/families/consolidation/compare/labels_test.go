package compare

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"github.com/alcove-memory/alcove/host/search/wordvec"
	"github.com/alcove-memory/alcove/host/testing/must"
)

// labelled are two texts of which a person has said whether they say the same, or contradict each other.
type labelled struct {
	A, B        string
	Same        bool
	Contradicts bool
	Kind        string
}

func readLabels(t *testing.T, name string) (list []labelled) {
	t.Helper()
	file, err := os.Open("../../../../host/bench/judge/testdata/" + name + "-dev.jsonl")
	must.Do(t, err)
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var l labelled
		must.Do(t, json.Unmarshal(lines.Bytes(), &l))
		list = append(list, l)
	}
	return list
}

// byMeaning compares two texts with the built-in word vectors.
func byMeaning(table *wordvec.Table, c *Comparer, a, b string) Verdict {
	r := c.NewReader()
	means := Vectors{a: table.Vector(a), b: table.Vector(b)}
	for _, w := range append(r.Words(r.Read(a)), r.Words(r.Read(b))...) {
		means[w] = table.Vector(w)
	}
	return c.CompareBy(means, a, b)
}

// The labels of this half are tuned on: what the other half gives, make judge tells.
func TestWhatPeopleLabelledIsJudgedAlike(t *testing.T) {
	table, err := wordvec.Open()
	must.Do(t, err)
	c := New()
	for _, set := range []struct {
		name              string
		is                func(Relation) bool
		want              func(labelled) bool
		recall, precision float64
	}{
		{"duplicates", Relation.Duplicate, func(l labelled) bool { return l.Same }, .55, .97},
		{"contradictions", Relation.Contradiction, func(l labelled) bool { return l.Contradicts }, .55, .97},
	} {
		var m measured
		for _, l := range readLabels(t, set.name) {
			v := byMeaning(table, c, l.A, l.B)
			found, want := set.is(v.Relation), set.want(l)
			if want {
				m.planted++
			}
			if found {
				m.found++
				if want {
					m.right++
				}
			}
			if found != want {
				t.Logf("%s, %s: %v %q %q\n\t%s\n\t%s", set.name, l.Kind, v.Relation, v.A, v.B, l.A, l.B)
			}
		}
		t.Logf("%s: recall %.2f, precision %.3f", set.name, m.recall(), m.precision())
		if m.recall() < set.recall || m.precision() < set.precision {
			t.Errorf("%s: recall %.2f and precision %.3f, want %.2f and %.2f at least", set.name, m.recall(), m.precision(), set.recall, set.precision)
		}
	}
}
