package memory

import (
	"cmp"
	"math"
	"time"

	"github.com/alcove-memory/alcove/host/memory/counters"
	"github.com/alcove-memory/alcove/host/search"
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

// value returns the sort value of a memory, greatest first.
func (o Order) value(c *search.Columns, counted counters.Record) int64 {
	switch o {
	case ByNewest:
		return c.Created
	case ByOldest:
		return -c.Created
	case ByUpdate:
		return c.Updated
	case ByImportance:
		return search.SortImportance(c.Importance)
	case ByAccesses:
		return counted.Accesses
	case ByAccess:
		return counted.Last
	}
	return 0
}

// Range is a range of numbers, inclusive. A nil end is open.
type Range[T cmp.Ordered] struct {
	Min, Max *T
}

func (r Range[T]) isZero() bool { return r.Min == nil && r.Max == nil }

func (r Range[T]) has(n T) bool {
	return (r.Min == nil || n >= *r.Min) && (r.Max == nil || n <= *r.Max)
}

// check refuses a range whose ends are out of bounds or in the wrong order.
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

// Expiry says whether a read sees expired memories. They stay in the store until they are deleted or rewritten.
type Expiry = search.Expiry

// The treatments of expired memories.
const (
	HideExpired = search.Unexpired
	WithExpired = search.AnyExpiry
	OnlyExpired = search.Expired
)

// Span is a span of time: from Since on, and before Until. A zero end is open.
type Span = search.Span

// Filter selects memories by their fields; the zero Filter selects all unexpired ones. All conditions must hold.
type Filter struct {
	Prefix  string   // of the key
	Types   []string // one of these
	States  []State  // one of these
	Writers []string // authors of the newest version, as answers name agents; family:NAME for a family without an agent; one of these
	Tags    []string // all of these
	AnyTags []string // one of these
	NoTags  []string // none of these

	Importance Range[float64] // excludes memories without importance
	Accesses   Range[int64]   // this and the two below: present counters
	Health     Range[float64]
	Accessed   Span // last recall; excludes memories never recalled
	Created    Span // the first version since its last deletion
	Updated    Span // the newest version
	Expiry     Expiry
	Fields     []FieldTest
}

// mostFieldTests bounds the field conditions of one filter.
const mostFieldTests = 16

// counts reports whether the filter tests counters.
func (f *Filter) counts() bool {
	return !f.Accesses.isZero() || !f.Health.isZero() || !f.Accessed.IsZero()
}

// admitsCounted tests the counters.
func (f *Filter) admitsCounted(r counters.Record) bool {
	return f.Accesses.has(r.Accesses) && f.Health.has(r.Health) && (f.Accessed.IsZero() || r.Last != 0 && f.Accessed.Has(r.Last))
}

// search checks the filter and converts it to one of the index.
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

// Counting says whether a listing counts all matches.
type Counting string

// Listing selects memories of a namespace by their fields.
type Listing struct {
	Namespace string // empty: Default
	Filter    Filter
	Order     Order    // empty: ByKey
	After     string   // Listed.Next of the previous page
	Limit     int      // 0: as many as allowed
	Count     Counting // empty: no count
	// Began is the base of relative bounds such as an hour ago: ListingBegan of After. It makes the pages' filters equal.
	Began time.Time
}

// Listed is a page of a listing.
type Listed struct {
	Memories []Memory
	Total    int    // if counted
	Next     string // continues the listing; empty at the end
}

// The ways to count.
const (
	CountAlso Counting = "also" // in addition to the page
	CountOnly Counting = "only" // without a page
)
