package script_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/alcove-memory/alcove/host/family/author/script"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/testing/must"
)

// One family has one manifest in all languages: here are those that an engine runs, beside the one that the others declare.
func TestTheRemindersHaveOneManifest(t *testing.T) {
	const reminders = "../../../../guests/examples/reminders"
	want, err := os.ReadFile(filepath.Join(reminders, "manifest.json"))
	must.Do(t, err)
	for _, name := range []string{"javascript/family.js", "typescript/family.ts", "python/family.py"} {
		got, err := script.Manifest(t.Context(), sandbox.Config{Interpret: true}, module(t, filepath.Join(reminders, name)))
		if err != nil || string(got) != string(want) {
			t.Errorf("%s: got\n%s\nwant\n%s(%v)", name, got, want, err)
		}
	}
}
