package main

import (
	"fmt"
	"strings"
)

// pythonStub are the types of the SDK for Python: messages, and the operations by their spaces.
func pythonStub(s source) string {
	var out strings.Builder
	union := func(called string, values []name) {
		var all []string
		for _, v := range values {
			all = append(all, fmt.Sprintf("%q", v.Name))
		}
		fmt.Fprintf(&out, "\n%s = Literal[%s]\n", called, strings.Join(all, ", "))
	}
	union("Code", s.Errors)
	union("Hook", s.Hooks)
	union("Capability", s.Capabilities)
	union("Feature", s.Features)
	requests := map[string]bool{}
	for _, op := range s.Ops {
		requests[op.request().Name] = true
	}
	for _, o := range s.messages() {
		if !requests[o.Name] {
			out.WriteString(pythonClass(o))
		}
	}
	for _, space := range s.spaces() {
		fmt.Fprintf(&out, "\nclass _%s:\n", pascal(space))
		for _, op := range s.Ops {
			if verb, ok := strings.CutPrefix(op.Name, space+"."); ok {
				out.WriteString(s.pythonOperation(verb, op))
			}
		}
	}
	out.WriteString("\nclass Operations:\n    \"\"\"The operations of the host. They return when they are done, and raise an AlcoveError.\"\"\"\n\n")
	for _, space := range s.spaces() {
		fmt.Fprintf(&out, "    %s: _%s\n", space, pascal(space))
	}
	return out.String()
}

// pythonClass is the type of a message. The functional form has room for members that are words of Python.
func pythonClass(o structure) string {
	var out strings.Builder
	fmt.Fprintf(&out, "\n%s = TypedDict(%q, {\n", pascal(o.Name), pascal(o.Name))
	for _, f := range o.Fields {
		t := f.python()
		if f.Optional {
			t = "NotRequired[" + t + "]"
		}
		fmt.Fprintf(&out, "    # %s\n    %q: %s,\n", strings.ReplaceAll(f.Doc, "\n", " "), f.Name, t)
	}
	return out.String() + "})\n"
}

// pythonOperation is a method. Its parameters are given by their names; one that is a word of Python has an underscore behind it.
func (s source) pythonOperation(verb string, op operation) string {
	parameters, docs := "", ""
	for _, f := range s.flat(op.Request) {
		called := f.Name
		if called == "from" {
			called = "from_"
		}
		parameters += ", " + called + ": " + f.python()
		if f.Optional {
			parameters += " = ..."
		}
		doc := f.Doc
		if f.Default != "" {
			doc += "; default: " + f.Default
		}
		docs += "\n        " + called + ": " + doc
	}
	if parameters != "" {
		parameters = ", *" + parameters
	}
	if docs != "" {
		docs = "\n" + docs + "\n        "
	}
	answer := "dict[str, Any]"
	if len(s.flat(op.Response)) > 0 {
		answer = pascal(op.response().Name)
	}
	return fmt.Sprintf("    def %s(self%s) -> %s:\n        \"\"\"%s.%s%s\"\"\"\n", verb, parameters, answer, capital(op.Doc), needed(op), docs)
}

func (f field) python() string {
	if len(f.Enum) == 0 {
		return f.must().python("")
	}
	var values []string
	for _, v := range f.Enum {
		values = append(values, fmt.Sprintf("%q", v))
	}
	return f.must().python("Literal[" + strings.Join(values, ", ") + "]")
}

// python is the type of a shape; enum takes the place of its strings, unless it is empty.
func (t *shape) python(enum string) string {
	switch {
	case t.list:
		return "list[" + t.of.python(enum) + "]"
	case t.dict:
		return "dict[str, " + t.of.python(enum) + "]"
	case t.nullable:
		return "Optional[" + (&shape{name: t.name}).python(enum) + "]"
	case t.isStructure():
		return pascal(t.name)
	case enum != "":
		return enum
	}
	return map[string]string{"string": "str", "bool": "bool", "int": "int", "uint": "int", "float": "float", "float32": "float", "json": "Any", "any": "Any", "code": "Code", "hook": "Hook"}[t.name]
}
