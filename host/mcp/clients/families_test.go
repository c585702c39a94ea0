package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// guest is a module that answers with its text in capital letters.
const guest = "../../sandbox/testdata/guests/c.wasm"

// pack makes a family of the guest, in a folder.
func pack(t *testing.T, program, folder, name, description, tool string) {
	t.Helper()
	manifest := filepath.Join(t.TempDir(), "manifest.json")
	content := fmt.Sprintf(`{"abi": 1, "name": %q, "version": "1.0.0", "description": %q, "tools": [{"name": %q, "description": %q,
		"input_schema": {"type": "object", "properties": {"text": {"type": "string", "description": "What to say."}}, "required": ["text"]},
		"annotations": {"readOnlyHint": true}}]}`, name, description, name+"_text", tool)
	if err := os.WriteFile(manifest, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := command(t, runWithin, program, "family", "pack", guest, "--manifest", manifest, "-o", filepath.Join(folder, name+".wasm")).CombinedOutput()
	if err != nil {
		t.Fatalf("pack the family %s: %v\n%s", name, err, out)
	}
}

func TestRealClientsLoadCallAndUnloadFamilies(t *testing.T) {
	node := install(t)
	program := build(t)
	folder := t.TempDir()
	pack(t, program, folder, "shout", "Answers in capital letters.", "Says it louder.")
	pack(t, program, folder, "whisper", "Answers under its breath.", "Says it in a low voice.")
	files := configurations(t, program, serve(t, program, "--families-dir", folder))
	for transport, file := range files {
		for _, kind := range []string{"sdk", "client", "client-2026"} {
			t.Run(kind+"/"+transport, func(t *testing.T) { script(t, node, "families.mjs", kind, transport, file) })
			t.Run(kind+"/"+transport+"/never listing again", func(t *testing.T) { script(t, node, "families.mjs", kind, transport, file, "deaf") })
		}
	}
}

// carrying is a server of a program with the first-party families, and the configurations of its clients. The operator gave the commands.
func carrying(t *testing.T, commands ...string) (files map[string]string) {
	t.Helper()
	if _, err := os.Stat("../../../guests/dist/families.image"); err != nil {
		lacking(t, "the first-party families are not built, run make guests: %v", err)
	}
	program := build(t, "-tags", "guests")
	dir := serve(t, program)
	for _, line := range commands {
		if out, err := command(t, runWithin, program, append(strings.Fields(line), "--data", dir)...).CombinedOutput(); err != nil {
			t.Fatalf("alcove %s: %v\n%s", line, err, out)
		}
	}
	return configurations(t, program, dir)
}

func TestRealClientsUseAFamilyThatTheProgramCarries(t *testing.T) {
	node := install(t)
	for transport, file := range carrying(t) {
		for _, kind := range []string{"sdk", "client", "client-2026"} {
			t.Run(kind+"/"+transport, func(t *testing.T) { script(t, node, "firstparty.mjs", kind, transport, file) })
		}
	}
}

// Each family's scenario is run by an official client over stdio and HTTP, in the stateless protocol, and by a client that never lists
// tools. All share one server.
func TestRealClientsRunTheScenarioOfEachFamily(t *testing.T) {
	node := install(t)
	scenarios, err := filepath.Glob("../../../guests/*/scenario.mjs")
	if err != nil || len(scenarios) == 0 {
		t.Fatal("there are no scenarios", err)
	}
	files := carrying(t, "embedder set mine --kind given --dimensions 3", "family grant ranking --hook rank", "family grant legacy tools.usage")
	for _, path := range scenarios {
		absolute, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(filepath.Dir(path))
		for transport, file := range files {
			t.Run(name+"/sdk/"+transport, func(t *testing.T) { script(t, node, "scenario.mjs", "sdk", transport, file, absolute) })
		}
		t.Run(name+"/client-2026/http", func(t *testing.T) { script(t, node, "scenario.mjs", "client-2026", "http", files["http"], absolute) })
		t.Run(name+"/client/stdio/never listing", func(t *testing.T) {
			script(t, node, "scenario.mjs", "client", "stdio", files["stdio"], absolute, "deaf")
		})
	}
}
