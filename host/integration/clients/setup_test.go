package clients

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// folderOfCommands names the folder with the commands of real clients, such as the node_modules/.bin of
// npm install @anthropic-ai/claude-code @openai/codex @google/gemini-cli opencode-ai. They are some 500 MB, so nobody is made to have them.
const folderOfCommands = "ALCOVE_REAL_CLIENTS"

// TestRealClientsListTheServerThatSetupWrote has each client read the file that setup wrote, in a home of its own.
func TestRealClientsListTheServerThatSetupWrote(t *testing.T) {
	folder := os.Getenv(folderOfCommands)
	if folder == "" {
		t.Skipf("real clients are tried where %s names the folder with their commands", folderOfCommands)
	}
	program := build(t)
	for _, client := range []struct {
		name, command string
		lists         string // what the client says of a server that it has started, or of one that it has only read
	}{
		{"claude-code", "claude", "Connected"},
		{"codex", "codex", "enabled"},
		{"gemini", "gemini", "alcove"},
		{"opencode", "opencode", "connected"},
	} {
		t.Run(client.name, func(t *testing.T) {
			command, err := filepath.Abs(filepath.Join(folder, client.command))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(command); err != nil {
				t.Skipf("%s is not there: %v", client.command, err)
			}
			home := t.TempDir()
			run := func(name string, args ...string) string {
				t.Helper()
				c := exec.CommandContext(t.Context(), name, args...)
				c.Dir = home
				c.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "CLAUDE_CONFIG_DIR=", "CODEX_HOME=", "ALCOVE_LISTEN=off",
					"ALCOVE_DATA="+filepath.Join(home, "data"))
				var out bytes.Buffer
				c.Stdout, c.Stderr = &out, &out
				if err := c.Run(); err != nil {
					t.Fatalf("%s %q: got %v, want its list: %s", name, args, err, out.String())
				}
				return out.String()
			}
			defer run(program, "stop")
			run(program, "setup", client.name, "--yes")
			if got := run(command, "mcp", "list"); !strings.Contains(got, program) || !strings.Contains(got, client.lists) {
				t.Errorf("%s mcp list: got %s, want %s and %q", client.command, got, program, client.lists)
			}
			run(program, "setup", client.name, "--undo", "--yes")
			if got := run(command, "mcp", "list"); strings.Contains(got, program) {
				t.Errorf("%s mcp list, after undo: got %s, want no %s", client.command, got, program)
			}
		})
	}
}
