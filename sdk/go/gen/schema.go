package gen

import (
	"fmt"
	"go/types"

	"github.com/alcove-memory/alcove/sdk/go/gen/declare"
)

// typeOf is a type of Go as JSON has it. A type that contains itself is one value.
func (p *pkg) typeOf(t types.Type, known map[types.Type]*declare.Type) (*declare.Type, error) {
	if known[t] != nil {
		return known[t], nil
	}
	if inner, ok := p.optional(t); ok {
		return p.typeOf(inner, known)
	}
	switch {
	case p.isOf(t, "ID"), p.isOf(t, "Time"), has(t, "MarshalText"):
		return &declare.Type{Kind: declare.Text}, nil
	case p.isOf(t, "Raw"), isRawMessage(t), encodesItself(t):
		return &declare.Type{}, nil
	}
	if pointer, ok := t.Underlying().(*types.Pointer); ok {
		return p.typeOf(pointer.Elem(), known)
	}
	d := &declare.Type{Name: types.TypeString(t, nil)}
	known[t] = d
	var err error
	switch u := t.Underlying().(type) {
	case *types.Basic:
		d.Name, d.Kind = u.Name(), kindOf(u)
		if d.Kind == declare.Any {
			return nil, fmt.Errorf("%s cannot be JSON", types.TypeString(t, nil))
		}
	case *types.Slice:
		d.Kind = declare.List
		d.Elem, err = p.typeOf(u.Elem(), known)
	case *types.Map:
		if key, ok := u.Key().Underlying().(*types.Basic); !ok || key.Kind() != types.String {
			return nil, fmt.Errorf("%s: the keys of a map are text", types.TypeString(t, nil))
		}
		d.Kind = declare.Map
		d.Elem, err = p.typeOf(u.Elem(), known)
	case *types.Struct:
		d.Kind = declare.Struct
		d.Fields, err = p.fieldsOf(t, known)
	case *types.Interface:
	default:
		return nil, fmt.Errorf("%s cannot be JSON", types.TypeString(t, nil))
	}
	return d, err
}

func kindOf(b *types.Basic) declare.Kind {
	switch info := b.Info(); {
	case info&types.IsString != 0:
		return declare.Text
	case info&types.IsBoolean != 0:
		return declare.Boolean
	case info&types.IsInteger != 0:
		return declare.Integer
	case info&types.IsFloat != 0:
		return declare.Float
	}
	return declare.Any
}

func isRawMessage(t types.Type) bool {
	n := named(t)
	return n != nil && n.Obj().Name() == "RawMessage"
}

// fieldsOf are the members of a struct.
func (p *pkg) fieldsOf(t types.Type, known map[types.Type]*declare.Type) (list []declare.Field, err error) {
	all, err := p.fields(t)
	if err != nil {
		return nil, err
	}
	for _, f := range all {
		one, err := p.fieldOf(f, known)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// fieldOf is a field as JSON has it.
func (p *pkg) fieldOf(f field, known map[types.Type]*declare.Type) (declare.Field, error) {
	t, err := p.typeOf(f.typ, known)
	if err != nil {
		return declare.Field{}, fmt.Errorf("%s: %w", f.label, err)
	}
	_, pointer := f.typ.Underlying().(*types.Pointer)
	return declare.Field{Options: f.Options, Type: t, Label: f.label, Pointer: pointer}, nil
}

// literal is a value of a tag as JSON of a type.
func (p *pkg) literal(t types.Type, text string) (string, error) {
	d, err := p.typeOf(t, map[types.Type]*declare.Type{})
	if err != nil {
		return "", err
	}
	return d.Literal(text)
}
