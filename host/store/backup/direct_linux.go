package backup

import (
	"os"

	"golang.org/x/sys/unix"
)

// enableDirect makes writes to a file bypass the page cache, so that they neither delay syncs of other files nor evict
// their pages. Offsets, sizes and buffers must be aligned from then on. It reports whether the file system supports it.
func enableDirect(f *os.File) bool {
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	return err == nil && setFlags(f, flags|unix.O_DIRECT)
}

// disableDirect makes writes to a file go through the page cache again, and reports whether they do.
func disableDirect(f *os.File) bool {
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	return err == nil && setFlags(f, flags&^unix.O_DIRECT)
}

func setFlags(f *os.File, flags int) bool {
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETFL, flags)
	return err == nil
}

// alignedBuffer allocates a page-aligned buffer. The caller frees it with freeBuffer.
func alignedBuffer(size int) ([]byte, error) {
	return unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
}

func freeBuffer(b []byte) error { return unix.Munmap(b) }
