package main

import (
	"context"
	"io"
	"net"

	"github.com/alcove-memory/alcove/host/admin"
	"github.com/alcove-memory/alcove/host/owner"
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
	if err != nil {
		return nil, err
	}
	dial := func(ctx context.Context) (net.Conn, error) { return owner.DialOperator(ctx, dir) }
	return admin.NewClient(dial), conn.Close()
}

// act asks for an act of the server, once.
func (a *app) act(ctx context.Context, name string, request, answer any) error {
	c, err := a.operator(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Call(ctx, name, request, answer)
}

// stream asks for an act whose answer is long.
func (a *app) stream(ctx context.Context, name string, request any, w io.Writer) error {
	c, err := a.operator(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Stream(ctx, name, request, w)
}
