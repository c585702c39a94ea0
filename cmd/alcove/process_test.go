package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/testing/await"
)

// program is the program as a process of its own, with a data directory.
func program(t testing.TB, dir string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), asMain+"=1", "ALCOVE_DATA="+dir, "ALCOVE_LISTEN=off", "ALCOVE_PROJECT=off") // the folder is in a repository
	cmd.Stderr = t.Output()
	return cmd
}

// dataDir is a data directory whose owner is stopped at the end.
func dataDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	t.Cleanup(func() { stopOwner(t, dir) })
	return dir
}

// mcpClient is a client of a process that runs alcove mcp.
type mcpClient struct {
	t    testing.TB
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	next int
}

func newClient(t testing.TB, dir string, args ...string) *mcpClient {
	t.Helper()
	return clientOf(t, program(t, dir, append([]string{"mcp"}, args...)...))
}

// clientOf starts a process that runs alcove mcp.
func clientOf(t testing.TB, cmd *exec.Cmd) *mcpClient {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &mcpClient{t: t, cmd: cmd, in: in, out: bufio.NewReader(out)}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	c.ask("initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": struct{}{}, "clientInfo": map[string]string{"name": "test", "version": "1"}})
	c.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	return c
}

func (c *mcpClient) send(message any) {
	c.t.Helper()
	raw, err := json.Marshal(message)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.in.Write(append(raw, '\n')); err != nil {
		c.t.Fatal(err)
	}
}

// begin sends a request without waiting for the answer.
func (c *mcpClient) begin(method string, params any) {
	c.t.Helper()
	c.next++
	c.send(map[string]any{"jsonrpc": "2.0", "id": c.next, "method": method, "params": params})
}

// finish waits for the answer to the latest request, which must be no error.
func (c *mcpClient) finish() json.RawMessage {
	c.t.Helper()
	result, err := c.answer()
	if err != nil {
		c.t.Fatal(err)
	}
	return result
}

// answer waits for the answer to the latest request. An error that was answered is the error.
func (c *mcpClient) answer() (json.RawMessage, error) {
	c.t.Helper()
	for {
		line, err := c.out.ReadBytes('\n')
		if err != nil {
			c.t.Fatalf("read an answer: %v", err)
		}
		var answer struct {
			ID            int
			Result, Error json.RawMessage
		}
		if err := json.Unmarshal(line, &answer); err != nil {
			c.t.Fatalf("decode %s: %v", line, err)
		}
		if answer.ID == c.next {
			if answer.Error != nil {
				return nil, fmt.Errorf("answered with %s", answer.Error)
			}
			return answer.Result, nil
		}
	}
}

func (c *mcpClient) ask(method string, params any) json.RawMessage {
	c.t.Helper()
	c.begin(method, params)
	return c.finish()
}

func toolCall(tool string, arguments map[string]any) map[string]any {
	return map[string]any{"name": tool, "arguments": arguments}
}

// call calls a tool and decodes its structured answer.
func (c *mcpClient) call(tool string, arguments map[string]any, v any) {
	c.t.Helper()
	c.begin("tools/call", toolCall(tool, arguments))
	c.decode(v)
}

func (c *mcpClient) decode(v any) {
	c.t.Helper()
	result := c.finish()
	var answer struct {
		StructuredContent json.RawMessage
		IsError           bool
	}
	if err := json.Unmarshal(result, &answer); err != nil || answer.IsError {
		c.t.Fatalf("answered with %s, %v", result, err)
	}
	if v == nil {
		return
	}
	if err := json.Unmarshal(answer.StructuredContent, v); err != nil {
		c.t.Fatalf("decode %s: %v", answer.StructuredContent, err)
	}
}

func (c *mcpClient) recall(key string) (value string) {
	c.t.Helper()
	var m struct{ Value json.RawMessage }
	c.call("memory_recall", map[string]any{"key": key}, &m)
	return string(m.Value)
}

func (c *mcpClient) versions(key string) int {
	c.t.Helper()
	var h struct{ Versions []any }
	c.call("memory_history", map[string]any{"key": key}, &h)
	return len(h.Versions)
}

// killOwner kills the owner of a data directory and waits until it is gone.
func killOwner(t *testing.T, dir string) {
	t.Helper()
	conn, err := owner.Dial(t.Context(), owner.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	p, err := os.FindProcess(conn.Welcome.PID)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	conn.SetReadDeadline(await.Deadline())
	if _, err := io.Copy(io.Discard, conn); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Fatal(err)
	}
}

func TestClientsThatStartAtOnceShareOneOwner(t *testing.T) {
	dir := dataDir(t)
	const clients = 4
	all := make([]*mcpClient, clients)
	var starting sync.WaitGroup
	for i := range clients {
		starting.Go(func() {
			all[i] = newClient(t, dir)
			all[i].call("memory_store", map[string]any{"key": fmt.Sprint("from ", i), "value": i}, nil)
		})
	}
	starting.Wait()
	for i, c := range all {
		for j := range clients {
			if got := c.recall(fmt.Sprint("from ", j)); got != fmt.Sprint(j) {
				t.Errorf("client %d reads %s of client %d", i, got, j)
			}
		}
	}
}

func TestOwnersThatStartAtOnceLeaveOne(t *testing.T) {
	dir := dataDir(t)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	const owners = 4
	ended := make(chan error, owners)
	for range owners {
		cmd := program(t, dir, "serve", "--auto", "--idle", "1h")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Signal(os.Interrupt) })
		go func() { ended <- cmd.Wait() }()
	}
	for range owners - 1 {
		if err := await.Value(t, "an owner that came too late ends", ended); err != nil {
			t.Errorf("an owner that came too late ended with %v", err)
		}
	}
	await.That(t, "the one that is left answers", func() bool { // or else the client would start another one
		conn, err := owner.Dial(t.Context(), owner.Options{Dir: dir})
		if err != nil {
			return false
		}
		return conn.Close() == nil
	})
	c := newClient(t, dir)
	c.call("memory_store", map[string]any{"key": "k", "value": "v"}, nil)
	if got := c.recall("k"); got != `"v"` {
		t.Errorf("recalled %s", got)
	}
	stopOwner(t, dir)
	if err := await.Value(t, "the last owner ends", ended); err != nil {
		t.Errorf("the last owner ended with %v", err)
	}
}

func TestAClientDoesNotNoticeThatTheOwnerIsKilled(t *testing.T) {
	dir := dataDir(t)
	c := newClient(t, dir)
	c.call("memory_branch", map[string]any{"action": "fork", "name": "idea"}, nil)
	c.call("memory_branch", map[string]any{"action": "switch", "name": "idea"}, nil)
	for round := range 5 {
		killOwner(t, dir)
		key := fmt.Sprint("k", round)
		c.call("memory_store", map[string]any{"key": key, "value": round}, nil)
		if n := c.versions(key); n != 1 {
			t.Errorf("%s has %d versions", key, n)
		}
	}
	var s struct{ Branch string }
	if c.call("memory_status", nil, &s); s.Branch != "idea" {
		t.Errorf("the session is on branch %q", s.Branch)
	}
}

func TestAWriteThatTheOwnerIsKilledOnHappensOnce(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	c := newClient(t, dir)
	for round := range 10 {
		key := fmt.Sprint("k", round)
		killed := make(chan struct{})
		go func() {
			killOwner(t, dir)
			close(killed)
		}()
		c.begin("tools/call", toolCall("memory_store", map[string]any{"key": key, "value": round}))
		c.decode(nil)
		<-killed
		if n := c.versions(key); n != 1 {
			t.Errorf("%s has %d versions", key, n)
		}
	}
}

func TestADirectoryWithALongNameWorks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long-name/", 15), "data")
	t.Cleanup(func() { stopOwner(t, dir) })
	c := newClient(t, dir)
	c.call("memory_store", map[string]any{"key": "k", "value": "v"}, nil)
	if got := newClient(t, dir).recall("k"); got != `"v"` {
		t.Errorf("recalled %s", got)
	}
}

// TestHTTPSharesTheMemory uses the address and the token that the owner leaves in the data directory.
func TestHTTPSharesTheMemory(t *testing.T) {
	dir := dataDir(t)
	record := serveForTest(t, dir)
	c := newClient(t, dir)
	c.call("memory_store", map[string]any{"key": "k", "value": "by stdio"}, nil)
	token, err := os.ReadFile(owner.TokenPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	session := ""
	post := func(body string) string {
		r, err := http.NewRequest("POST", "http://"+record.HTTP+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if id := answer.Header.Get("Mcp-Session-Id"); id != "" {
			session = id
		}
		text, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode >= 300 {
			t.Fatalf("post: status %s, body %s, %v, want an answer", answer.Status, text, err)
		}
		return string(text)
	}
	post(body)
	post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	got := post(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"memory_recall","arguments":{"key":"k"}}}`)
	if !strings.Contains(got, "by stdio") {
		t.Errorf("recalled %s", got)
	}
}

func TestAProgramThatIsAClientsConnectionMayBeClosedTwiceAtOnce(t *testing.T) {
	dir := dataDir(t)
	t.Setenv(asMain, "1")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c, err := runStdio(t.Context(), new(strings.Builder), nil, program, "version", "--data", dir)
	if err != nil {
		t.Fatal(err)
	}
	var closing sync.WaitGroup
	for range 4 {
		closing.Go(func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	closing.Wait()
}
