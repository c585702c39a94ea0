// Package instance generates JSON values that a JSON Schema allows, for tests of what reads them.
package instance

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/internal/schema"
)

const (
	attempts    = 50 // at a value, before the schema is given up
	deepest     = 6  // levels below which optional parts are left out
	mostItems   = 4  // of an array whose schema sets no minimum
	longestText = 24 // characters of a string whose schema sets no minimum
	longestList = 64 // items, and kilobytes of a string, that a minimum may ask for
)

// Generator generates values of one schema. It is not safe for concurrent use.
type Generator struct {
	root    map[string]any
	checked *schema.Schema
	random  *rand.Rand
	// Names are values for strings whose property ends in key, keys or id, so that some requests name what exists.
	Names []string
}

// New compiles a schema. Equal seeds generate equal values.
func New(text []byte, seed uint64) (*Generator, error) {
	checked, err := schema.Compile(text)
	if err != nil {
		return nil, err
	}
	var root map[string]any
	if err := json.Unmarshal(text, &root); err != nil { // a schema may be true
		root = map[string]any{}
	}
	return &Generator{root: root, checked: checked, random: rand.New(rand.NewPCG(seed, 1))}, nil
}

// Next generates a value. It fails if no attempt made one that the schema allows.
func (g *Generator) Next() (json.RawMessage, error) {
	var last error
	for range attempts {
		data, err := json.Marshal(g.value(g.root, "", 0))
		if err != nil {
			return nil, fmt.Errorf("encode a generated value: %w", err)
		}
		if last = g.checked.Check(data); last == nil {
			return data, nil
		}
	}
	return nil, fmt.Errorf("no value of the schema in %d attempts: %w", attempts, last)
}

// Largest generates a value with every property, and with text of the given number of bytes where the schema allows it.
func (g *Generator) Largest(bytes int) (json.RawMessage, error) {
	value, err := g.Next()
	if err != nil {
		return nil, err
	}
	members, err := object(value)
	if err != nil {
		return value, nil // only objects have room
	}
	properties, _ := g.root["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		before, had := members[name]
		members[name] = strings.Repeat("x", bytes)
		if g.allows(members) {
			continue
		}
		members[name] = []any{strings.Repeat("y", bytes)}
		if g.allows(members) {
			continue
		}
		if delete(members, name); had {
			members[name] = before
		}
	}
	return json.Marshal(members)
}

func object(value json.RawMessage) (members map[string]any, err error) {
	if err = json.Unmarshal(value, &members); err == nil && members == nil {
		err = errors.New("null is not an object")
	}
	return members, err
}

func (g *Generator) allows(value any) bool {
	data, err := json.Marshal(value)
	return err == nil && g.checked.Check(data) == nil
}

// value generates a value of a schema, for the property of that name.
func (g *Generator) value(s any, name string, depth int) any {
	object, ok := s.(map[string]any)
	if !ok { // true, or absent
		return g.any(name, depth)
	}
	object = g.flattened(object, 0)
	if c, has := object["const"]; has {
		return c
	}
	if values, _ := object["enum"].([]any); len(values) > 0 {
		return pick(g, values)
	}
	if examples, _ := object["examples"].([]any); len(examples) > 0 && g.random.IntN(4) == 0 {
		return pick(g, examples)
	}
	if d, has := object["default"]; has && g.random.IntN(4) == 0 {
		return d
	}
	switch g.kind(object) {
	case "object":
		return g.object(object, depth)
	case "array":
		return g.array(object, name, depth)
	case "string":
		return g.text(object, name)
	case "integer":
		return math.Round(g.number(object, 1))
	case "number":
		return g.number(object, 0)
	case "boolean":
		return g.random.IntN(2) == 0
	case "null":
		return nil
	}
	return g.any(name, depth)
}

// flattened merges what a schema refers to, all of allOf, and one of anyOf and oneOf.
func (g *Generator) flattened(s map[string]any, depth int) map[string]any {
	if depth > deepest {
		return s
	}
	out := maps.Clone(s)
	merge := func(part any) {
		if p, ok := part.(map[string]any); ok {
			merged(out, g.flattened(p, depth+1))
		}
	}
	if ref, ok := s["$ref"].(string); ok {
		merge(g.resolve(ref))
	}
	all, _ := s["allOf"].([]any)
	for _, part := range all {
		merge(part)
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if parts, _ := s[keyword].([]any); len(parts) > 0 {
			merge(pick(g, parts))
		}
	}
	return out
}

// merged adds the keywords of part: properties and required names are united, other keywords of part win.
func merged(into, part map[string]any) {
	for keyword, v := range part {
		switch before := into[keyword].(type) {
		case map[string]any:
			if more, ok := v.(map[string]any); ok && keyword == "properties" {
				both := maps.Clone(before)
				maps.Copy(both, more)
				v = both
			}
		case []any:
			if more, ok := v.([]any); ok && keyword == "required" {
				v = append(slices.Clone(before), more...)
			}
		}
		into[keyword] = v
	}
}

// resolve follows a reference within the schema; nil if it leads nowhere.
func (g *Generator) resolve(ref string) any {
	var at any = g.root
	if ref == "#" {
		return at
	}
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	for step := range strings.SplitSeq(path, "/") {
		members, _ := at.(map[string]any)
		at = members[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
	}
	return at
}

// kind is the type of a value of a schema: its type keyword, or what its other keywords are about.
func (g *Generator) kind(s map[string]any) string {
	switch t := s["type"].(type) {
	case string:
		return t
	case []any:
		if name, ok := pick(g, t).(string); ok {
			return name
		}
	}
	for _, about := range [][2]string{{"properties", "object"}, {"required", "object"}, {"items", "array"}, {"minItems", "array"}, {"pattern", "string"}, {"minLength", "string"}, {"minimum", "number"}, {"maximum", "number"}} {
		if _, has := s[about[0]]; has {
			return about[1]
		}
	}
	return ""
}

func (g *Generator) object(s map[string]any, depth int) map[string]any {
	out := map[string]any{}
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		needed := slices.Contains(required, any(name))
		if needed || depth < deepest && g.random.IntN(2) == 0 {
			out[name] = g.value(properties[name], name, depth+1)
		}
	}
	for _, name := range required {
		if name, ok := name.(string); ok && out[name] == nil && properties[name] == nil {
			out[name] = g.any(name, depth+1)
		}
	}
	if more, ok := s["additionalProperties"].(map[string]any); ok && depth < deepest {
		for range g.random.IntN(3) {
			out[g.word()] = g.value(more, "", depth+1)
		}
	}
	return out
}

func (g *Generator) array(s map[string]any, name string, depth int) []any {
	fewest := min(int(numeric(s["minItems"], 0)), longestList)
	most := min(int(numeric(s["maxItems"], float64(fewest+mostItems))), fewest+mostItems)
	n := fewest
	if most > fewest && depth < deepest {
		n += g.random.IntN(most - fewest + 1)
	}
	out := make([]any, n)
	for i := range out {
		out[i] = g.value(s["items"], name, depth+1)
	}
	return out
}

// number is often a bound, where errors are.
func (g *Generator) number(s map[string]any, step float64) float64 {
	low := numeric(s["minimum"], math.Inf(-1))
	high := numeric(s["maximum"], math.Inf(1))
	small := max(step, 1.0/1024)
	if v := numeric(s["exclusiveMinimum"], math.Inf(-1)); v >= low {
		low = v + small
	}
	if v := numeric(s["exclusiveMaximum"], math.Inf(1)); v <= high {
		high = v - small
	}
	switch {
	case math.IsInf(low, -1) && math.IsInf(high, 1):
		low, high = -1000, 1000
	case math.IsInf(low, -1):
		low = high - 1000
	case math.IsInf(high, 1):
		high = low + 1000
	}
	v := low + g.random.Float64()*(high-low)
	switch g.random.IntN(4) {
	case 0:
		v = low
	case 1:
		v = high
	}
	if m := numeric(s["multipleOf"], 0); m > 0 {
		v = math.Ceil(v/m) * m
	}
	return v
}

// any is some value.
func (g *Generator) any(name string, depth int) any {
	switch n := g.random.IntN(8); {
	case n == 0:
		return nil
	case n == 1:
		return g.random.IntN(2) == 0
	case n == 2:
		return g.random.NormFloat64() * 1e6
	case n == 3 && depth < deepest:
		return []any{g.any(name, depth+1), g.any(name, depth+1)}
	case n == 4 && depth < deepest:
		return map[string]any{g.word(): g.any(name, depth+1)}
	}
	return g.text(nil, name)
}

func pick[T any](g *Generator, list []T) T { return list[g.random.IntN(len(list))] }

// numeric is a keyword's number.
func numeric(v any, otherwise float64) float64 {
	if n, ok := v.(float64); ok {
		return n
	}
	return otherwise
}
