package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestABridgeInitializesNothingOfTheServer reads from the runtime's own trace which packages were initialized when a client was served.
func TestABridgeInitializesNothingOfTheServer(t *testing.T) {
	dir := dataDir(t)
	var trace bytes.Buffer
	cmd := program(t, dir, "mcp")
	cmd.Env = append(cmd.Env, "GODEBUG=inittrace=1")
	cmd.Stdin, cmd.Stderr = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"), &trace
	if out, err := cmd.Output(); err != nil || !strings.Contains(string(out), `"result"`) {
		t.Fatalf("%s (%v): %s", out, err, &trace)
	}
	if !strings.Contains(trace.String(), "init ") {
		t.Fatalf("no trace: %s", &trace)
	}
	for _, heavy := range []string{"github.com/santhosh-tekuri/jsonschema/v6", "github.com/mark3labs/mcp-go/mcp", "net/http", "crypto/tls", "main"} {
		if strings.Contains(trace.String(), "init "+heavy+" @") {
			t.Errorf("%s was initialized before the client was served:\n%s", heavy, &trace)
		}
	}
}
