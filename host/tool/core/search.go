package core

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/internal/jsontext"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/request"
)

const (
	// charactersPerToken is a low estimate for JSON in most languages. noteCharacters is reserved for notes beside the
	// results.
	charactersPerToken = 2
	noteCharacters     = 300
)

func (k *kit) searchTool() tool.Spec {
	return declared(k, tool.Spec{
		Name:        "memory_search",
		Aliases:     strata("search"),
		Spellings:   oldSearchSpellings(),
		Description: "Search: find what you know or discussed, best first, outside other projects. No query: list by order (newest, key, importance, accesses). since: 2h ago or a date.",
		Docs: "Without a query it lists what the filters admit; order is newest (when left out), oldest, updated, key, importance, accesses or accessed, and after takes next of the page before: later pages show what there was at the first one. With a query, order sorts all that match by it instead of by relevance. " +
			"Plain words do; \"exact phrases\", prefix*, -without and fuzzy~ are understood. Filters apply before the best k are taken. A session that works in a project leaves other projects out, unless namespace names some, or is \"*\". tags: has all of them. type, state, namespace: is one of them; only active memories are searched unless state says otherwise. " +
			"since and until bound when a memory was created, at its origin if it was imported, or last written; as_of searches the past as it was. events searches the log of memory_log instead; with chain, the log of another space, by agent, type and time, and note says if an event is missing or altered. " +
			"A long text is cut to its best passage, another long value to a snippet: truncated marks them, and memory_recall gives each whole. " +
			"updated is when a memory was last written (UTC), created when it was first, if that was earlier. " +
			"facets counts what matches, by words, over all pages: of namespace, type, agent, state and dates as if the search had no condition on them. " +
			"Namespace, agent, version and timestamp are shown if fields names them, all with verbose; namespace and agent also where they are not the call's.",
		Output: json.RawMessage(`{
			"type": "object",
			"properties": {
				"results": {"type": "array", "items": {"type": "object"}, "description": "key, value, score, updated and more; namespace where it is not the call's; truncated where a value was cut, value_omitted where it was left out, with a snippet."},
				"total": {"type": "integer", "description": "How many match in all."},
				"next": {"type": "string", "description": "Of a list: after, for the next page."},
				"facets": {"type": "object", "description": "If asked for: of namespace, type, tags, agent, state and dates the values with their counts, the most frequent first; more is how many are left out."},
				"partial": {"type": "boolean", "description": "Something was left out for want of time, as note says."},
				"note": {"type": "string", "description": "What was left out of a long answer, and how to get it."}
			},
			"required": ["results"]
		}`),
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true},
		Staged:      true,
	}, find)
}

type searchRequest struct {
	Query     string         `json:"query" alcove:"alias=topic|q|text" doc:"What to look for, in plain words. Without it, memories are listed."`
	Order     memory.Order   `json:"order" alcove:"alias=sort|sort_by" doc:"What a list goes by; with a query, instead of relevance: newest, oldest, updated, key, importance, accesses or accessed."`
	After     string         `json:"after" alcove:"advanced,alias=cursor" doc:"next of the page before, to list on."`
	K         int            `json:"k" alcove:"alias=limit|top_k" doc:"How many results, at most {max}: {default} when left out."`
	Offset    int            `json:"offset" alcove:"advanced" doc:"How many of the best results to pass over, to read on."`
	Tags      []string       `json:"tags" doc:"Only memories with all of these tags."`
	NoTags    []string       `json:"no_tags" alcove:"advanced" doc:"Only memories with none of these tags."`
	Prefix    string         `json:"prefix" alcove:"advanced" doc:"Only memories whose key begins with this."`
	Types     []string       `json:"type" alcove:"alias=factType|types" schema:"'type':['string','array'],'items':{'type':'string'}" doc:"Only memories of this type, or one of these."`
	Agents    []string       `json:"agent" alcove:"advanced" schema:"'type':'string'" doc:"Only what this agent wrote last, or one of a list of agents."`
	States    []memory.State `json:"state" alcove:"advanced" schema:"'type':'string'" doc:"active (when left out), archived, merged or pruned; or a list of these."`
	Since     moment         `json:"since" alcove:"alias=start" doc:"Only what was created or written from this moment on, such as 2h ago, yesterday or 2026-03-01."`
	Until     moment         `json:"until" alcove:"advanced,alias=end" doc:"Only what was created or written before this moment, in the same forms."`
	Namespace []string       `json:"namespace" alcove:"alias=scope|scopeId|scopeIds|namespaces" schema:"'type':'string'" doc:"Only this namespace, or a list of them, or * for all; all but other projects when left out."`
	Branch    string         `json:"branch" doc:"On which branch; the session's branch when left out."`
	AsOf      asOf           `json:"as_of" doc:"Search what there was at a past moment, such as 1h ago, yesterday or v12."`
	Events    bool           `json:"events" alcove:"advanced" doc:"Search the log's events instead of memories."`
	Chain     string         `json:"chain" alcove:"advanced" doc:"With events: the log of another space instead, received by a sync: its id or the name of its remote, or * for a list of these logs."`
	Mode      memory.Mode    `json:"mode" alcove:"advanced,alias=strategy|searchStrategy" doc:"What ranks: hybrid (words and meaning; when left out), lexical or semantic. Without an embedder all is by words."`
	Vector    []float32      `json:"vector" alcove:"advanced,alias=embedding" doc:"What the question means, in the embedder's dimensions, instead of having it embedded."`
	Embedder  string         `json:"embedder" alcove:"advanced" doc:"Whose vectors decide, where there are several."`
	Expand    bool           `json:"expand" alcove:"advanced" doc:"Look for what stands out in the best results, too: more is found, a little less exactly."`
	Distinct  bool           `json:"distinct" alcove:"advanced" doc:"Of near-duplicates only the best, with how many it stands for in similar."`
	Tokens    int            `json:"budget_tokens" alcove:"advanced,show=minimum|maximum" doc:"How many tokens of a model the results may take; what does not fit is left out, and said."`
	Explain   bool           `json:"explain" alcove:"advanced" doc:"Say how each score came about."`
	Facets    bool           `json:"facets" alcove:"advanced" doc:"Count all that matches by namespace, type, tags, agent, state and date."`
	shown
	_ request.Spreads `alcove:"spread=filter|filters|dateRange"`
}

// Limits implements request.Limited.
func (searchRequest) Limits() request.Limits {
	return request.Limits{
		"k": hits(), "offset": {Max: search.MostOffset}, "budget_tokens": {Min: 200, Max: 100_000}, "mode": modes(),
		"order": {Words: request.Words(memory.ByNewest, memory.ByOldest, memory.ByUpdate, memory.ByKey, memory.ByImportance, memory.ByAccesses, memory.ByAccess)},
		"state": {Words: request.Words(memory.Active, memory.Archived, memory.Merged, memory.Pruned)},
	}
}

// hits limits how many results a search gives, modes what ranks them.
func hits() request.Limit {
	return request.Limit{Min: 1, Max: memory.MostHits, Default: search.DefaultHits}
}

func modes() request.Limit {
	return request.Limit{
		Words:    request.Words(memory.Hybrid, memory.Lexical, memory.Semantic),
		Synonyms: map[string]string{"vector-only": string(memory.Semantic), "text-only": string(memory.Lexical)},
	}
}

// Check implements request.Checker.
func (r *searchRequest) Check(a *request.Arguments) { checkNamespaces(a, r.Namespace) }

// begun implements dated: a further page counts moments from the call for the first.
func (*searchRequest) begun(a *request.Arguments, now time.Time) time.Time {
	after, _ := a.Value("after")
	text, _ := request.Text(after)
	return memory.SearchBegan(text, now)
}

// search returns what is searched for, what the answer tells, and the limit of the results in characters.
func (c *call) search(r searchRequest) (q memory.Search, f form, limit int) {
	q = memory.Search{
		Text: r.Query, Prefix: r.Prefix, Order: r.Order, After: r.After, K: r.K, Offset: r.Offset, Tags: r.Tags, NoTags: r.NoTags, Types: r.Types, Writers: r.Agents, States: r.States,
		Since: r.Since.Time, Until: r.Until.Time, Namespaces: c.namespaces(r.Namespace), Branch: c.location("", r.Branch).Branch, AsOf: r.AsOf.AsOf,
		Project: c.project(r.Namespace), Preferred: c.preferred(r.Namespace),
		Events: r.Events, Mode: r.Mode, Vector: r.Vector, Embedder: r.Embedder, Expand: r.Expand, Distinct: r.Distinct, Explain: r.Explain, Features: r.Explain, Facets: r.Facets,
	}
	if q.Text == "" && q.Order == "" && q.Vector == nil {
		q.Order = memory.ByNewest
	}
	limit = tool.MaxAnswer
	if r.Tokens > 0 {
		limit = min(limit, r.Tokens*charactersPerToken-noteCharacters)
	}
	f = c.form(memory.Location{Branch: q.Branch, Namespace: c.Location().Namespace}, r.shown)
	if len(q.Namespaces) == 1 {
		f.place.Namespace = q.Namespaces[0]
	}
	q.Passage = f.passage()
	return q, f, limit
}

func find(ctx context.Context, c *call, r searchRequest) (tool.Answer, error) {
	if r.Chain != "" {
		return received(ctx, c, r)
	}
	q, f, limit := c.search(r)
	least, err := c.configured(ctx, &q)
	if err != nil {
		return tool.Answer{}, err
	}
	found, err := c.memories().Search(ctx, q)
	if err != nil {
		return tool.Answer{}, err
	}
	found.Hits = alike(found.Hits, least)
	hint, err := c.nothingFound(ctx, q, found)
	if err != nil {
		return tool.Answer{}, err
	}
	if !q.Explain {
		for i := range found.Hits {
			found.Hits[i].Features = nil // they served the threshold
		}
	}
	rows := make([]*hit, len(found.Hits))
	for i := range found.Hits {
		rows[i] = hitOf(&found.Hits[i], q.Events, f)
		if q.Text == "" && q.Order != "" {
			rows[i].unranked()
		}
	}
	kept, encoded, cut, err := shortenEncoded(rows, limit)
	if err != nil {
		return tool.Answer{}, fmt.Errorf("encode results: %w", err)
	}
	said := slices.Concat(found.Notes, tool.NotesOf(hint), searchNote(kept, cut, limit, q, c.same("branch", "as_of")), c.TakeNotes())
	note, next := strings.Join(said, " "), nextPage(found, cut)
	o := jsontext.NewObject(nil)
	list := o.List("results", encoded)
	o.Count("total", uint64(found.Total))
	o.Text("next", next)
	o.True("partial", found.Partial)
	if found.Facets != nil {
		o.Any("facets", facetsOf(found.Facets))
	}
	o.Text("note", note)
	structured, err := o.End()
	if err != nil {
		return tool.Answer{}, fmt.Errorf("encode results: %w", err)
	}
	plain := list
	if found.Facets != nil {
		plain = structured
	}
	return tool.Answer{Structured: tool.Encoded(structured), Plain: tool.Encoded(plain), Notes: slices.Concat(tool.NotesOf(note), tool.NotesOf(nextNote(next, found.Total))), HasNotes: true, Partial: found.Partial}, nil
}

// hit is a search result: a memory, or an event of the log.
type hit struct {
	Key       string          `json:"key,omitempty"`
	Event     string          `json:"event,omitempty"`
	Sequence  uint64          `json:"sequence,omitempty"`
	Namespace string          `json:"namespace,omitempty"`
	Branch    string          `json:"branch,omitempty"` // on which it was written, if asked for
	Value     json.RawMessage `json:"value,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`
	Omitted   bool            `json:"value_omitted,omitempty"`
	Truncated bool            `json:"truncated,omitempty"`
	Score     *float64        `json:"score,omitempty"`   // nil: in a list
	Snippet   *string         `json:"snippet,omitempty"` // nil: the value says it
	Similar   int             `json:"similar,omitempty"`
	Replaced  string          `json:"superseded_by,omitempty"`
	Version   uint64          `json:"version,omitempty"`
	Timestamp string          `json:"timestamp,omitempty"`
	dates
	particulars
	Fewer bool `json:"details_omitted,omitempty"`
	Why   *why `json:"why,omitempty"`

	snippet func() string // shown instead of the value, if that is left out
}

func hitOf(h *memory.Hit, event bool, f form) *hit {
	r := &hit{
		Key: h.Key, Namespace: f.unless("namespace", h.Namespace, f.place.Namespace), Score: new(f.score(h.Score)), Similar: h.Similar, Replaced: h.SupersededBy,
		particulars: particularsOf(h.Memory), Why: whyOf(h), snippet: h.Snippet,
	}
	if slices.Contains(f.fields, "branch") {
		r.Branch = h.Branch
	}
	if f.includes("version") {
		r.Version = h.Version
	}
	if f.includes("timestamp") || event { // of an event, the time is half of what it tells
		r.Timestamp = memory.FormatTime(h.Timestamp)
	}
	if !event {
		r.dates = f.dates(h.Memory)
	}
	r.Agent = f.unless("agent", r.Agent, f.agent)
	if !f.verbose {
		r.Metadata = withoutBookkeeping(r.Metadata)
	}
	r.Value, r.Truncated = f.shown(h.Value, h.Snippet)
	if r.Omitted = r.Truncated && r.Value == nil; r.Omitted || f.verbose {
		r.Snippet = new(h.Snippet())
	}
	if event {
		sequence, _ := strconv.ParseUint(h.Key, 10, 64) // an event's key is its number
		r.Event, r.Sequence, r.Data = h.Type, sequence, r.Value
		r.Key, r.Value, r.Type = "", nil, ""
	}
	return r
}

// appendTo appends the hit as JSON, as its tags have it.
func (h *hit) appendTo(to []byte) ([]byte, error) {
	o := jsontext.NewObject(to)
	o.Text("key", h.Key)
	o.Text("event", h.Event)
	o.Whole("sequence", h.Sequence)
	o.Text("namespace", h.Namespace)
	o.Text("branch", h.Branch)
	o.Value("value", h.Value)
	o.Value("data", h.Data)
	o.True("value_omitted", h.Omitted)
	o.True("truncated", h.Truncated)
	o.NumberAt("score", h.Score)
	o.TextAt("snippet", h.Snippet)
	o.Whole("similar", uint64(h.Similar))
	o.Text("superseded_by", h.Replaced)
	o.Whole("version", h.Version)
	o.Text("timestamp", h.Timestamp)
	o.Text("updated", h.Updated)
	o.Text("created", h.Created)
	h.particulars.appendTo(o)
	o.True("details_omitted", h.Fewer)
	if h.Why != nil {
		o.Any("why", h.Why)
	}
	return o.End()
}

// nextPage returns the cursor of the page after the one that is shown; "" if there is none, or if its end was left out.
func nextPage(found memory.Found, c cut) string {
	if c.rows > 0 {
		return ""
	}
	return found.Next
}

// nextNote tells readers how to list on.
func nextNote(next string, total int) string {
	if next == "" {
		return ""
	}
	return fmt.Sprintf("%d in all: the same call with after=%q lists on.", total, next)
}

// unranked drops what a row of a list does not have: it answers no question.
func (h *hit) unranked() { h.Score = nil }

// rounded rounds a score to the digits that distinguish results.
func rounded(score float64) float64 { return math.Round(score*1e4) / 1e4 }

func (h *hit) value() json.RawMessage {
	if h.Data != nil {
		return h.Data
	}
	return h.Value
}

func (h *hit) dropValue() {
	h.Value, h.Data, h.Omitted, h.Truncated, h.Snippet = nil, nil, true, true, new(h.snippet())
}

func (h *hit) cut() bool { return h.Truncated }

func (h *hit) dropDetails() {
	h.dropLarge()
	h.Why, h.Fewer = nil, true
}

// why explains a score.
type why struct {
	Branch string `json:"branch"` // on which the memory was written
	search.Explanation
	Meaning float64 `json:"meaning_weight,omitempty"` // the share of meaning in the score
	// Features are the inputs of ranking families.
	Features map[string]float64 `json:"features,omitempty"`
}

func whyOf(h *memory.Hit) *why {
	if h.Why == nil && len(h.Features) == 0 {
		return nil
	}
	w := &why{Branch: h.Branch, Features: map[string]float64{}, Meaning: rounded(h.SemanticWeight)}
	if h.Why != nil {
		w.Explanation = *h.Why
	}
	figures := []*float64{&w.Average, &w.K1, &w.B}
	if t := w.Turn; t != nil {
		figures = append(figures, &t.Window, &t.Cover, &t.Zone, &t.Question, &t.Speaker, &t.Date)
	}
	if w.Terms == nil {
		w.Terms = []search.Term{}
	}
	for i := range w.Terms {
		figures = append(figures, &w.Terms[i].Score, &w.Terms[i].IDF, &w.Terms[i].Near)
	}
	for _, figure := range figures {
		*figure = rounded(*figure)
	}
	for name, value := range h.Features {
		w.Features[name] = rounded(float64(value))
	}
	return w
}

// searchNote returns a note on what was left out and how to get it.
func searchNote(kept []*hit, c cut, limit int, q memory.Search, same string) []string {
	said := passagesNote(kept, c, q, same)
	if c.nothing() {
		return said
	}
	said = append(said, fmt.Sprintf("To stay within %d characters:", limit))
	if len(c.values) > 0 {
		said = append(said, omittedValues(kept, c, q, same))
	}
	if c.details {
		said = append(said, "tags, links, metadata and explanations were left out.")
	}
	if c.rows > 0 && q.After != "" {
		said = append(said, fmt.Sprintf("The last %s left out: call again with k=%d.", were(c.rows, "result"), len(kept)))
	} else if c.rows > 0 {
		said = append(said, fmt.Sprintf("The last %s left out: search again with offset=%d.", were(c.rows, "result"), q.Offset+len(kept)))
	}
	return said
}

// passagesNote returns how to get the values that are shown by a passage, apart from those that omittedValues names.
func passagesNote(kept []*hit, c cut, q memory.Search, same string) []string {
	n := count(kept) - len(c.values)
	switch {
	case n == 0:
		return nil
	case q.Events:
		return []string{were(n, "long value") + " cut (truncated): the same search with verbose=true gives all of it."}
	}
	return []string{were(n, "long value") + " cut (truncated): memory_recall with key and namespace" + same + " gives each whole."}
}

func omittedValues(kept []*hit, c cut, q memory.Search, same string) string {
	var keys []string
	for _, i := range c.values {
		keys = append(keys, cmp.Or(kept[i].Key, fmt.Sprintf("%s #%d", kept[i].Event, kept[i].Sequence)))
	}
	text := fmt.Sprintf("%s left out (%s).", were(len(c.values), "value"), tool.Quoted(keys))
	if q.Events {
		return text + " Search for fewer at once (k=1, offset) to get each whole."
	}
	return text + " memory_recall with the key and namespace" + same + " gives each whole."
}
