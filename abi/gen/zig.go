package main

import (
	"fmt"
	"slices"
	"strings"
)

// zigTypes are the constants and messages of the SDK for Zig.
func zigTypes(s source) string {
	var out strings.Builder
	numbers := func(prefix, t string, list []number) {
		for _, n := range list {
			fmt.Fprintf(&out, "pub const %s_%s: %s = %d;\n", prefix, n.Name, t, n.Value)
		}
	}
	numbers("kind", "u32", s.Kinds)
	numbers("read", "i32", s.ReadChannels)
	numbers("write", "i32", s.WriteChannels)
	numbers("status", "i32", s.Statuses)
	out.WriteString(s.zigCodes())
	for _, o := range s.messages() {
		fmt.Fprintf(&out, "\n/// %s\npub const %s = struct {\n", o.Doc, rustName(o.Name))
		for _, f := range o.Fields {
			fmt.Fprintf(&out, "    %s,\n", f.zigField())
		}
		out.WriteString("};\n")
	}
	return out.String()
}

func (s source) zigCodes() string {
	var names, retryable []string
	for _, e := range s.Errors {
		names = append(names, fmt.Sprintf("    /// %s\n    %s,\n", e.Doc, e.Name))
		if e.Retryable {
			retryable = append(retryable, "."+e.Name)
		}
	}
	return fmt.Sprintf(`
/// The codes of errors.
pub const Code = enum {
%s
    /// The code of that name; internal for any other.
    pub fn named(name: []const u8) Code {
        return std.meta.stringToEnum(Code, name) orelse .internal;
    }

    /// Says whether the same request may succeed later.
    pub fn retryable(c: Code) bool {
        return switch (c) {
            %s => true,
            else => false,
        };
    }
};
`, strings.Join(names, ""), strings.Join(retryable, ", "))
}

// zigField declares a field. One that may be absent has a default.
func (f field) zigField() string {
	t := f.cShape()
	text := zigName(f.Name) + ": " + t.zigType()
	switch {
	case !f.Optional:
		return text
	case t.nullable:
		return text + " = null"
	case t.list:
		return text + " = &.{}"
	case t.dict || scalars[t.name] == "json.RawMessage" || scalars[t.name] == "any":
		return text + " = .{}"
	}
	return text + " = " + map[string]string{"bool": "false", "[]const u8": `""`, "i64": "0", "u64": "0", "f64": "0", "f32": "0"}[t.zigType()]
}

func (t *shape) zigType() string {
	name := rustName(t.name)
	switch {
	case t.list:
		name = "[]const " + t.of.zigType()
	case t.dict:
		name = "Map(" + t.of.zigType() + ")"
	case !t.isStructure():
		name = map[string]string{"string": "[]const u8", "bool": "bool", "int": "i64", "uint64": "u64", "float64": "f64", "float32": "f32",
			"json.RawMessage": "Value", "any": "Value", "Code": "[]const u8", "Hook": "[]const u8"}[scalars[t.name]]
	}
	if t.nullable {
		return "?" + name
	}
	return name
}

// zigWords are the words of the language.
var zigWords = strings.Fields(`addrspace align allowzero and anyframe anytype asm async await break callconv catch comptime const continue defer else enum
	errdefer error export extern fn for if inline linksection noalias noinline nosuspend opaque or orelse packed pub resume return struct suspend
	switch test threadlocal try union unreachable usingnamespace var volatile while`)

// zigName is a name, quoted if it is a word of the language.
func zigName(name string) string {
	if slices.Contains(zigWords, name) {
		return `@"` + name + `"`
	}
	return name
}

// zigOperations are the functions of operations.
func zigOperations(s source) string {
	var out strings.Builder
	for i, op := range s.Ops {
		if i > 0 {
			out.WriteString("\n")
		}
		name := camel(op.Name)
		parameter, request, response := "", ".{}", "void"
		if len(op.Request) > 0 {
			parameter, request = ", request: alcove."+name+"Request", "request"
		}
		if len(op.Response) > 0 {
			response = "alcove." + name + "Response"
		}
		fmt.Fprintf(&out, "    /// %s: %s.\n    pub fn %s(c: *Call%s) Failed!%s {\n        return c.exchange(%s, %q, %s);\n    }\n",
			op.Name, op.Doc, zigName(strings.ToLower(name[:1])+name[1:]), parameter, response, response, op.Name, request)
	}
	return out.String()
}
