package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestABenchWhoseDiskWasFullGoesOnWhenThereIsRoom(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=20m,mode=700"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("a small disk cannot be mounted here, which needs root (with CI=true this fails): %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	dir := filepath.Join(disk, "scale")
	b := benchOf(t, dir, 50_000)
	b.Batch, b.Skip = 1000, append(b.Skip, "calls")
	if _, err := b.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "the disk of the server is full") ||
		!strings.Contains(err.Error(), "make room for "+dir+", then go on with the same flags and --resume") {
		t.Fatalf("on a full disk: %v", err)
	}
	if err := syscall.Mount("", disk, "", syscall.MS_REMOUNT, "size=400m"); err != nil {
		t.Fatal(err)
	}
	b.Resume = true
	if r, err := b.Run(t.Context()); err != nil || len(r.Sizes) != 1 {
		t.Errorf("with room again: %+v, %v", r, err)
	}
}
