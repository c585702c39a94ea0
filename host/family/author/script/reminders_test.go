package script_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/author/script"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/testing/must"
)

// One family has one manifest in all languages: here are those that an engine runs, beside the one that the others declare. What these say of
// no hint is what the others say of a false one.
func TestTheRemindersHaveOneManifest(t *testing.T) {
	const reminders = "../../../../guests/examples/reminders"
	data, err := os.ReadFile(filepath.Join(reminders, "manifest.json"))
	must.Do(t, err)
	want := withoutHints(t, data)
	for _, name := range []string{"javascript/family.js", "typescript/family.ts", "python/family.py"} {
		data, err := script.Manifest(t.Context(), sandbox.Config{Interpret: true}, module(t, filepath.Join(reminders, name)))
		must.Do(t, err)
		if got := withoutHints(t, data); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %s, want the manifest of the other languages", name, data)
		}
	}
}

// withoutHints is a manifest without hints that are false, titles, what follows from readOnlyHint, and lists of no properties.
func withoutHints(t *testing.T, data []byte) (all any) {
	t.Helper()
	m, err := sandbox.ParseManifest(data)
	must.Do(t, err)
	for i, tool := range m.Tools {
		hints := abi.Annotations{}
		if only := tool.Annotations.ReadOnly; only != nil && *only {
			hints.ReadOnly = only
		}
		m.Tools[i].Annotations = hints
		var input map[string]any
		must.Do(t, json.Unmarshal(tool.InputSchema, &input))
		if properties, ok := input["properties"].(map[string]any); ok && len(properties) == 0 {
			delete(input, "properties")
		}
		m.Tools[i].InputSchema, err = json.Marshal(input)
		must.Do(t, err)
	}
	plain, err := json.Marshal(m)
	must.Do(t, err)
	must.Do(t, json.Unmarshal(plain, &all))
	return all
}
