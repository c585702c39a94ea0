package core

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

const mostDifferences = 50 // listed by a diff or merge; all are counted

// difference is a key that differs between two branches.
type difference struct {
	Namespace  string    `json:"namespace,omitempty"`  // unless the call's
	Collection string    `json:"collection,omitempty"` // FAMILY/NAME of a family's record; none: a memory
	Key        string    `json:"key"`
	Change     string    `json:"change"` // added, changed or removed by the source, relative to the target; or of a merge: added, changed or deleted on the target
	Clash      string    `json:"clash,omitempty"`
	Source     *side     `json:"source,omitempty"`
	Target     *side     `json:"target,omitempty"`
	Result     *side     `json:"result,omitempty"` // of a merge, unless it is the source's value
	Omitted    bool      `json:"value_omitted,omitempty"`
	Truncated  bool      `json:"truncated,omitempty"`
	at         [3]string // its place in the order of lists
	next       string
}

// side is one branch's memory.
type side struct {
	Value     json.RawMessage `json:"value,omitempty"`
	Version   uint64          `json:"version,omitempty"`
	Timestamp string          `json:"timestamp,omitempty"`
}

func sideOf(m *memory.Memory, f form) *side {
	if m == nil {
		return nil
	}
	if !f.verbose {
		return &side{Value: m.Value}
	}
	return &side{m.Value, m.Version, memory.FormatTime(m.Timestamp)}
}

func differenceOf(d memory.Difference, f form) *difference {
	r := &difference{at: [3]string{d.Namespace, d.Collection, d.Key}, next: d.Next(), Namespace: f.unless("namespace", d.Namespace, f.place.Namespace), Collection: d.Collection, Key: d.Key, Change: "changed", Clash: string(d.Clash), Source: sideOf(d.Source, f), Target: sideOf(d.Target, f)}
	switch {
	case d.Target == nil:
		r.Change = "added"
	case d.Source == nil:
		r.Change = "removed"
	}
	return r
}

// appliedOf is what a merge changed on its target.
func appliedOf(d memory.Difference, f form) *difference {
	r := differenceOf(d, f)
	switch {
	case d.Result == nil:
		r.Change = "deleted"
		return r
	case d.Target == nil:
		r.Change = "added"
	default:
		r.Change = "changed"
	}
	if d.Source == nil || !bytes.Equal(d.Source.Value, d.Result.Value) {
		r.Result = &side{Value: d.Result.Value}
	}
	return r
}

// value returns the largest of the sides' values, to choose the rows to shorten.
func (d *difference) value() json.RawMessage {
	var largest json.RawMessage
	for _, s := range []*side{d.Source, d.Target, d.Result} {
		if s != nil && len(s.Value) > len(largest) {
			largest = s.Value
		}
	}
	return largest
}

func (d *difference) dropValue() {
	d.Omitted, d.Truncated = true, true
	for _, s := range []*side{d.Source, d.Target, d.Result} {
		if s != nil {
			s.Value = nil
		}
	}
}

func (d *difference) dropDetails() {}

// list returns rows of the first differences; row makes one.
func list(differences []memory.Difference, f form, row func(memory.Difference, form) *difference) []*difference {
	rows := make([]*difference, 0, min(len(differences), mostDifferences))
	for _, d := range differences[:min(len(differences), mostDifferences)] {
		rows = append(rows, row(d, f))
	}
	return rows
}

// until returns the rows up to a place.
func until(rows []*difference, at [3]string) []*difference {
	i, _ := slices.BinarySearchFunc(rows, at, func(r *difference, at [3]string) int { return cmp.Or(slices.Compare(r.at[:], at[:]), -1) })
	return rows[:i]
}

type diffAnswer struct {
	Compare     string        `json:"compare"`
	Target      string        `json:"target"` // compared branch
	Current     string        `json:"current"`
	Summary     string        `json:"summary"`
	Added       int           `json:"added"`
	Changed     int           `json:"changed"`
	Removed     int           `json:"removed"`
	Seen        uint64        `json:"seen,omitempty"` // what merge takes to accept what is shown and no more, where calls add to a proposal
	Clashes     int           `json:"clashing,omitempty"`
	Differences []*difference `json:"differences"`
	Next        string        `json:"next,omitempty"` // after of the next page
	Note        string        `json:"note,omitempty"`
}

func diffBranch(ctx context.Context, b *branchCall) (tool.Answer, error) {
	compare, err := b.need("diff", "compare", cmp.Or(b.request.Compare, b.request.Source, b.request.Name), fmt.Sprintf("the branch to compare with %q", b.current))
	if err != nil {
		return tool.Answer{}, err
	}
	d, err := b.access().Diff(ctx, memory.DiffQuery{Source: compare, Target: cmp.Or(b.request.Target, b.current), Namespaces: b.namespaces, Limit: mostDifferences, After: b.request.After})
	if err != nil {
		return tool.Answer{}, err
	}
	kept, cut, err := shorten(list(d.Differences, b.form, differenceOf), tool.MaxAnswer)
	if err != nil {
		return tool.Answer{}, fmt.Errorf("encode differences: %w", err)
	}
	left, next := d.Left+cut.rows, ""
	if left > 0 {
		next = kept[len(kept)-1].next
	}
	r := diffAnswer{
		Compare: d.Source, Target: d.Target, Current: b.here(), Added: d.Added, Changed: d.Changed, Removed: d.Removed, Clashes: d.Clashes,
		Seen: d.Seen, Differences: kept, Next: next, Summary: diffSummary(d), Note: b.also(valuesNote(kept, cut), leftNote(left, next)),
	}
	return tool.Answer{Structured: r, Plain: r, Notes: tool.NotesOf(r.Note), HasNotes: true}, nil
}

func diffSummary(d memory.Diff) string {
	if d.Added+d.Changed+d.Removed == 0 {
		return fmt.Sprintf("%q and %q hold the same.", d.Source, d.Target)
	}
	what := "memory"
	if d.Records > 0 {
		what = "key" // of memories and records
	}
	text := fmt.Sprintf("%q has %s that %q has not, %d that differ, and lacks %d.", d.Source, plural(d.Added, what), d.Target, d.Changed, d.Removed)
	if d.Calls > 1 {
		text += fmt.Sprintf(" %d calls proposed this: merge with seen=%d accepts it.", d.Calls, d.Seen)
	}
	if d.Clashes > 0 {
		text += fmt.Sprintf(" %d of these were changed on both sides: a merge must settle them.", d.Clashes)
	}
	return text
}

// valuesNote returns a note on the values that were left out of a list of differences.
func valuesNote(kept []*difference, c cut) string {
	var keys []string
	for _, i := range c.values {
		if i < len(kept) {
			keys = append(keys, kept[i].Key)
		}
	}
	if len(keys) == 0 {
		return ""
	}
	return fmt.Sprintf("To stay within %d characters, %s left out (%s): memory_recall with branch= gives each side whole.",
		tool.MaxAnswer, were(len(keys), "value"), tool.Quoted(keys))
}

// leftNote returns a note on how to list on.
func leftNote(left int, next string) string {
	if left == 0 {
		return ""
	}
	return fmt.Sprintf("%s not listed: call memory_branch again with after=%q for the next.", were(left, "difference"), next)
}

type mergeAnswer struct {
	Source     string        `json:"source"`
	Target     string        `json:"target"`
	Merged     bool          `json:"merged"`
	Unchanged  bool          `json:"unchanged,omitempty"` // there is nothing to merge
	Preview    bool          `json:"preview,omitempty"`
	Summary    string        `json:"summary"`
	Applied    int           `json:"applied"`              // number of keys applied to the target
	Unresolved int           `json:"unresolved,omitempty"` // clashes that stop the merge
	Changes    []*difference `json:"differences"`
	Clashes    []*difference `json:"clashes,omitempty"`
	Next       string        `json:"next,omitempty"` // after of a preview of the next page
	Seen       uint64        `json:"seen,omitempty"` // of a preview: as diff's
	Version    uint64        `json:"version,omitempty"`
	Timestamp  string        `json:"timestamp,omitempty"`
	Current    string        `json:"current"`
	Note       string        `json:"note,omitempty"`
}

func mergeBranch(ctx context.Context, b *branchCall) (tool.Answer, error) {
	source, err := b.need("merge", "source", cmp.Or(b.request.Source, b.request.Name), "the branch to bring into "+fmt.Sprintf("%q", cmp.Or(b.request.Target, b.current)))
	if err != nil {
		return tool.Answer{}, err
	}
	w := b.Write()
	w.DryRun = w.DryRun || b.request.Preview
	m, err := b.access().Merge(ctx, memory.Merge{
		Source: source, Target: cmp.Or(b.request.Target, b.current), Strategy: b.request.Strategy, Resolutions: b.request.resolved(), Seen: uint64(b.request.Seen), Namespaces: b.namespaces, Limit: mostDifferences,
		After: b.request.After,
	}, w)
	if err != nil {
		return tool.Answer{}, err
	}
	clashes, cutClashes, err := shorten(list(m.Clashes, b.form, differenceOf), tool.MaxAnswer/2)
	if err != nil {
		return tool.Answer{}, fmt.Errorf("encode clashes: %w", err)
	}
	changes, cutChanges, err := shorten(list(m.Applied, b.form, appliedOf), tool.MaxAnswer/2)
	if err != nil {
		return tool.Answer{}, fmt.Errorf("encode changes: %w", err)
	}
	clashes, changes, next := b.together(m, clashes, cutClashes, changes, cutChanges)
	r := mergeAnswer{
		Source: m.Source, Target: m.Target, Merged: m.Merged, Unchanged: m.Unchanged, Preview: m.DryRun, Summary: mergeSummary(m), Applied: m.Changed,
		Unresolved: m.Unresolved, Changes: changes, Clashes: clashes, Next: next, Version: m.Version, Timestamp: stampOrNothing(m.Timestamp), Current: b.here(),
	}
	if m.DryRun {
		r.Seen = m.Seen
	}
	if m.Merged {
		r.Next = "" // the next page of what was merged is not a merge
	}
	r.Note = b.also(valuesNote(clashes, cutClashes), valuesNote(changes, cutChanges), b.moreNote(m, next))
	return tool.Answer{Structured: r, Plain: r, Notes: tool.NotesOf(r.Note), HasNotes: true}, nil
}

// together returns the parts of two lists up to the same place, and after of the page that continues both.
func (b *branchCall) together(m memory.MergeResult, clashes []*difference, cutClashes cut, changes []*difference, cutChanges cut) (_, _ []*difference, next string) {
	next = m.Next
	var last *difference
	for _, list := range []struct {
		rows []*difference
		cut  cut
	}{{clashes, cutClashes}, {changes, cutChanges}} {
		if list.cut.rows == 0 {
			continue
		}
		if end := list.rows[len(list.rows)-1]; last == nil || slices.Compare(end.at[:], last.at[:]) < 0 {
			last = end
		}
	}
	if last == nil {
		return clashes, changes, next
	}
	return until(clashes, last.at), until(changes, last.at), last.next
}

// moreNote returns a note on how to list what a merge changes beyond a page.
func (b *branchCall) moreNote(m memory.MergeResult, next string) string {
	switch {
	case next == "":
		return ""
	case m.Merged:
		return fmt.Sprintf("Not all %s are listed: memory_history with changes=true, since=\"v%d\", until=\"v%d\" and branch=%q lists the memories.", plural(m.Changed, "change"), m.Version-1, m.Version, m.Target)
	}
	return fmt.Sprintf("There is more: call memory_branch merge again with preview=true and after=%q.", next)
}

// mergeSummary describes what a merge did, and the remedy if it did nothing.
func mergeSummary(m memory.MergeResult) string {
	keys := plural(m.Changed, "key")
	switch {
	case m.Unresolved > 0:
		return fmt.Sprintf("Nothing was written: both sides changed %s. Merge again with strategy (source, target, newest or fields) or with resolutions=[{key, take}] for the clashes listed.",
			plural(m.Unresolved, "key"))
	case m.Unchanged:
		return fmt.Sprintf("Nothing to merge: %q has nothing new for %q, and nothing was written.", m.Source, m.Target)
	case m.DryRun:
		return fmt.Sprintf("Nothing was written yet: merging %q into %q would change %s.", m.Source, m.Target, keys)
	case m.Changed == 0: // or a retry's answer
		return fmt.Sprintf("Merged %q into %q.", m.Source, m.Target)
	}
	return fmt.Sprintf("Merged %q into %q: %s changed.", m.Source, m.Target, keys)
}
