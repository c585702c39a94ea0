package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/daemon/bridge"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/sdk/client"
)

// settings are the command line's state between commands, in the file that settingsFile names. MCP clients do not read it.
type settings struct {
	Branch string `json:"branch,omitempty"` // that branch switch chose
}

func settingsPath(dir string) string { return filepath.Join(dir, "cli.json") }

func readSettings(file string) (settings, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return settings{}, nil
	}
	var s settings
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		return settings{}, fmt.Errorf("read the current branch from %s: %w (delete the file to go back to the branch default)", file, err)
	}
	return s, nil
}

func writeSettings(file string, s settings) error {
	data, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("keep the current branch: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("keep the current branch: %w", err)
	}
	if err := durable.WriteFile(file, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("keep the current branch: %w", err)
	}
	return nil
}

// scoped adds the flags of a command that reads or writes memories.
func (a *app) scoped(c *cobra.Command) *cobra.Command {
	flags := c.Flags()
	flags.StringVar(&a.scope.branch, "branch", a.env("ALCOVE_BRANCH"), "the branch (or ALCOVE_BRANCH; default: set by alcove branch switch)")
	flags.StringVar(&a.scope.namespace, "namespace", a.env("ALCOVE_NAMESPACE"), "the namespace (or ALCOVE_NAMESPACE)")
	flags.StringVar(&a.scope.agent, "agent", a.env("ALCOVE_AGENT"), "the author to record with each memory (or ALCOVE_AGENT)")
	return c
}

// branch is the branch that commands work on: the flag's, or the one that branch switch chose.
func (a *app) branch() (string, error) {
	file, err := a.settingsFile()
	if err != nil || a.scope.branch != "" {
		return a.scope.branch, err
	}
	s, err := readSettings(file)
	return s.Branch, err
}

// ask calls a tool of the server, once.
func (a *app) ask(ctx context.Context, tool string, arguments any) (client.ToolResult, error) {
	if !isText(arguments) || !isText(a.scope.agent) {
		return client.ToolResult{}, &usageError{errors.New("an argument is not valid UTF-8: give text in UTF-8")}
	}
	s, err := a.session(ctx)
	if err != nil {
		return client.ToolResult{}, err
	}
	defer s.Close()
	return s.Call(ctx, tool, arguments)
}

// session begins a session of this program, in the scope of a command.
func (a *app) session(ctx context.Context) (*client.Session, error) {
	branch, err := a.branch()
	if err != nil {
		return nil, err
	}
	here, err := a.projectHere()
	if err != nil {
		return nil, err
	}
	dial, err := a.dialer(owner.Hello{Namespace: a.scope.namespace, Project: here, Branch: branch, Agent: a.scope.agent})
	if err != nil {
		return nil, err
	}
	return newSession(ctx, bridge.Connect(ctx, dial))
}

// newSession begins a session of this program on a connection.
func newSession(ctx context.Context, conn io.ReadWriteCloser) (*client.Session, error) {
	return client.NewSession(ctx, conn, client.Program{Name: "alcove", Version: versionText()})
}

// isText reports whether all strings in the arguments of a call are UTF-8. JSON would replace what is not, and keys that
// differ there would be one.
func isText(v any) bool {
	switch v := v.(type) {
	case string:
		return utf8.ValidString(v)
	case json.RawMessage:
		return utf8.Valid(v)
	case []string:
		return !slices.ContainsFunc(v, func(s string) bool { return !utf8.ValidString(s) })
	case fields:
		for name, value := range v {
			if !utf8.ValidString(name) || !isText(value) {
				return false
			}
		}
	case map[string]json.RawMessage:
		for name, value := range v {
			if !utf8.ValidString(name) || !utf8.Valid(value) {
				return false
			}
		}
	}
	return true
}

// get calls a tool and decodes its structured answer into v. With --json it prints the answer and returns printed; otherwise it
// prints its notes.
func (a *app) get(ctx context.Context, tool string, arguments, v any) (printed bool, err error) {
	r, err := a.answered(ctx, tool, arguments)
	if err != nil {
		return false, err
	}
	if v != nil {
		if err := json.Unmarshal(r.Structured, v); err != nil {
			return false, fmt.Errorf("read the answer of %s: %w", tool, err)
		}
	}
	if a.asJSON {
		return true, a.printJSON(r.Structured)
	}
	a.proposal = r.Proposal
	return false, a.printNotes(append(r.Notes, notesIn(r.Structured)...))
}

// answered calls a tool, whose answer has a structure.
func (a *app) answered(ctx context.Context, tool string, arguments any) (client.ToolResult, error) {
	r, err := a.ask(ctx, tool, arguments)
	if err == nil && r.Structured == nil {
		err = fmt.Errorf("%s answered without a structured result: %.200s", tool, r.Text)
	}
	return r, err
}
