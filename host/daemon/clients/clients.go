// Package clients knows the MCP clients of a machine: where each keeps its servers and hooks, and how to add one and to take it back.
package clients

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"github.com/alcove-memory/alcove/host/daemon/clients/edit"
	"github.com/alcove-memory/alcove/host/regular"
)

// Machine is what the files of clients depend on.
type Machine struct {
	OS     string // as in runtime.GOOS
	Home   string // the user's home directory
	Env    func(string) string
	Folder string // of the project
}

func (m Machine) env(name string) string {
	if m.Env == nil {
		return ""
	}
	return m.Env(name)
}

func (m Machine) home(elements ...string) string {
	return filepath.Join(append([]string{m.Home}, elements...)...)
}

// config is a file of programs that follow the XDG directories on every system.
func (m Machine) config(elements ...string) string {
	return filepath.Join(append([]string{cmp.Or(m.env("XDG_CONFIG_HOME"), m.home(".config"))}, elements...)...)
}

// apps is a file where the system keeps what programs store for a user.
func (m Machine) apps(elements ...string) string {
	switch m.OS {
	case "darwin":
		return m.home(append([]string{"Library", "Application Support"}, elements...)...)
	case "windows":
		return filepath.Join(append([]string{cmp.Or(m.env("APPDATA"), m.home("AppData", "Roaming"))}, elements...)...)
	}
	return m.config(elements...)
}

// Scope says whose a configuration is.
type Scope string

// The scopes.
const (
	User    Scope = "user"    // in all projects
	Project Scope = "project" // in one folder, for all who work there
)

// Client is a program that uses MCP servers.
type Client struct {
	Name, Title string
	Together    string      // the title under which clients of one form are printed together
	Where       string      // the lines go
	OverHTTP    string      // what to know about lines for HTTP
	List        []string    // the members around a server's entry
	Format      edit.Format // of the file

	stdio, http func(Server) Entry     // http is nil for a client that does without
	user        func(Machine) []string // the user's file: the first that exists, or the first; nil: it is not known
	project     []string               // likewise, in the folder
	further     []string               // members around further entries in the user's file; * is any member
	signs       func(Machine) []string // paths that only the client makes
	programs    []string               // its commands
	transcripts func(Machine) []string // folders of sessions' transcripts; nil: they are not known
	hooks       *hooks                 // nil: it has none
	plugin      func(Machine) string   // the file that says that it has the program's plugin; nil: there is no plugin for it
}

// Find is the client of a name.
func Find(name string) (Client, bool) {
	all := All()
	i := slices.IndexFunc(all, func(c Client) bool { return c.Name == name })
	if i < 0 {
		return Client{}, false
	}
	return all[i], true
}

// Transcripts are the folders in which the client has the transcripts of its sessions.
func (c Client) Transcripts(m Machine) []string {
	if c.transcripts == nil {
		return nil
	}
	return c.transcripts(m)
}

// CanSetUp reports whether the client's file of a scope is known.
func (c Client) CanSetUp(s Scope) bool {
	if s == Project {
		return len(c.project) > 0
	}
	return c.user != nil
}

// Installed reports whether the client was found: one of its files, or a command that look finds.
func (c Client) Installed(m Machine, look func(string) (string, error)) bool {
	if c.signs == nil {
		return false
	}
	for _, path := range c.signs(m) {
		if _, err := os.Stat(path); err == nil {
			return true
		}
	}
	return slices.ContainsFunc(c.programs, func(name string) bool { _, err := look(name); return err == nil })
}

// Place is a list of servers in a file.
type Place struct {
	Path   string
	List   []string // the members around the entries; * is any member
	Format edit.Format
}

// Read is what the file says, as JSON.
func (p Place) Read() (json.RawMessage, error) {
	data, err := regular.Read(p.Path, edit.Most)
	if err != nil {
		return nil, err
	}
	return p.Format.Value(data, nil)
}

// Places are where the client's servers are: in the user's file, and in the folder's.
func (c Client) Places(m Machine) (list []Place) {
	if c.CanSetUp(User) {
		path := c.file(m, User)
		list = append(list, Place{path, c.List, c.Format})
		if c.further != nil {
			list = append(list, Place{path, c.further, c.Format})
		}
	}
	if c.CanSetUp(Project) {
		list = append(list, Place{c.file(m, Project), c.List, c.Format})
	}
	return list
}

// file is the client's file of a scope.
func (c Client) file(m Machine, s Scope) string {
	var candidates []string
	if s == Project {
		for _, name := range c.project {
			candidates = append(candidates, filepath.Join(m.Folder, filepath.FromSlash(name)))
		}
	} else {
		candidates = c.user(m)
	}
	i := slices.IndexFunc(candidates, func(path string) bool { _, err := os.Stat(path); return err == nil })
	return candidates[max(i, 0)]
}
