package consolidating

import (
	"fmt"
	"strings"

	"github.com/alcove-memory/alcove/guests/words"
)

// How much a result lists of each, and of each text.
const (
	listed       = 50
	listedByJobs = 10
	inReport     = 15
	snippet      = 100
	reportMax    = 12 << 10
)

// result is what consolidation did, or would do.
type result struct {
	Namespace      string          `json:"namespace"`
	Read           int             `json:"read"`            // memories that were looked at
	Turns          int             `json:"turns,omitempty"` // of conversations, left as they are
	More           bool            `json:"more,omitempty"`  // there are more than were looked at
	DryRun         bool            `json:"dry_run"`
	Proposed       bool            `json:"proposed"` // on a branch of proposals: merge it to accept, drop it to undo
	Changed        int             `json:"changed"`  // memories
	Merged         []mergedGroup   `json:"merged"`
	Contradictions []contradiction `json:"contradictions"`
	Clusters       []cluster       `json:"clusters"`
	Archived       []string        `json:"archived"`
	Pruned         []string        `json:"pruned"`
	Totals         totals          `json:"totals"`
	Job            string          `json:"job,omitempty"`
	Report         string          `json:"report"`
}

type totals struct {
	Groups         int `json:"groups"`
	Duplicates     int `json:"duplicates"`
	Contradictions int `json:"contradictions"`
	Clusters       int `json:"clusters"`
	Archived       int `json:"archived"`
	Pruned         int `json:"pruned"`
}

type mergedGroup struct {
	Keep string   `json:"keep"`
	Keys []string `json:"keys"` // that it stands for
	Text string   `json:"text"`
}

type contradiction struct {
	A     string `json:"a"`
	B     string `json:"b"`
	Kind  string `json:"kind"`
	SaysA string `json:"says_a"`
	SaysB string `json:"says_b"`
	Newer string `json:"newer"`
}

type cluster struct {
	Keys  []string `json:"keys"`
	About []string `json:"about"`
}

// result describes a plan.
func (l *loaded) result(p *plan) *result {
	r := &result{
		Namespace: l.namespace, Read: len(l.items), Turns: l.turns, More: l.more,
		Merged: []mergedGroup{}, Contradictions: []contradiction{}, Clusters: []cluster{}, Archived: l.keys(p.archived), Pruned: l.keys(p.pruned),
		Totals: totals{Groups: len(p.merges), Contradictions: len(p.contradictions), Clusters: len(p.clusters), Archived: len(p.archived), Pruned: len(p.pruned)},
	}
	for _, m := range p.merges {
		r.Totals.Duplicates += len(m.others)
		if len(r.Merged) < listed {
			r.Merged = append(r.Merged, mergedGroup{l.items[m.keep].key, l.keys(m.others), l.says(m.keep)})
		}
	}
	for _, pair := range p.contradictions[:min(len(p.contradictions), listed)] {
		_, newer := l.byAge(pair)
		r.Contradictions = append(r.Contradictions, contradiction{l.items[pair.A].key, l.items[pair.B].key, pair.Relation.String(), l.says(pair.A), l.says(pair.B), l.items[newer].key})
	}
	for _, group := range p.clusters[:min(len(p.clusters), listed)] {
		r.Clusters = append(r.Clusters, cluster{l.keys(group), l.reader.Shared(l.facts, group, 4)})
	}
	return r
}

// shorten leaves the first of each in a result, whose totals stay.
func (r *result) shorten(most int) {
	r.Merged = r.Merged[:min(len(r.Merged), most)]
	r.Contradictions = r.Contradictions[:min(len(r.Contradictions), most)]
	r.Clusters = r.Clusters[:min(len(r.Clusters), most)]
	r.Archived, r.Pruned = r.Archived[:min(len(r.Archived), most)], r.Pruned[:min(len(r.Pruned), most)]
}

func (l *loaded) keys(list []int) []string {
	keys := []string{}
	for _, i := range list[:min(len(list), listed)] {
		keys = append(keys, l.items[i].key)
	}
	return keys
}

// says is the beginning of a memory's text.
func (l *loaded) says(i int) string {
	text := strings.Join(strings.Fields(l.items[i].text), " ")
	if cut := words.Cut(text, snippet); cut != text {
		return cut + "…"
	}
	return text
}

// write writes the report: what a person reads before accepting a proposal.
func (r *result) write() {
	var out strings.Builder
	fmt.Fprintf(&out, "# Consolidation of %s\n\n%d memories were compared", r.Namespace, r.Read)
	if r.Turns > 0 {
		fmt.Fprintf(&out, ", %d turns of conversations left as they are", r.Turns)
	}
	switch {
	case r.DryRun:
		out.WriteString(". Nothing was changed: this is what would be done.\n")
	case r.Proposed:
		fmt.Fprintf(&out, ". %d changes are proposed on a branch: merge it to accept them, delete it to drop them.\n", r.Changed)
	default:
		fmt.Fprintf(&out, ". %d memories were changed.\n", r.Changed)
	}
	section(&out, fmt.Sprintf("%d duplicates of %d memories", r.Totals.Duplicates, r.Totals.Groups), r.Merged, r.Totals.Groups, func(m mergedGroup) string {
		return fmt.Sprintf("%s stands for %s: %s", m.Keep, strings.Join(m.Keys, ", "), m.Text)
	})
	section(&out, fmt.Sprintf("%d contradictions", r.Totals.Contradictions), r.Contradictions, r.Totals.Contradictions, func(c contradiction) string {
		return fmt.Sprintf("%s (%s): %s\n  %s: %s\n  newer is %s", c.A, c.Kind, c.SaysA, c.B, c.SaysB, c.Newer)
	})
	section(&out, fmt.Sprintf("%d clusters", r.Totals.Clusters), r.Clusters, r.Totals.Clusters, func(c cluster) string {
		return fmt.Sprintf("%s: %s", strings.Join(c.About, " "), strings.Join(c.Keys, ", "))
	})
	plain := func(key string) string { return key }
	section(&out, fmt.Sprintf("%d forgotten, archived", r.Totals.Archived), r.Archived, r.Totals.Archived, plain)
	section(&out, fmt.Sprintf("%d old, unimportant and unused, pruned", r.Totals.Pruned), r.Pruned, r.Totals.Pruned, plain)
	r.Report = words.Cut(out.String(), reportMax)
}

// section writes one part of the report; nothing when there is nothing.
func section[T any](out *strings.Builder, title string, list []T, total int, line func(T) string) {
	if total == 0 {
		return
	}
	fmt.Fprintf(out, "\n## %s\n\n", title)
	for _, entry := range list[:min(len(list), inReport)] {
		fmt.Fprintf(out, "- %s\n", line(entry))
	}
	if rest := total - min(len(list), inReport); rest > 0 {
		fmt.Fprintf(out, "- and %d more\n", rest)
	}
}
