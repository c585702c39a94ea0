package kind

import (
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/guests/lib/words"
)

func TestATypeShowsInFormAndWords(t *testing.T) {
	teller := New()
	for text, want := range map[string]string{
		"Worker lease raised to 90 seconds.":                  "decision",
		"We drop GraphQL for the public API.":                 "decision",
		"Load test: 1,000 rps held with no errors.":           "observation",
		"This trilogy is one of my faves.":                    "observation",
		"Nature has a way of being so inspiring!":             "observation",
		"Never push to main.":                                 "steering_rule",
		"The worker crashed with a nil pointer.":              "error",
		"Tomorrow I will write the migration.":                "plan",
		"Correction: the port is 8081, not 8080.":             "correction",
		"Lesson learned: always test the restore.":            "learning",
		"The root cause is a race in the cache.":              "insight",
		"Today we fixed two bugs and deployed the new build.": "session_summary",
	} {
		if got := teller.Tell(text, words.Split(text)); got.Kind != want {
			t.Errorf("%q: got %s, want %s", text, got.Kind, want)
		}
	}
	if got := teller.Tell("", nil); got.Kind != "" {
		t.Errorf("no words: got %s, want no type", got.Kind)
	}
}

func TestATableIsReadAsItWasWritten(t *testing.T) {
	rows := []Row{{Sign: 3, Weights: [types]int8{1, -2}}, {Sign: 70000, Weights: [types]int8{8: 127}}}
	read := readTable(string(WriteTable(1000, rows)))
	var sums [types]int32
	for _, sign := range []uint32{3, 4, 70000, 1 << 31} {
		read.add(sign, &sums)
	}
	if want := [types]int32{0: 1, 1: -2, 8: 127}; sums != want || read.unit != .001 {
		t.Errorf("the sums are %v and the unit %v, want %v and .001", sums, read.unit, want)
	}
	for _, data := range []string{"", "abc", "abcd", strings.Repeat("x", 10)} {
		damaged := readTable(data)
		damaged.add(1, &sums)
	}
}
