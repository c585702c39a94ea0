package backup_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

type content struct{ *strings.Reader }

func (content) Close() error { return nil }

func sum(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }

func file(name, says string) backup.OpenFile {
	return backup.OpenFile{File: backup.File{Name: name, SHA256: sum(says), Bytes: int64(len(says))}, Content: content{strings.NewReader(says)}}
}

func settings(list ...backup.OpenFile) backup.Settings {
	return func() ([]backup.OpenFile, error) { return list, nil }
}

func withFiles(e backup.Space, s backup.Settings) backup.Source {
	return func(ctx context.Context, since backup.Base, w io.Writer) error {
		return backup.Write(ctx, w, e, since, s)
	}
}

// taker is what takes the files of a backup.
type taker struct {
	contents map[string]string
	list     []backup.File
	said     int
}

func (k *taker) File(digest string, data []byte) error {
	if k.contents == nil {
		k.contents = map[string]string{}
	}
	k.contents[digest] = string(data)
	return nil
}

func (k *taker) Files(list []backup.File) error {
	k.list, k.said = list, k.said+1
	return nil
}

func (k *taker) String() (said string) {
	for _, f := range k.list {
		said += fmt.Sprintf("%s=%.5s%s; ", f.Name, k.contents[f.SHA256], f.Absent)
	}
	return said
}

func filesOf(t *testing.T, path string) (*taker, error) {
	t.Helper()
	files := &taker{}
	read := func(l store.Loader, _ string) error { return backup.Read(t.Context(), path, nil, l, files, nil) }
	err := bolt.Driver{}.Load(t.Context(), t.TempDir(), store.Load{Read: read})
	return files, err
}

func TestFilesAreRestoredAsTheyWereAtTheLastPart(t *testing.T) {
	e, dir := open(t, t.TempDir()), t.TempDir()
	put(t, e, "a", "1")
	large := strings.Repeat("large", 600_000)
	gone := backup.OpenFile{File: backup.File{Name: "families/gone.wasm", SHA256: sum("gone"), Absent: "why"}}
	if _, err := backup.Full(t.Context(), dir, withFiles(e, settings(file("families/a.wasm", large), file("alcove.lock", "first"))), time.Now()); err != nil {
		t.Fatal(err)
	}
	next := withFiles(e, settings(file("families/approved/a.wasm", large), gone, file("alcove.lock", "second")))
	p, err := backup.Increment(t.Context(), dir, next, time.Now())
	if err != nil || p.Bytes > 100_000 {
		t.Fatalf("the increment has %d bytes: content that the backup has is copied again (%v)", p.Bytes, err)
	}
	put(t, e, "a", "2")
	again, err := backup.Increment(t.Context(), dir, next, time.Now())
	if err != nil || len(again.Files) != 3 || !again.Files[2].Earlier {
		t.Fatalf("no file changed, and the increment has %+v (%v)", again.Files, err)
	}
	got, err := filesOf(t, dir)
	if want := "families/approved/a.wasm=large; families/gone.wasm=why; alcove.lock=secon; "; err != nil || got.String() != want || got.said != 3 {
		t.Errorf("%s, said %d times (%v)", got, got.said, err)
	}
	if got.contents[sum(large)] != large {
		t.Error("a content of several frames is another")
	}
}

func TestASingleFileHasTheFiles(t *testing.T) {
	e, path := open(t, t.TempDir()), filepath.Join(t.TempDir(), "space.alcove")
	put(t, e, "a", "1")
	if _, err := backup.ToFile(t.Context(), path, withFiles(e, settings(file("alcove.lock", "first"))), time.Now()); err != nil {
		t.Fatal(err)
	}
	if got, err := filesOf(t, path); err != nil || got.String() != "alcove.lock=first; " {
		t.Errorf("files = %s (%v), want alcove.lock=first", got, err)
	}
}

func TestFilesThatCannotBeAreRefused(t *testing.T) {
	absent := func(f backup.OpenFile) backup.OpenFile {
		f.Absent = "why"
		return f
	}
	other := file("alcove.lock", "first")
	other.SHA256 = sum("other")
	unnamed := file("a", "x")
	unnamed.SHA256 = "../x"
	cut := file("alcove.lock", "first")
	cut.Bytes++
	many := make([]backup.OpenFile, 4097)
	for i := range many {
		many[i] = backup.OpenFile{File: backup.File{Name: fmt.Sprint("f", i), SHA256: sum("x"), Absent: "why"}}
	}
	for name, c := range map[string]struct {
		list []backup.OpenFile
		says string
	}{
		"a way up":            {[]backup.OpenFile{file("families/../../x", "x")}, "not a name of a file"},
		"dots":                {[]backup.OpenFile{file("..", "x")}, "not a name of a file"},
		"a root":              {[]backup.OpenFile{file("/etc/passwd", "x")}, "not a name of a file"},
		"a drive":             {[]backup.OpenFile{file(`c:\x`, "x")}, "not a name of a file"},
		"a folder":            {[]backup.OpenFile{file("families/", "x")}, "not a name of a file"},
		"an empty name":       {[]backup.OpenFile{file("", "x")}, "not a name of a file"},
		"twice":               {[]backup.OpenFile{file("a", "x"), file("a", "y")}, "named twice"},
		"another content":     {[]backup.OpenFile{other}, "and should have"},
		"a content too short": {[]backup.OpenFile{cut}, "EOF"},
		"no content":          {[]backup.OpenFile{file("a", "")}, "has 0 bytes"},
		"too much content":    {[]backup.OpenFile{file("a", strings.Repeat("x", 32<<20+1))}, "at most 33554432"},
		"no digest":           {[]backup.OpenFile{unnamed}, "not 64 hexadecimal digits"},
		"absent with content": {[]backup.OpenFile{absent(file("a", "x"))}, "is absent, and has"},
		"too many":            {many, "more than 4096"},
	} {
		e, dir := twoEntries{}, t.TempDir()
		if _, err := backup.Full(t.Context(), dir, withFiles(e, settings(c.list...)), time.Now()); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: Full: %v, want an error that says %q", name, err, c.says)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: %v are left (%v)", name, left, err)
		}
	}
}

func TestSettingsThatCannotBeReadEndABackup(t *testing.T) {
	broken := errors.New("the lock file is broken")
	var out bytes.Buffer
	err := backup.Write(t.Context(), &out, twoEntries{}, backup.Base{}, func() ([]backup.OpenFile, error) { return nil, broken })
	if !errors.Is(err, broken) {
		t.Errorf("Write: %v, want %v", err, broken)
	}
	if _, err := backup.Parse(out.Bytes(), 1<<20, nil, nil); err == nil {
		t.Error("half a part is taken")
	}
}

func TestAFullBackupWithoutFilesTakesThemInAnIncrement(t *testing.T) {
	e, dir := open(t, t.TempDir()), t.TempDir()
	put(t, e, "a", "1")
	if _, err := backup.Full(t.Context(), dir, withFiles(e, nil), time.Now()); err != nil {
		t.Fatal(err)
	}
	if got, err := filesOf(t, dir); err != nil || got.String() != "" {
		t.Errorf("got files %s (%v), want none", got, err)
	}
	put(t, e, "b", "2")
	if _, err := backup.Increment(t.Context(), dir, withFiles(e, settings(file("alcove.lock", "first"))), time.Now()); err != nil {
		t.Fatal(err)
	}
	if got, err := filesOf(t, dir); err != nil || got.String() != "alcove.lock=first; " {
		t.Errorf("got files %s (%v), want alcove.lock=first", got, err)
	}
	if got, err := restored(t, dir); err != nil || got != "a=1 b=2" {
		t.Errorf("restored %q (%v), want a=1 b=2", got, err)
	}
}

func TestAManifestThatNamesOtherFilesIsRefused(t *testing.T) {
	e, dir := open(t, t.TempDir()), t.TempDir()
	put(t, e, "a", "1")
	if _, err := backup.Full(t.Context(), dir, withFiles(e, settings(file("alcove.lock", "first"))), time.Now()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "backup.json")
	manifest, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ before, after, says string }{
		"another digest": {sum("first"), sum("other"), "carries other files"},
		"another name":   {"alcove.lock", "alcove.key", "carries other files"},
		"a way up":       {"alcove.lock", "../x.lock", "not a name of a file"},
	} {
		if err := os.WriteFile(path, bytes.Replace(manifest, []byte(c.before), []byte(c.after), 1), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := filesOf(t, dir); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: read: %v, want an error that says %q", name, err, c.says)
		}
	}
}
