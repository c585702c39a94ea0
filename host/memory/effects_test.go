package memory

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory/effect"
	"github.com/alcove-memory/alcove/host/memory/purge"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/testing/testclock"
)

func begin(t *testing.T, e *effect.Ledger, what string) *effect.Effect {
	t.Helper()
	f, err := e.Begin(t.Context(), what)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestEffectsOfARequestAreKnownForADay(t *testing.T) {
	now := testclock.At(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	dir := t.TempDir()
	s, closeSpace := openSpace(t, dir, now.Now)
	mine := Write{Agent: "a", RequestID: "r"}
	e := s.Effects(mine)
	begin(t, e, "POST hooks/one").Answered("answered 201")
	begin(t, e, "POST hooks/two")
	closeSpace()

	s, closeSpace = openSpace(t, dir, now.Now)
	defer closeSpace()
	again := s.Effects(mine)
	if err := again.Earlier(t.Context()); err == nil || !strings.Contains(err.Error(), "POST hooks/one was sent and answered 201; POST hooks/two was sent, and its answer is not known") {
		t.Errorf("the same request later: %v", err)
	}
	if _, err := again.Begin(t.Context(), "POST hooks/three"); err == nil {
		t.Error("it may go on")
	}
	for _, w := range []Write{{Agent: "b", RequestID: "r"}, {Agent: "a", RequestID: "q"}, {Agent: "a"}} {
		if err := s.Effects(w).Earlier(t.Context()); err != nil {
			t.Errorf("another's request %+v: %v", w, err)
		}
	}
	now.Add(systemKept + time.Second)
	if err := s.Effects(mine).Earlier(t.Context()); err != nil {
		t.Errorf("a day later: %v", err)
	}
	begin(t, s.Effects(mine), "POST hooks/one") // in the place of what is too old
	if _, err := s.Retain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Effects(mine).Earlier(t.Context()); err == nil {
		t.Error("retention dropped what is young")
	}
	now.Add(systemKept + time.Second)
	if _, err := s.Retain(t.Context()); err != nil {
		t.Fatal(err)
	}
	found, err := s.engine.GetAt(t.Context(), s.catalogue.System().Lineage, []store.Key{answerKey(mine)})
	if err != nil || found[0].Exists() {
		t.Errorf("retention left %s, %v", found[0].Value, err)
	}
}

func TestAPurgeTakesTheTextOfEffectsAndNotThatThereWereAny(t *testing.T) {
	s := testSpace(t)
	put(t, s, "", "k", "hunter2-hunter2")
	mine := Write{RequestID: "r"}
	begin(t, s.Effects(mine), "POST hooks/hunter2-hunter2")
	if _, err := s.Purge(t.Context(), purge.Request{Key: "k"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Effects(mine).Earlier(t.Context()); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("after the purge: %v", err)
	}
}

func TestAnEffectThatCannotBeNotedDoesNotHappen(t *testing.T) {
	full := errors.New("the disk is full")
	e := effect.New(func(context.Context, []string) error { return full })
	if _, err := e.Begin(t.Context(), "POST hooks/one"); !errors.Is(err, full) || e.Count() != 0 || e.Noted() {
		t.Errorf("%v, with %d effects", err, e.Count())
	}
}

func TestEffectsThatWereAvertedAreForgotten(t *testing.T) {
	s := testSpace(t)
	mine := Write{RequestID: "r"}
	e := s.Effects(mine)
	begin(t, e, "POST hooks/one").Averted()
	lost := conflict("lost")
	if err := e.Failed(t.Context(), lost); err != lost {
		t.Errorf("Failed = %v, want %v", err, lost)
	}
	if err := s.Effects(mine).Earlier(t.Context()); err != nil {
		t.Errorf("Earlier: %v, want no effects", err)
	}
}

func TestAnErrorAfterEffectsKeepsItsCode(t *testing.T) {
	e := effect.New(nil)
	begin(t, e, "POST hooks/one").Answered("answered 201")
	cases := map[string]struct {
		err  error
		code Code
	}{
		"POST hooks/one was sent and answered 201; nothing was stored: lost. Doing it again sends it again":                     {conflict("lost"), Conflict},
		"POST hooks/one was sent and answered 201; then it took long. Doing it again sends it again":                            {&Error{Code: Timeout, Message: "it took long", Retryable: true}, Timeout},
		"POST hooks/one was sent and answered 201; then the server failed, and its log says why. Doing it again sends it again": {errors.New("inside"), Unavailable},
	}
	for want, c := range cases {
		var got *Error
		if !errors.As(e.Failed(t.Context(), c.err), &got) || got.Message != want || got.Code != c.code || got.Retryable || !slices.Equal(got.Details["sent"].([]string), e.List()) {
			t.Errorf("%v is told as %+v", c.err, got)
		}
	}
	var none *effect.Ledger
	if err := none.Failed(t.Context(), errors.New("x")); err.Error() != "x" || none.Count() != 0 || none.Earlier(t.Context()) != nil {
		t.Errorf("where nobody notes effects: %v", err)
	}
}
