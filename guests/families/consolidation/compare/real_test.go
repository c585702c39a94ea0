package compare

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"
)

// TestPairsOfRealTexts says what is found in a file of {"text"} lines, for people to judge:
//
//	ALCOVE_TEXTS=docs.jsonl go test -v -run RealTexts ./guests/families/consolidation/compare
func TestPairsOfRealTexts(t *testing.T) {
	path := os.Getenv("ALCOVE_TEXTS")
	if path == "" {
		t.Skip("ALCOVE_TEXTS names no file of texts")
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := New().NewReader()
	var facts []*Fact
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var line struct{ Text string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		facts = append(facts, r.Read(line.Text))
	}
	if len(facts) == 0 {
		t.Fatal("there are no texts")
	}
	counts := map[Relation]int{}
	for _, p := range r.pairs(facts) {
		counts[p.Relation]++
		if p.Relation != Related {
			t.Logf("%v, %.2f\n\t%.300s\n\t%.300s", p.Relation, p.Similarity, facts[p.A].Text(), facts[p.B].Text())
		}
	}
	t.Logf("%d texts: %v", len(facts), counts)
}
