package core

import (
	"context"
	"encoding/json"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

func (k *kit) recallTool() tool.Spec {
	return tool.Spec{
		Name:        "memory_recall",
		Description: "Get what is stored under an exact key, now or at a past moment. Gives null if there is nothing.",
		Docs: "as_of takes RFC 3339, a date, \"1h ago\", \"yesterday\", an epoch in s, ms or µs, or a version such as v12. " +
			"If you do not know the key, use memory_search.",
		Input: json.RawMessage(`{
			"type": "object",
			"properties": {
				"key": {"type": "string", "description": "The key it was stored under."},
				"as_of": {"type": "string", "description": "A past moment, such as 2026-03-01T12:00:00Z, 1h ago, yesterday or v12."},
				"namespace": {"type": "string", "description": "Where to look; the session's namespace when left out."},
				"branch": {"type": "string", "description": "On which branch; the session's branch when left out."}
			},
			"required": ["key"]
		}`),
		Output: json.RawMessage(`{
			"type": "object",
			"properties": {
				"found": {"type": "boolean"},
				"key": {"type": "string"},
				"value": {},
				"version": {"type": "integer"},
				"timestamp": {"type": "string", "description": "When this version was stored."}
			},
			"required": ["found"]
		}`),
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true},
		Parameters: map[string]string{
			"id":        "key",
			"memory_id": "key",
			"factId":    "key",
			"scope":     "namespace",
			"scopeId":   "namespace",
		},
		Lenient: true,
		Staged:  true,
		Handler: k.handler(recall),
	}
}

func recall(ctx context.Context, c *call) (tool.Answer, error) {
	location, key, at := c.location(), c.Arguments.NeedText("key", "the key that the memory was stored under"), c.Arguments.AsOf("as_of", c.Now)
	if err := c.Arguments.Err(); err != nil {
		return tool.Answer{}, err
	}
	m, elsewhere, err := c.recalled(ctx, location, key, at)
	if err != nil {
		return tool.Answer{}, err
	}
	if m == nil {
		return tool.Answer{Structured: map[string]any{"found": false, "key": key}}, nil
	}
	r := recalled{m.Key, elsewhere, m.Value, m.Version, memory.FormatTime(m.Timestamp), particularsOf(*m)}
	return tool.Answer{Structured: struct {
		Found bool `json:"found"`
		recalled
	}{true, r}, Plain: r}, nil
}

// recalled reads a memory by its key or its id, or returns nil if there is none. For an id, elsewhere is its namespace.
func (c *call) recalled(ctx context.Context, location memory.Location, key string, at memory.AsOf) (m *memory.Memory, elsewhere string, err error) {
	if m, err = c.memories().Recall(ctx, location, key, at); m != nil || err != nil {
		return m, "", err
	}
	there, name, ok := c.identified(key, location)
	if !ok {
		return nil, "", nil
	}
	m, err = c.memories().Recall(ctx, there, name, at)
	return m, there.Namespace, orNotAnID(err)
}

type recalled struct {
	Key       string          `json:"key"`
	Namespace string          `json:"namespace,omitempty"` // if recalled by id
	Value     json.RawMessage `json:"value"`
	Version   uint64          `json:"version"`
	Timestamp string          `json:"timestamp"`
	particulars
}
