package declared_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/alcove-memory/alcove/host/family/author/declared"
)

// FuzzManifest reads sources of strangers in each language: each gives a manifest or an error, in bounded time.
func FuzzManifest(f *testing.F) {
	files := []string{"c/family.c", "cpp/family.cpp", "zig/family.zig", "rust/family.rs", "assemblyscript/family.ts"}
	for i, name := range files {
		source, err := os.ReadFile(filepath.Join(reminders, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), string(source))
		f.Add(uint8(i), "// A.\n//alcove:family a 0.1.0\n(((")
	}
	f.Fuzz(func(t *testing.T, language uint8, source string) {
		name := files[int(language)%len(files)]
		if got, err := declared.Manifest(name, []byte(source)); err == nil && !json.Valid(got) {
			t.Errorf("the manifest is not JSON: %s", got)
		}
	})
}
