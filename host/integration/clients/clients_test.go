// Package clients tests the server with real MCP clients: both versions of the TypeScript SDK and the MCP
// Inspector, on stdio and over HTTP, configured with the lines that the product prints.
package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/nodejs"
	"github.com/alcove-memory/alcove/host/testing/stress"
)

const (
	installWithin = 5 * time.Minute
	runWithin     = await.Limit
)

// install puts the clients into node_modules and gives the Node that runs them.
func install(t *testing.T) (node string) {
	t.Helper()
	nodejs.Install(t, "clients")
	return pinnedNode(t)
}

// pinnedNode is the Node that came with the clients: the Inspector needs a newer one than many machines have.
func pinnedNode(t *testing.T) string {
	t.Helper()
	for _, file := range []string{"node", "node.exe"} {
		found, err := filepath.Glob(filepath.Join("node_modules", "node-*", "bin", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			absolute, err := filepath.Abs(path)
			if err != nil {
				t.Fatal(err)
			}
			return absolute
		}
	}
	nodejs.Lacking(t, "there is no pinned Node.js for %s/%s", runtime.GOOS, runtime.GOARCH)
	return ""
}

func command(t *testing.T, within time.Duration, name string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, name, args...)
	c.WaitDelay = 5 * time.Second
	return c
}

// touch looks at every file that the outcome depends on, so that go test does not repeat an outcome that it
// remembers when one of them has changed: it does not see what other processes read.
func touch(t *testing.T) {
	t.Helper()
	for _, root := range []string{"../../../cmd", "../..", "session.mjs", "protocol.mjs", "restart.mjs", "oauth.mjs", "consent.mjs", "families.mjs", "firstparty.mjs", "scenario.mjs", "connect.mjs", "seeds.mjs", "seeds", "days", "../../../sdk/examples", "../../../guests"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Name() == "node_modules" {
				return fs.SkipDir
			}
			if err == nil && !d.IsDir() {
				_, err = os.Stat(path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// programs are those that were built, by their flags: each is built once for all tests.
type programs struct {
	dir   string
	mu    sync.Mutex
	paths map[string]string
}

var built = programs{paths: map[string]string{}}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "alcove-programs")
	if err != nil {
		panic(err)
	}
	built.dir = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func build(t *testing.T, flags ...string) string {
	t.Helper()
	touch(t)
	built.mu.Lock()
	defer built.mu.Unlock()
	name := strings.Join(flags, " ")
	if path, ok := built.paths[name]; ok {
		return path
	}
	path := filepath.Join(built.dir, fmt.Sprint("alcove", len(built.paths)))
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if out, err := command(t, installWithin, "go", append(append([]string{"build", "-tags=", "-o", path}, flags...), "github.com/alcove-memory/alcove/cmd/alcove")...).CombinedOutput(); err != nil {
		t.Fatalf("build alcove: %v\n%s", err, out)
	}
	built.paths[name] = path
	return path
}

// serve runs a server of a new data directory until the test ends.
func serve(t *testing.T, program string, flags ...string) (dir string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "alcove") // a short path, for the socket in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	var said bytes.Buffer
	server := exec.Command(program, append([]string{"serve", "--data", dir, "--listen", "127.0.0.1:0"}, flags...)...)
	server.Stdout, server.Stderr = &said, &said
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if server.Process.Signal(os.Interrupt) != nil {
			server.Process.Kill() // where there are no signals
		}
		if err := server.Wait(); err != nil {
			t.Errorf("the server ended with %v:\n%s", err, &said)
		}
	})
	await.That(t, "the server starts", func() bool {
		_, err := os.Stat(filepath.Join(dir, "owner.json"))
		return err == nil
	})
	return dir
}

// configurations are the files that a user would make of what the product prints: one for stdio, one for HTTP.
func configurations(t *testing.T, program, dir string) (files map[string]string) {
	t.Helper()
	printed, err := command(t, runWithin, program, "connect", "claude-desktop", "--data", dir).Output()
	if err != nil {
		t.Fatalf("alcove connect: %v", err)
	}
	files = map[string]string{}
	for rest := string(printed); ; {
		start := strings.Index(rest, "{\n")
		if start < 0 {
			break
		}
		dec := json.NewDecoder(strings.NewReader(rest[start:]))
		var configuration struct {
			Servers map[string]map[string]any `json:"mcpServers"`
		}
		if err := dec.Decode(&configuration); err != nil {
			t.Fatalf("alcove connect printed something that is not JSON: %v\n%s", err, rest[start:])
		}
		block := rest[start : start+int(dec.InputOffset())]
		rest = rest[start+int(dec.InputOffset()):]
		transport := "stdio"
		if configuration.Servers["alcove"]["url"] != nil {
			transport = "http"
		}
		files[transport] = filepath.Join(t.TempDir(), "mcp.json")
		if err := os.WriteFile(files[transport], []byte(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if len(files) != 2 {
		t.Fatalf("alcove connect printed %d configurations, not one for stdio and one for HTTP:\n%s", len(files), printed)
	}
	return files
}

func TestRealClientsUseEveryTool(t *testing.T) {
	node := install(t)
	program := build(t)
	files := configurations(t, program, serve(t, program))
	for _, c := range stress.Pick(t, 2, clients(false)) {
		t.Run(c.String(), func(t *testing.T) { c.runs(t, node, "session.mjs", files) })
	}
	for _, transport := range stress.Pick(t, 1, transports) { // each process takes a second to start
		t.Run("inspector/"+transport, func(t *testing.T) {
			t.Parallel()
			inspect(t, node, transport, files[transport])
		})
	}
}

func TestRealClientsUseWhatTheProtocolHasBesideTools(t *testing.T) {
	node := install(t)
	program := build(t, "-tags", "guests") // a prompt is told to those who may use its family
	files := configurations(t, program, serve(t, program))
	for _, c := range stress.Pick(t, 2, clients(false)) {
		t.Run(c.String(), func(t *testing.T) { c.runs(t, node, "protocol.mjs", files) })
	}
}

// TestAClientWithAWrongTokenIsToldHowToGiveTheRightOne has a client fall back on OAuth, which the server does not have.
func TestAClientWithAWrongTokenIsToldHowToGiveTheRightOne(t *testing.T) {
	node := install(t)
	program := build(t)
	dir := serve(t, program)
	file := configurations(t, program, dir)["http"]
	token, err := os.ReadFile(filepath.Join(dir, "token"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	wrong := bytes.Replace(text, bytes.TrimSpace(token), []byte("wrong"), 1)
	if bytes.Equal(wrong, text) {
		t.Fatalf("there is no token in %s", text)
	}
	if err := os.WriteFile(file, wrong, 0o600); err != nil {
		t.Fatal(err)
	}
	c := inspector{t, node, file}.command("--method", "tools/list")
	c.Env = append(c.Env, "MCP_AUTO_OPEN_ENABLED=true") // it begins OAuth without a terminal; there is no page that it could open
	out, err := c.CombinedOutput()
	want := "send the header Authorization: Bearer TOKEN with an API key or the token from the file " + filepath.Join(dir, "token")
	if err == nil || !bytes.Contains(out, []byte(want)) || bytes.Contains(out, []byte("Invalid OAuth")) {
		t.Errorf("got %v\n%s\nwant %q", err, out, want)
	}
}

// client is a client that uses one of the SDKs: connect.mjs has the kinds. A deaf one never lists tools again.
type client struct {
	kind, transport string
	deaf            bool
}

func (c client) String() string {
	if c.deaf {
		return c.kind + "/" + c.transport + "/never listing again"
	}
	return c.kind + "/" + c.transport
}

var transports = []string{"stdio", "http"}

// clients are one of each kind and transport.
func clients(deaf bool) (list []client) {
	for _, kind := range []string{"sdk", "client", "client-2026"} {
		for _, transport := range transports {
			list = append(list, client{kind, transport, deaf})
		}
	}
	return list
}

// runs runs a script with a client.
func (c client) runs(t *testing.T, node, name string, files map[string]string, more ...string) {
	t.Helper()
	if c.deaf {
		more = append(more, "deaf")
	}
	script(t, node, name, c.kind, c.transport, files[c.transport], more...)
}

// script runs a script that uses one of the SDKs, and says so when all went well.
func script(t *testing.T, node, name, kind, transport, file string, more ...string) {
	t.Helper()
	out, err := command(t, runWithin, node, append([]string{name, kind, file}, more...)...).CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "ok "+kind+" "+transport) {
		t.Errorf("script %s over %s: %v\n%s", kind, transport, err, out)
	}
	t.Logf("%s", bytes.TrimSpace(out))
}

// inspector is the MCP Inspector's command line.
type inspector struct {
	t          *testing.T
	node, file string
}

func (i inspector) command(args ...string) *exec.Cmd {
	i.t.Helper()
	launcher := filepath.Join("node_modules", "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
	c := command(i.t, runWithin, i.node, append([]string{launcher, "--cli", "--config", i.file, "--server", "alcove"}, args...)...)
	c.Env = append(os.Environ(), "MCP_INSPECTOR_SECRET_STORE=memory")
	return c
}

func (i inspector) run(args ...string) []byte {
	i.t.Helper()
	c := i.command(args...)
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		i.t.Fatalf("inspector %s: %v\n%s%s", args, err, out, &said)
	}
	return out
}

// call uses a tool and gives its structured result.
func (i inspector) call(tool string, args ...string) map[string]any {
	i.t.Helper()
	line := []string{"--method", "tools/call", "--tool-name", tool}
	if len(args) > 0 {
		line = append(append(line, "--tool-arg"), args...)
	}
	var result struct {
		Structured map[string]any `json:"structuredContent"`
		IsError    bool           `json:"isError"`
	}
	out := i.run(line...)
	if err := json.Unmarshal(out, &result); err != nil || result.IsError || result.Structured == nil {
		i.t.Fatalf("call %s with %s: %v, want a result\n%s", tool, args, err, out)
	}
	return result.Structured
}

func inspect(t *testing.T, node, transport, file string) {
	i := inspector{t, node, file}
	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(i.run("--method", "tools/list", "--strict"), &list); err != nil || len(list.Tools) != 11 {
		t.Fatalf("tools/list = %v, %v, want 11 tools", list, err)
	}
	in, side := "namespace=inspector/"+transport, "inspector/"+transport+"/side"
	for _, step := range []struct {
		tool, field string
		want        any
		args        []string
	}{
		{"memory_store", "key", "home", []string{"key=home", `value={"city":"Oslo"}`, `tags=["user"]`, in}},
		{"memory_recall", "value", map[string]any{"city": "Oslo"}, []string{"key=home", in}},
		{"memory_search", "total", 1., []string{"query=Is it Oslo?", "k=3", in}},
		{"memory_log", "sequence", 1., []string{"event=moved", `data={"to":"Bergen"}`, in}},
		{"memory_branch", "name", side, []string{"action=fork", "name=" + side}},
		{"memory_store", "key", "home", []string{"key=home", "value=Bergen", in, "branch=" + side}},
		{"memory_branch", "changed", 1., []string{"action=diff", "compare=" + side, in}},
		{"memory_branch", "merged", true, []string{"action=merge", "source=" + side, in}},
		{"memory_forget", "deleted", true, []string{"key=home", in}},
		{"memory_status", "keys", 0., []string{in}},
	} {
		got := i.call(step.tool, step.args...)[step.field]
		if fmt.Sprint(got) != fmt.Sprint(step.want) {
			t.Errorf("%s %s: %s is %v, not %v", step.tool, step.args, step.field, got, step.want)
		}
	}
	versions, _ := i.call("memory_history", "key=home", in)["versions"].([]any)
	if len(versions) != 3 {
		t.Errorf("the history has %d versions, not 3", len(versions))
	}
}

func TestTheLockFilesNameNoRegistry(t *testing.T) {
	for _, file := range []string{"package-lock.json", "days/package-lock.json"} {
		lock, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var parsed struct {
			Packages map[string]struct {
				Resolved, Integrity string
				InBundle            bool // it comes with another, whose integrity it has
			}
		}
		if err := json.Unmarshal(lock, &parsed); err != nil {
			t.Fatal(err)
		}
		var wrong []string
		for name, p := range parsed.Packages {
			if name != "" && (p.Resolved != "" || p.Integrity == "" && !p.InBundle) {
				wrong = append(wrong, name)
			}
		}
		slices.Sort(wrong)
		if len(wrong) > 0 {
			t.Errorf("%s ties these packages to a registry, or not to their contents: %s", file, strings.Join(wrong, ", "))
		}
	}
}
