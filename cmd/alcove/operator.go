package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/admin"
)

// operator connects to the socket for operators, and starts the server if need be.
func (a *app) operator(ctx context.Context) (c *admin.Client, err error) {
	if a.elsewhere.admin != "" {
		c, err = a.operatorElsewhere()
	} else {
		c, err = a.operatorHere(ctx)
	}
	if err == nil {
		c.Reason = a.why
	}
	return c, err
}

// operatorElsewhere speaks to a server's listener for operators.
func (a *app) operatorElsewhere() (*admin.Client, error) {
	u, err := url.Parse(a.elsewhere.admin)
	if err != nil || u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.User != nil {
		return nil, &usageError{fmt.Errorf("--admin %.80q: give an address such as https://memory.example:9743", a.elsewhere.admin)}
	}
	key, err := a.key()
	if err != nil {
		return nil, err
	}
	if key == "" || a.elsewhere.cert == "" || a.elsewhere.certKey == "" {
		return nil, &usageError{errors.New("--admin: give --client-cert and --client-key, and the key of alcove operator create with --key-file")}
	}
	cert, err := tls.LoadX509KeyPair(a.elsewhere.cert, a.elsewhere.certKey)
	if err != nil {
		return nil, fmt.Errorf("read the operator's certificate (--client-cert, --client-key): %w", err)
	}
	roots, err := a.roots()
	if err != nil {
		return nil, err
	}
	return admin.NewClientOf("https://"+u.Host, key, &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{cert}, RootCAs: roots}), nil
}

// operatorHere connects to the socket of the data directory's server, and starts that if need be.
func (a *app) operatorHere(ctx context.Context) (*admin.Client, error) {
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

// callAndPrint is call for a command that prints the answer with show.
func callAndPrint[In, Out any](ctx context.Context, a *app, act operator.Act[In, Out], r In, show func(Out) error) error {
	answer, err := call(ctx, a, act, r)
	if err != nil {
		return err
	}
	return show(answer)
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
