package layout

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

func Database(dir string) string { return filepath.Join(dir, "alcove.db") }

func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // directories cannot be synced there
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func RemoveFile(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Repairing is the name of a database that a repair makes.
const Repairing = "alcove.db.repairing"

// Blobs is the folder of blobs.
func Blobs(dir string) string { return filepath.Join(dir, "blobs") }
