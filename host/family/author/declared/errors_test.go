package declared_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/family/author/declared"
)

const (
	cHead    = "// Teas.\n//alcove:family tea 0.1.0\n#include \"alcove.h\"\n"
	zigHead  = "//! Teas.\n//alcove:family tea 0.1.0\nconst alcove = @import(\"alcove\");\n"
	rustHead = "//! Teas.\n//alcove:family tea 0.1.0\nuse alcove::*;\n"
	tsHead   = "// Teas.\n//alcove:family tea 0.1.0\nimport { Family } from \"./alcove/assembly/index\";\n"
	served   = "static const alcove_handler tools[] = {{\"tea_pour\", pour, &alcove_is_in, &alcove_is_nothing}, {0}};\nconst alcove_family alcove_served = {.tools = tools};\n"
	pour     = "// Pour.\nstatic alcove_status pour(alcove_call *c, const void *in, void *out) { return ALCOVE_OK; }\n"
)

func TestErrorsNameTheLineAndWhatIsNotUnderstood(t *testing.T) {
	for name, c := range map[string]struct{ file, source, want string }{
		"no family":                   {"tea.c", "// Teas.\nint a;\n", "tea.c: its first comment has no line //alcove:family NAME VERSION"},
		"no description":              {"tea.c", "//alcove:family tea 0.1.0\nint a;\nconst alcove_family alcove_served = {};\n", "the family has no comment"},
		"another directive":           {"tea.c", cHead + "//alcove:tol x\nstatic int a;\n" + "const alcove_family alcove_served = {};\n", "tea.c:4: //alcove:tol belongs to nothing that is declared"},
		"nothing served":              {"tea.c", cHead + "int a;\n", "tea.c: nothing is served"},
		"a struct that is elsewhere":  {"tea.c", cHead + pour + served, "tea.c:6: alcove_is_in is not described in this file"},
		"a member that is elsewhere":  {"tea.c", cHead + "ALCOVE_OBJECT(in, ALCOVE_MUST(in, name, text));\n" + pour + served, "tea.c:4: the struct in has no member name"},
		"an unknown option":           {"tea.c", cHead + "typedef struct {\n  alcove_text name; // which alcove:\"most=3\"\n} in;\nALCOVE_OBJECT(in, ALCOVE_MUST(in, name, text));\n" + pour + served, `tea.c:5: in.name: the tag has "most=3"`},
		"a bound of the wrong type":   {"tea.c", cHead + "typedef struct {\n  bool warm; // alcove:\"max=3\"\n} in;\nALCOVE_OBJECT(in, ALCOVE_MUST(in, warm, bool));\n" + pour + served, "tea.c:9: tool tea_pour: in.warm: max= is for numbers, text and lists"},
		"one comment for two members": {"tea.c", cHead + "typedef struct {\n  alcove_text a, b; // which\n} in;\nALCOVE_OBJECT(in, ALCOVE_MUST(in, a, text));\n" + pour + served, `tea.c:5: the comment "which" stands behind several members`},
		"a tool without a comment":    {"tea.c", cHead + "typedef struct { bool a; } in;\nALCOVE_OBJECT(in, ALCOVE_MUST(in, a, bool));\n" + strings.TrimPrefix(pour, "// Pour.\n") + served, "tea.c:6: tool tea_pour has no comment"},
		"a function that is missing":  {"tea.cpp", cHead + served, "tea.cpp:4: the function pour is not in this file"},
		"a bracket that is missing":   {"tea.cpp", cHead + "struct in { bool a;\n" + pour + served, "tea.cpp:4: what begins here has no end"},
		"a type that is unknown":      {"tea.zig", zigHead + "pub const tools = struct {\n    /// Pour.\n    pub fn tea_pour(c: *alcove.Call, in: Cup) !void {}\n};\n", "tea.zig:6: the type Cup is not in this file"},
		"a type that is none":         {"tea.zig", zigHead + "const Cup = struct { a: fn () void };\npub const tools = struct {\n    /// Pour.\n    pub fn tea_pour(c: *alcove.Call, in: Cup) !void {}\n};\n", "tea.zig:4: "},
		"options within a line":       {"tea.zig", zigHead + "const Cup = struct { a: bool, b: i64 }; // alcove:\"max=3\"\npub const tools = struct {\n    /// Pour.\n    pub fn tea_pour(c: *alcove.Call, in: Cup) !void {}\n};\n", "tea.zig:4: a: options are behind a member that has a line of its own"},
		"a hook without columns":      {"tea.zig", zigHead + "pub fn rank(c: *alcove.Call, r: alcove.Ranking) ![]const f32 {}\n", "tea.zig:4: the rank hook has no columns"},
		"a closure":                   {"tea.rs", rustHead + "fn family() -> Family { Family::new().tool(\"tea_pour\", |_: &Call, _: ()| Ok(())) }\n", `tea.rs:4: "|" is not a function of this file`},
		"a type of Rust alone":        {"tea.rs", rustHead + "object! { struct Cup { a: HashSet<String> } }\n/// Pour.\nfn pour(call: &Call, args: Cup) -> Result<()> { Ok(()) }\nfn family() -> Family { Family::new().tool(\"tea_pour\", pour) }\n", "tea.rs:4: HashSet<…> cannot be JSON"},
		"an interface that is none":   {"tea.ts", tsHead + "// Pour.\n//alcove:takes Cup\nfunction pour(call: Call, input: Json): Json | null { return null; }\nconst family = new Family().tool(\"tea_pour\", pour);\n", `tea.ts:6: there is no interface "Cup"`},
		"two configurations":          {"tea.ts", tsHead + "//alcove:config\ninterface A { a: bool }\n//alcove:config\ninterface B { b: bool }\n", "tea.ts:7: there is another configuration"},
		"another language":            {"tea.py", "", "tea.py: declarations are read in files whose names end with .c, .cc, .cpp, .rs, .ts, .zig"},
		"a text without an end":       {"tea.c", cHead + "char *a = \"tea\n;", "tea.c:4: a text has no end in its line"},
		"a comment without an end":    {"tea.c", cHead + "/* tea", "tea.c:4: a comment has no end"},
		"too large":                   {"tea.c", strings.Repeat(" ", declared.MostBytes+1), "the source has 4194305 bytes: give at most 4194304"},
		"too many words":              {"tea.c", strings.Repeat("a;", 600_000), "the source has more than 1048576 words and marks"},
		"types that are too deep":     {"tea.zig", zigHead + "pub const tools = struct {\n    /// Pour.\n    pub fn tea_pour(c: *alcove.Call, in: " + strings.Repeat("[]", 100) + "bool) !void {}\n};\n", "types are more than 64 deep"},
		"types that double":           {"tea.rs", rustHead + "object! { " + doubling(40) + " }\n/// Pour.\nfn pour(call: &Call, args: A0) -> Result<()> { Ok(()) }\nfn family() -> Family { Family::new().tool(\"tea_pour\", pour) }\n", "tea.rs:6: tool tea_pour: the schemas of the tools have more than 16384 members"},
		"too many parts":              {"tea.zig", zigHead + "pub const jobs = struct {\n" + strings.Repeat("pub fn a(c: *alcove.Call) !void {}\n", 1100) + "};\n", "the family has more than 1024 tools, hooks and jobs"},
		"too many members":            {"tea.rs", rustHead + "object! { struct Cup { " + strings.Repeat("a: bool, ", 600) + " } }\n/// Pour.\nfn pour(call: &Call, args: Cup) -> Result<()> { Ok(()) }\nfn family() -> Family { Family::new().tool(\"tea_pour\", pour) }\n", "which has at most 512 fields"},
	} {
		if got, err := declared.Manifest(c.file, []byte(c.source)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s\n%s", name, err, c.want, got)
		}
	}
}

// doubling are structs of which each has the next one twice.
func doubling(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "struct A%d { a: A%[2]d, b: A%[2]d } ", i, i+1)
	}
	return out.String() + fmt.Sprintf("struct A%d { a: bool }", n)
}
