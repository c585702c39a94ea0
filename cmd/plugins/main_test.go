package main

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/daemon/plugins"
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

func TestAPlaceAndAVersionAreAskedFor(t *testing.T) {
	if err := run(nil); err == nil || !strings.Contains(err.Error(), "-out or -zip, and -version") {
		t.Errorf("got %v, want a request for both", err)
	}
}

func TestTheArchiveHasTheSameBytesTwice(t *testing.T) {
	var made [2][]byte
	for i := range made {
		name := filepath.Join(t.TempDir(), "plugins.zip")
		err := run([]string{"-zip", name, "-version", "v1.2.3"})
		if err == nil {
			made[i], err = os.ReadFile(name)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(made[0], made[1]) {
		t.Error("got two archives that differ, want the same bytes")
	}
	z, err := zip.NewReader(bytes.NewReader(made[0]), int64(len(made[0])))
	if err != nil {
		t.Fatal(err)
	}
	files, err := plugins.Files("v1.2.3")
	if err != nil || len(z.File) != len(files) {
		t.Errorf("got %d files in the archive, %v, want %d", len(z.File), err, len(files))
	}
	for _, f := range z.File {
		name, below := strings.CutPrefix(f.Name, "alcove-plugins/")
		data, err := fs.ReadFile(z, f.Name)
		if !below || err != nil || !bytes.Equal(data, files[name]) {
			t.Errorf("%s: got other bytes than the plugin has, %v", f.Name, err)
		}
	}
}
