package layout

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Database is the path of the database in a data directory.
func Database(dir string) string { return filepath.Join(dir, "alcove.db") }

// Left is the path of the record of how the last server left the database of a data directory.
func Left(dir string) string { return Database(dir) + ".left" }

// RemoveFile removes a file. A missing one is no error.
func RemoveFile(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Repairing is the name of the database that a repair is making. One that is found was left by a crash.
const Repairing = "alcove.db.repairing"

// Blobs is the path of the folder of blobs in a data directory.
func Blobs(dir string) string { return filepath.Join(dir, "blobs") }

// Running is the path of the record of how far a server, which was not stopped since, had written the database of a data directory.
func Running(dir string) string { return Database(dir) + ".running" }
