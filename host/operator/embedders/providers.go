package embedders

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/search/embed"
	"github.com/alcove-memory/alcove/host/search/near"
	"github.com/alcove-memory/alcove/host/search/wordvec"
)

// open makes an embedder. One that cannot be made fails when it is asked, and says why.
func (e *Embedders) open(c Config) embed.Embedder {
	if c.Kind == embed.Family {
		return e.ofFamily(c, "document")
	}
	if c.Kind == embed.Static || c.Kind == embed.Installed {
		return modelEmbedder{e, c}
	}
	opened, err := embed.Open(c.Config, e.options.Getenv)
	if err != nil {
		return embed.Func{Called: c.Name, Vectors: c.Dimensions, F: func(context.Context, []string) ([][]float32, error) { return nil, err }}
	}
	return opened
}

// modelEmbedder is a model in a folder, which is read when it is first needed: a server starts without waiting for it.
type modelEmbedder struct {
	of *Embedders
	c  Config
}

// Name implements embed.Embedder.
func (m modelEmbedder) Name() string { return m.c.Name }

// Dimensions implements embed.Embedder.
func (m modelEmbedder) Dimensions() int {
	if opened, err := m.of.model(m.c); err == nil {
		return opened.Dimensions()
	}
	return 0
}

// Embed implements embed.Embedder.
func (m modelEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	opened, err := m.of.model(m.c)
	if err != nil {
		return nil, err
	}
	if m.c.Dimensions != 0 && m.c.Dimensions != opened.Dimensions() {
		return nil, fmt.Errorf("the model in %s has %d dimensions, not %d: alcove embedder set %s again", m.c.Path, opened.Dimensions(), m.c.Dimensions, m.c.Name)
	}
	return opened.Embed(ctx, texts)
}

// model opens a model once.
func (e *Embedders) model(c Config) (embed.Embedder, error) {
	e.modelsMu.Lock()
	defer e.modelsMu.Unlock()
	path := e.folder(c)
	if m := e.models[path]; m != nil {
		return m, nil
	}
	m, err := embed.OpenFolder(path)
	switch {
	case err == nil:
		e.models[path] = m
	case c.Kind == embed.Installed && errors.Is(err, fs.ErrNotExist):
		err = notInstalled(c)
	}
	return m, err
}

func notInstalled(c Config) error {
	return fmt.Errorf("the model %s is not installed in this data directory: alcove embedder install %s", c.Model, c.Model)
}

// folder is the folder of a model; empty: the embedder has none.
func (e *Embedders) folder(c Config) string {
	if c.Kind == embed.Installed {
		return filepath.Join(e.options.Dir, filepath.FromSlash(c.Path))
	}
	return c.Path
}

// forget lets a model be read again, because its files may have changed.
func (e *Embedders) forget(c Config) {
	e.modelsMu.Lock()
	defer e.modelsMu.Unlock()
	delete(e.models, e.folder(c))
}

// useNearWords lets the index count near words, or not any more. The caller holds mu, or nobody else knows of e.
func (e *Embedders) useNearWords() {
	var from Config
	for _, x := range slices.Backward(e.inUse()) {
		if x.NearWords > 0 {
			from = x.Config
		}
	}
	e.near = from
	switch from.Kind {
	case embed.Static, embed.Installed:
		e.probing.Go(func() { e.useWordsOf(from) }) // looking up all words takes a while
	case embed.Builtin:
		e.options.Index.SetNearWords(&search.NearWords{Thesaurus: builtinTable{e.table}, Weight: from.NearWords, Most: wordvec.MostNearDocuments})
	default:
		e.options.Index.SetNearWords(nil)
	}
}

// useWordsOf lets the index count the near words of a static model.
func (e *Embedders) useWordsOf(c Config) {
	m, err := e.model(c)
	var words *near.Words
	if static, ok := m.(*embed.Model); ok {
		words, err = near.New(static)
	} else if err == nil {
		err = fmt.Errorf("the model of embedder %s has no vectors of words", c.Name)
	}
	if err != nil {
		e.options.Logger.Warn("continuing without near words", "error", err)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.near == c {
		e.options.Index.SetNearWords(&search.NearWords{Thesaurus: words, Weight: c.NearWords})
	}
}

// builtinTable is the program's word vectors, which are read when they are first needed.
type builtinTable struct {
	table func() (*wordvec.Table, error)
}

// OfWords implements semantic.Instant.
func (b builtinTable) OfWords(w search.DocumentWords) (v []float32, ok bool) {
	if t, err := b.table(); err == nil {
		return t.OfWords(w)
	}
	return nil, false
}

// Vector implements semantic.Instant.
func (b builtinTable) Vector(text string) []float32 {
	if t, err := b.table(); err == nil {
		return t.Vector(text)
	}
	return nil
}

// Embed implements semantic.Embedder.
func (b builtinTable) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	t, err := b.table()
	if err != nil {
		return nil, err
	}
	return t.Embed(ctx, texts)
}

// Near implements search.Thesaurus.
func (b builtinTable) Near(word, term string, by *search.Analyser) []search.NearTerm {
	if t, err := b.table(); err == nil {
		return t.Near(word, term, by)
	}
	return nil
}

// questions is the table for questions.
type questions struct{ builtinTable }

// Embed implements semantic.Embedder.
func (q questions) Embed(_ context.Context, texts []string) (vectors [][]float32, err error) {
	t, err := q.table()
	if err != nil {
		return nil, err
	}
	for _, text := range texts {
		vectors = append(vectors, t.Question(text))
	}
	return vectors, nil
}

// ofFamily is the embed hook of a family, for one purpose: document or query.
func (e *Embedders) ofFamily(c Config, purpose string) embed.Embedder {
	return embed.Func{Called: c.Name, Vectors: c.Dimensions, F: func(ctx context.Context, texts []string) ([][]float32, error) {
		guest, err := e.guest(c)
		if err != nil {
			return nil, err
		}
		return guest.Embed(ctx, texts, purpose)
	}}
}

// guest finds the family that embeds.
func (e *Embedders) guest(c Config) (Guest, error) {
	guest, on := e.options.Guests(c.Family)
	switch {
	case !on:
		return guest, fmt.Errorf("family %s does not embed: it is not there, has no embed hook, or is not granted it: alcove family info %[1]s says which", c.Family)
	case c.Model != "" && c.Model != guest.Model:
		return guest, fmt.Errorf("family %s has the model %q now, not %q, and its vectors would not fit: alcove embedder set %s again", c.Family, guest.Model, c.Model, c.Name)
	}
	return guest, nil
}

// probeTime is how long an embedder may take to show how many dimensions it has.
const probeTime = 60 * time.Second

// probe asks an embedder for a vector, to learn its dimensions.
func (e *Embedders) probe(ctx context.Context, c Config) (dimensions int, err error) {
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
