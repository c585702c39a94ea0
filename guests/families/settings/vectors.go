package settings

import alcove "github.com/alcove-memory/alcove/sdk/go"

// RegenerateVectors has the embedder make all embeddings again, in the background and at most once in ten minutes; the old ones serve until
// then. The operator grants it: alcove family grant settings embed.rebuild.
//
//alcove:description Rebuild embeddings.
//alcove:tool idempotent
//alcove:title Rebuild embeddings
type RegenerateVectors struct{}

// Regeneration is what is going to be embedded again.
type Regeneration struct {
	Embedder string
	Queued   int
}

// Call queues it.
func (RegenerateVectors) Call(c *alcove.Call) (Regeneration, error) {
	out, err := c.EmbedRebuild()
	return Regeneration{out.Embedder, out.Queued}, err
}
