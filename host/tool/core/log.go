package core

import (
	"context"
	"encoding/json"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

func (k *kit) logTool() tool.Spec {
	return declared(k, tool.Spec{
		Name:        "memory_log",
		Aliases:     strata("log"),
		Description: "Log or record what happened: an event, action or observation, never changed. To see it: memory_search events=true.",
		Docs:        "Each event gets the next sequence number of its branch and namespace, and a hash over all before it, so that the log can be checked.",
		Output: json.RawMessage(`{
			"type": "object",
			"properties": {
				"sequence": {"type": "integer"},
				"timestamp": {"type": "string"}
			},
			"required": ["sequence", "timestamp"]
		}`),
	}, appendEvent)
}

type logRequest struct {
	Event     string          `json:"event" alcove:"alias=eventType" need:"what kind of event it is" doc:"What kind of event it is, such as user_action or deployed."`
	Data      json.RawMessage `json:"data" alcove:"alias=payload" need:"what happened, as any JSON value" doc:"What happened: any JSON value."`
	Namespace string          `json:"namespace" alcove:"alias=scope|scopeId" doc:"Whose log; the session's namespace when left out."`
	Branch    string          `json:"branch" doc:"On which branch; the session's branch when left out."`
}

type logAnswer struct {
	Sequence  uint64 `json:"sequence"`
	Timestamp string `json:"timestamp"`
}

func appendEvent(ctx context.Context, c *call, r logRequest) (tool.Answer, error) {
	e, err := c.access().Append(ctx, c.location(r.Namespace, r.Branch), r.Event, r.Data, c.Write())
	if err != nil {
		return tool.Answer{}, err
	}
	if c.DryRun {
		return rehearsed(map[string]any{"event": e.Event}), nil
	}
	l := logAnswer{e.Sequence, memory.FormatTime(e.Timestamp)}
	return tool.Answer{Structured: l, Plain: l}, nil
}
