package jsonrpc

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// body is what ReadAll reads of a body whose length is known.
type body struct {
	content []byte
	err     error
}

// reading reads a body of some length in the background.
func reading(ctx context.Context, b *Budget, length int) chan body {
	done := make(chan body, 1)
	go func() {
		content, err := b.ReadAll(ctx, strings.NewReader(strings.Repeat("x", length)), int64(length), 1<<20)
		done <- body{content, err}
	}()
	return done
}

func waits(t *testing.T, what string, done chan body) {
	t.Helper()
	synctest.Wait()
	select {
	case got := <-done:
		t.Errorf("%s: got %d bytes (%v), want it to wait", what, len(got.content), got.err)
	default:
	}
}

func mustRead(t *testing.T, what string, done chan body) []byte {
	t.Helper()
	got := <-done
	if got.err != nil {
		t.Errorf("%s: got %v, want what was sent", what, got.err)
	}
	return got.content
}

func TestLargeMessagesWaitForRoomInTheOrderTheyCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(1<<20, time.Minute)
		first := mustRead(t, "the first", reading(t.Context(), b, 800<<10))
		large := reading(t.Context(), b, 900<<10)
		waits(t, "what does not fit", large)
		smaller := reading(t.Context(), b, 100<<10)
		waits(t, "what would fit, and came later", smaller)
		small := mustRead(t, "a small one", reading(t.Context(), b, shortLine-1))
		if b.Used() != 800<<10 {
			t.Errorf("%d bytes count, want those of the first, %d", b.Used(), 800<<10)
		}
		b.Release(small)
		b.Release(first)
		b.Release(mustRead(t, "the large one", large))
		b.Release(mustRead(t, "the last", smaller))
		if b.Used() != 0 {
			t.Errorf("%d bytes count in the end, want 0", b.Used())
		}
	})
}

func TestAClientThatStopsWaitingDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(1<<20, time.Minute)
		mustRead(t, "the first", reading(t.Context(), b, 500<<10))
		ctx, cancel := context.WithCancelCause(context.Background())
		given := reading(ctx, b, 600<<10)
		synctest.Wait()
		behind := reading(t.Context(), b, 400<<10)
		waits(t, "the next client", behind)
		gone := errors.New("the client is gone")
		cancel(gone)
		if got := <-given; !errors.Is(got.err, gone) {
			t.Errorf("the client that left: got %v, want %v", got.err, gone)
		}
		mustRead(t, "the next client", behind)
	})
}

func TestWaitingForRoomHasAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(1<<20, 7*time.Second)
		mustRead(t, "the first", reading(t.Context(), b, 500<<10))
		began := time.Now()
		got := <-reading(t.Context(), b, 600<<10)
		var busy *BusyError
		if !errors.As(got.err, &busy) || busy.Limit != 1<<20 || time.Since(began) != 7*time.Second {
			t.Errorf("got %v after %v, want a BusyError after 7s", got.err, time.Since(began))
		}
	})
}

func TestAMessageOfUnknownLengthIsRefusedOnceItDoesNotFit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(1<<20, time.Minute)
		first := mustRead(t, "the first", reading(t.Context(), b, 500<<10))
		began := time.Now()
		read := func(length int) ([]byte, error) {
			return b.ReadAll(t.Context(), strings.NewReader(strings.Repeat("x", length)), -1, 1<<20)
		}
		if _, err := read(600 << 10); !errors.As(err, new(*BusyError)) || time.Since(began) != 0 {
			t.Errorf("got %v after %v, want a BusyError at once", err, time.Since(began))
		}
		if b.Used() != 500<<10 {
			t.Errorf("%d bytes count, want those of the first, %d", b.Used(), 500<<10)
		}
		if small, err := read(shortLine - 1); err != nil || len(small) != shortLine-1 {
			t.Errorf("a small one: got %d bytes (%v), want %d", len(small), err, shortLine-1)
		}
		b.Release(first)
		for length, want := range map[int]error{1 << 20: nil, 1<<20 + 1: &TooLongError{1 << 20}} {
			content, err := read(length)
			if (err == nil) != (want == nil) || err == nil && (len(content) != length || b.Used() != int64(length)) {
				t.Errorf("%d bytes: got %d, %d count (%v), want %v", length, len(content), b.Used(), err, want)
			}
			b.Release(content)
		}
		if b.Used() != 0 {
			t.Errorf("%d bytes count in the end, want 0", b.Used())
		}
	})
}
