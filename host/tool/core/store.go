package core

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/effect"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/request"
)

func (k *kit) storeTool() tool.Spec {
	return tool.Spec{
		Name:        "memory_store",
		Aliases:     strata("store"),
		Description: "Remember any JSON value under a key; older versions are kept. Several at once: items. expires: 2h or a date.",
		Docs: "Stores durably and searchably before it answers. Without a key one is derived from the value, so storing the same value again is the same memory. " +
			"Storing what is already there changes nothing. if_version makes it conditional: the call fails with conflict when the key is at another version (0: when there is one at all). " +
			"A batch in items is stored as a whole or not at all; tags, type and the like beside items count for each that does not say otherwise.",
		Input: json.RawMessage(`{
			"type": "object",
			"properties": {
				"key": {"type": "string", "description": "What to find it by again, for instance user/timezone. Derived from the value when left out."},
				"value": {"description": "What to remember: any JSON value. Needed unless items are given."},
				"tags": {"type": "array", "items": {"type": "string"}, "description": "Words to filter searches by."},
				"type": {"type": "string", "description": "What kind of memory it is, such as fact, preference or decision."},
				"importance": {"type": "number", "minimum": 0, "maximum": 1, "description": "How much it matters."},
				"metadata": {"type": "object", "description": "Any further facts about it. They are kept but not searched."},
				"expires": {"type": "string", "description": "When it stops being true: a time, or a span such as 2h or 30 days."},
				"supersedes": {"type": "string", "description": "The key of the memory that this one replaces, or a list of keys."},
				"links": {"type": "array", "items": {"type": "string"}, "x-advanced": true, "description": "Keys of related memories."},
				"vector": {"type": "array", "items": {"type": "number"}, "x-advanced": true, "description": "What the value means, if that is known: it is not embedded then."},
				"embedder": {"type": "string", "x-advanced": true, "description": "The embedder that the vector is of; any with as many dimensions when left out."},
				"if_version": {"type": "integer", "description": "Store only if the key is at this version now; 0: only if there is none."},
				"items": {"type": "array", "items": {"type": "object"}, "description": "Several memories, each an object with the fields above: all are stored, or none."},
				"namespace": {"type": "string", "description": "Where to store it; the session's namespace when left out."},
				"branch": {"type": "string", "description": "On which branch; the session's branch when left out."},
				` + verboseProperty + `
			}
		}`),
		Output: json.RawMessage(`{
			"type": "object",
			"properties": {
				"key": {"type": "string"},
				"version": {"type": "integer"},
				"replaced": {"type": "object", "description": "What was under the key: version, the beginning of its value if that was another, and agent if another wrote it."},
				"timestamp": {"type": "string"},
				"stored": {"type": "array", "items": {"type": "object"}, "description": "With items: a receipt for each."},
				"notes": {"type": "array", "items": {"type": "string"}, "description": "Which families could not take part, and why."}
			}
		}`),
		Annotations: tool.Annotations{Idempotent: true},
		Parameters: map[string]string{
			"id":         "key",
			"content":    "value",
			"factType":   "type",
			"expires_at": "expires",
			"ttl":        "ttl",
			"embedding":  "vector",
			"scope":      "namespace",
			"scopeId":    "namespace",
		},
		Lenient: true,
		Staged:  true,
		Handler: k.handler(store),
	}
}

func store(ctx context.Context, c *call) (tool.Answer, error) {
	location := c.location()
	f := c.form(location)
	items, batch := decodeItems(c)
	if err := c.Arguments.Err(); err != nil {
		return tool.Answer{}, err
	}
	if c.DryRun {
		return c.rehearseStore(ctx, location, items)
	}
	stored, err := c.memories().Store(ctx, location, items, c.Write())
	if err != nil {
		return tool.Answer{}, err
	}
	receipts := make([]receipt, len(stored))
	for i, s := range stored {
		receipts[i] = receipt{Key: s.Key, Version: s.Version, Timestamp: memory.FormatTime(s.Timestamp), Replaced: c.replaced(s.Former, i < mostFormer)}
	}
	said := c.TakeNotes()
	if !batch {
		receipts[0].Notes = said
		return tool.Answer{Structured: receipts[0], Plain: f.receipts(receipts)[0]}, nil
	}
	return tool.Answer{Structured: struct {
		Stored []receipt `json:"stored"`
		Notes  []string  `json:"notes,omitempty"`
	}{receipts, said}, Plain: f.receipts(receipts), Notes: said, HasNotes: true}, nil
}

// rehearseStore answers with what storing would replace and what hooks would send.
func (c *call) rehearseStore(ctx context.Context, location memory.Location, items []memory.Item) (tool.Answer, error) {
	effects := effect.Rehearse()
	stored, err := c.memories().Store(effect.With(ctx, effects), location, items, c.Write())
	if err != nil {
		return tool.Answer{}, err
	}
	for _, withheld := range effects.Withheld() {
		c.Note(withheld)
	}
	rows := make([]storeRow, len(stored))
	for i, s := range stored {
		rows[i] = storeRow{Key: s.Key, Replaces: s.Replaces, Unchanged: s.Version != 0}
		if rows[i].Unchanged {
			rows[i].Replaces = 0
		}
	}
	return rehearsed(map[string]any{"store": rows}), nil
}

// storeRow describes what storing an item would do.
type storeRow struct {
	Key       string `json:"key"`
	Replaces  uint64 `json:"replaces_version,omitempty"`
	Unchanged bool   `json:"unchanged,omitempty"` // equal to the stored memory
}

type receipt struct {
	Key       string          `json:"key"`
	Version   uint64          `json:"version"`
	Replaced  *replacedMemory `json:"replaced,omitempty"` // nil: the key was free, or nothing changed
	Timestamp string          `json:"timestamp,omitempty"`
	Notes     []string        `json:"notes,omitempty"` // such as which hook was skipped, and why
}

const (
	mostFormer  = 20 // items of a batch whose receipts have the former value
	shortFormer = 80 // characters of a former value
)

// replacedMemory is what a store put something else in place of.
type replacedMemory struct {
	Version uint64          `json:"version"`
	Value   json.RawMessage `json:"value,omitempty"` // its beginning; nil: the new value is equal, or the batch is long
	Agent   string          `json:"agent,omitempty"` // unless the caller
}

func (c *call) replaced(f *memory.Former, whole bool) *replacedMemory {
	if f == nil {
		return nil
	}
	r := &replacedMemory{Version: f.Version}
	if f.Agent != c.Caller.Agent {
		r.Agent = f.Agent
	}
	if whole && f.Value != nil {
		r.Value = brief(f.Value, shortFormer)
	}
	return r
}

// brief returns a value if it is short, else the beginning of its text.
func brief(value json.RawMessage, length int) json.RawMessage {
	if utf8.RuneCount(value) <= length {
		return value
	}
	text := beginning(value, length)
	if text == "" {
		text = tool.Clip(string(value), length-1)
	}
	short, err := tool.Encode(text)
	if err != nil {
		return nil
	}
	return short
}

// receipts returns receipts for readers, who know what time it is.
func (f form) receipts(list []receipt) []receipt {
	if f.verbose {
		return list
	}
	short := slices.Clone(list)
	for i := range short {
		short[i].Timestamp = ""
	}
	return short
}

// decodeItems reads the items to store, and reports whether they came as a batch.
func decodeItems(c *call) (items []memory.Item, batch bool) {
	a, now := c.Arguments, c.Now
	list := a.Objects("items")
	_, batch = a.Get("items")
	_, single := a.Value("value")
	if !batch || len(list) == 0 && single {
		return []memory.Item{decodeItem(a, now)}, false
	}
	if len(list) == 0 {
		a.Missing("items", "an object with a value for each memory")
	}
	for _, name := range []string{"key", "value", "if_version", "vector"} {
		if _, beside := a.Get(name); beside {
			a.Fault(name, fmt.Sprintf("%s cannot be given beside items: put it into each of them", name))
		}
	}
	for _, item := range list {
		item.Rename(c.Tool.Names(), itemParameters()...)
		item.Inherit(a, "tags", "type", "importance", "metadata", "supersedes", "links")
		if !item.Has("expires") && !item.Has("ttl") {
			item.Inherit(a, "expires", "ttl")
		}
		items = append(items, decodeItem(item, now))
	}
	return items, true
}

func decodeItem(a *request.Arguments, now time.Time) memory.Item {
	value, ok := a.Value("value")
	if !ok {
		a.Missing("value", "what to remember, as any JSON value")
		value = json.RawMessage("null")
	}
	return memory.Item{
		Key:        a.Text("key"),
		Value:      value,
		Tags:       a.Texts("tags"),
		Type:       a.Text("type"),
		Importance: a.Fraction("importance"),
		Metadata:   a.Object("metadata"),
		Supersedes: a.Texts("supersedes"),
		Links:      a.Texts("links"),
		ExpiresAt:  expiry(a, now),
		IfVersion:  a.Version("if_version"),
		Vector:     memory.Vector{Embedder: a.Text("embedder"), Values: a.Numbers("vector")},
	}
}

// itemParameters returns the parameters that an item of a batch can have.
func itemParameters() []string {
	return []string{"key", "value", "tags", "type", "importance", "metadata", "expires", "ttl", "supersedes", "links", "vector", "embedder", "if_version"}
}

// longestTTL is the maximum ttl given as a number, in seconds.
const longestTTL = 100 * 365 * 24 * 60 * 60

// expiry returns when a memory expires, given as a moment, a span or, for ttl, a number of seconds.
func expiry(a *request.Arguments, now time.Time) time.Time {
	raw, given := a.Get("ttl")
	if !given {
		return a.Moment("expires", now, memory.ParseExpiry)
	}
	if _, both := a.Get("expires"); both {
		a.Fault("ttl", "ttl and expires are the same parameter: give one of them")
		return time.Time{}
	}
	if strings.ContainsAny(string(raw), "abcdefghijklmnopqrstuvwxyz") { // a span, not a number
		return a.Moment("ttl", now, memory.ParseExpiry)
	}
	return now.UTC().Add(time.Duration(a.Whole("ttl", 0, 1, longestTTL)) * time.Second)
}
