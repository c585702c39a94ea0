//go:build unix

package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/outside/files"
	"github.com/alcove-memory/alcove/host/testing/must"
)

// TestWhatLeadsElsewhereIsRefused hangs, for as long as tests may, when a pipe is waited for.
func TestWhatLeadsElsewhereIsRefused(t *testing.T) {
	outside := folder(t, map[string]string{"secret": "secret", "below/secret": "secret"}).Dir
	f, r := &files.Files{}, folder(t, map[string]string{"good/file.md": "good", "file.md": "good"})
	at := func(p string) string { return filepath.Join(r.Dir, filepath.FromSlash(p)) }
	must.Do(t, os.Symlink(filepath.Join(outside, "secret"), at("link.md")))
	must.Do(t, os.Symlink("file.md", at("inner.md")))
	must.Do(t, os.Symlink(filepath.Join(outside, "none"), at("dangling.md")))
	must.Do(t, os.Symlink(outside, at("away")))
	must.Do(t, os.Symlink("good", at("again")))
	must.Do(t, os.Link(filepath.Join(outside, "secret"), at("hard.md")))
	must.Do(t, syscall.Mkfifo(at("pipe.md"), 0o600))
	for _, p := range []string{"link.md", "inner.md", "dangling.md", "away/secret", "away/new.md", "away/below/secret", "again/file.md", "again/new.md", "hard.md", "pipe.md", "good", "file.md/x"} {
		if got, err := f.Read(r, abi.FileReadRequest{Paths: []string{p}}); codeOf(err) != abi.CodeInvalidArgument {
			t.Errorf("%s is read: %v, %v", p, got.Files, err)
		}
		if _, err := write(t, f, r, abi.FileItem{Path: "new.md", Content: "new"}, abi.FileItem{Path: p, Content: "new"}); codeOf(err) != abi.CodeInvalidArgument {
			t.Errorf("%s is written: %v", p, err)
		}
	}
	for _, folder := range []string{"away", "again", "away/below", "file.md"} {
		if got, err := f.List(r, abi.FileListRequest{Folder: folder}); codeOf(err) != abi.CodeInvalidArgument {
			t.Errorf("%s is listed: %v, %v", folder, got.Files, err)
		}
	}
	page, err := f.List(r, abi.FileListRequest{})
	if err != nil || len(page.Files) != 2 || page.Refused != 7 {
		t.Errorf("listed %v, and %d not (%v)", page.Files, page.Refused, err)
	}
	if data, err := os.ReadFile(filepath.Join(outside, "secret")); err != nil || string(data) != "secret" {
		t.Errorf("outside is %q (%v)", data, err)
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) != 2 {
		t.Errorf("outside are %v (%v)", left, err)
	}
}

func TestARootThatBecameALinkIsNotUsed(t *testing.T) {
	outside := folder(t, map[string]string{"secret": "secret"}).Dir
	f, r := &files.Files{}, folder(t, nil)
	r.Dir = filepath.Join(r.Dir, "root")
	must.Do(t, os.Symlink(outside, r.Dir))
	if got, err := f.Read(r, abi.FileReadRequest{Paths: []string{"secret"}}); err == nil || strings.Contains(err.Error(), outside) {
		t.Errorf("Read = %v, %v, want an error that does not name where it leads", got.Files, err)
	}
}

func TestAPartialFileOfACrashIsReplaced(t *testing.T) {
	f, r := &files.Files{}, folder(t, nil)
	if _, err := write(t, f, r, abi.FileItem{Path: "a", Content: "1"}); err != nil {
		t.Fatal(err)
	}
	const partial = ".alcove-ca978112ca1bbdca.partial" // of the path a
	must.Do(t, os.Symlink("/etc/passwd", filepath.Join(r.Dir, partial)))
	if _, err := write(t, f, r, abi.FileItem{Path: "a", Content: "2"}); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(r.Dir); err != nil || len(left) != 1 {
		t.Errorf("there are %v (%v)", left, err)
	}
}
