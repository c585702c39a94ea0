package scale

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// panel is a diagram of the chart: lines over sizes.
type panel struct {
	title  string
	series []series
}

type series struct {
	name  string
	value func(Size) float64 // 0: not measured
}

func panels() []panel {
	latency := func(kind string) series {
		return series{strings.TrimPrefix(kindLabel(kind), "… "), func(s Size) float64 { return s.Calls[kind].P50 }}
	}
	lineOf := func(name string, value func(Size) float64) series { return series{name, value} }
	return []panel{
		{"Searches, p50, ms", []series{latency(question), latency(term), {"tag of a hundredth", func(s Size) float64 { return s.Calls[tagHundredth].P50 }}, latency(past), latency(branch),
			lineOf("turns of conversations", func(s Size) float64 {
				return orNothing(s.Conversations, func(c *Conversations) float64 { return c.Turns.P50 })
			}),
			lineOf("Xapian", func(s Size) float64 { return s.Peers["xapian"].Question.P50 }), lineOf("bleve", func(s Size) float64 { return s.Peers["bleve"].Question.P50 })}},
		{"Other calls, p50, ms", []series{latency(newest), latency(get), latency(history), latency(status), lineOf("fork", func(s Size) float64 { return s.Fork })}},
		{"Start, ms", []series{startOf("initialize", func(t *Start) float64 { return t.Clean }), startOf("initialize after SIGKILL", func(t *Start) float64 { return t.Killed }),
			startOf("first search", func(t *Start) float64 { return t.First }), startOf("search after SIGKILL", func(t *Start) float64 { return t.KilledFirst }), startOf("first newest list", func(t *Start) float64 { return t.Newest })}},
		{"Memory, MB", []series{memoryLine("anonymous", func(m *Memory) int64 { return m.Anonymous }), memoryLine("mapped", func(m *Memory) int64 { return m.Mapped })}},
		{"On disk, MB", []series{lineOf("text", func(s Size) float64 { return float64(s.Bytes.Text) / 1e6 }), lineOf("database", func(s Size) float64 { return float64(s.Bytes.Database) / 1e6 }),
			lineOf("index", func(s Size) float64 { return float64(s.Bytes.Index) / 1e6 })}},
		{"Memories stored in a second", []series{lineOf("all", func(s Size) float64 { return s.Store.PerSecond }), lineOf("last tenth", func(s Size) float64 { return s.Store.LastTenth })}},
	}
}

func startOf(name string, value func(*Start) float64) series {
	return series{name, func(s Size) float64 { return orNothing(s.Start, value) }}
}

func memoryLine(name string, value func(*Memory) int64) series {
	return series{name, func(s Size) float64 {
		return orNothing(s.Memory, func(m *Memory) float64 { return float64(value(m)) / 1e6 })
	}}
}

func orNothing[T any](p *T, value func(*T) float64) float64 {
	if p == nil {
		return 0
	}
	return value(p)
}

// Measures of the chart, in pixels.
const (
	columns                  = 2
	panelWidth, panelHeight  = 560, 300
	left, right, top, bottom = 62, 168, 42, 34 // of a panel's lines; right is for their names
	nameHeight               = 14
)

// colours are told apart by people who see red and green alike, too.
func colours() []string {
	return []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#444444", "#999999"}
}

// Chart draws cost over size as an SVG image, both in powers of ten.
func (r Report) Chart() string {
	list := panels()
	width, height := columns*panelWidth, (len(list)+columns-1)/columns*panelHeight+24
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="system-ui, sans-serif" font-size="11" fill="#222">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, "<title>Cost over the number of memories</title>\n<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", width, height)
	for i, p := range list {
		fmt.Fprintf(&b, `<g transform="translate(%d,%d)">`+"\n", i%columns*panelWidth, i/columns*panelHeight)
		p.draw(&b, r.Sizes)
		b.WriteString("</g>\n")
	}
	fmt.Fprintf(&b, `<text x="14" y="%d" fill="#666">%s</text>`+"\n</svg>\n", height-8, html.EscapeString(fmt.Sprintf("Alcove %s on %s; %s; batches of %d", r.Program, r.Machine, r.Texts, r.Batch)))
	return b.String()
}

// axis is a scale of powers of ten.
type axis struct{ low, high float64 }

func axisOf(values []float64, padding float64) axis {
	low, high := math.Log10(slices.Min(values)), math.Log10(slices.Max(values))
	if high-low < 1 { // never less than a power
		middle := (low + high) / 2
		low, high = middle-.5, middle+.5
	}
	return axis{low - padding, high + padding}
}

// at is a value's place, from 0 to 1.
func (a axis) at(v float64) float64 { return (math.Log10(v) - a.low) / (a.high - a.low) }

// ticks are the powers of ten within, and their double and fivefold if there are few.
func (a axis) ticks() (list []float64) {
	for power := math.Floor(a.low); power <= a.high; power++ {
		for _, part := range []float64{1, 2, 5} {
			v := part * math.Pow(10, power)
			if at := a.at(v); at >= 0 && at <= 1 && (part == 1 || a.high-a.low < 2.5) {
				list = append(list, v)
			}
		}
	}
	return list
}

func (p panel) draw(b *strings.Builder, sizes []Size) {
	fmt.Fprintf(b, `<text x="14" y="22" font-size="13" font-weight="600">%s</text>`+"\n", html.EscapeString(p.title))
	var values, ns []float64
	for _, s := range sizes {
		ns = append(ns, float64(s.N))
		for _, line := range p.series {
			if v := line.value(s); v > 0 {
				values = append(values, v)
			}
		}
	}
	if len(values) == 0 {
		fmt.Fprintf(b, `<text x="%d" y="%d" fill="#666">not measured</text>`+"\n", left, panelHeight/2)
		return
	}
	across, up := axisOf(ns, .1), axisOf(values, .08)
	x := func(n float64) float64 { return left + across.at(n)*(panelWidth-left-right) }
	y := func(v float64) float64 { return panelHeight - bottom - up.at(v)*(panelHeight-top-bottom) }
	for _, v := range up.ticks() {
		fmt.Fprintf(b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#e3e3e3"/><text x="%d" y="%.1f" text-anchor="end" fill="#666">%s</text>`+"\n",
			left, panelWidth-right, y(v), y(v), left-6, y(v)+4, short(v))
	}
	for _, n := range ns {
		fmt.Fprintf(b, `<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="#e3e3e3"/><text x="%.1f" y="%d" text-anchor="middle" fill="#666">%s</text>`+"\n",
			x(n), x(n), top, panelHeight-bottom, x(n), panelHeight-bottom+16, Thousands(int(n)))
	}
	p.lines(b, sizes, x, y)
}

// name is that of a line, beside its end.
type name struct {
	text, colour string
	end, y       float64
}

func (p panel) lines(b *strings.Builder, sizes []Size, x, y func(float64) float64) {
	var names []name
	for i, line := range p.series {
		colour, points, end := colours()[i%len(colours())], []string{}, 0.0
		last := 0.0
		for _, s := range sizes {
			v := line.value(s)
			if v <= 0 {
				continue
			}
			end, last = y(v), v
			points = append(points, fmt.Sprintf("%.1f,%.1f", x(float64(s.N)), end))
			fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", x(float64(s.N)), end, colour)
		}
		if len(points) == 0 {
			continue
		}
		fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="1.8"/>`+"\n", strings.Join(points, " "), colour)
		names = append(names, name{fmt.Sprintf("%s %s", line.name, short(last)), colour, end, end})
	}
	for _, n := range spread(names) {
		from, to := panelWidth-right, panelWidth-right+14
		fmt.Fprintf(b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="%s" stroke-width=".7"/><text x="%d" y="%.1f" fill="%s">%s</text>`+"\n",
			from, to, n.end, n.y, n.colour, to+4, n.y+4, n.colour, html.EscapeString(n.text))
	}
}

// spread moves names apart that would cover each other, within the panel.
func spread(names []name) []name {
	slices.SortStableFunc(names, func(a, b name) int { return int(math.Copysign(1, a.y-b.y)) })
	for i := 1; i < len(names); i++ {
		names[i].y = max(names[i].y, names[i-1].y+nameHeight)
	}
	floor := float64(panelHeight - bottom + nameHeight)
	for i := len(names) - 1; i >= 0; i-- {
		names[i].y = min(names[i].y, floor)
		floor = names[i].y - nameHeight
	}
	return names
}

// short is a number in few characters.
func short(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.3gM", v/1e6)
	case v >= 1e4:
		return fmt.Sprintf("%.3gk", v/1e3)
	case v >= 1000:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
