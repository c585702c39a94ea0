package main

import (
	"fmt"
	"slices"
	"strings"
)

// ofRequests returns the objects that the requests of the host are made of, types first.
func (s source) ofRequests() []structure {
	var requests []structure
	for _, m := range s.Messages {
		if m.To == "guest" {
			requests = append(requests, m.structure)
		}
	}
	all := slices.Concat(s.typesIn(requests), requests)
	for i := range all {
		all[i].Fields = s.flat(all[i].Fields)
	}
	return all
}

// javaScriptForms are the forms of requests, by which the engine of JavaScript checks them. Names of types are those of typeof.
func javaScriptForms(s source) string {
	kinds := map[string]string{"string": `"string"`, "code": `"string"`, "hook": `"string"`, "bool": `"boolean"`, "int": `"number"`, "uint": `"number"`, "float": `"number"`, "float32": `"number"`, "json": `"any"`, "any": `"any"`, "": `"object"`}
	var out strings.Builder
	out.WriteString("const forms = {\n")
	for _, o := range s.ofRequests() {
		var members []string
		for _, f := range o.Fields {
			member := fmt.Sprintf("[%q, %s", f.Name, f.must().inForm(kinds))
			if f.Optional {
				member += ", true"
			}
			members = append(members, member+"]")
		}
		fmt.Fprintf(&out, "  %s: [%s],\n", o.Name, strings.Join(members, ", "))
	}
	return out.String() + "};\n"
}

// pythonForms are the same in Python, whose types stand for themselves.
func pythonForms(s source) string {
	kinds := map[string]string{"string": "str", "code": "str", "hook": "str", "bool": "bool", "int": "float", "uint": "float", "float": "float", "float32": "float", "json": "object", "any": "object", "": "dict"}
	var out strings.Builder
	out.WriteString("_forms = {\n")
	for _, o := range s.ofRequests() {
		fmt.Fprintf(&out, "    %q: (\n", o.Name)
		for _, f := range o.Fields {
			optional := "False"
			if f.Optional {
				optional = "True"
			}
			fmt.Fprintf(&out, "        (%q, %s, %s),\n", f.Name, f.must().inForm(kinds), optional)
		}
		out.WriteString("    ),\n")
	}
	return out.String() + "}\n"
}

// inForm is a type in a form: a list is in brackets, a structure has its name, and a map is an object.
func (t *shape) inForm(kinds map[string]string) string {
	switch {
	case t.list:
		return "[" + t.of.inForm(kinds) + "]"
	case t.dict:
		return kinds[""]
	case t.isStructure():
		return fmt.Sprintf("%q", t.name)
	}
	return kinds[t.name]
}
