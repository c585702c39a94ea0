package memory

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
)

// counter is one of the counters of a memory.
type counter int

const (
	accessCount counter = iota
	lastAccess
	health
)

// of is a counter's value, as a number in the same order; 0 without counts.
func (c counter) of(r countRecord) int64 {
	switch c {
	case accessCount:
		return r.Accesses
	case lastAccess:
		return r.Last
	}
	return sortable(r.Health)
}

// sortable maps numbers to integers in the same order, and 0 to 0.
func sortable(n float64) int64 {
	bits := int64(math.Float64bits(n + 0)) // -0 + 0 is 0
	if bits < 0 {
		return bits ^ math.MaxInt64
	}
	return bits
}

// sortedBy identifies sorted counters of a column.
type sortedBy struct {
	namespace string
	counter   counter
}

// sortedCounters are the keys of a namespace by a counter, greatest first, and then by themselves.
type sortedCounters struct {
	list    []countedKey
	changed map[string]bool // since the list was sorted
}

type countedKey struct {
	value  int64
	key    string
	counts countRecord
}

func (k countedKey) compare(o countedKey) int {
	return cmp.Or(cmp.Compare(o.value, k.value), strings.Compare(k.key, o.key))
}

// mostChanged is how many keys may have changed, beside a sixteenth, before counters are sorted again.
const mostChanged = 1024

// order returns the sorted counters of a namespace. The caller holds counting.writing.
func (c *countedColumn) order(by sortedBy) *sortedCounters {
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
func (n countedNow) fresh(by sortedBy) (list []countedKey, isFresh func(key string) bool) {
	changed := n.column.order(by).changed
	keys := maps.Clone(changed)
	for key := range n.waiting {
		if key.Collection == memories && key.Namespace == by.namespace {
			keys[key.Name] = true
		}
	}
	for key := range keys {
		r := n.of(by.namespace, key)
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

// size is how many keys between returns, or about.
func (n countedNow) size(namespace string, c counter, least, most int64) int {
	s := n.column.order(sortedBy{namespace, c})
	return len(within(s.list, least, most)) + len(s.changed) + len(n.waiting)
}

// between returns the keys of a namespace with a counter from least to most, in no order, with their counters.
func (n countedNow) between(namespace string, c counter, least, most int64) iter.Seq2[string, countRecord] {
	by := sortedBy{namespace, c}
	return func(yield func(string, countRecord) bool) {
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

// descending returns the keys of a namespace with a counter above 0, greatest first, behind a position, with their counters.
func (n countedNow) descending(namespace string, c counter, from *position) iter.Seq2[string, countRecord] {
	by := sortedBy{namespace, c}
	behind := func(list []countedKey) []countedKey {
		list = within(list, 1, math.MaxInt64)
		if from == nil {
			return list
		}
		at, found := slices.BinarySearchFunc(list, countedKey{value: from.value, key: from.key}, countedKey.compare)
		if found {
			at++
		}
		return list[at:]
	}
	return func(yield func(string, countRecord) bool) {
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
