package family

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox"
)

func TestWhatIsKeptOfAFamilyIsBounded(t *testing.T) {
	var s insight
	for i := range 3 * keptLines {
		s.publish(Event{Family: "a", Kind: EventLine, Text: fmt.Sprintf("%d", i)})
	}
	if past, _, _ := s.follow(FollowRequest{Family: "a", Lines: keptLines}); len(past) != keptLines || past[0].Text != fmt.Sprint(2*keptLines) {
		t.Errorf("%d lines are kept, from %q", len(past), past[0].Text)
	}
	for range 100 {
		s.publish(Event{Family: "a", Kind: EventLine, Text: cut(strings.Repeat("x", 10*longestEvent))})
	}
	if k := s.families["a"]; k.bytes > keptBytes || len(k.lines) > keptBytes/longestEvent {
		t.Errorf("%d bytes are kept in %d lines", k.bytes, len(k.lines))
	}
	for i := range 2 * keptKinds {
		s.ended(Event{Family: "a", Kind: EventEnded, What: fmt.Sprint("tool ", i), Class: abi.ClassOK}, &sandbox.Result{Class: abi.ClassOK, Fuel: 1})
	}
	if k := s.families["a"]; len(k.by) != keptKinds+1 || k.by["others"].Requests != keptKinds || k.stats("a").Fuel != 2*keptKinds {
		t.Errorf("%d kinds of requests are kept; others are %+v", len(k.by), k.by["others"])
	}
}

func TestAFollowerWhoIsSlowDelaysNobodyAndIsToldWhatItMissed(t *testing.T) {
	var s insight
	_, f, leave := s.follow(FollowRequest{Family: "a", Follow: true})
	for i := range waiting + 7 {
		s.publish(Event{Family: "a", Kind: EventLine, Text: fmt.Sprint(i)})
	}
	s.publish(Event{Family: "b", Kind: EventLine, Text: "of another family"})
	var said string
	if err := s.missed(f, func(e Event) error { said = e.Text; return nil }); err != nil || !strings.HasPrefix(said, "7 events were dropped") {
		t.Errorf("it is told %q (%v)", said, err)
	}
	if leave(); len(s.followers) != 0 {
		t.Errorf("%d followers are left", len(s.followers))
	}
}

func TestEachOperationOfAFollowedFamilyIsTold(t *testing.T) {
	w := open(t, nil)
	w.install(aFamily("notes"), script{steps: []step{{"config.get", `{}`}, {"no.such", `{"a":1}`}}})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	followed := make(chan struct{})
	ended := make(chan error, 1)
	var told []Event
	go func() {
		ended <- w.Follow(ctx, FollowRequest{Family: "notes", Calls: true, Follow: true}, func(e Event) error {
			if told = append(told, e); e.Kind == EventNote {
				close(followed)
			}
			if e.Kind == EventEnded {
				stop()
			}
			return nil
		})
	}()
	<-followed
	if _, err := w.Call(t.Context(), given{Tool: "notes_do", Arguments: []byte(`{}`), Caller: owner("a")}); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if len(told) != 4 || told[1].Op != "config.get" || told[1].Sent != "{}" || told[1].Answer == "" || told[2].Text == "" || told[2].Sent != `{"a":1}` || told[3].HostCalls != 2 || told[3].What != "tool notes_do" {
		t.Errorf("told are %+v", told)
	}
	if list, err := w.Stats("notes"); err != nil || list[0].Requests != 1 || list[0].By["tool notes_do"].Classes[abi.ClassOK] != 1 {
		t.Errorf("its costs are %+v (%v)", list, err)
	}
}

// follows follows a family from now on. It returns what it is told, one at a time, and how it ended.
func (w *world) follows(ctx context.Context, name string) (told <-chan Event, ended <-chan error) {
	events, done := make(chan Event, 100), make(chan error, 1)
	go func() {
		done <- w.Follow(ctx, FollowRequest{Family: name, Follow: true}, func(e Event) error {
			events <- e
			return nil
		})
	}()
	if first := <-events; first.Kind != EventNote {
		w.t.Errorf("at first it is told %+v", first)
	}
	return events, done
}

func TestAFollowerSurvivesAnUpdateAndEndsWithTheFamily(t *testing.T) {
	w := open(t, nil)
	w.install(aFamily("notes"), script{})
	told, ended := w.follows(t.Context(), "notes")
	if _, err := w.call(given{Tool: "notes_do"}); err != nil {
		t.Fatal(err)
	}
	if e := <-told; e.Kind != EventEnded || e.Request != 1 {
		t.Errorf("of the first version it is told %+v", e)
	}
	next := aFamily("notes")
	next.Version = "2.0.0"
	if _, err := w.Update(t.Context(), "notes", pack(t, next, script{steps: []step{{"config.get", `{}`}}})); err != nil {
		t.Fatal(err)
	}
	if _, err := w.call(given{Tool: "notes_do"}); err != nil {
		t.Fatal(err)
	}
	if e := <-told; e.Kind != EventEnded || e.Request != 2 || e.HostCalls != 1 {
		t.Errorf("of the second version it is told %+v", e)
	}
	if _, err := w.Remove("notes"); err != nil {
		t.Fatal(err)
	}
	if e := <-told; e.Kind != EventNote || e.Text != "family notes was removed" {
		t.Errorf("at last it is told %+v", e)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestAFollowerEndsWithItsContext(t *testing.T) {
	w := open(t, nil)
	w.install(aFamily("notes"), script{})
	ctx, leave := context.WithCancel(t.Context())
	_, ended := w.follows(ctx, "notes")
	leave()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if w.insight.mu.Lock(); len(w.insight.followers) != 0 {
		t.Errorf("%d followers are left", len(w.insight.followers))
	}
	w.insight.mu.Unlock()
}
