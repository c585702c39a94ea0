package clients

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// TestANewerProgramTakesOverWithoutLosingACall replaces the program while clients store through its server, as a package manager does, and
// stops that server: the bridges of the old program have the new one started, and each call happens once.
func TestANewerProgramTakesOverWithoutLosingACall(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a program that runs cannot be replaced there")
	}
	if testing.Short() {
		t.Skip("two programs are built: the tests without -short run it")
	}
	older, newer := build(t, "-ldflags=-X main.version=v0.0.1"), build(t) // which has the version of the sources
	dir, err := os.MkdirTemp("", "alcove")                                // a short path, for the socket in it
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "alcove")
	replace(t, older, program)
	env := []string{"ALCOVE_DATA=" + filepath.Join(dir, "data"), "ALCOVE_LISTEN=off", "ALCOVE_PROJECT=off"}
	t.Cleanup(func() {
		stop := command(t, runWithin, program, "stop")
		stop.Env = append(os.Environ(), env...)
		if out, err := stop.CombinedOutput(); err != nil {
			t.Errorf("stop the server: %v: %s", err, out)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	const clients, before, after = 3, 10, 10
	begun, replaced := make(chan struct{}, clients), make(chan struct{})
	var stored [clients]int
	var all sync.WaitGroup
	for c := range clients {
		storing := connected(t, program, env)
		all.Go(func() {
			for rest := after; rest > 0; stored[c]++ {
				select {
				case <-replaced:
					rest--
				default:
				}
				callOf(t, storing, "memory_store", map[string]any{"key": fmt.Sprintf("%d/%d", c, stored[c]), "value": c})
				if stored[c] == before {
					begun <- struct{}{}
				}
			}
		})
	}
	if got := ownerVersion(t, dir); got != "v0.0.1" {
		t.Errorf("the server is of version %q, want v0.0.1", got)
	}
	for range clients {
		<-begun
	}
	replace(t, newer, program)
	stop := command(t, runWithin, program, "stop")
	stop.Env = append(os.Environ(), env...)
	if out, err := stop.CombinedOutput(); err != nil || !strings.Contains(string(out), "stopped process") {
		t.Errorf("stop the old server: %v: %s", err, out)
	}
	close(replaced)
	all.Wait()
	last := connected(t, program, env)
	if got := ownerVersion(t, dir); got == "v0.0.1" {
		t.Error("the server is of the old version, want the new one")
	}
	for c, count := range stored {
		for n := range count {
			var versions []any
			text := callOf(t, last, "memory_history", map[string]any{"key": fmt.Sprintf("%d/%d", c, n)})
			if err := json.Unmarshal([]byte(text), &versions); err != nil || len(versions) != 1 {
				t.Errorf("%d/%d has %d versions, %v, want one: %s", c, n, len(versions), err, text)
			}
		}
	}
	t.Logf("%d stores, each of which happened once", stored[0]+stored[1]+stored[2])
}

// replace puts a program in the place of another in one step, as package managers do.
func replace(t *testing.T, program, at string) {
	t.Helper()
	data, err := os.ReadFile(program)
	if err == nil {
		err = os.WriteFile(at+".new", data, 0o755)
	}
	if err == nil {
		err = os.Rename(at+".new", at)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// connected is a client of a program that runs alcove mcp.
func connected(t *testing.T, program string, env []string) *mcpclient.Client {
	t.Helper()
	c, err := mcpclient.NewStdioMCPClient(program, env, "mcp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	var begin mcp.InitializeRequest
	begin.Params.ProtocolVersion = "2025-06-18"
	begin.Params.ClientInfo = mcp.Implementation{Name: "takeover", Version: "1"}
	if _, err := c.Initialize(t.Context(), begin); err != nil {
		t.Fatal(err)
	}
	return c
}

// callOf calls a tool and returns the text of its answer.
func callOf(t *testing.T, c *mcpclient.Client, tool string, arguments map[string]any) string {
	t.Helper()
	var request mcp.CallToolRequest
	request.Params.Name, request.Params.Arguments = tool, arguments
	answer, err := c.CallTool(t.Context(), request)
	if err != nil {
		t.Errorf("call %s with %v: %v", tool, arguments, err)
		return ""
	}
	text := ""
	for _, part := range answer.Content {
		if p, ok := part.(mcp.TextContent); ok {
			text += p.Text
		}
	}
	if answer.IsError {
		t.Errorf("%s %v was refused: %s", tool, arguments, text)
	}
	return text
}

func ownerVersion(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "data", "owner.json"))
	if err != nil {
		t.Fatal(err)
	}
	var record struct{ Version string }
	if err := json.Unmarshal(data, &record); err != nil {
		t.Fatal(err)
	}
	return record.Version
}
