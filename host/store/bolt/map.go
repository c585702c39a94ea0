package bolt

import (
	"fmt"

	"github.com/edsrzf/mmap-go"

	"github.com/alcove-memory/alcove/host/store"
)

// Map implements store.Mapper. Blobs' files are never written to once they have their names, so the bytes do not change. On Windows, the
// file of a dropped blob stays until a sweep after the mapping's end.
func (b blobReader) Map(a store.Access) (*store.Mapping, error) {
	info, err := b.Stat()
	if err != nil {
		return nil, fmt.Errorf("map a blob: %w", err)
	}
	if info.Size() != b.size || int64(int(b.size)) != b.size {
		return nil, fmt.Errorf("map a blob: %s has %d bytes, and should have %d", b.Name(), info.Size(), b.size)
	}
	if b.size == 0 { // which systems refuse to map
		return store.NewMapping(b.Name(), nil, nil), nil
	}
	access := map[store.Access]int{store.ReadOnly: mmap.RDONLY, store.Private: mmap.COPY}[a]
	data, err := mmap.Map(b.File, access, 0)
	if err != nil {
		return nil, fmt.Errorf("map a blob: %s: %w", b.Name(), err)
	}
	return store.NewMapping(b.Name(), data, data.Unmap), nil
}
