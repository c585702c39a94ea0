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

// removeSlowly removes an unneeded file, or nothing where there is none.
func removeSlowly(path string) error { return shrinkAndRemove(path, os.Truncate) }

func shrinkAndRemove(path string, truncate func(path string, size int64) error) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for size := info.Size() - shrinkStep; size > 0; size -= shrinkStep {
		if err := truncate(path, size); err != nil {
			break // removing it may still work
		}
		time.Sleep(shrinkPause)
	}
	return os.Remove(path)
}
