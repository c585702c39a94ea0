package host

import "github.com/alcove-memory/alcove/host/memory"

// Space gives tests the memory of an open data directory.
func Space(h *Host) *memory.Space { return h.space }
