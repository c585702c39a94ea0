package core

import (
	"context"
	"encoding/json"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

func (k *kit) logTool() tool.Spec {
	return tool.Spec{
		Name:        "memory_log",
		Aliases:     strata("log"),
		Description: "Append an event to a log that can never be changed: actions, observations, what happened. Search it with memory_search events=true.",
		Docs:        "Each event gets the next sequence number of its branch and namespace, and a hash over all before it, so that the log can be checked.",
		Input: json.RawMessage(`{
			"type": "object",
			"properties": {
				"event": {"type": "string", "description": "What kind of event it is, such as user_action or deployed."},
				"data": {"description": "What happened: any JSON value."},
				"namespace": {"type": "string", "description": "Whose log; the session's namespace when left out."},
				"branch": {"type": "string", "description": "On which branch; the session's branch when left out."}
			},
			"required": ["event", "data"]
		}`),
		Output: json.RawMessage(`{
			"type": "object",
			"properties": {
				"sequence": {"type": "integer"},
				"timestamp": {"type": "string"}
			},
			"required": ["sequence", "timestamp"]
		}`),
		Parameters: map[string]string{
			"eventType": "event",
			"payload":   "data",
			"scope":     "namespace",
			"scopeId":   "namespace",
		},
		Lenient: true,
		Handler: k.handler(appendEvent),
	}
}

type logAnswer struct {
	Sequence  uint64 `json:"sequence"`
	Timestamp string `json:"timestamp"`
}

func appendEvent(ctx context.Context, c *call) (tool.Answer, error) {
	location, event := c.location(), c.Arguments.NeedText("event", "what kind of event it is")
	data, ok := c.Arguments.Value("data")
	if !ok {
		c.Arguments.Missing("data", "what happened, as any JSON value")
	}
	if err := c.Arguments.Err(); err != nil {
		return tool.Answer{}, err
	}
	e, err := c.access().Append(ctx, location, event, data, c.Write())
	if err != nil {
		return tool.Answer{}, err
	}
	if c.DryRun {
		return rehearsed(map[string]any{"event": e.Event}), nil
	}
	l := logAnswer{e.Sequence, memory.FormatTime(e.Timestamp)}
	return tool.Answer{Structured: l, Plain: l}, nil
}
