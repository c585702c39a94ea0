// Command digest is a family that sums up a journal: what was stored in the last days, by day.
package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

const (
	mostDays    = 366
	mostEntries = 2000      // that one digest reads
	mostShown   = 20        // of a day
	mostText    = 160       // bytes of an entry
	mostTags    = 5         // of a day
	key         = "digest/" // of digests that are kept, before their date
)

// digest is the answer of the tool.
type digest struct {
	Text    string `json:"text"`
	Entries int    `json:"entries"`
	Days    int    `json:"days"`          // with entries
	Cut     bool   `json:"cut"`           // there were more entries than it read
	Key     string `json:"key,omitempty"` // under which it was kept
}

// day is what was stored on one day.
type day struct {
	date    string
	entries []*alcove.Memory
}

func sumUp(c *alcove.Call, arguments alcove.Raw) (alcove.Raw, error) {
	in := struct {
		Days int
		Keep bool
	}{Days: 7}
	if err := json.Unmarshal(arguments, &in); err != nil || in.Days < 1 || in.Days > mostDays {
		return nil, alcove.Errorf(alcove.InvalidArgument, "days is a number from 1 to %d", mostDays)
	}
	since := c.Time().Add(-alcove.Duration(in.Days) * alcove.Day)
	days, out, err := read(c, since.String())
	if err != nil {
		return nil, err
	}
	out.Text = written(days)
	if in.Keep && out.Entries > 0 {
		out.Key = key + c.Time().String()[:len("2006-01-02")]
		if _, err := c.Store(out.Text).Key(out.Key).Type("digest").Put(); err != nil {
			return nil, err
		}
	}
	return json.Marshal(out)
}

// read returns the days with memories that were created since a moment, the newest first. Digests are left out.
func read(c *alcove.Call, since string) (days []*day, out digest, err error) {
	list := alcove.MemoryListRequest{Limit: 500, Created: true, Order: "newest", Filter: &alcove.MemoryFilter{CreatedSince: since}}
	for m, err := range c.Memories(list) {
		if err != nil {
			return nil, out, err
		}
		if strings.HasPrefix(m.Key, key) {
			continue
		}
		if out.Cut = out.Entries == mostEntries; out.Cut {
			break
		}
		date := cmp.Or(m.Created, m.Timestamp)[:len("2006-01-02")]
		if len(days) == 0 || days[len(days)-1].date != date {
			days = append(days, &day{date: date})
		}
		last := days[len(days)-1]
		last.entries = append(last.entries, m)
		out.Entries++
	}
	out.Days = len(days)
	return days, out, nil
}

// written formats days as Markdown.
func written(days []*day) string {
	if len(days) == 0 {
		return "Nothing was stored."
	}
	var text strings.Builder
	for _, d := range days {
		fmt.Fprintf(&text, "## %s\n\n%d stored%s\n\n", d.date, len(d.entries), d.tags())
		slices.SortStableFunc(d.entries, func(a, b *alcove.Memory) int { return cmp.Compare(importance(b), importance(a)) })
		for _, m := range d.entries[:min(mostShown, len(d.entries))] {
			fmt.Fprintf(&text, "- %s: %s\n", m.Key, line(m))
		}
		if more := len(d.entries) - mostShown; more > 0 {
			fmt.Fprintf(&text, "- and %d more\n", more)
		}
		text.WriteString("\n")
	}
	return strings.TrimSpace(text.String())
}

// tags names the commonest tags of a day.
func (d *day) tags() string {
	counts := map[string]int{}
	for _, m := range d.entries {
		for _, tag := range m.Tags {
			counts[tag]++
		}
	}
	if len(counts) == 0 {
		return ""
	}
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) })
	return ", mostly about " + strings.Join(names[:min(mostTags, len(names))], ", ")
}

func importance(m *alcove.Memory) float64 {
	if m.Importance == nil {
		return 0.5
	}
	return *m.Importance
}

// line is the beginning of a memory's text, or of its JSON, in one line.
func line(m *alcove.Memory) string {
	var text string
	if json.Unmarshal(m.Value, &text) != nil {
		text = string(m.Value)
	}
	if text = strings.Join(strings.Fields(text), " "); len(text) > mostText {
		text = strings.ToValidUTF8(text[:mostText], "") + "…"
	}
	return text
}

func family() *alcove.Family {
	f := alcove.New()
	f.HandleTool("memory_journal_digest", sumUp)
	return f
}

func init() { alcove.Serve(family()) }

func main() {}
