package hostile_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/testing/must"
)

// hostileZig is what each tool of the family in Zig may end with, and what its error says.
var hostileZig = map[string]struct{ classes, says string }{
	"loop":           {"fuel", "fuel"},
	"operations":     {"fuel host_calls error", ""},
	"recursion":      {"stack trap", ""},
	"bare_recursion": {"stack fuel", ""},
	"memory":         {"error", "out of memory"},
	"pieces":         {"memory fuel", ""},
	"texts":          {"memory", "refused more memory"},
	"beyond":         {"error", "out of memory"},
	"overflow":       {"trap", "panic: integer overflow"},
	"index":          {"trap", "panic: index out of bounds: index 20, len 3"},
	"nothing":        {"trap", "panic: attempt to use null value"},
	"failed":         {"error", "KettleIsEmpty"},
	"panics":         {"trap", "panic: the guest gave up"},
	"nested":         {"error", "want JSON"},
	"digits":         {"ok", ""},
	"result":         {"output", ""},
	"lines":          {"ok", ""},
	"wild":           {"trap", ""},
	"globals":        {"ok", ""},
	"scribbles":      {"ok error trap", ""},
	"grows":          {"ok", ""},
}

// familyInZig builds the family, or skips where no compiler can be had.
func familyInZig(t *testing.T) *sandbox.Module {
	t.Helper()
	raw := filepath.Join(t.TempDir(), "raw.wasm")
	script := filepath.Join(t.TempDir(), "build.sh")
	root, err := filepath.Abs("../../..")
	must.Do(t, err)
	must.Do(t, os.WriteFile(script, fmt.Appendf(nil, "cd %s/host/testing/hostile/testdata && sh %[1]s/sdk/zig/build.sh %s family.zig\n", root, raw), 0o600))
	said, err := exec.Command("sh", filepath.Join(root, "sdk", "compilers.sh"), "zig", script).CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 77 {
		t.Skipf("not built: %s", bytes.TrimSpace(said))
	}
	if err != nil {
		t.Fatalf("build the family: %v\n%s", err, said)
	}
	module, err := os.ReadFile(raw)
	must.Do(t, err)
	tools := []string{`{"name":"state","description":"Acts","input_schema":{"type":"object"}}`}
	for name := range hostileZig {
		tools = append(tools, strings.Replace(tools[0], "state", name, 1))
	}
	packed, err := sandbox.Pack(module, fmt.Appendf(nil, `{"abi":1,"name":"hostile","version":"1.0.0","description":"Hostile","tools":[%s]}`, strings.Join(tools, ",")))
	must.Do(t, err)
	m, err := newSandbox(t, 0).Admit(t.Context(), packed, sandbox.Options{})
	must.Do(t, err)
	return m
}

// Whatever a family in Zig does is stopped by the limits of all guests, or is an error, and the next caller finds nothing of it.
func TestZigIsStoppedByTheLimitsOfAllGuests(t *testing.T) {
	m := familyInZig(t)
	for tool, want := range hostileZig {
		r := asked(t, m, tool)
		if !strings.Contains(" "+want.classes+" ", " "+string(r.Class)+" ") || r.Error != nil && !strings.Contains(r.Error.Message, want.says) {
			t.Errorf("%s: class %s, %v, want %s with %q", tool, r.Class, r.Error, want.classes, want.says)
		}
		if r.Memory > 256<<16 {
			t.Errorf("%s: it has %d bytes of memory, want at most %d", tool, r.Memory, 256<<16)
		}
		if after := asked(t, m, "state"); string(after.Output) != untouched {
			t.Errorf("after %s: the next caller gets %s, %v, want %s", tool, after.Output, after.Error, untouched)
		}
	}
}

func TestCallsOfZigLeaveNothing(t *testing.T) {
	callsLeaveNothing(t, familyInZig(t), []string{"globals", "scribbles", "grows", "recursion", "wild"})
}
