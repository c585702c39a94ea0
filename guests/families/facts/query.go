package facts

import (
	"github.com/alcove-memory/alcove/guests/lib/fact"
	"github.com/alcove-memory/alcove/guests/lib/moment"
	"github.com/alcove-memory/alcove/guests/lib/score"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// QueryFacts lists facts by fields, without text search. createdBy is the agent of the newest version. importance is the stored
// one, by which minImportance and the order go; effectiveImportance is that with what use and feedback added.
//
//alcove:description List facts by fields, without text search.
//alcove:tool read-only
//alcove:title List facts
//alcove:camel
type QueryFacts struct {
	FactType      []string     `alcove:"alias=type"` // decision, observation, plan, error, insight, correction, steering_rule, learning, session_summary or note.
	Tags          []string     // All of them.
	CreatedBy     string       `alcove:"advanced,alias=agent"`
	State         string       `alcove:"advanced,default=active,enum=active|archived|merged|pruned"`
	MinImportance *float64     // 0 to 1.
	DateRange     moment.Range `alcove:"opaque"` // Of the creation: start and end, in milliseconds since 1970, or as instants, dates, or spans such as 7 days ago.
	Order         string       `alcove:"default=newest,enum=newest|importance|accessed"`
	Limit         int          `alcove:"default=50,max=200,alias=k"`
	Cursor        string
}

// Page is a page of facts.
type Page struct {
	Facts      []fact.Fact
	NextCursor string `json:"next_cursor,omitzero"`
	Truncated  bool   `json:"truncated,omitzero"` // There are more.
}

// Call lists the facts.
func (in QueryFacts) Call(c *alcove.Call) (out Page, err error) {
	list := alcove.MemoryListRequest{Order: in.Order, Limit: max(in.Limit, 1), After: in.Cursor, Counters: true, Filter: &alcove.MemoryFilter{
		Types: in.FactType, States: []string{in.State}, Tags: in.Tags, MinImportance: in.MinImportance,
	}}
	if len(in.FactType) == 0 {
		list.Filter.Types = factTypes()
	}
	if in.CreatedBy != "" {
		list.Filter.Writers = []string{in.CreatedBy}
	}
	if list.Filter.CreatedSince, list.Filter.CreatedUntil, err = in.DateRange.Moments(c); err != nil {
		return out, err
	}
	page, err := c.MemoryList(list)
	if err != nil {
		return out, err
	}
	for i := range page.Memories {
		out.Facts = append(out.Facts, fact.Of(&page.Memories[i]))
	}
	out.NextCursor, out.Truncated = page.Next, page.Next != ""
	return out, nil
}

func factTypes() []string {
	all := score.Types()
	return all[:len(all)-1]
}
