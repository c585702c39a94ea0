package postgres

import (
	"bytes"
	"container/list"
	"slices"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

const (
	defaultCached   = 32 << 20
	defaultOwnedFor = time.Second

	cachedMost  = 64 << 10 // bytes of a value that is kept
	cachedViews = 8        // of one key
	cachedCost  = 256      // bytes that an entry takes beside its key, value and lineage
)

// room bounds what caches keep together. What was not used for the longest time makes room.
type room struct {
	mu    sync.Mutex
	order list.List // of *cachedKey, the last used first
	bytes int
	most  int

	ownedFor time.Duration // how long what is kept counts after the database said whose the space is
}

// cache keeps entries as lineages see them at the head, so that what is read again is not asked of the database. Only an engine that writes has
// one: commits of others do not take effect, and its own replace here what they change, at the same moment as the head. Whatever else changes the
// space empties it: a purge, a trim, a commit whose outcome was unknown. A space may be taken over without a word, and be purged then: what is here
// counts for a moment after the database said that it was not.
type cache struct {
	room      *room
	confirmed time.Time // when the space was this engine's
	ended     bool      // another engine has the space
	keys      map[string]*cachedKey
	reads     map[string]*cacheRead // of keys that are being read
}

// cachedKey is a key with what lineages see of it.
type cachedKey struct {
	cache *cache
	key   string // encoded
	views []cachedView
	bytes int
	place *list.Element
}

// cachedView is what a lineage sees of a key; a zero entry: nothing.
type cachedView struct {
	lineage store.Lineage // nil: the entry is the newest of its branch
	entry   store.Entry
}

func (v cachedView) serves(l store.Lineage) bool {
	if v.lineage == nil {
		return v.entry.Branch == l[0].Branch && l[0].At >= v.entry.Version
	}
	return slices.Equal(v.lineage, l)
}

// cacheRead is a read of a key from the database. If it is changed meanwhile, what was read is not kept.
type cacheRead struct {
	readers int
	changed bool
}

func newCache(r *room) *cache {
	return &cache{room: r, keys: map[string]*cachedKey{}, reads: map[string]*cacheRead{}}
}

// confirm notes that the space was this engine's at an instant.
func (c *cache) confirm(at time.Time) {
	c.room.mu.Lock()
	defer c.room.mu.Unlock()
	if at.After(c.confirmed) {
		c.confirmed = at
	}
}

// end empties the cache for good.
func (c *cache) end() {
	c.clear()
	c.room.mu.Lock()
	defer c.room.mu.Unlock()
	c.ended = true
}

// clear empties the cache.
func (c *cache) clear() {
	c.room.mu.Lock()
	defer c.room.mu.Unlock()
	for _, k := range c.keys {
		k.drop()
	}
	for key, r := range c.reads {
		r.changed = true
		delete(c.reads, key)
	}
}

// lookup is what a cache has of some keys, and what it takes of the others once they are read.
type lookup struct {
	cache   *cache
	found   []store.Entry // of each key; zero if missing
	missing []int
	reads   []*cacheRead // of those that are missing
	stale   bool         // the database is to be asked whose the space is
}

// lookUp looks for keys that a lineage sees at the head, which does not change meanwhile. The caller calls end.
func (c *cache) lookUp(l store.Lineage, keys [][]byte) *lookup {
	c.room.mu.Lock()
	defer c.room.mu.Unlock()
	at := &lookup{cache: c, found: make([]store.Entry, len(keys)), stale: c.ended || time.Since(c.confirmed) > c.room.ownedFor}
	for i, key := range keys {
		if k := c.keys[string(key)]; k != nil && !at.stale && len(l) > 0 {
			if n := slices.IndexFunc(k.views, func(v cachedView) bool { return v.serves(l) }); n >= 0 {
				c.room.order.MoveToFront(k.place)
				at.found[i] = k.views[n].entry
				continue
			}
		}
		r := c.reads[string(key)]
		if r == nil {
			r = &cacheRead{}
			c.reads[string(key)] = r
		}
		r.readers++
		at.missing, at.reads = append(at.missing, i), append(at.reads, r)
	}
	return at
}

// end takes what was read of the missing keys at a head, or, without entries, nothing.
func (at *lookup) end(l store.Lineage, keys [][]byte, entries []store.Entry, head uint64) {
	c := at.cache
	c.room.mu.Lock()
	defer c.room.mu.Unlock()
	for n, i := range at.missing {
		r, key := at.reads[n], string(keys[i])
		if entries != nil && !r.changed && len(l) > 0 {
			v := cachedView{lineage: slices.Clone(l), entry: entries[n]}
			if v.entry.Version != 0 && v.entry.Branch == l[0].Branch && l[0].At >= head {
				v.lineage = nil
			}
			c.keep(key, v)
		}
		if r.readers--; r.readers == 0 && c.reads[key] == r {
			delete(c.reads, key)
		}
	}
}

// write takes the entries of a commit, of which the head is announced at the same moment.
func (c *cache) write(entries []entryLine) {
	c.room.mu.Lock()
	defer c.room.mu.Unlock()
	for i, l := range entries {
		if r := c.reads[l.key]; r != nil {
			r.changed = true
			delete(c.reads, l.key)
		}
		if k := c.keys[l.key]; k != nil {
			k.drop()
		}
		if i+1 < len(entries) && entries[i+1].place == l.place { // a newer version follows
			continue
		}
		if e, err := l.entry(); err == nil {
			c.keep(l.key, cachedView{entry: e})
		}
	}
}

// keep adds a view. The caller holds the room.
func (c *cache) keep(key string, v cachedView) {
	if c.ended || len(v.entry.Value) > cachedMost {
		return
	}
	v.entry.Value = bytes.Clone(v.entry.Value)
	k := c.keys[key]
	if k == nil {
		k = &cachedKey{cache: c, key: key}
		k.place = c.room.order.PushFront(k)
		c.keys[key] = k
	}
	k.views = append(slices.DeleteFunc(k.views, func(other cachedView) bool {
		return slices.Equal(other.lineage, v.lineage) && other.entry.Branch == v.entry.Branch
	}), v)
	k.views = k.views[max(0, len(k.views)-cachedViews):]
	c.room.bytes -= k.bytes
	k.bytes = len(key)
	for _, v := range k.views {
		k.bytes += cachedCost + len(key) + len(v.entry.Value) + 16*len(v.lineage)
	}
	for c.room.bytes += k.bytes; c.room.bytes > c.room.most; {
		c.room.order.Back().Value.(*cachedKey).drop()
	}
}

// drop forgets a key. The caller holds the room.
func (k *cachedKey) drop() {
	k.cache.room.order.Remove(k.place)
	k.cache.room.bytes -= k.bytes
	delete(k.cache.keys, k.key)
}
