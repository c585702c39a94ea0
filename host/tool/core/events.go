package core

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

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
	return tool.Spec{
		Name:        "memory_poll_events",
		Description: "What changed since a watermark, oldest first: memories stored and forgotten, events logged, notices of families.",
		Docs: "Pass latestWatermark to the next call as lastWatermark. An answer ends with a whole write, so it may have a few more events than limit; hasMore says that there may be more. " +
			"eventTypes are memory_stored, memory_forgotten, event_logged and the kinds of families; facts.* is every kind of the family facts. agents are authors. " +
			"A watermark that is older than what is kept is invalid_argument with oldestWatermark: events were missed, so read what is stored now, and go on from there. The stream at /stream pushes the same events.",
		Input: json.RawMessage(`{
			"type": "object",
			"properties": {
				"agentId": {"type": "string", "description": "Who polls: you."},
				"lastWatermark": {"type": "integer", "default": 0, "minimum": 0, "description": "latestWatermark of the answer before."},
				"eventTypes": {"type": "array", "items": {"type": "string"}, "description": "Only these kinds; all when left out."},
				"agents": {"type": "array", "items": {"type": "string"}, "description": "Only what these agents did."},
				"limit": {"type": "integer", "default": 50, "minimum": 1, "maximum": 500, "description": "About how many events."},
				"namespace": {"type": "string", "description": "Only this namespace, or a list of names and patterns such as team/*; all that you may read when left out."},
				"branch": {"type": "string", "description": "On which branch; the session's branch when left out."}
			}
		}`),
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
		Parameters: map[string]string{
			"agent":           "agentId",
			"watermark":       "lastWatermark",
			"latestWatermark": "lastWatermark",
			"after":           "lastWatermark",
			"kinds":           "eventTypes",
			"kind":            "eventTypes",
			"eventType":       "eventTypes",
			"types":           "eventTypes",
			"agentIds":        "agents",
			"authors":         "agents",
			"scope":           "namespace",
			"scopeId":         "namespace",
			"scopeIds":        "namespace",
			"namespaces":      "namespace",
			"k":               "limit",
		},
		Lenient:  true,
		Unlisted: true,
		With:     "events",
		Handler:  k.handler(pollEvents),
	}
}

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

// readWatermark reads a watermark as MarshalJSON writes it.
func readWatermark(a *request.Arguments, name string) watermark {
	var text string
	raw, _ := a.Get(name)
	if json.Unmarshal(raw, &text) == nil {
		if after, within, ok := strings.Cut(text, "+"); ok {
			version, err := strconv.ParseUint(after, 10, 53)
			n, err2 := strconv.ParseUint(within, 10, 31)
			if err != nil || err2 != nil {
				a.Fault(name, fmt.Sprintf("%s is a watermark that an answer had, not %.60q", name, text))
			}
			return watermark{version, int(n)}
		}
	}
	return watermark{after: uint64(a.Whole(name, 0, 0, mostVersion))}
}

func pollEvents(ctx context.Context, c *call) (tool.Answer, error) {
	a := c.Arguments
	agent, from := a.Text("agentId"), readWatermark(a, "lastWatermark")
	q := feed.Query{
		Branch: c.branch(), Namespaces: c.namespaces(), Kinds: a.Texts("eventTypes"), Agents: a.Texts("agents"),
		After: from.after, Within: from.within, Limit: int(a.Whole("limit", defaultEvents, 1, mostEvents)), Most: mostTogether,
	}
	if err := a.Err(); err != nil {
		return tool.Answer{}, err
	}
	if err := c.mayPollAs(agent); err != nil {
		return tool.Answer{}, err
	}
	page, err := c.access().ReadFeed(ctx, q)
	if err == nil {
		err = unknownWatermark(from.after, page)
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
		p.Latest = from // clients compare; a few events are soon passed over again
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
