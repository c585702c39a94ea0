package family

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
)

// GuestEmbedder makes vectors by a family's embed hook.
type GuestEmbedder struct {
	Family     string
	Model      string // as the manifest names it: vectors of different models are never compared
	Dimensions int

	families *Families
}

// EmbedderOf is the embedder of a family, if its embed hook is on.
func (f *Families) EmbedderOf(name string) (GuestEmbedder, bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	x := f.known[name]
	if _, on := f.hookOf(x, abi.HookEmbed); !on {
		return GuestEmbedder{}, false
	}
	h := x.manifest.Hooks.Embed
	return GuestEmbedder{Family: name, Model: h.Model, Dimensions: h.Dimensions, families: f}, true
}

// Embed makes a vector of each text. purpose is document or query.
func (e GuestEmbedder) Embed(ctx context.Context, texts []string, purpose string) ([][]float32, error) {
	f := e.families
	x, err := f.named(e.Family)
	if err != nil {
		return nil, err
	}
	m, release, err := f.acquire(ctx, x)
	if err != nil {
		return nil, err
	}
	defer release()
	ctx = memory.WithEffects(ctx, nil) // vectors are the operator's own business, in dry runs too
	reader := ownCaller(x.name)
	reader.Rights = reader.Rights.ReadOnly()
	stage, err := f.ownSpace(x).Stage(ctx, memory.Default)
	if err != nil {
		return nil, err
	}
	w := f.newRequest(x, stage, reader, "", "")
	config, err := w.configJSON(ctx)
	if err != nil {
		return nil, err
	}
	request, err := json.Marshal(abi.EmbedRequest{Texts: texts, Purpose: purpose, Config: config, Context: w.Context()})
	if err != nil {
		return nil, err
	}
	output, err := w.ask(ctx, m, abi.KindEmbed, request)
	if err != nil {
		return nil, err
	}
	vectors, err := abi.ParseVectors(output, len(texts), e.Dimensions)
	if err != nil {
		return nil, fmt.Errorf("family %s: %w", e.Family, err)
	}
	return vectors, nil
}
