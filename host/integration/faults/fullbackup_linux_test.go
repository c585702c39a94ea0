package faults_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/datadir"
	"github.com/alcove-memory/alcove/host/testing/server"
)

func TestABackupOrARestoreThatDoesNotFitLeavesWhatWasThere(t *testing.T) {
	t.Parallel()
	small, dir := smallMount(t), t.TempDir()
	h := server.Open(t, host.Options{Dir: dir})
	server.Serve(t, h, host.Listen{})
	c := server.Operator(t, dir)
	from := func(ctx context.Context, since backup.Base, w io.Writer) error {
		return operator.Receive(ctx, c, operator.Backup, operator.BackupRequest{Since: since}, w)
	}
	safe := filepath.Join(small, "safe")
	if _, err := backup.Full(t.Context(), safe, from, time.Now()); err != nil {
		t.Fatal(err)
	}
	for i := range smallDisk/(1<<19) + 1 {
		value := json.RawMessage(`"` + strings.Repeat("x", 1<<19) + `"`)
		if _, err := server.Owner(h, "").Store(t.Context(), memory.Location{}, []memory.Item{{Key: fmt.Sprint(i), Value: value}}, memory.Write{}); err != nil {
			t.Fatal(err)
		}
	}
	for name, do := range map[string]func(context.Context, string, backup.Source, time.Time) (backup.Part, error){"full": backup.Full, "incremental": backup.Increment} {
		if _, err := do(t.Context(), safe, from, time.Now()); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("a backup that does not fit, %s: %v", name, err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(safe, "*.partial")); err != nil || len(left) > 0 {
		t.Errorf("%v is left (%v)", left, err)
	}
	if _, err := space.Directory(filepath.Join(t.TempDir(), "to")).Restore(t.Context(), safe, datadir.RestoreOptions{}); err != nil {
		t.Errorf("the backup before: %v", err)
	}
	whole := filepath.Join(t.TempDir(), "whole.alcove")
	if _, err := backup.ToFile(t.Context(), whole, from, time.Now()); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(small, "to")
	if _, err := space.Directory(to).Restore(t.Context(), whole, datadir.RestoreOptions{}); err == nil || !strings.Contains(err.Error(), "no space left") && !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("a restore that does not fit: %v", err)
	}
	if left, err := os.ReadDir(to); err != nil || len(left) > 1 || len(left) == 1 && left[0].Name() != "owner.lock" && left[0].Name() != "blobs" {
		t.Errorf("a restore that does not fit leaves %v (%v)", left, err)
	}
}
