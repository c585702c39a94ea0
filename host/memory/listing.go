package memory

import (
	"cmp"
	"math"

	"github.com/alcove-memory/alcove/host/search"
)

// Order is how a listing is ordered. Memories that are equal by it are in the order of their namespaces and keys.
type Order string

// The orders of a listing.
const (
	ByKey        Order = "key"
	ByNewest     Order = "newest"     // the last created first
	ByOldest     Order = "oldest"     // the first created first
	ByUpdate     Order = "updated"    // the last written first
	ByImportance Order = "importance" // the most important first, those without importance last
	ByAccesses   Order = "accesses"   // the most often recalled first
	ByAccess     Order = "accessed"   // the last recalled first, those that never were last
)

func (o Order) check() error {
	switch o {
	case "", ByKey, ByNewest, ByOldest, ByUpdate, ByImportance, ByAccesses, ByAccess:
		return nil
	}
	return invalid("order %q is not one of key, newest, oldest, updated, importance, accesses, accessed", clip(string(o), 64))
}

// counts reports whether the order is by counters.
func (o Order) counts() bool { return o == ByAccesses || o == ByAccess }

// value is what a memory is ordered by, the greatest first.
func (o Order) value(c *search.Columns, counted countRecord) int64 {
	switch o {
	case ByNewest:
		return c.Created
	case ByOldest:
		return -c.Created
	case ByUpdate:
		return c.Updated
	case ByImportance:
		if math.IsNaN(c.Importance) {
			return -1
		}
		return int64(math.Float64bits(c.Importance + 0)) // the bits of positive numbers are ordered as the numbers; -0 + 0 is 0
	case ByAccesses:
		return counted.Accesses
	case ByAccess:
		return counted.Last
	}
	return 0
}

// Range is a range of numbers, its ends included. A nil end is open.
type Range[T cmp.Ordered] struct {
	Min, Max *T
}

func (r Range[T]) isZero() bool { return r.Min == nil && r.Max == nil }

func (r Range[T]) has(n T) bool {
	return (r.Min == nil || n >= *r.Min) && (r.Max == nil || n <= *r.Max)
}

// check refuses a range whose ends are beyond bounds or in the wrong order.
func (r Range[T]) check(what string, least, most T) error {
	for _, end := range []*T{r.Min, r.Max} {
		if end != nil && !(*end >= least && *end <= most) {
			return invalid("filter: a bound of %s is %v: it goes from %v to %v", what, *end, least, most)
		}
	}
	if r.Min != nil && r.Max != nil && *r.Min > *r.Max {
		return invalid("filter: the range of %s begins at %v and ends at %v: nothing is in it", what, *r.Min, *r.Max)
	}
	return nil
}

// Expiry says whether a read sees memories that have expired. They stay in the store until they are deleted or written again.
type Expiry = search.Expiry

// The ways to see memories that have expired.
const (
	HideExpired = search.Unexpired
	WithExpired = search.AnyExpiry
	OnlyExpired = search.Expired
)

// Span is a span of time: from Since on, and before Until. A zero end is open.
type Span = search.Span

// Filter selects memories by their fields; the zero Filter selects all that have not expired. Its conditions apply together.
type Filter struct {
	Prefix  string   // the key begins with it
	Types   []string // one of these
	States  []State  // one of these
	Writers []string // wrote the newest version, as answers name agents; family:NAME for a family without an agent; one of these
	Tags    []string // all of these
	AnyTags []string // one of these
	NoTags  []string // none of these

	Importance Range[float64] // memories without importance are in no range
	Accesses   Range[int64]   // this and the two below: as counted until now
	Health     Range[float64]
	Accessed   Span // last recalled; memories that never were are in no span
	Created    Span // at the first version since it was last deleted
	Updated    Span // at the newest version
	Expiry     Expiry
	Fields     []FieldTest
}

// mostFieldTests bounds the conditions on fields of one filter.
const mostFieldTests = 16

// counts reports whether the filter is about counters.
func (f *Filter) counts() bool {
	return !f.Accesses.isZero() || !f.Health.isZero() || !f.Accessed.IsZero()
}

// admitsCounted tests what was counted.
func (f *Filter) admitsCounted(r countRecord) bool {
	return f.Accesses.has(r.Accesses) && f.Health.has(r.Health) && (f.Accessed.IsZero() || r.Last != 0 && f.Accessed.Has(r.Last))
}

// search checks the filter and makes one of an index of it.
func (f *Filter) search(l Limits) (search.Filter, error) {
	found := search.Filter{Prefix: f.Prefix, Types: f.Types, Agents: f.Writers, Tags: f.Tags, AnyTags: f.AnyTags, NoTags: f.NoTags,
		MinImportance: f.Importance.Min, MaxImportance: f.Importance.Max, Created: f.Created, Updated: f.Updated, Expiry: f.Expiry}
	if err := f.check(l); err != nil {
		return found, err
	}
	for _, state := range f.States {
		found.States = append(found.States, string(state))
	}
	for _, test := range f.Fields {
		t, err := l.fieldTest(test)
		if err != nil {
			return found, err
		}
		found.Fields = append(found.Fields, t)
	}
	return found, nil
}

func (f *Filter) check(l Limits) error {
	for _, list := range []struct {
		name  string
		items []string
		most  int // bytes of one
	}{{"types", f.Types, l.Tag}, {"writers", f.Writers, l.Key}, {"tags", f.Tags, l.Tag}, {"any_tags", f.AnyTags, l.Tag}, {"no_tags", f.NoTags, l.Tag}} {
		if err := l.checkFilterList(list.name, list.items, list.most); err != nil {
			return err
		}
	}
	if len(f.Fields) > mostFieldTests {
		return invalid("filter: fields has %d conditions: at most %d are allowed", len(f.Fields), mostFieldTests)
	}
	if len(f.States) > l.Tags {
		return invalid("filter: states has %d elements: at most %d are allowed", len(f.States), l.Tags)
	}
	for _, state := range f.States {
		if err := checkState(state); err != nil {
			return err
		}
	}
	for name, span := range map[string]Span{"created": f.Created, "updated": f.Updated, "accessed": f.Accessed} {
		if !span.Since.IsZero() && !span.Until.IsZero() && span.Since.After(span.Until) {
			return invalid("filter: %s begins at %s and ends before that, at %s", name, FormatTime(span.Since), FormatTime(span.Until))
		}
	}
	return cmp.Or(l.checkText("prefix", f.Prefix, l.Key), f.Importance.check("importance", 0, 1), f.Accesses.check("accesses", 0, math.MaxInt64), f.Health.check("health", -1, 1))
}

func (l Limits) checkFilterList(name string, items []string, most int) error {
	if len(items) > l.Tags {
		return invalid("filter: %s has %d elements: at most %d are allowed", name, len(items), l.Tags)
	}
	for _, item := range items {
		if err := l.checkText("filter: an element of "+name, item, most); err != nil {
			return err
		}
	}
	return nil
}
