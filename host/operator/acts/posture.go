package acts

import (
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
)

func (a Acts) posture() operator.PostureState {
	s := a.Space.Families.Posture()
	s.Why = a.shared()
	return s
}

// setPosture changes the posture. For a server that others use, personal has to be asked for by name.
func (a Acts) setPosture(r operator.PostureRequest) (operator.LockChange, error) {
	if why := a.shared(); r.Posture == operator.Personal && !r.Shared && why != "" {
		return operator.LockChange{}, &memory.Error{Code: memory.Denied, Message: why + ", so that families would act for others, too: repeat it with --shared if that is meant"}
	}
	return a.Space.Families.SetPosture(r)
}

// shared returns why others than one person use the server; empty: they do not.
func (a Acts) shared() string {
	if a.Exposed {
		return "other machines can connect to the server"
	}
	if a.Keys.Required() {
		return "the server requires API keys"
	}
	for _, key := range a.Keys.List() {
		if key.Holds(a.Clock()) == nil {
			return "the server has API keys"
		}
	}
	return ""
}

// Narrow makes the posture careful if others than one person use the server, unless an operator chose it for such a server.
func (a Acts) Narrow() error {
	_, err := a.narrow(a.shared())
	return err
}

// narrow is Narrow for a reason that is known; empty: there is none.
func (a Acts) narrow(why string) (bool, error) {
	if why == "" || a.Space.Families == nil {
		return false, nil
	}
	return a.Space.Families.Narrow(why)
}
