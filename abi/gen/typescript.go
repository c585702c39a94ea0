package main

import (
	"fmt"
	"slices"
	"strings"
)

// typeScript are the types of the SDK for JavaScript: messages, and the operations by their spaces.
func typeScript(s source) string {
	var out strings.Builder
	union := func(called, doc string, values []name) {
		var all []string
		for _, v := range values {
			all = append(all, fmt.Sprintf("%q", v.Name))
		}
		fmt.Fprintf(&out, "\n  /** %s */\n  type %s = %s;\n", doc, called, strings.Join(all, " | "))
	}
	union("Code", "The codes of errors.", s.Errors)
	union("Hook", "The hooks.", s.Hooks)
	union("Capability", "What a family may ask for.", s.Capabilities)
	union("Feature", "The columns of a rank hook.", s.Features)
	requests := map[string]bool{}
	for _, op := range s.Ops {
		requests[op.request().Name], requests[op.response().Name] = true, true
	}
	for _, o := range s.messages() {
		if !requests[o.Name] {
			fmt.Fprintf(&out, "\n  /** %s */\n  interface %s %s\n", o.Doc, pascal(o.Name), typeScriptObject(o.Fields, "  "))
		}
	}
	out.WriteString("\n  /** The operations of the host. They return when they are done, and throw an AlcoveError. */\n  interface Operations {\n")
	for _, space := range s.spaces() {
		fmt.Fprintf(&out, "    %s: {\n", space)
		for _, op := range s.Ops {
			if verb, ok := strings.CutPrefix(op.Name, space+"."); ok {
				fmt.Fprintf(&out, "      /** %s.%s */\n      %s(%s): %s;\n", capital(op.Doc), needed(op), verb, s.typeScriptRequest(op), typeScriptObject(s.flat(op.Response), "      "))
			}
		}
		out.WriteString("    };\n")
	}
	out.WriteString("  }\n")
	return out.String()
}

// spaces are what the names of operations begin with, in their order.
func (s source) spaces() (all []string) {
	for _, op := range s.Ops {
		if space, _, _ := strings.Cut(op.Name, "."); !slices.Contains(all, space) {
			all = append(all, space)
		}
	}
	return all
}

// needed is what an operation needs, as a sentence.
func needed(op operation) string {
	if op.Needs == "" {
		return ""
	}
	return " It needs " + op.Needs + "."
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// typeScriptRequest is the parameter of an operation; none where it takes nothing.
func (s source) typeScriptRequest(op operation) string {
	fields := s.flat(op.Request)
	optional := ""
	if !slices.ContainsFunc(fields, func(f field) bool { return !f.Optional }) {
		optional = "?"
	}
	if len(fields) == 0 {
		return ""
	}
	return "request" + optional + ": " + typeScriptObject(fields, "      ")
}

// typeScriptObject is the type of an object.
func typeScriptObject(fields []field, indent string) string {
	if len(fields) == 0 {
		return "{}"
	}
	var out strings.Builder
	out.WriteString("{\n")
	for _, f := range fields {
		optional := ""
		if f.Optional {
			optional = "?"
		}
		doc := f.Doc
		if f.Default != "" {
			doc += "; default: " + f.Default
		}
		fmt.Fprintf(&out, "%s  /** %s */\n%s  %s%s: %s;\n", indent, doc, indent, f.Name, optional, f.typeScript())
	}
	return out.String() + indent + "}"
}

func (f field) typeScript() string {
	if len(f.Enum) == 0 {
		return f.must().typeScript("")
	}
	var values []string
	for _, v := range f.Enum {
		values = append(values, fmt.Sprintf("%q", v))
	}
	return f.must().typeScript(strings.Join(values, " | "))
}

// typeScript is the type of a shape; enum takes the place of its strings, unless it is empty.
func (t *shape) typeScript(enum string) string {
	switch {
	case t.list && (t.of.nullable || t.of.of == nil && enum != ""):
		return "(" + t.of.typeScript(enum) + ")[]"
	case t.list:
		return t.of.typeScript(enum) + "[]"
	case t.dict:
		return "{ [name: string]: " + t.of.typeScript(enum) + " }"
	case t.nullable:
		return (&shape{name: t.name}).typeScript(enum) + " | null"
	case t.isStructure():
		return pascal(t.name)
	case enum != "":
		return enum
	}
	return map[string]string{"string": "string", "bool": "boolean", "int": "number", "uint": "number", "float": "number", "float32": "number", "json": "any", "any": "any",
		"code": "Code", "hook": "Hook"}[t.name]
}
