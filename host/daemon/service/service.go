// Package service installs the server as a service of a user's service manager: systemd on Linux, launchd on macOS.
package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/host/durable"
)

// mark is in every file that Install writes. A file without it is somebody else's.
const mark = "Installed by alcove service install"

// ErrNotInstalled means that there is no such service.
var ErrNotInstalled = errors.New("the service is not installed")

// Service is what to run.
type Service struct {
	Name    string   // letters, digits and -: distinguishes the services of a user
	Program string   // absolute path
	Args    []string // of the program
}

// Status is the state of a service.
type Status struct {
	Name    string `json:"name"`    // as the service manager knows it
	File    string `json:"file"`    // that describes it to the manager
	Enabled bool   `json:"enabled"` // it is started when the user logs in
	State   string `json:"state"`   // in the manager's words, such as active or running
	PID     int    `json:"pid,omitempty"`
}

// Options configures Manager.
type Options struct {
	OS     string                     // as runtime.GOOS
	Home   string                     // of the user, absolute
	Config string                     // the user's configuration directory, such as $XDG_CONFIG_HOME; empty: that in Home
	UID    int                        // of the user
	Run    Runner                     // nil: runs programs
	Write  func(string, []byte) error // nil: durably
}

// Runner runs a program of the service manager and returns its output.
type Runner func(ctx context.Context, name string, args ...string) (string, error)

// manager describes services to a service manager and tells it what to do.
type manager interface {
	file(name string) string            // where a service is described
	describe(s Service) ([]byte, error) // what is in that file
	enable(name string) [][]string      // commands that start it now and at each login
	disable(name string) [][]string     // commands that undo this
	forget(name string) [][]string      // commands after its file was removed
	status(ctx context.Context, name string) (Status, error)
}

// Manager installs services.
type Manager struct {
	manager
	options Options
}

// New returns the service manager of an operating system. Those without one of a user's are an error.
func New(o Options) (*Manager, error) {
	if o.Run == nil {
		o.Run = run
	}
	if o.Write == nil {
		o.Write = func(path string, data []byte) error {
			return durable.Output(path, 0o644, func(w io.Writer) error {
				_, err := w.Write(data)
				return err
			})
		}
	}
	if !filepath.IsAbs(o.Home) {
		return nil, errors.New("services are described in the home directory, which is not known: set HOME")
	}
	switch o.OS {
	case "linux":
		return &Manager{systemd{o}, o}, nil
	case "darwin":
		return &Manager{launchd{o}, o}, nil
	}
	return nil, fmt.Errorf("services are installed with systemd and launchd, and %s has neither: run alcove serve at login, "+
		"for example as a task of its scheduler, or leave it to alcove mcp, which starts a server when it needs one", o.OS)
}

// Install describes a service to the manager, starts it, and has it started at each login. A service that is installed already is
// replaced. If the manager refuses, all is as it was.
func (m *Manager) Install(ctx context.Context, s Service) error {
	if err := s.check(); err != nil {
		return err
	}
	content, err := m.describe(s)
	if err != nil {
		return err
	}
	path := m.file(s.Name)
	before, err := m.read(path)
	if err != nil && !errors.Is(err, ErrNotInstalled) {
		return err
	}
	if before != nil && !bytes.Equal(before, content) { // or the old one goes on running
		if err := m.all(ctx, m.disable(s.Name)); err != nil {
			return fmt.Errorf("stop the service that is installed: %w", err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make the folder of services: %w", err)
	}
	if err := m.options.Write(path, content); err != nil {
		return fmt.Errorf("describe the service in %s: %w", path, err)
	}
	if err := m.all(ctx, m.enable(s.Name)); err != nil {
		return errors.Join(fmt.Errorf("start the service: %w", err), m.undo(ctx, s.Name, before))
	}
	return nil
}

// undo restores what was installed before; nil: nothing.
func (m *Manager) undo(ctx context.Context, name string, before []byte) error {
	ctx = context.WithoutCancel(ctx)
	if before != nil {
		return errors.Join(m.options.Write(m.file(name), before), m.all(ctx, m.enable(name)))
	}
	m.all(ctx, m.disable(name)) // it may be half enabled; the first error says why
	return os.Remove(m.file(name))
}

// Remove stops a service and removes its description.
func (m *Manager) Remove(ctx context.Context, name string) error {
	path := m.file(name)
	if _, err := m.read(path); err != nil {
		return err
	}
	if err := m.all(ctx, m.disable(name)); err != nil {
		return fmt.Errorf("stop the service: %w", err)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove the service: %w", err)
	}
	return m.all(ctx, m.forget(name))
}

// Status returns the state of a service.
func (m *Manager) Status(ctx context.Context, name string) (Status, error) {
	if _, err := m.read(m.file(name)); err != nil {
		return Status{}, err
	}
	status, err := m.status(ctx, name)
	status.File = m.file(name)
	return status, err
}

// read reads the description of a service, which must be one that Install wrote.
func (m *Manager) read(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: there is no %s", ErrNotInstalled, path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the description of the service: %w", err)
	}
	if !bytes.Contains(content, []byte(mark)) {
		return nil, fmt.Errorf("%s was not made by alcove service install: move it away first", path)
	}
	return content, nil
}

// all runs commands up to the first that fails.
func (m *Manager) all(ctx context.Context, commands [][]string) error {
	for _, c := range commands {
		if out, err := m.options.Run(ctx, c[0], c[1:]...); err != nil {
			return fmt.Errorf("%s: %w: %s%s", strings.Join(c, " "), err, strings.TrimSpace(out), remedy(out))
		}
	}
	return nil
}

// remedy says what to do about a manager that is not there for this user; empty: nothing is known.
func remedy(out string) string {
	if !strings.Contains(out, "Failed to connect to bus") && !strings.Contains(out, "DBUS_SESSION_BUS_ADDRESS") {
		return ""
	}
	return ": this session has no service manager of its own, as after su or in a container: log in as this user (ssh, or machinectl shell USER@), run loginctl enable-linger, " +
		"and repeat the command; or start alcove serve in another way"
}

// check refuses what no service manager can be told.
func (s Service) check() error {
	if s.Name == "" || strings.Trim(s.Name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return fmt.Errorf("the name of a service has letters, digits and - only, got %q", s.Name)
	}
	if !filepath.IsAbs(s.Program) {
		return fmt.Errorf("the program of a service must be an absolute path, got %q", s.Program)
	}
	for _, text := range append([]string{s.Program}, s.Args...) {
		if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
			return fmt.Errorf("the service manager cannot be told %q: use text without control characters", text)
		}
	}
	return nil
}
