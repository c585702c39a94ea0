package regular_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/regular"
)

func TestARegularFileIsReadUpToALimit(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(path, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	paths := []string{path}
	if err := os.Symlink(path, link); err != nil {
		t.Log("symbolic links are not tested:", err)
	} else {
		paths = append(paths, link)
	}
	for _, p := range paths {
		if data, err := regular.Read(p, 7); string(data) != "content" || err != nil {
			t.Errorf("Read(%s, 7) = %q, %v, want content", p, data, err)
		}
		if _, err := regular.Read(p, 6); !errors.Is(err, regular.ErrTooLong) || !strings.Contains(err.Error(), "more than 6 bytes") {
			t.Errorf("Read(%s, 6): %v, want ErrTooLong", p, err)
		}
	}
	if _, err := regular.Open(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Open of no file: %v, want %v", err, os.ErrNotExist)
	}
}

func TestADirectoryIsRefused(t *testing.T) {
	if _, err := regular.Open(t.TempDir()); !errors.Is(err, regular.ErrNot) || !strings.Contains(err.Error(), "is a directory, not a regular file") {
		t.Errorf("Open of a directory: %v, want ErrNot", err)
	}
}

func TestAnOutputGoesToAFileOrToTheOneThatALinkLeadsTo(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(filepath.Join(dir, "file"))
	if err != nil {
		t.Fatal(err)
	}
	for to, from := range map[string]string{"file": "link", "none": "dangling", ".": "folder"} {
		if err := os.Symlink(filepath.Join(dir, to), filepath.Join(dir, from)); err != nil {
			t.Skip("this user can make no symbolic links:", err)
		}
	}
	for name, want := range map[string]string{"file": filepath.Join(dir, "file"), "new": filepath.Join(dir, "new"), "link": real} {
		if got, err := regular.Destination(filepath.Join(dir, name)); got != want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
	for name, want := range map[string]string{"dangling": "a symbolic link to a file that does not exist", "folder": "is a directory, not a regular file", ".": "is a directory"} {
		if got, err := regular.Destination(filepath.Join(dir, name)); !errors.Is(err, regular.ErrNot) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %q, %v, want an error with %q", name, got, err, want)
		}
	}
}
