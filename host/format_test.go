package host_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/store/datadir"
)

// formatThree unpacks a data directory as the program of commit 32ad210 left it (store, index, vectors of an embedder whose
// vectors are given, alcove.lock; without its token and compiled modules), a folder with a full backup and an increment, and a
// backup in a single file.
func formatThree(t *testing.T) (dir string) {
	t.Helper()
	return unpacked(t, "testdata/format-3.tar.gz")
}

// unpacked is a new folder with what an archive holds.
func unpacked(t *testing.T, archive string) (dir string) {
	t.Helper()
	in, err := os.Open(archive)
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

func TestADataDirectoryOfFormatThreeOpensUnchangedAndAnswers(t *testing.T) {
	dir := filepath.Join(formatThree(t), "data")
	database := filepath.Join(dir, "alcove.db")
	before, err := os.Stat(database)
	if err != nil {
		t.Fatal(err)
	}
	h, act, _ := served(t, host.Options{Dir: dir})
	v, err := act.Verify(t.Context())
	const branches = 4 // the three of the time before, and the system branch, which a directory gets when it is opened
	if err != nil || len(v.Findings) > 0 || v.Versions != 16 || v.Branches != branches || v.Events != 3 {
		t.Errorf("verified: %+v (%v)", v, err)
	}
	named, err := owned(host.Space(h), "").Branches(t.Context())
	if err != nil || len(named) != branches-1 {
		t.Errorf("branches that have a name: %+v (%v)", named, err)
	}
	wantMemories(t, h, map[memory.Location]map[string]string{
		{}:                  {"editor": `"prefers vim"`, "draft": `"a draft that is merged"`, "after": `"stored after the first backup"`, "gone": "", "plan": "", "secret": ""},
		{Branch: "idea"}:    {"plan": `"sail around the island"`, "editor": `"prefers vim"`, "draft": ""},
		{Namespace: "work"}: {"deadline": `{"day":12,"project":"lantern"}`},
	})
	versions, _, err := owned(host.Space(h), "").History(t.Context(), memory.Location{}, "editor", memory.AsOf{}, 10)
	if err != nil || len(versions) != 2 || string(versions[1].Value) != `"prefers emacs"` {
		t.Errorf("the history of editor: %+v (%v)", versions, err)
	}
	if got := found(t, h, memory.Search{Text: "marmalade", Mode: memory.Lexical}); got != "manual" {
		t.Errorf("by words: %s", got)
	}
	near := memory.Search{Text: "beast", Mode: memory.Semantic, K: 1, Vector: []float32{1, 0, .1}}
	if got := found(t, h, near); got != "cat" {
		t.Errorf("by meaning: %s", got)
	}
	grants, err := os.ReadFile(filepath.Join(dir, "alcove.lock"))
	if err != nil || !strings.Contains(string(grants), "auto-tag") {
		t.Errorf("alcove.lock: %s (%v)", grants, err)
	}
	if after, err := os.Stat(database); err != nil || !os.SameFile(before, after) {
		t.Errorf("the database was replaced (%v)", err)
	}
}

// wantMemories compares what is under keys; empty: nothing is.
func wantMemories(t *testing.T, h *host.Host, want map[memory.Location]map[string]string) {
	t.Helper()
	for place, keys := range want {
		for key, value := range keys {
			m, err := owned(host.Space(h), "").Recall(t.Context(), place, key, memory.AsOf{})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if m != nil {
				got = string(m.Value)
			}
			if got != value {
				t.Errorf("%+v %s is %.60s", place, key, got)
			}
		}
	}
}

func TestBackupsOfFormatThreeAreRestored(t *testing.T) {
	from := formatThree(t)
	for _, backup := range []string{"backup", "backup.alcove"} {
		dir := filepath.Join(t.TempDir(), "data")
		v, err := space.Directory(dir).Restore(t.Context(), filepath.Join(from, backup), datadir.RestoreOptions{})
		if err != nil || len(v.Findings) > 0 || v.Versions != 16 {
			t.Fatalf("%s: %+v (%v)", backup, v, err)
		}
		wantMemories(t, mustOpen(t, dir), map[memory.Location]map[string]string{{}: {"after": `"stored after the first backup"`, "secret": ""}})
	}
}
