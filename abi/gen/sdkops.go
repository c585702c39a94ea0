package main

import (
	"fmt"
	"go/format"
	"slices"
	"strings"
)

// sdkOperations writes the requests and responses of the operations for the SDK for Go: types, a codec without reflection,
// and a method of Call for each operation.
func sdkOperations(s source) ([]byte, error) {
	out := s.sdkTypes(s.ofOperations())
	for _, op := range s.Ops {
		out += sdkMethod(op)
	}
	return format.Source([]byte(out))
}

// sdkMessages writes the other messages in the same way, without methods of Call.
func sdkMessages(s source) ([]byte, error) {
	return format.Source([]byte(s.sdkTypes(s.ofGuests())))
}

// sdkTypes writes types and their codec: the fields of each, by which a guest reads what the host writes and writes what it reads.
func (s source) sdkTypes(objects []structure) string {
	var out strings.Builder
	out.WriteString(doNotEdit + "\n\npackage alcove\n\nimport \"github.com/alcove-memory/alcove/sdk/go/scan\"\n\n// The methods CodeJSON read and write messages.\n")
	written, read := s.readByHost(), s.readByGuest()
	for _, o := range objects {
		fields := s.flat(o.Fields)
		if len(fields) == 0 || !written[o.Name] && !read[o.Name] {
			continue // a part of others, or nothing
		}
		o.Fields = sdkFields(fields, written[o.Name])
		name := s.sdkName(o)
		out.WriteString(strings.ReplaceAll(goStruct(name, o, field.sdkTag), "json.RawMessage", "Raw"))
		out.WriteString(sdkCodec(name, o))
	}
	return out.String()
}

// sdkName is the name of an object in the SDK. An object that only requests or only answers have is private to the SDK, since handlers see
// its members, unless they answer it whole.
func (s source) sdkName(o structure) string {
	name := pascal(o.Name)
	if i := slices.IndexFunc(s.Messages, func(m message) bool { return m.Name == o.Name }); i >= 0 && s.Messages[i].To != "either" && !s.Messages[i].Handlers {
		return strings.ToLower(name[:1]) + name[1:]
	}
	return name
}

// sdkFields returns the fields of an object as the SDK has them. In what a guest only reads, an empty string and an absent one mean
// the same, so no string is a pointer.
func sdkFields(fields []field, written bool) []field {
	fields = slices.Clone(fields)
	for i, f := range fields {
		if f.Type == "string" && !written {
			fields[i].Explicit = false
		}
		if f.Type == "hook" {
			fields[i].Type = "string"
		}
	}
	return fields
}

// sdkType is the type of a value in the SDK, which knows nothing of encoding/json.
func (t *shape) sdkType() string {
	return strings.ReplaceAll(t.goType(), "json.RawMessage", "Raw")
}

// sdkTag makes encoding/json omit the same fields as the codec of the SDK: nil lists, not empty ones.
func (f field) sdkTag() string {
	if f.Optional {
		return f.Name + ",omitzero"
	}
	return f.Name
}

func sdkMethod(op operation) string {
	name := pascal(op.Name)
	parameter, request, result, response := "", "nil", "(err error)", "nil"
	if len(op.Request) > 0 {
		parameter, request = "r "+name+"Request", "r.CodeJSON"
	}
	if len(op.Response) > 0 {
		result, response = "(out "+name+"Response, err error)", "out.CodeJSON"
	}
	call := fmt.Sprintf("c.exchange(Op%s, %s, %s)", name, request, response)
	body := "return " + call
	if len(op.Response) > 0 {
		body = "err = " + call + "\nreturn out, err"
	}
	return fmt.Sprintf("\n// %s runs %s: %s.\nfunc (c *Call) %s(%s) %s {\n%s\n}\n", name, op.Name, op.Doc, name, parameter, strings.Replace(result, "(err error)", "error", 1), body)
}

// sdkCodec writes the method that reads and writes an object.
func sdkCodec(name string, o structure) string {
	var out strings.Builder
	fmt.Fprintf(&out, "\nfunc (x *%s) CodeJSON(c *scan.Coder) {\nc.Object([]scan.Field{\n", name)
	for _, f := range o.Fields {
		fmt.Fprintf(&out, "{Name: %q, Value: %s", f.Name, f.sdkValue())
		if f.Optional {
			fmt.Fprintf(&out, ", Omit: %s", f.sdkAbsent())
		}
		out.WriteString("},\n")
	}
	out.WriteString("})\n}\n")
	return out.String()
}

// sdkAbsent is the condition under which an optional field is not written.
func (f field) sdkAbsent() string {
	t, value := f.must(), "x."+pascal(f.Name)
	switch goType := f.goType(); {
	case t.of != nil || strings.HasPrefix(goType, "*"):
		return value + " == nil"
	case goType == "string":
		return value + ` == ""`
	case goType == "bool":
		return "!" + value
	case goType == "json.RawMessage":
		return "len(" + value + ") == 0"
	}
	return value + " == 0"
}

// sdkValue is the scan.Value of a field.
func (f field) sdkValue() string {
	t, at := f.must(), "&x."+pascal(f.Name)
	if f.Explicit || t.isStructure() && (f.Optional || t.nullable) {
		plain := *t
		plain.nullable = false
		return fmt.Sprintf("scan.Pointer(%s, %s)", at, plain.sdkCode())
	}
	return t.sdkValue(at)
}

func (t *shape) sdkValue(at string) string {
	switch kind := t.sdkKind(); {
	case t.isStructure() && t.nullable:
		return fmt.Sprintf("scan.Pointer(%s, (*%s).CodeJSON)", at, pascal(t.name))
	case kind == "List" || kind == "Map":
		return fmt.Sprintf("scan.%s(%s, %s)", kind, at, t.of.sdkCode())
	case kind == "" || kind == "Any" || kind == "Number32":
		return fmt.Sprintf("scan.Of(%s, %s)", at, t.sdkCode())
	default:
		return fmt.Sprintf("scan.%s(%s)", kind, at)
	}
}

// sdkCode is a function that reads or writes a value.
func (t *shape) sdkCode() string {
	switch kind := t.sdkKind(); {
	case t.isStructure() && !t.nullable:
		return "(*" + pascal(t.name) + ").CodeJSON"
	case t.isStructure() || kind == "List" || kind == "Map":
		return fmt.Sprintf("func(v *%s, c *scan.Coder) { %s.CodeJSON(c) }", t.sdkType(), t.sdkValue("v"))
	default:
		return "scan.Code" + kind
	}
}

// sdkKind is what package scan calls a value; empty for an object.
func (t *shape) sdkKind() string {
	switch {
	case t.list && t.of.goType() == "string":
		return "Texts"
	case t.list:
		return "List"
	case t.dict:
		return "Map"
	}
	return map[string]string{"string": "Text", "bool": "Bool", "int": "Int", "uint64": "Uint", "float64": "Number", "float32": "Number32",
		"json.RawMessage": "Raw", "any": "Any", "Code": "Text"}[scalars[t.name]]
}

// sdkExchanges writes the table of operations with which the tests of the SDK compare its messages to those of package abi.
func sdkExchanges(s source) ([]byte, error) {
	var out strings.Builder
	out.WriteString(doNotEdit + "\n\npackage alcove\n\n" +
		"import \"github.com/alcove-memory/alcove/abi\"\n\n" +
		"// exchanges returns all operations. A message without fields is nil.\n" +
		"func exchanges() []exchange {\nreturn []exchange{\n")
	for _, op := range s.Ops {
		name, messages, argument, result := pascal(op.Name), "", "", "nil, "
		if len(op.Request) > 0 {
			messages += fmt.Sprintf(" request: &%[1]sRequest{}, hostRequest: &abi.%[1]sRequest{},", name)
			argument = fmt.Sprintf("*r.(*%sRequest)", name)
		}
		if len(op.Response) > 0 {
			messages += fmt.Sprintf(" response: &%[1]sResponse{}, hostResponse: &abi.%[1]sResponse{},", name)
			result = ""
		}
		fmt.Fprintf(&out, "{op: %q,%s call: func(c *Call, r any) (any, error) { return %sc.%s(%s) }},\n", op.Name, messages, result, name, argument)
	}
	out.WriteString("}\n}\n\n// envelopes returns all other messages.\nfunc envelopes() []envelope {\nreturn []envelope{\n")
	for _, m := range s.Messages {
		fmt.Fprintf(&out, "{name: %q, to: %q, sdk: &%s{}, host: &abi.%s{}},\n", m.Name, m.To, s.sdkName(m.structure), pascal(m.Name))
	}
	out.WriteString("}\n}\n")
	return format.Source([]byte(out.String()))
}
