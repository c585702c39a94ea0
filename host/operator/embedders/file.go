package embedders

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"

	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/host/search/embed"
	"github.com/alcove-memory/alcove/host/search/semantic"
	"github.com/alcove-memory/alcove/host/search/wordvec"
)

// File is the configuration file of the embedders, in a data directory. Only operators' acts write it.
const (
	File      = "embedders.json"
	FileLimit = 1 << 20 // bytes
)

// most bounds the number of embedders: each keeps vectors of everything.
const most = 8

// Config is an embedder as operators describe it.
type Config struct {
	embed.Config
	Weight float64 `json:"weight,omitempty"` // of vectors beside words, up to 1; 0: .5; negative: none
	// Threshold is the nearness below which a vector alone finds nothing; 0: none.
	Threshold float64 `json:"threshold,omitempty"`
	// NearWords is how much a word of a question counts, in searches by words, where only a word near to it is there: a
	// part of what it would count itself. Of a static model only; of several embedders that of the first. 0: nothing.
	NearWords float64 `json:"near_words,omitempty"`
	// Scale is what the model's cosines mean, as measured when it was set. Zero: it was not, and the ranking is by Weight.
	Scale semantic.Scale `json:"scale,omitzero"`
}

// check says what is wrong with a description.
func (c Config) check() error {
	if err := c.Check(); err != nil {
		return err
	}
	switch {
	case math.IsNaN(c.Weight) || c.Weight > 1:
		return fmt.Errorf("embedder %s: the weight of vectors is %g: at most 1", c.Name, c.Weight)
	case math.IsNaN(c.Threshold) || math.IsInf(c.Threshold, 0):
		return fmt.Errorf("embedder %s: the threshold is not a finite number", c.Name)
	case !(c.NearWords >= 0 && c.NearWords <= 1):
		return fmt.Errorf("embedder %s: the weight of near words is %g: give 0 to 1", c.Name, c.NearWords)
	case c.Scale != semantic.Scale{} && !(c.Scale.Discriminates() && c.Scale.Alike <= 1 && c.Scale.Unrelated >= -1):
		return fmt.Errorf("embedder %s: the scale goes from %g to %g: give cosines, of which the second is larger, or none to have them measured", c.Name, c.Scale.Unrelated, c.Scale.Alike)
	case c.NearWords > 0 && c.Kind != embed.Static && c.Kind != embed.Installed && c.Kind != embed.Builtin:
		return fmt.Errorf("embedder %s: only a static model has near words", c.Name)
	}
	return nil
}

// entry is an embedder as the file has it.
type entry struct {
	Config
	Generation int     `json:"generation,omitempty"` // counts how often all vectors were made anew
	Previous   *origin `json:"previous,omitempty"`   // whose vectors serve until the new ones are complete
}

// origin is what vectors came from.
type origin struct {
	Config
	Generation int `json:"generation,omitempty"`
}

// file is what the file holds.
type file struct {
	Standard    string             `json:"standard,omitempty"`
	Former      string             `json:"former,omitempty"`      // the embedder that searches use until the standard one's vectors are complete
	Lexical     bool               `json:"lexical,omitempty"`     // searches that name no embedder are by words
	Collections map[string]float64 `json:"collections,omitempty"` // weights of vectors in each, from 0 (none is embedded) to 1
	Embedders   []entry            `json:"embedders,omitempty"`
}

// inUse returns the embedders: those of the file, and the built-in one while it is in use.
func (f *file) inUse() []entry {
	if f.usesBuiltin() {
		return append(slices.Clone(f.Embedders), entry{Config: builtin()})
	}
	return f.Embedders
}

// usesBuiltin reports whether the built-in embedder is in use because the operator chose nothing else, or until what was chosen is
// complete.
func (f *file) usesBuiltin() bool {
	if f.Lexical || f.has(builtin().Name) {
		return false
	}
	return len(f.Embedders) == 0 || f.Former == builtin().Name
}

// standard names the embedder of searches that name none; empty: they are by words.
func (f *file) standard() string {
	switch {
	case f.Lexical:
		return ""
	case len(f.Embedders) == 0:
		return builtin().Name
	case f.Former != "" && (f.has(f.Former) || f.usesBuiltin()):
		return f.Former
	}
	return f.Standard
}

func (f *file) has(name string) bool {
	return slices.ContainsFunc(f.Embedders, func(x entry) bool { return x.Name == name })
}

// builtin describes the program's own embedder.
func builtin() Config {
	return Config{Config: embed.Config{Name: "builtin", Kind: embed.Builtin, Model: wordvec.Identity, Dimensions: wordvec.Dimensions}, NearWords: wordvec.NearWeight}
}

// ReadFile reads the configuration file in a data directory; nil: there is none.
func ReadFile(dir string) ([]byte, error) {
	data, err := regular.Read(filepath.Join(dir, File), FileLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the embedders: %w", err)
	}
	return data, nil
}

// Snapshot is the configuration file as it is between two changes; nil: there is none.
func (e *Embedders) Snapshot() ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return ReadFile(e.options.Dir)
}

// path is that of the configuration file.
func (e *Embedders) path() string { return filepath.Join(e.options.Dir, File) }

// read reads the configuration file, if there is one.
func (e *Embedders) read() error {
	raw, err := ReadFile(e.options.Dir)
	if raw == nil && err == nil {
		return nil
	}
	if err == nil {
		err = parse(raw, &e.file)
	}
	for _, x := range e.file.Embedders {
		if err == nil {
			err = x.check()
		}
	}
	if err != nil {
		return fmt.Errorf("read the embedders from %s: %w (restore the file from a copy, or delete it and add them again with alcove embedder set: "+
			"no memory is lost, and until then searches are by words)", e.path(), err)
	}
	return nil
}

// parse reads what the file holds, all of it: what was cut off or overwritten is an error.
func parse(raw []byte, into *file) error {
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
func (e *Embedders) write() error {
	raw, err := json.MarshalIndent(e.file, "", "  ")
	if err != nil {
		return fmt.Errorf("keep the embedders: %w", err)
	}
	write := e.options.Write
	if write == nil {
		write = func(path string, data []byte) error { return durable.WriteFile(path, data, 0o600) }
	}
	if err := write(e.path(), append(raw, '\n')); err != nil {
		return fmt.Errorf("keep the embedders: %w", err)
	}
	return nil
}
