package workingmemory

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// transition is a talk and what comes next.
type transition struct {
	Before   []string
	Next     string
	Boundary bool
}

// Without an embedder the cues in the words of the labelled transitions on which the weights were tuned decide alone. Talk that goes on
// without a common word cannot be told from another topic then.
func TestCuesOfWordsTellMostTransitions(t *testing.T) {
	for _, c := range []struct {
		name           string
		list           []transition
		stays, shifted int // least percent
	}{
		{"labelled", readJSON(t, "../../../host/bench/judge/testdata/transitions-dev.jsonl"), 70, 80},
		{"of short talk", readJSON(t, "../../../host/bench/judge/testdata/transitions-train.jsonl"), 65, 65},
		{"no common word", append(readTalk(t, "testdata/stays.txt", false), readTalk(t, "testdata/shifts.txt", true)...), 40, 80},
	} {
		right, of := [2]int{}, [2]int{}
		for _, e := range c.list {
			i := 0
			if e.Boundary {
				i = 1
			}
			of[i]++
			found := cuesOf(e.Before, e.Next)
			if found.similarity() < evens == e.Boundary {
				right[i]++
			}
		}
		t.Logf("%s: without vectors %d of %d stay, %d of %d shift", c.name, right[0], of[0], right[1], of[1])
		if 100*right[0] < c.stays*of[0] || 100*right[1] < c.shifted*of[1] {
			t.Errorf("%s: got %d of %d that stay and %d of %d that shift, want %d%% and %d%%", c.name, right[0], of[0], right[1], of[1], c.stays, c.shifted)
		}
	}
}

func readJSON(t *testing.T, name string) (list []transition) {
	for _, line := range readLines(t, name) {
		var e transition
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}

// readTalk reads lines of the form "one text | another > the next".
func readTalk(t *testing.T, name string, boundary bool) (list []transition) {
	for _, line := range readLines(t, name) {
		before, next, _ := strings.Cut(line, " > ")
		list = append(list, transition{strings.Split(before, " | "), next, boundary})
	}
	return list
}

func readLines(t *testing.T, name string) (lines []string) {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		lines = append(lines, s.Text())
	}
	return lines
}
