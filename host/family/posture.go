package family

import (
	"fmt"

	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/registry"
)

// PostureRequest chooses the posture of a data directory that is not locked.
type PostureRequest struct {
	Posture registry.Posture `json:"posture"`
	// Shared has Personal hold for a server that has API keys or that other machines can connect to.
	Shared bool `json:"shared,omitempty"`
}

func (r PostureRequest) apply(l *registry.Lock) error {
	if r.Posture != registry.Personal && r.Posture != registry.Careful {
		return &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf("posture %.32q is not one of %s, %s", r.Posture, registry.Personal, registry.Careful)}
	}
	l.Posture, l.Shared = r.Posture, r.Shared && r.Posture == registry.Personal
	return nil
}

// PostureState is the posture of a data directory, and what it means.
type PostureState struct {
	Posture registry.Posture `json:"posture"`
	Shared  bool             `json:"shared,omitempty"`
	Why     string           `json:"why_shared,omitempty"` // why the server is one that others use; empty: it is not
	Gives   []PostureGift    `json:"gives"`                // of the posture personal, by family
}

// PostureGift is what the posture personal gives a family.
type PostureGift struct {
	Family  string   `json:"family"`
	Gives   []string `json:"gives"`             // as memory.write and hook rank
	Lacks   []string `json:"lacks,omitempty"`   // of these, in the posture in force
	Decided bool     `json:"decided,omitempty"` // an operator decided before there were postures, or revoked everything: it follows none
	Denied  []string `json:"denied,omitempty"`  // by an operator
}

// Posture returns the posture in force, and what it means for each family.
func (f *Families) Posture() PostureState {
	defer f.catalogue.Hold()()
	lock := f.catalogue.Lock()
	s := PostureState{Posture: lock.PostureInForce(), Shared: lock.Shared, Gives: []PostureGift{}}
	for _, name := range f.catalogue.Names() {
		x := f.catalogue.Known(name)
		if x == nil || x.Digest == "" {
			continue
		}
		has, gift := grants.In(lock, x.Version), PostureGift{Family: name}
		gives := grants.Gives(x.Version)
		for _, c := range gives.Capabilities {
			gift.add(grants.CapabilityText(c, x.Manifest), grants.Holds(has, c.Name))
		}
		for _, h := range grants.HooksOf(gives) {
			_, on := has.Hooks[h]
			gift.add("hook "+string(h), on)
		}
		if len(gift.Gives) > 0 {
			gift.Decided, gift.Denied = !has.Follows, has.Denied
			s.Gives = append(s.Gives, gift)
		}
	}
	return s
}

func (g *PostureGift) add(name string, has bool) {
	g.Gives = append(g.Gives, name)
	if !has {
		g.Lacks = append(g.Lacks, name)
	}
}

// SetPosture changes the posture. It changes no grant, so that the posture before, when it is set again, means what it did.
func (f *Families) SetPosture(r PostureRequest) (Change, error) { return f.setPosture(operatorName, r) }

// narrowedBy is who makes a server careful that others begin to use.
const narrowedBy = "the server, which others begin to use: "

// Narrow makes the posture careful because others begin to use the server, unless an operator chose it for such a server; why says how. It
// reports whether it did.
func (f *Families) Narrow(why string) (bool, error) {
	lock := f.catalogue.Lock()
	if lock.PostureInForce() != registry.Personal || lock.Shared {
		return false, nil
	}
	_, err := f.setPosture(narrowedBy+why, PostureRequest{Posture: registry.Careful})
	if err == nil {
		f.o.Logger.Warn("the posture is careful from now on: built-in families propose what they wrote, and their hooks and jobs are off; alcove posture set personal --shared has them act",
			"because", why)
	}
	return err == nil, err
}

func (f *Families) setPosture(by string, r PostureRequest) (Change, error) {
	defer f.catalogue.Hold()()
	if err := f.reread(); err != nil {
		return Change{}, err
	}
	before := grants.CloneLock(f.catalogue.Lock())
	if err := f.changeBy(by, r.apply); err != nil {
		return Change{}, err
	}
	return f.difference(before, f.catalogue.Lock())
}
