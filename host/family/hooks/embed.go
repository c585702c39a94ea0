package hooks

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/effect"
)

// Embedder makes vectors by a family's embed hook.
type Embedder struct {
	Family     string
	Model      string // as in the manifest: vectors of different models are never compared
	Dimensions int

	hooks *Hooks
}

// EmbedderOf returns the embedder of a family, if its embed hook is on.
func (h *Hooks) EmbedderOf(name string) (Embedder, bool) {
	x, on := h.named(abi.HookEmbed, name)
	if !on {
		return Embedder{}, false
	}
	hook := x.Manifest().Hooks.Embed
	return Embedder{Family: name, Model: hook.Model, Dimensions: hook.Dimensions, hooks: h}, true
}

// Embed makes a vector of each text. purpose is document or query.
func (e Embedder) Embed(ctx context.Context, texts []string, purpose string) ([][]float32, error) {
	x, on := e.hooks.named(abi.HookEmbed, e.Family)
	if !on {
		return nil, &memory.Error{Code: memory.Unavailable, Message: "family " + e.Family + " cannot be used, or its embed hook is off: alcove family info " + e.Family + " says which"}
	}
	guest, err := x.Load(ctx)
	if err != nil {
		return nil, err
	}
	defer guest.Release()
	ctx = effect.With(ctx, nil) // the operator wants vectors in dry runs, too
	reader := ops.OwnCaller(x.Name())
	reader.Rights = reader.Rights.ReadOnly()
	stage, err := e.hooks.own(x).Stage(ctx, memory.Default)
	if err != nil {
		return nil, err
	}
	r := guest.Begin(abi.HookEmbed, stage, reader, "", "")
	config, err := r.Config(ctx)
	if err != nil {
		return nil, err
	}
	request, err := json.Marshal(abi.EmbedRequest{Texts: texts, Purpose: purpose, Config: config, Context: r.Operations().Context()})
	if err != nil {
		return nil, err
	}
	output, err := r.Ask(ctx, abi.KindEmbed, request, 0)
	if err != nil {
		return nil, err
	}
	vectors, err := abi.ParseVectors(output, len(texts), e.Dimensions)
	if err != nil {
		return nil, fmt.Errorf("family %s: %w", e.Family, err)
	}
	return vectors, nil
}
