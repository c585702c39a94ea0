package durable

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
)

func TestOnlyADirectoryThatCannotBeSyncedAtAllIsTolerated(t *testing.T) {
	if err := errors.Join(SyncDir(t.TempDir()), syncable(nil)); err != nil {
		t.Error(err)
	}
	if err := SyncDir(filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("a missing directory is synced")
	}
	for _, err := range []error{syscall.EINVAL, errors.ErrUnsupported} {
		if err := syncable(fmt.Errorf("sync the directory: %w", err)); err != nil {
			t.Errorf("replacing a file fails: %v", err)
		}
	}
	for _, err := range []error{syscall.EIO, syscall.ENOSPC} {
		if syncable(fmt.Errorf("sync the directory: %w", err)) == nil {
			t.Errorf("%v is tolerated", err)
		}
	}
}
