package lifecycle

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

// expected is what testdata/oracle.py says becomes of random memories.
type expected struct {
	Memories, Days int
	Seed           uint64
	Steps          []struct {
		Day, There int
		Archived   []int
	}
}

// draw is splitmix64, as the oracle has it.
type draw struct{ state uint64 }

func (d *draw) below(n int) int {
	d.state += 0x9E3779B97F4A7C15
	z := d.state
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
	z = (z ^ (z >> 27)) * 0x94D049BB133111EB
	return int((z ^ (z >> 31)) % uint64(n))
}

// drawn is a random memory.
type drawn struct {
	alcove.Memory
	day   int
	reads []int
	turn  bool
	pin   bool
	tier  string
}

func key(n int) string { return fmt.Sprintf("m%04d", n) }

func memories(e expected) []drawn {
	d, list := &draw{e.Seed}, make([]drawn, e.Memories)
	types := []string{"decision", "error", "insight", "correction", "steering_rule", "learning", "session_summary", "plan", "observation", "note", "recipe"}
	for n := range list {
		m := &list[n]
		m.Key, m.Value, m.Metadata = key(n), alcove.JSON(n), alcove.Metadata{}
		m.Type, m.day = types[d.below(len(types))], 5*d.below(e.Days/5)
		if d.below(3) > 0 {
			m.Importance = new(float64(d.below(11)) / 20)
		}
		if m.pin = d.below(10) == 0; m.pin {
			m.Metadata["pinned"] = alcove.Raw("true")
		}
		if m.turn = d.below(20) == 0; m.turn {
			m.Metadata["session"] = alcove.Raw(`"s1"`)
		}
		if d.below(3) == 0 {
			m.Metadata["contradicts"] = alcove.Raw(`["other"]`)
		}
		if d.below(4) == 0 {
			m.Metadata["emotionalWeight"] = alcove.JSON(float64(d.below(5)) / 4)
		}
		if d.below(12) == 0 {
			m.tier = []string{short, mid}[d.below(2)]
			m.Metadata[tiered] = alcove.JSON(m.tier)
		}
		if n > 0 && d.below(2) == 0 {
			if of := d.below(n); list[of].tier == "" {
				m.Supersedes = []string{key(of)}
			}
		}
		for range d.below(4) * d.below(3) {
			m.reads = append(m.reads, 5*d.below(e.Days/5))
		}
		m.reads = slices.DeleteFunc(m.reads, func(day int) bool { return day <= m.day })
	}
	return list
}

func day(n float64) time.Time {
	return time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n * 24 * float64(time.Hour)))
}

func TestEveryStateIsThatOfTheOracle(t *testing.T) {
	data, err := os.ReadFile("testdata/states.json")
	if err != nil {
		t.Fatal(err)
	}
	var e expected
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatal(err)
	}
	s := alcovetest.New(t, Family(), alcovetest.Manifest(t, "manifest.json"))
	all, from := memories(e), 0
	for _, step := range e.Steps {
		for d := from; d < step.Day; d += 5 {
			live(s, all, d)
		}
		from, s.Now = step.Day, day(float64(step.Day))
		for _, job := range []string{"gc", "decay"} {
			if err := s.Job(job, nil, nil); err != nil {
				t.Fatal(err)
			}
		}
		there, archived, stored := 0, []int{}, s.Memories()
		for n := range all {
			m := stored[key(n)]
			if m == nil && all[n].day < step.Day {
				t.Errorf("day %d: %s is gone", step.Day, key(n))
			}
			if m == nil {
				continue
			}
			there++
			if m.State != "active" {
				archived = append(archived, n)
				inUse(t, step.Day, &all[n], m)
			}
		}
		if there != step.There || !slices.Equal(archived, step.Archived) {
			t.Fatalf("day %d: of %d memories %v are archived; the oracle says of %d %v", step.Day, there, archived, step.There, step.Archived)
		}
	}
}

// live has the memories of a day be stored and recalled.
func live(s *alcovetest.Space, all []drawn, d int) {
	var stored []alcove.Memory
	reads := map[int][]string{}
	for n := range all {
		m := &all[n]
		if m.day == d {
			created := day(float64(d) + .25)
			m.Timestamp = created.Format(time.RFC3339Nano)
			for _, t := range tiers() {
				if t.name == m.tier {
					m.ExpiresAt = created.Add(time.Duration(t.life) * time.Microsecond).Format(time.RFC3339Nano)
				}
			}
			stored = append(stored, m.Memory)
		}
		times := 0
		for _, read := range m.reads {
			if read == d {
				times++
			}
		}
		if times > 0 {
			reads[times] = append(reads[times], m.Key)
		}
	}
	if s.Now = day(float64(d) + .25); len(stored) > 0 {
		s.Put(stored...)
	}
	s.Now = day(float64(d) + .5)
	for times, keys := range reads {
		s.Touch(s.Now, times, keys...)
	}
}

// inUse fails when a memory was archived that is pinned, young or in use, unless its own time ended.
func inUse(t *testing.T, now int, d *drawn, m *alcove.Memory) {
	t.Helper()
	if d.pin {
		t.Errorf("day %d: %s is pinned and was archived", now, m.Key)
	}
	if note(m).Reason == "expired" {
		return
	}
	recent := 0
	for _, read := range d.reads {
		if read >= now-30 && read < now {
			recent++
		}
	}
	if note(m).Reason == "forgotten" && note(m).At == instant(day(float64(now)).Format(time.RFC3339)).String() && (recent >= 2 || d.turn || d.Type == "steering_rule") {
		t.Errorf("day %d: %s is in use and was archived", now, m.Key)
	}
}
