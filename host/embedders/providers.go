package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/search/embed"
	"github.com/alcove-memory/alcove/host/search/near"
	"github.com/alcove-memory/alcove/host/search/semantic"
)

// open makes an embedder. One that cannot be made fails when it is asked, and says why.
func (e *embedders) open(c EmbedderConfig) embed.Embedder {
	if c.Kind == embed.Family {
		return e.ofFamily(c, "document")
	}
	if c.Kind == embed.Static {
		return modelEmbedder{e, c}
	}
	opened, err := embed.Open(c.Config, os.Getenv)
	if err != nil {
		return embed.Func{Called: c.Name, Vectors: c.Dimensions, F: func(context.Context, []string) ([][]float32, error) { return nil, err }}
	}
	return opened
}

// modelEmbedder is a static model, which is read when it is first needed: a server starts without waiting for it.
type modelEmbedder struct {
	of *embedders
	c  EmbedderConfig
}

// Name implements embed.Embedder.
func (m modelEmbedder) Name() string { return m.c.Name }

// Dimensions implements embed.Embedder.
func (m modelEmbedder) Dimensions() int {
	if opened, err := m.of.model(m.c.Path); err == nil {
		return opened.Dimensions()
	}
	return 0
}

// Embed implements embed.Embedder.
func (m modelEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	opened, err := m.of.model(m.c.Path)
	if err != nil {
		return nil, err
	}
	if m.c.Dimensions != 0 && m.c.Dimensions != opened.Dimensions() {
		return nil, fmt.Errorf("the model in %s has %d dimensions, not %d: alcove embedder set %s again", m.c.Path, opened.Dimensions(), m.c.Dimensions, m.c.Name)
	}
	return opened.Embed(ctx, texts)
}

// model opens a model once.
func (e *embedders) model(path string) (*embed.Model, error) {
	e.modelsMu.Lock()
	defer e.modelsMu.Unlock()
	if m := e.models[path]; m != nil {
		return m, nil
	}
	m, err := embed.OpenModel(path)
	if err == nil {
		e.models[path] = m
	}
	return m, err
}

// forget lets a model be read again, because its files may have changed.
func (e *embedders) forget(path string) {
	e.modelsMu.Lock()
	defer e.modelsMu.Unlock()
	delete(e.models, path)
}

// useNearWords lets the index count near words, or not any more. The caller holds mu, or nobody else knows of e.
func (e *embedders) useNearWords() {
	path, weight := "", 0.0
	for _, entry := range e.file.Embedders {
		if entry.Kind == embed.Static && entry.NearWords > 0 && path == "" {
			path, weight = entry.Path, entry.NearWords
		}
	}
	if path == "" {
		e.near = ""
		e.index.SetThesaurus(nil, 0)
		return
	}
	e.near = path
	e.probing.Go(func() { // looking up all words takes a while
		m, err := e.model(path)
		var words *near.Words
		if err == nil {
			words, err = near.New(m)
		}
		if err != nil {
			e.host.options.Logger.Warn("going on without near words", "error", err)
			return
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.near == path {
			e.index.SetThesaurus(words, weight)
		}
	})
}

// ofFamily is the embed hook of a family, for one purpose: document or query.
func (e *embedders) ofFamily(c EmbedderConfig, purpose string) embed.Embedder {
	return embed.Func{Called: c.Name, Vectors: c.Dimensions, F: func(ctx context.Context, texts []string) ([][]float32, error) {
		guest, err := e.guest(c)
		if err != nil {
			return nil, err
		}
		return guest.Embed(ctx, texts, purpose)
	}}
}

// guest finds the family that embeds.
func (e *embedders) guest(c EmbedderConfig) (family.GuestEmbedder, error) {
	families := e.families.Load()
	if families == nil {
		return family.GuestEmbedder{}, fmt.Errorf("family %s cannot be asked to embed: families are not ready", c.Family)
	}
	guest, on := families.EmbedderOf(c.Family)
	switch {
	case !on:
		return guest, fmt.Errorf("family %s does not embed: it is not there, has no embed hook, or is not granted it (alcove family grant)", c.Family)
	case c.Model != "" && c.Model != guest.Model:
		return guest, fmt.Errorf("family %s has the model %q now, not %q, and its vectors would not fit: alcove embedder set %s again", c.Family, guest.Model, c.Model, c.Name)
	}
	return guest, nil
}

// probeTime is how long an embedder may take to show how many dimensions it has.
const probeTime = 60 * time.Second

// probe asks an embedder for a vector, to learn its dimensions.
func (e *embedders) probe(ctx context.Context, c EmbedderConfig) (dimensions int, err error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	vectors, err := e.open(c).Embed(ctx, []string{"How many dimensions does a vector have here?"})
	if err != nil {
		return 0, err
	}
	if len(vectors) == 1 && len(vectors[0]) > 0 {
		return len(vectors[0]), nil
	}
	if n := e.open(c).Dimensions(); n > 0 { // of a model that knows none of these words
		return n, nil
	}
	return 0, errors.New("it gave no vector")
}

// meaning is the keeper as the memory knows it.
type meaning struct{ *semantic.Keeper }

func (m meaning) Embedders() []memory.Embedder {
	var list []memory.Embedder
	for _, s := range m.Status() {
		list = append(list, memory.Embedder(s))
	}
	return list
}

// forFamilies is the keeper as families know it.
type forFamilies struct{ *semantic.Keeper }

// Embed makes vectors of texts with the standard embedder. A text that means nothing to it gets zeros.
func (f forFamilies) Embed(ctx context.Context, texts []string, purpose string) (model string, vectors [][]float32, err error) {
	model = f.Standard()
	if model == "" {
		return "", nil, &abi.Error{Code: abi.CodeUnavailable, Message: "no embedder is configured: the operator can, with alcove embedder set"}
	}
	vectors, err = f.Texts(ctx, model, texts, purpose == "query")
	if err != nil {
		return "", nil, &abi.Error{Code: abi.CodeUnavailable, Retryable: true, Message: err.Error()}
	}
	for i, v := range vectors {
		if len(v) == 0 {
			vectors[i] = make([]float32, f.Dimensions(model))
		}
	}
	return model, vectors, nil
}
