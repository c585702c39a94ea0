//go:build unix

package backup_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/host/store/backup"
)

// TestAPipeInAFolderOfBackupsIsNotWaitedFor hangs, for as long as tests may, when one is.
func TestAPipeInAFolderOfBackupsIsNotWaitedFor(t *testing.T) {
	for name, manifest := range map[string]string{
		"backup.json": "",
		"full.part":   `{"alcove":"backup folder","format":1,"parts":[{"file":"full.part","since":0,"until":1,"bytes":1}]}`,
	} {
		dir := t.TempDir()
		if manifest != "" {
			if err := os.WriteFile(filepath.Join(dir, "backup.json"), []byte(manifest), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := backup.Read(t.Context(), dir, nil, nil, nil, nil); !errors.Is(err, regular.ErrNot) {
			t.Errorf("Read with a pipe %s: %v, want ErrNot", name, err)
		}
	}
}
