package space

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/host/store"
)

const (
	placeFile   = "store.json" // where the store of a data directory was moved
	pendingFile = "move.json"  // a move whose database decides whether it took place
	placeLimit  = 64 << 10     // bytes of either
	urlLimit    = 8 << 10      // bytes of the URL of a store

	// InDirectory is the place of a store that is files of its data directory.
	InDirectory = "directory"
)

// Place is where a store is. The zero value is where options say.
type Place struct {
	Store string `json:"store,omitempty"` // InDirectory, or the URL of a database, without a password
	File  string `json:"file,omitempty"`  // that has the URL instead, which may have one
	Space string `json:"space,omitempty"` // of the database
}

// placed is what placeFile has.
type placed struct {
	Place
	Left *Place `json:"left,omitempty"` // where it was before, and is kept; nil: it was removed
}

// Pending is a move of a store that was to be decided.
type Pending struct {
	Move string `json:"move"`
	From Place  `json:"from"`
	To   Place  `json:"to"`
}

// ReadURL reads the URL of a store from a file.
func ReadURL(path string) (string, error) {
	f, err := os.Open(path) // which may be a pipe
	if err != nil {
		return "", fmt.Errorf("read the URL of the store: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, urlLimit+1))
	if err != nil {
		return "", fmt.Errorf("read the URL of the store: %w", err)
	}
	if len(data) > urlLimit {
		return "", fmt.Errorf("the file %s of the store's URL has more than %d bytes", path, urlLimit)
	}
	text := strings.TrimSpace(string(data))
	if text == "" {
		return "", fmt.Errorf("the file %s of the store's URL is empty", path)
	}
	return text, nil
}

// Named returns the place of a space with a name, unless the place says which.
func (p Place) Named(space string) (Place, error) {
	text := p.Store
	if p.File != "" {
		var err error
		if text, err = ReadURL(p.File); err != nil {
			return p, err
		}
	}
	if u, err := url.Parse(text); p.Space == "" && (err != nil || !u.Query().Has("space")) { // the driver says what is wrong with it
		p.Space = space
	}
	return p, nil
}

// Driver returns the driver of a place. It is given, or shares its connections, if it is of the same database.
func (p Place) Driver(given store.Driver) (store.Driver, error) {
	text := p.Store
	switch {
	case p == Place{}:
		return given, nil
	case p.Store == InDirectory:
		return DefaultDriver(), nil
	case p.File != "":
		var err error
		if text, err = ReadURL(p.File); err != nil {
			return nil, err
		}
	}
	d, err := driverOfSpace(text, p.Space)
	if err != nil || fmt.Sprint(given) == fmt.Sprint(d) {
		return given, err
	}
	if in, ok := given.(store.Spaced); ok {
		if same, err := in.In(p.Space); err == nil && fmt.Sprint(same) == fmt.Sprint(d) {
			return same, nil
		}
	}
	return d, nil
}

// driverOfSpace is the driver of a space in the database of a URL.
func driverOfSpace(text, space string) (store.Driver, error) {
	u, err := url.Parse(text)
	if err == nil && space != "" {
		query := u.Query()
		query.Set("space", space)
		u.RawQuery = query.Encode()
		text = u.String()
	}
	return DriverFor(text) // which says what is wrong with it
}

// Locate returns the driver of the store of a data directory, whose lock the caller holds: the one of the place that is recorded, or the
// given one. It completes a move that was interrupted, or takes it back.
func Locate(ctx context.Context, dir string, given store.Driver) (store.Driver, error) {
	if _, err := Resolve(ctx, dir, given, nil); err != nil {
		return nil, err
	}
	return Recorded(dir, given)
}

// Recorded is Locate for a data directory whose lock the caller may not hold. A move that was interrupted stays as it is.
func Recorded(dir string, given store.Driver) (store.Driver, error) {
	var r placed
	if found, err := readJSON(filepath.Join(dir, placeFile), &r); err != nil || !found {
		return given, err
	}
	return r.Place.Driver(given)
}

// At returns where the store of a data directory is recorded to be; the zero Place: nowhere. A store in the directory is nowhere else.
func At(dir string) (Place, error) {
	var r placed
	found, err := readJSON(filepath.Join(dir, placeFile), &r)
	if err != nil || found {
		return r.Place, err
	}
	embedded, err := DefaultDriver().Exists(dir)
	if embedded {
		r.Store = InDirectory
	}
	return r.Place, err
}

// Left returns where the store of a data directory was before it was moved; nil: nothing is left of a move.
func Left(dir string) (*Place, error) {
	var r placed
	_, err := readJSON(filepath.Join(dir, placeFile), &r)
	return r.Left, err
}

// Forget records that nothing is left where the store was before.
func Forget(dir string) error {
	var r placed
	if found, err := readJSON(filepath.Join(dir, placeFile), &r); err != nil || !found {
		return err
	}
	r.Left = nil
	return writeJSON(filepath.Join(dir, placeFile), r)
}

// Begin records that a database decides about a move from now on.
func (p Pending) Begin(dir string) error { return writeJSON(filepath.Join(dir, pendingFile), p) }

// Resolve completes the pending move of a data directory, or takes it back, as its database has decided. reached is called after each of
// its steps; it may be nil.
func Resolve(ctx context.Context, dir string, given store.Driver, reached func(step string)) (moved bool, err error) {
	var p Pending
	if found, err := readJSON(filepath.Join(dir, pendingFile), &p); err != nil || !found {
		return false, errors.Join(err, dropStaged(dir))
	}
	if reached == nil {
		reached = func(string) {}
	}
	if moved, err = p.decided(ctx, given); err != nil {
		return false, fmt.Errorf("a move of the store of %s was interrupted, and its database has to say whether it took place: %w", dir, err)
	}
	if moved {
		err = p.complete(dir, reached)
	} else {
		err = dropStaged(dir)
	}
	if err != nil {
		return moved, fmt.Errorf("complete the move of the store of %s: %w", dir, err)
	}
	if err := os.Remove(filepath.Join(dir, pendingFile)); err != nil {
		return moved, err
	}
	return moved, durable.SyncDir(dir)
}

// decided reports whether the move took place. If it did not, it never will.
func (p Pending) decided(ctx context.Context, given store.Driver) (bool, error) {
	at := p.To
	if p.toDirectory() {
		at = p.From
	}
	d, err := at.Driver(given)
	if err != nil {
		return false, err
	}
	by, ok := d.(store.Deciding)
	switch {
	case !ok:
		return false, errors.New("name that database with --store-file, --store or ALCOVE_STORE")
	case p.toDirectory():
		return by.Departed(ctx, p.Move)
	}
	return by.Arrived(ctx, p.Move)
}

func (p Pending) toDirectory() bool { return p.To.Store == InDirectory }

// complete has the data directory say what was decided.
func (p Pending) complete(dir string, reached func(step string)) error {
	if p.toDirectory() {
		if err := DefaultDriver().(store.Placing).PlaceStaged(dir); err != nil {
			return err
		}
		reached("placed")
	}
	err := writeJSON(filepath.Join(dir, placeFile), placed{p.To, &p.From})
	reached("recorded")
	return err
}

func dropStaged(dir string) error { return DefaultDriver().(store.Placing).DropStaged(dir) }

// checkPending refuses a data directory whose move is not resolved.
func checkPending(dir string) error {
	_, err := os.Stat(filepath.Join(dir, pendingFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil:
		err = fmt.Errorf("a move of the store of %s was interrupted: start the server, which completes or reverts it", dir)
	}
	return err
}

func readJSON(path string, v any) (found bool, err error) {
	data, err := regular.Read(path, placeLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		return false, fmt.Errorf("read where the store is: %s: %w", path, err)
	}
	return true, nil
}

func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "\t")
	if err == nil {
		err = durable.WriteFile(path, append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("record where the store is: %w", err)
	}
	return nil
}
