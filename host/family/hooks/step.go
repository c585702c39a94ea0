package hooks

import (
	"context"
	"errors"
)

// Step calls families for what was stored, like Follow, until nothing is left.
func (h *Hooks) Step(ctx context.Context) (err error) {
	for _, x := range h.followers() {
		for more := true; more; {
			var failed error
			more, failed = h.deliverAll(ctx, x.Name())
			err = errors.Join(err, failed)
		}
	}
	return err
}

// Listen passes everything stored from now on to families.
func (h *Hooks) Listen(ctx context.Context) error {
	for _, x := range h.followers() {
		if _, _, err := h.listensSince(ctx, x); err != nil {
			return err
		}
	}
	return nil
}
