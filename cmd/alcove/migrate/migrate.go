// Package migrate rewrites calls of deprecated tools, and of tools by the names of other systems, in JSON, programs and prompts.
package migrate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/alcove-memory/alcove/guests/families/legacy/successor"
)

// Alias is what an alias stands for.
type Alias struct {
	Tool      string
	Arguments map[string]json.RawMessage // values of parameters that a call omits
	Spellings map[string]string          // parameters that the alias spells otherwise; Spread for an object of parameters
}

// Spread is the spelling of an object whose members are parameters.
const Spread = "..."

// spelled are arguments as the tool spells them.
func (a Alias) spelled(arguments []member) (list []member) {
	for _, m := range arguments {
		now, otherwise := a.Spellings[m.key]
		switch {
		case otherwise && now == Spread && m.value.object:
			list = append(list, a.spelled(m.value.members)...)
		case otherwise && now != Spread:
			list = append(list, member{now, m.value})
		default:
			list = append(list, m)
		}
	}
	return list
}

// Tools are the tools of a server.
type Tools struct {
	Names   map[string]bool
	Aliases map[string]Alias
}

// Change is a rewritten call or name.
type Change struct {
	Line     int    `json:"line"`
	Old      string `json:"old"`
	New      string `json:"new"`
	Dropped  string `json:"dropped,omitempty"` // parameters without a counterpart
	position int
}

// Left is a name that was not rewritten.
type Left struct {
	Line int    `json:"line"`
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Result is a rewritten text.
type Result struct {
	Text    string
	Changes []Change
	Left    []Left
}

// edit replaces a part of a text.
type edit struct {
	start, end int
	text       string
}

// rewriter rewrites a text.
type rewriter struct {
	Tools
	text     string
	newlines []int // positions
	budget   int   // characters that may still be read as objects
	edits    []edit
	out      Result
	done     []edit // parts that were read as calls, in their order
}

// mostRead is how often the characters of a text are read as parts of objects, on average.
const mostRead = 16

// Rewrite rewrites a text. Unknown names are left and listed.
func (t Tools) Rewrite(text string) Result {
	w := &rewriter{Tools: t, text: text, budget: mostRead*len(text) + 1<<20}
	for i := range len(text) {
		if text[i] == '\n' {
			w.newlines = append(w.newlines, i)
		}
	}
	w.objects()
	w.done = disjoint(append(w.done, w.edits...))
	w.names()
	slices.SortStableFunc(w.edits, func(a, b edit) int { return cmp.Or(a.start-b.start, b.end-a.end) })
	var b strings.Builder
	at := 0
	for _, e := range w.edits {
		if e.start < at { // within a call that was rewritten as a whole
			continue
		}
		b.WriteString(text[at:e.start] + e.text)
		at = e.end
	}
	w.out.Text = b.String() + text[at:]
	slices.SortStableFunc(w.out.Changes, func(a, b Change) int { return a.position - b.position })
	slices.SortStableFunc(w.out.Left, func(a, b Left) int { return a.Line - b.Line })
	return w.out
}

func (w *rewriter) line(at int) int {
	before, _ := slices.BinarySearch(w.newlines, at)
	return 1 + before
}

func (w *rewriter) replace(start, end int, now string, c Change) {
	w.edits = append(w.edits, edit{start, end, now})
	c.Line, c.position = w.line(start), start
	w.out.Changes = append(w.out.Changes, c)
}

func (w *rewriter) leave(at int, name, why string) {
	w.out.Left = append(w.out.Left, Left{w.line(at), name, why})
}

// objects rewrites calls that are objects with a name and arguments.
func (w *rewriter) objects() {
	for at := 0; at < len(w.text); {
		i := strings.IndexByte(w.text[at:], '{')
		if i < 0 {
			return
		}
		at += i
		v, err := w.object(at)
		if err != nil {
			at++
			continue
		}
		w.walk(&v, v.loose)
		at = v.end
	}
}

// object reads the object at a position.
func (w *rewriter) object(at int) (value, error) {
	if w.budget <= 0 {
		return value{}, errNoValue
	}
	r := &reader{text: w.text, at: at}
	v, err := r.object()
	w.budget -= r.at - at
	return v, err
}

// Members of calls, as the protocols and model APIs name them.
var (
	nameMembers     = []string{"name", "tool", "tool_name", "method"}
	argumentMembers = []string{"arguments", "input", "params", "parameters", "args"}
)

// walk rewrites the calls in a value.
func (w *rewriter) walk(v *value, loose bool) {
	for i := range v.elements {
		w.walk(&v.elements[i], loose)
	}
	if v.object && w.called(v, loose) {
		return
	}
	for i := range v.members {
		w.walk(&v.members[i].value, loose)
	}
}

// called rewrites an object if it is a call. It reports whether it is one.
func (w *rewriter) called(v *value, loose bool) bool {
	for _, member := range nameMembers {
		name := v.get(member)
		if name == nil || !w.isOld(name.str()) {
			continue
		}
		for _, each := range argumentMembers {
			arguments := v.get(each)
			switch {
			case arguments == nil:
			case arguments.object:
				w.rewriteCall(v, name, arguments, loose)
				return true
			case arguments.text != nil: // JSON in a string
				inner, err := objectAt(arguments.str(), 0)
				if err != nil || inner.end != len(arguments.str()) {
					w.leave(name.start, name.str(), "its arguments cannot be read")
					w.done = append(w.done, edit{start: name.start, end: name.end})
					return true
				}
				w.rewriteCall(v, name, arguments, loose)
				return true
			}
		}
		if member == "method" || len(v.members) == 1 { // a call without arguments
			w.rewriteCall(v, name, nil, loose)
			return true
		}
	}
	return false
}

// isOld reports whether a name is to be rewritten, with some arguments at least.
func (w *rewriter) isOld(name string) bool {
	_, alias := w.Aliases[name]
	_, deprecated := successor.Of(name)
	return alias || deprecated
}

// rewriteCall rewrites name and arguments of a call.
func (w *rewriter) rewriteCall(v, name, arguments *value, loose bool) {
	w.done = append(w.done, edit{start: name.start, end: name.end})
	given := value{object: true}
	embedded := arguments != nil && arguments.text != nil
	switch {
	case embedded:
		given, _ = objectAt(arguments.str(), 0)
	case arguments != nil:
		given = *arguments
	}
	tool, now, c, ok := w.translate(name.start, name.str(), given)
	if !ok {
		return
	}
	w.edits = append(w.edits, edit{name.start, name.end, quote(tool)})
	text := w.render(now, loose && !embedded, given)
	switch {
	case embedded:
		w.edits = append(w.edits, edit{arguments.start, arguments.end, quote(text)})
	case arguments != nil:
		w.edits = append(w.edits, edit{arguments.start, arguments.end, text})
	case len(now.members) > 0:
		w.edits = append(w.edits, edit{name.end, name.end, `, "` + paired(v, name) + `": ` + text})
	}
	c.Line, c.position = w.line(name.start), name.start
	w.out.Changes = append(w.out.Changes, c)
}

// paired is the member for arguments beside a name.
func paired(v, name *value) string {
	if v.get("method") == name {
		return "params"
	}
	return "arguments"
}

// render writes arguments in the form of those before.
func (w *rewriter) render(now value, loose bool, before value) string {
	var b strings.Builder
	lines, indent := false, ""
	if before.end > before.start && before.end <= len(w.text) && before.start >= 0 {
		if source := w.text[before.start:before.end]; strings.Contains(source, "\n") {
			lines = true
			line := w.text[strings.LastIndexByte(w.text[:before.start], '\n')+1 : before.start]
			indent = line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		}
	}
	now.write(&b, loose, lines, indent)
	return b.String()
}

// translate is what replaces a call.
func (w *rewriter) translate(at int, name string, arguments value) (tool string, now value, c Change, ok bool) {
	preset := arguments
	tool = name
	if alias, is := w.Aliases[name]; is {
		tool = alias.Tool
		preset.members = alias.spelled(arguments.members)
		for _, key := range slices.Sorted(keysOf(alias.Arguments)) {
			if preset.get(key) == nil {
				preset.members = append(preset.members, member{key, rawValue(string(alias.Arguments[key]))})
			}
		}
	}
	old, deprecated := successor.Of(tool)
	if !deprecated {
		if tool == name {
			return "", now, c, false // the present form
		}
		return tool, preset, Change{Old: name, New: tool}, true
	}
	r := replacing(old, preset.members)
	if r.left != "" {
		w.leave(at, name, r.left)
		return "", now, c, false
	}
	var tools []string
	for _, s := range r.steps {
		tools = append(tools, s.tool)
	}
	tool, now = r.call()
	return tool, now, Change{Old: name, New: strings.Join(tools, ", "), Dropped: strings.Join(r.dropped, ", ")}, true
}

func keysOf[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// nameForm is what may be the name of a tool, of Alcove or another system.
var nameForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:mcp__[A-Za-z0-9-]+__)?((?:memory|strata|katra|engram)_[a-z0-9]+(?:_[a-z0-9]+)*|ora\.[a-z]+\.[a-z]+)\b`)
})

// names rewrites what is left: calls as name({…}), and names in prose.
func (w *rewriter) names() {
	for _, found := range nameForm().FindAllStringSubmatchIndex(w.text, -1) {
		start, end := found[2], found[3]
		name := w.text[start:end]
		if w.within(start, end) {
			continue
		}
		if !w.isOld(name) {
			if !w.Names[name] {
				w.leave(start, name, "there is no tool of this name")
			}
			continue
		}
		if w.isFunction(start, end, name) {
			continue
		}
		w.mention(start, end, name)
	}
}

// within reports whether a part of the text was rewritten, or left on purpose.
func (w *rewriter) within(start, end int) bool {
	i, _ := slices.BinarySearchFunc(w.done, end, func(e edit, at int) int { return e.start - at })
	return i > 0 && w.done[i-1].end > start
}

// disjoint are parts of a text without what they have in common, in order.
func disjoint(list []edit) (out []edit) {
	slices.SortFunc(list, func(a, b edit) int { return a.start - b.start })
	for _, e := range list {
		if n := len(out); n > 0 && e.start <= out[n-1].end {
			out[n-1].end = max(out[n-1].end, e.end)
			continue
		}
		out = append(out, e)
	}
	return out
}

// isFunction rewrites name({…}) and name {…}. It reports whether the name is one of a call.
func (w *rewriter) isFunction(start, end int, name string) bool {
	rest := w.text[end:]
	inner := strings.TrimLeft(rest, " \t")
	at := end + len(rest) - len(inner)
	parenthesis := strings.HasPrefix(inner, "(")
	if parenthesis {
		at++
		trimmed := strings.TrimLeft(w.text[at:], " \t\r\n")
		at = len(w.text) - len(trimmed)
	} else if quoted := strings.HasPrefix(inner, "'{"); quoted {
		at++
	}
	if at >= len(w.text) || w.text[at] != '{' {
		if parenthesis && !strings.HasPrefix(w.text[at:], ")") {
			w.leave(start, name, "its arguments cannot be read")
			return true
		}
		return false
	}
	arguments, err := w.object(at)
	if err != nil {
		w.leave(start, name, "its arguments cannot be read")
		return true
	}
	tool, now, c, ok := w.translate(start, name, arguments)
	if !ok {
		return true
	}
	w.edits = append(w.edits, edit{start, end, tool})
	if w.within(arguments.start, arguments.end) {
		w.out.Changes = slices.DeleteFunc(w.out.Changes, func(c Change) bool { return c.position >= arguments.start && c.position < arguments.end })
	}
	w.replace(arguments.start, arguments.end, w.render(now, arguments.loose, arguments), c)
	w.out.Changes[len(w.out.Changes)-1].Line, w.out.Changes[len(w.out.Changes)-1].position = w.line(start), start
	return true
}

// mention rewrites a name in prose.
func (w *rewriter) mention(start, end int, name string) {
	tools, with := []string{name}, ""
	if alias, is := w.Aliases[name]; is {
		tools = []string{alias.Tool}
		for _, key := range slices.Sorted(keysOf(alias.Arguments)) {
			with += fmt.Sprintf(" with %s %s", key, strings.Trim(string(alias.Arguments[key]), `"`))
		}
	}
	if old, deprecated := successor.Of(tools[0]); deprecated {
		tools = old.By
	}
	ticks := start > 0 && w.text[start-1] == '`' && end < len(w.text) && w.text[end] == '`'
	inQuotes := start > 0 && strings.IndexByte(`"'`, w.text[start-1]) >= 0
	if len(tools) > 1 && inQuotes || len(tools) > 1 && strings.HasPrefix(w.text[end:], "(") {
		w.leave(start, name, "several tools replace it: "+strings.Join(tools, ", "))
		return
	}
	now := listed(tools, ticks)
	if with != "" && !inQuotes {
		if ticks {
			now, end = now+"`"+with, end+1
		} else {
			now += with
		}
	}
	w.replace(start, end, now, Change{Old: name, New: strings.Join(tools, ", ") + with})
}

// listed is a list of names in a sentence.
func listed(tools []string, ticks bool) string {
	comma, and := ", ", " and "
	if ticks {
		comma, and = "`, `", "` and `"
	}
	if len(tools) == 1 {
		return tools[0]
	}
	return strings.Join(tools[:len(tools)-1], comma) + and + tools[len(tools)-1]
}
