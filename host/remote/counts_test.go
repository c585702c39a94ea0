package remote

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/testclock"
	"github.com/alcove-memory/alcove/host/testing/testspace"
)

func (s *side) recall(key string, times int) {
	s.t.Helper()
	for range times {
		if _, err := s.Memory.As(s.Caller).Recall(s.t.Context(), memory.Location{}, key, memory.AsOf{}); err != nil {
			s.t.Fatalf("recall %s: %v", key, err)
		}
	}
}

func (s *side) mustCount(key string, want int64) {
	s.t.Helper()
	got, err := s.Memory.As(s.Caller).Counters(s.t.Context(), memory.Location{}, key)
	if err != nil || got.Accesses != want {
		s.t.Errorf("%s counted %d accesses of %s, %v, want %d", s.Caller.Agent, got.Accesses, key, err, want)
	}
}

func TestCountersOfAllSpacesAddUp(t *testing.T) {
	laptop, hub := pair(t)
	desk := newSide(t, "desk", testspace.Options{})
	laptop.put("default", "k", "one")
	laptop.recall("k", 2)
	laptop.sync(hub)
	desk.sync(hub)
	laptop.recall("k", 3)
	desk.recall("k", 4)
	hub.recall("k", 5)
	for range 2 { // crossed, and in a triangle
		laptop.sync(desk)
		desk.sync(hub)
		hub.sync(laptop)
		laptop.sync(hub)
	}
	for _, s := range []*side{laptop, hub, desk} {
		s.mustCount("k", 14)
	}
	if pulled, pushed := laptop.sync(hub); pulled.Counted+pushed.Counted != 0 {
		t.Errorf("a sync without news changed counters of %d and %d memories, want none", pulled.Counted, pushed.Counted)
	}
	desk.forget("default", "k")
	desk.put("default", "k", "again")
	desk.recall("k", 1)
	laptop.recall("k", 1) // does not know of it
	for _, s := range []*side{laptop, hub, laptop} {
		desk.sync(s)
	}
	hub.sync(laptop)
	for _, s := range []*side{laptop, hub, desk} {
		s.mustCount("k", 7) // what the laptop counted comes back: it went on meanwhile
	}
}

// Whatever an exchange writes is news to whoever watches its space.
func TestSpacesWithoutNewsWriteNothing(t *testing.T) {
	laptop, hub := pair(t)
	desk := newSide(t, "desk", testspace.Options{})
	for _, s := range []*side{laptop, hub, desk} {
		s.put("default", "k", "of "+s.Caller.Agent)
		s.recall("k", 1)
		s.log("default", "noted")
	}
	round := func() (versions string) {
		laptop.sync(hub)
		desk.sync(hub)
		laptop.sync(desk)
		for _, s := range []*side{laptop, hub, desk} {
			newest, err := s.Memory.Newest(t.Context())
			if err != nil {
				t.Fatalf("read the newest version: %v", err)
			}
			versions += fmt.Sprint(newest, " ")
		}
		return versions
	}
	before := round()
	for range 5 {
		now := round()
		if now == before {
			return
		}
		before = now
	}
	t.Errorf("after six rounds of syncs the versions go on to %s, want that they rest", before)
}

func TestCountersOfWhatNeverLeavesStay(t *testing.T) {
	laptop, hub := pair(t)
	laptop.put("default", "k", "one")
	laptop.recall("k", 2)
	never := Exchange{Remote: "hub", Never: []string{"default"}}
	if got, err := laptop.Push(t.Context(), hub.wire(), never); err != nil || got.Counted != 0 {
		t.Errorf("a push without the namespace counted %d, %v, want nothing", got.Counted, err)
	}
	hub.mustCount("k", 0)
}

func TestCountersThatNobodyCanHaveCountedAreRefused(t *testing.T) {
	hub := newSide(t, "hub", testspace.Options{})
	many := map[string]string{}
	for i := range 257 {
		many[fmt.Sprint("r", i)] = `{"n":1,"t":1}`
	}
	for name, c := range map[string]struct {
		namespace, key string
		counts         map[string]string
		says           string
	}{
		"many replicas":  {"default", "k", many, "257 replicas"},
		"a long name":    {"default", "k", map[string]string{strings.Repeat("r", 129): `{}`}, "129 bytes"},
		"less than none": {"default", "k", map[string]string{"r": `{"n":-1}`}, "cannot have counted -1"},
		"a health":       {"default", "k", map[string]string{"r": `{"h":1.5}`}, "health of 1.5"},
		"the future":     {"default", "k", map[string]string{"r": `{"n":1,"t":9000000000000000}`}, "until 9000000000000000"},
		"a namespace":    {"../x y", "k", map[string]string{"r": `{"n":1}`}, "may hold only letters"},
		"a key":          {"default", strings.Repeat("k", 3000), map[string]string{"r": `{"n":1}`}, "3000 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			counts := map[string]json.RawMessage{}
			for replica, text := range c.counts {
				counts[replica] = json.RawMessage(text)
			}
			text, _ := json.Marshal(map[string]any{"namespace": c.namespace, "key": c.key, "counts": counts})
			pg := page{header: header{Space: "0123456789abcdef"}, counts: make([]memory.Replicated, 1)}
			if err := json.Unmarshal(text, &pg.counts[0]); err != nil {
				t.Fatalf("read a page: %v", err)
			}
			if _, err := hub.wire().server.count(t.Context(), hub.Caller, pg); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it is answered with %v, want %q", err, c.says)
			}
		})
	}
}

func TestLinksTravelWithTheirMemoryAlsoToWhatDoesNot(t *testing.T) {
	laptop, hub := pair(t)
	links := []string{"home#there", "notes#here"}
	_, err := laptop.Memory.As(laptop.Caller).Store(t.Context(), memory.Location{Namespace: "notes"}, []memory.Item{
		{Key: "k", Value: json.RawMessage(`"linked"`), Links: links}, {Key: "here", Value: json.RawMessage(`"here"`)}}, memory.Write{})
	if err != nil {
		t.Fatalf("store: %v", err)
	}
	laptop.put("home", "there", "stays")
	if _, err := laptop.Push(t.Context(), hub.wire(), Exchange{Remote: "hub", Never: []string{"home"}}); err != nil {
		t.Fatalf("push: %v", err)
	}
	found, err := hub.Memory.As(hub.Caller).Get(t.Context(), memory.Location{Namespace: "notes"}, []string{"k"})
	if err != nil || found[0] == nil || !slices.Equal(found[0].Links, links) {
		t.Errorf("the memory is %+v, %v, want it with both links", found[0], err)
	}
	hub.mustHave("home", "there", "")
}

func TestAnExpiryIsOneMomentThatEachSpaceReachesByItsOwnClock(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	early, late := testclock.At(start), testclock.At(start.Add(2*time.Hour))
	laptop := newSide(t, "laptop", testspace.Options{Clock: early.Now})
	hub := newSide(t, "hub", testspace.Options{Clock: late.Now})
	at := start.Add(3 * time.Hour)
	_, err := laptop.Memory.As(laptop.Caller).Store(t.Context(), memory.Location{}, []memory.Item{{Key: "k", Value: json.RawMessage(`"short"`), ExpiresAt: at}}, memory.Write{})
	if err != nil {
		t.Fatalf("store: %v", err)
	}
	laptop.sync(hub)
	found, err := hub.Memory.As(hub.Caller).Get(t.Context(), memory.Location{}, []string{"k"})
	if err != nil || found[0] == nil || !found[0].ExpiresAt.Equal(at) {
		t.Errorf("the memory is %+v, %v, want that it expires at %s", found[0], err, at)
	}
	late.Add(90 * time.Minute)
	laptop.sync(hub)
	hub.mustHave("default", "k", "")
	laptop.mustHave("default", "k", "short")
	early.Add(4 * time.Hour)
	laptop.sync(hub)
	laptop.mustHave("default", "k", "")
}
