package main

import (
	"fmt"
	"strings"
	"testing"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

func space(t *testing.T) *alcovetest.Space {
	return alcovetest.New(t, family(), alcovetest.Manifest(t, "manifest.json"))
}

func at(moment, key, text string, tags ...string) alcove.Memory {
	return alcove.Memory{Key: key, Value: alcove.JSON(text), Tags: tags, Timestamp: moment}
}

func TestADigestIsByDayAndTheMostImportantFirst(t *testing.T) {
	s := space(t)
	high := at("2026-05-31T09:00:00Z", "moved", "Moved\nto  the coast", "home", "ann")
	high.Importance = new(.9)
	s.Put(at("2026-05-01T09:00:00Z", "old", "too old"), at("2026-05-31T08:00:00Z", "rain", "It rained.", "home"), high,
		at("2026-06-01T08:00:00Z", "long", strings.Repeat("é", 100)))
	for range 2 { // what was kept is not summed up
		var got digest
		if err := s.Tool("memory_journal_digest", map[string]any{"keep": true}, &got); err != nil {
			t.Fatal(err)
		}
		want := "## 2026-06-01\n\n1 stored\n\n- long: " + strings.Repeat("é", 80) + "…\n\n" +
			"## 2026-05-31\n\n2 stored, mostly about home, ann\n\n- moved: Moved to the coast\n- rain: It rained."
		if got.Text != want || got.Entries != 3 || got.Days != 2 || got.Cut || got.Key != "digest/2026-06-01" {
			t.Errorf("%+v, want %s", got, want)
		}
		if m := s.Memory(got.Key); m == nil || m.Text() != want {
			t.Errorf("kept: %v", m)
		}
	}
}

func TestADigestOfNothingAndOfTooMuch(t *testing.T) {
	s := space(t)
	var got digest
	if err := s.Tool("memory_journal_digest", map[string]any{"keep": true}, &got); err != nil || got.Text != "Nothing was stored." || got.Key != "" {
		t.Errorf("digest of nothing = %+v (%v), want \"Nothing was stored.\" and no key", got, err)
	}
	for i := range mostEntries/500 + 1 {
		var list []alcove.Memory
		for j := range 500 {
			list = append(list, alcove.Memory{Key: fmt.Sprint(i, "-", j), Value: alcove.JSON(j)})
		}
		s.Put(list...)
	}
	if err := s.Tool("memory_journal_digest", map[string]any{"days": 1}, &got); err != nil || !got.Cut || got.Entries != mostEntries || !strings.Contains(got.Text, "- and 1980 more") {
		t.Errorf("%d entries, cut %t (%v)", got.Entries, got.Cut, err)
	}
	for _, days := range []int{0, 367} {
		if err := s.Tool("memory_journal_digest", map[string]any{"days": days}, nil); alcove.CodeOf(err) != alcove.InvalidArgument {
			t.Errorf("%d days: %v", days, err)
		}
	}
}
