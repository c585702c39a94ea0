package space

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/alcove-memory/alcove/host/space/folder"
	"github.com/alcove-memory/alcove/host/store"
)

const sweepPause = 200 * time.Millisecond

// Names creates, lists, renames and deletes the spaces of a database that no server leads. Its errors wrap those of package folder.
type Names struct {
	of  store.Catalog
	own string // the space of the URL, which is neither renamed nor deleted
}

// NamesIn returns the spaces of the database of a URL. The caller closes it.
func NamesIn(ctx context.Context, url string) (*Names, error) {
	driver, err := DriverFor(url)
	if err != nil {
		return nil, err
	}
	shared, ok := driver.(store.Shared)
	if !ok {
		return nil, fmt.Errorf("%s has no spaces with names", driver)
	}
	of, err := shared.Servers(ctx)
	if err != nil {
		return nil, err
	}
	return &Names{of, shared.Space()}, nil
}

// Close closes the connections.
func (n *Names) Close() error { return n.of.Close() }

// List returns the spaces.
func (n *Names) List(ctx context.Context) ([]store.ListedSpace, error) { return n.of.Spaces(ctx) }

// Create creates an empty space.
func (n *Names) Create(ctx context.Context, name string) error {
	if err := folder.CheckName(name); err != nil {
		return err
	}
	return nameError(n.of.Add(ctx, name))
}

// Rename gives a space another name. The error is a store.LedError while a server leads it.
func (n *Names) Rename(ctx context.Context, name, to string) error {
	err := folder.CheckName(to)
	if err == nil {
		err = n.mayEnd(name)
	}
	if err == nil {
		err = nameError(n.of.Rename(ctx, name, to, ""))
	}
	return err
}

// Delete deletes a space, and erases what it had.
func (n *Names) Delete(ctx context.Context, name string) error {
	err := n.mayEnd(name)
	if err == nil {
		err = nameError(n.of.Delete(ctx, name, ""))
	}
	for left := true; left && err == nil; {
		if left, err = n.of.Sweep(ctx); left {
			time.Sleep(sweepPause) // reads that had begun are to end
		}
	}
	return err
}

func (n *Names) mayEnd(name string) error {
	if name == n.own {
		return fmt.Errorf("the space %s is the server's own memory, which is neither renamed nor deleted: to do so, name another one in the URL of the store, as in ?space=other", name)
	}
	return nil
}

// namedError is an error about a name, of one of the kinds of package folder.
type namedError struct {
	error
	kind error
}

func (e namedError) Unwrap() []error { return []error{e.error, e.kind} }

func nameError(err error) error {
	switch {
	case errors.Is(err, store.ErrExists):
		return namedError{err, folder.ErrExists}
	case errors.Is(err, store.ErrNotFound), errors.As(err, new(*store.FormerError)), errors.As(err, new(*store.DepartedError)):
		return namedError{err, folder.ErrNone}
	}
	return err
}
