package host

import (
	"context"

	"github.com/alcove-memory/alcove/host/memory"
)

// Space gives tests the memory of an open data directory.
func Space(h *Host) *memory.Space { return h.space.Memory }

// BreakAudit has further entries of a host's audit log, whose folder must be removed, fail.
func BreakAudit(h *Host) error { return h.space.Audit.Close() }

// EmbedForFamilies embeds as families have texts embedded.
func EmbedForFamilies(h *Host, texts []string, purpose string) (string, [][]float32, error) {
	return h.space.Embedders.Embed(context.Background(), texts, purpose)
}
