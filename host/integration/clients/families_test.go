package clients

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/testing/nodejs"
	"github.com/alcove-memory/alcove/host/testing/stress"
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
	for _, c := range stress.Pick(t, 4, append(clients(false), clients(true)...)) {
		t.Run(c.String(), func(t *testing.T) { c.runs(t, node, "families.mjs", files) })
	}
}

// packSource makes the same family of a source in JavaScript.
func packSource(t *testing.T, program, folder, name, description, tool string) {
	t.Helper()
	source := filepath.Join(t.TempDir(), "family.js")
	content := fmt.Sprintf(`import { family, t } from "alcove";
export default family({ name: %q, version: "1.0.0", description: %q, tools: { %s: { description: %q, readOnly: true,
	input: { text: t.string("What to say.") }, call: ({ text }) => ({ text: text.toUpperCase() }) } } });`, name, description, name+"_text", tool)
	if err := os.WriteFile(source, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := command(t, runWithin, program, "family", "pack", source, "-o", filepath.Join(folder, name+".wasm")).CombinedOutput()
	if err != nil {
		t.Fatalf("pack the family %s: %v\n%s", name, err, out)
	}
}

func TestRealClientsLoadCallAndUnloadFamiliesInJavaScript(t *testing.T) {
	node := install(t)
	program := build(t)
	folder := t.TempDir()
	packSource(t, program, folder, "shout", "Answers in capital letters.", "Says it louder.")
	packSource(t, program, folder, "whisper", "Answers under its breath.", "Says it in a low voice.")
	files := configurations(t, program, serve(t, program, "--families-dir", folder))
	for _, c := range stress.Pick(t, 2, append(clients(false), clients(true)...)) {
		t.Run(c.String(), func(t *testing.T) { c.runs(t, node, "families.mjs", files) })
	}
}

// carrying is a server of a program with the first-party families, and the configurations of its clients. The operator gave the commands.
func carrying(t *testing.T, commands ...string) (files map[string]string) {
	t.Helper()
	files, _ = carryingAfter(t, commands)
	return files
}

// carryingAfter also returns what the commands said.
func carryingAfter(t *testing.T, commands []string) (files map[string]string, said []string) {
	t.Helper()
	if _, err := os.Stat("../../../guests/dist/families.image"); err != nil {
		nodejs.Lacking(t, "the first-party families are not built, run make guests: %v", err)
	}
	program := build(t, "-tags", "guests")
	dir := serve(t, program, "--posture", "careful") // families act as the commands grant, and change no versions of their own accord
	for _, line := range commands {
		out, err := command(t, runWithin, program, append(strings.Fields(line), "--data", dir)...).CombinedOutput()
		if err != nil {
			t.Fatalf("alcove %s: %v\n%s", line, err, out)
		}
		said = append(said, string(out))
	}
	return configurations(t, program, dir), said
}

func TestRealClientsUseAFamilyThatTheProgramCarries(t *testing.T) {
	node := install(t)
	files := carrying(t)
	for _, c := range stress.Pick(t, 2, clients(false)) {
		t.Run(c.String(), func(t *testing.T) { c.runs(t, node, "firstparty.mjs", files) })
	}
}

// website starts the site that the scenario of the family sites calls, and returns the commands that add it under some slugs.
func website(t *testing.T, slugs ...string) (commands []string) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		nodejs.Lacking(t, "python3 is not installed, in which the website of the tests is written: %v", err)
	}
	c := exec.CommandContext(t.Context(), python, "../../../guests/families/sites/testdata/site.py")
	c.Env = append(os.Environ(), "SITE_SECRET=secret-of-the-scenario")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		c.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address := strings.TrimSpace(line)
	t.Setenv("ALCOVE_TEST_SITE", address)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret-of-the-scenario\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, slug := range slugs {
		commands = append(commands, fmt.Sprintf("site add %s/%s --slug %s --secret-file %s", address, slug, slug, secret))
	}
	return commands
}

// Each family's scenario is run by an official client over stdio and HTTP, in the stateless protocol, and by a client that never lists
// tools, each on its day. All share one server.
func TestRealClientsRunTheScenarioOfEachFamily(t *testing.T) {
	node := install(t)
	scenarios, err := filepath.Glob("../../../guests/families/*/scenario.mjs")
	if err != nil || len(scenarios) == 0 {
		t.Fatal("there are no scenarios", err)
	}
	commands := []string{"embedder set mine --kind given --dimensions 3", "family grant ranking --hook rank", "family grant governance --hook store=refuse --hook stored", "family config governance seal_always=true", "family grant legacy tools.usage"}
	files := carrying(t, append(commands, website(t, "sdk-stdio", "sdk-http", "client-2026-http", "client-stdio-deaf")...)...)
	for _, path := range scenarios {
		absolute, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(filepath.Dir(path))
		t.Run(name, func(t *testing.T) {
			for _, c := range stress.Pick(t, 1, []client{{"sdk", "stdio", false}, {"sdk", "http", false}, {"client-2026", "http", false}, {"client", "stdio", true}}) {
				t.Run(c.String(), func(t *testing.T) { c.runs(t, node, "scenario.mjs", files, absolute) })
			}
		})
	}
}
