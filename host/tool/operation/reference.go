package operation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/host/tool"
)

const (
	referenceName  = "$result" // the member of an object that stands for a part of a result
	mostReferring  = 1 << 20   // bytes of params that have references
	mostReferences = 1000      // of params
	mostResolved   = 4 << 20   // bytes of params with the parts in place of the references
)

// resolved are the calls that a step makes.
type resolved struct {
	params []json.RawMessage
	each   bool // the result is a list of those of the calls; otherwise there is one
	notes  []string
}

// resolve returns the params of a call with parts of earlier results in place of references. A required parameter that is left
// out is taken from the result before. A nil tool has none.
func resolve(t *tool.Tool, params json.RawMessage, before []outcome) (resolved, error) {
	r := resolver{before: before}
	if bytes.Contains(params, []byte(referenceName)) {
		var err error
		if params, err = r.params(params); err != nil {
			return resolved{}, err
		}
	}
	if t == nil || len(before) == 0 {
		return resolved{params: []json.RawMessage{params}}, nil
	}
	return r.complete(t, params)
}

// resolver resolves the references of one call.
type resolver struct {
	before     []outcome
	references int
	size       int // bytes of the parts
}

func (r *resolver) params(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) > mostReferring {
		return nil, tool.Invalid(nil, "params that have a %s may have %d bytes, not %d", referenceName, mostReferring, len(raw))
	}
	value, err := decode(raw)
	if err != nil {
		return nil, tool.Invalid(nil, "params must be a JSON object")
	}
	if value, err = r.value(value); err != nil {
		return nil, err
	}
	return tool.Encode(value)
}

// decode decodes JSON with its numbers as they are.
func decode(raw []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return value, d.Decode(&value)
}

// value replaces the references in a value. The parts that it puts there are not looked at: a text that is stored somewhere
// refers to nothing.
func (r *resolver) value(v any) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		if pointer, is := v[referenceName]; is {
			return r.reference(v, pointer)
		}
		for name, member := range v {
			resolved, err := r.value(member)
			if err != nil {
				return nil, err
			}
			v[name] = resolved
		}
	case []any:
		for i := range v {
			resolved, err := r.value(v[i])
			if err != nil {
				return nil, err
			}
			v[i] = resolved
		}
	}
	return v, nil
}

// reference returns the part of a result that an object stands for.
func (r *resolver) reference(object map[string]any, pointer any) (any, error) {
	path, isText := pointer.(string)
	if !isText || path != "" && path[0] != '/' {
		return nil, wrong("%s must be a JSON Pointer such as /results/0/key, or empty for all of the result", referenceName)
	}
	for name := range object {
		if name != referenceName && name != "step" {
			return nil, wrong("an object with %s has only that member and step, got %q", referenceName, tool.Clip(name, longestMethod))
		}
	}
	from, err := r.source(object["step"])
	if err != nil {
		return nil, err
	}
	if r.references++; r.references > mostReferences {
		return nil, wrong("params have more than %d references, which is the limit", mostReferences)
	}
	part, err := find(from, pathOf(path))
	if err != nil {
		return nil, wrong("%s %q: %v", referenceName, tool.Clip(path, longestMethod), err)
	}
	raw, err := tool.Encode(part)
	if err != nil {
		return nil, fmt.Errorf("encode a part of a result: %w", err)
	}
	if r.size += len(raw); r.size > mostResolved {
		return nil, wrong("the parts of results in params may have %d bytes in all: refer to smaller ones", mostResolved)
	}
	return json.RawMessage(raw), nil
}

func wrong(format string, values ...any) error {
	return tool.Invalid(map[string]any{"parameters": []string{"params"}}, format, values...)
}

// source returns the result of a step; nil: of the one before.
func (r *resolver) source(number any) (any, error) {
	n := len(r.before)
	if n == 0 {
		return nil, wrong("%s refers to the result of an earlier step, and this is the first: put the operation into then", referenceName)
	}
	if number != nil {
		digits, _ := number.(json.Number)
		given, err := strconv.Atoi(string(digits))
		switch {
		case err != nil || given < 1:
			return nil, wrong("the step of a %s must be its number, from 1", referenceName)
		case given > n:
			return nil, wrong("%s refers to step %d, which has not run when this one, step %d, begins: refer to one before", referenceName, given, n+1)
		}
		n = given
	}
	return r.before[n-1].decoded()
}

// pathOf splits a JSON Pointer.
func pathOf(pointer string) []string {
	if pointer == "" {
		return nil
	}
	path := strings.Split(pointer[1:], "/")
	for i, name := range path {
		path[i] = strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
	}
	return path
}

// find returns the part of a value at a path, in which * stands for each element of a list.
func find(value any, path []string) (any, error) {
	for i, name := range path {
		switch v := value.(type) {
		case map[string]any:
			member, ok := v[name]
			if !ok {
				return nil, fmt.Errorf("the result has no member %q there", tool.Clip(name, longestMethod))
			}
			value = member
		case []any:
			if name == "*" {
				return each(v, path[i+1:])
			}
			n, err := strconv.Atoi(name)
			if err != nil || n < 0 || n >= len(v) {
				return nil, fmt.Errorf("the list there has %d elements, and no %q", len(v), tool.Clip(name, longestMethod))
			}
			value = v[n]
		default:
			return nil, fmt.Errorf("neither an object nor a list is there to contain %q", tool.Clip(name, longestMethod))
		}
	}
	return value, nil
}

func each(list []any, path []string) (any, error) {
	parts := make([]any, len(list))
	for i, v := range list {
		part, err := find(v, path)
		if err != nil {
			return nil, fmt.Errorf("element %d: %w", i, err)
		}
		parts[i] = part
	}
	return parts, nil
}

// complete adds required parameters that are missing, from the members of the same names of the result before, in any spelling that the
// tool accepts; or else from what the result before lists.
func (r *resolver) complete(t *tool.Tool, params json.RawMessage) (resolved, error) {
	as := resolved{params: []json.RawMessage{params}}
	missing := t.Missing(params)
	if len(missing) == 0 {
		return as, nil
	}
	value, err := r.source(nil)
	if err != nil {
		return as, err
	}
	result, _ := value.(map[string]any)
	given := map[string]json.RawMessage{}
	if len(params) > 0 && json.Unmarshal(params, &given) != nil {
		return as, nil // the tool reports it
	}
	var taken []string
	for _, name := range missing {
		if part, ok := spelled(result, name, t.Parameters); ok {
			if given[name], err = tool.Encode(part); err != nil {
				return as, fmt.Errorf("encode a part of a result: %w", err)
			}
			taken = append(taken, name)
		}
	}
	switch {
	case len(taken) > 0:
		slices.Sort(taken)
		as.params[0], err = tool.Encode(given)
		as.notes = []string{fmt.Sprintf("%s of %s was taken from the result before.", strings.Join(taken, ", "), t.Name)}
		return as, err
	case len(missing) == 1 && !t.Annotations.Destructive:
		return listed(t, as, given, missing[0], result)
	}
	return as, nil
}

// mostEach is how many calls a step makes for what the result before lists.
const mostEach = 100

// listed takes a missing parameter from each element of the list that is in the result before, such as the memories that a recall found: a
// parameter that is a list gets all of them, and for another one the tool is called with each. A tool that destroys is called with none.
func listed(t *tool.Tool, as resolved, given map[string]json.RawMessage, name string, result map[string]any) (resolved, error) {
	member, list := soleList(result)
	parts := make([]any, 0, len(list))
	for _, element := range list {
		object, _ := element.(map[string]any)
		part, ok := spelled(object, name, t.Parameters)
		if !ok {
			return as, nil // the tool reports what is missing
		}
		parts = append(parts, identified(object, part))
	}
	switch {
	case member == "":
		return as, nil
	case len(parts) > mostEach:
		return as, wrong("the result before has %d %s: a step takes at most %d, so limit the step before", len(parts), member, mostEach)
	case len(parts) == 0:
		return resolved{each: true, notes: []string{fmt.Sprintf("%s was not called: the result before has no %s.", t.Name, member)}}, nil
	}
	sets := parts
	if t.Names().Types[name] == "array" {
		sets = []any{parts}
	}
	as = resolved{each: t.Names().Types[name] != "array",
		notes: []string{fmt.Sprintf("%s of %s was taken from each of the %d %s of the result before.", name, t.Name, len(parts), member)}}
	for _, set := range sets {
		var err error
		if given[name], err = tool.Encode(set); err != nil {
			return as, fmt.Errorf("encode a part of a result: %w", err)
		}
		params, err := tool.Encode(given)
		if err != nil {
			return as, fmt.Errorf("encode params: %w", err)
		}
		as.params = append(as.params, params)
	}
	return as, nil
}

// soleList returns the only list of a result, and its name.
func soleList(result map[string]any) (name string, list []any) {
	for member, value := range result {
		of, is := value.([]any)
		if !is {
			continue
		}
		if name != "" {
			return "", nil
		}
		name, list = member, of
	}
	return name, list
}

// identified returns the id of a row: with its namespace, where the row names one and the id does not.
func identified(row map[string]any, id any) any {
	namespace, named := row["namespace"].(string)
	if key, isText := id.(string); named && isText && key == row["key"] {
		return namespace + "#" + key
	}
	return id
}

// spelled returns the member of a result for a parameter: the one of its name, or the only one in another spelling of it.
func spelled(result map[string]any, name string, spellings map[string]string) (part any, ok bool) {
	if part, ok = result[name]; ok {
		return part, true
	}
	found := 0
	for other, v := range result {
		if spellings[other] == name {
			part, found = v, found+1
		}
	}
	return part, found == 1
}
