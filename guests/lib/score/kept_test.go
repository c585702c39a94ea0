package score

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// testdata/kept.py steps through random lives of memories in exact fractions.
func TestHealthIsThatOfTheOracle(t *testing.T) {
	data, err := os.ReadFile("testdata/kept.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Gain, Decay, Grace float64
		Exempt             bool
		Events             []struct {
			Day    float64
			Recall bool
		}
		Want []float64
	}
	if err := json.Unmarshal(data, &cases); err != nil || len(cases) < 300 {
		t.Fatalf("%d cases: %v", len(cases), err)
	}
	for n, c := range cases {
		health, last := 0.0, 0.0
		for i, e := range c.Events {
			k := Kept{Health: health, IdleDays: e.Day - last, Decay: c.Decay, GraceDays: c.Grace, Exempt: c.Exempt}
			if got := k.Score(); math.Abs(got-c.Want[i]) > 1e-9 {
				t.Fatalf("case %d, event %d: %g, want %g", n, i, got, c.Want[i])
			}
			if e.Recall {
				health, last = health+k.Recalled(c.Gain), e.Day
			}
			if health > 0 || health < -1-1e-12 {
				t.Fatalf("case %d, event %d: a counter of %g", n, i, health)
			}
		}
	}
}
