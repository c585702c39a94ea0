package gen

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/abi"
)

// collection is a variable of type Records.
type collection struct {
	abi.Collection
	typ types.Type
}

// findCollections finds the variables of the package that are collections.
func (f *family) findCollections() error {
	for _, file := range f.files {
		for _, decl := range file.Decls {
			g, ok := decl.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, spec := range g.Specs {
				for _, value := range spec.(*ast.ValueSpec).Values {
					if err := f.addCollection(value); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

func (f *family) addCollection(value ast.Expr) error {
	literal, ok := value.(*ast.CompositeLit)
	if !ok || !f.isOf(f.info.TypeOf(literal), "Records") {
		return nil
	}
	c := collection{typ: named(f.info.TypeOf(literal)).TypeArgs().At(0)}
	for _, element := range literal.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			return fmt.Errorf("%s: name the fields of a collection", f.at(element.Pos()))
		}
		if err := f.declare(&c, pair.Key.(*ast.Ident).Name, pair.Value); err != nil {
			return err
		}
	}
	if c.Name == "" {
		return fmt.Errorf("%s: the collection has no Name", f.at(literal.Pos()))
	}
	for _, other := range f.collections {
		if other.Name == c.Name {
			return fmt.Errorf("%s: there is another collection %s", f.at(literal.Pos()), c.Name)
		}
	}
	f.collections = append(f.collections, c)
	return nil
}

// declare sets a field of a collection.
func (f *family) declare(c *collection, name string, value ast.Expr) (err error) {
	text := map[string]*string{"Name": &c.Name, "Per": &c.Per, "Expires": &c.Expires, "Sync": &c.Sync}[name]
	switch {
	case text != nil:
		*text, err = f.text(value)
	case name == "Searchable":
		c.Searchable, err = f.texts(value)
	case name == "Indexes":
		c.Indexes, err = f.indexes(c.typ, value)
	case name == "Unversioned" || name == "Open" || name == "Private":
		v := f.info.Types[value].Value
		if v == nil || v.Kind() != constant.Bool {
			return fmt.Errorf("%s: %s is true or false", f.at(value.Pos()), name)
		}
		switch is := constant.BoolVal(v); {
		case name == "Open":
			c.Open = is
		case name == "Private":
			c.Private = is
		case is:
			c.Versioned = new(false)
		}
	default:
		return fmt.Errorf("%s: a collection is declared with Name, Per, Expires, Searchable, Indexes, Unversioned, Open, Private and Sync; use In for a namespace", f.at(value.Pos()))
	}
	return err
}

// text is a constant text.
func (f *family) text(e ast.Expr) (string, error) {
	v := f.info.Types[e].Value
	if v == nil || v.Kind() != constant.String {
		return "", fmt.Errorf("%s: only constant text can be read here", f.at(e.Pos()))
	}
	return constant.StringVal(v), nil
}

// texts are a list of constant texts.
func (f *family) texts(e ast.Expr) (list []string, err error) {
	literal, ok := e.(*ast.CompositeLit)
	if !ok {
		return nil, fmt.Errorf("%s: only a list of constant texts can be read here", f.at(e.Pos()))
	}
	for _, element := range literal.Elts {
		one, err := f.text(element)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// indexes are lists of fields, each with the type that it has in the records.
func (f *family) indexes(t types.Type, e ast.Expr) (list [][]string, err error) {
	literal, ok := e.(*ast.CompositeLit)
	if !ok {
		return nil, fmt.Errorf("%s: only a list of lists of constant texts can be read here", f.at(e.Pos()))
	}
	for _, element := range literal.Elts {
		index, err := f.texts(element)
		if err != nil {
			return nil, err
		}
		for i := range index {
			if index[i], err = f.indexed(t, index[i]); err != nil {
				return nil, fmt.Errorf("%s: %w", f.at(element.Pos()), err)
			}
		}
		list = append(list, index)
	}
	return list, nil
}

// indexed is a field of an index with its type, unless that is text or given. Fields of records that encode themselves are unknown.
func (f *family) indexed(t types.Type, said string) (string, error) {
	path, _, typed := strings.Cut(said, ":")
	for _, name := range strings.Split(path, ".") {
		if structOf(t) == nil {
			return said, nil
		}
		list, err := f.fields(t)
		if err != nil {
			return "", err
		}
		i := slices.IndexFunc(list, func(x field) bool { return x.Name == name })
		if i < 0 {
			return "", fmt.Errorf("the records have no field %s to index", path)
		}
		t = plain(f.pkg, list[i].typ)
	}
	if typed {
		return said, nil
	}
	kind, err := f.indexKind(t)
	if err != nil {
		return "", fmt.Errorf("field %s: %w", path, err)
	}
	return said + kind, nil
}

// plain is a type without Optional and pointers.
func plain(p *pkg, t types.Type) types.Type {
	if inner, ok := p.optional(t); ok {
		return plain(p, inner)
	}
	if pointer, ok := t.Underlying().(*types.Pointer); ok {
		return plain(p, pointer.Elem())
	}
	return t
}

// indexKind is what an index calls a type, with its colon; text has none.
func (f *family) indexKind(t types.Type) (string, error) {
	if f.isOf(t, "Time") {
		return ":time", nil
	}
	if f.isOf(t, "ID") {
		return "", nil
	}
	if b, ok := t.Underlying().(*types.Basic); ok {
		switch {
		case b.Info()&types.IsString != 0:
			return "", nil
		case b.Info()&types.IsBoolean != 0:
			return ":bool", nil
		case b.Info()&types.IsNumeric != 0:
			return ":number", nil
		}
	}
	return "", fmt.Errorf("%s cannot be indexed: text, numbers, booleans and instants can", types.TypeString(t, nil))
}
