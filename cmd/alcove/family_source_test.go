package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/guests"
	"github.com/alcove-memory/alcove/guests/build/project"
	"github.com/alcove-memory/alcove/guests/engines"
	"github.com/alcove-memory/alcove/host/sandbox"
)

const remembering = `import { family, t } from "alcove";
export default family({
  name: "scripted", version: "1.0.0", description: "Keeps notes", keywords: ["scripted notes"],
  capabilities: [{ name: "memory.write", scope: ["*"], reason: "to keep notes" }],
  tools: { scripted_note: { description: "Keep a note.", input: { text: t.string("the note") }, output: { key: t.string() },
    call({ text }, c) { return { key: c.memory.put({ items: [{ value: text }] }).stored[0].key }; } } },
});
`

// A source is packed without a compiler, tested, installed and called.
func TestASourceBecomesAnInstalledFamily(t *testing.T) {
	t.Parallel()
	env, dir := readmeHome(t), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "family.js"), []byte(remembering), 0o600); err != nil {
		t.Fatal(err)
	}
	in := func(line string) string { t.Helper(); return runInShell(t, env, "cd "+dir+" && "+line) }
	if said := in("alcove family pack family.js --manifest-out manifest.json"); !strings.Contains(said, "wrote scripted.wasm") {
		t.Errorf("pack says %s, want that it wrote scripted.wasm", said)
	}
	in("alcove family test scripted.wasm --inputs 3")
	if said := in("alcove family inspect scripted.wasm && alcove family inspect scripted.wasm --source"); !strings.Contains(said, "--source prints it") || !strings.Contains(said, `description: "Keep a note."`) {
		t.Errorf("inspect says %s, want that it has a source, and the source", said)
	}
	in("alcove family install scripted.wasm && alcove family grant scripted --all")
	if said := in(`alcove call scripted_note '{"text": "green tea"}'`); !strings.Contains(said, `"key"`) {
		t.Errorf("the call says %s, want a key", said)
	}
	if said := in("alcove search tea"); !strings.Contains(said, "green tea") {
		t.Errorf("the search says %s, want the note", said)
	}
	if said := in("alcove family pack family.js --manifest manifest.json --manifest-out other.json 2>&1 || true"); !strings.Contains(said, "--manifest-out is for a source that defines its manifest") {
		t.Errorf("both flags: %s, want that they do not go together", said)
	}
	if said := in("alcove family pack absent.js 2>&1 || true"); !strings.Contains(said, "there is no file absent.js") {
		t.Errorf("a file that is not there: %s, want that it is named", said)
	}
}

// A family is made, packed, tested, installed, called, updated and rolled back by the lines of the guide, which are those of the project's own
// README. No compiler is needed.
func TestTheGuideWorksInLanguagesThatAreNotCompiled(t *testing.T) {
	t.Parallel()
	for _, language := range project.Languages() {
		if slices.Contains(project.Compiled(), language) {
			continue
		}
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			if !guests.Embedded() {
				t.Skip("there are no templates without -tags guests, after make guests")
			}
			env, dir := readmeHome(t), t.TempDir()
			timeGuide(t, language)
			lines := blockOf(t, guide, "with `--lang javascript`")
			end := map[string]string{"javascript": "js", "typescript": "ts", "python": "py"}[language]
			for i := range lines {
				lines[i] = strings.NewReplacer("javascript", language, "family.js", "family."+end).Replace(lines[i])
			}
			runInShell(t, env, "cd "+dir+" && "+lines[0])
			dir = filepath.Join(dir, "tea")
			if got := readmeLines(t, dir); !slices.Equal(got, lines[2:]) {
				t.Errorf("the README says %q, the guide %q", got, lines[2:])
			}
			said := ""
			for _, line := range lines[2:] {
				said = runInShell(t, env, "cd "+dir+" && "+line)
			}
			if !strings.Contains(said, "Hello, Ada!") {
				t.Errorf("the call says %s, want Hello, Ada!", said)
			}
			said = runInShell(t, env, "cd "+dir+" && sed -i.bak 's/0\\.1\\.0/0.2.0/' family.* && "+lines[2]+" && alcove family update tea tea.wasm")
			if !strings.Contains(said, "tea 0.2.0 (installed)") || !strings.Contains(said, "granted     memory.write *") {
				t.Errorf("update says %s, want version 0.2.0 with its grant", said)
			}
		})
	}
}

// Each tool of a given manifest is there, and answers that it is not written yet.
func TestStubsInLanguagesWithAnEngineAnswer(t *testing.T) {
	t.Parallel()
	if !guests.Embedded() {
		t.Skip("there are no templates without -tags guests, after make guests")
	}
	for _, language := range []string{"javascript", "python"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			stubsAnswer(t, language)
		})
	}
}

func stubsAnswer(t *testing.T, language string) {
	t.Helper()
	env, dir := readmeHome(t), t.TempDir()
	const manifest = `{"abi": 1, "name": "tea", "version": "1.0.0", "description": "Brews", "tools": [{"name": "tea.pour-out", "description": "*/ Pours", "input_schema": {"type": "object"}}]}`
	if err := os.WriteFile(filepath.Join(dir, "m.json"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	runInShell(t, env, "cd "+dir+" && alcove family new tea --lang "+language+" --from m.json")
	dir = filepath.Join(dir, "tea")
	runInShell(t, env, "cd "+dir+" && "+readmeLines(t, dir)[0])
	if said := runInShell(t, env, "cd "+dir+" && alcove family call tea.wasm tea.pour-out '{}' 2>&1 || true"); !strings.Contains(said, "tea.pour-out is not written yet") {
		t.Errorf("it says %s, want that the tool is not written yet", said)
	}
}

// What follows a line that looks like the origins of lines is shown to who reviews it.
func TestNothingOfASourceHidesFromItsReview(t *testing.T) {
	for ends, shown := range map[string]bool{
		"\n//# alcove:lines={}": false, "\n//# alcove:lines={}\n": false,
		"\n//# alcove:lines=x\nevil()": true, "\n//# alcove:lines=x\u2028evil()": true, "\n//# alcove:lines=x\revil()": true,
	} {
		engine, err := engines.Of("javascript")
		if err != nil {
			t.Fatal(err)
		}
		module, err := sandbox.WithSource(engine, []byte("family.js\x00good();"+ends))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := newApp(nil, &out, io.Discard, func(string) string { return "" }).printSource("m.wasm", module); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), "alcove:lines"); got != shown || !strings.Contains(out.String(), "good();") {
			t.Errorf("%q ends as %q, want the last line shown: %v", ends, out.String(), shown)
		}
	}
}

// A client of family dev sees each edit of a source, and its author where a fault is.
func TestAClientSeesEachEditOfASource(t *testing.T) {
	t.Parallel()
	if !guests.Embedded() {
		t.Skip("there are no templates without -tags guests, after make guests")
	}
	env, work := readmeHome(t), t.TempDir()
	env = append(env, "XDG_CACHE_HOME="+filepath.Join(work, "cache"))
	runInShell(t, env, "cd "+work+" && alcove family new tea --lang typescript")
	file := filepath.Join(work, "tea", "family.ts")
	d := startDev(t, env, filepath.Join(work, "tea"))
	connect := d.until("serving", "").Connect
	first := d.until("built", "tea")
	cmd := exec.Command(connect[0], connect[1:]...)
	cmd.Env, cmd.Stderr = env, t.Output()
	c := clientOf(t, cmd)
	var answer struct{ Text string }
	if c.call("tea_greet", map[string]any{"name": "Ada"}, &answer); answer.Text != "Hello, Ada!" {
		t.Errorf("it answers %q, want Hello, Ada!", answer.Text)
	}
	edit(t, file, "${name}!`;", "${name}?`;")
	for d.until("built", "tea").Digest == first.Digest { // a file was seen half-written
	}
	if c.call("tea_greet", map[string]any{"name": "Ada"}, &answer); answer.Text != "Hello, Ada?" {
		t.Errorf("after an edit it answers %q, want Hello, Ada?", answer.Text)
	}
	edit(t, file, "import {", "impart {")
	d.until("failed", "family.ts:2:")
}
