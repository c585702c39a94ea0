package facts

import (
	"cmp"
	"slices"

	"github.com/alcove-memory/alcove/guests/lib/fact"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Digest tells what is stored: counts, topics, collections, and a page of memories, newest first. Types are counted exactly; tags and
// collections are those of the newest 1,000 memories.
//
//alcove:description Overview of all: counts, topics, collections, a page of memories.
//alcove:tool read-only
//alcove:title What is stored
type Digest struct {
	Limit  int `alcove:"default=10,max=50,alias=k"`
	Offset int `alcove:"max=900"`
}

// Inventory is what is stored.
type Inventory struct {
	Total       int
	ByType      map[string]int `json:"by_type"`
	Tags        []Named        // The most frequent first.
	Collections []Named
	Memories    []Brief
}

// Named is a tag or a collection, and how many memories have it.
type Named struct {
	Name  string
	Count int
}

// How many memories are looked at for tags and collections, and how many of these are listed.
const (
	mostLooked = 1_000
	mostNamed  = 20
	pageLooked = 200
)

// Call counts and lists.
func (in Digest) Call(c *alcove.Call) (out Inventory, err error) {
	if out.Total, err = count(c, nil); err != nil {
		return out, err
	}
	if out.ByType, err = byType(c, out.Total); err != nil {
		return out, err
	}
	tags, collections, seen := map[string]int{}, map[string]int{}, 0
	for m, err := range c.Memories(alcove.MemoryListRequest{Order: "newest", Limit: pageLooked, Counters: true, Filter: active()}) {
		if err != nil {
			return out, err
		}
		if seen >= in.Offset && len(out.Memories) < in.Limit {
			out.Memories = append(out.Memories, brief(m))
		}
		for _, tag := range m.Tags {
			tags[tag]++
		}
		if name, ok := m.Metadata[fact.Collection].Text(); ok && name != "" {
			collections[name]++
		}
		if seen++; seen == mostLooked {
			break
		}
	}
	out.Tags, out.Collections = frequent(tags), frequent(collections)
	return out, nil
}

// count counts active memories of some types; of any for nil.
func count(c *alcove.Call, types []string) (int, error) {
	filter := active()
	filter.Types = types
	page, err := c.MemoryList(alcove.MemoryListRequest{Count: "only", Filter: filter})
	if err != nil || page.Total == nil {
		return 0, err
	}
	return *page.Total, nil
}

// byType counts the memories of each type of facts, and the others.
func byType(c *alcove.Call, total int) (counts map[string]int, err error) {
	counts = map[string]int{}
	for _, kind := range factTypes() {
		n, err := count(c, []string{kind})
		if err != nil {
			return nil, err
		}
		if total -= n; n > 0 {
			counts[kind] = n
		}
	}
	if total > 0 {
		counts["other"] = total
	}
	return counts, nil
}

// frequent are the most frequent names, of equally frequent ones in the order of the alphabet.
func frequent(counts map[string]int) (list []Named) {
	for name, n := range counts {
		list = append(list, Named{name, n})
	}
	slices.SortFunc(list, func(a, b Named) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name)) })
	return list[:min(len(list), mostNamed)]
}
