package core

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/feed"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/request"
)

const (
	defaultEvents = 50
	mostEvents    = 500
	mostTogether  = 1000    // events of one commit in an answer
	mostPassed    = 1000    // events passed over before an empty answer moves the watermark
	mostVersion   = 1 << 53 // of watermarks, which are JSON numbers
)

func (k *kit) eventsTool() tool.Spec {
	return declared(k, tool.Spec{
		Name:        "memory_poll_events",
		Description: "What changed since a watermark, oldest first: memories stored and forgotten, events logged, notices of families.",
		Docs: "Pass latestWatermark to the next call as lastWatermark. An answer ends with a whole write, so it may have a few more events than limit; hasMore says that there may be more. " +
			"eventTypes are memory_stored, memory_forgotten, event_logged and the kinds of families; facts.* is every kind of the family facts. agents are authors. " +
			"A watermark that is older than what is kept is invalid_argument with oldestWatermark: events were missed, so read what is stored now, and go on from there. The stream at /stream pushes the same events.",
		Output: json.RawMessage(`{
			"type": "object",
			"properties": {
				"events": {"type": "array", "items": {"type": "object"}, "description": "eventType, payload {factId, agentId, scopeId, changes}, agentId, scopeId, timestamp, watermark."},
				"latestWatermark": {"anyOf": [{"type": "integer"}, {"type": "string"}], "description": "lastWatermark of the next call; a text within a write of more than 1,000 events."},
				"hasMore": {"type": "boolean"}
			},
			"required": ["events", "latestWatermark", "hasMore"]
		}`),
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true},
		Unlisted:    true,
		With:        "events",
	}, pollEvents)
}

type pollRequest struct {
	Agent     string    `json:"agentId" alcove:"alias=agent" doc:"Who polls: you."`
	From      watermark `json:"lastWatermark" alcove:"alias=watermark|latestWatermark|after" schema:"'type':'integer','default':0,'minimum':0" doc:"latestWatermark of the answer before."`
	Kinds     []string  `json:"eventTypes" alcove:"alias=kinds|kind|eventType|types" doc:"Only these kinds; all when left out."`
	Agents    []string  `json:"agents" alcove:"alias=agentIds|authors" doc:"Only what these agents did."`
	Limit     int       `json:"limit" alcove:"alias=k,show=default|minimum|maximum" doc:"About how many events."`
	Namespace []string  `json:"namespace" alcove:"alias=scope|scopeId|scopeIds|namespaces" schema:"'type':'string'" doc:"Only this namespace, or a list of names and patterns such as team/*; all that you may read when left out."`
	Branch    string    `json:"branch" doc:"On which branch; the session's branch when left out."`
}

// Limits implements request.Limited.
func (pollRequest) Limits() request.Limits {
	return request.Limits{"limit": {Min: 1, Max: mostEvents, Default: defaultEvents}}
}

// Check implements request.Checker.
func (r *pollRequest) Check(a *request.Arguments) { checkNamespaces(a, r.Namespace) }

// pollAnswer is an answer to memory_poll_events.
type pollAnswer struct {
	Events []polledEvent `json:"events"`
	Latest watermark     `json:"latestWatermark"`
	More   bool          `json:"hasMore"`
}

type polledEvent struct {
	Type      feed.Kind `json:"eventType"`
	Payload   any       `json:"payload"`
	Agent     string    `json:"agentId"`
	Scope     string    `json:"scopeId"`
	Timestamp string    `json:"timestamp"`
	Watermark uint64    `json:"watermark"`
}

// watermark is a position in a feed: a version, and how much was read of the commit after it.
type watermark struct {
	after  uint64
	within int
}

// MarshalJSON writes a number; a text such as 12+1000 in the middle of a commit.
func (w watermark) MarshalJSON() ([]byte, error) {
	if w.within == 0 {
		return strconv.AppendUint(nil, w.after, 10), nil
	}
	return json.Marshal(fmt.Sprintf("%d+%d", w.after, w.within))
}

// ReadArgument reads a watermark as MarshalJSON writes it.
func (w *watermark) ReadArgument(raw json.RawMessage, _ time.Time) error {
	var text string
	json.Unmarshal(raw, &text) // empty: a number
	after, within, amid := strings.Cut(text, "+")
	if !amid {
		n, err := request.Within(raw, 0, mostVersion)
		w.after = uint64(n)
		return err
	}
	version, err := strconv.ParseUint(after, 10, 53)
	n, err2 := strconv.ParseUint(within, 10, 31)
	if err != nil || err2 != nil {
		return request.Expected("a watermark that an answer had")
	}
	*w = watermark{version, int(n)}
	return nil
}

func pollEvents(ctx context.Context, c *call, r pollRequest) (tool.Answer, error) {
	q := feed.Query{
		Branch: c.location("", r.Branch).Branch, Namespaces: c.namespaces(r.Namespace), Kinds: r.Kinds, Agents: r.Agents,
		After: r.From.after, Within: r.From.within, Limit: r.Limit, Most: mostTogether,
	}
	if err := c.mayPollAs(r.Agent); err != nil {
		return tool.Answer{}, err
	}
	page, err := c.access().ReadFeed(ctx, q)
	if err == nil {
		err = unknownWatermark(r.From.after, page)
	}
	if err != nil {
		return tool.Answer{}, err
	}
	p := pollAnswer{Events: make([]polledEvent, len(page.Notices)), Latest: watermark{page.Watermark, page.Within}}
	p.More = page.More || len(page.Notices) >= q.Limit
	for i, n := range page.Notices {
		p.Events[i] = polledEvent{n.Kind, tool.PayloadOf(n), n.Agent, n.Namespace, memory.FormatTime(n.Timestamp), n.Watermark}
	}
	if len(p.Events) == 0 && !p.More && page.Passed < mostPassed && !page.Expired {
		p.Latest = r.From // clients compare; a few events are soon passed over again
	}
	return tool.Answer{Structured: p, Plain: p}, nil
}

// mayPollAs refuses a caller with a key that polls in the name of another agent without the right to.
func (c *call) mayPollAs(agent string) error {
	if agent == "" || agent == c.Caller.Agent || c.Caller.Key == "" || c.Caller.Rights.May(memory.ToActAs) {
		return nil
	}
	return &memory.Error{Code: memory.Denied, Message: fmt.Sprintf("the key is that of agent %.64q, not %.64q: leave agentId out, or ask the memory's owner for the right %s", c.Caller.Agent, agent, memory.ToActAs)}
}

// unknownWatermark refuses a watermark before which, or after which, there is nothing. 0 is the beginning of any feed.
func unknownWatermark(after uint64, page feed.Page) error {
	switch {
	case page.Expired && after > 0:
		return &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf(
			"events between watermark %d and %d are no longer kept: read what is stored now, and go on with lastWatermark=%d", after, page.Oldest, page.Oldest),
			Details: map[string]any{"oldestWatermark": page.Oldest, "lastWatermark": after}}
	case after > page.Latest:
		return &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf(
			"watermark %d is later than the newest, %d: it is that of another memory, or of this one before it was restored. Read what is stored now, and go on with lastWatermark=%d", after, page.Latest, page.Latest),
			Details: map[string]any{"latestWatermark": page.Latest, "lastWatermark": after}}
	}
	return nil
}
