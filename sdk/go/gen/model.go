package gen

import (
	"fmt"
	"go/types"
	"slices"

	"github.com/alcove-memory/alcove/sdk/go/gen/declare"
)

// field is a member of a JSON object.
type field struct {
	declare.Options
	path  string // as Go code selects it: Lifecycle.State
	typ   types.Type
	label string // for errors
}

// named is the type's name, if it has one.
func named(t types.Type) *types.Named {
	n, _ := types.Unalias(t).(*types.Named)
	return n
}

// isOf reports whether a type is one of the SDK's, by its name.
func (p *pkg) isOf(t types.Type, name string) bool {
	n := named(t)
	return n != nil && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == p.sdk && n.Obj().Name() == name
}

// optional is what an Optional holds.
func (p *pkg) optional(t types.Type) (types.Type, bool) {
	if !p.isOf(t, "Optional") {
		return nil, false
	}
	return named(t).TypeArgs().At(0), true
}

// has reports whether a type, or a pointer to it, has a method.
func has(t types.Type, method string) bool {
	return methodOf(t, method) != nil
}

func methodOf(t types.Type, method string) *types.Func {
	object, _, _ := types.LookupFieldOrMethod(types.NewPointer(t), true, nil, method)
	f, _ := object.(*types.Func)
	return f
}

// ownMethod is a method that a type has itself, not by what it embeds.
func ownMethod(t types.Type, method string) *types.Func {
	n := named(t)
	if n == nil {
		return nil
	}
	for f := range n.Methods() {
		if f.Name() == method {
			return f
		}
	}
	return nil
}

// encodesItself reports whether a type has a codec of its own.
func encodesItself(t types.Type) bool {
	return ownMethod(t, "EncodeJSON") != nil || ownMethod(t, "DecodeJSON") != nil
}

// structOf is the struct that a type is, unless it encodes itself.
func structOf(t types.Type) *types.Struct {
	if encodesItself(t) {
		return nil
	}
	s, _ := t.Underlying().(*types.Struct)
	return s
}

// typeOf says what is wrong with a type that could not be resolved.
func typeErr(label string, t types.Type) error {
	if b, ok := t.Underlying().(*types.Basic); ok && b.Kind() == types.Invalid {
		return fmt.Errorf("%s has a type that does not resolve: does the package, with all that it imports, build?", label)
	}
	return nil
}

// fields are the members of a struct as JSON has them; those of embedded structs are among them.
func (p *pkg) fields(t types.Type) ([]field, error) {
	return p.fieldsAt(t, "", map[types.Type]bool{})
}

func (p *pkg) fieldsAt(t types.Type, prefix string, within map[types.Type]bool) (list []field, err error) {
	s := structOf(t)
	if s == nil || within[t] {
		return nil, fmt.Errorf("%s is no struct", types.TypeString(t, nil))
	}
	within[t] = true
	defer delete(within, t)
	style, about := declare.Snake, doc{}
	if n := named(t); n != nil {
		about = p.docOf(n.Obj())
		if slices.ContainsFunc(about.directives, func(d declare.Directive) bool { return d.Name == "camel" }) {
			style = declare.Camel
		}
	}
	for i := range s.NumFields() {
		v := s.Field(i)
		f := field{path: prefix + v.Name(), typ: v.Type(), label: label(t, v.Name())}
		if f.Options, err = declare.ParseOptions(s.Tag(i)); err != nil {
			return nil, fmt.Errorf("%s: %w", f.label, err)
		}
		if err := f.Say(about.said[v.Name()]); err != nil {
			return nil, fmt.Errorf("%s: %w", f.label, err)
		}
		f.Described = f.AsWritten(about.fields[v.Name()])
		if v.Anonymous() && f.Name == "" && structOf(v.Type()) != nil {
			inner, err := p.fieldsAt(v.Type(), f.path+".", within)
			if err != nil {
				return nil, err
			}
			list = append(list, inner...)
			continue
		}
		if !v.Exported() || f.Skip {
			continue
		}
		if err := typeErr(f.label, v.Type()); err != nil {
			return nil, err
		}
		if f.Name == "" {
			f.Name = style(v.Name())
		}
		if _, ok := p.optional(v.Type()); ok {
			f.Omit = true
		}
		list = append(list, f)
	}
	return list, twice(t, list)
}

func label(t types.Type, name string) string {
	if n := named(t); n != nil {
		return n.Obj().Name() + "." + name
	}
	return name
}

// twice is an error when two fields have one name.
func twice(t types.Type, list []field) error {
	seen := map[string]string{}
	for _, f := range list {
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			if seen[name] != "" {
				return fmt.Errorf("%s and %s are both %q in JSON: give one a tag `alcove:\"name=…\"`", seen[name], f.label, name)
			}
			seen[name] = f.label
		}
	}
	return nil
}
