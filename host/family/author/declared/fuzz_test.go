package declared_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/alcove-memory/alcove/host/family/author/declared"
)

// FuzzManifest reads sources of strangers: each gives a manifest or an error, in bounded time.
func FuzzManifest(f *testing.F) {
	for _, name := range []string{"c/family.c", "cpp/family.cpp", "zig/family.zig", "rust/family.rs", "assemblyscript/family.ts"} {
		source, err := os.ReadFile(filepath.Join(reminders, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(filepath.Ext(name), string(source))
	}
	for _, extension := range []string{".c", ".cpp", ".zig", ".rs", ".ts"} {
		f.Add(extension, "// A.\n//alcove:family a 0.1.0\n(((")
	}
	f.Fuzz(func(t *testing.T, extension, source string) {
		if got, err := declared.Manifest("family"+extension, []byte(source)); err == nil && !json.Valid(got) {
			t.Errorf("the manifest is no JSON: %s", got)
		}
	})
}
