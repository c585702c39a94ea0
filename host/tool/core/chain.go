package core

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

// allChains lists the logs of other spaces instead of the events of one.
const allChains = "*"

// chainRow describes the log of another space.
type chainRow struct {
	Chain     string   `json:"chain"`
	Remote    string   `json:"remote,omitempty"`
	Namespace string   `json:"namespace"`
	Agents    []string `json:"agents,omitempty"`
	Events    int      `json:"events"`
	Purged    int      `json:"purged,omitempty"`
	First     uint64   `json:"first"`
	Last      uint64   `json:"last"`
	From      string   `json:"from,omitempty"`
	Until     string   `json:"until,omitempty"`
	Whole     bool     `json:"whole"`
	Fault     string   `json:"fault,omitempty"`
	Unchecked int      `json:"unchecked,omitempty"` // events that this call did not reach
}

// eventRow is an event of the log of another space.
type eventRow struct {
	Event     string          `json:"event"`
	Sequence  uint64          `json:"sequence"`
	Namespace string          `json:"namespace"`
	Agent     string          `json:"agent,omitempty"`
	Timestamp string          `json:"timestamp"`
	Data      json.RawMessage `json:"data,omitempty"`
}

// received answers a search in the logs of other spaces.
func received(ctx context.Context, c *call, r searchRequest) (tool.Answer, error) {
	if err := r.checkChain(); err != nil {
		return tool.Answer{}, err
	}
	at := c.location(strings.Join(r.Namespace, ""), r.Branch)
	if r.Chain == allChains {
		return chainsOf(ctx, c, at)
	}
	after, err := strconv.ParseUint("0"+r.After, 10, 64)
	if err != nil {
		return tool.Answer{}, tool.Invalid(nil, "after %q is not the next of a page before: leave it out to begin", r.After)
	}
	q := memory.ChainQuery{Location: at, Chain: r.Chain, Agents: r.Agents, Types: r.Types, Since: r.Since.Time, Until: r.Until.Time,
		Oldest: r.Order == memory.ByOldest, After: after, Limit: r.K}
	page, err := c.access().EventsOf(ctx, q)
	if err != nil {
		return tool.Answer{}, err
	}
	rows := make([]*eventRow, len(page.Events))
	for i, e := range page.Events {
		rows[i] = &eventRow{e.Event, e.Sequence, e.Namespace, e.Agent, memory.FormatTime(e.Timestamp), e.Data}
	}
	answer := map[string]any{"results": rows, "chain": page.Chain}
	if page.Next != 0 {
		answer["next"] = strconv.FormatUint(page.Next, 10)
	}
	if page.Fault != "" {
		answer["note"] = "This log is not whole: " + page.Fault + "."
	}
	return tool.Answer{Structured: answer, Plain: answer}, nil
}

// checkChain refuses what the log of another space cannot be asked.
func (r searchRequest) checkChain() error {
	switch {
	case !r.Events:
		return tool.Invalid(nil, "chain is of events: set events, or leave chain out")
	case r.Query != "" || r.Vector != nil:
		return tool.Invalid(nil, "the log of another space is not searched by words: leave query and vector out, and choose by agent, type, since and until")
	case len(r.Namespace) > 1 || strings.Contains(strings.Join(r.Namespace, ""), "*"):
		return tool.Invalid(nil, "the log of another space is of one namespace: name that one")
	case !r.AsOf.IsNow():
		return tool.Invalid(nil, "the log of another space is shown as it is now: leave as_of out, and give until")
	case r.Order != "" && r.Order != memory.ByNewest && r.Order != memory.ByOldest:
		return tool.Invalid(nil, "the log of another space is listed newest or oldest first: order %q is neither", r.Order)
	}
	return nil
}

func chainsOf(ctx context.Context, c *call, at memory.Location) (tool.Answer, error) {
	list, err := c.access().Chains(ctx, at)
	if err != nil {
		return tool.Answer{}, err
	}
	rows := make([]*chainRow, len(list))
	for i, l := range list {
		rows[i] = &chainRow{Chain: l.ID, Remote: l.Remote, Namespace: l.Namespace, Agents: l.Agents, Events: l.Events, Purged: l.Purged, First: l.First, Last: l.Last,
			Whole: l.Broken == 0 && l.Checked >= l.Events+l.Purged, Fault: l.Fault}
		if !l.From.IsZero() {
			rows[i].From, rows[i].Until = memory.FormatTime(l.From), memory.FormatTime(l.Until)
		}
		if l.Broken == 0 {
			rows[i].Unchecked = max(l.Events+l.Purged-l.Checked, 0)
		}
	}
	answer := map[string]any{"results": rows, "total": len(rows)}
	if len(rows) == 0 {
		answer["note"] = "No log of another space is in this namespace: a pull or a sync brings them."
	}
	return tool.Answer{Structured: answer, Plain: answer}, nil
}
