// Package edit changes one entry of a configuration file in JSON or TOML, and leaves every other byte as it is: comments, order,
// indentation, line endings.
package edit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
)

// Format is the syntax of a file.
type Format int

// The formats. JSON may have comments and trailing commas.
const (
	JSON Format = iota
	TOML
)

// Most is how long a text may be, in bytes.
const Most = 32 << 20

// deepest is how many objects and arrays may be inside one another.
const deepest = 1000

// ErrForm says that a text has an entry in a form that is not edited.
var ErrForm = errors.New("it is written in a form that is not edited")

// SyntaxError says where a text is not of its format.
type SyntaxError struct {
	Line   int // from 1
	Reason string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// Append is the last element of a path that adds an element to an array.
const Append = "-"

var bom = []byte("\xef\xbb\xbf")

// Value is the entry that a path leads to, as JSON; nil: there is none. An element of a path is a member's name or the index of an array.
func (f Format) Value(text []byte, path []string) (json.RawMessage, error) {
	tree, err := f.decode(text)
	if err != nil {
		return nil, err
	}
	for _, name := range path {
		next, ok := child(tree, name)
		if !ok {
			return nil, nil
		}
		tree = next
	}
	return json.Marshal(tree)
}

// Set gives the entry a value, and makes the objects around it that are missing. Members that have their value already are left alone.
// Made is how many of the path's elements were made.
func (f Format) Set(text []byte, path []string, value json.RawMessage) (changed []byte, made int, err error) {
	return f.checked(text, path, func(text []byte) ([]byte, int, error) {
		if f == TOML {
			return setTOML(text, path, value)
		}
		return setJSON(text, path, value)
	}, func(tree any) (any, error) {
		var v any
		err := decodeJSON(value, &v)
		return with(tree, path, v), err
	})
}

// Remove removes the entry, and the objects around it that would be empty, of which at most made-1 are removed. An entry that does not
// exist is removed already.
func (f Format) Remove(text []byte, path []string, made int) (changed []byte, err error) {
	around := 0
	changed, _, err = f.checked(text, path, func(text []byte) ([]byte, int, error) {
		var changed []byte
		var err error
		if f == TOML {
			changed, err = removeTOML(text, path)
		} else {
			changed, around, err = removeJSON(text, path, made)
		}
		return changed, 0, err
	}, func(tree any) (any, error) {
		return without(tree, path[:len(path)-around]), nil
	})
	return changed, err
}

// checked changes a text, and makes sure that the new one says what it should: that all other entries are as they were.
func (f Format) checked(text []byte, path []string, change func([]byte) ([]byte, int, error), intended func(any) (any, error)) (
	changed []byte, made int, err error) {
	if len(path) == 0 {
		return nil, 0, errors.New("change an entry of a file: its path is empty")
	}
	before, err := f.decode(text)
	if err != nil {
		return nil, 0, err
	}
	body, marked := bytes.CutPrefix(text, bom)
	changed, made, err = change(body)
	if err != nil {
		return nil, 0, err
	}
	if marked {
		changed = slices.Concat(bom, changed)
	}
	if len(changed) > Most {
		return nil, 0, fmt.Errorf("change an entry of a file: it would have more than %d bytes", Most)
	}
	want, err := intended(before)
	if err != nil {
		return nil, 0, err
	}
	got, err := f.decode(changed)
	if err != nil || !same(f.withoutEmptyTables(got, path), f.withoutEmptyTables(want, path)) {
		return nil, 0, fmt.Errorf("change %s: other entries would change (%v): %w", path, err, ErrForm)
	}
	return changed, made, nil
}

// decode is what a text says. An empty one says what an empty object does.
func (f Format) decode(text []byte) (any, error) {
	if len(text) > Most {
		return nil, fmt.Errorf("it has more than %d bytes", Most)
	}
	text = bytes.TrimPrefix(text, bom)
	if f == TOML {
		return decodeTOML(text)
	}
	doc, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	if doc == nil {
		return map[string]any{}, nil
	}
	doc.Standardize()
	var tree any
	err = decodeJSON(doc.Pack(), &tree)
	return tree, err
}

// withoutEmptyTables is a tree without the empty tables around an entry: in TOML they are gone with what was in them.
func (f Format) withoutEmptyTables(tree any, path []string) any {
	for around := path; f == TOML && len(around) > 1; {
		around = around[:len(around)-1]
		at := tree
		for _, name := range around {
			at, _ = child(at, name)
		}
		if empty, ok := at.(map[string]any); !ok || len(empty) > 0 {
			break
		}
		tree = without(tree, around)
	}
	return tree
}

func decodeJSON(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(v)
}

func same(a, b any) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	x, errX := json.Marshal(a) // TOML has more types than JSON
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func child(tree any, name string) (any, bool) {
	switch t := tree.(type) {
	case map[string]any:
		v, ok := t[name]
		return v, ok
	case []any:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(t) {
			return t[i], true
		}
	}
	return nil, false
}

// with is a tree in which the entry has a value.
func with(tree any, path []string, value any) any {
	if len(path) == 0 {
		return value
	}
	name := path[0]
	switch t := tree.(type) {
	case []any:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(t) {
			t = slices.Clone(t)
			t[i] = with(t[i], path[1:], value)
			return t
		}
		return append(slices.Clone(t), with(nil, path[1:], value))
	case map[string]any:
		changed := map[string]any{name: nil}
		for k, v := range t {
			changed[k] = v
		}
		changed[name] = with(changed[name], path[1:], value)
		return changed
	}
	if name == Append {
		return []any{with(nil, path[1:], value)}
	}
	return map[string]any{name: with(nil, path[1:], value)}
}

// without is a tree in which the entry is not.
func without(tree any, path []string) any {
	if len(path) == 0 {
		return nil
	}
	switch t := tree.(type) {
	case []any:
		i, err := strconv.Atoi(path[0])
		if err != nil || i < 0 || i >= len(t) {
			return t
		}
		if len(path) == 1 {
			return slices.Concat(t[:i], t[i+1:])
		}
		t = slices.Clone(t)
		t[i] = without(t[i], path[1:])
		return t
	case map[string]any:
		changed := map[string]any{}
		for k, v := range t {
			changed[k] = v
		}
		if _, ok := changed[path[0]]; !ok {
			return changed
		}
		if len(path) == 1 {
			delete(changed, path[0])
		} else {
			changed[path[0]] = without(changed[path[0]], path[1:])
		}
		return changed
	}
	return tree
}

// newlineOf is how a text ends its lines.
func newlineOf(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

func lineAt(text []byte, offset int) int {
	return 1 + bytes.Count(text[:min(offset, len(text))], []byte("\n"))
}
