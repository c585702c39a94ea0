package counters

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"errors"
	"maps"
	"strconv"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// Mark tells how far another space has the counters of this one. Equal marks have the same counters.
type Mark struct {
	Version uint64 `json:"version"`
	Token   string `json:"token"`
}

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

// told is set once another space may know what was counted here.
func told() store.Key {
	return store.Key{Namespace: lineage.Namespace, Collection: Collection, Name: "told"}
}

// Mark writes what is pending, and returns the present mark, for another space.
func (c *Counting) Mark(ctx context.Context, b *lineage.Branch) (Mark, error) {
	if err := c.Flush(ctx); err != nil {
		return Mark{}, err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	found, err := c.o.Engine.Counters(ctx, b.Lineage, []store.Key{told()})
	if err == nil && found[0] == nil && !c.o.ReadOnly {
		err = c.commit(ctx, b, []store.CounterWrite{{Branch: b.ID, Key: told(), Value: []byte("{}")}})
	}
	if err != nil {
		return Mark{}, err
	}
	head, err := c.o.Engine.Head(ctx)
	return Mark{head.Version, c.began + "." + strconv.FormatUint(c.changes, 10)}, err
}

// Since lists counters of the branch that is exchanged, which were written at a version or later, of keys that are wanted. next is empty at
// the end.
func (c *Counting) Since(ctx context.Context, b *lineage.Branch, version uint64, from []byte, limit int, wants func(store.Key) bool) (list []Replicated, next []byte, err error) {
	cursor, err := c.opened(from)
	if err != nil {
		return nil, nil, err
	}
	page, after, err := c.o.Engine.CountersOn(ctx, b.ID, max(version, 1)-1, cursor, limit)
	if err != nil {
		return nil, nil, err
	}
	if next, err = c.sealed(after); err != nil {
		return nil, nil, err
	}
	names := c.replicas()
	for _, counted := range page {
		if counted.Key.Collection != record.Memories || counted.Value == nil || !wants(counted.Key) {
			continue
		}
		s, err := decodeStored(counted.Value)
		if err != nil {
			return nil, nil, err
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

// sealed hides a place between counters, which names a key, from those who may not see that. Only this process opens it.
func (c *Counting) sealed(cursor store.Cursor) ([]byte, error) {
	if cursor == "" {
		return nil, nil
	}
	seal, err := c.seal()
	if err != nil {
		return nil, err
	}
	return seal.Seal(nil, nil, []byte(cursor), nil), nil
}

func (c *Counting) opened(place []byte) (store.Cursor, error) {
	if len(place) == 0 {
		return "", nil
	}
	seal, err := c.seal()
	if err != nil {
		return "", err
	}
	cursor, err := seal.Open(nil, nil, place, nil)
	if err != nil {
		return "", ErrPlace
	}
	return store.Cursor(cursor), nil
}

func (c *Counting) seal() (cipher.AEAD, error) {
	key := sha256.Sum256([]byte(c.began))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// ErrPlace is the error of a place between counters that this process did not give.
var ErrPlace = errors.New("the place to continue from is none that this server gave: begin at the first page")

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
