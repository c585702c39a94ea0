package family

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/registry"
)

// logged is a log that can be read while it is written.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) count(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), what)
}

func TestALockFileThatIsEditedHoldsAtOnceAndIsNotOverwritten(t *testing.T) {
	w := open(t, nil).with(aFamily("notes"), script{says: `1`})
	edited, err := registry.Read(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	g := edited.Families["notes"]
	g.Disabled = true
	edited.Families["notes"] = g
	if err := registry.Write(w.dir, edited); err != nil {
		t.Fatal(err)
	}
	if err := w.SetEndpoint("e", &registry.Endpoint{Kind: "http", URL: "http://127.0.0.1"}); err != nil { // at once, before anyone looked
		t.Fatal(err)
	}
	if got := w.says("notes_do"); !strings.Contains(got, "disabled") {
		t.Errorf("it says %s", got)
	}
	delete(edited.Families, "notes")
	if err := registry.Write(w.dir, edited); err != nil {
		t.Fatal(err)
	}
	await.That(t, "it is found when nobody changes anything", func() bool { return strings.Contains(w.says("notes_do"), "there is no tool") })
}

func TestALockFileThatIsBrokenChangesNothingAndIsNotOverwritten(t *testing.T) {
	log := &logged{}
	w := open(t, func(o *Options) { o.Logger = slog.New(slog.NewTextHandler(log, nil)) }).with(aFamily("notes"), script{says: `1`})
	path := filepath.Join(w.dir, registry.File)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, good[:len(good)/2])
	await.That(t, "it is said", func() bool { return log.count("lock file was changed") == 1 })
	if got := w.says("notes_do"); got != "1" {
		t.Errorf("it says %s", got)
	}
	if _, err := w.Grant(grants.Request{Family: "notes", All: true}); code(err) != memory.Unavailable || !strings.Contains(err.Error(), "correct it") {
		t.Errorf("a grant: %v", err)
	}
	if now, err := os.ReadFile(path); err != nil || len(now) != len(good)/2 {
		t.Errorf("it was overwritten: %s, %v", now, err)
	}
	writeFile(t, path, good) // at once: half of it would be told as another broken file
	if _, err := w.Grant(grants.Request{Family: "notes", All: true}); err != nil {
		t.Errorf("once it was corrected: %v", err)
	}
	if n := log.count("lock file was changed"); n != 1 {
		t.Errorf("it was said %d times", n)
	}
}
