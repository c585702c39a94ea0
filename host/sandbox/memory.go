package sandbox

import (
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// linear is the linear memory of one instance. It never exceeds its limit and can be restored to its snapshot.
type linear struct {
	limit     uint64 // bytes
	size      uint64 // bytes
	kept      uint64 // size at the snapshot
	shrinking bool   // the next reallocation is to the size at the snapshot
	backing   backing
}

// backing stores the bytes of a linear memory.
type backing interface {
	// resize makes the first size bytes usable, with new ones zero, and returns them, or nil on failure.
	resize(size uint64) []byte
	// shrink drops what follows the first size bytes, which are those of the snapshot, and returns them, or nil on failure.
	shrink(size uint64) []byte
	// snapshot saves the first size bytes; restore restores them.
	snapshot(size uint64) error
	restore() error
	// releaseMemory returns memory to the system that is not needed until the next use. The memory is as at its snapshot.
	releaseMemory()
	free()
}

// newLinear returns an empty memory of at most limit bytes.
func newLinear(limit uint64, backing backing) *linear {
	return &linear{limit: limit, backing: backing}
}

// Reallocate implements experimental.LinearMemory.
func (l *linear) Reallocate(size uint64) []byte {
	resize := l.backing.resize
	switch {
	case l.shrinking:
		size, resize = l.kept, l.backing.shrink
	case size > l.limit:
		return nil
	}
	b := resize(size)
	if b != nil {
		l.size = size
	}
	return b
}

// Free implements experimental.LinearMemory. The memory must not be used afterwards.
func (l *linear) Free() { l.backing.free() }

func (l *linear) snapshot() error {
	l.kept = l.size
	return l.backing.snapshot(l.size)
}

func (l *linear) restore() error { return l.backing.restore() }

// releaseMemory returns what it can to the system. The memory must have been restored.
func (l *linear) releaseMemory() { l.backing.releaseMemory() }

// shrink gives the memory its size at the snapshot, if it grew, and reports whether it has that size. wazero only grows a memory, but
// then uses what Reallocate returns, also if that is smaller. It does not grow a memory of the maximum size that the module declares.
func (l *linear) shrink(guest api.Memory) (ok bool) {
	switch grown := l.size - l.kept; {
	case grown == 0:
		return true
	case grown > mostShrunk:
		return false
	}
	l.shrinking = true
	_, ok = guest.Grow(1)
	l.shrinking = false
	return ok
}

// mostShrunk is the number of bytes above which to free them takes longer than a new instance does. A discarded instance is freed while the
// caller has its answer.
const mostShrunk = 32 << 20

var _ experimental.LinearMemory = (*linear)(nil)

// heap is a backing on the Go heap. Restoring copies all of it.
type heap struct {
	bytes []byte
	image []byte
}

func (h *heap) resize(size uint64) []byte {
	if size <= uint64(len(h.bytes)) && h.bytes != nil {
		return h.bytes[:size]
	}
	grown := make([]byte, size)
	copy(grown, h.bytes)
	h.bytes = grown
	return grown
}

func (h *heap) shrink(size uint64) []byte {
	h.bytes = make([]byte, size) // restore writes all of it
	return h.bytes
}

func (h *heap) snapshot(size uint64) error {
	h.image = append([]byte(nil), h.bytes[:size]...)
	return nil
}

func (h *heap) restore() error {
	copy(h.bytes, h.image)
	return nil
}

func (h *heap) releaseMemory() {}

func (h *heap) free() { h.bytes, h.image = nil, nil }
