package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
)

// patient is a home with a data directory in it, which a doctor examines.
type patient struct {
	t         *testing.T
	home, dir string
	app       *app
}

func newPatient(t *testing.T) *patient {
	t.Helper()
	home := t.TempDir()
	p := &patient{t: t, home: home, dir: filepath.Join(home, "data")}
	t.Chdir(home)
	environment := map[string]string{"HOME": home, "ALCOVE_LISTEN": "off", "ALCOVE_DATA": p.dir}
	p.app = newApp(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}, func(name string) string { return environment[name] })
	p.app.data = p.dir
	if err := os.Mkdir(p.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *patient) write(path, text string) {
	p.t.Helper()
	path = filepath.Join(p.home, filepath.FromSlash(path))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(strings.ReplaceAll(text, "HOME", filepath.ToSlash(p.home))), 0o600)); err != nil {
		p.t.Fatal(err)
	}
}

// serve serves the data directory.
func (p *patient) serve(version string) owner.Record {
	p.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	h, err := host.Open(ctx, host.Options{Dir: p.dir, Version: version})
	if err != nil {
		p.t.Fatal(err)
	}
	started, ended := make(chan owner.Record, 1), make(chan error, 1)
	go func() {
		ended <- h.Serve(ctx, host.Listen{HTTP: "127.0.0.1:0", Started: func(r owner.Record) { started <- r }})
	}()
	p.t.Cleanup(func() {
		stop()
		if err := errors.Join(<-ended, h.Close()); err != nil {
			p.t.Error(err)
		}
	})
	return <-started
}

// expect checks that there is a finding that says something.
func expect(t *testing.T, found []finding, what string, ok bool, says ...string) {
	t.Helper()
	if !slices.ContainsFunc(found, func(f finding) bool {
		return f.What == what && (f.Is != bad) == ok && !slices.ContainsFunc(says, func(text string) bool { return !strings.Contains(f.Says, text) })
	}) {
		t.Errorf("there is no finding %q (%t) that says %q: %+v", what, ok, says, found)
	}
}

func TestTheDoctorFindsWhereClientsPoint(t *testing.T) {
	p := newPatient(t)
	p.write("other/owner.lock", "")
	p.write(".claude.json", `{"mcpServers":{"memory":{"command":"HOME/gone/alcove","args":["mcp"]},"files":{"command":"HOME/gone/npx"}},"projects":{"/x":{"mcpServers":{"alcove":{"type":"http","url":"http://127.0.0.1:1/mcp"}}}}}`)
	p.write(".mcp.json", `{"mcpServers":{"alcove":{"command":"go","args":["mcp","--data","HOME/data"]}}}`)
	p.write(".cursor/mcp.json", `{"mcpServers":{"alcove":{"command":"go","args":["mcp","--data=HOME/none"]}}}`)
	p.write(".vscode/mcp.json", "{ // servers\n\"servers\": {/* of \"this\" folder */ \"alcove\": {\"command\": \"go\", \"args\": [\"mcp\", \"--data\", \"HOME/other\",],},},\n}")
	p.write(".codeium/windsurf/mcp_config.json", `{"mcpServers":{"alcove":{"serverUrl":"not a url"}}}`)
	p.write(".config/zed/settings.json", `{"theme":"a // b","context_servers":{"alcove":{"command":{"path":"HOME/gone/alcove.exe","args":["mcp"]}}}}`)
	p.write(".codex/config.toml", "# mine\n[mcp_servers.alcove]\ncommand = \"HOME/gone/alcove\"\nargs = [\"mcp\", '--data', \"HOME/data\"] # here\n\n[other]\ncommand = \"x\"\n")
	p.write(".gemini/settings.json", `{"mcpServers":[`)
	found := p.app.examineClients(p.dir)
	expect(t, found, "client", false, `Claude Code: "memory"`, "cannot be run", "alcove connect claude-code")
	expect(t, found, "client", true, `Claude Code: "alcove"`, "answers only while a server listens")
	expect(t, found, "client", true, `Claude Code: "alcove"`, ".mcp.json is fine")
	expect(t, found, "client", false, "Cursor", "none, which does not exist", "alcove connect cursor")
	expect(t, found, "client", true, "VS Code", "another data directory", "other")
	expect(t, found, "client", false, "Windsurf", "has an invalid url")
	expect(t, found, "client", false, "Zed", "alcove.exe, which cannot be run", "alcove connect zed prints")
	expect(t, found, "client", false, "Codex", "cannot be run")
	expect(t, found, "client", true, "Gemini CLI", "could not be read", "line 1: parsing value: unexpected EOF")
	if len(found) != 9 {
		t.Errorf("%d findings: %+v", len(found), found)
	}
	r := p.serve(versionText())
	_, port, err := net.SplitHostPort(r.HTTP)
	if err != nil {
		t.Fatal(err)
	}
	token, err := os.ReadFile(owner.TokenPath(p.dir))
	if err != nil {
		t.Fatal(err)
	}
	p.write(".claude.json", `{"mcpServers":{"alcove 1":{"url":"http://127.0.0.1:1/mcp"},"alcove 2":{"url":"http://localhost:`+port+`/mcp","headers":{"Authorization":"Bearer x"}},
		"alcove 3":{"url":"http://localhost:`+port+`/mcp","headers":{"authorization":"Bearer `+strings.TrimSpace(string(token))+`"}}}}`)
	found = p.app.examineClients(p.dir)
	expect(t, found, "client", false, `"alcove 1"`, "the server listens on "+r.HTTP)
	expect(t, found, "client", false, `"alcove 2"`, "neither the token of the data directory nor an API key")
	expect(t, found, "client", true, `"alcove 3"`, "is fine")
	for _, f := range found {
		if strings.Contains(f.Says, strings.TrimSpace(string(token))) {
			t.Errorf("the token is shown: %s", f.Says)
		}
	}
}

func TestTheDoctorFindsAServerOfAnotherVersion(t *testing.T) {
	p := newPatient(t)
	p.serve("0.0.1-old")
	found := p.app.examine(t.Context(), p.dir)
	expect(t, found, "socket", false, "is of version 0.0.1-old, not "+versionText(), "the next command starts this version: "+endProcess(p.dir, os.Getpid()))
}

func TestTheDoctorCountsTheTokensOfTheTools(t *testing.T) {
	p := newPatient(t)
	p.serve(versionText())
	expect(t, p.app.examine(t.Context(), p.dir), "tools", true, " tools for ", " tokens in the profile agent", "in the profile full")
}

func TestTheDoctorFindsWhatAKilledServerLeft(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("sockets are no files of their kind there")
	}
	p := newPatient(t)
	path, err := owner.SocketPath(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	expect(t, p.app.examine(t.Context(), p.dir), "socket", true, path, "left by a server that was killed", "the next server replaces it")
}

func TestTheDoctorFindsFilesThatOthersCanUse(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("access lists are not checked there")
	}
	p := newPatient(t)
	p.write("data/keys.json", "{}")
	p.write("data/alcove.db", "")
	for name, mode := range map[string]os.FileMode{"keys.json": 0o644, "alcove.db": 0o602} {
		if err := os.Chmod(filepath.Join(p.dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	found := examineFiles(p.dir)
	expect(t, found, "permissions", false, "others can read", "keys.json", "chmod go-rwx")
	expect(t, found, "permissions", false, "others can write", "alcove.db", "chmod o-w")
	if len(found) != 2 {
		t.Errorf("findings %+v, want 2", found)
	}
}

func TestTheDoctorWarnsOfAFullDisk(t *testing.T) {
	for free, want := range map[uint64]bool{0: false, leastSpace - 1: false, leastSpace: true} {
		f := diskFinding("/d", func(string) (uint64, error) { return free, nil })
		if (f.Is == fine) != want || !want && !strings.Contains(f.Says, "alcove compact") {
			t.Errorf("%d bytes free: %+v", free, f)
		}
	}
}
