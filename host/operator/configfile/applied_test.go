package configfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/operator/configfile"
)

func TestTheFileThatWasAppliedLastIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if a, err := configfile.LastApplied(dir); err != nil || a.Path != "" {
		t.Errorf("without a note: got %+v, %v, want none", a, err)
	}
	want := configfile.Applied{Path: "/etc/alcove.yaml", Digest: configfile.DigestOf([]byte("version: 1")), At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	if err := want.Note(dir); err != nil {
		t.Fatal(err)
	}
	if got, err := configfile.LastApplied(dir); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	for text, says := range map[string]string{"{": "is damaged", "{}": "names no path", strings.Repeat(" ", 1<<16+1): "more than 65536 bytes"} {
		if err := os.WriteFile(filepath.Join(dir, configfile.AppliedFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := configfile.LastApplied(dir); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("with %.20q: got %v, want %s", text, err, says)
		}
	}
}
