package jsonrpc

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// freeBytes is the buffer of each client that does not count towards the Budget: small messages never wait.
const freeBytes = 128 << 10

// DefaultPatience is how long a client waits for room in a Budget, unless it says otherwise.
const DefaultPatience = 30 * time.Second

// Budget limits the input that the server buffers for all clients together: unfinished lines, bodies that are being read,
// and messages until they are served. The first 128 KiB of each client are free. Beyond, clients wait in turn, and one
// client can hold half of the budget at most.
type Budget struct {
	limit    int64
	patience time.Duration

	mu      sync.Mutex
	used    int64
	waiting []*waiter
}

// Account is one client's share of a Budget. A nil Account is unlimited.
type Account struct {
	budget *Budget
	held   int64 // bytes; those beyond freeBytes count
	closed bool  // Reserve and Release have no effect
}

type waiter struct {
	account *Account
	bytes   int64
	granted chan struct{}
}

// BusyError means that a message did not fit in the Budget within the client's patience.
type BusyError struct {
	Limit int64         // bytes of the Budget
	After time.Duration // the time waited
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("the server holds %d bytes (%d MiB) of large messages of all clients, which is the limit, and had no room for this one within %s: "+
		"send it again later, or less at once", e.Limit, e.Limit>>20, e.After)
}

// NewBudget returns a budget in bytes. patience is how long a client waits; 0: DefaultPatience.
func NewBudget(limit int64, patience time.Duration) *Budget {
	if patience == 0 {
		patience = DefaultPatience
	}
	return &Budget{limit: limit, patience: patience}
}

// Used returns the counted bytes.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Account opens a client's account. The caller closes it.
func (b *Budget) Account() *Account { return &Account{budget: b} }

// Reserve reserves bytes, waiting if necessary. The error is a BusyError, or that of ctx.
func (a *Account) Reserve(ctx context.Context, bytes int64) error {
	if a == nil {
		return nil
	}
	w := &waiter{a, bytes, make(chan struct{})}
	a.budget.enter(w)
	timer := time.NewTimer(a.budget.patience)
	defer timer.Stop()
	select {
	case <-w.granted:
		return nil
	case <-timer.C:
		return a.budget.abandon(w, &BusyError{a.budget.limit, a.budget.patience})
	case <-ctx.Done():
		return a.budget.abandon(w, context.Cause(ctx))
	}
}

// UnreadError means that the rest of a message could not be read.
type UnreadError struct{ Err error }

func (e *UnreadError) Error() string { return "the message could not be read" }
func (e *UnreadError) Unwrap() error { return e.Err }

// ReadAll reads a message of at most limit bytes once there is room for it; it stays reserved. length is how long the message
// is said to be; negative: unknown. The error is a TooLongError, an UnreadError, or that of Reserve.
func (a *Account) ReadAll(ctx context.Context, r io.Reader, length, limit int64) ([]byte, error) {
	most := length
	if most < 0 {
		most = limit
	}
	if most > limit {
		return nil, &TooLongError{limit}
	}
	if err := a.Reserve(ctx, most); err != nil {
		return nil, err
	}
	body := bytes.NewBuffer(make([]byte, 0, max(0, length)+bytes.MinRead))
	_, err := body.ReadFrom(io.LimitReader(r, limit+1))
	switch {
	case int64(body.Len()) > limit:
		return nil, &TooLongError{limit}
	case err != nil:
		return nil, &UnreadError{err}
	}
	a.Release(most - int64(body.Len()))
	return body.Bytes(), nil
}

// Release returns reserved bytes.
func (a *Account) Release(bytes int64) {
	if a == nil {
		return
	}
	a.budget.mu.Lock()
	defer a.budget.mu.Unlock()
	if !a.closed {
		a.budget.giveBack(a, bytes)
	}
}

// Close returns all reserved bytes; later calls have no effect.
func (a *Account) Close() {
	if a == nil {
		return
	}
	a.budget.mu.Lock()
	defer a.budget.mu.Unlock()
	if !a.closed {
		a.budget.giveBack(a, a.held)
		a.closed = true
	}
}

// giveBack subtracts bytes from an account; the caller holds mu.
func (b *Budget) giveBack(a *Account, bytes int64) {
	b.used -= charge(a.held) - charge(a.held-bytes)
	a.held -= bytes
	b.grant()
}

func (b *Budget) enter(w *waiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = append(b.waiting, w)
	b.grant()
}

// abandon stops waiting, unless the bytes were granted just now.
func (b *Budget) abandon(w *waiter, err error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.waiting, w)
	if i < 0 {
		return nil
	}
	b.waiting = slices.Delete(b.waiting, i, i+1)
	b.grant() // it may have delayed others
	return err
}

// grant serves waiters in order while there is room. A client that waits for its own bytes delays no other. The caller
// holds mu.
func (b *Budget) grant() {
	full := false
	b.waiting = slices.DeleteFunc(b.waiting, func(w *waiter) bool {
		if w.account.closed {
			close(w.granted)
			return true
		}
		more := charge(w.account.held+w.bytes) - charge(w.account.held)
		greedy := charge(w.account.held) > 0 && charge(w.account.held)+more > b.limit/2
		if more > 0 && !greedy && b.used+more > b.limit {
			full = true // later ones must not take what the first one waits for
		}
		if more > 0 && (greedy || full) {
			return false
		}
		w.account.held += w.bytes
		b.used += more
		close(w.granted)
		return true
	})
}

func charge(held int64) int64 { return max(0, held-freeBytes) }
