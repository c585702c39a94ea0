package main

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/admin"
)

// operator connects to the socket for operators, and starts the server if need be.
func (a *app) operator(ctx context.Context) (*admin.Client, error) {
	dir, err := a.ownDir()
	if err != nil {
		return nil, err
	}
	start, err := a.starter(dir)
	if err != nil {
		return nil, err
	}
	conn, err := owner.Dial(ctx, owner.Options{Dir: dir, Sharing: a.sharing, Start: start})
	var refused *owner.Refusal
	switch {
	case err == nil:
		err = conn.Close()
	case errors.As(err, &refused): // the server runs, and requires keys of clients, but not of operators
		err = nil
	}
	if err != nil {
		return nil, err
	}
	dial := func(ctx context.Context) (net.Conn, error) { return owner.DialOperator(ctx, dir) }
	return admin.NewClient(dial), nil
}

// asOperator has the server carry out acts.
func (a *app) asOperator(ctx context.Context, do func(operator.Server) error) error {
	c, err := a.operator(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return do(c)
}

// call has the server carry out an act.
func call[In, Out any](ctx context.Context, a *app, act operator.Act[In, Out], r In) (answer Out, err error) {
	err = a.asOperator(ctx, func(s operator.Server) (err error) {
		answer, err = operator.Call(ctx, s, act, r)
		return err
	})
	return answer, err
}

// query is call for an act without a request.
func query[Out any](ctx context.Context, a *app, act operator.Act[operator.None, Out]) (Out, error) {
	return call(ctx, a, act, operator.None{})
}

// command is call for an act without an answer.
func command[In any](ctx context.Context, a *app, act operator.Act[In, operator.None], r In) error {
	_, err := call(ctx, a, act, r)
	return err
}

// receive copies a stream of the server to w.
func receive[In any](ctx context.Context, a *app, act operator.Stream[In], r In, w io.Writer) error {
	return a.asOperator(ctx, func(s operator.Server) error { return operator.Receive(ctx, s, act, r, w) })
}
