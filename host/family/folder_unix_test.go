//go:build unix

package family

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/testing/await"
)

func TestAFileThatWasAwayAndComesBackIsTheSameFamily(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "notes.wasm")
	writeFile(t, file, pack(t, aFamily("notes"), script{says: `1`}))
	w := open(t, func(o *Options) { o.Watch = folder })
	if got := w.says("notes_do"); got != "1" {
		t.Fatalf("notes_do = %s, want 1", got)
	}
	if err := os.Rename(file, file+".away"); err != nil {
		t.Fatal(err)
	}
	await.That(t, "it goes", func() bool { return strings.Contains(w.says("notes_do"), "there is no tool") })
	if err := os.Rename(file+".away", file); err != nil { // with its size and its time
		t.Fatal(err)
	}
	await.That(t, "it answers again", func() bool { return w.says("notes_do") == "1" })
}

func TestTheFamilyBehindAnotherFileOfItsNameComesBack(t *testing.T) {
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "a.wasm"), pack(t, aFamily("notes"), script{says: `1`}))
	w := open(t, func(o *Options) { o.Watch = folder })
	if got := w.says("notes_do"); got != "1" {
		t.Fatalf("notes_do = %s, want 1", got)
	}
	writeFile(t, filepath.Join(folder, "b.wasm"), pack(t, aFamily("notes"), script{says: `2`}))
	await.That(t, "the later file answers", func() bool { return w.says("notes_do") == "2" })
	if err := os.Remove(filepath.Join(folder, "b.wasm")); err != nil {
		t.Fatal(err)
	}
	await.That(t, "the first one answers again", func() bool { return w.says("notes_do") == "1" })
}

func TestAFileOfTheSameSizeAndTimeIsTakenWhenItIsAnother(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "notes.wasm")
	writeFile(t, file, pack(t, aFamily("notes"), script{says: `1`}))
	w := open(t, func(o *Options) { o.Watch = folder })
	if got := w.says("notes_do"); got != "1" {
		t.Fatalf("notes_do = %s, want 1", got)
	}
	was, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	next := file + ".next"
	if err := os.WriteFile(next, pack(t, aFamily("notes"), script{says: `2`}), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(next, time.Time{}, was.ModTime()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, file); err != nil {
		t.Fatal(err)
	}
	await.That(t, "the new version answers", func() bool { return w.says("notes_do") == "2" })
}

func TestABrokenFileDoesNotHoldAnotherFamilysNewVersionBack(t *testing.T) {
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "notes.wasm"), []byte("hello"))
	w := open(t, func(o *Options) { o.Watch = folder })
	for _, version := range []string{"1", "2"} {
		if _, err := w.Install(pack(t, aFamily("notes"), script{says: version})); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Millisecond) // several looks at the folder
		if got := w.says("notes_do"); got != version {
			t.Errorf("installed version %s, it says %s", version, got)
		}
	}
}

func TestWhatIsNoFileInTheFolderHoldsNothingUp(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "tools[1]") // which is not a pattern
	if err := os.MkdirAll(filepath.Join(folder, "folder.wasm"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(folder, "pipe.wasm"), 0o600); err != nil {
		t.Skip("no pipes here:", err)
	}
	writeFile(t, filepath.Join(folder, "notes.wasm"), pack(t, aFamily("notes"), script{says: `1`}))
	opened := make(chan *world, 1)
	go func() { opened <- open(t, func(o *Options) { o.Watch = folder }) }()
	if got := await.Value(t, "the pipe holds nothing up", opened).says("notes_do"); got != "1" {
		t.Errorf("it says %s", got)
	}
}

// TestAPipeInPlaceOfTheFolderHoldsNothingUp hangs, for as long as tests may, when it is waited for.
func TestAPipeInPlaceOfTheFolderHoldsNothingUp(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if list := open(t, func(o *Options) { o.Watch = pipe }).All(); len(list) != 0 {
		t.Errorf("there are %v", list)
	}
}
