package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// between replaces the generated part of a file that is otherwise written by hand.
func between(dir, path, comment string, generate func(source) string) func(source) ([]byte, error) {
	return func(s source) ([]byte, error) {
		begin, end := comment+" generated: begin\n", comment+" generated: end\n"
		text, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil {
			return nil, err
		}
		before, rest, ok := bytes.Cut(text, []byte(begin))
		_, after, closed := bytes.Cut(rest, []byte(end))
		if !ok || !closed {
			return nil, fmt.Errorf("%s has no generated part", path)
		}
		return slices.Concat(before, []byte(begin+comment+" By abi/gen from abi.json. Do not edit.\n"+generate(s)+end), after), nil
	}
}

// cHeader are the constants, types and operations of the SDK for C.
func cHeader(s source) string {
	var out strings.Builder
	numbers := func(prefix string, list []number) {
		for _, n := range list {
			fmt.Fprintf(&out, "#define ALCOVE_%s_%s %d\n", prefix, strings.ToUpper(n.Name), n.Value)
		}
	}
	numbers("KIND", s.Kinds)
	numbers("READ", s.ReadChannels)
	numbers("WRITE", s.WriteChannels)
	for _, e := range s.Errors {
		fmt.Fprintf(&out, "#define ALCOVE_%s %q // %s\n", strings.ToUpper(e.Name), e.Name, e.Doc)
	}
	out.WriteString("bool alcove_retryable(const char *code); // the same request may succeed later\n\n")
	objects := s.messages()
	for _, o := range objects {
		fmt.Fprintf(&out, "typedef struct alcove_%[1]s alcove_%[1]s;\n", cName(o.Name))
	}
	done := map[string]bool{}
	for _, o := range objects {
		out.WriteString(s.cStruct(o, objects, done))
	}
	for _, o := range objects {
		fmt.Fprintf(&out, "extern const alcove_type alcove_is_%s;\n", cName(o.Name))
	}
	for _, op := range s.Ops {
		fmt.Fprintf(&out, "\n// %s: %s.\n%s;\n", op.Name, op.Doc, op.cPrototype())
	}
	return out.String()
}

// cName is a name of C.
func cName(name string) string { return strings.ReplaceAll(name, ".", "_") }

// cField is a field's name, which is no keyword.
func (f field) cField() string {
	if f.Name == "default" {
		return "default_"
	}
	return f.Name
}

// cStruct defines an object, behind those that it contains.
func (s source) cStruct(o structure, objects []structure, done map[string]bool) string {
	if done[o.Name] {
		return ""
	}
	done[o.Name] = true
	var before, fields strings.Builder
	for _, f := range o.Fields {
		if t := f.cShape(); t.isStructure() && !t.nullable {
			i := slices.IndexFunc(objects, func(o structure) bool { return o.Name == t.name })
			before.WriteString(s.cStruct(objects[i], objects, done))
		}
		fmt.Fprintf(&fields, " %s%s;", strings.TrimSuffix(f.cShape().cType()+" ", "* ")+star(f.cShape()), f.cField())
	}
	return fmt.Sprintf("%s// %s\nstruct alcove_%s {%s };\n", before.String(), o.Doc, cName(o.Name), fields.String())
}

// star belongs to the name of a pointer.
func star(t *shape) string {
	if strings.HasSuffix(t.cType(), "*") {
		return "*"
	}
	return ""
}

// cShape is the shape of a field: a pointer where absent and empty differ.
func (f field) cShape() *shape {
	t := *f.must()
	t.nullable = t.nullable || f.Optional && (f.Explicit || t.isStructure())
	return &t
}

func (t *shape) cType() string {
	switch {
	case t.list:
		return "ALCOVE_LIST(" + t.of.cType() + ")"
	case t.dict:
		return "ALCOVE_MAP(" + t.of.cType() + ")"
	}
	name := map[string]string{"string": "alcove_text", "bool": "bool", "int": "int64_t", "uint64": "uint64_t", "float64": "double", "float32": "float",
		"json.RawMessage": "const alcove_value *", "any": "const alcove_value *", "Code": "alcove_text", "Hook": "alcove_text"}[scalars[t.name]]
	if t.isStructure() {
		name = "alcove_" + cName(t.name)
	}
	if t.nullable {
		name += " *"
	}
	return name
}

// cIs is the name of the descriptor of a type.
func (t *shape) cIs() string {
	if t.nullable {
		plain := *t
		plain.nullable = false
		return "pointer_to_" + plain.cIs()
	}
	switch {
	case t.list && !t.of.nullable && slices.Contains([]string{"text", "int", "value"}, t.of.cIs()):
		return t.of.cIs() + "s"
	case t.list:
		return "list_of_" + t.of.cIs()
	case t.dict:
		return "map_of_" + t.of.cIs()
	case t.isStructure():
		return cName(t.name)
	}
	return map[string]string{"string": "text", "bool": "bool", "int": "int", "uint64": "uint", "float64": "float", "float32": "float32",
		"json.RawMessage": "value", "any": "value", "Code": "text", "Hook": "text"}[scalars[t.name]]
}

func (op operation) cPrototype() string {
	name := cName(op.Name)
	parameters := "alcove_call *c"
	if len(op.Request) > 0 {
		parameters += ", const alcove_" + name + "_request *request"
	}
	if len(op.Response) > 0 {
		parameters += ", alcove_" + name + "_response *response"
	}
	return fmt.Sprintf("alcove_status alcove_op_%s(%s)", name, parameters)
}

// cSource are the descriptors of types, and the operations.
func cSource(s source) string {
	var out strings.Builder
	var retryable []string
	for _, e := range s.Retryable() {
		retryable = append(retryable, fmt.Sprintf("alcove_equal(t, %q)", e.Name))
	}
	fmt.Fprintf(&out, "bool alcove_retryable(const char *code) { alcove_text t = alcove_of(code); return %s; }\n", strings.Join(retryable, " || "))
	objects := s.messages()
	seen := map[string]bool{"texts": true, "ints": true, "values": true, "map_of_int": true, "map_of_value": true}
	for _, o := range objects {
		for _, f := range o.Fields {
			out.WriteString(f.cShape().cComposite(seen))
		}
	}
	for _, o := range objects {
		fmt.Fprintf(&out, "static const alcove_field %s_fields[] = {", cName(o.Name))
		for _, f := range o.Fields {
			macro := "MUST"
			if f.Optional {
				macro = "MAY"
			}
			fmt.Fprintf(&out, "%s(%s, %q, %s, %s), ", macro, cName(o.Name), f.Name, f.cField(), f.cShape().cIs())
		}
		fmt.Fprintf(&out, "};\nconst alcove_type alcove_is_%[1]s = {ALCOVE_IS_OBJECT, sizeof(alcove_%[1]s), %[2]d, NULL, %[1]s_fields};\n", cName(o.Name), len(o.Fields))
	}
	for _, op := range s.Ops {
		request, response := "&alcove_is_nothing, NULL", "&alcove_is_nothing, NULL"
		if len(op.Request) > 0 {
			request = fmt.Sprintf("&alcove_is_%s_request, request", cName(op.Name))
		}
		if len(op.Response) > 0 {
			response = fmt.Sprintf("&alcove_is_%s_response, response", cName(op.Name))
		}
		fmt.Fprintf(&out, "%s { return alcove_exchange(c, %q, %s, %s); }\n", op.cPrototype(), op.Name, request, response)
	}
	return out.String()
}

// cComposite defines the descriptors of lists, maps and pointers, once each.
func (t *shape) cComposite(seen map[string]bool) string {
	is := t.cIs()
	if seen[is] || t.of == nil && !t.nullable {
		return ""
	}
	seen[is] = true
	macro, of := "LIST", t.of
	switch {
	case t.nullable:
		plain := *t
		plain.nullable = false
		macro, of = "POINTER", &plain
	case t.dict:
		macro = "MAP"
	}
	return of.cComposite(seen) + fmt.Sprintf("static %s(%s, %s);\n", macro, is, of.cIs())
}
