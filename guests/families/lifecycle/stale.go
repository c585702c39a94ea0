package lifecycle

import (
	"cmp"
	"slices"

	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// ListStaleFacts lists memories that are worth pruning, and why.
//
// A memory is stale that is older than olderThanDays, no more important than maxImportance, and was recalled no more than maxAccess times;
// without these parameters prune_age_days, prune_max_importance and prune_max_access_count decide. Without any of them what is superseded is
// stale after 30 days, too; so is what is idle and unimportant as compared with the other memories of the namespace, and what was for a day
// or a week that has passed. Memories that are never forgotten are not listed. forgetScore is compared with forget_threshold by the daily job; the most forgotten of a page come first. Nothing changes.
//
//alcove:camel
//alcove:title List stale memories
//alcove:description List stale memories worth pruning: old, unimportant, hardly used; with reasons.
//alcove:tool read-only
//alcove:alias memory_find_stale
type ListStaleFacts struct {
	OlderThanDays *float64 `alcove:"min=0"`
	MaxImportance *float64 `alcove:"min=0,max=1"`
	MaxAccess     *int64   `alcove:"min=0"`
	Limit         int      `alcove:"default=100"`
	Cursor        string
}

//alcove:camel
type staleFacts struct {
	Facts      []staleFact
	Truncated  bool   `json:"truncated,omitzero"`
	NextCursor string `json:"next_cursor,omitzero"`
}

//alcove:camel
type staleFact struct {
	FactID      alcove.ID
	Content     string
	FactType    string `json:"factType,omitzero"`
	ForgetScore float64
	Relevance   float64
	Importance  float64
	AgeDays     float64
	Accesses    int64
	Reasons     []string
}

// mostListed is how many memories one call lists.
const mostListed = 1000

// mostShown is how much of a memory is shown, in bytes.
const mostShown = 200

// Call lists them, page by page from the oldest.
func (in ListStaleFacts) Call(c *alcove.Call, cfg Config) (out staleFacts, err error) {
	age, importance, accesses := or(in.OlderThanDays, cfg.PruneAgeDays), or(in.MaxImportance, cfg.PruneMaxImportance), or(in.MaxAccess, cfg.PruneMaxAccessCount)
	in.Limit = min(max(in.Limit, 1), mostListed)
	j, err := newJudge(c, cfg, "")
	if err != nil {
		return out, err
	}
	filter := &alcove.MemoryFilter{States: []string{active}, CreatedUntil: before(c.Time(), age)}
	relative := in.OlderThanDays == nil && in.MaxImportance == nil && in.MaxAccess == nil
	var among spread
	if relative {
		filter.CreatedUntil = before(c.Time(), min(age, young))
		if among, err = j.spread(c); err != nil {
			return out, err
		}
	} else if accesses < 1<<31 {
		filter.MaxAccesses = new(int(accesses))
	}
	r := alcove.MemoryListRequest{Filter: filter, Order: "oldest", Limit: min(in.Limit, page), After: in.Cursor, Counters: true, Created: true}
	for {
		found, err := c.MemoryList(r)
		if err != nil {
			return out, err
		}
		for i := range found.Memories {
			m := &found.Memories[i]
			v := j.of(m)
			reasons, stale := v.reasons(), !v.Kept && v.Importance <= importance && v.Days > age && v.Accesses <= accesses
			if more := among.reasons(m, &v); relative && !stale && !v.Kept {
				reasons, stale = append(reasons, more...), len(more) > 0 || v.Superseded && v.Days > young
			}
			if stale {
				out.Facts = append(out.Facts, staleFact{m.ID(), words.Text(m.Value, mostShown), m.Type, v.Score, v.Relevance, v.Importance, v.Days, v.Accesses, reasons})
			}
		}
		if r.After = found.Next; r.After == "" || len(out.Facts)+r.Limit > in.Limit {
			break
		}
	}
	out.NextCursor, out.Truncated = r.After, r.After != ""
	slices.SortStableFunc(out.Facts, func(a, b staleFact) int { return cmp.Compare(b.ForgetScore, a.ForgetScore) })
	return out, nil
}

func or[T any](v *T, otherwise T) T {
	if v != nil {
		return *v
	}
	return otherwise
}

// before is the instant some days ago, as the host takes it.
func before(now alcove.Time, days float64) string {
	return now.Add(-alcove.Duration(min(days, mostDays) * float64(alcove.Day))).String()
}

// mostDays is the longest time that is counted in days.
const mostDays = 100_000
