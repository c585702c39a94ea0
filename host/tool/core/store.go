package core

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/effect"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/request"
)

func (k *kit) storeTool() tool.Spec {
	return declared(k, tool.Spec{
		Name:        "memory_store",
		Aliases:     strata("store"),
		Description: "Remember, save, note, add or update any JSON under a key; old versions stay. Several at once: items. expires: 2h or a date.",
		Docs: "Stores durably and searchably before it answers. Without a key one is derived from the value, so storing the same value again is the same memory. " +
			"Storing what is already there changes nothing. if_version makes it conditional: the call fails with conflict when the key is at another version (0: when there is one at all). " +
			"A batch in items is stored as a whole or not at all; tags, type and the like beside items count for each that does not say otherwise.",
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
		Staged:      true,
	}, store)
}

// item is a memory to store, or what those of a batch have in common.
type item struct {
	Key        string                     `json:"key" alcove:"alias=id" doc:"What to find it by again, for instance user/timezone. Derived from the value when left out."`
	Value      json.RawMessage            `json:"value" alcove:"alias=content" doc:"What to remember: any JSON value. Needed unless items are given."`
	Tags       []string                   `json:"tags" doc:"Words to filter searches by."`
	Type       string                     `json:"type" alcove:"alias=factType" doc:"What kind of memory it is, such as fact, preference or decision."`
	Importance *float64                   `json:"importance" doc:"How much it matters."`
	Metadata   map[string]json.RawMessage `json:"metadata" doc:"Any further facts about it. They are kept but not searched."`
	Expires    expiry                     `json:"expires" alcove:"alias=expires_at" doc:"When it stops being true: a time, or a span such as 2h or 30 days."`
	TTL        ttl                        `json:"ttl" alcove:"hidden"`
	Supersedes []string                   `json:"supersedes" schema:"'type':'string'" doc:"The key of the memory that this one replaces, or a list of keys."`
	Links      []string                   `json:"links" alcove:"advanced" doc:"Keys of related memories."`
	Vector     []float32                  `json:"vector" alcove:"advanced,alias=embedding" doc:"What the value means, if that is known: it is not embedded then."`
	Embedder   string                     `json:"embedder" alcove:"advanced" doc:"The embedder that the vector is of; any with as many dimensions when left out."`
	IfVersion  *version                   `json:"if_version" schema:"'type':'integer'" doc:"Store only if the key is at this version now; 0: only if there is none."`
}

type storeRequest struct {
	item
	Items     []batchItem `json:"items" doc:"Several memories, each an object with the fields above: all are stored, or none."`
	Namespace string      `json:"namespace" alcove:"alias=scope|scopeId" doc:"Where to store it; the session's namespace when left out."`
	Branch    string      `json:"branch" doc:"On which branch; the session's branch when left out."`
	verbosity
}

// Check implements request.Checker.
func (r *storeRequest) Check(a *request.Arguments) {
	if !r.batch(a) {
		checkItem(a)
		return
	}
	if len(r.Items) == 0 {
		a.Missing("items", "an object with a value for each memory")
	}
	for _, name := range []string{"key", "value", "if_version", "vector"} {
		if a.Has(name) {
			a.Fault(name, fmt.Sprintf("%s cannot be given beside items: put it into each of them", name))
		}
	}
}

// batch reports whether several memories are to be stored.
func (r *storeRequest) batch(a *request.Arguments) bool {
	return a.Has("items") && (len(r.Items) > 0 || r.Value == nil)
}

// batchItem is an item of a batch.
type batchItem struct{ item }

// Prepare implements request.Preparer.
func (batchItem) Prepare(own, batch *request.Arguments) {
	own.Inherit(batch, "tags", "type", "importance", "metadata", "supersedes", "links")
	if !own.Has("expires") && !own.Has("ttl") {
		own.Inherit(batch, "expires", "ttl")
	}
}

// Check implements request.Checker.
func (batchItem) Check(a *request.Arguments) { checkItem(a) }

func checkItem(a *request.Arguments) {
	if _, given := a.Value("value"); !given {
		a.Missing("value", "what to remember, as any JSON value")
	}
	if a.Has("expires") && a.Has("ttl") {
		a.Fault("ttl", "ttl and expires are the same parameter: give one of them")
	}
}

// memory returns the memory to store.
func (i *item) memory() memory.Item {
	m := memory.Item{
		Key: i.Key, Value: i.Value, Tags: i.Tags, Type: i.Type, Importance: i.Importance, Metadata: i.Metadata, Supersedes: i.Supersedes, Links: i.Links,
		ExpiresAt: i.Expires.Time, IfVersion: (*uint64)(i.IfVersion), Vector: memory.Vector{Embedder: i.Embedder, Values: i.Vector},
	}
	if !i.TTL.IsZero() {
		m.ExpiresAt = i.TTL.Time
	}
	return m
}

func store(ctx context.Context, c *call, r storeRequest) (tool.Answer, error) {
	location := c.location(r.Namespace, r.Branch)
	f, batch := c.form(location, shown{Verbose: r.Verbose}), r.batch(c.Arguments)
	items := []memory.Item{r.memory()}
	if batch {
		items = make([]memory.Item, len(r.Items))
		for i := range r.Items {
			items[i] = r.Items[i].memory()
		}
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
