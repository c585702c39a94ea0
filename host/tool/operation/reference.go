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

// resolve returns the params of a call with parts of earlier results in place of references. A required parameter that is left
// out is taken from the result before. A nil tool has none.
func resolve(t *tool.Tool, params json.RawMessage, before []outcome) (json.RawMessage, []string, error) {
	r := resolver{before: before}
	if bytes.Contains(params, []byte(referenceName)) {
		var err error
		if params, err = r.params(params); err != nil {
			return nil, nil, err
		}
	}
	if t == nil || len(before) == 0 {
		return params, nil, nil
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
			return nil, wrong("an object with %s has no member but that and step, got %q", referenceName, tool.Clip(name, longestMethod))
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
			return nil, fmt.Errorf("there is neither an object nor a list for %q to be in", tool.Clip(name, longestMethod))
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
// tool accepts.
func (r *resolver) complete(t *tool.Tool, params json.RawMessage) (json.RawMessage, []string, error) {
	missing := t.Missing(params)
	if len(missing) == 0 {
		return params, nil, nil
	}
	value, err := r.source(nil)
	if err != nil {
		return nil, nil, err
	}
	result, _ := value.(map[string]any)
	given := map[string]json.RawMessage{}
	if len(params) > 0 && json.Unmarshal(params, &given) != nil {
		return params, nil, nil // the tool reports it
	}
	var taken []string
	for _, name := range missing {
		if part, ok := spelled(result, name, t.Parameters); ok {
			if given[name], err = tool.Encode(part); err != nil {
				return nil, nil, fmt.Errorf("encode a part of a result: %w", err)
			}
			taken = append(taken, name)
		}
	}
	if len(taken) == 0 {
		return params, nil, nil
	}
	slices.Sort(taken)
	completed, err := tool.Encode(given)
	return completed, []string{fmt.Sprintf("%s of %s was taken from the result before.", strings.Join(taken, ", "), t.Name)}, err
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
