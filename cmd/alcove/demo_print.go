package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/sdk/client"
)

const (
	demoWidth = 108 // characters in a line of an answer
	demoRows  = 9   // lines of an answer
	demoWraps = 3   // lines of a member
)

// demoCall is a call of a tool; its arguments are in the order in which they are printed.
type demoCall struct {
	tool string
	args []arg
}

type arg struct {
	name  string
	value any
}

func (d *demonstration) print(format string, args ...any) {
	if !d.app.asJSON {
		d.app.printf(format, args...)
	}
}

func (d *demonstration) heading(s string) { d.print("\n%s\n", d.app.heading(s)) }

func (d *demonstration) calls(ctx context.Context, calls ...demoCall) error {
	for _, c := range calls {
		if _, err := d.call(ctx, c.tool, c.args...); err != nil {
			return err
		}
	}
	return nil
}

// call calls a tool, and prints the call and its answer.
func (d *demonstration) call(ctx context.Context, tool string, args ...arg) (client.ToolResult, error) {
	arguments, shown := map[string]any{}, []any{d.app.out.Style(terminal.Yellow, tool)}
	for _, x := range args {
		raw, err := json.Marshal(x.value)
		if err != nil {
			return client.ToolResult{}, fmt.Errorf("show the arguments of %s: %w", tool, err)
		}
		arguments[x.name] = x.value
		shown = append(shown, d.app.dim(x.name), string(raw))
	}
	d.print("\n  %s"+strings.Repeat("  %s %s", len(args))+"\n", shown...)
	answer, err := d.client.Call(ctx, tool, arguments)
	if err != nil {
		return answer, fmt.Errorf("call %s: %w", tool, err)
	}
	d.report.Calls++
	for i, line := range answerLines([]byte(answer.Text)) {
		arrow := terminal.Line(" ")
		if i == 0 {
			arrow = d.app.out.Style(terminal.Green, "→")
		}
		d.print("  %s  %s\n", arrow, line)
	}
	return answer, nil
}

// answerLines lays an answer out for reading: on one line if it fits, else one member or element a line.
func answerLines(text []byte) []string {
	if !json.Valid(text) {
		return limited(strings.Split(string(text), "\n"))
	}
	one := compact(text)
	if utf8.RuneCountInString(one) <= demoWidth {
		return []string{one}
	}
	return limited(rows(text, ""))
}

// rows lists the members of an object, or the elements of an array; what is itself too long for a line is
// laid out below its name.
func rows(raw []byte, indent string) []string {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	open, err := decoder.Token()
	if err != nil {
		return wrapped(compact(raw), indent)
	}
	if open != json.Delim('{') && open != json.Delim('[') {
		return wrapped(compact(raw), indent)
	}
	var lines []string
	for decoder.More() {
		name := ""
		if open == json.Delim('{') {
			token, err := decoder.Token()
			if err != nil {
				return lines
			}
			name, _ = token.(string)
			name += ": "
		}
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			return lines
		}
		one := name + compact(value)
		if nested := value[0] == '[' || name != "" && value[0] == '{'; nested && utf8.RuneCountInString(indent+one) > demoWidth {
			lines = append(append(lines, indent+strings.TrimSpace(name)), rows(value, indent+"  ")...)
			continue
		}
		lines = append(lines, wrapped(one, indent)...)
	}
	return lines
}

// wrapped breaks a long text over several lines, at spaces, and shortens what would be too many.
func wrapped(s, indent string) []string {
	var lines []string
	for len(lines) < demoWraps-1 && utf8.RuneCountInString(indent+s) > demoWidth {
		runes := []rune(s)
		at := demoWidth - len(indent)
		for i := at; i > at/2; i-- {
			if runes[i] == ' ' {
				at = i
				break
			}
		}
		lines = append(lines, indent+string(runes[:at]))
		s = strings.TrimLeft(string(runes[at:]), " ")
		if len(lines) == 1 {
			indent += "  "
		}
	}
	if runes := []rune(s); len(indent)+len(runes) > demoWidth {
		s = string(runes[:demoWidth-len(indent)-1]) + "…"
	}
	return append(lines, indent+s)
}

func limited(lines []string) []string {
	if len(lines) <= demoRows {
		return lines
	}
	return append(lines[:demoRows-1], "…")
}

// compact is JSON on one line, with a little air.
func compact(raw []byte) string {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return string(raw)
	}
	var spaced strings.Builder
	quoted, escaped := false, false
	for _, r := range out.String() {
		spaced.WriteRune(r)
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = r == '\\', r != '"'
		case r == '"':
			quoted = true
		case r == ',' || r == ':':
			spaced.WriteByte(' ')
		}
	}
	return spaced.String()
}
