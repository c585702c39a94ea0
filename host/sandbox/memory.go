package sandbox

import "github.com/tetratelabs/wazero/experimental"

// linear is the linear memory of one instance. It never exceeds its limit and can be restored to its snapshot.
type linear struct {
	limit   uint64 // bytes
	size    uint64 // bytes
	kept    uint64 // size at the snapshot
	backing backing
}

// backing stores the bytes of a linear memory.
type backing interface {
	// resize makes the first size bytes usable, with new ones zero, and returns them, or nil on failure.
	resize(size uint64) []byte
	// snapshot saves the first size bytes; restore restores them.
	snapshot(size uint64) error
	restore() error
	// cool returns memory to the system that is not needed until the next use. The memory is as at its snapshot.
	cool()
	free()
}

// newLinear returns an empty memory of at most limit bytes.
func newLinear(limit uint64, backing backing) *linear {
	return &linear{limit: limit, backing: backing}
}

// Reallocate implements experimental.LinearMemory.
func (l *linear) Reallocate(size uint64) []byte {
	if size > l.limit {
		return nil
	}
	b := l.backing.resize(size)
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

// cool returns what it can to the system. The memory must have been restored.
func (l *linear) cool() { l.backing.cool() }

// grew reports whether the memory is larger than its snapshot. If so, it cannot be restored.
func (l *linear) grew() bool { return l.size != l.kept }

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

func (h *heap) snapshot(size uint64) error {
	h.image = append([]byte(nil), h.bytes[:size]...)
	return nil
}

func (h *heap) restore() error {
	copy(h.bytes, h.image)
	return nil
}

func (h *heap) cool() {}

func (h *heap) free() { h.bytes, h.image = nil, nil }
