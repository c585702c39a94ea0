// Package budget counts what families spend at endpoints, in files that a restart does not empty.
package budget

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/regular"
)

// fileLimit bounds a family's file, in bytes.
const fileLimit = 16 << 10

// Ledger counts what families spent, by the families' names: versions of one family spend together. Its methods may be called
// concurrently; one family waits for no other.
type Ledger struct {
	dir   string
	clock func() time.Time

	mu       sync.Mutex
	accounts map[string]*account
}

// New returns a ledger with its files in a directory, which is made when something is spent.
func New(dir string, clock func() time.Time) *Ledger {
	return &Ledger{dir: dir, clock: clock, accounts: map[string]*account{}}
}

// account is what one family spent. Its file is read when it is needed.
type account struct {
	path string

	mu    sync.Mutex
	read  bool
	spent map[string]Spent
}

// Spent is what was spent of a budget since its period began.
type Spent struct {
	Amount int64     `json:"amount"`
	Since  time.Time `json:"since"`
}

// Bound is a budget: so much in a period, which begins with the first spending after the one before.
type Bound struct {
	Name   string
	Most   int64
	Period time.Duration
}

// Exceeded is the error of spending that a budget does not allow. Nothing was spent.
type Exceeded struct {
	Bound
	Spent, Asked int64
	Again        time.Duration // until the period ends
}

func (e *Exceeded) Error() string {
	return fmt.Sprintf("%s=%d: %d are spent, and %d more do not fit for the next %s", e.Name, e.Most, e.Spent, e.Asked, max(e.Again, time.Second).Round(time.Second))
}

// Spend spends an amount before it is used, durably: what a crash interrupts stays spent. correct replaces the amount by the one that
// was used; it need not be called.
func (l *Ledger) Spend(family string, b Bound, amount int64) (correct func(used int64), err error) {
	a := l.account(family)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.load(); err != nil {
		return nil, err
	}
	now := l.clock()
	s, had := a.spent[b.Name]
	s = s.at(now, b.Period)
	if amount < 0 || s.Amount > b.Most || amount > b.Most-s.Amount {
		return nil, &Exceeded{Bound: b, Spent: s.Amount, Asked: amount, Again: b.Period - now.Sub(s.Since)}
	}
	before := a.spent[b.Name]
	s.Amount += amount
	a.spent[b.Name] = s
	if err := a.save(); err != nil {
		if a.spent[b.Name] = before; !had {
			delete(a.spent, b.Name)
		}
		return nil, err
	}
	return func(used int64) { a.correct(b.Name, s.Since, amount, used) }, nil
}

// at returns what is spent at a time. A clock that was put back ends no period: it begins again, with what was spent in it.
func (s Spent) at(now time.Time, period time.Duration) Spent {
	switch age := now.Sub(s.Since); {
	case s.Amount == 0 || age >= period:
		return Spent{Since: now}
	case age < 0:
		s.Since = now
	}
	return s
}

// correct replaces an amount by the used one, unless the period has ended. A file that cannot be written has the higher amount or the
// next spending corrects it.
func (a *account) correct(name string, since time.Time, amount, used int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.spent[name]
	if used == amount || !s.Since.Equal(since) && used < amount {
		return // of another period: it is not refilled
	}
	s.Amount = max(0, s.Amount-amount)
	s.Amount += min(max(used, 0), math.MaxInt64-s.Amount)
	a.spent[name] = s
	_ = a.save()
}

// Of returns what a family spent of a budget, at present.
func (l *Ledger) Of(family string, b Bound) (Spent, error) {
	a := l.account(family)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.load(); err != nil {
		return Spent{}, err
	}
	return a.spent[b.Name].at(l.clock(), b.Period), nil
}

func (l *Ledger) account(family string) *account {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.accounts[family]
	if a == nil {
		a = &account{path: filepath.Join(l.dir, family+".json")}
		l.accounts[family] = a
	}
	return a
}

// load reads the file once. One that cannot be read is an error: to ignore it would refill the budgets.
func (a *account) load() error {
	if a.read {
		return nil
	}
	spent, err := readSpent(a.path)
	if err != nil {
		return fmt.Errorf("read the budgets spent, from %s: %w; moving the file away refills the budgets of its family", a.path, err)
	}
	a.spent, a.read = spent, true
	return nil
}

// readSpent returns what a file says was spent, by the names of the budgets; nothing for a file that does not exist.
func readSpent(path string) (map[string]Spent, error) {
	spent := map[string]Spent{}
	data, err := regular.Read(path, fileLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return spent, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &spent); err != nil {
		return nil, err
	}
	for name, s := range spent {
		if s.Amount < 0 {
			return nil, fmt.Errorf("the amount of %.80q is negative", name)
		}
	}
	if spent == nil { // the file has null
		return map[string]Spent{}, nil
	}
	return spent, nil
}

func (a *account) save() error {
	data, err := json.Marshal(a.spent)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(a.path), 0o700)
	}
	if err == nil {
		err = durable.WriteFile(a.path, data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("write the budgets spent: %w", err)
	}
	return nil
}
