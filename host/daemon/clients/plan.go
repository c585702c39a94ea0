package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/host/daemon/clients/edit"
	"github.com/alcove-memory/alcove/host/internal/profile"
	"github.com/alcove-memory/alcove/host/regular"
)

// Change is what becomes of a file.
type Change struct {
	Client string
	Path   string // of the file, to which symbolic links lead
	Before []byte // nil: there is no file
	After  []byte // nil: there will be none

	scope   Scope
	folder  string      // of the project
	mode    fs.FileMode // of the file
	entries []written
	undoes  *record // which is forgotten when the change is made
	exact   bool    // After is what the file was before setup
}

// Differs reports whether the change changes anything.
func (c Change) Differs() bool {
	return (c.Before == nil) != (c.After == nil) || !bytes.Equal(c.Before, c.After)
}

// written is an entry that was written, as the journal keeps it.
type written struct {
	Format  edit.Format     `json:"format,omitempty"`
	Path    []string        `json:"path"`
	Element bool            `json:"element,omitempty"` // of the list at Path
	Value   json.RawMessage `json:"value"`
	Before  json.RawMessage `json:"before,omitempty"` // what was there; absent: nothing
	Made    int             `json:"made"`             // how many of the path's elements were missing
}

// Plan is what connects a client to a server: a change for each of its files, also for those that need none.
func Plan(m Machine, c Client, s Scope, server Server) ([]Change, error) {
	if !c.CanSetUp(s) {
		return nil, fmt.Errorf("%s has no file for the scope %s that is known", c.Title, s)
	}
	change, err := c.open(m, s, c.file(m, s))
	if err != nil {
		return nil, err
	}
	name := c.nameOf(server, change.Before)
	if c.has(server, change.Before, name) {
		server.Profile = profile.Auto
	}
	path := append(slices.Clone(c.List), name)
	if err := change.set(c, c.Format, path, c.entry(server)); err != nil {
		return nil, err
	}
	if c.hooks == nil || server.Hook == nil {
		return []Change{change}, nil
	}
	changes := []Change{change}
	if path := c.hooks.file(m, s); path != c.file(m, s) {
		change, err := c.open(m, s, path)
		if err != nil {
			return nil, err
		}
		changes = append(changes, change)
	}
	err = changes[len(changes)-1].addHooks(c, server)
	return slices.DeleteFunc(changes, func(c Change) bool { return c.Before == nil && c.After == nil }), err // without a file for no hooks
}

// open begins a change of a file.
func (c Client) open(m Machine, s Scope, path string) (Change, error) {
	to, err := regular.Destination(path)
	if err != nil {
		return Change{}, fmt.Errorf("set up %s: %w", c.Title, err)
	}
	change := Change{Client: c.Name, Path: to, scope: s, mode: 0o600}
	if s == Project {
		change.folder = m.Folder
		if err := within(m.Folder, to); err != nil {
			return Change{}, fmt.Errorf("set up %s: %w", c.Title, err)
		}
	}
	info, err := os.Stat(to)
	if errors.Is(err, fs.ErrNotExist) {
		return change, nil
	}
	if err != nil {
		return Change{}, fmt.Errorf("set up %s: %w", c.Title, err)
	}
	change.mode = info.Mode().Perm()
	if change.Before, err = regular.Read(to, edit.Most); err != nil {
		return Change{}, fmt.Errorf("set up %s: %w", c.Title, err)
	}
	change.Before = append([]byte{}, change.Before...) // not nil, however empty
	change.After = change.Before
	return change, nil
}

// within refuses a file of a project that leads out of it: a project may come from anybody.
func within(folder, path string) error {
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return err
	}
	at := path
	for {
		found, err := filepath.EvalSymlinks(at)
		if err == nil {
			if inside, err := filepath.Rel(real, found); err != nil || inside == ".." || strings.HasPrefix(inside, ".."+string(filepath.Separator)) {
				return fmt.Errorf("%s leads out of the project, to %s: edit that file yourself", path, found)
			}
			return nil
		}
		if !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			return err
		}
		at = filepath.Dir(at)
	}
}

// set gives an entry of the file a value.
func (c *Change) set(client Client, f edit.Format, path []string, value json.RawMessage) error {
	before, err := present(f, c.After, path)
	if err != nil {
		return c.refused(client, err)
	}
	if before != nil && path[len(path)-1] != edit.Append {
		value = merged(before, value)
	}
	after, made, err := f.Set(c.After, path, value)
	if err != nil {
		return c.refused(client, err)
	}
	if bytes.Equal(after, c.After) && c.After != nil {
		return nil
	}
	w := written{Format: f, Path: path, Value: value, Before: before, Made: made}
	if last := len(path) - 1; path[last] == edit.Append {
		w.Path, w.Element = path[:last], true
	}
	c.After, c.entries = after, append(c.entries, w)
	return nil
}

// addHooks adds the hooks that the file lacks, and replaces those that run another program.
func (c *Change) addHooks(client Client, server Server) error {
	for _, e := range client.hooks.events {
		path := []string{"hooks", e.name}
		list, err := elements(c.After, path)
		if err != nil {
			return c.refused(client, err)
		}
		command := server.Hook(e.event, client.Name)
		if command == "" {
			continue
		}
		if err := c.addVersion(client); err != nil {
			return err
		}
		at := edit.Append
		if i := slices.IndexFunc(list, func(raw json.RawMessage) bool { return ours(raw, client.Name) }); i >= 0 {
			at = strconv.Itoa(i)
		}
		if err := c.set(client, edit.JSON, append(path, at), client.hooks.form(command)); err != nil {
			return err
		}
	}
	return nil
}

// addVersion adds the version of the file's format, if the client's files name one.
func (c *Change) addVersion(client Client) error {
	path, recorded := []string{"version"}, len(c.entries)
	existing, err := present(edit.JSON, c.After, path)
	if client.hooks.version == 0 || err == nil && existing != nil {
		return nil
	}
	err = c.set(client, edit.JSON, path, json.RawMessage(strconv.Itoa(client.hooks.version)))
	c.entries = c.entries[:recorded] // hooks of others that come later need it, too
	return err
}

// refused says which file could not be edited, and what to do.
func (c *Change) refused(client Client, err error) error {
	var syntax *edit.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("%s cannot be read, line %d: %s: correct it, or move it away, and repeat the command", c.Path, syntax.Line, syntax.Reason)
	}
	return fmt.Errorf("edit %s: %w: put the lines of alcove connect %s there yourself", c.Path, err, client.Name)
}
