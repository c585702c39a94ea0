package clients_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/daemon/clients"
)

var update = flag.Bool("update", false, "write the goldens anew")

// machine is a home, and a project in it.
func machine(t *testing.T) clients.Machine {
	t.Helper()
	home := t.TempDir()
	m := clients.Machine{OS: "linux", Home: home, Folder: filepath.Join(home, "project")}
	if err := os.Mkdir(m.Folder, 0o700); err != nil {
		t.Fatal(err)
	}
	return m
}

func journal(m clients.Machine) *clients.Journal {
	return &clients.Journal{Path: filepath.Join(m.Home, ".config", "alcove", "setup.json")}
}

// server is a program, with hooks if they are on.
func server(hooks bool) clients.Server {
	s := clients.Server{Name: "alcove", Program: "/bin/alcove", Args: []string{"mcp", "--data", "/data"}}
	if hooks {
		s.Hook = func(e clients.Event, client string) string {
			return "/bin/alcove hook " + string(e) + " --client " + client
		}
	}
	return s
}

func client(t *testing.T, name string) clients.Client {
	t.Helper()
	c, ok := clients.Find(name)
	if !ok {
		t.Fatalf("there is no client %s", name)
	}
	return c
}

// now is a moment, the next at each call.
func now() func() time.Time {
	at := time.Date(2026, 11, 28, 6, 0, 0, 0, time.UTC)
	return func() time.Time { at = at.Add(time.Second); return at }
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o640)); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "(none)"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// apply makes the changes of a client, and tells whether any file differed.
func apply(t *testing.T, m clients.Machine, c clients.Client, scope clients.Scope, s clients.Server, tick func() time.Time) (differed bool) {
	t.Helper()
	changes, err := clients.Plan(m, c, scope, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range changes {
		if _, err := journal(m).Apply(change, tick()); err != nil {
			t.Fatal(err)
		}
		differed = differed || change.Differs()
	}
	return differed
}

func undo(t *testing.T, m clients.Machine, scope clients.Scope, tick func() time.Time) {
	t.Helper()
	changes, err := journal(m).Undo(m, scope, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range changes {
		if _, err := journal(m).Apply(change, tick()); err != nil {
			t.Fatal(err)
		}
	}
}

// files are those below the home, without the journal.
func files(t *testing.T, home string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(home, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && !strings.HasPrefix(filepath.Base(path), "setup.json") {
			name, _ := filepath.Rel(home, path)
			found[filepath.ToSlash(name)] = read(t, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestEachClientIsConnectedInItsFiles writes the golden of every file, for a fresh home, a program with hooks, and both scopes.
func TestEachClientIsConnectedInItsFiles(t *testing.T) {
	var out bytes.Buffer
	for _, c := range clients.All() {
		for _, scope := range []clients.Scope{clients.User, clients.Project} {
			if !c.CanSetUp(scope) {
				continue
			}
			m, tick := machine(t), now()
			if !apply(t, m, c, scope, server(true), tick) {
				t.Errorf("%s, %s: got no change, want one", c.Name, scope)
			}
			written := files(t, m.Home)
			names := make([]string, 0, len(written))
			for name := range written {
				names = append(names, name)
			}
			slices.Sort(names)
			for _, name := range names {
				fmt.Fprintf(&out, "-- %s %s: %s --\n%s", c.Name, scope, name, written[name])
			}
			if apply(t, m, c, scope, server(true), tick) {
				t.Errorf("%s, %s, again: got a change, want none", c.Name, scope)
			}
			undo(t, m, scope, tick)
			if left := files(t, m.Home); len(left) > 0 {
				t.Errorf("%s, %s: undo left %v, want nothing", c.Name, scope, left)
			}
		}
	}
	const golden = "testdata/files.golden"
	if *update {
		write(t, golden, out.String())
	}
	if want := read(t, golden); out.String() != want {
		t.Errorf("got other files than %s has; -update writes it:\n%s", golden, out.String())
	}
}

func TestPathsAreThoseOfTheSystem(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths are written for systems with slashes")
	}
	env := map[string]string{"APPDATA": "/users/zoe/AppData/Roaming", "CODEX_HOME": "/codex", "CLAUDE_CONFIG_DIR": "/claude"}
	for _, test := range []struct {
		os, client string
		env        map[string]string
		want       string
	}{
		{"linux", "claude-desktop", nil, "/users/zoe/.config/Claude/claude_desktop_config.json"},
		{"darwin", "claude-desktop", nil, "/users/zoe/Library/Application Support/Claude/claude_desktop_config.json"},
		{"windows", "claude-desktop", env, "/users/zoe/AppData/Roaming/Claude/claude_desktop_config.json"},
		{"windows", "claude-desktop", nil, "/users/zoe/AppData/Roaming/Claude/claude_desktop_config.json"},
		{"linux", "claude-code", nil, "/users/zoe/.claude.json"},
		{"darwin", "claude-code", env, "/claude/.claude.json"},
		{"windows", "cursor", env, "/users/zoe/.cursor/mcp.json"},
		{"linux", "vscode", map[string]string{"XDG_CONFIG_HOME": "/config"}, "/config/Code/User/mcp.json"},
		{"darwin", "vscode", nil, "/users/zoe/Library/Application Support/Code/User/mcp.json"},
		{"windows", "vscode", env, "/users/zoe/AppData/Roaming/Code/User/mcp.json"},
		{"linux", "codex", nil, "/users/zoe/.codex/config.toml"},
		{"windows", "codex", env, "/codex/config.toml"},
		{"darwin", "windsurf", nil, "/users/zoe/.codeium/windsurf/mcp_config.json"},
		{"darwin", "gemini", nil, "/users/zoe/.gemini/settings.json"},
		{"darwin", "opencode", nil, "/users/zoe/.config/opencode/opencode.json"},
		{"windows", "zed", env, "/users/zoe/AppData/Roaming/Zed/settings.json"},
		{"darwin", "zed", nil, "/users/zoe/.config/zed/settings.json"},
	} {
		m := clients.Machine{OS: test.os, Home: "/users/zoe", Env: func(name string) string { return test.env[name] }}
		if got := client(t, test.client).Places(m)[0].Path; got != test.want {
			t.Errorf("%s on %s: got %s, want %s", test.client, test.os, got, test.want)
		}
	}
}

func TestAClientIsFoundByItsFilesOrItsCommand(t *testing.T) {
	m := machine(t)
	none := func(string) (string, error) { return "", fs.ErrNotExist }
	codex := client(t, "codex")
	if codex.Installed(m, none) {
		t.Error("Codex in an empty home: got installed, want not")
	}
	if !codex.Installed(m, func(name string) (string, error) { return "/bin/" + name, nil }) {
		t.Error("Codex on the path: got not installed, want installed")
	}
	write(t, filepath.Join(m.Home, ".codex", "auth.json"), "{}")
	if !codex.Installed(m, none) {
		t.Error("Codex with a directory: got not installed, want installed")
	}
}

func TestAnUntouchedFileIsWhatItWasAfterUndo(t *testing.T) {
	for _, text := range []string{"", " \n", "{}", "{\r\n\t// mine\r\n\t\"a\": 1,\r\n}", "\ufeff{\"mcpServers\": {\n}}\n", `{"mcpServers":{"alcove":{"command":"/old"}}}`} {
		m, tick := machine(t), now()
		path := filepath.Join(m.Home, ".cursor", "mcp.json")
		write(t, path, text)
		apply(t, m, client(t, "cursor"), clients.User, server(false), tick)
		moved := server(false)
		moved.Program = "/opt/alcove" // a second time, from elsewhere
		apply(t, m, client(t, "cursor"), clients.User, moved, tick)
		if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
			t.Errorf("%q: got mode %v, %v, want 0640", text, info.Mode(), err)
		}
		undo(t, m, clients.User, tick)
		if got := read(t, path); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
	}
}

func TestUndoTakesBackTheEntriesOfAFileThatWasEditedSince(t *testing.T) {
	m, tick := machine(t), now()
	settings := filepath.Join(m.Home, ".gemini", "settings.json")
	write(t, settings, "{\n  \"theme\": \"dark\",\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n")
	gemini := client(t, "gemini")
	apply(t, m, gemini, clients.User, server(true), tick)
	edited := strings.Replace(read(t, settings), `"theme": "dark"`, `"theme": "light", // better`, 1)
	edited = strings.Replace(edited, `    "AfterAgent": [`, "    \"AfterAgent\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]},", 1)
	edited = strings.Replace(edited, ", // better,", ", // better", 1)
	write(t, settings, edited)
	undo(t, m, clients.User, tick)
	want := "{\n  \"theme\": \"light\", // better\n  \"hooks\": {\n    \"Stop\": [],\n    \"AfterAgent\": [\n" +
		"      {\"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}\n    ]\n  }\n}\n"
	if got := read(t, settings); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if changes, err := journal(m).Undo(m, clients.User, nil); err != nil || len(changes) != 0 {
		t.Errorf("undo again: got %v, %v, want nothing", changes, err)
	}
}

func TestUndoBringsBackAnEntryThatWasReplaced(t *testing.T) {
	m, tick := machine(t), now()
	path := filepath.Join(m.Home, ".cursor", "mcp.json")
	write(t, path, `{"mcpServers":{"alcove":{"url":"http://127.0.0.1:9742/mcp"}}}`)
	apply(t, m, client(t, "cursor"), clients.User, server(false), tick)
	write(t, path, strings.Replace(read(t, path), "{", `{"edited":true,`, 1))
	undo(t, m, clients.User, tick)
	if got, want := read(t, path), `{"edited":true,"mcpServers":{"alcove":{"url":"http://127.0.0.1:9742/mcp"}}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestWhatTheOwnerAddedToTheEntryStays(t *testing.T) {
	m, tick := machine(t), now()
	path := filepath.Join(m.Home, ".cursor", "mcp.json")
	write(t, path, `{"mcpServers":{"alcove":{"command":"/old","args":["mcp","--data","/data","--agent","zoe"],"env":{"A":"b"},"disabled":true}}}`)
	apply(t, m, client(t, "cursor"), clients.User, server(false), tick)
	want := `{"mcpServers":{"alcove":{"command":"/bin/alcove","args":["mcp","--data","/data","--agent","zoe"],"env":{"A":"b"},"disabled":true}}}`
	if got := read(t, path); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAClientThatHasTheServerAlreadyIsLeftAlone(t *testing.T) {
	m, tick := machine(t), now()
	for _, test := range []struct{ name, client, path, text string }{
		{"as claude mcp add writes it", "claude-code", ".claude.json",
			`{"mcpServers":{"alcove":{"type":"stdio","command":"/bin/alcove","args":["mcp","--data","/data"],"env":{}}}}`},
		{"under another name", "cursor", ".cursor/mcp.json",
			`{"mcpServers":{"engram":{"command":"/bin/alcove","args":["mcp","--data","/data","--families","facts"]}}}`},
		{"under another name, as all words", "opencode", ".config/opencode/opencode.json",
			`{"mcp":{"memory":{"type":"local","command":["/bin/alcove","mcp","--data","/data"],"enabled":true}}}`},
		{"under another name, in TOML", "codex", ".codex/config.toml",
			"[mcp_servers.memory]\ncommand = '/bin/alcove'\nargs = ['mcp', '--data', '/data']\n"},
	} {
		path := filepath.Join(m.Home, filepath.FromSlash(test.path))
		write(t, path, test.text)
		apply(t, m, client(t, test.client), clients.User, server(false), tick)
		if got := read(t, path); got != test.text {
			t.Errorf("%s: got %s, want %s", test.name, got, test.text)
		}
	}
	path := filepath.Join(m.Home, ".cursor", "mcp.json")
	write(t, path, `{"mcpServers":{"work":{"command":"/bin/alcove","args":["mcp","--data","/work"]}}}`)
	apply(t, m, client(t, "cursor"), clients.User, server(false), tick)
	if got := read(t, path); !strings.Contains(got, `"work":`) || !strings.Contains(got, `"alcove":`) {
		t.Errorf("with a server of another memory: got %s, want both", got)
	}
}

func TestTheProfileOfAnEntryIsItsOwners(t *testing.T) {
	m, tick := machine(t), now()
	path := filepath.Join(m.Home, ".claude.json")
	for _, test := range []struct{ name, profile, before, want string }{
		{"a new entry", "", `{}`, `["mcp","--data","/data","--profile","deferred"]`},
		{"a new entry with a profile", "full", `{}`, `["mcp","--data","/data","--profile","full"]`},
		{"a new entry that follows the server", "auto", `{}`, `["mcp","--data","/data"]`},
		{"a profile that the owner chose", "", `{"mcpServers":{"alcove":{"command":"/bin/alcove","args":["mcp","--data","/data","--profile","agent"]}}}`,
			`["mcp","--data","/data","--profile","agent"]`},
		{"an entry whose tools are all always loaded", "", `{"mcpServers":{"alcove":{"command":"/bin/alcove","args":["mcp","--data","/data"],"alwaysLoad":true}}}`,
			`["mcp","--data","/data"]`},
	} {
		write(t, path, test.before)
		s := server(false)
		s.Profile = test.profile
		apply(t, m, client(t, "claude-code"), clients.User, s, tick)
		got := strings.Join(strings.Fields(read(t, path)), "")
		if !strings.Contains(got, `"args":`+test.want) || strings.Contains(got, "alwaysLoad") {
			t.Errorf("%s: got %s, want the arguments %s and no alwaysLoad", test.name, got, test.want)
		}
	}
}

func TestAFileThatChangesMeanwhileIsNotWritten(t *testing.T) {
	m, tick := machine(t), now()
	path := filepath.Join(m.Home, ".cursor", "mcp.json")
	for _, before := range []string{"(none)", "{}"} {
		if before != "(none)" {
			write(t, path, before)
		}
		changes, err := clients.Plan(m, client(t, "cursor"), clients.User, server(false))
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, `{"other":1}`)
		if _, err := journal(m).Apply(changes[0], tick()); !errors.Is(err, clients.ErrChanged) {
			t.Errorf("%s: got %v, want ErrChanged", before, err)
		}
		if got := read(t, path); got != `{"other":1}` {
			t.Errorf("%s: got %s, want the other's file", before, got)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func TestABackupIsPrivateAndHasWhatTheFileWas(t *testing.T) {
	m := machine(t)
	path := filepath.Join(m.Home, ".cursor", "mcp.json")
	write(t, path, `{"secret":1}`)
	changes, err := clients.Plan(m, client(t, "cursor"), clients.User, server(false))
	if err != nil {
		t.Fatal(err)
	}
	backup, err := journal(m).Apply(changes[0], time.Date(2026, 11, 28, 6, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	if want := path + ".20261128T060000.000Z.alcove-backup"; backup != want || read(t, backup) != `{"secret":1}` {
		t.Errorf("got %s with %s, want %s with what the file was", backup, read(t, backup), want)
	}
	if info, err := os.Stat(backup); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %v, %v, want 0600", info.Mode(), err)
	}
}

func TestALinkIsFollowedButNotOutOfAProject(t *testing.T) {
	m, tick := machine(t), now()
	real := filepath.Join(m.Home, "dotfiles", "mcp.json")
	write(t, real, "{}")
	for _, link := range []string{filepath.Join(m.Home, ".cursor", "mcp.json"), filepath.Join(m.Folder, ".mcp.json")} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o700), os.Symlink(real, link)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	apply(t, m, client(t, "cursor"), clients.User, server(false), tick)
	if info, err := os.Lstat(filepath.Join(m.Home, ".cursor", "mcp.json")); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("got %v, %v, want the link still there", info, err)
	}
	if got := read(t, real); !strings.Contains(got, "alcove") {
		t.Errorf("got %s, want the entry in the file that the link leads to", got)
	}
	if _, err := clients.Plan(m, client(t, "claude-code"), clients.Project, server(false)); err == nil || !strings.Contains(err.Error(), "leads out of the project") {
		t.Errorf("got %v, want the project's link refused", err)
	}
}

func TestABrokenFileIsRefusedWithItsLine(t *testing.T) {
	m := machine(t)
	for name, text := range map[string]string{".cursor/mcp.json": "{\n\"a\": }", ".codex/config.toml": "a = 1\nb =\n"} {
		path := filepath.Join(m.Home, filepath.FromSlash(name))
		write(t, path, text)
		_, err := clients.Plan(m, client(t, strings.TrimPrefix(filepath.Dir(name), ".")), clients.User, server(false))
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "line 2") || !strings.Contains(err.Error(), "correct it") {
			t.Errorf("%s: got %v, want its name, line 2 and what to do", name, err)
		}
		if got := read(t, path); got != text {
			t.Errorf("%s: got %q, want it as it was", name, got)
		}
	}
}

func TestHooksAreFoundWhereTheyWereWritten(t *testing.T) {
	for _, c := range clients.All() {
		if len(c.Hooks()) == 0 {
			continue
		}
		m, tick := machine(t), now()
		apply(t, m, c, clients.User, server(false), tick)
		if got := c.InstalledHooks(m); len(got) != 0 {
			t.Errorf("%s, for a program without hooks: got %v, want none", c.Name, got)
		}
		apply(t, m, c, clients.User, server(true), tick)
		if got := c.InstalledHooks(m); !slices.Equal(got, c.Hooks()) {
			t.Errorf("%s: got %v, want %v", c.Name, got, c.Hooks())
		}
	}
}

func TestTwoSetupsAtOnceLoseNoRecord(t *testing.T) {
	m := machine(t)
	names := []string{"claude-code", "cursor", "codex", "gemini", "windsurf", "opencode", "zed", "vscode"}
	var wait sync.WaitGroup
	for _, name := range names {
		changes, err := clients.Plan(m, client(t, name), clients.User, server(false))
		if err != nil {
			t.Fatal(err)
		}
		wait.Go(func() {
			if _, err := journal(m).Apply(changes[0], time.Now()); err != nil {
				t.Errorf("set up %s beside others: %v, want no error", name, err)
			}
		})
	}
	wait.Wait()
	changes, err := journal(m).Undo(m, clients.User, nil)
	if err != nil || len(changes) != len(names) {
		t.Errorf("%d changes can be taken back, %v, want %d", len(changes), err, len(names))
	}
}

func TestAJournalOfAnotherVersionIsRefused(t *testing.T) {
	m := machine(t)
	write(t, journal(m).Path, `{"version":2}`)
	if _, err := journal(m).Undo(m, clients.User, nil); err == nil || !strings.Contains(err.Error(), "version 2, not 1") {
		t.Errorf("got %v, want an error that names the version", err)
	}
}

// FuzzSetup sets a client up in any file and takes it back: the file is what it was.
func FuzzSetup(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"mcpServers":{"a":{}}}`, `{"hooks":{"BeforeAgent":[1]},"mcpServers":{"alcove":{"args":["x"]}}}`, "{ // c\n}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, tick := machine(t), now()
		path := filepath.Join(m.Home, ".gemini", "settings.json")
		write(t, path, string(text))
		gemini := client(t, "gemini")
		changes, err := clients.Plan(m, gemini, clients.User, server(true))
		if err != nil {
			return // it is refused
		}
		if !json.Valid(changes[0].After) && json.Valid(text) {
			t.Fatalf("%q: got %q, want JSON", text, changes[0].After)
		}
		apply(t, m, gemini, clients.User, server(true), tick)
		if apply(t, m, gemini, clients.User, server(true), tick) {
			t.Fatalf("%q: got a change the second time, want none", text)
		}
		undo(t, m, clients.User, tick)
		if got := read(t, path); got != string(text) {
			t.Fatalf("got %q, want %q", got, text)
		}
	})
}
