package edit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/tailscale/hujson"
)

// block is an object or an array in a text.
type block struct {
	object *hujson.Object
	array  *hujson.Array
}

// blockOf is nil for a value that is neither.
func blockOf(v *hujson.Value) *block {
	switch t := v.Value.(type) {
	case *hujson.Object:
		return &block{object: t}
	case *hujson.Array:
		return &block{array: t}
	}
	return nil
}

func (b *block) isArray() bool { return b.array != nil }

func (b *block) size() int {
	if b.isArray() {
		return len(b.array.Elements)
	}
	return len(b.object.Members)
}

// before is the blank and the comments before a member.
func (b *block) before(i int) *hujson.Extra {
	if b.isArray() {
		return &b.array.Elements[i].BeforeExtra
	}
	return &b.object.Members[i].Name.BeforeExtra
}

func (b *block) value(i int) *hujson.Value {
	if b.isArray() {
		return &b.array.Elements[i]
	}
	return &b.object.Members[i].Value
}

// end is the blank and the comments before the closing bracket.
func (b *block) end() *hujson.Extra {
	if b.isArray() {
		return &b.array.AfterExtra
	}
	return &b.object.AfterExtra
}

func (b *block) name(i int) string {
	if b.isArray() {
		return strconv.Itoa(i)
	}
	var name string
	_ = json.Unmarshal(b.object.Members[i].Name.Value.(hujson.Literal), &name) // the parser took it for a string
	return name
}

// find is the index of a member; -1: there is none.
func (b *block) find(name string) (int, error) {
	found := -1
	for i := range b.size() {
		if b.name(i) != name {
			continue
		}
		if found >= 0 {
			return -1, fmt.Errorf("there are two members %q in one object: %w", name, ErrForm)
		}
		found = i
	}
	return found, nil
}

func (b *block) hasLines() bool {
	newline := []byte("\n")
	for i := range b.size() {
		if bytes.Contains(*b.before(i), newline) {
			return true
		}
	}
	return bytes.Contains(*b.end(), newline)
}

// add appends a member. The line that the block begins on has the indentation.
func (b *block) add(name string, value json.RawMessage, s style, indent string) {
	kept := hujson.Extra(bytes.TrimRight(*b.end(), blank)) // comments stay where they are, before what is added
	tail := slices.Clone((*b.end())[len(kept):])
	own, n := indent+s.unit, b.size()
	lines := s.lines && (n == 0 || b.hasLines())
	var after hujson.Extra
	if n > 0 {
		if bytes.Contains(*b.before(n - 1), []byte("\n")) {
			own = indentation(*b.before(n - 1))
		}
		if b.value(n-1).AfterExtra != nil {
			after = hujson.Extra{} // the trailing comma stays
		}
	}
	before := slices.Clone(kept)
	switch {
	case lines:
		before = append(before, s.newline+own...)
		if n == 0 && !bytes.Contains(tail, []byte("\n")) {
			tail = hujson.Extra(s.newline + indent)
		}
	case n > 0 && len(*b.before(n - 1)) > 0:
		before = append(before, ' ')
	}
	layout := s
	layout.lines = lines
	v := hujson.Value{Value: rendered(value, layout, own), AfterExtra: after}
	*b.end() = tail
	if b.isArray() {
		v.BeforeExtra = before
		b.array.Elements = append(b.array.Elements, v)
		return
	}
	if lines || n > 0 && len(b.value(n-1).BeforeExtra) > 0 {
		v.BeforeExtra = hujson.Extra(" ")
	}
	quoted, _ := json.Marshal(name) // strings cannot fail
	key := hujson.Value{BeforeExtra: before, Value: hujson.Literal(quoted)}
	b.object.Members = append(b.object.Members, hujson.ObjectMember{Name: key, Value: v})
}

// cut removes a member. Comments around it stay.
func (b *block) cut(i int) {
	comma := b.value(i).AfterExtra
	kept := append(slices.Clone(bytes.TrimRight(*b.before(i), blank)), bytes.TrimRight(comma, blank)...)
	last, trailing := i == b.size()-1, comma != nil
	if b.isArray() {
		b.array.Elements = slices.Delete(b.array.Elements, i, i+1)
	} else {
		b.object.Members = slices.Delete(b.object.Members, i, i+1)
	}
	if !last {
		*b.before(i) = joined(kept, *b.before(i))
		return
	}
	if i > 0 {
		own := &b.value(i - 1).AfterExtra
		if trailing && *own == nil {
			*own = hujson.Extra{}
		} else if !trailing {
			kept = append(slices.Clone([]byte(*own)), kept...)
			*own = nil
		}
	}
	*b.end() = joined(kept, *b.end())
	if b.size() == 0 && len(bytes.TrimSpace(*b.end())) == 0 {
		*b.end() = nil
	}
}

// joined is a comment, if any, and what follows it: after the comment of a line, another line.
func joined(comment, rest hujson.Extra) hujson.Extra {
	open := len(bytes.TrimSpace(comment)) > 0 && !bytes.HasSuffix(comment, []byte("*/"))
	if open && !bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r"), []byte("\n")) {
		comment = append(comment, '\n')
	}
	return append(comment, rest...)
}
