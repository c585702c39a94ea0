package counters

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/memory/record"
)

// Counter is one of the counters of a memory.
type Counter int

// The counters.
const (
	Accesses Counter = iota
	LastAccess
	Health
)

// of is a counter's value, as a number in the same order; 0 without counts.
func (c Counter) of(r Record) int64 {
	switch c {
	case Accesses:
		return r.Accesses
	case LastAccess:
		return r.Last
	}
	return SortHealth(r.Health)
}

// SortHealth maps numbers to integers in the same order, and 0 to 0.
func SortHealth(n float64) int64 {
	bits := int64(math.Float64bits(n + 0)) // -0 + 0 is 0
	if bits < 0 {
		return bits ^ math.MaxInt64
	}
	return bits
}

// sortedBy identifies sorted counters of a column.
type sortedBy struct {
	namespace string
	counter   Counter
}

// sortedCounters are the keys of a namespace by a counter, greatest first, and then by themselves.
type sortedCounters struct {
	list    []countedKey
	changed map[string]bool // since the list was sorted
}

type countedKey struct {
	value  int64
	key    string
	counts Record
}

func (k countedKey) compare(o countedKey) int {
	return cmp.Or(cmp.Compare(o.value, k.value), strings.Compare(k.key, o.key))
}

// mostChanged is how many keys may have changed, beside a sixteenth, before counters are sorted again.
const mostChanged = 1024

// order returns the sorted counters of a namespace. The caller holds Counting.writing.
func (c *column) order(by sortedBy) *sortedCounters {
	s := c.sorted[by]
	if s != nil && len(s.changed) <= mostChanged+len(s.list)/16 {
		return s
	}
	s = &sortedCounters{changed: map[string]bool{}}
	for key, r := range c.counted[by.namespace] {
		s.list = append(s.list, countedKey{by.counter.of(r), key, r})
	}
	slices.SortFunc(s.list, countedKey.compare)
	c.sorted[by] = s
	return s
}

// fresh are the keys whose present counters are not those of a sorted list, sorted.
func (n Present) fresh(by sortedBy) (list []countedKey, isFresh func(key string) bool) {
	changed := n.column.order(by).changed
	keys := maps.Clone(changed)
	for key := range n.waiting {
		if key.Collection == record.Memories && key.Namespace == by.namespace {
			keys[key.Name] = true
		}
	}
	for key := range keys {
		r := n.Of(by.namespace, key)
		list = append(list, countedKey{by.counter.of(r), key, r})
	}
	slices.SortFunc(list, countedKey.compare)
	return list, func(key string) bool { return keys[key] }
}

// within returns the keys of a sorted list with values from least to most.
func within(list []countedKey, least, most int64) []countedKey {
	from, _ := slices.BinarySearchFunc(list, most, func(k countedKey, most int64) int { return cmp.Compare(most, k.value) })
	to, _ := slices.BinarySearchFunc(list, least, func(k countedKey, least int64) int {
		if k.value >= least {
			return -1
		}
		return 1
	})
	return list[from:max(from, to)]
}

// Size is how many keys Between returns, or about.
func (n Present) Size(namespace string, c Counter, least, most int64) int {
	s := n.column.order(sortedBy{namespace, c})
	return len(within(s.list, least, most)) + len(s.changed) + len(n.waiting)
}

// Between returns the keys of a namespace with a counter from least to most, in no order, with their counters.
func (n Present) Between(namespace string, c Counter, least, most int64) iter.Seq2[string, Record] {
	by := sortedBy{namespace, c}
	return func(yield func(string, Record) bool) {
		fresh, isFresh := n.fresh(by)
		for _, k := range within(n.column.order(by).list, least, most) {
			if !isFresh(k.key) && !yield(k.key, k.counts) {
				return
			}
		}
		for _, k := range within(fresh, least, most) {
			if !yield(k.key, k.counts) {
				return
			}
		}
	}
}

// Place is a place among the keys of a namespace by a counter.
type Place struct {
	Value int64
	Key   string
}

// Descending returns the keys of a namespace with a counter above 0, greatest first, behind a position, with their counters.
func (n Present) Descending(namespace string, c Counter, from *Place) iter.Seq2[string, Record] {
	by := sortedBy{namespace, c}
	behind := func(list []countedKey) []countedKey {
		list = within(list, 1, math.MaxInt64)
		if from == nil {
			return list
		}
		at, found := slices.BinarySearchFunc(list, countedKey{value: from.Value, key: from.Key}, countedKey.compare)
		if found {
			at++
		}
		return list[at:]
	}
	return func(yield func(string, Record) bool) {
		fresh, isFresh := n.fresh(by)
		fresh = behind(fresh)
		for _, k := range behind(n.column.order(by).list) {
			if isFresh(k.key) {
				continue
			}
			for len(fresh) > 0 && fresh[0].compare(k) < 0 {
				if !yield(fresh[0].key, fresh[0].counts) {
					return
				}
				fresh = fresh[1:]
			}
			if !yield(k.key, k.counts) {
				return
			}
		}
		for _, k := range fresh {
			if !yield(k.key, k.counts) {
				return
			}
		}
	}
}
