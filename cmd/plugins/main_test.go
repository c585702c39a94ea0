package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestTheFolderHasThePluginsAndNothingElse(t *testing.T) {
	out := filepath.Join(t.TempDir(), "plugins")
	if err := os.MkdirAll(filepath.Join(out, "old"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"-out", out, "-version", "v1.2.3"}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(out, "old")); err == nil {
		t.Error("got a folder of an earlier run, want it removed")
	}
	count := 0
	err := filepath.WalkDir(out, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		count++
		info, err := e.Info()
		if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&^0o644 != 0 {
			t.Errorf("%s: got mode %o, want at most 644: nothing in a plugin is run", path, info.Mode().Perm())
		}
		return err
	})
	if err != nil || count < 20 {
		t.Errorf("got %d files, %v, want those of three plugins", count, err)
	}
}

func TestAFolderAndAVersionAreAskedFor(t *testing.T) {
	if err := run(nil); err == nil || !strings.Contains(err.Error(), "-out and -version") {
		t.Errorf("got %v, want a request for both", err)
	}
}
