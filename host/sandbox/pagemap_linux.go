package sandbox

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// written calls f for each range of bytes in private pages, which may differ from the snapshot, and returns the number
// of these pages.
func (m *mapping) written(f func(from, to uint64)) (int, error) {
	if m.pages.scans {
		return m.scan(f)
	}
	return m.readMap(f)
}

// scanRequest is the argument of the kernel's PAGEMAP_SCAN (Linux 6.7 and later), as documented in its admin guide.
type scanRequest struct {
	size, flags          uint64
	start, end           uint64 // addresses
	walkEnd              uint64 // set by the kernel: the address at which the walk ended
	regions, regionCount uint64
	maxPages             uint64
	inverted             uint64 // categories that a page must lack where all asks for them
	all, any             uint64 // categories that a page must have
	reported             uint64 // categories that separate regions
}

type pageRegion struct {
	start, end uint64
	_          uint64 // its categories
}

const (
	pagemapScan = 0xc0606610 // _IOWR('f', 16, struct pm_scan_arg)

	pageOfFile  = 1 << 2
	pagePresent = 1 << 3
	pageSwapped = 1 << 4
)

// scan has the kernel find the private pages. It looks at each page of the memory as readMap does, but reports only those.
func (m *mapping) scan(f func(from, to uint64)) (count int, err error) {
	var regions [64]pageRegion
	var pinner runtime.Pinner
	pinner.Pin(&regions) // its address in the request is a number, which does not follow a stack that f lets grow
	defer pinner.Unpin()
	base := uint64(uintptr(m.base))
	r := scanRequest{
		start: base, end: base + m.kept, inverted: pageOfFile, all: pageOfFile, any: pagePresent | pageSwapped,
		regions: uint64(uintptr(unsafe.Pointer(&regions))), regionCount: uint64(len(regions)),
	}
	r.size = uint64(unsafe.Sizeof(r))
	for r.start < r.end {
		found, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(m.pages.fd), pagemapScan, uintptr(unsafe.Pointer(&r)))
		if errno != 0 {
			return 0, fmt.Errorf("scan the page map: %w", errno)
		}
		for _, p := range regions[:found] {
			count += int((p.end - p.start) / m.pages.size)
			f(p.start-base, p.end-base)
		}
		r.start = r.walkEnd
	}
	return count, nil
}

// Bits of a page map entry, as documented by the kernel.
const (
	entrySwapped = 1 << 62
	entryPresent = 1 << 63
	entryOfFile  = 1 << 61
)

// readMap reads the entries of all pages.
func (m *mapping) readMap(f func(from, to uint64)) (int, error) {
	var entries [512]uint64
	size, count := m.pages.size, 0
	for first, all := uint64(0), m.kept/m.pages.size; first < all; first += uint64(len(entries)) {
		n := min(uint64(len(entries)), all-first)
		if err := m.readEntries(entries[:n], first); err != nil {
			return 0, err
		}
		for i := uint64(0); i < n; i++ {
			start := i
			for i < n && own(entries[i]) {
				i++
			}
			if i > start {
				count += int(i - start)
				f((first+start)*size, (first+i)*size)
			}
		}
	}
	return count, nil
}

// own reports whether an entry is of a private page, not the file's.
func own(entry uint64) bool {
	return entry&entrySwapped != 0 || entry&entryPresent != 0 && entry&entryOfFile == 0
}

func (m *mapping) readEntries(entries []uint64, first uint64) error {
	raw := unsafe.Slice((*byte)(unsafe.Pointer(&entries[0])), len(entries)*8)
	offset := (uint64(uintptr(m.base))/m.pages.size + first) * 8
	if n, err := unix.Pread(m.pages.fd, raw, int64(offset)); err != nil || n != len(raw) {
		return fmt.Errorf("read the page map: %d of %d bytes, %w", n, len(raw), err)
	}
	return nil
}
