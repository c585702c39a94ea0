package lifecycle

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

// labelledList is the memories of a namespace, and those of which a person said that they are stale or to be kept.
type labelledList struct {
	List     string
	Memories []struct {
		ID, Text, Type     string
		Age                float64  `json:"age_days"`
		Read               *float64 `json:"last_read_days"`
		Reads              int
		Importance         *float64
		Superseded, Pinned bool
	}
	Stale, Keep []string
}

// staleCounts are what a list of stale memories has of those that a person named.
type staleCounts struct{ listed, stale, keep, wanted int }

// listStale lists what is stale of a labelled list.
func listStale(t *testing.T, l labelledList) (n staleCounts) {
	t.Helper()
	w := world{t, alcovetest.New(t, Family(), alcovetest.Manifest(t, "manifest.json"))}
	var all []alcove.Memory
	for _, m := range l.Memories {
		a := alcove.Memory{Key: m.ID, Value: alcove.JSON(m.Text), Type: m.Type, Importance: m.Importance, Timestamp: w.ago(m.Age)}
		if m.Pinned {
			a.Metadata = alcove.Metadata{"pinned": alcove.Raw("true")}
		}
		if m.Read != nil {
			a.Counters = &alcove.Counters{Accesses: m.Reads, LastAccess: w.ago(*m.Read)}
		}
		all = append(all, a)
	}
	for _, m := range l.Memories {
		if m.Superseded {
			all = append(all, alcove.Memory{Key: "after-" + m.ID, Value: alcove.JSON("the successor of " + m.ID), Supersedes: []string{m.ID}, Timestamp: w.ago(1)})
		}
	}
	w.Put(all...)
	n.wanted = len(l.Stale)
	for _, f := range w.stale("limit", 1000).Facts {
		n.listed++
		switch key := f.FactID.Key; {
		case slices.Contains(l.Stale, key):
			n.stale++
		case slices.Contains(l.Keep, key):
			n.keep++
			t.Logf("%s: %s is to be kept: %q %v", l.List, key, f.Content, f.Reasons)
		}
	}
	return n
}

func TestStaleListsAgreeWithAPerson(t *testing.T) {
	f, err := os.Open("../../../host/bench/judge/testdata/stale-dev.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var sum staleCounts
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var l labelledList
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		n := listStale(t, l)
		t.Logf("%s: of %d listed %d are stale and %d to be kept, of %d stale", l.List, n.listed, n.stale, n.keep, n.wanted)
		sum = staleCounts{sum.listed + n.listed, sum.stale + n.stale, sum.keep + n.keep, sum.wanted + n.wanted}
	}
	t.Logf("of %d listed %d are stale and %d to be kept, of %d stale", sum.listed, sum.stale, sum.keep, sum.wanted)
	if 10*sum.stale < 8*sum.wanted || 10*sum.stale < 8*sum.listed {
		t.Errorf("of %d listed %d are stale, of %d: want 8 of 10 of both", sum.listed, sum.stale, sum.wanted)
	}
}

func TestAfter400SilentDaysSomethingIsStaleWithReasonsOfItsOwn(t *testing.T) {
	w := world{t, alcovetest.New(t, Family(), alcovetest.Manifest(t, "manifest.json"))}
	types := []string{"observation", "decision", "plan", "note", "insight"}
	var all []alcove.Memory
	for i := range 60 {
		all = append(all, alcove.Memory{Key: fmt.Sprint("m", i), Value: alcove.JSON(fmt.Sprint("what was noted ", i)), Type: types[i%len(types)], Timestamp: w.ago(float64(i))})
	}
	w.Put(all...)
	w.Now = w.Now.Add(400 * 24 * time.Hour)
	reasons := map[string]bool{}
	out := w.stale()
	for _, f := range out.Facts {
		reasons[fmt.Sprint(f.Reasons)] = true
	}
	if len(out.Facts) == 0 || len(out.Facts) > 30 || len(reasons) < 2 {
		t.Errorf("%d of 60 are stale for %d different reasons, want some and at most half, for several", len(out.Facts), len(reasons))
	}
}
