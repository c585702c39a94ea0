package core

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

// mostExplained is how many missing keys of one call are explained.
const mostExplained = 3

// missing says what a caller that named a key without a memory may have meant; "" if nothing is to be said.
func (c *call) missing(ctx context.Context, location memory.Location, key string, at memory.AsOf) (string, error) {
	if c.Stage != nil { // families ask for what they know to be missing, too
		return "", nil
	}
	m, err := c.access().Missing(ctx, location, key, at)
	if err != nil {
		return "", err
	}
	place := "namespace " + cmp.Or(location.Namespace, memory.Default)
	if branch := cmp.Or(location.Branch, memory.Default); branch != memory.Default {
		place += " on branch " + branch
	}
	said := []string{fmt.Sprintf("There is no memory under %q in %s.", tool.Clip(key, 64), place)}
	say := func(format string, values ...any) { said = append(said, fmt.Sprintf(format, values...)) }
	switch {
	case m.Stored:
		say("It was stored later: leave as_of out.")
	case m.Deleted > 0:
		say("It was forgotten at v%d: as_of=v%d shows it.", m.Deleted, m.Deleted-1)
	case !m.Expired.IsZero():
		say("It expired at %s: memory_history shows it.", memory.FormatTime(m.Expired))
	}
	if len(m.Elsewhere) > 0 {
		say("It is in namespace %s.", tool.Quoted(m.Elsewhere))
	}
	if len(m.Branches) > 0 {
		say("It is on branch %s.", tool.Quoted(m.Branches))
	}
	if len(m.Near) > 0 {
		say("Keys like it: %s.", tool.Quoted(m.Near))
	}
	if len(m.Namespaces) > 0 {
		say("This namespace is empty; there are %s.", counted(m.Namespaces))
	}
	return strings.Join(said, " "), nil
}

// allMissing is missing for the keys that a call named and that are not among those found.
func (c *call) allMissing(ctx context.Context, location memory.Location, keys, found []string) (string, error) {
	there := map[string]bool{}
	for _, key := range found {
		there[key] = true
	}
	var said []string
	for _, key := range keys {
		if there[key] {
			continue
		}
		if there[key] = true; len(said) == mostExplained {
			return strings.Join(append(said, "More are missing."), " "), nil
		}
		text, err := c.missing(ctx, location, key, memory.AsOf{})
		if err != nil || text == "" {
			return "", err
		}
		said = append(said, text)
	}
	return strings.Join(said, " "), nil
}

// counted lists names with their numbers.
func counted(list []memory.Counted) string {
	var texts []string
	for _, each := range list {
		texts = append(texts, fmt.Sprintf("%s (%d)", tool.Clip(each.Name, 64), each.N))
	}
	return strings.Join(texts, ", ")
}

// anywhere returns the one namespace that has a key, if the call is about all of them; else where the call is.
func (c *call) anywhere(ctx context.Context, location memory.Location, key string, at memory.AsOf) (memory.Location, error) {
	if location.Namespace != memory.AllNamespaces || c.Stage != nil {
		return location, nil
	}
	namespaces, err := c.access().Having(ctx, location.Branch, key, at)
	if err != nil {
		return location, err
	}
	switch len(namespaces) {
	case 0:
		_, location.Namespace = c.Session.At()
	case 1:
		location.Namespace = namespaces[0]
	default:
		return location, tool.Invalid(map[string]any{"parameters": []string{"namespace"}, "namespaces": namespaces},
			"%q is in several namespaces, %s: name one", tool.Clip(key, 64), tool.Quoted(namespaces))
	}
	return location, nil
}

// nothingFound says where a search that found nothing looked, which of its filters left nothing, and what there is; "" if nothing is to be
// said.
func (c *call) nothingFound(ctx context.Context, q memory.Search, found memory.Found) (string, error) {
	switch {
	case c.Stage != nil || len(found.Hits) > 0 || found.Partial || q.After != "":
		return "", nil
	case found.Total > 0:
		return fmt.Sprintf("offset=%d skips all results: %s.", q.Offset, plural(found.Total, "result")), nil
	}
	there, err := c.access().Contents(ctx, q)
	if err != nil {
		return "", err
	}
	said := []string{searched(q, there)}
	if len(there.Empty) > 0 && len(there.Namespaces) > 0 {
		said = append(said, fmt.Sprintf("There is nothing in namespace %s; there are %s.", tool.Quoted(there.Empty), counted(there.Namespaces)))
	} else if there.Searched == 0 && len(there.Namespaces) > 0 {
		said = append(said, fmt.Sprintf("There are %s.", counted(there.Namespaces)))
	}
	if len(there.NoTag) > 0 {
		text := fmt.Sprintf("Nothing has the tag %s", tool.Quoted(there.NoTag))
		if len(there.Tags) > 0 {
			text += "; tags in use are " + counted(there.Tags)
		}
		said = append(said, text+".")
	}
	fewer, err := c.withFewerFilters(ctx, q)
	if err != nil {
		return "", err
	}
	switch {
	case len(fewer) > 0:
		said = append(said, strings.Join(fewer, " "))
	case there.Searched > 0 && q.Text != "":
		said = append(said, "Nothing has a word of the query: try others, or list without query.")
	}
	return strings.Join(said, " "), nil
}

// searched says where a search looked.
func searched(q memory.Search, there memory.Contents) string {
	what := "memory"
	if q.Events {
		what = "event"
	}
	where := "all namespaces"
	switch {
	case len(q.Namespaces) == 1 && q.Namespaces[0] != memory.AllNamespaces:
		where = "namespace " + tool.Quoted(q.Namespaces)
	case q.Project != "":
		where = fmt.Sprintf("all namespaces but other projects than %q", q.Project)
	case len(q.Namespaces) > 1:
		where = "namespaces " + tool.Quoted(q.Namespaces)
	}
	text := fmt.Sprintf("Nothing was found among %s in %s on branch %s", plural(there.Searched, what), where, cmp.Or(q.Branch, memory.Default))
	if !q.AsOf.IsNow() {
		text += " at that moment"
	}
	return text + "."
}

// withFewerFilters says how much a search finds without one of its filters, or, if that is nothing, without any.
func (c *call) withFewerFilters(ctx context.Context, q memory.Search) (said []string, err error) {
	q.K, q.Offset, q.Order, q.Unranked, q.Mode, q.Vector = 1, 0, "", true, memory.Lexical, nil
	q.Explain, q.Features, q.Expand, q.Distinct = false, false, false, false
	if q.Text == "" {
		q.Order, q.Mode = memory.ByNewest, ""
	}
	filters := []struct {
		name  string
		given bool
		drop  func(*memory.Search)
	}{
		{"namespace", q.Namespaces != nil, func(q *memory.Search) { q.Namespaces = nil }},
		{`the project, with namespace "*"`, q.Project != "", func(q *memory.Search) { q.Project = "" }},
		{"tags", len(q.Tags) > 0, func(q *memory.Search) { q.Tags = nil }},
		{"type", len(q.Types) > 0, func(q *memory.Search) { q.Types = nil }},
		{"agent", len(q.Writers) > 0, func(q *memory.Search) { q.Writers = nil }},
		{"state", len(q.States) > 0, func(q *memory.Search) { q.States = nil }},
		{"since and until", !q.Since.IsZero() || !q.Until.IsZero(), func(q *memory.Search) { q.Since, q.Until = time.Time{}, time.Time{} }},
		{"as_of", !q.AsOf.IsNow(), func(q *memory.Search) { q.AsOf = memory.AsOf{} }},
	}
	bare, given := q, 0
	for _, f := range filters {
		if !f.given {
			continue
		}
		given++
		f.drop(&bare)
		one := q
		f.drop(&one)
		n, err := c.total(ctx, one)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			said = append(said, fmt.Sprintf("Without %s: %s.", f.name, plural(n, "result")))
		}
	}
	if len(said) > 0 || given < 2 {
		return said, nil
	}
	n, err := c.total(ctx, bare)
	if err == nil && n > 0 {
		said = append(said, fmt.Sprintf("Without any of these filters: %s.", plural(n, "result")))
	}
	return said, err
}

// total counts what a search finds.
func (c *call) total(ctx context.Context, q memory.Search) (int, error) {
	found, err := c.memories().Search(ctx, q)
	return found.Total, err
}
