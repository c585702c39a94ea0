package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
