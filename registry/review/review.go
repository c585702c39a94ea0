// Package review compares two versions of a family for an operator who is to approve the second.
package review

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/alcove-memory/alcove/abi"
)

// Line is one difference, or something that an operator should look at.
type Line struct {
	Kind  string `json:"kind"`            // what differs: capability, limit, hook, tool, schema, description, text
	Name  string `json:"name"`            // which
	Old   string `json:"old,omitempty"`   // empty: there was none
	New   string `json:"new,omitempty"`   // empty: there is none
	Wider bool   `json:"wider,omitempty"` // the new version may do more, or tries to steer a model
}

// Compare returns how a manifest differs from an older one, and what texts of the new one aim at a model. A nil older one has
// nothing.
func Compare(old, now *abi.Manifest) []Line {
	if old == nil {
		old = &abi.Manifest{}
	}
	lines := capabilities(old, now)
	lines = append(lines, limits(old, now)...)
	lines = append(lines, parts("hook", hooks(old), hooks(now))...)
	lines = append(lines, parts("tool", tools(old, names), tools(now, names))...)
	lines = append(lines, parts("schema", tools(old, schemas), tools(now, schemas))...)
	lines = append(lines, parts("description", texts(old), texts(now))...)
	return append(lines, Texts(now)...)
}

func capabilities(old, now *abi.Manifest) []Line {
	lines := parts("capability", requests(old), requests(now))
	for i, l := range lines {
		lines[i].Wider = l.New != "" && wider(scopeOf(old, l.Name), scopeOf(now, l.Name), l.Old == "")
	}
	return lines
}

func requests(m *abi.Manifest) map[string]string {
	all := map[string]string{}
	for _, c := range m.Capabilities {
		all[string(c.Name)] = strings.TrimSpace(strings.Join(c.Scope, ",") + " (" + c.Reason + ")")
	}
	return all
}

func scopeOf(m *abi.Manifest, name string) []string {
	for _, c := range m.Capabilities {
		if string(c.Name) == name {
			return c.Scope
		}
	}
	return nil
}

// wider reports whether a scope has something that another one lacks.
func wider(old, now []string, added bool) bool {
	return added || slices.ContainsFunc(now, func(s string) bool { return !slices.Contains(old, s) && !slices.Contains(old, "*") })
}

func limits(old, now *abi.Manifest) []Line {
	before, after := map[string]int64{}, map[string]int64{}
	old.Limits.Each(func(name string, v *int64) { before[name] = *v })
	now.Limits.Each(func(name string, v *int64) { after[name] = *v })
	var lines []Line
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if a, b := before[name], after[name]; a != b {
			lines = append(lines, Line{Kind: "limit", Name: name, Old: limitText(a), New: limitText(b), Wider: b > a && a > 0 || a == 0})
		}
	}
	return lines
}

func limitText(v int64) string {
	if v == 0 {
		return "the default"
	}
	return strconv.FormatInt(v, 10)
}

// hooks are the hooks of a manifest as JSON, by name.
func hooks(m *abi.Manifest) map[string]string {
	all := map[string]json.RawMessage{}
	if data, err := json.Marshal(m.Hooks); err == nil {
		_ = json.Unmarshal(data, &all) // an object as it was encoded
	}
	text := map[string]string{}
	for name, value := range all {
		if s := string(value); s != "null" && s != "[]" {
			text[name] = s
		}
	}
	return text
}

func tools(m *abi.Manifest, of func(abi.Tool) string) map[string]string {
	all := map[string]string{}
	for _, t := range m.Tools {
		all[t.Name] = of(t)
	}
	return all
}

func names(t abi.Tool) string {
	all := []string{t.Name}
	for _, a := range t.Aliases {
		all = append(all, a.Name)
	}
	return strings.Join(all, ", ")
}

func schemas(t abi.Tool) string {
	var text bytes.Buffer
	for _, s := range []json.RawMessage{t.InputSchema, t.OutputSchema} {
		if len(s) > 0 && json.Compact(&text, s) == nil {
			text.WriteByte(' ')
		}
	}
	return strings.TrimSpace(text.String())
}

// texts are the descriptions that models read, by where they are.
func texts(m *abi.Manifest) map[string]string {
	all := map[string]string{"family": m.Description}
	for _, t := range m.Tools {
		all["tool "+t.Name] = strings.TrimSpace(t.Description)
	}
	return all
}

// parts are the differences of named texts. An added one is wider.
func parts(kind string, old, now map[string]string) (lines []Line) {
	every := maps.Clone(old)
	maps.Copy(every, now)
	for _, name := range slices.Sorted(maps.Keys(every)) {
		if a, b := old[name], now[name]; a != b {
			lines = append(lines, Line{Kind: kind, Name: name, Old: a, New: b, Wider: a == "" && kind != "description" && kind != "schema"})
		}
	}
	return lines
}

// steering are words by which a text tells a model what to do with something else than its tool.
var steering = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(always|never|must|instead of|before (using|calling)|do not (use|call|tell|mention|show)|don't (use|call|tell|mention|show)|ignore|disregard|override|system prompt|previous instructions|without (asking|telling)|secretly|<\s*important)\b`)
})

var link = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:https?://|www\.|data:|javascript:)[^\s"'<>]*`)
})

// Texts returns what the texts of a manifest have that aims at a model or deceives its reader: imperatives, names of other tools,
// links, characters that are hidden or turn text around, and letters of several alphabets in one word.
func Texts(m *abi.Manifest) (lines []Line) {
	data, err := json.Marshal(m)
	if err != nil {
		return nil
	}
	var all any
	if json.Unmarshal(data, &all) != nil {
		return nil
	}
	own := map[string]bool{}
	for _, t := range m.Tools {
		own[t.Name] = true
		for _, a := range t.Aliases {
			own[a.Name] = true
		}
	}
	walk("", all, func(at, text string) { lines = append(lines, suspicions(at, text, own)...) })
	return lines
}

// walk calls f for each text of a JSON value, names of members included, in the order of their names.
func walk(at string, v any, f func(at, text string)) {
	switch v := v.(type) {
	case string:
		f(at, v)
	case []any:
		for i, each := range v {
			walk(fmt.Sprintf("%s[%d]", at, i), each, f)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			f(at, name)
			walk(strings.TrimPrefix(at+"."+name, "."), v[name], f)
		}
	}
}

var toolName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bmemory_[a-z_]+\b`) })

func suspicions(at, text string, own map[string]bool) (lines []Line) {
	note := func(what, found string) {
		lines = append(lines, Line{Kind: "text", Name: what, New: at + ": " + found, Wider: true})
	}
	if hidden := strings.Map(visible, text); hidden != "" {
		note("hidden or bidirectional characters", strconv.QuoteToASCII(text))
	}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if mixed(word) {
			note("letters of several alphabets in a word", word+" = "+strconv.QuoteToASCII(word))
		}
	}
	for _, found := range link().FindAllString(text, -1) {
		note("a link", found)
	}
	if strings.HasSuffix(at, "escription") || strings.HasSuffix(at, "itle") {
		for _, found := range toolName().FindAllString(text, -1) {
			if !own[found] {
				note("another tool's name", found)
			}
		}
		if found := steering().FindString(text); found != "" {
			note("an imperative", found+", in: "+text)
		}
	}
	return lines
}

// visible drops all that is seen as it is.
func visible(r rune) rune {
	if r == '\n' || r == '\t' || !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Co, r) && !unicode.Is(unicode.Zl, r) && !unicode.Is(unicode.Zp, r) &&
		!(r >= 0xfe00 && r <= 0xfe0f) && !(r >= 0xe0100 && r <= 0xe01ef) {
		return -1
	}
	return r
}

// mixed reports whether a word has letters of two of the alphabets whose letters look alike.
func mixed(word string) bool {
	found := 0
	for _, alphabet := range []*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee} {
		if strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(alphabet, r) }) {
			found++
		}
	}
	return found > 1
}
