package week_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// smallDisk mounts a disk of 48 MiB; fill takes its space, and what is given back, until free is called. Without the right to mount, fill is nil.
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
		filler, err := os.Create(filepath.Join(dir, "filler"))
		if err != nil {
			t.Fatal(err)
		}
		if err := occupy(filler); err != nil {
			t.Fatalf("fill the disk: %v", err)
		}
		freed, ended := make(chan struct{}), make(chan error)
		go func() {
			defer close(ended)
			for {
				select {
				case <-freed:
					return
				case <-time.After(time.Millisecond): // the server deletes files, too
					if err := occupy(filler); err != nil {
						ended <- err
						return
					}
				}
			}
		}()
		return func() {
			close(freed)
			if err := errors.Join(<-ended, filler.Close(), os.Remove(filler.Name())); err != nil {
				t.Errorf("free the disk: %v", err)
			}
		}
	}
}

// occupy appends to a file until its disk is full.
func occupy(f *os.File) error {
	for {
		switch _, err := f.Write(make([]byte, 4096)); {
		case errors.Is(err, syscall.ENOSPC):
			return nil
		case err != nil:
			return err
		}
	}
}
