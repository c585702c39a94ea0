package registry

import (
	"errors"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/abi"
)

// Posture is how much the families that a program carries do by themselves.
type Posture string

// The postures of a data directory.
const (
	// Personal has them act: what one person expects of a memory of their own.
	Personal Posture = "personal"
	// Careful has them do what nobody needs to approve, and propose the rest.
	Careful Posture = "careful"
	// LockedDown is Careful in a locked directory. It is the lock's field Locked, and never its Posture.
	LockedDown Posture = "locked"
)

// Postures lists the postures, the widest first.
func Postures() []Posture { return []Posture{Personal, Careful, LockedDown} }

// PostureInForce returns the posture that holds: that of a locked directory is LockedDown, and without a record it is Careful.
func (l Lock) PostureInForce() Posture {
	switch {
	case l.Locked:
		return LockedDown
	case l.Posture == Personal:
		return Personal
	}
	return Careful
}

func (l Lock) checkPosture() error {
	if l.Posture != "" && l.Posture != Personal && l.Posture != Careful {
		return fmt.Errorf("posture %.32q is not one of %s, %s", l.Posture, Personal, Careful)
	}
	if l.Shared && l.Posture != Personal {
		return fmt.Errorf("posture_shared is of the posture %s alone", Personal)
	}
	return nil
}

// checkDenied checks what a family has not of the posture.
func (g Grant) checkDenied() error {
	if (g.Follows || len(g.Denied) > 0) && g.Asked == nil {
		return errors.New("follows_posture and denied are of families that the program carries alone")
	}
	for _, name := range g.Denied {
		if !slices.Contains(abi.Capabilities(), abi.Capability(name)) && abi.Hook(name).Kind() == 0 {
			return fmt.Errorf("denied: there is no capability or hook %.64q", name)
		}
	}
	return nil
}
