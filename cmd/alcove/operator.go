package main

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
)

// operator connects to the socket for operators, and starts the server if need be.
func (a *app) operator(ctx context.Context) (*operator.Client, error) {
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
	return operator.NewClient(dial), nil
}

// asOperator has the server carry out acts.
func (a *app) asOperator(ctx context.Context, do func(operator.Operator) error) error {
	c, err := a.operator(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return do(c)
}

// asked is the answer of the server to an act.
func asked[Out any](ctx context.Context, a *app, act func(operator.Operator, context.Context) (Out, error)) (answer Out, err error) {
	err = a.asOperator(ctx, func(o operator.Operator) (err error) {
		answer, err = act(o, ctx)
		return err
	})
	return answer, err
}

// told has the server carry out an act without an answer.
func told[In any](ctx context.Context, a *app, act func(operator.Operator, context.Context, In) error, r In) error {
	return a.asOperator(ctx, func(o operator.Operator) error { return act(o, ctx, r) })
}

// streamed copies a stream of the server to w.
func streamed[In any](ctx context.Context, a *app, act func(operator.Operator, context.Context, In, io.Writer) error, r In, w io.Writer) error {
	return a.asOperator(ctx, func(o operator.Operator) error { return act(o, ctx, r, w) })
}

// answeredBy is the answer of the server to an act with a request.
func answeredBy[In, Out any](ctx context.Context, a *app, act func(operator.Operator, context.Context, In) (Out, error), r In) (Out, error) {
	return asked(ctx, a, func(o operator.Operator, ctx context.Context) (Out, error) { return act(o, ctx, r) })
}
