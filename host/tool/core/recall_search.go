package core

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/alcove-memory/alcove/host/internal/jsontext"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/recalls"
	"github.com/alcove-memory/alcove/host/tool"
)

// recallQuery searches the namespaces that the call names, or all, and records what it found for feedback.
func recallQuery(ctx context.Context, c *call, r recallRequest) (tool.Answer, error) {
	f := c.form(c.Location(), r.shown)
	q, found, err := c.lookUp(ctx, r, c.namespaces(r.Namespace), f)
	if err != nil {
		return tool.Answer{}, err
	}
	id := c.recordRecall(ctx, q, found.Hits)
	rows := make([]*fact, len(found.Hits))
	for i := range found.Hits {
		h := &found.Hits[i]
		rows[i] = &fact{FactID: idOf(h), FactType: h.Type, account: accountOf(h, f)}
	}
	hint, err := c.nothingFound(ctx, q, found)
	if err != nil {
		return tool.Answer{}, err
	}
	kept, encoded, cut, err := shortenEncoded(rows, tool.MaxAnswer)
	if err != nil {
		return tool.Answer{}, err
	}
	o := jsontext.NewObject(nil)
	o.List("facts", encoded)
	o.Text("recallId", id)
	return answered(o, found.Partial, c.also(hint, accountsNote(kept, cut, c.same("branch", "as_of"))))
}

// recallTopic searches the call's namespace, or those that it names.
func recallTopic(ctx context.Context, c *call, r recallRequest) (tool.Answer, error) {
	namespaces := c.namespaces(r.Namespace)
	if namespaces == nil {
		namespaces = c.topical()
	}
	f := c.form(c.Location(), r.shown)
	q, found, err := c.lookUp(ctx, r, namespaces, f)
	if err == nil && len(found.Hits) == 0 && !found.Partial {
		err = c.nothingAbout(ctx, q, found)
	}
	if err != nil {
		return tool.Answer{}, err
	}
	rows := make([]*topical, len(found.Hits))
	for i := range found.Hits {
		h := &found.Hits[i]
		rows[i] = &topical{MemoryID: idOf(h), Type: h.Type, account: accountOf(h, f)}
	}
	kept, encoded, cut, err := shortenEncoded(rows, tool.MaxAnswer)
	if err != nil {
		return tool.Answer{}, err
	}
	o := jsontext.NewObject(nil)
	o.List("memories", encoded)
	o.Count("count", uint64(len(kept)))
	return answered(o, found.Partial, c.also(accountsNote(kept, cut, c.same("branch", "as_of"))))
}

// topical returns where a recall by topic looks that names no namespace: the session's project, if there is one, and its namespace.
func (c *call) topical() []string {
	usual := c.Location().Namespace
	if p := c.project(nil); p != "" && p != usual {
		return []string{p, usual}
	}
	return []string{usual}
}

// answered ends the object of an answer, the same for programs and models.
func answered(o *jsontext.Object, partial bool, note string) (tool.Answer, error) {
	o.True("partial", partial)
	o.Text("note", note)
	whole, err := o.End()
	return tool.Answer{Structured: tool.Encoded(whole), Plain: tool.Encoded(whole), Notes: tool.NotesOf(note), HasNotes: true, Partial: partial}, err
}

// nothingAbout returns the error of a recall by topic that finds no memory.
func (c *call) nothingAbout(ctx context.Context, q memory.Search, found memory.Found) error {
	hint, err := c.nothingFound(ctx, q, found)
	if err != nil {
		return err
	}
	searched := []string{"text"}
	switch {
	case q.Mode == memory.Semantic:
		searched = []string{"vector"}
	case found.Vectors:
		searched = append(searched, "vector")
	}
	return &memory.Error{Code: memory.NotFound, Message: fmt.Sprintf("no memory in namespace %s is about %q: try other words, another namespace, or memory_search, which searches all of them. %s", tool.Quoted(q.Namespaces), tool.Clip(q.Text, 64), hint),
		Details: map[string]any{"topic": tool.Clip(q.Text, 200), "searched_backends": searched}}
}

// lookUp searches for the query or the topic, and counts an access to each hit in the present.
func (c *call) lookUp(ctx context.Context, r recallRequest, namespaces []string, f form) (memory.Search, memory.Found, error) {
	q := memory.Search{
		Text: r.Query + r.Topic, K: r.Limit, Namespaces: namespaces, Project: c.project(namespaces), Preferred: c.preferred(namespaces), Branch: c.location("", r.Branch).Branch, AsOf: r.AsOf.AsOf, Mode: r.Mode, Passage: f.passage(),
	}
	if q.Mode == "" && r.Semantic != nil && !*r.Semantic {
		q.Mode = memory.Lexical
	}
	least, err := c.configured(ctx, &q)
	if err != nil {
		return q, memory.Found{}, err
	}
	found, err := c.memories().Search(ctx, q)
	if err != nil {
		return q, memory.Found{}, err
	}
	found.Hits = alike(found.Hits, least)
	for _, note := range found.Notes {
		c.Note(note)
	}
	if q.AsOf.IsNow() && !c.DryRun && c.Stage == nil {
		err = c.access().CountAccesses(q.Branch, found.Hits)
	}
	return q, found, err
}

// recordRecall records what a query found, and returns the id; "" for a search of the past, in a dry run, within a family's call, and
// for a caller or a server that writes nothing.
func (c *call) recordRecall(ctx context.Context, q memory.Search, hits []memory.Hit) string {
	if !q.AsOf.IsNow() || c.DryRun || c.Stage != nil || c.ReadOnly() || c.kit.Writable != nil && c.kit.Writable() != nil {
		return ""
	}
	r := recalls.Recall{Branch: q.Branch, Query: q.Text}
	for _, h := range hits {
		r.Facts = append(r.Facts, recalls.Fact{Namespace: h.Namespace, Key: h.Key})
	}
	id, err := c.kit.recalls.Record(ctx, c.Caller, r)
	if err != nil {
		c.Note("What was found could not be recorded for feedback, so there is no recallId: " + tool.FailureOf(err).Message + ".")
	}
	return id
}

func idOf(h *memory.Hit) string { return recalls.Fact{Namespace: h.Namespace, Key: h.Key}.ID() }

// fact is a result of a recall by query, topical one of a recall by topic.
type fact struct {
	FactID   string `json:"factId"`
	FactType string `json:"factType,omitempty"`
	account
}

type topical struct {
	MemoryID string `json:"memory_id"`
	Type     string `json:"type,omitempty"`
	account
}

// account is what both tell of a memory.
type account struct {
	Content    json.RawMessage `json:"content,omitempty"`
	Omitted    bool            `json:"content_omitted,omitempty"`
	Truncated  bool            `json:"truncated,omitempty"`
	Snippet    string          `json:"snippet,omitempty"` // where the content is left out for its length
	Score      float64         `json:"score"`
	Importance *float64        `json:"importance,omitempty"`
	Tags       []string        `json:"tags,omitempty"`
	Timestamp  string          `json:"timestamp,omitempty"`
	dates
	Summary json.RawMessage `json:"summary,omitempty"`
	Fewer   bool            `json:"details_omitted,omitempty"`
}

func accountOf(h *memory.Hit, f form) account {
	a := account{Score: f.score(h.Score), Importance: shortened(h.Importance), Tags: h.Tags, Summary: h.Metadata["summary"]}
	if a.dates = f.dates(h.Memory); f.includes("timestamp") {
		a.Timestamp = memory.FormatTime(h.Timestamp)
	}
	if a.Content, a.Truncated = f.shown(h.Value, h.Snippet); a.Content == nil {
		a.Omitted, a.Snippet = true, h.Snippet()
	}
	return a
}

func (a *account) value() json.RawMessage { return a.Content }
func (a *account) dropValue()             { a.Content, a.Omitted, a.Truncated = nil, true, true }
func (a *account) dropDetails()           { a.Tags, a.Summary, a.Fewer = nil, nil, true }
func (a *account) cut() bool              { return a.Truncated }

// accountsNote returns a note on what was left out and how to get it.
func accountsNote[R interface{ cut() bool }](kept []R, c cut, same string) string {
	var said []string
	if n := count(kept) - len(c.values); n > 0 {
		said = append(said, were(n, "long value")+" cut (truncated).")
	}
	if !c.nothing() {
		said = append(said, fmt.Sprintf("To stay within %d characters, %s left out.", tool.MaxAnswer, were(len(c.values), "value")))
	}
	if c.rows > 0 {
		said = append(said, fmt.Sprintf("So %s the last: ask for fewer with limit.", were(c.rows, "result")))
	}
	if len(said) == 0 {
		return ""
	}
	return strings.Join(append(said, "memory_recall with an id as key"+same+" gives a memory whole."), " ")
}

// count returns the number of rows whose values are cut.
func count[R interface{ cut() bool }](rows []R) (n int) {
	for _, r := range rows {
		if r.cut() {
			n++
		}
	}
	return n
}
