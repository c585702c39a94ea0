//go:build unix

package registry

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestALockFileThatIsAPipeIsRefusedAndNotWaitedFor(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, File), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("it was read: %v", err)
	}
}
