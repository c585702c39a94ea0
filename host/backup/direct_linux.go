package backup

import (
	"os"

	"golang.org/x/sys/unix"
)

// direct has what is written to a file go to the disk at once, past the memory of the system: syncs of other files have
// nothing of it to write, and what they need stays in memory. Offsets, sizes and buffers must be aligned then. It reports
// whether the file system can.
func direct(f *os.File, on bool) bool {
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err != nil {
		return false
	}
	if flags &^= unix.O_DIRECT; on {
		flags |= unix.O_DIRECT
	}
	_, err = unix.FcntlInt(f.Fd(), unix.F_SETFL, flags)
	return err == nil
}

// alignedBuffer begins at a page. It is given back with freeBuffer.
func alignedBuffer(size int) ([]byte, error) {
	return unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
}

func freeBuffer(b []byte) error { return unix.Munmap(b) }
