package embedders

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/search/embed"
	"github.com/alcove-memory/alcove/host/search/semantic"
)

// SetRequest describes an embedder to add, or to change.
type SetRequest struct {
	Config
	Standard bool `json:"standard,omitempty"` // for searches that name none
}

// Set adds or changes an embedder, and returns it with its dimensions, for which it is asked for a vector if they are not given.
func (e *Embedders) Set(ctx context.Context, r SetRequest) (Config, error) {
	c := r.Config
	if err := c.check(); err != nil {
		return c, &memory.Error{Code: memory.InvalidArgument, Message: err.Error()}
	}
	e.forget(c)
	c, err := e.measured(ctx, c)
	if err != nil {
		return c, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	i := e.find(c.Name)
	if i < 0 && len(e.file.Embedders) >= most {
		return c, &memory.Error{Code: memory.Exhausted, Message: fmt.Sprintf("there are %d embedders already: remove one first", most)}
	}
	before, former := e.file, e.standard()
	e.file.Embedders = slices.Clone(e.file.Embedders)
	if i < 0 {
		e.file.Embedders = append(e.file.Embedders, entry{Config: c})
		i = len(e.file.Embedders) - 1
	} else {
		e.file.Embedders[i] = e.file.Embedders[i].changed(c, e.file.Embedders[i].Generation)
	}
	if r.Standard || e.file.Standard == "" && (!e.file.Lexical || len(e.file.Embedders) == 1) {
		e.file.choose(c, former)
	}
	return c, e.apply(before, i)
}

// Checked is what an embedder answered.
type Checked struct {
	Config         // with the model and dimensions that it has
	TookMS float64 `json:"took_ms"` // for one short text
}

// Check asks an embedder for a vector, whether it is known or only described, and changes nothing. A description without a kind is that of
// a known one.
func (e *Embedders) Check(ctx context.Context, c Config) (Checked, error) {
	if c.Kind == "" {
		known, err := e.known(c.Name)
		if err != nil {
			return Checked{}, err
		}
		c = known
	}
	if err := c.check(); err != nil {
		return Checked{}, &memory.Error{Code: memory.InvalidArgument, Message: err.Error()}
	}
	if c.Kind == embed.Given {
		return Checked{}, &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf("embedder %s: its vectors come with the texts: there is nothing to check", c.Name)}
	}
	if c.Kind == embed.Builtin {
		return Checked{Config: builtin()}, nil
	}
	if c.Kind == embed.Family {
		guest, err := e.guest(c)
		if err != nil {
			return Checked{}, err
		}
		c.Model = guest.Model
	}
	began := time.Now() // a span, which no clock that is given can tell
	n, err := e.probe(ctx, c)
	if err != nil {
		return Checked{}, fmt.Errorf("embedder %s gives no vector: %w", c.Name, err)
	}
	if c.Dimensions != 0 && c.Dimensions != n {
		return Checked{}, &memory.Error{Code: memory.Conflict, Message: fmt.Sprintf("embedder %s gives vectors of %d dimensions, not %d: alcove embedder set %s again, so that all are made anew", c.Name, n, c.Dimensions, c.Name)}
	}
	c.Dimensions = n
	return Checked{Config: c, TookMS: float64(time.Since(began).Microseconds()) / 1000}, nil
}

// known returns the description of an embedder in use.
func (e *Embedders) known(name string) (Config, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, x := range e.listed() {
		if x.Name == name {
			return x.Config, nil
		}
	}
	return Config{}, e.unknown(name)
}

// choose makes an embedder that of searches which name none, as soon as its vectors are complete: until then they use the former one.
func (f *file) choose(c Config, former string) {
	if f.Standard != c.Name {
		f.Former = former
	}
	if f.Former == c.Name || c.Kind == embed.Given { // given vectors are never complete
		f.Former = ""
	}
	f.Standard, f.Lexical = c.Name, false
}

// measured is a description with the dimensions of its vectors, and the model of a family that embeds.
func (e *Embedders) measured(ctx context.Context, c Config) (Config, error) {
	if c.Kind == embed.Builtin {
		c.Model, c.Dimensions = builtin().Model, builtin().Dimensions
	}
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
	return e.scaled(ctx, c), nil
}

// scaled is a description with the scale of its vectors, if they have one: not those of dot products, nor those that come with texts. An
// embedder that does not answer is ranked by weight until it is set again.
func (e *Embedders) scaled(ctx context.Context, c Config) Config {
	if c.Kind == embed.Builtin || c.Kind == embed.Given || c.Metric == "dot" || c.Scale.Discriminates() {
		return c
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	scale, err := semantic.MeasureScale(ctx, e.settings(c, 0))
	switch {
	case err != nil:
		e.options.Logger.Warn("the embedder's vectors are weighed without a scale until it is set again", "embedder", c.Name, "error", err)
	case scale.Discriminates():
		c.Scale = scale
	default:
		e.options.Logger.Warn("the embedder hardly tells answers from other texts, so its vectors are weighed without a scale", "embedder", c.Name, "unrelated", scale.Unrelated, "alike", scale.Alike)
	}
	return c
}

// changed is an embedder under another description, whose old vectors serve until the new ones are complete.
func (x entry) changed(c Config, generation int) entry {
	next := entry{Config: c, Generation: generation, Previous: x.Previous}
	if c.identity(generation) == x.identity(x.Generation) {
		return next
	}
	if next.Previous == nil {
		next.Previous = &origin{x.Config, x.Generation}
	}
	if next.Previous.identity(next.Previous.Generation) == c.identity(generation) {
		next.Previous = nil
	}
	return next
}

// apply keeps a change of entry i and lets it take effect; or takes the change back. The caller holds mu.
func (e *Embedders) apply(before file, i int) error {
	if err := e.write(); err != nil {
		e.file = before
		return err
	}
	e.attach()
	if err := e.keeper.Set(e.settings(e.file.Embedders[i].Config, e.file.Embedders[i].Generation)); err != nil {
		e.file = before
		return errors.Join(err, e.write())
	}
	return e.changeBuiltin(before)
}

// changeBuiltin lets the built-in embedder begin or end with the first or last of the others. The caller holds mu.
func (e *Embedders) changeBuiltin(before file) error {
	was, is := before.usesBuiltin() && !e.options.Lexical, e.file.usesBuiltin() && !e.options.Lexical
	var err error
	switch {
	case was && !is && e.find(builtin().Name) < 0:
		e.keeper.Drop(builtin().Name)
	case is && !was:
		e.attach()
		err = e.keeper.Set(e.settings(builtin(), 0))
	}
	e.keeper.SetStandard(e.standard())
	e.useNearWords()
	return err
}

// Regenerate makes all vectors of an embedder anew.
func (e *Embedders) Regenerate(name string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := e.find(name)
	if i < 0 && e.isBuiltin(name) {
		return &memory.Error{Code: memory.InvalidArgument, Message: "the vectors of the built-in embedder are made as texts are stored, and never differ: there is nothing to regenerate"}
	}
	if i < 0 {
		return e.unknown(name)
	}
	before := e.file
	e.forget(e.file.Embedders[i].Config)
	e.file.Embedders = slices.Clone(e.file.Embedders)
	e.file.Embedders[i] = e.file.Embedders[i].changed(e.file.Embedders[i].Config, e.file.Embedders[i].Generation+1)
	return e.apply(before, i)
}

func (e *Embedders) unknown(name string) error {
	return &memory.Error{Code: memory.NotFound, Message: fmt.Sprintf("there is no embedder %.80q: alcove embedder show lists them", name)}
}

// Remove forgets an embedder and its vectors.
func (e *Embedders) Remove(name string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := e.find(name)
	if i < 0 && e.isBuiltin(name) {
		chosen := e.file.Standard
		return e.choose(Choice{Standard: &chosen})
	}
	if i < 0 {
		return e.unknown(name)
	}
	before := e.file
	e.file.Embedders = slices.Delete(slices.Clone(e.file.Embedders), i, i+1)
	if e.file.Standard == name {
		e.file.Standard = ""
		if e.file.has(e.file.Former) {
			e.file.Standard = e.file.Former
		}
	}
	if e.file.Former == name || e.file.Former == e.file.Standard || e.file.Standard == "" {
		e.file.Former = ""
	}
	if err := e.write(); err != nil {
		e.file = before
		return err
	}
	e.keeper.Drop(name)
	return e.changeBuiltin(before)
}

// isBuiltin reports whether a name is that of the built-in embedder, and it is in use. The caller holds mu.
func (e *Embedders) isBuiltin(name string) bool {
	return name == builtin().Name && len(e.inUse()) > 0 && e.file.usesBuiltin()
}

// Choice is how embedders are used: the one of searches that name none, and the weight of vectors in collections. A nil field
// changes nothing.
type Choice struct {
	Standard    *string            `json:"standard,omitempty"` // empty: none, searches are by words
	Collections map[string]float64 `json:"collections,omitempty"`
}

// Choose changes how embedders are used.
func (e *Embedders) Choose(c Choice) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.choose(c)
}

// choose is Choose. The caller holds mu.
func (e *Embedders) choose(c Choice) error {
	back := c.Standard != nil && *c.Standard == builtin().Name && len(e.file.Embedders) == 0
	if c.Standard != nil && *c.Standard != "" && e.find(*c.Standard) < 0 && !back {
		return e.unknown(*c.Standard)
	}
	for collection, weight := range c.Collections {
		if !(weight >= 0 && weight <= 1) {
			return &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf("the weight of vectors in %.80q is %g: give 0 to 1", collection, weight)}
		}
	}
	before := e.file
	if c.Standard != nil {
		e.file.Standard, e.file.Lexical, e.file.Former = *c.Standard, *c.Standard == "", ""
		if back {
			e.file.Standard = ""
		}
	}
	e.file.Collections = maps.Clone(before.Collections)
	if e.file.Collections == nil {
		e.file.Collections = map[string]float64{}
	}
	maps.Copy(e.file.Collections, c.Collections)
	if err := e.write(); err != nil {
		e.file = before
		return err
	}
	e.setWeights()
	err := e.changeBuiltin(before)
	e.keeper.Recheck()
	return err
}

// adopt uses the embedder that the server was started with, as soon as it answers.
func (e *Embedders) adopt(c Config) {
	for wait := time.Second; e.ctx.Err() == nil; wait = min(2*wait, 5*time.Minute) {
		e.mu.Lock()
		if i := e.find(c.Name); i >= 0 && (c.Dimensions == 0 || c.Dimensions == e.file.Embedders[i].Dimensions) {
			as, same := e.file.Embedders[i], c
			if same.Dimensions, same.Scale = as.Dimensions, as.Scale; same.identity(as.Generation) == as.identity(as.Generation) {
				c = same // nothing to ask it for
			}
		}
		e.mu.Unlock()
		if _, err := e.Set(e.ctx, SetRequest{Config: c, Standard: true}); err == nil || e.ctx.Err() != nil {
			return
		} else {
			e.options.Logger.Warn("the embedder that the server was started with is not in use yet", "again", wait, "error", err)
		}
		select {
		case <-e.ctx.Done():
		case <-time.After(wait):
		}
	}
}
