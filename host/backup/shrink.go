package backup

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// Space is returned to the disk step by step: removing a large file at once would delay commits by tens of milliseconds.
const (
	shrinkStep  = 8 << 20 // bytes
	shrinkPause = 2 * time.Millisecond
)

// removeSlowly removes an unneeded file.
func removeSlowly(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for size := info.Size() - shrinkStep; size > 0; size -= shrinkStep {
		if err := os.Truncate(path, size); err != nil {
			break // removing it may still work
		}
		time.Sleep(shrinkPause)
	}
	return os.Remove(path)
}
