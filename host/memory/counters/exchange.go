package counters

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// Mark tells how far another space has the counters of this one. Equal marks have the same counters.
type Mark string

// changed are the counters that were changed since a process began: they may be written as of earlier versions, by which nobody finds them.
type changed struct {
	began string               // tells processes apart
	n     uint64               // changes
	last  map[store.Key]uint64 // the last change of each key
	floor uint64               // what changed up to it is not in last
}

// mostNoted is how many keys are noted as changed; a space that has not asked for long lists all counters again.
const mostNoted = 100_000

// note notes changes of counters. The caller holds writing.
func (c *Counting) note(b *lineage.Branch, writes []store.CounterWrite) {
	if b.Name != c.o.First {
		return
	}
	if len(c.changed.last) > mostNoted {
		c.changed.last, c.changed.floor = map[store.Key]uint64{}, c.changed.n
	}
	for _, w := range writes {
		if w.Key.Collection == record.Memories {
			c.changed.n++
			c.changed.last[w.Key] = c.changed.n
		}
	}
}

// since returns the keys that changed after a mark, in the order of their changes; ok is false if that is not known.
func (c *changed) since(m Mark) (keys []store.Key, ok bool) {
	began, text, _ := strings.Cut(string(m), ".")
	after, err := strconv.ParseUint(text, 10, 64)
	if err != nil || began != c.began || after < c.floor {
		return nil, false
	}
	for key, n := range c.last {
		if n > after {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b store.Key) int { return cmp.Compare(c.last[a], c.last[b]) })
	return keys, true
}

func (c *changed) mark() Mark { return Mark(c.began + "." + strconv.FormatUint(c.n, 10)) }

// Replicated is what each replica counted of a memory.
type Replicated struct {
	Namespace string            `json:"namespace"`
	Key       string            `json:"key"`
	Counts    map[string]Record `json:"counts"`
}

func (r Replicated) key() store.Key {
	return store.Key{Namespace: r.Namespace, Collection: record.Memories, Name: r.Key}
}

// Collection has the counters by which spaces tell what they have of each other. They are in the catalogue's namespace.
const Collection = "_counted"

// sharedKey is set once another space may know what was counted here.
func sharedKey() store.Key {
	return store.Key{Namespace: lineage.Namespace, Collection: Collection, Name: "told"}
}

// Mark writes what is pending, and returns the present mark, for another space.
func (c *Counting) Mark(ctx context.Context, b *lineage.Branch) (Mark, error) {
	if err := c.Flush(ctx); err != nil {
		return "", err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	found, err := c.o.Engine.Counters(ctx, b.Lineage, []store.Key{sharedKey()})
	if err == nil && found[0] == nil && !c.o.ReadOnly {
		err = c.commit(ctx, b, []store.CounterWrite{{Branch: b.ID, Key: sharedKey(), Value: []byte("{}")}})
	}
	return c.changed.mark(), err
}

// Since lists counters of the branch that is exchanged, of keys that are wanted, which changed after a mark; at most limit are looked at. from
// is the mark, or next of the page before. next is empty at the end.
func (c *Counting) Since(ctx context.Context, b *lineage.Branch, from Mark, limit int, wants func(store.Key) bool) (list []Replicated, next Mark, err error) {
	c.writing.Lock()
	keys, noted := c.changed.since(from)
	if noted && len(keys) > limit {
		keys = keys[:limit]
		next = Mark(c.changed.began + "." + strconv.FormatUint(c.changed.last[keys[limit-1]], 10))
	}
	c.writing.Unlock()
	var page []store.Counted
	if noted {
		page, err = c.present(ctx, b, keys)
	} else {
		page, next, err = c.all(ctx, b, from, limit)
	}
	if err != nil {
		return nil, "", err
	}
	names := c.replicas()
	for _, counted := range page {
		if counted.Key.Collection != record.Memories || counted.Value == nil || !wants(counted.Key) {
			continue
		}
		s, err := decodeStored(counted.Value)
		if err != nil {
			return nil, "", err
		}
		one := Replicated{counted.Key.Namespace, counted.Key.Name, map[string]Record{}}
		maps.Copy(one.Counts, s.Others)
		if s.Record != (Record{}) && s.Incarnation >= 0 && s.Incarnation < len(names) {
			one.Counts[names[s.Incarnation]] = s.Record
		}
		list = append(list, one)
	}
	return list, next, nil
}

func (c *Counting) present(ctx context.Context, b *lineage.Branch, keys []store.Key) ([]store.Counted, error) {
	values, err := c.o.Engine.Counters(ctx, b.Lineage, keys)
	page := make([]store.Counted, len(values))
	for i, value := range values {
		page[i] = store.Counted{Key: keys[i], Value: value}
	}
	return page, err
}

// all is a page of all counters.
func (c *Counting) all(ctx context.Context, b *lineage.Branch, from Mark, limit int) ([]store.Counted, Mark, error) {
	cursor, err := c.opened(from)
	if err != nil {
		return nil, "", err
	}
	page, after, err := c.o.Engine.CountersOn(ctx, b.ID, 0, cursor, limit)
	if err != nil || after == "" {
		return page, "", err
	}
	return page, c.sealed(after), nil
}

// placed begins places between all counters.
const placed = "all."

// sealed hides a place between counters, which names a key, from those who may not see that. Only this process opens it.
func (c *Counting) sealed(cursor store.Cursor) Mark {
	return Mark(placed + c.seal.Seal([]byte(cursor)))
}

// opened is the reverse of sealed. A mark that is no place begins with the first counter.
func (c *Counting) opened(place Mark) (store.Cursor, error) {
	text, isPlace := strings.CutPrefix(string(place), placed)
	if !isPlace {
		return "", nil
	}
	cursor, ok := c.seal.Open(text)
	if !ok {
		return "", ErrPlace
	}
	return store.Cursor(cursor), nil
}

// ErrPlace is the error of a place between counters that this process did not give.
var ErrPlace = errors.New("the cursor is not from this server: begin at the first page")

// Join takes what other replicas counted, and with it counters of the space itself. It returns how many memories had news.
func (c *Counting) Join(ctx context.Context, b *lineage.Branch, list []Replicated, with ...store.CounterWrite) (news int, err error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	keys := make([]store.Key, len(list))
	for i, one := range list {
		keys[i] = one.key()
	}
	old, err := c.o.Engine.Counters(ctx, b.Lineage, keys)
	if err != nil {
		return 0, err
	}
	writes := with
	for i, one := range list {
		s, err := c.stored(b, old[i])
		if err != nil {
			return 0, err
		}
		if !c.join(&s, one.Counts) {
			continue
		}
		value, err := s.encode()
		if err != nil {
			return 0, err
		}
		writes = append(writes, store.CounterWrite{Branch: b.ID, Key: keys[i], Keep: c.keep(b), Value: value})
	}
	if len(writes) == 0 {
		return 0, nil
	}
	return len(writes) - len(with), c.commit(ctx, b, writes)
}

// join takes counts. Those of this replica come back only where they were lost here.
func (c *Counting) join(s *stored, counts map[string]Record) (news bool) {
	names := c.replicas()
	for replica, r := range counts {
		switch {
		case replica != names[len(names)-1]:
			news = s.join(replica, r) || news
		case r.compare(s.Record) > 0:
			s.Record, news = r, true
		}
	}
	return news
}
