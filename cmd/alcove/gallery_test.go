package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/stress"
)

// examples are the example families: their languages, and what the last line of each README answers.
var examples = map[string]struct {
	language, answer string
	deferred         bool // its store hook may be asked later, while its module is loaded
}{
	"redactor": {language: "rust", answer: "Write to [mail]."},
	"phonetic": {language: "c", answer: `"neighbour"`, deferred: true},
	"reviewer": {language: "assemblyscript", answer: `"days": 1`},
	"digest":   {language: "go", answer: "- lunch: Lunch with Ann by the river"},
}

// Each example is built from source, and packed, installed, granted and called by the lines of its README. It compiles, which takes
// a while: that in Rust a minute of processor time. So each day another example has its turn.
func TestTheExamplesAnswerAsTheirReadmesSay(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds modules, which takes a while")
	}
	t.Parallel()
	for _, name := range stress.Pick(t, 1, slices.Sorted(maps.Keys(examples))) {
		example := examples[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, source := t.TempDir(), filepath.Join("../../guests/examples", name)
			build := exec.Command("sh", "../../sdk/compilers.sh", example.language, filepath.Join(source, "build.sh"))
			build.Env = append(os.Environ(), "OUT="+filepath.Join(dir, "raw.wasm"))
			if built(t, build, filepath.Join(dir, "raw.wasm")) == nil {
				t.Skipf("the compiler of %s is not installed", example.language)
			}
			manifest, err := os.ReadFile(filepath.Join(source, "manifest.json"))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "manifest.json"), manifest, 0o600); err != nil {
				t.Fatal(err)
			}
			env, lines, last := readmeHome(t), readmeLines(t, source)[1:], "" // the first builds and tests it
			for _, line := range lines {
				last = runInShell(t, env, "cd "+dir+" && "+line)
			}
			if example.deferred {
				await.That(t, "the last command says "+example.answer, func() bool {
					last = runInShell(t, env, lines[len(lines)-1])
					return strings.Contains(last, example.answer)
				})
			}
			if !strings.Contains(last, example.answer) {
				t.Errorf("the last command says %s", last)
			}
		})
	}
}
