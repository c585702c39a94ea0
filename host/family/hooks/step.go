package hooks

import (
	"context"
	"errors"
)

// Step tells families of what was stored, as Follow does, until there is nothing more to tell.
func (h *Hooks) Step(ctx context.Context) (err error) {
	for _, x := range h.followers() {
		for more := true; more; {
			var failed error
			more, failed = h.tellAll(ctx, x.Name())
			err = errors.Join(err, failed)
		}
	}
	return err
}

// Listen has families be told of what is stored from now on.
func (h *Hooks) Listen(ctx context.Context) error {
	for _, x := range h.followers() {
		if _, _, err := h.listensSince(ctx, x); err != nil {
			return err
		}
	}
	return nil
}
