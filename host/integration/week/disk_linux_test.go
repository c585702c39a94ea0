package week_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// smallDisk mounts a disk of 48 MiB; fill takes its space until free is called. Without the right to mount, fill is nil.
func smallDisk(t *testing.T) (dir string, fill func() (free func())) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=48m,mode=700"); err != nil {
		t.Logf("a small disk cannot be mounted here: %v", err)
		return dir, nil
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount the small disk: %v", err)
		}
	})
	return dir, func() func() {
		filler := filepath.Join(dir, "filler")
		f, err := os.Create(filler)
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = f.Write(make([]byte, 4096))
		}
		if err := errors.Join(f.Close()); err != nil {
			t.Fatal(err)
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("fill the disk: %v, want %v", err, syscall.ENOSPC)
		}
		return func() {
			if err := os.Remove(filler); err != nil {
				t.Errorf("free the disk: %v", err)
			}
		}
	}
}
