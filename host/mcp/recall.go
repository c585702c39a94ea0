package mcp

import (
	"context"
	"encoding/json"

	"github.com/alcove-memory/alcove/host/memory"
)

func recallTool() tool {
	return tool{
		name:        "memory_recall",
		description: "Get what is stored under an exact key, now or at a past moment. Gives null if there is nothing.",
		docs: "as_of takes RFC 3339, a date, \"1h ago\", \"yesterday\", an epoch in s, ms or µs, or a version such as v12. " +
			"If you do not know the key, use memory_search.",
		input: `{
			"type": "object",
			"properties": {
				"key": {"type": "string", "description": "The key it was stored under."},
				"as_of": {"type": "string", "description": "A past moment, such as 2026-03-01T12:00:00Z, 1h ago, yesterday or v12."},
				"namespace": {"type": "string", "description": "Where to look; the session's namespace when left out."},
				"branch": {"type": "string", "description": "On which branch; the session's branch when left out."}
			},
			"required": ["key"]
		}`,
		output: `{
			"type": "object",
			"properties": {
				"found": {"type": "boolean"},
				"key": {"type": "string"},
				"value": {},
				"version": {"type": "integer"},
				"timestamp": {"type": "string", "description": "When this version was stored."}
			},
			"required": ["found"]
		}`,
		hints: hints{readOnly: true, idempotent: true},
		run:   recall,
	}
}

func recall(ctx context.Context, c *call) (answer, error) {
	place, key, at := c.place(), c.arguments.needText("key", "the key that the memory was stored under"), c.arguments.asOf("as_of", c.now)
	if err := c.arguments.err(); err != nil {
		return answer{}, err
	}
	m, err := c.space.Recall(ctx, place, key, at)
	if err != nil {
		return answer{}, err
	}
	if m == nil {
		return answer{structured: map[string]any{"found": false, "key": key}}, nil
	}
	r := recalled{m.Key, m.Value, m.Version, memory.FormatTime(m.Timestamp), particularsOf(*m)}
	return answer{structured: struct {
		Found bool `json:"found"`
		recalled
	}{true, r}, plain: r}, nil
}

type recalled struct {
	Key       string          `json:"key"`
	Value     json.RawMessage `json:"value"`
	Version   uint64          `json:"version"`
	Timestamp string          `json:"timestamp"`
	particulars
}
