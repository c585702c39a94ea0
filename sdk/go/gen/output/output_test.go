package output_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/sdk/go/gen/output"
)

func TestOnlyRegularFilesAreReplacedByWhatIsGenerated(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "manifest.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	paths := []string{filepath.Join(dir, "manifest.json")}
	if info, err := os.Stat(os.DevNull); err == nil && info.Mode()&os.ModeDevice != 0 {
		paths = append(paths, os.DevNull)
	}
	for _, path := range paths {
		f := output.Files{Manifest: []byte("{}"), ManifestPath: path, Code: []byte("package p\n"), CodePath: filepath.Join(dir, output.CodeFile)}
		if err := f.Write(); err == nil || !strings.Contains(err.Error(), path+" is not a regular file") {
			t.Errorf("got %v, want that %s is not a regular file", err, path)
		}
	}
}
