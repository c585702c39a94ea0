package retrieval

import (
	"slices"

	"github.com/alcove-memory/alcove/guests/lib/fact"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// RecordRecallUsage says which recalled facts were used. Each of them is rated once for a recall: used facts gain, and unused ones are weak
// evidence against. recallId is that of memory_record_recall, or of memory_recall with a query.
//
//alcove:description Say which recalled facts were used.
//alcove:tool idempotent
//alcove:title Record what was used
//alcove:camel
type RecordRecallUsage struct {
	RecallID      alcove.ID   `alcove:"required"`
	UsedFactIDs   []alcove.ID `alcove:"name=usedFactIds,required,max=1000"`
	UnusedFactIDs []alcove.ID `alcove:"name=unusedFactIds,max=1000"`
}

// Rated is how many facts were rated.
type Rated struct{ Updated int }

// Call records what was used, and rates it.
func (in RecordRecallUsage) Call(c *alcove.Call, cfg Config) (out Rated, err error) {
	r, err := recallOf(c, in.RecallID)
	if err != nil {
		return out, err
	}
	values := map[alcove.ID]float64{}
	for _, id := range in.UnusedFactIDs {
		r.judge(within(c, id), &r.Unused, values, cfg.UnusedValue)
	}
	for _, id := range in.UsedFactIDs {
		r.judge(within(c, id), &r.Used, values, 1)
	}
	if err := recalls.In(in.RecallID.Namespace).Put(c, in.RecallID.Key, *r); err != nil {
		return out, err
	}
	rated, err := fact.Rate(c, values, cfg.OutcomeAlpha)
	out.Updated = len(rated)
	return out, err
}

// judge adds a fact to those that were used, or were not, with its value, unless it was judged before.
func (r *Recall) judge(id alcove.ID, list *[]alcove.ID, values map[alcove.ID]float64, value float64) {
	if slices.Contains(r.Used, id) || slices.Contains(r.Unused, id) {
		return
	}
	*list = append(*list, id)
	values[id] = value
}

// recallOf is a recall that was recorded here, or by the core.
func recallOf(c *alcove.Call, id alcove.ID) (*Recall, error) {
	r, found, err := recalls.In(id.Namespace).Get(c, id.Key)
	if err != nil {
		return nil, err
	}
	if found && !r.Archived() {
		return &r, nil
	}
	if found {
		return nil, alcove.Errorf(alcove.NotFound, "the recall %q was deleted", id.Key)
	}
	return ofCore(c, id.Key)
}

// ofCore is a recall that the core recorded.
func ofCore(c *alcove.Call, id string) (*Recall, error) {
	found, err := c.RecallGet(alcove.RecallGetRequest{RecallID: id})
	switch alcove.CodeOf(err) {
	case "":
	case alcove.NotFound, alcove.InvalidArgument:
		return nil, alcove.Errorf(alcove.NotFound, "there is no recall %q: give the recallId of memory_record_recall, or of memory_recall with a query", id)
	default:
		return nil, err
	}
	r := &Recall{Query: found.Recall.Query, Agent: found.Recall.Agent}
	for _, f := range found.Recall.Facts {
		r.FactIDs = append(r.FactIDs, alcove.ID(f))
	}
	return r, nil
}
