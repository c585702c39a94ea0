package workingmemory

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"
)

// Without an embedder the cues in the words of the labelled transitions on which the weights were tuned decide alone.
func TestCuesOfWordsTellMostTransitions(t *testing.T) {
	f, err := os.Open("../../../host/bench/judge/testdata/transitions-dev.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	right, of := [2]int{}, [2]int{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var e struct {
			Before   []string
			Next     string
			Boundary bool
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		i := 0
		if e.Boundary {
			i = 1
		}
		of[i]++
		c := cuesOf(e.Before, e.Next)
		if c.similarity() < evens == e.Boundary {
			right[i]++
		}
	}
	t.Logf("without vectors %d of %d stay, %d of %d shift", right[0], of[0], right[1], of[1])
	if 100*right[0] < 70*of[0] || 100*right[1] < 80*of[1] {
		t.Errorf("got %d of %d that stay and %d of %d that shift, want 70%% and 80%%", right[0], of[0], right[1], of[1])
	}
}
