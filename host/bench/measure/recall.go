package measure

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Caller calls a tool of a memory and gives its structured answer.
type Caller func(tool string, arguments any) (json.RawMessage, error)

// Recall says what to measure.
type Recall struct {
	Documents []Document
	Questions []Question
	Group     string                // the field that says which documents a question is asked of; empty: all of them
	Search    map[string]any        // further arguments of memory_search
	Now       func() time.Time      // the clock
	Stored    func() error          // called when all documents are stored; may be nil
	Progress  func(done, total int) // of documents and questions; may be nil
}

// Report is what was measured.
type Report struct {
	Metrics    Metrics            `json:"metrics"`
	ByCategory map[string]Metrics `json:"by_category,omitempty"` // by meta.category of the questions, where they have one
	Latency    Latency            `json:"latency_ms"`            // of a memory_search for 20 hits
	Documents  int                `json:"documents"`
	Unjudged   int                `json:"unjudged,omitempty"` // questions without a relevant document, which are not in the metrics
	Questions  []Found            `json:"queries,omitempty"`
}

// Found is what a question brought.
type Found struct {
	ID   string   `json:"id"`
	Hits []string `json:"hits"` // ids of documents, best first
}

// deepest is how many hits each question asks for.
const deepest = 20

// Run stores the documents, each under its id, with its fields as metadata, and asks the questions.
func (r Recall) Run(ctx context.Context, call Caller) (Report, error) {
	report := Report{Documents: len(r.Documents), ByCategory: map[string]Metrics{}}
	if err := r.store(ctx, call); err != nil {
		return report, err
	}
	if r.Stored != nil {
		if err := r.Stored(); err != nil {
			return report, err
		}
	}
	var times []time.Duration
	for i, q := range r.Questions {
		if err := ctx.Err(); err != nil {
			return report, err
		}
		hits, took, err := r.ask(call, q)
		if err != nil {
			return report, fmt.Errorf("ask question %s: %w", q.ID, err)
		}
		times = append(times, took)
		report.judge(q, hits)
		r.progressed(len(r.Documents) + i + 1)
	}
	report.Latency = latencyOf(times)
	report.Metrics = report.Metrics.mean()
	for category, m := range report.ByCategory {
		report.ByCategory[category] = m.mean()
	}
	return report, nil
}

func (r *Report) judge(q Question, hits []string) {
	r.Questions = append(r.Questions, Found{ID: q.ID, Hits: hits})
	if relevants(q.Relevant) == 0 {
		r.Unjudged++
		return
	}
	m := of(hits, q.Relevant)
	r.Metrics.add(m)
	if category := field(q.Meta, "category"); category != "" {
		sum := r.ByCategory[category]
		sum.add(m)
		r.ByCategory[category] = sum
	}
}

func (r Recall) progressed(done int) {
	if r.Progress != nil {
		r.Progress(done, len(r.Documents)+len(r.Questions))
	}
}

// Limits of one call of memory_store.
const (
	largestBatch = 500
	longestBatch = 2 << 20 // bytes of text
)

// store keeps all documents, group by group and within a group in their order.
func (r Recall) store(ctx context.Context, call Caller) error {
	groups := map[string][]map[string]any{}
	for _, d := range r.Documents {
		item := map[string]any{"key": d.ID, "value": d.Text}
		if len(d.Meta) > 0 {
			item["metadata"] = d.Meta
		}
		in := namespace(r.groupOf(d.Meta))
		groups[in] = append(groups[in], item)
	}
	done := 0
	for _, in := range slices.Sorted(maps.Keys(groups)) {
		for list := groups[in]; len(list) > 0; {
			n := batchOf(list)
			if err := ctx.Err(); err != nil {
				return err
			}
			if _, err := call("memory_store", map[string]any{"items": list[:n], "namespace": in}); err != nil {
				return fmt.Errorf("store documents %q to %q: %w", list[0]["key"], list[n-1]["key"], err)
			}
			list, done = list[n:], done+n
			r.progressed(done)
		}
	}
	return nil
}

// batchOf is how many items go into the next call: at least one.
func batchOf(list []map[string]any) int {
	n, size := 0, 0
	for ; n < min(len(list), largestBatch); n++ {
		text, _ := list[n]["value"].(string)
		if size += len(text); size > longestBatch && n > 0 {
			break
		}
	}
	return n
}

func (r Recall) groupOf(meta map[string]json.RawMessage) string {
	if r.Group == "" {
		return ""
	}
	return field(meta, r.Group)
}

// ask tells which documents a question finds, and how long the first search took. A long answer leaves hits out: then
// it searches on.
func (r Recall) ask(call Caller, q Question) (ids []string, took time.Duration, err error) {
	ids = []string{}
	for total := deepest; len(ids) < total; {
		arguments := map[string]any{"query": q.Text, "k": deepest - len(ids), "namespace": namespace(r.groupOf(q.Meta))}
		if len(ids) > 0 {
			arguments["offset"] = len(ids)
		}
		maps.Copy(arguments, r.Search)
		start := r.Now()
		raw, err := call("memory_search", arguments)
		took = cmp.Or(took, r.Now().Sub(start))
		if err != nil {
			return nil, 0, err
		}
		var answer struct {
			Results []struct{ Key string }
			Total   int
		}
		if err := json.Unmarshal(raw, &answer); err != nil {
			return nil, 0, fmt.Errorf("read the answer: %w", err)
		}
		if len(answer.Results) == 0 {
			break
		}
		total = min(deepest, answer.Total)
		for _, hit := range answer.Results {
			ids = append(ids, hit.Key)
		}
	}
	return ids, took, nil
}
