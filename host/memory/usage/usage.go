// Package usage counts the calls of tools by day, agent and tool.
package usage

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
)

// Bounds of the counts.
const (
	Kept        = 90   // days
	mostRows    = 1000 // per day; calls beyond are counted under Others
	longestName = 64   // bytes of an agent's name
	flushEvery  = time.Minute
)

// Others is the agent that gets the calls beyond a day's rows.
const Others = "(others)"

// days is the collection of counts: a record per day.
var days = memory.Collection{Name: "_usage", PerSpace: true, Internal: true, Expires: Kept * 24 * time.Hour}

// Row counts an agent's use of a tool.
type Row struct {
	Agent  string    `json:"agent"`        // empty: no name
	Tool   string    `json:"tool"`         // without an alias
	Alias  string    `json:"as,omitempty"` // the name in the call, or its deprecated form; empty: the tool's own
	Calls  int64     `json:"calls"`
	Errors int64     `json:"errors,omitempty"` // failed calls
	Last   time.Time `json:"last"`
}

type key struct{ agent, tool, alias string }

// Options configures a Counter. All fields but Logger are required.
type Options struct {
	Space     *memory.Access // with full rights
	Namespace string         // of the records
	Clock     func() time.Time
	Wanted    func() bool  // whether anybody may read the counts, else none are kept; nil: always
	Logger    *slog.Logger // nil: discards
}

// Counter counts calls. Counts are written once a minute, and when Run ends: a crash loses the last minute. Its methods may
// be called concurrently.
type Counter struct {
	o Options

	mu      sync.Mutex
	pending map[string]map[key]Row // by day: not yet written

	keeping sync.Mutex // held while records are written
}

// New returns a counter.
func New(o Options) *Counter {
	if o.Wanted == nil {
		o.Wanted = func() bool { return true }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Counter{o: o, pending: map[string]map[key]Row{}}
}

func dayOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// Count counts a call of a tool by an agent; alias may be empty.
func (c *Counter) Count(agent, tool, alias string, failed bool) {
	now := c.o.Clock().UTC()
	if len(agent) > longestName {
		agent = strings.ToValidUTF8(agent[:longestName], "") + "…"
	}
	r := Row{Agent: agent, Tool: tool, Alias: alias, Calls: 1, Last: now}
	if failed {
		r.Errors = 1
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	day := dayOf(now)
	if c.pending[day] == nil {
		c.pending[day] = map[key]Row{}
	}
	add(c.pending[day], r)
}

// add adds a row to those of a day, under Others if there are too many.
func add(rows map[key]Row, r Row) {
	k := key{r.Agent, r.Tool, r.Alias}
	if _, known := rows[k]; !known && len(rows) >= mostRows {
		r.Agent, r.Alias = Others, ""
		k = key{r.Agent, r.Tool, ""}
	}
	sum := rows[k]
	r.Calls, r.Errors = r.Calls+sum.Calls, r.Errors+sum.Errors
	if sum.Last.After(r.Last) {
		r.Last = sum.Last
	}
	rows[k] = r
}

// Run writes the counts periodically until ctx ends, and then once more.
func (c *Counter) Run(ctx context.Context) {
	ticker := time.NewTicker(flushEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			c.keep(context.WithoutCancel(ctx))
			return
		case <-ticker.C:
			c.keep(ctx)
		}
	}
}

func (c *Counter) keep(ctx context.Context) {
	if err := c.Flush(ctx); err != nil && ctx.Err() == nil {
		c.o.Logger.Warn("how tools are used could not be kept", "error", err)
	}
}

// Flush writes the pending counts.
func (c *Counter) Flush(ctx context.Context) error {
	c.keeping.Lock()
	defer c.keeping.Unlock()
	c.mu.Lock()
	taken := c.pending
	c.pending = map[string]map[key]Row{}
	c.mu.Unlock()
	if !c.o.Wanted() {
		return nil
	}
	var failed error
	for day, rows := range taken {
		if err := c.merge(ctx, day, rows); err != nil {
			failed = errors.Join(failed, err)
			c.restore(day, rows)
		}
	}
	return failed
}

// restore puts back counts that could not be written.
func (c *Counter) restore(day string, rows map[key]Row) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending[day] == nil {
		c.pending[day] = map[key]Row{}
	}
	for _, r := range rows {
		add(c.pending[day], r)
	}
}

// merge adds rows to the record of a day.
func (c *Counter) merge(ctx context.Context, day string, rows map[key]Row) error {
	stage, err := c.o.Space.Stage(ctx, memory.Default)
	if err != nil {
		return err
	}
	kept, err := c.read(ctx, stage, day)
	if err != nil {
		return err
	}
	for _, r := range sorted(rows) {
		add(kept, r)
	}
	value, err := json.Marshal(sorted(kept))
	if err != nil {
		return fmt.Errorf("encode the usage of %s: %w", day, err)
	}
	if err := stage.PutRecord(ctx, days, c.o.Namespace, day, value, nil); err != nil {
		return err
	}
	_, err = stage.Commit(ctx, memory.Commit{})
	return err
}

func (c *Counter) read(ctx context.Context, stage *memory.Stage, day string) (map[key]Row, error) {
	rows := map[key]Row{}
	found, err := stage.Records(ctx, days, c.o.Namespace, []string{day})
	if err != nil || found[0] == nil {
		return rows, err
	}
	var list []Row
	if err := json.Unmarshal(found[0].Value, &list); err != nil {
		return nil, fmt.Errorf("read the usage of %s: %w", day, err)
	}
	for _, r := range list {
		add(rows, r)
	}
	return rows, nil
}

func sorted(rows map[key]Row) []Row {
	list := slices.Collect(maps.Values(rows))
	slices.SortFunc(list, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Alias, b.Alias))
	})
	return list
}

// Query selects usage.
type Query struct {
	Days  int      // until now, including today: from 1 to Kept
	Tools []string // by their own names or an alias; nil: all
	Agent *string  // nil: all
}

// Usage sums up the calls of the last days, by agent and tool.
func (c *Counter) Usage(ctx context.Context, q Query) ([]Row, error) {
	if q.Days < 1 || q.Days > Kept {
		return nil, &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf("days is %d: it must be from 1 to %d", q.Days, Kept)}
	}
	if err := c.Flush(ctx); err != nil {
		return nil, err
	}
	stage, err := c.o.Space.Stage(ctx, memory.Default)
	if err != nil {
		return nil, err
	}
	sum, now := map[key]Row{}, c.o.Clock()
	for i := range q.Days {
		rows, err := c.read(ctx, stage, dayOf(now.AddDate(0, 0, -i)))
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			if q.matches(r) {
				add(sum, r)
			}
		}
	}
	return sorted(sum), nil
}

func (q Query) matches(r Row) bool {
	if q.Agent != nil && *q.Agent != r.Agent {
		return false
	}
	return q.Tools == nil || slices.Contains(q.Tools, r.Tool) || r.Alias != "" && slices.Contains(q.Tools, r.Alias)
}
