package jsonrpc

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// reserve reserves in the background.
func reserve(a *Account, bytes int64) chan error {
	done := make(chan error, 1)
	go func() { done <- a.Reserve(context.Background(), bytes) }()
	return done
}

func waits(t *testing.T, what string, done chan error) {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-done:
		t.Errorf("%s does not wait (%v)", what, err)
	default:
	}
}

func TestClientsWaitForRoomInTheOrderTheyCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(1000, time.Minute)
		first, second, third := b.Account(), b.Account(), b.Account()
		if err := first.Reserve(t.Context(), freeBytes+800); err != nil {
			t.Fatal(err)
		}
		large := reserve(second, freeBytes+900)
		waits(t, "what does not fit", large)
		small := reserve(third, freeBytes+100)
		waits(t, "what would fit, and came later", small)
		if err := third.Reserve(t.Context(), freeBytes); err != nil {
			t.Errorf("what is free: %v", err)
		}
		third.Release(freeBytes)
		first.Close()
		if err := <-large; err != nil {
			t.Error(err)
		}
		if err := <-small; err != nil {
			t.Error(err)
		}
		if b.Used() != 1000 {
			t.Errorf("%d bytes count", b.Used())
		}
	})
}

func TestOneClientDoesNotHaveEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(1000, time.Minute)
		one, other := b.Account(), b.Account()
		if err := one.Reserve(t.Context(), freeBytes+500); err != nil {
			t.Fatal(err)
		}
		more := reserve(one, 1)
		waits(t, "half of it and one byte", more)
		if err := other.Reserve(t.Context(), freeBytes+500); err != nil {
			t.Errorf("another client: %v", err)
		}
		one.Release(freeBytes + 500)
		if err := <-more; err != nil {
			t.Error(err)
		}
	})
}

func TestAClientThatStopsWaitingDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(1000, time.Minute)
		first, second, third := b.Account(), b.Account(), b.Account()
		if err := first.Reserve(t.Context(), freeBytes+500); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(context.Background())
		given := make(chan error, 1)
		go func() { given <- second.Reserve(ctx, freeBytes+600) }()
		synctest.Wait()
		behind := reserve(third, freeBytes+400)
		waits(t, "the next client", behind)
		gone := errors.New("the client is gone")
		cancel(gone)
		if err := <-given; !errors.Is(err, gone) {
			t.Errorf("it ended with %v", err)
		}
		if err := <-behind; err != nil {
			t.Error(err)
		}
	})
}

func TestWaitingForRoomHasAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(1000, 7*time.Second)
		began := time.Now()
		err := b.Account().Reserve(t.Context(), freeBytes+1001)
		var busy *BusyError
		if !errors.As(err, &busy) || busy.Limit != 1000 || time.Since(began) != 7*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}
