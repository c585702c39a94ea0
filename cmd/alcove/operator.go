package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"

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

// wholeFile writes a file that appears when it is whole and on the disk.
func wholeFile(path string, write func(w io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.partial")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	err = write(f)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(f.Name()))
	}
	return nil
}
