package sandbox

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pages creates memories that are private mappings of their snapshot. A page that the guest wrote is a private copy,
// which the kernel's page map shows, so the cost of restoring depends on the pages written, not on the memory size.
type pages struct {
	fd   int    // of /proc/self/pagemap
	size uint64 // of a page, in bytes
}

// newPages returns nil if the page map cannot be read. Memories are then on the Go heap.
func newPages() *pages {
	fd, err := unix.Open("/proc/self/pagemap", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	p := &pages{fd: fd, size: uint64(os.Getpagesize())}
	if err := p.probe(); err != nil {
		unix.Close(fd)
		return nil
	}
	return p
}

// probe checks that the page map distinguishes written pages from others.
func (p *pages) probe() error {
	b, err := p.backing(2 * p.size)
	if err != nil {
		return err
	}
	defer b.free()
	m := b.(*mapping)
	data := m.resize(2 * p.size)
	if data == nil {
		return fmt.Errorf("probe the page map: no memory")
	}
	data[0], data[p.size] = 1, 2
	if err := m.snapshot(2 * p.size); err != nil {
		return err
	}
	data[0] = 9
	written, err := m.written(func(uint64, uint64) {})
	if err != nil {
		return err
	}
	if err := m.restore(); err != nil {
		return err
	}
	if written != 1 || data[0] != 1 || data[p.size] != 2 {
		return fmt.Errorf("probe the page map: %d pages of 1 are told", written)
	}
	return nil
}

func (p *pages) close() error { return unix.Close(p.fd) }

// backing reserves address space for a memory of at most limit bytes.
func (p *pages) backing(limit uint64) (backing, error) {
	reserved := roundUp(max(limit, 1), p.size)
	base, err := unix.MmapPtr(-1, 0, nil, uintptr(reserved), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("reserve %d bytes of address space for a guest's memory: %w", reserved, err)
	}
	return &mapping{pages: p, base: base, reserved: reserved}, nil
}

// mapping is a memory at a fixed address.
type mapping struct {
	pages    *pages
	base     unsafe.Pointer
	reserved uint64
	usable   uint64

	image unsafe.Pointer // the snapshot, read-only
	kept  uint64         // its length, in bytes, whole pages
}

func (m *mapping) resize(size uint64) []byte {
	if m.base == nil {
		return nil
	}
	end := roundUp(size, m.pages.size)
	if end > m.usable {
		fresh := unsafe.Slice((*byte)(unsafe.Add(m.base, m.usable)), end-m.usable)
		if err := unix.Mprotect(fresh, unix.PROT_READ|unix.PROT_WRITE); err != nil {
			return nil
		}
		m.usable = end
	}
	return unsafe.Slice((*byte)(m.base), m.reserved)[:size:size]
}

// snapshot copies the memory into an unnamed file and maps the file in its place.
func (m *mapping) snapshot(size uint64) error {
	m.kept = roundUp(size, m.pages.size)
	if m.kept == 0 {
		return nil
	}
	fd, err := unix.MemfdCreate("alcove-guest", unix.MFD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("make a snapshot of a guest's memory: %w", err)
	}
	defer unix.Close(fd) // the mappings keep the file alive
	if err := m.fill(fd); err != nil {
		return fmt.Errorf("make a snapshot of a guest's memory: %w", err)
	}
	image, err := unix.MmapPtr(fd, 0, nil, uintptr(m.kept), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("map the snapshot of a guest's memory: %w", err)
	}
	m.image = image
	_, err = unix.MmapPtr(fd, 0, m.base, uintptr(m.kept), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED)
	if err != nil {
		return fmt.Errorf("map a guest's memory: %w", err)
	}
	return nil
}

// fill writes the nonzero pages into a file and leaves holes for the others.
func (m *mapping) fill(fd int) error {
	if err := unix.Ftruncate(fd, int64(m.kept)); err != nil {
		return err
	}
	data := unsafe.Slice((*byte)(m.base), m.kept)
	size := m.pages.size
	for at := uint64(0); at < m.kept; at += size {
		start := at
		for at < m.kept && !isZero(data[at:at+size]) {
			at += size
		}
		if at == start {
			continue
		}
		if n, err := unix.Pwrite(fd, data[start:at], int64(start)); err != nil || uint64(n) != at-start {
			return fmt.Errorf("write %d bytes at %d: %d were written, %w", at-start, start, n, err)
		}
	}
	return nil
}

// tooMany is the number of written pages above which dropping all private copies beats keeping them.
const tooMany = 1024

func (m *mapping) restore() error {
	if m.kept == 0 {
		return nil
	}
	data, image := unsafe.Slice((*byte)(m.base), m.kept), unsafe.Slice((*byte)(m.image), m.kept)
	written, err := m.written(func(from, to uint64) { copy(data[from:to], image[from:to]) })
	if err != nil {
		return err
	}
	if written > tooMany {
		return unix.Madvise(data, unix.MADV_DONTNEED)
	}
	return nil
}

// Bits of a page map entry, as documented by the kernel.
const (
	entrySwapped = 1 << 62
	entryPresent = 1 << 63
	entryOfFile  = 1 << 61
)

// written calls f for each range of bytes in private pages, which may differ from the snapshot, and returns the number
// of these pages.
func (m *mapping) written(f func(from, to uint64)) (int, error) {
	var entries [512]uint64
	size, count := m.pages.size, 0
	for first, all := uint64(0), m.kept/m.pages.size; first < all; first += uint64(len(entries)) {
		n := min(uint64(len(entries)), all-first)
		if err := m.read(entries[:n], first); err != nil {
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

func (m *mapping) read(entries []uint64, first uint64) error {
	raw := unsafe.Slice((*byte)(unsafe.Pointer(&entries[0])), len(entries)*8)
	offset := (uint64(uintptr(m.base))/m.pages.size + first) * 8
	if n, err := unix.Pread(m.pages.fd, raw, int64(offset)); err != nil || n != len(raw) {
		return fmt.Errorf("read the page map: %d of %d bytes, %w", n, len(raw), err)
	}
	return nil
}

func (m *mapping) free() {
	if m.base != nil {
		unix.MunmapPtr(m.base, uintptr(m.reserved))
	}
	if m.image != nil {
		unix.MunmapPtr(m.image, uintptr(m.kept))
	}
	m.base, m.image = nil, nil
}

func roundUp(n, unit uint64) uint64 { return (n + unit - 1) / unit * unit }

func isZero(b []byte) bool {
	words := unsafe.Slice((*uint64)(unsafe.Pointer(&b[0])), len(b)/8)
	for _, w := range words {
		if w != 0 {
			return false
		}
	}
	return true
}
