package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// Sizes are in pixels, but for columns and rows.
const (
	columns    = 115
	rows       = 27
	lineHeight = 18
	charWidth  = 7.2
	margin     = 20
	titleBar   = 40
)

const style = `.b{fill:#f6f8fa;stroke:#d1d9e0} .d{fill:#d1d9e0}
text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#1f2328;white-space:pre}
.t{fill:#59636e;text-anchor:middle} .h{font-weight:600} .c{fill:#0550ae;font-weight:600} .k{fill:#cf222e;font-weight:600} .o{fill:#59636e}
@media (prefers-color-scheme:dark){
.b{fill:#0d1117;stroke:#3d444d} .d{fill:#3d444d} text{fill:#f0f6fc} .t,.o{fill:#9198a1} .c{fill:#79c0ff} .k{fill:#ff7b72}
}
@media (prefers-reduced-motion:reduce){.m{animation:none!important}}
`

// draw writes an SVG in which the blocks appear one after the other at the foot of a terminal, again and again. Without motion it shows the
// end.
func draw(w io.Writer, blocks []block) error {
	lines, frames := layOut(blocks)
	width, height := int(columns*charWidth)+2*margin, titleBar+rows*lineHeight+margin
	var svg strings.Builder
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-labelledby="title desc">`+"\n", width, height, width, height)
	svg.WriteString("<title id=\"title\">alcove demo</title>\n<desc id=\"desc\">A small project's memory is stored and found by questions in other words; a branch is forked and merged; the old version is read back; a family is loaded; the server is killed, and nothing is lost.</desc>\n")
	fmt.Fprintf(&svg, "<style>\n%s%s</style>\n", style, animation(frames))
	fmt.Fprintf(&svg, `<rect class="b" x=".5" y=".5" width="%d" height="%d" rx="8"/>`+"\n", width-1, height-1)
	svg.WriteString(`<circle class="d" cx="22" cy="20" r="5.5"/><circle class="d" cx="40" cy="20" r="5.5"/><circle class="d" cx="58" cy="20" r="5.5"/>` + "\n")
	fmt.Fprintf(&svg, `<text class="t" x="%d" y="24">alcove demo</text>`+"\n", width/2)
	fmt.Fprintf(&svg, `<svg x="%d" y="%d" width="%d" height="%d"><g class="m" xml:space="preserve">`+"\n", margin, titleBar, width-2*margin, rows*lineHeight)
	for i, line := range lines {
		drawLine(&svg, line, (i+1)*lineHeight-5)
	}
	svg.WriteString("</g></svg>\n</svg>\n")
	_, err := io.WriteString(w, svg.String())
	return err
}

// frame is a moment of the picture: how many lines are above the foot of the terminal, and for how long.
type frame struct {
	lines int
	last  time.Duration
}

func layOut(blocks []block) (lines []string, frames []frame) {
	for _, b := range blocks {
		lines = append(append(lines, ""), b...)
		frames = append(frames, frame{len(lines), readingTime(b)})
	}
	frames[len(frames)-1].last += 4 * time.Second
	return lines, frames
}

// readingTime is how long a block stays alone: calls are understood by their form, so it is less than reading each word takes.
func readingTime(b block) time.Duration {
	return 700*time.Millisecond + time.Duration(min(len(b), 8))*120*time.Millisecond
}

// animation moves the lines up by what appears. A frame of keyframes holds until the next.
func animation(frames []frame) string {
	var total, at time.Duration
	for _, f := range frames {
		total += f.last
	}
	var css strings.Builder
	css.WriteString("@keyframes m{\n")
	for _, f := range frames {
		fmt.Fprintf(&css, "%.3f%%{transform:translateY(%dpx)}\n", 100*at.Seconds()/total.Seconds(), (rows-f.lines)*lineHeight)
		at += f.last
	}
	end := (rows - frames[len(frames)-1].lines) * lineHeight
	fmt.Fprintf(&css, "100%%{transform:translateY(%dpx)}}\n.m{transform:translateY(%dpx);animation:m %.1fs step-end infinite}\n", end, end, total.Seconds())
	return css.String()
}

func drawLine(svg *strings.Builder, line string, y int) {
	if line == "" {
		return
	}
	if utf8.RuneCountInString(line) > columns {
		line = string([]rune(line)[:columns-1]) + "…"
	}
	trimmed := strings.TrimLeft(line, " ")
	indent := utf8.RuneCountInString(line) - utf8.RuneCountInString(trimmed)
	class, name := "o", ""
	switch {
	case isHeading(line):
		class = "h"
	case strings.HasPrefix(trimmed, "memory_"):
		class = ""
		name, trimmed = cutName(trimmed)
		name = `<tspan class="c">` + name + `</tspan>`
	case strings.HasPrefix(trimmed, "kill -9"):
		class = "k"
	case indent <= 2 && !strings.HasPrefix(trimmed, "→"):
		class = ""
	}
	if class != "" {
		class = ` class="` + class + `"`
	}
	fmt.Fprintf(svg, `<text%s x="%.1f" y="%d">%s%s</text>`+"\n", class, float64(indent)*charWidth, y, name, escaped(trimmed))
}

func cutName(call string) (name, rest string) {
	name, rest, found := strings.Cut(call, " ")
	if found {
		rest = " " + rest
	}
	return name, rest
}

func escaped(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s)) // a strings.Builder fails no write
	return b.String()
}
