package audit

import (
	"cmp"
	"context"
	"slices"
	"time"
)

const (
	mostDenied = 10_000 // entries that one list of denials is made of
	mostAgents = 20     // that denials name
)

// Denials are refusals of an operation for the same reason.
type Denials struct {
	Family string    `json:"family,omitempty"` // empty: a client was refused
	Op     string    `json:"op"`
	Rule   string    `json:"rule"`
	Count  int       `json:"count"`
	First  time.Time `json:"first"`
	Last   time.Time `json:"last"`
	Work   string    `json:"work,omitempty"`   // the last one's
	Agents []string  `json:"agents,omitempty"` // agents, or ids of keys, the latest first, at most 20
}

// DenialPage is denials by the rule that refused them, the latest first.
type DenialPage struct {
	Denials []Denials `json:"denials"`
	Entries int       `json:"entries"`        // that they are made of
	Left    int       `json:"left,omitempty"` // rules beyond the limit
	// Next is Before of a query for older entries; 0: there are none.
	Next uint64 `json:"next,omitempty"`
}

// Denials is likewise the function, for a log that is open.
func (l *Log) Denials(ctx context.Context, q Query) (DenialPage, error) {
	if _, err := l.Head(); err != nil { // what is pending is in the files then
		return DenialPage{Denials: []Denials{}}, err
	}
	return FindDenials(ctx, l.o.Dir, q)
}

// FindDenials groups what the newest entries say that was denied, at most 10,000 of them. The limit is of groups.
func FindDenials(ctx context.Context, dir string, q Query) (DenialPage, error) {
	p := DenialPage{Denials: []Denials{}}
	limit := cmp.Or(q.Limit, 100)
	q.Limit, q.Denied, q.Kinds = mostDenied, true, nil
	found, err := Find(ctx, dir, q)
	if err != nil {
		return p, err
	}
	p.Entries, p.Next = len(found.Entries), found.Next
	at := map[[3]string]int{}
	for i := range found.Entries {
		p.add(&found.Entries[i], at)
	}
	slices.SortStableFunc(p.Denials, func(x, y Denials) int { return y.Last.Compare(x.Last) })
	if len(p.Denials) > limit {
		p.Denials, p.Left = p.Denials[:limit], len(p.Denials)-limit
	}
	return p, nil
}

// add adds an entry, which is older than those before. at has the places of the rules.
func (p *DenialPage) add(e *Entry, at map[[3]string]int) {
	refused := e.Denied
	if e.Kind == Refused {
		refused = []Denial{{Op: "load", Rule: e.Detail, Count: 1}}
	}
	for _, r := range refused {
		i, known := at[[3]string{e.Family, r.Op, r.Rule}]
		if !known {
			i = len(p.Denials)
			at[[3]string{e.Family, r.Op, r.Rule}] = i
			p.Denials = append(p.Denials, Denials{Family: e.Family, Op: r.Op, Rule: r.Rule, Last: e.Time, Work: e.Work})
		}
		d := &p.Denials[i]
		d.Count, d.First = d.Count+r.Count, e.Time
		if who := cmp.Or(e.Agent, e.Key); who != "" && len(d.Agents) < mostAgents && !slices.Contains(d.Agents, who) {
			d.Agents = append(d.Agents, who)
		}
	}
}
