//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/testcert"
)

// team is a server that requires keys and TLS.
type team struct {
	t       *testing.T
	dir     string
	files   testcert.Files
	address string
	cmd     *exec.Cmd
}

func newTeam(t *testing.T) *team {
	t.Helper()
	s := &team{t: t, dir: dataDir(t), address: "0.0.0.0:0"}
	s.files, _ = testcert.Write(t, t.TempDir(), "memory.example")
	s.serve()
	t.Cleanup(s.stop)
	return s
}

// serve starts the server, on the port of the one before.
func (s *team) serve() {
	s.t.Helper()
	s.cmd = program(s.t, s.dir, "serve", "--listen", s.address, "--tls-cert", s.files.Cert, "--tls-key", s.files.Key, "--require-keys")
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.address = servedBy(s.t, s.dir, s.cmd.Process).HTTP
}

// near is the server's address on this machine.
func (s *team) near() string {
	s.t.Helper()
	_, port, err := net.SplitHostPort(s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	return net.JoinHostPort("127.0.0.1", port)
}

func (s *team) stop() {
	s.cmd.Process.Signal(os.Interrupt)
	s.cmd.Wait()
}

// key makes a key, and returns it with its id.
func (s *team) key(flags ...string) (secret, id string) {
	s.t.Helper()
	var issued struct{ ID, Secret string }
	raw, err := program(s.t, s.dir, append([]string{"key", "create", "--json"}, flags...)...).Output()
	if err != nil || json.Unmarshal(raw, &issued) != nil {
		s.t.Fatalf("key create: %v\n%s", err, raw)
	}
	return issued.Secret, issued.ID
}

// machine is another machine: it has a home of its own, and no data directory.
type machine struct {
	t    *testing.T
	home string
	env  []string
}

func (s *team) machine(key string) machine {
	s.t.Helper()
	home := s.t.TempDir()
	return machine{s.t, home, []string{asMain + "=1", "HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.Getenv("TMPDIR"), "GORACE=" + os.Getenv("GORACE"),
		"ALCOVE_URL=https://" + s.near(), "ALCOVE_CA_FILE=" + s.files.Cert, "ALCOVE_KEY=" + key}}
}

// with is the machine with further variables of the environment.
func (m machine) with(env ...string) machine {
	m.env = append(append([]string{}, m.env...), env...)
	return m
}

func (m machine) program(args ...string) *exec.Cmd {
	m.t.Helper()
	self, err := os.Executable()
	if err != nil {
		m.t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env, cmd.Dir = m.env, m.home
	return cmd
}

// runs runs a command that must end with a code and print some text, and returns all that it printed.
func (m machine) runs(code int, want string, args ...string) string {
	m.t.Helper()
	raw, err := m.program(args...).CombinedOutput()
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		m.t.Fatal(err)
	}
	if got != code || !strings.Contains(string(raw), want) {
		m.t.Errorf("alcove %q: got exit code %d and %q, want %d and %q", args, got, raw, code, want)
	}
	return string(raw)
}

func TestEveryClientCommandWorksWithAServerElsewhere(t *testing.T) {
	t.Parallel()
	s := newTeam(t)
	annKey, _ := s.key("--agent", "ann", "--namespaces", "*", "--rights", "read,write,branch")
	bobKey, _ := s.key("--agent", "bob", "--namespaces", "*", "--rights", "read,write,branch")
	ann, bob := s.machine(annKey), s.machine(bobKey)
	ann.runs(0, "stored tea as v", "store", "tea", "Ann drinks oolong", "--tags", "drink")
	bob.runs(0, "Ann drinks oolong", "recall", "tea")
	bob.runs(0, "Ann drinks oolong", "search", "oolong")
	bob.runs(0, "tea", "list")
	bob.runs(0, "Ann drinks oolong", "history", "tea")
	bob.runs(0, "logged deployed", "log", "deployed", "1.4")
	ann.runs(0, "deployed", "log", "--list")
	bob.runs(0, "ann", "call", "memory_recall", `{"key":"tea","verbose":true}`)
	bob.runs(0, "latest version", "status")
	bob.runs(0, "forked idea", "branch", "fork", "idea")
	bob.runs(0, "switched to idea", "branch", "switch", "idea")
	bob.runs(0, "stored tea", "store", "tea", "Ann drinks assam")
	ann.runs(0, "Ann drinks oolong", "recall", "tea")
	bob.runs(0, "Ann drinks assam", "recall", "tea")
	bob.runs(0, "1 forgotten", "forget", "tea")
	ann.runs(0, "Ann drinks oolong", "recall", "tea", "--branch", "default")
	readerKey, _ := s.key("--agent", "reader", "--namespaces", "notes", "--rights", "read")
	bob.runs(0, "stored plan", "store", "plan", "a tea room", "--namespace", "notes")
	bob.runs(0, "default", "namespaces", "--branch", "default")
	if out := s.machine(readerKey).runs(0, "notes", "namespaces", "--branch", "idea"); strings.Contains(out, "default") {
		t.Errorf("a key for notes alone lists %q, want notes alone", out)
	}
	if left, err := filepath.Glob(filepath.Join(ann.home, ".local", "share", "alcove", "*")); err != nil || len(left) > 0 {
		t.Errorf("a command with --url left %q on its own machine, want nothing (%v)", left, err)
	}
}

func TestAServerElsewhereThatRefusesSaysWhy(t *testing.T) {
	t.Parallel()
	s := newTeam(t)
	key, id := s.key("--agent", "ann", "--namespaces", "notes", "--rights", "read")
	token, err := os.ReadFile(owner.TokenPath(s.dir))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ann := s.machine(key)
	s.machine("").with("ALCOVE_KEY_FILE="+file).runs(0, "", "list", "--namespace", "notes")
	s.machine("").runs(4, "401: this server requires an API key", "recall", "tea")
	s.machine(strings.TrimSpace(string(token))).runs(4, "not the token of the data directory", "recall", "tea")
	s.machine(key+"x").runs(4, "not known here", "recall", "tea")
	ann.runs(4, "", "store", "tea", "green", "--namespace", "notes")
	ann.with("ALCOVE_CA_FILE=").runs(7, "give the file of a certificate to trust with --ca-file", "recall", "tea")
	ann.runs(2, "is not the URL of a server", "recall", "tea", "--url", "ftp://memory.example")
	ann.runs(2, "would show the key to everybody", "recall", "tea", "--url", "http://memory.example")
	for _, args := range [][]string{{"backup", "copy"}, {"family", "list"}, {"key", "list"}, {"serve"}, {"export"}, {"verify"}, {"stop"}} {
		ann.runs(2, "works on a data directory of its own machine, and --url (or ALCOVE_URL) names the server https://"+s.near(), args...)
	}
	mustRun(t, s.dir, "key", "revoke", id)
	ann.runs(4, "was revoked", "recall", "tea")
	s.stop()
	ann.runs(7, "connection refused: is alcove serve running there", "recall", "tea")
}

// TestAnMCPClientOverStdioUsesAServerElsewhere restarts the server under a client, which keeps its branch and its families, and whose
// calls happen once.
func TestAnMCPClientOverStdioUsesAServerElsewhere(t *testing.T) {
	t.Parallel()
	s := newTeam(t)
	key, id := s.key("--agent", "ann", "--namespaces", "*", "--rights", "read,write,branch,family:*")
	c := clientOf(t, s.machine(key).program("mcp", "--namespace", "notes"))
	c.call("memory_branch", map[string]any{"action": "fork", "name": "idea"}, nil)
	c.call("memory_branch", map[string]any{"action": "switch", "name": "idea"}, nil)
	for round := range 3 {
		s.stop()
		name := fmt.Sprint("k", round)
		c.begin("tools/call", toolCall("memory_store", map[string]any{"key": name, "value": round}))
		s.serve()
		c.decode(nil)
		if n := c.versions(name); n != 1 {
			t.Errorf("%s has %d versions after a restart, want 1", name, n)
		}
	}
	var at struct{ Branch, Namespace string }
	if c.call("memory_status", nil, &at); at.Branch != "idea" || at.Namespace != "notes" {
		t.Errorf("after three restarts the session is on %+v, want idea and notes", at)
	}
	mustRun(t, s.dir, "key", "revoke", id)
	c.begin("tools/call", toolCall("memory_recall", map[string]any{"key": "k0"}))
	if _, err := c.answer(); err == nil || !strings.Contains(err.Error(), "was revoked") || !strings.Contains(err.Error(), `"denied"`) {
		t.Errorf("after its key was revoked a client is told %v, want that it was revoked", err)
	}
}

func TestAnMCPClientOverStdioHearsWhatAServerElsewhereTells(t *testing.T) {
	t.Parallel()
	s := newTeam(t)
	key, _ := s.key("--agent", "ann", "--namespaces", "*", "--rights", "read,write,family:*")
	c := clientOf(t, s.machine(key).program("mcp", "--profile", "full"))
	c.ask("tools/list", struct{}{})
	heard := make(chan struct{})
	go func() { // a client that only listens
		defer close(heard)
		for {
			line, err := c.out.ReadBytes('\n')
			if err != nil || strings.Contains(string(line), "notifications/tools/list_changed") {
				return
			}
		}
	}()
	packed := packShout(t, s.dir)
	await.That(t, "the client hears that the list of tools changed", func() bool { // its stream may still be opening
		mustRun(t, s.dir, "family", "install", packed)
		mustRun(t, s.dir, "family", "remove", "shout")
		select {
		case <-heard:
			return true
		default:
			return false
		}
	})
}

func TestWhatConnectPrintsForAServerWithKeysAndTLSLetsAClientIn(t *testing.T) {
	t.Parallel()
	s := newTeam(t)
	token, err := os.ReadFile(owner.TokenPath(s.dir))
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(s.address)
	if err != nil {
		t.Fatal(err)
	}
	out := mustRun(t, s.dir, "connect", "claude-code")
	for _, want := range []string{"https://memory.example:" + port + "/mcp", "Bearer " + apiKey, "ALCOVE_KEY=" + apiKey, "alcove key create --data " + s.dir + " --agent NAME --namespaces '*'"} {
		if !strings.Contains(out, want) {
			t.Errorf("connect printed %q, want %q in it", out, want)
		}
	}
	if strings.Contains(out, strings.TrimSpace(string(token))) {
		t.Errorf("connect printed the token, which the server refuses: %q", out)
	}
}

func TestTheDoctorFindsNothingWrongWithAServerWithKeysAndTLS(t *testing.T) {
	t.Parallel()
	s := newTeam(t)
	key, _ := s.key("--agent", "ann", "--namespaces", "*")
	_, port, err := net.SplitHostPort(s.address)
	if err != nil {
		t.Fatal(err)
	}
	out := mustRun(t, s.dir, "doctor")
	for _, want := range []string{"requires an API key of clients: commands for memories need ALCOVE_KEY", "https://memory.example:" + port + "/mcp answers 200 OK", "note backup"} {
		if !strings.Contains(out, want) {
			t.Errorf("doctor printed %q, want %q in it", out, want)
		}
	}
	s.machine(key).runs(0, "ok   key", "doctor")
	s.machine("").runs(1, "BAD  key", "doctor")
}

// packShout writes the module of a family with a tool, and returns its file.
func packShout(t *testing.T, dir string) string {
	t.Helper()
	folder := t.TempDir()
	manifest, packed := filepath.Join(folder, "manifest.json"), filepath.Join(folder, "shout.wasm")
	if err := os.WriteFile(manifest, []byte(`{"abi": 1, "name": "shout", "version": "1.0.0", "description": "Answers in capital letters",
		"capabilities": [{"name": "memory.read", "scope": ["*"], "reason": "to look things up"}],
		"tools": [{"name": "shout_text", "description": "Says it louder", "input_schema": {"type": "object"}}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	mustRun(t, dir, "family", "pack", "../../host/sandbox/testdata/guests/c.wasm", "--manifest", manifest, "-o", packed)
	return packed
}
