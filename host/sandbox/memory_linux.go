package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pages creates memories that are private mappings of their snapshot. A page that the guest wrote is a private copy,
// which the kernel's page map shows, so the cost of restoring depends on the pages written, not on the memory size.
type pages struct {
	fd    int    // of /proc/self/pagemap
	size  uint64 // of a page, in bytes
	scans bool   // the kernel finds written pages by itself
}

// newPages returns nil if the page map cannot be read. Memories are then on the Go heap.
func newPages() *pages {
	fd, err := unix.Open("/proc/self/pagemap", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	p := &pages{fd: fd, size: uint64(os.Getpagesize()), scans: true}
	if p.probe() == nil {
		return p
	}
	p.scans = false
	if err := p.probe(); err != nil {
		unix.Close(fd)
		return nil
	}
	return p
}

// probe checks that the page map distinguishes written pages from others.
func (p *pages) probe() error {
	var first original
	defer first.free()
	b, err := p.backing(2*p.size, &first)
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

// backing reserves address space for a memory of at most limit bytes. Its snapshot shares pages with the original, or becomes it.
func (p *pages) backing(limit uint64, first *original) (backing, error) {
	reserved := roundUp(max(limit, 1), p.size)
	base, err := unix.MmapPtr(-1, 0, nil, uintptr(reserved), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("reserve %d bytes of address space for a guest's memory: %w", reserved, err)
	}
	return &mapping{pages: p, base: base, reserved: reserved, original: first}, nil
}

// mapping is a memory at a fixed address.
type mapping struct {
	pages    *pages
	base     unsafe.Pointer
	reserved uint64
	usable   uint64
	shrunk   bool // since it was restored

	image    unsafe.Pointer // the snapshot, read-only
	kept     uint64         // its length, in bytes, whole pages
	original *original
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

func (m *mapping) shrink(size uint64) []byte {
	grown := unsafe.Slice((*byte)(unsafe.Add(m.base, m.kept)), m.usable-m.kept)
	if unix.Madvise(grown, unix.MADV_DONTNEED) != nil || unix.Mprotect(grown, unix.PROT_NONE) != nil {
		return nil
	}
	m.usable, m.shrunk = m.kept, true
	return m.resize(size)
}

// snapshot copies the memory into an unnamed file, except for pages that the original has, and maps both in its place.
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
	m.original.mu.Lock()
	defer m.original.mu.Unlock()
	var own []extent
	if err := m.original.view(func(image []byte) { own = m.differing(image) }); err != nil {
		return fmt.Errorf("compare a guest's memory with an earlier one: %w", err)
	}
	if err := m.fill(fd, own); err != nil {
		return fmt.Errorf("make a snapshot of a guest's memory: %w", err)
	}
	m.image, err = unix.MmapPtr(fd, 0, nil, uintptr(m.kept), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		m.image = nil
		return fmt.Errorf("map the snapshot of a guest's memory: %w", err)
	}
	if err := m.mapExtent(fd, extent{0, m.kept}, m.base, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE); err != nil {
		return fmt.Errorf("map a guest's memory: %w", err)
	}
	if err := m.share(own); err != nil {
		return fmt.Errorf("share the pages of a guest's memory: %w", err)
	}
	m.original.become(fd, m.kept)
	return nil
}

// extent is a range of bytes of a memory, whole pages.
type extent struct{ from, to uint64 }

// mapExtent maps a part of a file at the same offset from base.
func (m *mapping) mapExtent(fd int, e extent, base unsafe.Pointer, protection, flags int) error {
	_, err := unix.MmapPtr(fd, int64(e.from), unsafe.Add(base, e.from), uintptr(e.to-e.from), protection, flags|unix.MAP_FIXED)
	return err
}

// share maps the original's pages where the memory has none of its own.
func (m *mapping) share(own []extent) error {
	at := uint64(0)
	for _, e := range append(own[:len(own):len(own)], extent{m.kept, m.kept}) {
		if shared := (extent{at, e.from}); shared.from < shared.to {
			err := m.mapExtent(m.original.fd, shared, m.image, unix.PROT_READ, unix.MAP_SHARED)
			if err == nil {
				err = m.mapExtent(m.original.fd, shared, m.base, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE)
			}
			if err != nil {
				return err
			}
		}
		at = e.to
	}
	return nil
}

// Bounds on how finely pages are shared: the kernel keeps a record for each extent, of which a process may have 65,530.
const (
	nearPages   = 8 // extents with fewer pages between them are joined
	mostExtents = 64
)

// differing returns the extents whose pages are not as in image.
func (m *mapping) differing(image []byte) (own []extent) {
	data, size := unsafe.Slice((*byte)(m.base), m.kept), m.pages.size
	for at := uint64(0); at < m.kept; at += size {
		if at < uint64(len(image)) && bytes.Equal(data[at:at+size], image[at:at+size]) {
			continue
		}
		if n := len(own); n > 0 && at-own[n-1].to <= nearPages*size {
			own[n-1].to = at + size
		} else {
			own = append(own, extent{at, at + size})
		}
	}
	if len(own) > mostExtents {
		return []extent{{0, m.kept}}
	}
	return own
}

// fill writes the nonzero pages of some extents into a file and leaves holes for the others.
func (m *mapping) fill(fd int, own []extent) error {
	if err := unix.Ftruncate(fd, int64(m.kept)); err != nil {
		return err
	}
	for _, e := range own {
		if err := m.write(fd, e); err != nil {
			return err
		}
	}
	return nil
}

// write writes the nonzero pages of an extent.
func (m *mapping) write(fd int, e extent) error {
	data := unsafe.Slice((*byte)(m.base), m.kept)
	size := m.pages.size
	for at := e.from; at < e.to; at += size {
		start := at
		for at < e.to && !isZero(data[at:at+size]) {
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

// original is the first snapshot of a module's memory. Later instances of the module, and of others with the same code, map
// the pages that are equal from it: a guest in Go writes 3.5 MB while it starts, nearly all of it the same each time. Its
// content never changes.
type original struct {
	mu   sync.Mutex // held while a snapshot uses it
	fd   int
	size uint64 // bytes; 0: there is none yet
}

// become makes a snapshot the original, unless there is one. Without a descriptor for it, a later snapshot becomes the original.
// The caller holds mu.
func (o *original) become(fd int, size uint64) {
	if o.size > 0 {
		return
	}
	if kept, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0); err == nil {
		o.fd, o.size = kept, size
	}
}

// view maps the original and calls f with its content, which is empty if there is none. The caller holds mu.
func (o *original) view(f func(image []byte)) error {
	if o.size == 0 {
		f(nil)
		return nil
	}
	image, err := unix.MmapPtr(o.fd, 0, nil, uintptr(o.size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	f(unsafe.Slice((*byte)(image), o.size))
	return unix.MunmapPtr(image, uintptr(o.size))
}

// free frees the original. Memories that map it keep what they map.
func (o *original) free() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.size > 0 {
		unix.Close(o.fd)
	}
	o.fd, o.size = 0, 0
}

// Numbers of written pages above which dropping all private copies beats keeping them. A guest that grew seldom needs as many again, and
// each later restore would copy them.
const (
	tooMany      = 1024
	tooManyGrown = 256
)

func (m *mapping) restore() error {
	if m.kept == 0 {
		return nil
	}
	data, image := unsafe.Slice((*byte)(m.base), m.kept), unsafe.Slice((*byte)(m.image), m.kept)
	written, err := m.written(func(from, to uint64) { copy(data[from:to], image[from:to]) })
	if err != nil {
		return err
	}
	most := tooMany
	if m.shrunk {
		most, m.shrunk = tooManyGrown, false
	}
	if written > most {
		return unix.Madvise(data, unix.MADV_DONTNEED)
	}
	return nil
}

// releaseMemory drops private copies, which are equal to the snapshot, and what is mapped of the snapshot's file.
func (m *mapping) releaseMemory() {
	if m.kept == 0 {
		return
	}
	for _, base := range []unsafe.Pointer{m.base, m.image} {
		_ = unix.Madvise(unsafe.Slice((*byte)(base), m.kept), unix.MADV_DONTNEED) // on failure it stays in memory
	}
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
