package backup

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// Space is given back to the disk bit by bit: where all of a large file goes at once, commits wait for tens of milliseconds.
const (
	shrinkStep  = 8 << 20 // bytes
	shrinkPause = 2 * time.Millisecond
)

// removeSlowly removes a file that nobody needs.
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
			break // removing it may be possible all the same
		}
		time.Sleep(shrinkPause)
	}
	return os.Remove(path)
}
