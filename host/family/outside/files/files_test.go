package files_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/outside/files"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/registry"
)

// folder is a directory with the files that a test names.
func folder(t *testing.T, contents map[string]string) registry.Root {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	for p, content := range contents {
		file := filepath.Join(dir, filepath.FromSlash(p))
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
		must.Do(t, os.WriteFile(file, []byte(content), 0o600))
	}
	return registry.Root{Dir: dir}
}

func leave(context.Context) error { return nil }

func codeOf(err error) abi.Code {
	var e *abi.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func write(t *testing.T, f *files.Files, r registry.Root, items ...abi.FileItem) (int, error) {
	t.Helper()
	out, err := f.Write(t.Context(), r, abi.FileWriteRequest{Files: items}, leave)
	return out.Written, err
}

func TestFilesAreWrittenReadAndListed(t *testing.T) {
	f, r := &files.Files{}, folder(t, map[string]string{"b.md": "b", "a/x.md": "x"})
	if n, err := write(t, f, r, abi.FileItem{Path: "a/b/new.md", Content: "new"}, abi.FileItem{Path: "b.md", Content: "b"}); n != 1 || err != nil {
		t.Fatalf("%d written (%v)", n, err)
	}
	got, err := f.Read(r, abi.FileReadRequest{Paths: []string{"a/b/new.md", "none.md", "none/none.md"}})
	if err != nil || got.Files[0].Content != "new" || got.Files[1] != nil || got.Files[2] != nil {
		t.Errorf("read %+v (%v)", got.Files, err)
	}
	var paths []string
	for after := ""; ; {
		page, err := f.List(r, abi.FileListRequest{Limit: 2, After: after})
		must.Do(t, err)
		for _, e := range page.Files {
			paths = append(paths, e.Path)
		}
		if after = page.Next; after == "" {
			break
		}
	}
	if s := strings.Join(paths, " "); s != "a/b/new.md a/x.md b.md" {
		t.Errorf("listed %s", s)
	}
	if page, err := f.List(r, abi.FileListRequest{Folder: "nowhere"}); err != nil || len(page.Files) != 0 {
		t.Errorf("a missing folder: %v (%v)", page.Files, err)
	}
	if left, err := filepath.Glob(filepath.Join(r.Dir, "*", "*", ".*")); err != nil || len(left) > 0 {
		t.Errorf("it left %v (%v)", left, err)
	}
}

func TestBytesOfAnyKindAreKeptInBase64(t *testing.T) {
	f, r := &files.Files{}, folder(t, nil)
	data := base64.StdEncoding.EncodeToString([]byte{0, 255, 1})
	if _, err := f.Write(t.Context(), r, abi.FileWriteRequest{Base64: true, Files: []abi.FileItem{{Path: "x.bundle", Content: data}}}, leave); err != nil {
		t.Fatal(err)
	}
	if got, err := f.Read(r, abi.FileReadRequest{Base64: true, Paths: []string{"x.bundle"}}); err != nil || got.Files[0].Content != data {
		t.Errorf("Read = %+v (%v), want %s", got.Files, err, data)
	}
	if _, err := f.Read(r, abi.FileReadRequest{Paths: []string{"x.bundle"}}); codeOf(err) != abi.CodeInvalidArgument {
		t.Errorf("as text: %v", err)
	}
	if _, err := f.Write(t.Context(), r, abi.FileWriteRequest{Base64: true, Files: []abi.FileItem{{Path: "x", Content: "?"}}}, leave); codeOf(err) != abi.CodeInvalidArgument {
		t.Errorf("no base64: %v", err)
	}
}

// hostilePaths are paths that lead elsewhere on some system, or whose names are none on another.
var hostilePaths = []string{
	"", "/", "/etc/passwd", "..", "../x", "a/../x", "a/../../x", "./a", "a/.", "a//b", "a/", "a\x00b", "a\nb", "a\x7f", "\u0085", "a\\b", `..\x`, `\\host\share`, `C:\x`, "C:x", "a:stream",
	".git/config", "a/.ssh/id", ".alcove-x.partial", "con", "a/NUL.txt", "aux.md", "Com1 .txt", "a. ", "a.", " a", "a*", "a?", `a"`, "a<b", "a>b", "a|b", "\xff", "a/\xc3\x28",
	strings.Repeat("x", 256), strings.Repeat("x/", 32) + "x", strings.Repeat("long/", 300),
}

func TestHostilePathsAreRefused(t *testing.T) {
	f, r := &files.Files{}, folder(t, map[string]string{"a/x": "x"})
	for _, p := range hostilePaths {
		_, read := f.Read(r, abi.FileReadRequest{Paths: []string{p}})
		_, written := write(t, f, r, abi.FileItem{Path: "good.md", Content: "y"}, abi.FileItem{Path: p, Content: "y"})
		_, listed := f.List(r, abi.FileListRequest{Folder: p})
		for what, err := range map[string]error{"read": read, "written": written, "listed": listed} {
			if what == "listed" && p == "" {
				continue
			}
			if codeOf(err) != abi.CodeInvalidArgument {
				t.Errorf("%q is %s: %v", p, what, err)
			}
		}
	}
	if page, err := f.List(r, abi.FileListRequest{}); err != nil || len(page.Files) != 1 {
		t.Errorf("there is %v (%v)", page.Files, err)
	}
}

func TestAFileIsWrittenOnlyIfItIsWhatItWas(t *testing.T) {
	f, r := &files.Files{}, folder(t, map[string]string{"a": "1"})
	none, other := "", strings.Repeat("0", 64)
	for _, c := range []struct {
		item abi.FileItem
		ok   bool
	}{
		{abi.FileItem{Path: "a", Content: "2", IfDigest: &none}, false},
		{abi.FileItem{Path: "a", Content: "2", IfDigest: &other}, false},
		{abi.FileItem{Path: "b", Content: "2", IfDigest: &other}, false},
		{abi.FileItem{Path: "b", Content: "2", IfDigest: &none}, true},
	} {
		if _, err := write(t, f, r, abi.FileItem{Path: "first", Content: "1"}, c.item); (err == nil) != c.ok || !c.ok && codeOf(err) != abi.CodeConflict {
			t.Errorf("Write(%+v): %v, want it written: %t, or a conflict", c.item, err, c.ok)
		}
		if got, err := f.Read(r, abi.FileReadRequest{Paths: []string{"first"}}); err != nil || (got.Files[0] != nil) != c.ok {
			t.Errorf("%+v: the file before it is %v (%v)", c.item, got.Files[0], err)
		}
	}
	if _, err := write(t, f, r, abi.FileItem{Path: "c", Content: "1"}, abi.FileItem{Path: "c", Content: "2"}); codeOf(err) != abi.CodeInvalidArgument {
		t.Errorf("twice: %v", err)
	}
}

func TestNothingIsWrittenWhereItMustNotBe(t *testing.T) {
	f, r := &files.Files{}, folder(t, map[string]string{"a": "12345"})
	reading, full := r, r
	reading.ReadOnly, full.MaxBytes = true, 8
	if _, err := write(t, f, reading, abi.FileItem{Path: "b", Content: "1"}); codeOf(err) != abi.CodeDenied {
		t.Errorf("read-only: %v", err)
	}
	if _, err := write(t, f, full, abi.FileItem{Path: "b", Content: "1234"}); codeOf(err) != abi.CodeExhausted {
		t.Errorf("full: %v", err)
	}
	if n, err := write(t, f, full, abi.FileItem{Path: "a", Content: "12345678"}); n != 1 || err != nil {
		t.Errorf("just full: %d (%v)", n, err)
	}
	stay := errors.New("stay")
	if _, err := f.Write(t.Context(), r, abi.FileWriteRequest{Files: []abi.FileItem{{Path: "b", Content: "1"}}}, func(context.Context) error { return stay }); !errors.Is(err, stay) {
		t.Errorf("held back: %v", err)
	}
	if page, err := f.List(r, abi.FileListRequest{}); err != nil || len(page.Files) != 1 {
		t.Errorf("there is %v (%v)", page.Files, err)
	}
}

func TestADirectoryOfTheServerIsNoRoot(t *testing.T) {
	own := folder(t, map[string]string{"data/token": "secret", "data/blobs/b": "b", "notes/n": "n"})
	f := &files.Files{Private: []string{filepath.Join(own.Dir, "data")}}
	for name, ok := range map[string]bool{"": false, "data": false, "data/blobs": false, "notes": true, "none": false, "notes/n": false} {
		r := registry.Root{Dir: filepath.Join(own.Dir, filepath.FromSlash(name))}
		_, err := f.List(r, abi.FileListRequest{})
		if (f.Check(r) == nil) != ok || (err == nil) != ok {
			t.Errorf("root %q: Check: %v, List: %v, want it allowed: %t", name, f.Check(r), err, ok)
		}
		if err != nil && strings.Contains(err.Error(), own.Dir) {
			t.Errorf("a guest is told where it is: %v", err)
		}
	}
}

func TestAReaderSeesAWholeFileWhileItIsReplaced(t *testing.T) {
	f, r := &files.Files{}, folder(t, nil)
	content := func(i int) string { return strings.Repeat(fmt.Sprint(i%10), 20_000+i) }
	if _, err := write(t, f, r, abi.FileItem{Path: "a", Content: content(0)}); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	group.Go(func() {
		for i := range 20 {
			if _, err := f.Write(context.Background(), r, abi.FileWriteRequest{Files: []abi.FileItem{{Path: "a", Content: content(i)}}}, leave); err != nil {
				t.Error(err)
			}
		}
	})
	for range 50 {
		got, err := f.Read(r, abi.FileReadRequest{Paths: []string{"a"}})
		if codeOf(err) == abi.CodeUnavailable && strings.Contains(err.Error(), "was replaced") {
			continue
		}
		must.Do(t, err)
		if s := got.Files[0].Content; s != content(len(s)-20_000) {
			t.Fatalf("%d bytes are of no write", len(s))
		}
	}
	group.Wait()
}
