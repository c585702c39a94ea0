package core

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

func (k *kit) recallTool() tool.Spec {
	return tool.Spec{
		Name:        "memory_recall",
		Aliases:     strata("recall"),
		Description: "Get a memory by its exact key, now or as_of a moment (1h ago, v12), or search by query or topic.",
		Docs: "Give one of key, query and topic. as_of takes RFC 3339, a date, \"1h ago\", \"yesterday\", an epoch in s, ms or µs, or a version such as v12. " +
			"query answers {facts, recallId} from all namespaces unless namespace names some; report with the recallId which facts helped. topic answers {memories, count} from one namespace, or not_found. " +
			"Both count an access to each memory that they return. memory_search finds the same with more filters, and counts nothing.",
		Input: json.RawMessage(`{
			"type": "object",
			"properties": {
				"key": {"type": "string", "description": "The key it was stored under."},
				"query": {"type": "string", "description": "Instead of key: what to look for, in plain words. Answers facts, and a recallId for feedback."},
				"topic": {"type": "string", "description": "Instead of key: what to look for in one namespace. Answers memories and their count."},
				"limit": {"type": "integer", "maximum": 50, "description": "How many results of query or topic: 10 when left out."},
				"mode": {"type": "string", "x-advanced": true, "description": "What ranks the results of query or topic: hybrid (words and meaning; when left out), lexical or semantic; also vector-only, text-only."},
				"semantic": {"type": "boolean", "x-advanced": true, "description": "Whether meaning counts beside words, where mode is left out."},
				"as_of": {"type": "string", "description": "A past moment, such as 2026-03-01T12:00:00Z, 1h ago, yesterday or v12."},
				"namespace": {"type": "string", "description": "Where to look; the session's namespace when left out, or with query all. query and topic take a list, too."},
				"branch": {"type": "string", "description": "On which branch; the session's branch when left out."},
				` + fieldsProperty + `,
				` + verboseListed + `
			},
			"anyOf": [{"required": ["key"]}, {"required": ["query"]}, {"required": ["topic"]}]
		}`),
		Output: json.RawMessage(`{
			"type": "object",
			"properties": {
				"found": {"type": "boolean"},
				"key": {"type": "string"},
				"value": {},
				"version": {"type": "integer"},
				"timestamp": {"type": "string", "description": "When this version was stored."},
				"facts": {"type": "array", "items": {"type": "object"}, "description": "Of query: factId, content, factType, score, importance, tags, summary; with verbose, timestamp."},
				"recallId": {"type": "string", "description": "Of query: for feedback. Absent where nothing may be written."},
				"memories": {"type": "array", "items": {"type": "object"}, "description": "Of topic: memory_id, content, type, score, importance, tags, summary; with verbose, timestamp."},
				"count": {"type": "integer", "description": "Of topic: how many memories are here."},
				"note": {"type": "string", "description": "What was left out of a long answer, and how to get it."}
			}
		}`),
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true},
		Parameters: map[string]string{
			"id":        "key",
			"memory_id": "key",
			"factId":    "key",
			"scope":     "namespace",
			"scopeId":   "namespace",

			"scopeIds":       "namespace",
			"namespaces":     "namespace",
			"k":              "limit",
			"strategy":       "mode",
			"searchStrategy": "mode",
		},
		Lenient: true,
		Staged:  true,
		Handler: k.handler(recall),
	}
}

// recall reads by key, or searches by query or topic.
func recall(ctx context.Context, c *call) (tool.Answer, error) {
	given := slices.DeleteFunc([]string{"key", "query", "topic"}, func(name string) bool { return !c.Arguments.Has(name) })
	if len(given) > 1 {
		return tool.Answer{}, tool.Invalid(map[string]any{"parameters": given}, "memory_recall takes one of key, query and topic: %s are given", strings.Join(given, " and "))
	}
	switch {
	case c.Arguments.Has("query"):
		return recallQuery(ctx, c)
	case c.Arguments.Has("topic"):
		return recallTopic(ctx, c)
	}
	return recallKey(ctx, c)
}

func recallKey(ctx context.Context, c *call) (tool.Answer, error) {
	location, key, at := c.location(), c.Arguments.NeedText("key", "the key that the memory was stored under; or query or topic, to search"), c.Arguments.AsOf("as_of", c.Now)
	if err := c.Arguments.Err(); err != nil {
		return tool.Answer{}, err
	}
	for _, name := range []string{"limit", "mode", "semantic"} {
		if c.Arguments.Has(name) {
			c.Note(name + " is for query and topic: with key, it was ignored.")
		}
	}
	asked := location.Namespace
	location, err := c.anywhere(ctx, location, key, at)
	if err != nil {
		return tool.Answer{}, err
	}
	m, elsewhere, err := c.recalled(ctx, location, key, at)
	if err != nil {
		return tool.Answer{}, err
	}
	if m == nil {
		return c.nothingUnder(ctx, location, key, at)
	}
	if asked == memory.AllNamespaces {
		elsewhere = m.Namespace
	}
	r := recallAnswer{m.Key, elsewhere, m.Value, m.Version, memory.FormatTime(m.Timestamp), form{fields: []string{"timestamp"}}.dates(*m).Created, particularsOf(*m)}
	return tool.Answer{Structured: struct {
		Found bool `json:"found"`
		recallAnswer
	}{true, r}, Plain: r}, nil
}

// nothingUnder answers that a key has no memory.
func (c *call) nothingUnder(ctx context.Context, location memory.Location, key string, at memory.AsOf) (tool.Answer, error) {
	note, err := c.missing(ctx, location, key, at)
	if err != nil {
		return tool.Answer{}, err
	}
	r := struct {
		Found bool   `json:"found"`
		Key   string `json:"key"`
		Note  string `json:"note,omitempty"`
	}{false, key, note}
	return tool.Answer{Structured: r, Plain: r}, nil
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

type recallAnswer struct {
	Key       string          `json:"key"`
	Namespace string          `json:"namespace,omitempty"` // if recalled by id
	Value     json.RawMessage `json:"value"`
	Version   uint64          `json:"version"`
	Timestamp string          `json:"timestamp"`
	Created   string          `json:"created,omitempty"` // unless then
	particulars
}
