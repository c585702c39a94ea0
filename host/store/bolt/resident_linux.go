package bolt

import (
	"os"
	"syscall"
)

// releasePages drops the database's pages, all of which Open has read, from the process's resident memory. They stay in
// the page cache.
func (e *Engine) releasePages() {
	file, err := os.Stat(e.path())
	if err == nil {
		pages := uintptr(file.Size()) &^ uintptr(os.Getpagesize()-1)
		if _, _, failed := syscall.Syscall(syscall.SYS_MADVISE, e.db.Info().Data, pages, syscall.MADV_DONTNEED); failed != 0 {
			err = failed
		}
	}
	if err != nil { // not an error: it only saves memory
		e.logger.Debug("the pages of the database stay in memory", "error", err)
	}
}
