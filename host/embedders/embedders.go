package host

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alcove-memory/alcove/host/admin"
	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/search/embed"
	"github.com/alcove-memory/alcove/host/search/semantic"
	"github.com/alcove-memory/alcove/host/search/vector"
)

// embeddersFile says which embedders there are, in a data directory. Only operators' acts write it.
const (
	embeddersFile  = "embedders.json"
	embeddersLimit = 1 << 20 // bytes
)

// mostEmbedders bounds how many there may be: each keeps vectors of everything.
const mostEmbedders = 8

// EmbedderConfig is an embedder as operators describe it.
type EmbedderConfig struct {
	embed.Config
	Weight float64 `json:"weight,omitempty"` // of meaning beside words, up to 1; 0: .5; negative: none
	// Threshold is the nearness below which meaning alone finds nothing; 0: none.
	Threshold float64 `json:"threshold,omitempty"`
	// NearWords is how much a word of a question counts, in searches by words, where only a word near to it is there: a
	// part of what it would count itself. Of a static model only; of several embedders that of the first. 0: nothing.
	NearWords float64 `json:"near_words,omitempty"`
}

func (c EmbedderConfig) check() error {
	if err := c.Check(); err != nil {
		return err
	}
	switch {
	case math.IsNaN(c.Weight) || c.Weight > 1:
		return fmt.Errorf("embedder %s: meaning counts %g beside words: at most 1", c.Name, c.Weight)
	case math.IsNaN(c.Threshold) || math.IsInf(c.Threshold, 0):
		return fmt.Errorf("embedder %s: the threshold is no finite number", c.Name)
	case !(c.NearWords >= 0 && c.NearWords <= 1):
		return fmt.Errorf("embedder %s: near words count %g: it goes from 0 to 1", c.Name, c.NearWords)
	case c.NearWords > 0 && c.Kind != embed.Static:
		return fmt.Errorf("embedder %s: only a static model has near words", c.Name)
	}
	return nil
}

// embedderEntry is an embedder as the file has it.
type embedderEntry struct {
	EmbedderConfig
	Generation int             `json:"generation,omitempty"` // counts how often all vectors were made anew
	Previous   *embedderOrigin `json:"previous,omitempty"`   // whose vectors serve until the new ones are complete
}

// embedderOrigin is what vectors came from.
type embedderOrigin struct {
	EmbedderConfig
	Generation int `json:"generation,omitempty"`
}

// embedderFile is what the file holds.
type embedderFile struct {
	Standard    string             `json:"standard,omitempty"`
	Collections map[string]float64 `json:"collections,omitempty"` // how much meaning counts in each, from 0 (none is embedded) to 1
	Embedders   []embedderEntry    `json:"embedders,omitempty"`
}

// standardGate is how much meaning counts in collections that the file does not name. Logs are long, and are looked
// for by their words.
func standardGate() map[string]float64 { return map[string]float64{"_log": 0} }

// embedders are those of a data directory.
type embedders struct {
	host   *Host
	keeper *semantic.Keeper
	index  *search.Index
	gate   atomic.Pointer[map[string]float64]
	// families are nil until they are open.
	families atomic.Pointer[family.Families]

	mu       sync.Mutex
	file     embedderFile
	attached bool
	near     string // the folder of the model whose near words are in use

	modelsMu sync.Mutex
	models   map[string]*embed.Model // by folder
	probing  sync.WaitGroup
	ctx      context.Context
	stop     context.CancelFunc
}

// openEmbedders reads which embedders there are. Nothing is embedded before start.
func (h *Host) openEmbedders(index *search.Index) (*embedders, error) {
	e := &embedders{host: h, index: index, models: map[string]*embed.Model{}}
	if h.options.Logger == nil {
		h.options.Logger = slog.New(slog.DiscardHandler)
	}
	e.ctx, e.stop = context.WithCancel(context.Background())
	if err := e.read(); err != nil {
		return nil, err
	}
	e.setGate()
	e.keeper = semantic.New(semantic.Options{
		Blobs: h.engine, Logger: h.options.Logger, Gate: e.weight, Switched: e.switched,
		Refused: func(err error) bool { return errors.Is(err, embed.ErrRefused) },
	})
	for _, entry := range e.file.Embedders {
		if err := e.use(entry); err != nil {
			h.options.Logger.Warn("going on without an embedder", "error", err)
		}
	}
	e.keeper.SetStandard(e.file.Standard)
	if err := e.keeper.Sweep(context.Background()); err != nil {
		h.options.Logger.Warn("vectors that nobody needs stay on the disk", "error", err)
	}
	e.attach()
	e.useNearWords()
	return e, nil
}

// attach lets the index tell of its documents, from the first embedder on: without one nothing is remembered of them.
// The caller holds mu, or nobody else knows of e.
func (e *embedders) attach() {
	if !e.attached && len(e.file.Embedders) > 0 {
		e.attached = true
		e.index.Attach(e.keeper)
	}
}

func (e *embedders) start(s *memory.Space) {
	e.keeper.Start(s)
	if c := e.host.options.Embedder; c != nil {
		e.probing.Go(func() { e.adopt(*c) })
	}
}

func (e *embedders) close() error {
	e.stop()
	e.probing.Wait()
	return e.keeper.Close()
}

func (e *embedders) path() string { return filepath.Join(e.host.options.Dir, embeddersFile) }

func (e *embedders) read() error {
	raw, err := readEmbedders(e.host.options.Dir)
	if raw == nil && err == nil {
		return nil
	}
	if err == nil {
		err = parseEmbedders(raw, &e.file)
	}
	for _, entry := range e.file.Embedders {
		if err == nil {
			err = entry.check()
		}
	}
	if err != nil {
		return fmt.Errorf("read the embedders from %s: %w (restore the file from a copy, or delete it and add them again with alcove embedder set: "+
			"no memory is lost, and until then searches are by words)", e.path(), err)
	}
	return nil
}

// parseEmbedders reads what the file holds, all of it: what was cut off or overwritten is an error.
func parseEmbedders(raw []byte, into *embedderFile) error {
	in := json.NewDecoder(bytes.NewReader(raw))
	in.DisallowUnknownFields()
	if err := in.Decode(into); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the file is cut off after %d bytes: %w", len(raw), io.ErrUnexpectedEOF)
	} else if err != nil {
		return err
	}
	if _, err := in.Token(); err != io.EOF {
		return fmt.Errorf("more follows the embedders at byte %d", in.InputOffset())
	}
	return nil
}

// write replaces the file. The caller holds mu.
func (e *embedders) write() error {
	raw, err := json.MarshalIndent(e.file, "", "  ")
	if err != nil {
		return fmt.Errorf("keep the embedders: %w", err)
	}
	if err := durable.WriteFile(e.path(), append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("keep the embedders: %w", err)
	}
	return nil
}

func (e *embedders) setGate() {
	gate := standardGate()
	for collection, weight := range e.file.Collections {
		gate[collection] = weight
	}
	e.gate.Store(&gate)
}

// weight is how much meaning counts in a collection.
func (e *embedders) weight(collection string) float64 {
	if w, ok := (*e.gate.Load())[collection]; ok {
		return w
	}
	return 1
}

// use hands an embedder, and the one whose vectors serve until its own are complete, to the keeper.
func (e *embedders) use(entry embedderEntry) error {
	if p := entry.Previous; p != nil {
		if err := e.keeper.Set(e.settings(p.EmbedderConfig, p.Generation)); err != nil {
			return err
		}
	}
	return e.keeper.Set(e.settings(entry.EmbedderConfig, entry.Generation))
}

// identity is all that vectors depend on.
func (c EmbedderConfig) identity(generation int) string {
	raw, err := json.Marshal([]any{c.Kind, c.URL, c.Model, c.Path, c.Family, c.Dimensions, c.Metric, c.MaxChars, c.DocumentPrefix, generation})
	if err != nil {
		return fmt.Sprint(c, generation) // plain data cannot fail
	}
	return string(raw)
}

func (e *embedders) settings(c EmbedderConfig, generation int) semantic.Settings {
	s := semantic.Settings{
		Name: c.Name, Identity: c.identity(generation), Dimensions: c.Dimensions, Batch: c.Batch, MaxChars: c.MaxChars,
		Prefix: c.DocumentPrefix, Question: c.QueryPrefix, Weight: c.Weight, Threshold: c.Threshold, Costly: c.Kind != embed.Static,
	}
	if c.Metric == "dot" {
		s.Metric = vector.Dot
	}
	if c.Kind != embed.Given {
		s.Embedder = e.open(c)
	}
	if c.Kind == embed.Family {
		s.Asker = e.ofFamily(c, "query")
	}
	return s
}

// switched is told when an embedder's new vectors serve: those before are forgotten.
func (e *embedders) switched(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := e.find(name)
	if i < 0 || e.file.Embedders[i].Previous == nil {
		return
	}
	e.file.Embedders[i].Previous = nil
	if err := e.write(); err != nil {
		e.host.options.Logger.Warn("after a restart vectors are switched once more", "error", err)
	}
}

func (e *embedders) find(name string) int {
	return slices.IndexFunc(e.file.Embedders, func(x embedderEntry) bool { return x.Name == name })
}

// set adds or changes an embedder. One that is new, or embeds otherwise, is asked for a vector first.
func (e *embedders) set(ctx context.Context, c EmbedderConfig, standard bool) (EmbedderConfig, error) {
	if err := c.check(); err != nil {
		return c, err
	}
	e.forget(c.Path)
	if c.Kind == embed.Family {
		c.Model = ""
		guest, err := e.guest(c)
		if err != nil {
			return c, fmt.Errorf("nothing was changed: %w", err)
		}
		c.Model, c.Dimensions = guest.Model, guest.Dimensions
	}
	if c.Dimensions == 0 {
		n, err := e.probe(ctx, c)
		if err != nil {
			return c, fmt.Errorf("nothing was changed, because the embedder gives no vector: %w (give its dimensions to set it all the same)", err)
		}
		c.Dimensions = n
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	i := e.find(c.Name)
	if i < 0 && len(e.file.Embedders) >= mostEmbedders {
		return c, fmt.Errorf("there are %d embedders already: remove one first", mostEmbedders)
	}
	before := e.file
	e.file.Embedders = slices.Clone(e.file.Embedders)
	if i < 0 {
		e.file.Embedders = append(e.file.Embedders, embedderEntry{EmbedderConfig: c})
		i = len(e.file.Embedders) - 1
	} else {
		e.file.Embedders[i] = e.file.Embedders[i].changed(c, e.file.Embedders[i].Generation)
	}
	if standard || e.file.Standard == "" {
		e.file.Standard = c.Name
	}
	return c, e.apply(before, i)
}

// changed is an embedder under another description, whose old vectors serve until the new ones are complete.
func (x embedderEntry) changed(c EmbedderConfig, generation int) embedderEntry {
	next := embedderEntry{EmbedderConfig: c, Generation: generation, Previous: x.Previous}
	if c.identity(generation) == x.identity(x.Generation) {
		return next
	}
	if next.Previous == nil {
		next.Previous = &embedderOrigin{x.EmbedderConfig, x.Generation}
	}
	if next.Previous.identity(next.Previous.Generation) == c.identity(generation) {
		next.Previous = nil
	}
	return next
}

// apply keeps a change of entry i and lets it take effect; or takes the change back. The caller holds mu.
func (e *embedders) apply(before embedderFile, i int) error {
	if err := e.write(); err != nil {
		e.file = before
		return err
	}
	e.attach()
	if err := e.keeper.Set(e.settings(e.file.Embedders[i].EmbedderConfig, e.file.Embedders[i].Generation)); err != nil {
		e.file = before
		return errors.Join(err, e.write())
	}
	e.keeper.SetStandard(e.file.Standard)
	e.useNearWords()
	return nil
}

// regenerate makes all vectors of an embedder anew.
func (e *embedders) regenerate(name string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := e.find(name)
	if i < 0 {
		return e.unknown(name)
	}
	before := e.file
	e.forget(e.file.Embedders[i].Path)
	e.file.Embedders = slices.Clone(e.file.Embedders)
	e.file.Embedders[i] = e.file.Embedders[i].changed(e.file.Embedders[i].EmbedderConfig, e.file.Embedders[i].Generation+1)
	return e.apply(before, i)
}

func (e *embedders) unknown(name string) error {
	return fmt.Errorf("there is no embedder %.80q: alcove embedder show lists them", name)
}

func (e *embedders) remove(name string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := e.find(name)
	if i < 0 {
		return e.unknown(name)
	}
	before := e.file
	e.file.Embedders = slices.Delete(slices.Clone(e.file.Embedders), i, i+1)
	if e.file.Standard == name {
		e.file.Standard = ""
	}
	if err := e.write(); err != nil {
		e.file = before
		return err
	}
	e.keeper.Drop(name)
	e.keeper.SetStandard(e.file.Standard)
	e.useNearWords()
	return nil
}

// EmbedderChoice is how embedders are used: which one by searches that name none, and how much meaning counts in
// collections. What is nil stays as it is.
type EmbedderChoice struct {
	Standard    *string            `json:"standard,omitempty"` // empty: none, searches are by words
	Collections map[string]float64 `json:"collections,omitempty"`
}

func (e *embedders) choose(c EmbedderChoice) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	before := e.file
	if c.Standard != nil {
		if *c.Standard != "" && e.find(*c.Standard) < 0 {
			return e.unknown(*c.Standard)
		}
		e.file.Standard = *c.Standard
	}
	merged := map[string]float64{}
	for _, from := range []map[string]float64{before.Collections, c.Collections} {
		for collection, weight := range from {
			if weight < 0 || weight > 1 {
				return fmt.Errorf("meaning counts %g in %.80q: it goes from 0 to 1", weight, collection)
			}
			merged[collection] = weight
		}
	}
	e.file.Collections = merged
	if err := e.write(); err != nil {
		e.file = before
		return err
	}
	e.setGate()
	e.keeper.SetStandard(e.file.Standard)
	e.keeper.Recheck()
	return nil
}

// adopt uses the embedder that the server was started with, as soon as it answers.
func (e *embedders) adopt(c EmbedderConfig) {
	for wait := time.Second; e.ctx.Err() == nil; wait = min(2*wait, 5*time.Minute) {
		e.mu.Lock()
		if i := e.find(c.Name); i >= 0 && c.Dimensions == 0 {
			as := e.file.Embedders[i]
			same := c
			if same.Dimensions = as.Dimensions; same.identity(as.Generation) == as.identity(as.Generation) {
				c = same // nothing to ask it for
			}
		}
		e.mu.Unlock()
		if _, err := e.set(e.ctx, c, true); err == nil || e.ctx.Err() != nil {
			return
		} else {
			e.host.options.Logger.Warn("the embedder that the server was started with is not in use yet", "again", wait, "error", err)
		}
		select {
		case <-e.ctx.Done():
		case <-time.After(wait):
		}
	}
}

// EmbedderState is an embedder, and how far it is.
type EmbedderState struct {
	EmbedderConfig
	Standard   bool   `json:"standard"`
	Generation int    `json:"generation"`
	Vectors    int    `json:"vectors"`
	Waiting    int    `json:"waiting"`
	Refused    int    `json:"refused,omitempty"`
	Making     int    `json:"making,omitempty"` // new vectors so far, while the old ones serve
	Error      string `json:"error,omitempty"`
}

func (e *embedders) states() []EmbedderState {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := []EmbedderState{}
	for _, entry := range e.file.Embedders {
		s := EmbedderState{EmbedderConfig: entry.EmbedderConfig, Generation: entry.Generation, Standard: entry.Name == e.file.Standard}
		for _, have := range e.keeper.Status() {
			if have.Name != entry.Name {
				continue
			}
			s.Error = cmp.Or(s.Error, have.Error)
			if have.Making {
				s.Making, s.Waiting, s.Refused = have.Vectors, have.Waiting, have.Refused
				continue
			}
			s.Vectors = have.Vectors
			if entry.Previous == nil {
				s.Waiting, s.Refused = have.Waiting, have.Refused
			}
		}
		list = append(list, s)
	}
	return list
}

// SetEmbedderRequest says which embedder to use.
type SetEmbedderRequest struct {
	EmbedderConfig
	Standard bool `json:"standard,omitempty"` // for searches that name none
}

// embedderActs are what operators can ask for about embedders.
func (h *Host) embedderActs() map[string]admin.Act {
	named := func(do func(string) error) admin.Act {
		return act(func(_ context.Context, r struct {
			Name string `json:"name"`
		}) (any, error) {
			return struct{}{}, do(r.Name)
		})
	}
	return map[string]admin.Act{
		"embedders": func(context.Context, json.RawMessage) (any, error) { return h.embedders.states(), nil },
		"set-embedder": act(func(ctx context.Context, r SetEmbedderRequest) (any, error) {
			return h.embedders.set(ctx, r.EmbedderConfig, r.Standard)
		}),
		"regenerate-embedder": named(h.embedders.regenerate),
		"remove-embedder":     named(h.embedders.remove),
		"choose-embedder":     act(func(_ context.Context, c EmbedderChoice) (any, error) { return struct{}{}, h.embedders.choose(c) }),
	}
}
