package requestlog

import (
	"cmp"
	"slices"
	"time"
)

// Query selects entries. Empty fields select all.
type Query struct {
	Before time.Time `json:"before,omitzero"` // only older entries; zero: from the newest on
	Since  time.Time `json:"since,omitzero"`
	Limit  int       `json:"limit,omitempty"` // of entries; 0: 100
	Agent  string    `json:"agent,omitempty"`
	Key    string    `json:"key,omitempty"`
	Tool   string    `json:"tool,omitempty"`
	Family string    `json:"family,omitempty"`
	Failed bool      `json:"failed,omitempty"` // only calls that failed
}

func (q Query) selects(e Entry) bool {
	is := func(want, got string) bool { return want == "" || want == got }
	return (q.Before.IsZero() || e.Time.Before(q.Before)) && is(q.Agent, e.Agent) && is(q.Key, e.Key) && is(q.Tool, e.Tool) && is(q.Family, e.Family) &&
		(!q.Failed || e.Outcome != Succeeded)
}

// Page is the newest entries that a query selects, newest first.
type Page struct {
	Entries []Entry   `json:"entries"`
	Next    time.Time `json:"next,omitzero"` // Before of a query for older ones; zero: there are none
}

// Find reads the newest entries that a query selects from the log in a folder.
func Find(dir string, q Query) (Page, error) {
	list, err := ReadSince(dir, q.Since)
	if err != nil {
		return Page{}, err
	}
	list = slices.DeleteFunc(list, func(e Entry) bool { return !q.selects(e) })
	slices.Reverse(list)
	slices.SortStableFunc(list, func(a, b Entry) int { return b.Time.Compare(a.Time) }) // calls that run at once end in any order
	p := Page{Entries: append([]Entry{}, list...)}
	if limit := cmp.Or(q.Limit, 100); len(list) > limit {
		for limit < len(list) && list[limit].Time.Equal(list[limit-1].Time) { // or the next page would leave them out
			limit++
		}
		p.Entries = p.Entries[:limit]
		if limit < len(list) {
			p.Next = list[limit-1].Time
		}
	}
	return p, nil
}
