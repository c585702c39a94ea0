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

// sdkTypes writes types and their codec. A guest writes what the host reads.
func (s source) sdkTypes(objects []structure) string {
	var out strings.Builder
	out.WriteString(doNotEdit + "\n\npackage alcove\n\nimport \"github.com/alcove-memory/alcove/sdk/go/scan\"\n")
	written, read := s.readByHost(), s.readByGuest()
	for _, o := range objects {
		fields := s.flat(o.Fields)
		if len(fields) == 0 || !written[o.Name] && !read[o.Name] {
			continue // a part of others, or nothing
		}
		o.Fields = sdkFields(fields, written[o.Name])
		name := s.sdkName(o)
		out.WriteString(strings.ReplaceAll(goStruct(name, o, field.sdkTag), "json.RawMessage", "Raw"))
		if written[o.Name] {
			out.WriteString(sdkWriter(name, o))
		}
		if read[o.Name] {
			out.WriteString(sdkReader(name, o))
		}
	}
	return out.String()
}

// sdkName is the name of an object in the SDK. An object that only requests or only answers have is private to the SDK, since handlers see
// its members.
func (s source) sdkName(o structure) string {
	name := pascal(o.Name)
	if i := slices.IndexFunc(s.Messages, func(m message) bool { return m.Name == o.Name }); i >= 0 && s.Messages[i].To != "either" {
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
		parameter, request = "r "+name+"Request", "&r"
	}
	if len(op.Response) > 0 {
		result, response = "(out "+name+"Response, err error)", "&out"
	}
	call := fmt.Sprintf("c.exchange(Op%s, %s, %s)", name, request, response)
	body := "return " + call
	if len(op.Response) > 0 {
		body = "err = " + call + "\nreturn out, err"
	}
	return fmt.Sprintf("\n// %s runs %s: %s.\nfunc (c *Call) %s(%s) %s {\n%s\n}\n", name, op.Name, op.Doc, name, parameter, strings.Replace(result, "(err error)", "error", 1), body)
}

// sdkWriter writes the method that encodes a message.
func sdkWriter(name string, m structure) string {
	var out strings.Builder
	fmt.Fprintf(&out, "\nfunc (x *%s) write(w *scan.Writer) {\nw.Open()\n", name)
	for _, f := range m.Fields {
		write := fmt.Sprintf("w.Key(%q)\n%s\n", f.Name, f.sdkWrite())
		if f.Optional {
			write = fmt.Sprintf("if %s {\n%s}\n", f.present(), write)
		}
		out.WriteString(write)
	}
	out.WriteString("w.Close()\n}\n")
	return out.String()
}

// present returns the condition under which an optional field is encoded.
func (f field) present() string {
	t, value := f.must(), "x."+pascal(f.Name)
	switch goType := f.goType(); {
	case t.of != nil || strings.HasPrefix(goType, "*"):
		return value + " != nil"
	case goType == "string":
		return value + ` != ""`
	case goType == "bool":
		return value
	case goType == "json.RawMessage":
		return "len(" + value + ") > 0"
	}
	return value + " != 0"
}

func (f field) sdkWrite() string {
	value := "x." + pascal(f.Name)
	if f.Explicit {
		value = "*" + value
	}
	return f.must().sdkWrite(value)
}

// sdkWrite returns a statement that encodes a value.
func (t *shape) sdkWrite(value string) string {
	switch {
	case t.list && t.of.goType() == "string":
		return fmt.Sprintf("w.Texts(%s)", value)
	case t.list:
		i := string(rune('i' + strings.Count(value, "["))) // of lists in lists, each has its own
		return fmt.Sprintf("w.List(len(%s), func(%s int) { %s })", value, i, t.of.sdkWrite(value+"["+i+"]"))
	case t.dict:
		return fmt.Sprintf("scan.WriteMap(w, %s, func(v %s) { %s })", value, t.of.sdkType(), t.of.sdkWrite("v"))
	case t.isStructure() && t.nullable:
		return fmt.Sprintf("if v := %s; v != nil {\nv.write(w)\n} else {\nw.Null()\n}", value)
	case t.isStructure():
		return value + ".write(w)"
	}
	return fmt.Sprintf(map[string]string{
		"string": "w.Text(%s)", "bool": "w.Bool(%s)", "int": "w.Int(int64(%s))", "uint64": "w.Uint(%s)",
		"float64": "w.Number(%s)", "float32": "w.Number32(%s)", "json.RawMessage": "w.Raw(%s)",
		"any": "w.Any(%s)", "Code": "w.Text(string(%s))",
	}[scalars[t.name]], value)
}

// sdkReader writes the method that decodes a message and skips unknown fields.
func sdkReader(name string, m structure) string {
	var out strings.Builder
	fmt.Fprintf(&out, "\nfunc (x *%s) read(s *scan.Scanner) {\nfor key := range s.Fields() {\nswitch key {\n", name)
	for _, f := range m.Fields {
		fmt.Fprintf(&out, "case %q:\nx.%s = %s\n", f.Name, pascal(f.Name), f.sdkRead())
	}
	out.WriteString("default:\ns.Skip()\n}\n}\n}\n")
	return out.String()
}

func (f field) sdkRead() string {
	t := f.must()
	switch {
	case t.isStructure() && f.Optional:
		return fmt.Sprintf("readNullable[%s](s)", pascal(t.name))
	case f.Explicit:
		return fmt.Sprintf("scan.ReadPointer(s, func() %s { return %s })", t.sdkType(), t.sdkRead())
	}
	return t.sdkRead()
}

// sdkRead returns an expression that decodes a value.
func (t *shape) sdkRead() string {
	switch {
	case t.list && t.of.goType() == "string":
		return "s.Strings()"
	case t.list:
		return fmt.Sprintf("scan.ReadList(s, func() %s { return %s })", t.of.sdkType(), t.of.sdkRead())
	case t.dict:
		return fmt.Sprintf("scan.ReadMap(s, func() %s { return %s })", t.of.sdkType(), t.of.sdkRead())
	case t.isStructure() && t.nullable:
		return fmt.Sprintf("readNullable[%s](s)", pascal(t.name))
	case t.isStructure():
		return fmt.Sprintf("readObject[%s](s)", pascal(t.name))
	}
	return map[string]string{"string": "s.String()", "bool": "s.Bool()", "int": "int(s.Int())", "uint64": "s.Uint()",
		"float64": "s.Number()", "float32": "float32(s.Number())", "json.RawMessage": "s.Raw()",
		"any": "s.Any()", "Code": "Code(s.String())"}[scalars[t.name]]
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
