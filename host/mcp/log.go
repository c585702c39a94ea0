package mcp

import (
	"context"

	"github.com/alcove-memory/alcove/host/memory"
)

func logTool() tool {
	return tool{
		name:        "memory_log",
		description: "Append an event to a log that can never be changed: actions, observations, what happened. Search it with memory_search events=true.",
		docs:        "Each event gets the next sequence number of its branch and namespace, and a hash over all before it, so that the log can be checked.",
		input: `{
			"type": "object",
			"properties": {
				"event": {"type": "string", "description": "What kind of event it is, such as user_action or deployed."},
				"data": {"description": "What happened: any JSON value."},
				"namespace": {"type": "string", "description": "Whose log; the session's namespace when left out."},
				"branch": {"type": "string", "description": "On which branch; the session's branch when left out."}
			},
			"required": ["event", "data"]
		}`,
		output: `{
			"type": "object",
			"properties": {
				"sequence": {"type": "integer"},
				"timestamp": {"type": "string"}
			},
			"required": ["sequence", "timestamp"]
		}`,
		run: appendEvent,
	}
}

type logged struct {
	Sequence  uint64 `json:"sequence"`
	Timestamp string `json:"timestamp"`
}

func appendEvent(ctx context.Context, c *call) (answer, error) {
	place, event := c.place(), c.arguments.needText("event", "what kind of event it is")
	data, ok := c.arguments.value("data")
	if !ok {
		c.arguments.missing("data", "what happened, as any JSON value")
	}
	if err := c.arguments.err(); err != nil {
		return answer{}, err
	}
	if c.dryRun {
		_, err := c.space.Status(ctx, place) // it knows what can be a place
		return rehearsed(map[string]any{"event": event}), err
	}
	e, err := c.space.Append(ctx, place, event, data, c.write())
	if err != nil {
		return answer{}, err
	}
	l := logged{e.Sequence, memory.FormatTime(e.Timestamp)}
	return answer{structured: l, plain: l}, nil
}
