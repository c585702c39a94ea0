package core

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/recalls"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/request"
)

func (k *kit) recallTool() tool.Spec {
	return declared(k, tool.Spec{
		Name:        "memory_recall",
		Aliases:     strata("recall"),
		Description: "Recall, get or read the value of an exact key, now or as_of a moment (1h ago, v12); or search by query or topic.",
		Docs: "Give one of key, query and topic. as_of takes RFC 3339, a date, \"1h ago\", \"yesterday\", an epoch in s, ms or µs, or a version such as v12. " +
			"query answers {facts, recallId} from all namespaces (in a project, all but other projects) unless namespace names some; report with the recallId which facts helped. topic answers {memories, count} from one namespace, or not_found. " +
			"Both count an access to each memory that they return. memory_search finds the same with more filters, and counts nothing.",
		Output: json.RawMessage(`{
			"type": "object",
			"properties": {
				"found": {"type": "boolean"},
				"key": {"type": "string"},
				"value": {},
				"version": {"type": "integer"},
				"timestamp": {"type": "string", "description": "When this version was stored."},
				"use": {"type": "object", "description": "If asked for: accesses, last_access, and health, which feedback moves from 0 towards -1 or 1."},
				"recalls": {"type": "array", "items": {"type": "object"}, "description": "If asked for: agent, query and timestamp of recalls by query that found it, the newest first."},
				"facts": {"type": "array", "items": {"type": "object"}, "description": "Of query: factId, content, factType, score, importance, tags, summary; with verbose, timestamp."},
				"recallId": {"type": "string", "description": "Of query: for feedback. Absent where nothing may be written."},
				"memories": {"type": "array", "items": {"type": "object"}, "description": "Of topic: memory_id, content, type, score, importance, tags, summary; with verbose, timestamp."},
				"count": {"type": "integer", "description": "Of topic: how many memories are here."},
				"note": {"type": "string", "description": "What was left out of a long answer, and how to get it."}
			}
		}`),
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true},
		Staged:      true,
	}, recall)
}

// mostRecalls bounds the recalls that are told of a memory.
const mostRecalls = 50

type recallRequest struct {
	Key       string      `json:"key" alcove:"one,alias=id|memory_id|factId" doc:"The key it was stored under."`
	Query     string      `json:"query" alcove:"one" doc:"Instead of key: what to look for, in plain words. Answers facts, and a recallId for feedback."`
	Topic     string      `json:"topic" alcove:"one" doc:"Instead of key: what to look for in one namespace. Answers memories and their count."`
	Limit     int         `json:"limit" alcove:"alias=k,show=maximum" doc:"How many results of query or topic: {default} when left out."`
	Mode      memory.Mode `json:"mode" alcove:"advanced,alias=strategy|searchStrategy" doc:"What ranks the results of query or topic: hybrid (words and meaning; when left out), lexical or semantic; also vector-only, text-only."`
	Semantic  *bool       `json:"semantic" alcove:"advanced" doc:"Whether meaning counts beside words, where mode is left out."`
	AsOf      asOf        `json:"as_of" doc:"A past moment, such as 2026-03-01T12:00:00Z, 1h ago, yesterday or v12."`
	Namespace []string    `json:"namespace" alcove:"alias=scope|scopeId|scopeIds|namespaces" schema:"'type':'string'" doc:"Where to look; the session's namespace when left out, or with query all. query and topic take a list, too."`
	Branch    string      `json:"branch" doc:"On which branch; the session's branch when left out."`
	Use       bool        `json:"use" alcove:"advanced" doc:"With key: tell how often it was recalled, when last, and whether it helped. This call is not counted."`
	Recalls   int         `json:"recalls" alcove:"advanced" doc:"With key: tell as many of the newest recalls by query that found it, with who asked what."`
	shown
}

// Limits implements request.Limited.
func (recallRequest) Limits() request.Limits {
	return request.Limits{"limit": hits(), "mode": modes(), "recalls": {Min: 0, Max: mostRecalls}}
}

// Prepare implements request.Preparer.
func (r *recallRequest) Prepare(a, _ *request.Arguments) {
	if a.Has("query") || a.Has("topic") {
		return
	}
	for _, name := range []string{"limit", "mode", "semantic"} {
		if a.Has(name) {
			a.Drop(name, name+" is for query and topic: with key, it was ignored.")
		}
	}
	if !a.Has("key") {
		a.Missing("key", "the key that the memory was stored under; or query or topic, to search")
	}
}

// Check implements request.Checker.
func (r *recallRequest) Check(a *request.Arguments) {
	if checkNamespaces(a, r.Namespace); len(r.Namespace) > 1 && r.Query+r.Topic == "" {
		a.Wrong("namespace", "text")
	}
}

// recall reads by key, or searches by query or topic.
func recall(ctx context.Context, c *call, r recallRequest) (tool.Answer, error) {
	given := slices.DeleteFunc([]string{"key", "query", "topic"}, func(name string) bool { return !c.Arguments.Has(name) })
	if len(given) > 1 {
		return tool.Answer{}, tool.Invalid(map[string]any{"parameters": given}, "memory_recall takes one of key, query and topic: %s are given", strings.Join(given, " and "))
	}
	switch given[0] {
	case "query":
		return recallQuery(ctx, c, r)
	case "topic":
		return recallTopic(ctx, c, r)
	}
	return recallKey(ctx, c, r)
}

func recallKey(ctx context.Context, c *call, r recallRequest) (tool.Answer, error) {
	location, key, at := c.location(strings.Join(r.Namespace, ""), r.Branch), r.Key, r.AsOf.AsOf
	asked := location.Namespace
	location, err := c.anywhere(ctx, location, key, at)
	if err != nil {
		return tool.Answer{}, err
	}
	m, elsewhere, err := c.recalled(ctx, r, location, key)
	if err != nil {
		return tool.Answer{}, err
	}
	if m == nil {
		m, elsewhere, err = c.inProject(ctx, r, location, key)
	}
	if err != nil {
		return tool.Answer{}, err
	}
	if m == nil {
		return c.nothingUnder(ctx, location, key, at)
	}
	if asked == memory.AllNamespaces {
		elsewhere = m.Namespace
	}
	found := recallAnswer{
		Key: m.Key, Namespace: elsewhere, Value: m.Value, Version: m.Version, Timestamp: memory.FormatTime(m.Timestamp),
		Created: form{fields: []string{"timestamp"}}.dates(*m).Created, particulars: particularsOf(*m),
	}
	if found.Use, err = c.use(ctx, r, memory.Location{Branch: location.Branch, Namespace: m.Namespace}, m.Key); err != nil {
		return tool.Answer{}, err
	}
	if found.Recalls, err = c.finding(ctx, r, location.Branch, *m); err != nil {
		return tool.Answer{}, err
	}
	return tool.Answer{Structured: struct {
		Found bool `json:"found"`
		recallAnswer
	}{true, found}, Plain: found}, nil
}

// inProject reads a memory that is not where a call looks that names no namespace: from the session's project, or, for a session whose
// namespace is the project, from the usual one.
func (c *call) inProject(ctx context.Context, r recallRequest, looked memory.Location, key string) (m *memory.Memory, namespace string, err error) {
	there := looked
	if there.Namespace = c.project(r.Namespace); there.Namespace == looked.Namespace {
		there.Namespace = memory.Default
	}
	if there.Namespace == "" || !c.access().Caller().Rights.MayRead(there.Namespace) {
		return nil, "", nil
	}
	m, err = c.read(ctx, r, there, key)
	return m, there.Namespace, err
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
func (c *call) recalled(ctx context.Context, r recallRequest, location memory.Location, key string) (m *memory.Memory, elsewhere string, err error) {
	if m, err = c.read(ctx, r, location, key); m != nil || err != nil {
		return m, "", err
	}
	there, name, ok := c.identified(key, location)
	if !ok {
		return nil, "", nil
	}
	m, err = c.read(ctx, r, there, name)
	return m, there.Namespace, orNotAnID(err)
}

// read reads a memory. A call that asks for its use is none itself.
func (c *call) read(ctx context.Context, r recallRequest, p memory.Location, key string) (*memory.Memory, error) {
	at := r.AsOf.AsOf
	if !r.Use || !at.IsNow() {
		return c.memories().Recall(ctx, p, key, at)
	}
	found, err := c.memories().Get(ctx, p, []string{key})
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

type recallAnswer struct {
	Key       string          `json:"key"`
	Namespace string          `json:"namespace,omitempty"` // if recalled by id
	Value     json.RawMessage `json:"value"`
	Version   uint64          `json:"version"`
	Timestamp string          `json:"timestamp"`
	Created   string          `json:"created,omitempty"` // unless then
	particulars
	Use     *use           `json:"use,omitempty"`
	Recalls []foundByQuery `json:"recalls,omitempty"`
}

// foundByQuery is a recall by query that found a memory.
type foundByQuery struct {
	Agent     string `json:"agent,omitempty"`
	Query     string `json:"query"`
	Timestamp string `json:"timestamp"`
}

// finding returns the recalls by query that found a memory, as many as the call asks for.
func (c *call) finding(ctx context.Context, r recallRequest, branch string, m memory.Memory) (list []foundByQuery, err error) {
	if r.Recalls == 0 {
		return nil, nil
	}
	found, err := c.kit.recalls.Finding(ctx, c.Caller, branch, recalls.Fact{Namespace: m.Namespace, Key: m.Key}, r.Recalls)
	for _, one := range found {
		list = append(list, foundByQuery{one.Agent, one.Query, memory.FormatTime(one.Timestamp)})
	}
	return list, err
}

// use is how a memory was used until now.
type use struct {
	Accesses int64   `json:"accesses"`
	Last     string  `json:"last_access,omitempty"`
	Health   float64 `json:"health,omitempty"` // -1 to 1, by feedback
}

// use returns how a memory was used, if the call asks for it.
func (c *call) use(ctx context.Context, r recallRequest, p memory.Location, key string) (*use, error) {
	if !r.Use {
		return nil, nil
	}
	counted, err := c.access().Counters(ctx, p, key)
	if err != nil {
		return nil, err
	}
	return &use{counted.Accesses, stampOrNothing(counted.LastAccess), rounded(counted.Health)}, nil
}
