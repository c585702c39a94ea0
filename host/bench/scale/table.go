package scale

import (
	"fmt"
	"strings"
)

// goal is a row of the table: the bound of a measure at each size, and how the measure is read.
type goal struct {
	what    string
	bounds  [3]float64 // 0: none
	atLeast bool       // the bound is a minimum, not a maximum
	unit    string
	value   func(Size) float64
}

// goalSizes are those that goals are set for.
func goalSizes() [3]int { return [3]int{100_000, 1_000_000, 10_000_000} }

func goals() []goal {
	start := func(value func(*Start) float64) func(Size) float64 {
		return func(s Size) float64 { return orNothing(s.Start, value) }
	}
	tag := func(s Size) float64 {
		plain := s.Calls[question].P50
		if plain == 0 {
			return 0
		}
		return max(s.Calls[tagTenth].P50, s.Calls[tagHundredth].P50, s.Calls[tagThousandth].P50) / plain
	}
	return []goal{
		{"start to `initialize`, clean", [3]float64{30, 50, 80}, false, " ms", start(func(t *Start) float64 { return t.Clean })},
		{"start to `initialize`, after SIGKILL", [3]float64{}, false, " ms", start(func(t *Start) float64 { return t.Killed })},
		{"first search after start", [3]float64{60, 150, 400}, false, " ms", start(func(t *Start) float64 { return t.First })},
		{"anonymous memory after 1,000 searches", [3]float64{60, 150, 500}, false, " MB", func(s Size) float64 {
			return orNothing(s.Memory, func(m *Memory) float64 { return float64(m.Anonymous) / 1e6 })
		}},
		{"question over stdio, p50 ÷ Xapian's", [3]float64{1.1, 1, 1}, false, "", func(s Size) float64 { return s.Ratio(Ours, "xapian") }},
		{"… by words alone", [3]float64{}, false, "", func(s Size) float64 { return s.Ratio(OursLexical, "xapian") }},
		{"… processor time ÷ Xapian's", [3]float64{}, false, "", func(s Size) float64 { return s.ratioOfCPU(Ours, "xapian") }},
		{"… by words alone, processor time", [3]float64{}, false, "", func(s Size) float64 { return s.ratioOfCPU(OursLexical, "xapian") }},
		{"question over stdio, p50 ÷ bleve's", [3]float64{}, false, "", func(s Size) float64 { return s.Ratio(Ours, "bleve") }},
		{"… by words alone", [3]float64{}, false, "", func(s Size) float64 { return s.Ratio(OursLexical, "bleve") }},
		{"question with a tag filter ÷ without", [3]float64{1.5, 1.5, 1.5}, false, "", tag},
		{"newest list, first time", [3]float64{10, 20, 50}, false, " ms", start(func(t *Start) float64 { return t.Newest })},
		{"search of conversations ÷ plain search", [3]float64{2, 2, 2.5}, false, "", func(s Size) float64 {
			return orNothing(s.Conversations, func(c *Conversations) float64 { return c.Ratio })
		}},
		{"database ÷ text, in bytes", [3]float64{0, 2, 0}, false, "", func(s Size) float64 { return float64(s.Bytes.Database) / float64(max(s.Bytes.Text, 1)) }},
		{"database and index ÷ text", [3]float64{}, false, "", func(s Size) float64 { return s.Bytes.Ratio }},
		{"stores a second, in batches of 100", [3]float64{0, 15000, 15000}, true, "", func(s Size) float64 { return s.Store.PerSecond }},
		{"… the last tenth", [3]float64{0, 15000, 15000}, true, "", func(s Size) float64 { return s.Store.LastTenth }},
		{"fork", [3]float64{}, false, " ms", func(s Size) float64 { return s.Fork }},
		{"get by key", [3]float64{}, false, " ms", func(s Size) float64 { return s.Calls[get].P50 }},
		{"backup", [3]float64{200, 200, 200}, true, " MB/s", func(s Size) float64 {
			return orNothing(s.Backup, func(b *Backup) float64 { return b.FullRate })
		}},
		{"`verify`", [3]float64{100, 100, 100}, true, " MB/s", func(s Size) float64 {
			return orNothing(s.Verify, func(v *Verify) float64 { return v.Rate })
		}},
	}
}

// Table has a row for each goal, with the goal and what was measured at each size, in Markdown.
func (r Report) Table() string {
	var b strings.Builder
	sizes := goalSizes()
	b.WriteString("| at |")
	for _, n := range sizes {
		fmt.Fprintf(&b, " %s, goal | measured |", Thousands(n))
	}
	b.WriteString("\n|---|" + strings.Repeat("---|---|", len(sizes)) + "\n")
	for _, g := range goals() {
		fmt.Fprintf(&b, "| %s |", g.what)
		for i, n := range sizes {
			fmt.Fprintf(&b, " %s | %s |", g.bound(i), g.measured(r.at(n)))
		}
		b.WriteString("\n")
	}
	if len(r.absentSizes()) > 0 {
		fmt.Fprintf(&b, "\nNot measured: %s memories.\n", strings.Join(r.absentSizes(), " and "))
	}
	return b.String()
}

func (g goal) bound(i int) string {
	if g.bounds[i] == 0 {
		return ""
	}
	sign := "≤"
	if g.atLeast {
		sign = "≥"
	}
	return fmt.Sprintf("%s %s%s", sign, figure(g.bounds[i]), g.unit)
}

func (g goal) measured(s Size) string {
	v := 0.0
	if s.N > 0 {
		v = g.value(s)
	}
	if v == 0 {
		return absent
	}
	return figure(v) + g.unit
}

// figure has three digits, and all of a large number.
func figure(v float64) string {
	if v >= 1000 {
		return Thousands(int(v))
	}
	return fmt.Sprintf("%.3g", v)
}

// at is a size of the report; its N is 0 if there is none.
func (r Report) at(n int) Size {
	for _, s := range r.Sizes {
		if s.N == n {
			return s
		}
	}
	return Size{}
}

func (r Report) absentSizes() (list []string) {
	for _, n := range goalSizes() {
		if r.at(n).N == 0 {
			list = append(list, Thousands(n))
		}
	}
	return list
}
