package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/admin"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/space/folder"
)

// spaceNames creates, lists, renames and deletes the spaces of a database.
type spaceNames interface {
	io.Closer
	List(context.Context) ([]operator.ListedSpace, error)
	Create(ctx context.Context, name string) error
	Rename(ctx context.Context, name, to string) error
	Delete(ctx context.Context, name string) error
}

// spacesOfDatabase are the spaces of the database that the server of the data directory shares, or that --store names; nil: they are
// directories.
func (a *app) spacesOfDatabase(ctx context.Context) (spaceNames, error) {
	if errors.As(owner.CheckFree(a.data), new(*owner.OwnedError)) {
		served := servedNames{admin.NewClient(func(ctx context.Context) (net.Conn, error) { return owner.DialOperator(ctx, a.data) })}
		if _, err := operator.Call(ctx, served, operator.GetCluster, operator.None{}); err == nil {
			return served, nil
		}
		served.Close() // it shares none
	}
	url, err := a.storeURL()
	if err != nil || url == "" {
		return nil, err
	}
	names, err := space.NamesIn(ctx, url)
	if err != nil {
		return nil, err
	}
	return names, nil
}

// servedNames asks the server.
type servedNames struct{ *admin.Client }

func (s servedNames) Close() error {
	s.Client.Close()
	return nil
}

func (s servedNames) List(ctx context.Context) ([]operator.ListedSpace, error) {
	return operator.Call(ctx, s.Client, operator.ListSpaces, operator.None{})
}

func (s servedNames) Create(ctx context.Context, name string) error {
	_, err := operator.Call(ctx, s.Client, operator.CreateSpace, operator.SpaceName{Name: name})
	return err
}

func (s servedNames) Rename(ctx context.Context, name, to string) error {
	_, err := operator.Call(ctx, s.Client, operator.RenameSpace, operator.SpaceRename{Name: name, To: to})
	return err
}

func (s servedNames) Delete(ctx context.Context, name string) error {
	_, err := operator.Call(ctx, s.Client, operator.DeleteSpace, operator.SpaceName{Name: name})
	return err
}

// createSpace makes a space, and its directory on this machine.
func (a *app) createSpace(ctx context.Context, f folder.Folder, name string) (dir string, err error) {
	names, err := a.spacesOfDatabase(ctx)
	if err != nil {
		return "", err
	}
	if names == nil {
		return f.Create(name)
	}
	defer names.Close()
	if err := names.Create(ctx, name); err != nil {
		return "", err
	}
	if dir, err = f.Create(name); errors.Is(err, folder.ErrExists) { // the server has the space's files already
		dir, err = f.Dir(name)
	}
	return dir, err
}

func (a *app) listSpaces(ctx context.Context, names spaceNames, err error) error {
	if err != nil {
		return err
	}
	defer names.Close()
	list, err := names.List(ctx)
	if err != nil {
		return err
	}
	return printEach(a, list, func(s operator.ListedSpace) error {
		return a.printf("%s  %s  %s\n", s.Name, sizeOf(s), stateOfShared(s))
	})
}

func sizeOf(s operator.ListedSpace) string {
	if s.Bytes < 0 {
		return "size unknown: it takes too long to count"
	}
	return fmt.Sprintf("%.1f MB", float64(s.Bytes)/1e6)
}

func stateOfShared(s operator.ListedSpace) string {
	state := "nothing written"
	if !s.Written.IsZero() {
		state = "last written " + clock(s.Written)
	}
	switch {
	case s.MovedTo != "":
		return state + ", moved to " + s.MovedTo
	case s.Leader != "":
		return state + ", led by " + s.Leader
	}
	return state + ", led by nobody"
}

// renameSpace renames a space, and its directory on this machine.
func (a *app) renameSpace(ctx context.Context, f folder.Folder, names spaceNames, name, to string) error {
	if names != nil {
		defer names.Close()
	}
	if _, served := names.(servedNames); served { // which renames the directory, too
		return names.Rename(ctx, name, to)
	}
	_, err := f.Dir(name)
	if err != nil && (names == nil || !errors.Is(err, folder.ErrNone)) {
		return err
	}
	there := err == nil
	if there {
		if err := a.closeSpace(ctx, f, name); err != nil {
			return err
		}
	}
	if names != nil {
		if err := names.Rename(ctx, name, to); err != nil {
			return err
		}
	}
	if !there {
		return nil
	}
	return f.Rename(name, to)
}

// eraseSpace erases a space of a database, and what its directory on this machine has beside its audit log.
func (a *app) eraseSpace(ctx context.Context, f folder.Folder, names spaceNames, name string, yes bool) error {
	defer names.Close()
	if !yes {
		return &usageError{errors.New("deleting a space in a database erases its data, which cannot be undone: repeat the command with --yes")}
	}
	_, served := names.(servedNames)
	dir, err := f.Dir(name)
	if !served && err == nil {
		err = a.closeSpace(ctx, f, name)
	}
	if err != nil && !errors.Is(err, folder.ErrNone) {
		return err
	}
	if err := names.Delete(ctx, name); err != nil {
		return err
	}
	if _, err := os.Stat(dir); !served && dir != "" && err == nil {
		if err := f.Retire(name, time.Now()); err != nil {
			return err
		}
	}
	return a.printf("deleted the space %s and erased its data\n", name)
}
