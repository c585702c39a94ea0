package space

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/registry"
)

// openWithoutFamilies goes on without tool families, because of an error. It returns the error if the server can write and is locked, a family has
// to be asked before anything is stored, or the database did not answer: the next start may have families.
func (p *Space) openWithoutFamilies(o Options, a Environment, lock registry.Lock, why error) error {
	if o.ReadOnly { // nothing is stored, and what is read needs no family
		return p.keepWithout(o, a, why)
	}
	guards := lock.Guards()
	last, unknown := audit.LastLock(owner.AuditPath(o.Dir))
	switch {
	case isPassing(why):
		return why
	case len(guards) > 0:
		return fmt.Errorf("%w: nothing may be stored in %s before family %s is asked, so that it is not served without tool families", why, o.Dir, strings.Join(guards, ", "))
	case o.Locked || lock.Locked || last.Locked:
		return fmt.Errorf("%w: a locked server does not go on without tool families", why)
	case unknown != nil:
		return fmt.Errorf("%w: whether the directory is locked is not known without its audit log, so that it is not served without tool families", why)
	}
	return p.keepWithout(o, a, why)
}

// isPassing reports whether an error is of a database that did not answer, or not in time.
func isPassing(err error) bool {
	return errors.Is(err, store.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// keepWithout notes why there are no tool families.
func (p *Space) keepWithout(o Options, a Environment, why error) error {
	p.Without = why
	o.Logger.Warn("going on without tool families", "error", why)
	return p.openTools(o, a, nil)
}

// refusingHooks are the hooks of a space whose families are not ready: what they have to be asked about is refused.
type refusingHooks struct{ families []string }

// Storing implements memory.Hooks.
func (u refusingHooks) Storing(context.Context, memory.Storing) (memory.Decision, error) {
	return memory.Decision{}, &memory.Error{Code: memory.Unavailable, Message: fmt.Sprintf("nothing was stored, because family %s has to be asked first, and no families run here", strings.Join(u.families, ", "))}
}

// Asks implements memory.Hooks.
func (refusingHooks) Asks(memory.Change, string) bool { return true }

// Ranker implements memory.Hooks.
func (refusingHooks) Ranker(context.Context, memory.Ranking) (memory.Ranker, int) { return nil, 0 }

// GuardBranch implements memory.BranchGuard.
func (u refusingHooks) GuardBranch(string, memory.Caller) error {
	_, err := u.Storing(context.Background(), memory.Storing{})
	return err
}
