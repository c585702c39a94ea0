package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
)

// notifier is a module that sends POST /notify to the endpoint hooks, and then answers, or traps.
func notifier(t *testing.T, name string, traps bool) []byte {
	t.Helper()
	const op, request, says = "http.fetch", `{"endpoint":"hooks","method":"POST","path":"/notify"}`, `{"done":true}`
	m := &asm.Module{}
	write := m.Import("alcove", "write", asm.I32s(3), asm.I32s(1))
	call := m.Import("alcove", "call", asm.I32s(4), asm.I32s(1))
	m.Memory(1)
	for at, text := range map[int32]string{0: op, 100: request, 300: says} {
		m.Put(at, []byte(text))
	}
	body := asm.Drop(asm.Call(call, asm.I32(0), asm.I32(int32(len(op))), asm.I32(100), asm.I32(int32(len(request)))))
	if traps {
		body = append(body, asm.Unreachable()...)
	}
	body = append(body, asm.Drop(asm.Call(write, asm.I32(0), asm.I32(300), asm.I32(int32(len(says)))))...)
	body = append(body, asm.I32(0)...)
	m.Export("alcove_handle", wasm.KindFunc, m.Func(asm.Func{Params: asm.I32s(2), Results: asm.I32s(1), Body: body}))
	manifest, err := json.Marshal(abi.Manifest{ABI: abi.Version, Name: name, Version: "1.0.0", Description: "Notifies.",
		Capabilities: []abi.Request{{Name: abi.CanHTTP, Scope: []string{"hooks"}, Reason: "to notify"}},
		Tools:        []abi.Tool{{Name: name + "_now", Description: "Notifies.", InputSchema: json.RawMessage(`{"type":"object"}`)}}})
	if err != nil {
		t.Fatal(err)
	}
	module, err := sandbox.Pack(m.Bytes(), manifest)
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// notified is a server that counts what it is asked, and a data directory with the families notify and fail, which ask it.
func notified(t *testing.T, asked func(n int32)) (dir string, count *atomic.Int32) {
	t.Helper()
	count = new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := count.Add(1)
		if asked != nil {
			asked(n)
		}
		w.WriteHeader(http.StatusCreated)
	}))
	t.Cleanup(server.Close)
	dir = dataDir(t)
	runProgram(t, dir, "endpoint", "add", "hooks", server.URL, "--kind", "http")
	for _, name := range []string{"notify", "fail"} {
		path := filepath.Join(t.TempDir(), name+".wasm")
		if err := os.WriteFile(path, notifier(t, name, name == "fail"), 0o600); err != nil {
			t.Fatal(err)
		}
		runProgram(t, dir, "family", "install", path)
		runProgram(t, dir, "family", "grant", name, "--all")
	}
	return dir, count
}

func runProgram(t *testing.T, dir string, args ...string) {
	t.Helper()
	if out, err := program(t, dir, args...).Output(); err != nil {
		t.Fatalf("alcove %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

func TestADryRunSaysWhatItDidNotSend(t *testing.T) {
	t.Parallel()
	dir, count := notified(t, nil)
	client := newClient(t, dir)
	dry := func(tool string) map[string]any {
		return toolCall("memory_operation", map[string]any{"method": tool, "options": map[string]any{"dry_run": true}})
	}
	for tool, want := range map[string]string{"notify_now": "dry run: POST hooks/notify was not sent", "fail_now": "(dry run: POST hooks/notify was not sent)"} {
		if got := string(client.ask("tools/call", dry(tool))); !strings.Contains(got, want) {
			t.Errorf("%s over MCP: %s", tool, got)
		}
		cmd := program(t, dir, "call", "--dry-run", tool)
		var said strings.Builder
		cmd.Stdout, cmd.Stderr = &said, &said
		err := cmd.Run()
		if (err != nil) != (tool == "fail_now") || !strings.Contains(said.String(), want) {
			t.Errorf("%s on the command line: %v: %s", tool, err, said.String())
		}
	}
	if n := count.Load(); n != 0 {
		t.Errorf("%d requests left", n)
	}
	cmd := program(t, dir, "call", "fail_now")
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Run(); err == nil || !strings.Contains(said.String(), "POST hooks/notify was sent and answered 201") || count.Load() != 1 {
		t.Errorf("in earnest it says %s, %v", said.String(), err)
	}
}

func TestACallThatSentSomethingIsNotMadeAgainByTheNextOwner(t *testing.T) {
	killed := make(chan struct{})
	var dir string
	dir, count := notified(t, func(int32) { killOwner(t, dir); close(killed) })
	client := newClient(t, dir)
	got := string(client.ask("tools/call", toolCall("notify_now", nil)))
	<-killed
	if n := count.Load(); n != 1 || !strings.Contains(got, `"isError":true`) || !strings.Contains(got, "POST hooks/notify was sent, and its answer is not known") || !strings.Contains(got, "conflict") {
		t.Errorf("after %d requests the client is told %s", n, got)
	}
}
