package core

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

// period is the part of a branch's past that a call asks about: of the namespace that it names, or of all.
func (r *historyRequest) period(c *call, f form) memory.Period {
	p := memory.Period{Branch: f.place.Branch, Since: r.Since.AsOf, Until: r.Until.AsOf}
	if r.Namespace != "" {
		p.Namespaces = []string{r.Namespace}
	} else {
		p.Namespaces = c.namespaces(nil)
	}
	return p
}

// pointRow is a moment, and the newest version then; 0: nothing was written yet.
type pointRow struct {
	Version   uint64 `json:"version"`
	Timestamp string `json:"timestamp"`
}

func pointOf(version uint64, at time.Time) *pointRow {
	if at.IsZero() {
		return nil
	}
	return &pointRow{version, memory.FormatTime(at)}
}

// bucketRow is a span of a timeline. Its version is the newest at its end.
type bucketRow struct {
	Until   string `json:"until"`
	Version uint64 `json:"version"`
	Changes int    `json:"changes"`
}

type timelineAnswer struct {
	Branch   string      `json:"branch"`
	Since    *pointRow   `json:"since,omitempty"`
	Until    *pointRow   `json:"until,omitempty"`
	At       *pointRow   `json:"at,omitempty"` // what as_of shows
	Changes  int         `json:"changes"`
	Buckets  []bucketRow `json:"buckets"`
	Previous *pointRow   `json:"previous,omitempty"` // the last commit with a change before that of as_of
	Next     *pointRow   `json:"next,omitempty"`     // the first after it
}

// timeline answers with how many memories changed when.
func timeline(ctx context.Context, c *call, r historyRequest, f form) (tool.Answer, error) {
	t, err := c.access().Timeline(ctx, memory.TimelineQuery{Period: r.period(c, f), Buckets: r.Buckets, At: r.AsOf.AsOf})
	if err != nil {
		return tool.Answer{}, err
	}
	answer := timelineAnswer{
		Branch: t.Branch, Changes: t.Changes, At: pointOf(t.At.Version, t.At.Time),
		Since: pointOf(t.Since.Version, t.Since.Time), Until: pointOf(t.Until.Version, t.Until.Time),
		Buckets:  make([]bucketRow, len(t.Buckets)),
		Previous: pointOf(t.Previous.Version, t.Previous.Time), Next: pointOf(t.Next.Version, t.Next.Time),
	}
	for i, b := range t.Buckets {
		answer.Buckets[i] = bucketRow{memory.FormatTime(b.Until), b.Version, b.Changes}
	}
	return tool.Answer{Structured: answer, Plain: answer}, nil
}

// changeRow is a memory that differs between two moments.
type changeRow struct {
	Namespace string `json:"namespace,omitempty"` // unless the call's
	Key       string `json:"key"`
	Change    string `json:"change"` // added, changed or forgotten
	Before    *side  `json:"before,omitempty"`
	After     *side  `json:"after,omitempty"`
	Agent     string `json:"agent,omitempty"`
	Family    string `json:"family,omitempty"`
	Version   uint64 `json:"version"`
	Timestamp string `json:"timestamp"`
	Omitted   bool   `json:"value_omitted,omitempty"`
	Truncated bool   `json:"truncated,omitempty"`
	next      string
}

func changeOf(m memory.ChangedMemory, f form) *changeRow {
	r := &changeRow{
		Namespace: f.unless("namespace", m.Namespace, f.place.Namespace), Key: m.Key,
		Change: "changed", Before: sideOf(m.Before, f), After: sideOf(m.After, f),
		Agent: m.By.Agent, Family: m.By.Family, Version: m.Version, Timestamp: memory.FormatTime(m.Time), next: m.Next,
	}
	switch {
	case m.Before == nil:
		r.Change = "added"
	case m.After == nil:
		r.Change = "forgotten"
	}
	return r
}

func (r *changeRow) value() json.RawMessage {
	d := difference{Source: r.Before, Target: r.After}
	return d.value()
}

func (r *changeRow) dropValue() {
	r.Omitted, r.Truncated = true, true
	for _, s := range []*side{r.Before, r.After} {
		if s != nil {
			s.Value = nil
		}
	}
}

func (r *changeRow) dropDetails() {}

type changedAnswer struct {
	Changes []*changeRow `json:"changes"`
	Next    string       `json:"next,omitempty"`
	Note    string       `json:"note,omitempty"`
}

// changed answers with the memories that differ between two moments.
func changed(ctx context.Context, c *call, r historyRequest, f form) (tool.Answer, error) {
	list, next, err := c.access().Changed(ctx, memory.ChangedQuery{Period: r.period(c, f), Limit: r.Limit, After: r.After})
	if err != nil {
		return tool.Answer{}, err
	}
	rows := make([]*changeRow, len(list))
	for i, m := range list {
		rows[i] = changeOf(m, f)
	}
	kept, cut, err := shorten(rows, tool.MaxAnswer)
	if err != nil {
		return tool.Answer{}, fmt.Errorf("encode what changed: %w", err)
	}
	if cut.rows > 0 && len(kept) > 0 {
		next = kept[len(kept)-1].next
	}
	a := changedAnswer{Changes: kept, Next: next, Note: c.also(changedNote(cut, next))}
	return tool.Answer{Structured: a, Plain: a, Notes: tool.NotesOf(a.Note), HasNotes: true}, nil
}

// changedNote returns a note on what was left out of a list of changes.
func changedNote(c cut, next string) string {
	said := ""
	if len(c.values) > 0 {
		said = fmt.Sprintf("To stay within %d characters, %s left out: memory_recall with as_of=v… gives each whole. ",
			tool.MaxAnswer, were(len(c.values), "value"))
	}
	if next != "" {
		said += fmt.Sprintf("There may be more: call memory_history again with after=%q.", next)
	}
	return said
}
