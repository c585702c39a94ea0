package cases

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"time"
)

// longestPattern bounds a regular expression, in bytes.
const longestPattern = 1_000

// mostDifferences are told of what came.
const mostDifferences = 10

// An object whose keys all begin with $ is a pattern; all that it says has to hold. Other values stand for themselves.
var operators = []string{"$is", "$like", "$near", "$within", "$has", "$each", "$size", "$just"}

// kinds are what $is may say.
var kinds = []string{"any", "string", "number", "integer", "boolean", "object", "list", "instant"}

// pattern is a parsed one.
type pattern struct {
	literal any                // without operators: what encoding/json makes, with patterns in objects and lists
	has     map[string]pattern // of $has
	each    *pattern
	kind    string
	like    *regexp.Regexp
	near    *float64
	within  float64
	size    *int
	is      bool // it has operators
}

func readPattern(raw json.RawMessage) (pattern, error) {
	value, err := decode(raw)
	if err != nil {
		return pattern{}, err
	}
	return toPattern(value)
}

// decode reads a value whose numbers keep their digits.
func decode(raw json.RawMessage) (value any, err error) {
	in := json.NewDecoder(bytes.NewReader(raw))
	in.UseNumber()
	err = in.Decode(&value)
	return value, err
}

func toPattern(value any) (p pattern, err error) {
	switch v := value.(type) {
	case map[string]any:
		if isPattern(v) {
			return operated(v)
		}
		p.literal, err = members(v)
		return p, err
	case []any:
		list := make([]pattern, len(v))
		for i, e := range v {
			if list[i], err = toPattern(e); err != nil {
				return p, err
			}
		}
		p.literal = list
		return p, nil
	}
	p.literal = value
	return p, nil
}

func isPattern(v map[string]any) bool {
	for key := range v {
		if !strings.HasPrefix(key, "$") {
			return false
		}
	}
	return len(v) > 0
}

func members(v map[string]any) (map[string]pattern, error) {
	out := map[string]pattern{}
	for key, e := range v {
		one, err := toPattern(e)
		if err != nil {
			return nil, err
		}
		out[key] = one
	}
	return out, nil
}

// operated reads an object of operators.
func operated(v map[string]any) (p pattern, err error) {
	p.is, p.within = true, 1e-6
	for _, key := range slices.Sorted(maps.Keys(v)) {
		if err := p.operator(key, v[key]); err != nil {
			return p, fmt.Errorf("%.80s: %w", key, err)
		}
	}
	if _, just := v["$just"]; just && len(v) > 1 {
		return p, errors.New("$just stands alone")
	}
	if _, within := v["$within"]; within && p.near == nil {
		return p, errors.New("$within goes with $near")
	}
	return p, nil
}

func (p *pattern) operator(key string, value any) (err error) {
	switch text, _ := value.(string); key {
	case "$is":
		if p.kind = text; !slices.Contains(kinds, text) {
			return fmt.Errorf("give one of %s", strings.Join(kinds, ", "))
		}
	case "$like":
		if text == "" || len(text) > longestPattern {
			return fmt.Errorf("give a regular expression of at most %d bytes", longestPattern)
		}
		p.like, err = regexp.Compile(text)
	case "$near":
		p.near, err = number(value)
	case "$within":
		var f *float64
		if f, err = number(value); err == nil {
			p.within = *f
		}
	case "$has":
		object, ok := value.(map[string]any)
		if !ok {
			return errors.New("give an object")
		}
		p.has, err = members(object)
	case "$each":
		var each pattern
		each, err = toPattern(value)
		p.each = &each
	case "$size":
		var f *float64
		if f, err = number(value); err == nil {
			n := int(*f)
			p.size = &n
		}
	case "$just":
		p.is, p.literal = false, just(value)
	default:
		return fmt.Errorf("there is no such pattern: known are %s", strings.Join(operators, ", "))
	}
	return err
}

// just is a value all of which stands for itself.
func just(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]pattern{}
		for key, e := range v {
			out[key] = pattern{literal: just(e)}
		}
		return out
	case []any:
		out := make([]pattern, len(v))
		for i, e := range v {
			out[i] = pattern{literal: just(e)}
		}
		return out
	}
	return value
}

func number(value any) (*float64, error) {
	n, ok := value.(json.Number)
	if !ok {
		return nil, errors.New("give a number")
	}
	f, err := n.Float64()
	if err != nil {
		return nil, errors.New("give a number")
	}
	return &f, nil
}

// Differences are where a value is not as a pattern says, each as a line; at most mostDifferences. A nil pattern fits everything.
func Differences(what string, want, got json.RawMessage) []string {
	if want == nil {
		return nil
	}
	p, err := readPattern(want)
	if err != nil {
		return []string{what + ": " + err.Error()}
	}
	value, err := decode(got)
	if err != nil {
		return []string{what + " is not JSON: " + err.Error()}
	}
	d := differences{}
	d.compare(what, p, value)
	if d.more > 0 {
		d.lines = append(d.lines, fmt.Sprintf("and %d more differences", d.more))
	}
	return d.lines
}

type differences struct {
	lines []string
	more  int
}

func (d *differences) add(at, format string, args ...any) {
	if len(d.lines) == mostDifferences {
		d.more++
		return
	}
	d.lines = append(d.lines, at+": "+fmt.Sprintf(format, args...))
}

func (d *differences) compare(at string, p pattern, got any) {
	if p.is {
		d.operators(at, p, got)
		return
	}
	switch want := p.literal.(type) {
	case map[string]pattern:
		if object, ok := got.(map[string]any); ok {
			d.object(at, want, object, true)
			return
		}
		d.add(at, "got %s, want an object", text(got))
	case []pattern:
		d.list(at, want, got)
	default:
		if !equal(want, got) {
			d.add(at, "got %s, want %s", text(got), text(want))
		}
	}
}

// object compares members. Those beyond the wanted ones are differences if it is whole.
func (d *differences) object(at string, want map[string]pattern, got map[string]any, whole bool) {
	for _, key := range slices.Sorted(maps.Keys(want)) {
		value, there := got[key]
		if !there {
			d.add(at+"."+key, "it is missing")
			continue
		}
		d.compare(at+"."+key, want[key], value)
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if _, wanted := want[key]; whole && !wanted {
			d.add(at+"."+key, "got %s, want no such member", text(got[key]))
		}
	}
}

func (d *differences) list(at string, want []pattern, got any) {
	list, ok := got.([]any)
	if !ok {
		d.add(at, "got %s, want a list", text(got))
		return
	}
	if len(list) != len(want) {
		d.add(at, "got %d elements, want %d: %s", len(list), len(want), text(got))
	}
	for i := range min(len(list), len(want)) {
		d.compare(fmt.Sprintf("%s[%d]", at, i), want[i], list[i])
	}
}

func (d *differences) operators(at string, p pattern, got any) {
	if p.kind != "" && !isKind(p.kind, got) {
		d.add(at, "got %s, want %s", text(got), p.kind)
	}
	if p.like != nil {
		if s, ok := got.(string); !ok || !p.like.MatchString(s) {
			d.add(at, "got %s, want a text like %s", text(got), p.like)
		}
	}
	if p.near != nil {
		if f, err := number(got); err != nil || math.Abs(*f-*p.near) > p.within {
			d.add(at, "got %s, want %v within %v", text(got), *p.near, p.within)
		}
	}
	if p.has != nil {
		if object, ok := got.(map[string]any); ok {
			d.object(at, p.has, object, false)
		} else {
			d.add(at, "got %s, want an object", text(got))
		}
	}
	d.elements(at, p, got)
}

// elements compares the elements of a list, or the members of an object.
func (d *differences) elements(at string, p pattern, got any) {
	if p.each == nil && p.size == nil {
		return
	}
	n := 0
	switch v := got.(type) {
	case []any:
		n = len(v)
		for i := 0; p.each != nil && i < n; i++ {
			d.compare(fmt.Sprintf("%s[%d]", at, i), *p.each, v[i])
		}
	case map[string]any:
		n = len(v)
		if p.each != nil {
			for _, key := range slices.Sorted(maps.Keys(v)) {
				d.compare(at+"."+key, *p.each, v[key])
			}
		}
	default:
		d.add(at, "got %s, want a list or an object", text(got))
		return
	}
	if p.size != nil && n != *p.size {
		d.add(at, "got %d elements, want %d: %s", n, *p.size, text(got))
	}
}

func isKind(kind string, v any) bool {
	switch kind {
	case "string":
		_, ok := v.(string)
		return ok
	case "number":
		_, ok := v.(json.Number)
		return ok
	case "integer":
		r, ok := rational(v)
		return ok && r.IsInt()
	case "boolean":
		_, ok := v.(bool)
		return ok
	case "object":
		_, ok := v.(map[string]any)
		return ok
	case "list":
		_, ok := v.([]any)
		return ok
	case "instant":
		s, _ := v.(string)
		_, err := time.Parse(time.RFC3339, s)
		return err == nil
	}
	return true
}

// equal compares values that are no objects and lists. Numbers are equal if their values are, as 1 and 1.0.
func equal(a, b any) bool {
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	if a == b {
		return true
	}
	x, ok := rational(a)
	y, also := rational(b)
	return ok && also && x.Cmp(y) == 0
}

// rational is a number whose exponent is small enough to write it out.
func rational(v any) (*big.Rat, bool) {
	n, ok := v.(json.Number)
	f, err := n.Float64()
	switch {
	case !ok || err != nil || len(n) > 400:
		return nil, false
	case math.Abs(f) < 1e-300:
		return new(big.Rat), true
	}
	return new(big.Rat).SetString(n.String())
}

// text is a value as a line, cut where it is long.
func text(v any) string {
	var data bytes.Buffer
	out := json.NewEncoder(&data)
	out.SetEscapeHTML(false)
	out.Encode(v)
	s := strings.TrimSpace(data.String())
	if p, ok := v.([]pattern); ok {
		return fmt.Sprintf("a list of %d elements", len(p))
	}
	const most = 300
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
