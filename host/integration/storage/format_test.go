package storage_test

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/store/datadir"
)

// early unpacks a data directory as a build before version 1 left it (store, index, vectors, alcove.lock), a folder with a full backup and
// an increment, and a backup in a single file.
func early(t *testing.T) (dir string) {
	t.Helper()
	in, err := os.Open("testdata/early.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	unzipped, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for files := tar.NewReader(unzipped); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err == nil {
			err = unpack(filepath.Join(dir, h.Name), h, files)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func unpack(path string, h *tar.Header, r io.Reader) error {
	if h.FileInfo().IsDir() {
		return os.MkdirAll(path, 0o700)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

// sums are the names of what is in a directory, with the sum of each file.
func sums(t *testing.T, dir string) map[string]string {
	t.Helper()
	list := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if list[path] = "folder"; err == nil && !d.IsDir() {
			var data []byte
			data, err = os.ReadFile(path)
			list[path] = fmt.Sprintf("%x", sha256.Sum256(data))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestADataDirectoryOfAnEarlierBuildIsRefusedAndLeftAsItIs(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(early(t), "data")
	before := sums(t, dir)
	want := fmt.Sprintf("a build before version 1 wrote it: export it with that build (alcove export alcove.jsonl --data %q), and import the export into a new directory with this one (alcove import alcove.jsonl --data DIRECTORY)", dir)
	if _, err := host.Open(t.Context(), host.Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("open: got %v, want %q", err, want)
	}
	if _, err := space.Directory(dir).Verify(t.Context(), dir); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("verify: got %v, want %q", err, want)
	}
	if after := sums(t, dir); !maps.Equal(before, after) {
		t.Errorf("got %v, want %v", after, before)
	}
}

func TestABackupOfAnEarlierBuildIsRefused(t *testing.T) {
	t.Parallel()
	from := early(t)
	for _, backup := range []string{"backup", "backup.alcove"} {
		dir := filepath.Join(t.TempDir(), "data")
		_, err := space.Directory(dir).Restore(t.Context(), filepath.Join(from, backup), datadir.RestoreOptions{})
		if want := "a build before version 1 made it: restore it with that build, and move the directory with an export (alcove export alcove.jsonl --data DIRECTORY)"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", backup, err, want)
		}
		if has, err := space.Directory(dir).HasStore(); has || err != nil {
			t.Errorf("%s: a store was made (%v)", backup, err)
		}
	}
}
