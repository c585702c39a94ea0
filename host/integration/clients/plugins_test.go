package clients

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/daemon/plugins"
)

// TestRealClientsInstallTheirPlugins has each client validate its plugin, install it from a folder, and start its server.
func TestRealClientsInstallTheirPlugins(t *testing.T) {
	r := realClients(t)
	for _, test := range []struct {
		command string
		steps   [][]string // FOLDER stands for that of the plugins
		list    []string
		lists   []string // what it prints
	}{
		{"claude", [][]string{
			{"plugin", "validate", "--strict", "FOLDER"}, {"plugin", "validate", "--strict", "FOLDER/claude-code/alcove"},
			{"plugin", "marketplace", "add", "FOLDER"}, {"plugin", "install", "alcove@alcove"},
		}, []string{"mcp", "list"}, []string{"plugin:alcove:alcove", "Connected"}},
		{"codex", [][]string{{"plugin", "marketplace", "add", "FOLDER"}, {"plugin", "add", "alcove@alcove"}},
			[]string{"mcp", "list"}, []string{"alcove", "enabled"}},
		{"gemini", [][]string{{"extensions", "validate", "FOLDER/gemini/alcove"}, {"extensions", "install", "--consent", "FOLDER/gemini/alcove"}},
			[]string{"mcp", "list"}, []string{"alcove (from alcove)"}},
	} {
		t.Run(test.command, func(t *testing.T) {
			home := r.home(t)
			folder := writePlugins(t)
			for _, step := range test.steps {
				for i := range step {
					step[i] = strings.ReplaceAll(step[i], "FOLDER", folder)
				}
				home.run(t, test.command, step...)
			}
			defer home.run(t, "alcove", "stop")
			got := home.run(t, test.command, test.list...)
			for _, want := range test.lists {
				if !strings.Contains(got, want) {
					t.Errorf("%s %q: got %s, want %q", test.command, test.list, got, want)
				}
			}
		})
	}
}

// writePlugins writes the plugins into a folder.
func writePlugins(t *testing.T) string {
	t.Helper()
	files, err := plugins.Files("v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for name, data := range files {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// real are the commands of real clients, and the program beside them.
type real struct{ path string }

// realClients skips a test where there are none.
func realClients(t *testing.T) real {
	t.Helper()
	folder := os.Getenv(folderOfCommands)
	if folder == "" {
		t.Skipf("real clients are tried where %s names the folder with their commands", folderOfCommands)
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	own := t.TempDir()
	if err := os.Symlink(build(t), filepath.Join(own, "alcove")); err != nil {
		t.Fatal(err)
	}
	return real{strings.Join([]string{own, folder, os.Getenv("PATH")}, string(os.PathListSeparator))}
}

// userHome is the home of a user who has clients and the program.
type userHome struct {
	dir string
	env []string
}

func (r real) home(t *testing.T) userHome {
	t.Helper()
	dir := t.TempDir()
	env := []string{"HOME=" + dir, "PATH=" + r.path, "XDG_CONFIG_HOME=" + filepath.Join(dir, ".config"),
		"XDG_DATA_HOME=" + filepath.Join(dir, ".local", "share"), "CLAUDE_CONFIG_DIR=" + filepath.Join(dir, ".claude"), "CODEX_HOME=" + filepath.Join(dir, ".codex"), "ALCOVE_LISTEN=off"}
	if err := os.Mkdir(filepath.Join(dir, ".codex"), 0o700); err != nil {
		t.Fatal(err)
	}
	return userHome{dir, append(os.Environ(), env...)}
}

func (h userHome) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(h.dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// run runs a command of the home's path, with yes for its questions, and returns what it prints.
func (h userHome) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := h.command(t, name, args...)
	if err != nil {
		t.Fatalf("%s %q: got %v, want it done: %s", name, args, err, out)
	}
	return out
}

func (h userHome) command(t *testing.T, name string, args ...string) (string, error) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "/usr/bin/env", append([]string{name}, args...)...) // by the PATH of its environment
	c.Dir, c.Env, c.Stdin = h.dir, h.env, strings.NewReader("y\n")
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	return out.String(), err
}
