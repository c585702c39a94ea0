package space

import (
	"context"
	"errors"
	"fmt"
)

// Running runs something until it is closed.
func Running(ctx context.Context, run func(context.Context)) (end func() error) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		run(ctx)
	}()
	return func() error {
		stop()
		<-ended
		return nil
	}
}

// Closers are what has to be closed, in the order of opening.
type Closers []namedCloser

type namedCloser struct {
	name  string
	close func() error
}

func (c *Closers) Later(name string, f func() error) { *c = append(*c, namedCloser{name, f}) }

// Close closes everything, last opened first.
func (c Closers) Close() (err error) {
	for i := len(c) - 1; i >= 0; i-- {
		if failed := c[i].close(); failed != nil {
			err = errors.Join(err, fmt.Errorf("close %s: %w", c[i].name, failed))
		}
	}
	return err
}
