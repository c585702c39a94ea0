package bolt

import (
	"os"
	"syscall"
)

// releasePages drops the pages of the database, all of which Open has read, from the memory of this process. They stay in the page
// cache.
func (e *Engine) releasePages() {
	file, err := os.Stat(e.path())
	if err == nil {
		pages := uintptr(file.Size()) &^ uintptr(os.Getpagesize()-1)
		if _, _, failed := syscall.Syscall(syscall.SYS_MADVISE, e.db.Info().Data, pages, syscall.MADV_DONTNEED); failed != 0 {
			err = failed
		}
	}
	if err != nil { // it is for less memory alone
		e.logger.Debug("the pages of the database stay in memory", "error", err)
	}
}
