// Package embedders runs the embedders that an operator configured: it keeps their configuration, connects each to its
// provider, and has the documents of a space embedded.
package embedders

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/search/embed"
	"github.com/alcove-memory/alcove/host/search/semantic"
	"github.com/alcove-memory/alcove/host/search/vector"
	"github.com/alcove-memory/alcove/host/search/wordvec"
)

// Options say what Open needs. Dir, Blobs and Index are required.
type Options struct {
	Dir    string                   // the data directory, with the configuration file
	Blobs  semantic.Blobs           // where vectors are kept
	Index  *search.Index            // whose documents are embedded
	Logger *slog.Logger             // nil: discards
	Getenv func(name string) string // of keys; nil: there are none
	Guests Guests                   // nil: no family embeds
	Serve  *Config                  // an embedder to add, and use by default, as soon as it answers; nil: none
	// Lexical makes searches that name no embedder lexical, whatever the configuration says.
	Lexical bool
	Words   Words // nil: wordvec.Open
	// Write keeps the configuration file, wherever else the next server of its directory looks for it; nil: it is a file alone.
	Write func(path string, data []byte) error
}

// Words reads the table of word vectors.
type Words func() (*wordvec.Table, error)

// SharedWords reads the table once for all who ask. None learns what another asks of it.
func SharedWords() Words {
	table := sync.OnceValues(wordvec.Open)
	return func() (*wordvec.Table, error) {
		t, err := table()
		if err != nil {
			return nil, err
		}
		return t.Another(), nil
	}
}

// Guest is a tool family that embeds.
type Guest struct {
	Model      string // as its manifest names it: vectors of different models are never compared
	Dimensions int
	// Embed makes a vector of each text. purpose is document or query.
	Embed func(ctx context.Context, texts []string, purpose string) ([][]float32, error)
}

// Guests finds the tool family with a name, if it embeds.
type Guests func(family string) (Guest, bool)

// Embedders are those of a data directory. Their methods may be called concurrently.
type Embedders struct {
	options Options
	keeper  *semantic.Keeper
	weights atomic.Pointer[map[string]float64] // of vectors beside words, by collection

	mu       sync.Mutex
	file     file
	attached bool
	near     Config // whose near words are in use; zero: none
	table    func() (*wordvec.Table, error)

	modelsMu sync.Mutex
	models   map[string]embed.Embedder // by folder
	probing  sync.WaitGroup
	ctx      context.Context
	stop     context.CancelFunc
}

// Open reads the configuration of a data directory. Nothing is embedded before Start.
func Open(ctx context.Context, o Options) (*Embedders, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	if o.Guests == nil {
		o.Guests = func(string) (Guest, bool) { return Guest{}, false }
	}
	if o.Words == nil {
		o.Words = wordvec.Open
	}
	e := &Embedders{options: o, models: map[string]embed.Embedder{}, table: sync.OnceValues(o.Words)}
	if err := e.read(); err != nil {
		return nil, err
	}
	e.ctx, e.stop = context.WithCancel(context.WithoutCancel(ctx))
	e.setWeights()
	e.keeper = semantic.New(semantic.Options{
		Blobs: o.Blobs, Logger: o.Logger, Gate: e.weight, Switched: e.switched, Complete: e.complete, Awaited: e.awaited,
		Refused: func(err error) bool { return errors.Is(err, embed.ErrRefused) },
	})
	for _, configured := range e.inUse() {
		if err := e.use(configured); err != nil {
			o.Logger.Warn("continuing without an embedder", "error", err)
		}
	}
	e.keeper.SetStandard(e.standard())
	if err := e.keeper.Sweep(ctx); err != nil {
		o.Logger.Warn("unneeded vectors stay on the disk", "error", err)
	}
	e.attach()
	e.useNearWords()
	return e, nil
}

// Words returns the program's word vectors, which serve whatever the configuration says. They are read when they are first needed.
func (e *Embedders) Words() semantic.Instant { return builtinTable{e.table} }

// inUse returns the embedders of the configuration. The caller holds mu, or nobody else knows of e.
func (e *Embedders) inUse() []entry {
	if e.options.Lexical {
		return e.file.Embedders
	}
	return e.file.inUse()
}

// listed returns the embedders that operators see: the built-in one only where there is no other. The caller holds mu.
func (e *Embedders) listed() []entry {
	if len(e.file.Embedders) > 0 {
		return e.file.Embedders
	}
	return e.inUse()
}

// chosen names the embedder of searches that name none, once its vectors are complete. The caller holds mu.
func (e *Embedders) chosen() string {
	if e.standard() == "" || len(e.file.Embedders) == 0 {
		return e.standard()
	}
	return e.file.Standard
}

// standard names the embedder of searches that name none. The caller holds mu, or nobody else knows of e.
func (e *Embedders) standard() string {
	if e.options.Lexical {
		return ""
	}
	return e.file.standard()
}

// attach lets the index tell of its documents, from the first embedder on: without one nothing is remembered of them.
// The caller holds mu, or nobody else knows of e.
func (e *Embedders) attach() {
	if !e.attached && len(e.inUse()) > 0 {
		e.attached = true
		e.options.Index.Attach(e.keeper)
	}
}

// Start begins to embed the documents of a space.
func (e *Embedders) Start(s semantic.Source) {
	e.keeper.Start(s)
	if c := e.options.Serve; c != nil {
		e.probing.Go(func() { e.adopt(*c) })
	}
}

// Close stops embedding.
func (e *Embedders) Close() error {
	e.stop()
	e.probing.Wait()
	return e.keeper.Close()
}

// standardWeights are those of collections that the file does not name. Logs are long, and searched for their words.
func standardWeights() map[string]float64 { return map[string]float64{"_log": 0} }

// setWeights takes the weights of collections from the file. The caller holds mu, or nobody else knows of e.
func (e *Embedders) setWeights() {
	weights := standardWeights()
	maps.Copy(weights, e.file.Collections)
	e.weights.Store(&weights)
}

// weight is how much vectors count in a collection, from 0 to 1.
func (e *Embedders) weight(collection string) float64 {
	if w, ok := (*e.weights.Load())[collection]; ok {
		return w
	}
	return 1
}

// use hands an embedder, and the one whose vectors serve until its own are complete, to the keeper.
func (e *Embedders) use(x entry) error {
	if p := x.Previous; p != nil {
		if err := e.keeper.Set(e.settings(p.Config, p.Generation)); err != nil {
			return err
		}
	}
	return e.keeper.Set(e.settings(x.Config, x.Generation))
}

// identity is all that vectors depend on.
func (c Config) identity(generation int) string {
	raw, err := json.Marshal([]any{c.Kind, c.URL, c.Model, c.Path, c.Family, c.Dimensions, c.Metric, c.MaxChars, c.DocumentPrefix, generation})
	if err != nil {
		return fmt.Sprint(c, generation) // plain data cannot fail
	}
	return string(raw)
}

// installedBatch is how many texts an installed model embeds at once.
const installedBatch = 4

// builtinScale is that of the program's own word vectors, for which the numbers of their Fusion were chosen.
func builtinScale() semantic.Scale { return semantic.Scale{Unrelated: 0, Alike: .426} }

// settings are a description as the keeper of vectors takes it.
func (e *Embedders) settings(c Config, generation int) semantic.Settings {
	if c.Kind == embed.Builtin { // the file may be of a program with another table
		c.Model, c.Dimensions = builtin().Model, builtin().Dimensions
	}
	s := semantic.Settings{
		Name: c.Name, Identity: c.identity(generation), Dimensions: c.Dimensions, Batch: c.Batch, MaxChars: c.MaxChars,
		Prefix: c.DocumentPrefix, Question: c.QueryPrefix, Weight: c.Weight, Threshold: c.Threshold, Costly: c.Kind != embed.Static,
	}
	if c.Kind == embed.Installed { // a transformer takes long for a text: a stop loses few, and progress shows
		s.Batch = cmp.Or(c.Batch, installedBatch)
	}
	if c.Metric == "dot" {
		s.Metric = vector.Dot
	}
	switch c.Kind {
	case embed.Given:
	case embed.Builtin:
		t := builtinTable{e.table}
		s.Instant, s.Embedder, s.Asker, s.Fusion, s.Costly = t, t, questions{t}, wordvec.Fusion(), false
		return s
	default:
		s.Embedder = e.open(c)
	}
	if c.Kind == embed.Family {
		s.Asker = e.ofFamily(c, "query")
	}
	if c.Scale.Discriminates() {
		s.Fusion = c.Scale.Fit(wordvec.Fusion(), builtinScale())
	}
	return s
}

// switched is told when an embedder's new vectors serve: those before are forgotten.
func (e *Embedders) switched(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := e.find(name)
	if i < 0 || e.file.Embedders[i].Previous == nil {
		return
	}
	e.file.Embedders[i].Previous = nil
	if err := e.write(); err != nil {
		e.options.Logger.Warn("after a restart vectors are switched once more", "error", err)
	}
}

// awaited reports whether searches use another embedder until one is complete.
func (e *Embedders) awaited(name string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.file.Former != "" && e.file.Standard == name
}

// complete is told when an embedder's vectors are complete: what searches used until then is over.
func (e *Embedders) complete(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.file.Former == "" || e.file.Standard != name {
		return
	}
	before := e.file
	e.file.Former = ""
	if err := e.write(); err != nil {
		e.options.Logger.Warn("after a restart the former embedder answers once more", "embedder", before.Former, "error", err)
	}
	if err := e.changeBuiltin(before); err != nil {
		e.options.Logger.Warn("the former embedder stays in use", "embedder", before.Former, "error", err)
	}
	e.options.Logger.Info("searches use another embedder", "embedder", name, "former", before.Former)
}

// find is the position of an embedder in the file; -1: there is none. The caller holds mu.
func (e *Embedders) find(name string) int {
	return slices.IndexFunc(e.file.Embedders, func(x entry) bool { return x.Name == name })
}

// State is an embedder, and how far it is.
type State struct {
	Config
	Standard   bool `json:"standard"`
	Generation int  `json:"generation"`
	Vectors    int  `json:"vectors"`
	Waiting    int  `json:"waiting"`
	Refused    int  `json:"refused,omitempty"`
	Making     int  `json:"making,omitempty"` // new vectors so far, while the old ones serve, or the former embedder
	// Until names the embedder that searches use until this one's vectors are complete; empty: none.
	Until string `json:"until,omitempty"`
	Error string `json:"error,omitempty"`
}

// States lists the embedders.
func (e *Embedders) States() []State {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := []State{}
	for _, x := range e.listed() {
		s := State{Config: x.Config, Generation: x.Generation, Standard: x.Name == e.chosen()}
		if s.Standard && e.standard() != x.Name {
			s.Until = e.standard()
		}
		if x.Kind == embed.Installed && !embed.IsFolder(e.folder(x.Config)) {
			s.Error = notInstalled(x.Config).Error()
		}
		for _, have := range e.keeper.Status() {
			if have.Name != x.Name {
				continue
			}
			s.Error = cmp.Or(s.Error, have.Error)
			if have.Making || s.Until != "" {
				s.Making, s.Waiting, s.Refused = have.Vectors, have.Waiting, have.Refused
				continue
			}
			s.Vectors = have.Vectors
			if x.Previous == nil {
				s.Waiting, s.Refused = have.Waiting, have.Refused
			}
		}
		list = append(list, s)
	}
	return list
}

// ForMemory are the vectors as a space knows them.
func (e *Embedders) ForMemory() memory.Vectors { return vectors{e.keeper} }

// vectors is the keeper as a space knows it.
type vectors struct{ *semantic.Keeper }

func (v vectors) Embedders() []memory.Embedder {
	var list []memory.Embedder
	for _, s := range v.Status() {
		list = append(list, memory.Embedder(s))
	}
	return list
}

// Rebuildable names the standard embedder, whose vectors families may have made again, and how many it has.
func (e *Embedders) Rebuildable() (name string, vectors int, err error) {
	for _, s := range e.States() {
		name = s.Name
		switch {
		case !s.Standard:
			continue
		case s.Until != "":
			return "", 0, &abi.Error{Code: abi.CodeUnavailable, Retryable: true, Message: fmt.Sprintf("the vectors of embedder %s are being made: %d so far", name, s.Making)}
		case s.Kind == embed.Given:
			return "", 0, &abi.Error{Code: abi.CodeUnavailable, Message: fmt.Sprintf("the vectors of embedder %s come with the documents: they cannot be made again", name)}
		case s.Kind == embed.Builtin: // its vectors are made as texts are stored, and never differ
			return name, 0, nil
		case s.Making > 0:
			return "", 0, &abi.Error{Code: abi.CodeUnavailable, Retryable: true, Message: fmt.Sprintf("the vectors of embedder %s are being made again: %d so far", name, s.Making)}
		}
		return name, s.Vectors, nil
	}
	return "", 0, &abi.Error{Code: abi.CodeUnavailable, Message: "no embedder is configured: the operator can, with alcove embedder set"}
}

// Rebuild makes all vectors of an embedder anew.
func (e *Embedders) Rebuild(_ context.Context, name string) error { return e.Regenerate(name) }

// Embed makes vectors of texts with the standard embedder, for families. A text of which it knows no word gets zeros.
func (e *Embedders) Embed(ctx context.Context, texts []string, purpose string) (model string, list [][]float32, err error) {
	model = e.keeper.Standard()
	if model == "" {
		return "", nil, &abi.Error{Code: abi.CodeUnavailable, Message: "no embedder is configured: the operator can, with alcove embedder set"}
	}
	embed := e.keeper.Texts
	if purpose == "query" {
		embed = e.keeper.Questions
	}
	list, err = embed(ctx, model, texts)
	if err != nil {
		return "", nil, &abi.Error{Code: abi.CodeUnavailable, Retryable: true, Message: err.Error()}
	}
	for i, v := range list {
		if len(v) == 0 {
			list[i] = make([]float32, e.keeper.Dimensions(model))
		}
	}
	return model, list, nil
}
