package consolidation

import (
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/words"
)

// How much a result lists of each, and of each text.
const (
	listed       = 50
	listedByJobs = 10
	inReport     = 15
	snippet      = 100
	reportMax    = 12 << 10
)

// staleNote answers who asks for the part stale.
const staleNote = "Stale memories are found and archived by the family lifecycle: see memory_list_stale_facts."

// result is what consolidation did, or would do: how many memories were read, and how many turns of conversations were left as they are;
// whether there are more than were compared; whether the changes are on a branch of proposals, which is merged to accept them or deleted.
type result struct {
	Namespace      string
	Read           int
	Turns          int  `json:",omitempty"`
	More           bool `json:",omitempty"`
	DryRun         bool `json:"dry_run"`
	Proposed       bool
	Changed        int
	Merged         []mergedGroup
	Contradictions []contradiction
	Clusters       []cluster
	Totals         totals
	Job            string `json:",omitempty"`
	Note           string `json:",omitempty"`
	Report         string
}

type totals struct {
	Groups         int
	Duplicates     int
	Contradictions int
	Clusters       int
}

// mergedGroup is a memory that is kept, and those that it supersedes.
type mergedGroup struct {
	Keep string
	Keys []string
	Text string
}

type contradiction struct {
	A     string
	B     string
	Kind  string
	SaysA string `json:"says_a"`
	SaysB string `json:"says_b"`
	Newer string
	Why   []string `json:",omitempty"`
}

type cluster struct {
	Keys  []string
	About []string
}

// result describes a plan.
func (l *loaded) result(p *plan) *result {
	r := &result{
		Namespace: l.namespace, Read: l.compared, Turns: l.turns, More: l.more,
		Totals: totals{Groups: len(p.merges), Contradictions: len(p.contradictions), Clusters: len(p.clusters)},
	}
	if p.movedAway {
		r.Note = staleNote
	}
	for _, m := range p.merges {
		r.Totals.Duplicates += len(m.others)
		if len(r.Merged) < listed {
			r.Merged = append(r.Merged, mergedGroup{l.items[m.keep].key, l.keys(m.others), l.says(m.keep)})
		}
	}
	for _, pair := range p.contradictions[:min(len(p.contradictions), listed)] {
		_, newer := l.byAge(pair)
		r.Contradictions = append(r.Contradictions, contradiction{l.items[pair.A].key, l.items[pair.B].key, pair.Relation.String(), l.says(pair.A), l.says(pair.B), l.items[newer].key, pair.Why})
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
}

func (l *loaded) keys(list []int) (keys []string) {
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
	out.WriteString("# Consolidation of " + r.Namespace + "\n\n" + count(r.Read, " memories were compared"))
	if r.Turns > 0 {
		out.WriteString(", " + count(r.Turns, " turns of conversations left as they are"))
	}
	switch {
	case r.DryRun:
		out.WriteString(". Nothing was changed: this is what would be done.\n")
	case r.Proposed:
		out.WriteString(". " + count(r.Changed, " changes are proposed on a branch: merge it to accept them, delete it to drop them.\n"))
	default:
		out.WriteString(". " + count(r.Changed, " memories were changed.\n"))
	}
	section(&out, count(r.Totals.Duplicates, " duplicates of ")+count(r.Totals.Groups, " memories"), r.Merged, r.Totals.Groups, func(m mergedGroup) string {
		return m.Keep + " stands for " + strings.Join(m.Keys, ", ") + ": " + m.Text
	})
	section(&out, count(r.Totals.Contradictions, " contradictions"), r.Contradictions, r.Totals.Contradictions, func(c contradiction) string {
		return c.A + " (" + c.Kind + "): " + c.SaysA + "\n  " + c.B + ": " + c.SaysB + "\n  newer is " + c.Newer
	})
	section(&out, count(r.Totals.Clusters, " clusters"), r.Clusters, r.Totals.Clusters, func(c cluster) string {
		return strings.Join(c.About, " ") + ": " + strings.Join(c.Keys, ", ")
	})
	if r.Note != "" {
		out.WriteString("\n" + r.Note + "\n")
	}
	r.Report = words.Cut(out.String(), reportMax)
}

func count(n int, of string) string { return strconv.Itoa(n) + of }

// section writes one part of the report; nothing when it is empty.
func section[T any](out *strings.Builder, title string, list []T, total int, line func(T) string) {
	if total == 0 {
		return
	}
	out.WriteString("\n## " + title + "\n\n")
	shown := list[:min(len(list), inReport)]
	for _, entry := range shown {
		out.WriteString("- " + line(entry) + "\n")
	}
	if rest := total - len(shown); rest > 0 {
		out.WriteString("- and " + count(rest, " more\n"))
	}
}
