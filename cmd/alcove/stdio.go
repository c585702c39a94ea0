package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
)

// child is a connection to a running program by its standard input and output.
type child struct {
	io.Reader
	io.WriteCloser
	end func() error
}

// runStdio starts a program that ends when its input does. An environment of nil is this program's own.
func runStdio(ctx context.Context, log io.Writer, env []string, program string, args ...string) (*child, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stderr, cmd.Env = log, env
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut, cmd.Start()); err != nil {
		return nil, fmt.Errorf("run %s: %w", program, err)
	}
	return &child{out, in, sync.OnceValue(func() error { return errors.Join(in.Close(), cmd.Wait()) })}, nil
}

// Close closes the program's input, and waits for its end. A session may close a connection twice at once, which cmd.Wait
// does not survive.
func (c *child) Close() error { return c.end() }
