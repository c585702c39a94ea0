// Package refusals keeps account of what clients were refused, in room that no client can exhaust.
package refusals

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// Limits of an account. With them a day of attacks adds at most 24 × 2 × 129 entries to the log that receives the reports.
const (
	DefaultEvery = time.Hour
	mostKinds    = 128 // kinds of refusals that are counted apart at a time
	mostOfKey    = 8   // of them by the holder of one key, or by all clients without one
	longestRule  = 120 // bytes; rules quote what clients say
	longestName  = 128 // bytes of each other text
)

// Others is the rule of refusals that are counted together, for want of room.
const Others = "(others)"

// Refusal is something that a client was refused. It is comparable: equal ones are one kind, and are counted.
type Refusal struct {
	Key       string // id of the API key; empty: none, or one that was never issued
	Agent     string
	From      string // address of a client that was not admitted
	Namespace string
	Family    string
	Work      string // what was refused: "tool NAME", or "connection"
	Rule      string // that refused it
}

// Report says how often there was a refusal since the last report of its kind.
type Report struct {
	Refusal
	Count int
	Since time.Time // of the first of them
}

// Options configures an Account. Report is required.
type Options struct {
	Report func(Report)
	Clock  func() time.Time // nil: time.Now
	Every  time.Duration    // 0: DefaultEvery
}

// Account reports the first refusal of a kind at once, and then how many more there were, once per interval. It is safe for concurrent use.
type Account struct {
	o Options

	mu    sync.Mutex
	kinds map[Refusal]*tally
}

// tally counts refusals of a kind since the last report.
type tally struct {
	count int
	since time.Time
}

// New returns an account without refusals.
func New(o Options) *Account {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	o.Every = cmp.Or(o.Every, DefaultEvery)
	return &Account{o: o, kinds: map[Refusal]*tally{}}
}

// Add counts a refusal.
func (a *Account) Add(r Refusal) {
	r = r.clipped()
	now := a.o.Clock()
	a.mu.Lock()
	r = a.kindOf(r)
	t, known := a.kinds[r]
	if !known {
		a.kinds[r] = &tally{}
	} else if t.count++; t.count == 1 {
		t.since = now
	}
	a.mu.Unlock()
	if !known {
		a.o.Report(Report{r, 1, now})
	}
}

// kindOf returns the kind that a refusal counts as: its own, or that of others. The caller holds mu.
func (a *Account) kindOf(r Refusal) Refusal {
	if a.kinds[r] != nil {
		return r
	}
	of := 0
	for kind := range a.kinds {
		if kind.Key == r.Key && kind.Rule != Others {
			of++
		}
	}
	if of >= mostOfKey {
		r = Refusal{Key: r.Key, Rule: Others}
		if r.Key != "" {
			r.Agent = a.agentOf(r.Key)
		}
	}
	if a.kinds[r] == nil && len(a.kinds) >= mostKinds {
		return Refusal{Work: Others, Rule: Others}
	}
	return r
}

// agentOf returns the agent of a key that has refusals. The caller holds mu.
func (a *Account) agentOf(key string) (agent string) {
	for kind := range a.kinds {
		if kind.Key == key {
			agent = max(agent, kind.Agent)
		}
	}
	return agent
}

func (r Refusal) clipped() Refusal {
	for _, text := range []*string{&r.Key, &r.Agent, &r.From, &r.Namespace, &r.Family, &r.Work} {
		*text = (*text)[:min(len(*text), longestName)]
	}
	r.Rule = r.Rule[:min(len(r.Rule), longestRule)]
	return r
}

// Run reports counts once per interval until ctx ends, and then what is left.
func (a *Account) Run(ctx context.Context) {
	tick := time.NewTicker(a.o.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			a.flush()
			return
		case <-tick.C:
			a.flush()
		}
	}
}

// flush reports what was counted, and forgets kinds without a refusal since the last report: their next one is reported at once.
func (a *Account) flush() {
	a.mu.Lock()
	var list []Report
	for kind, t := range a.kinds {
		if t.count == 0 {
			delete(a.kinds, kind)
			continue
		}
		list = append(list, Report{kind, t.count, t.since})
		t.count = 0
	}
	a.mu.Unlock()
	slices.SortFunc(list, func(x, y Report) int {
		return cmp.Or(x.Since.Compare(y.Since), cmp.Compare(x.Key, y.Key), cmp.Compare(x.Rule, y.Rule))
	})
	for _, r := range list {
		a.o.Report(r)
	}
}
