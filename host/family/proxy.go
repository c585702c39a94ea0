package family

import (
	"context"
	"encoding/json"
	"sync/atomic"

	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/hooks"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/feed"
)

// Proxy passes on to families what a space, its embedders and its tools ask of them. These are made first, since families need them; until
// New has made the families, a Proxy answers that there are none.
type Proxy struct {
	until    memory.Hooks // nil: none
	families atomic.Pointer[Families]
	made     chan struct{} // closed when there are families
}

// NewProxy returns a proxy whose hooks are others, or none if nil, until there are families.
func NewProxy(until memory.Hooks) *Proxy { return &Proxy{until: until, made: make(chan struct{})} }

// pass passes everything on to families from now on. New calls it before their jobs begin.
func (p *Proxy) pass(f *Families) {
	p.families.Store(f)
	close(p.made)
}

// Families returns the families; nil: there are none.
func (p *Proxy) Families() *Families { return p.families.Load() }

// Hooks returns the hooks now; nil: there are none. It is a memory.Options.Hooks.
func (p *Proxy) Hooks() memory.Hooks {
	if f := p.Families(); f != nil {
		return f.hooks
	}
	return p.until
}

// IsPrivate reports whether only the family of a collection, as FAMILY/NAME, sees its records. Without families nobody sees any.
func (p *Proxy) IsPrivate(collection string) bool {
	f := p.Families()
	return f == nil || f.isPrivate(collection)
}

// Synced returns the collections whose records may be exchanged with other spaces.
func (p *Proxy) Synced() []memory.SyncedCollection {
	if f := p.Families(); f != nil {
		return f.synced()
	}
	return nil
}

// FeedLimits returns the limits of feeds; without families, the defaults.
func (p *Proxy) FeedLimits(ctx context.Context) (feed.Limits, error) {
	if f := p.Families(); f != nil {
		return f.feedLimits(ctx)
	}
	return feed.Limits{}, nil
}

// EmbedderOf returns what a family embeds with; false: it does not embed.
func (p *Proxy) EmbedderOf(name string) (hooks.Embedder, bool) {
	if f := p.Families(); f != nil {
		return f.hooks.EmbedderOf(name)
	}
	return hooks.Embedder{}, false
}

// All lists the families by name.
func (p *Proxy) All() []catalogue.Described {
	if f := p.Families(); f != nil {
		return f.All()
	}
	return nil
}

// Changed returns a channel that is closed when the result of All changes.
func (p *Proxy) Changed() <-chan struct{} {
	if f := p.Families(); f != nil {
		return f.Changed()
	}
	return p.made
}

// Load makes a family ready for calls.
func (p *Proxy) Load(ctx context.Context, name string) error {
	if f := p.Families(); f != nil {
		return f.Load(ctx, name)
	}
	return catalogue.NotFound("family", name, nil)
}

// ValuesOf returns the values of a family's settings; without families, none.
func (p *Proxy) ValuesOf(ctx context.Context, name, namespace, agent string) (map[string]json.RawMessage, error) {
	if f := p.Families(); f != nil {
		return f.valuesOf(ctx, name, namespace, agent)
	}
	return nil, nil
}
