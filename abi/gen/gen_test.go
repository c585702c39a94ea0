package main

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/testing/stress"
)

// directory is one with the real sources and generated files in it.
func directory(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "abi"), os.DirFS("..")); err != nil {
		t.Fatal(err)
	}
	guests := filepath.Join("host", "sandbox", "testdata", "guests", "wat")
	if err := os.CopyFS(filepath.Join(dir, guests), os.DirFS(filepath.Join("..", "..", guests))); err != nil {
		t.Fatal(err)
	}
	copied := []string{filepath.Join("guests", "engines")}
	for _, language := range []string{"go", "rust", "c", "zig", "assemblyscript", "javascript", "python"} {
		copied = append(copied, filepath.Join("sdk", language))
	}
	for _, path := range copied {
		if err := os.CopyFS(filepath.Join(dir, path), os.DirFS(filepath.Join("..", "..", path))); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "abi")
}

// change replaces a text in a file.
func change(t *testing.T, path, before, after string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), before) {
		t.Fatalf("%s does not contain %q", path, before)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(data), before, after, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Each day a third of the changes have their turn.
func TestWhatIsOutOfDateIsFoundAndWrittenAnew(t *testing.T) {
	if err := run(directory(t), true); err != nil {
		t.Fatal(err)
	}
	for _, c := range stress.Pick(t, 7, []struct{ file, before, after, stale string }{
		{"abi.json", `"value": 4`, `"value": 5`, "names.go"},
		{"abi.json", "a tool call: JSON in", "a call of a tool: JSON in", "SPEC.md"},
		{"names.go", "Version       = 1", "Version       = 2", "names.go"},
		{"../sdk/go/names.go", "KindTool  Kind = 1", "KindTool  Kind = 2", "names.go"},
		{"abi.json", "only keys that begin with it", "keys that begin with it", "operations.go"},
		{"operations.go", "type Memory struct", "type Memories struct", "operations.go"},
		{"messages.go", "type Entry struct", "type Entries struct", "messages.go"},
		{"../sdk/go/messages.go", "type toolRequest struct", "type aToolRequest struct", filepath.Join("sdk", "go", "messages.go")},
		{"abi.json", `"name": "purpose", "type": "string", "enum": ["document", "query"]`, `"name": "purpose", "type": "string", "enum": ["document"]`, "messages.go"},
		{"SPEC.md", "| `query` | `string` | the question |", "| `query` | `string` | the query |", "SPEC.md"},
		{"../sdk/go/operations.go", "type Memory struct", "type Memories struct", filepath.Join("sdk", "go", "operations.go")},
		{"../sdk/go/operations_test.go", `op: "memory.get"`, `op: "memory.gets"`, "operations_test.go"},
		{"abi.json", `"name": "clear", "type": "[]string"`, `"name": "cleared", "type": "[]string"`, filepath.Join("sdk", "go", "operations.go")},
		{"../sdk/rust/src/operations.rs", "pub struct Memory {", "pub struct Memories {", "operations.rs"},
		{"../sdk/assemblyscript/assembly/operations.ts", "class Memory {", "class Memories {", "operations.ts"},
		{"../sdk/c/alcove.h", "struct alcove_memory {", "struct alcove_memories {", "alcove.h"},
		{"../sdk/c/alcove.c", `MUST(memory, "key"`, `MUST(memory, "keys"`, "alcove.c"},
		{"../sdk/zig/alcove.zig", "pub const Memory = struct {", "pub const Memories = struct {", "alcove.zig"},
		{"../sdk/zig/call.zig", "pub fn memoryGet(", "pub fn memoryGets(", "call.zig"},
		{"../sdk/python/__init__.pyi", `Memory = TypedDict("Memory", {`, `Memories = TypedDict("Memory", {`, "__init__.pyi"},
		{"../guests/engines/javascript/alcove.js", `["texts", ["string"]]`, `["text", ["string"]]`, "alcove.js"},
		{"../guests/engines/python/lib/alcove.py", `("texts", [str], False)`, `("texts", str, False)`, "alcove.py"},
		{"operations.schema.json", `"foreign_tool"`, `"other_tool"`, "operations.schema.json"},
		{"alcove.wit", "memory-get,", "memory-gets,", "alcove.wit"},
		{"OPERATIONS.md", "## memory.get", "## memory.gets", "OPERATIONS.md"},
		{"SPEC.md", "call(4096, 10, 8192, 16) → 95", "call(4096, 10, 8192, 16) → 96", "SPEC.md"},
		{"vectors/score-result.json", "candidate 0: 0.75", "candidate 0: three quarters", "SPEC.md"},
	}) {
		t.Run(c.file+" "+c.after, func(t *testing.T) {
			dir := directory(t)
			change(t, filepath.Join(dir, c.file), c.before, c.after)
			if err := run(dir, true); err == nil || !strings.Contains(err.Error(), c.stale) {
				t.Fatalf("the error is %v", err)
			}
			if err := run(dir, false); err != nil {
				t.Fatal(err)
			}
			if err := run(dir, true); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSourcesThatContradictThemselvesAreRefused(t *testing.T) {
	for _, c := range []struct{ before, after, says string }{
		{`"version": 1`, `"versions": 1`, "unknown field"},
		{`"outcome": "ok"`, `"outcome": "fine"`, `unknown outcome "fine"`},
		{`"needs": "embed"`, `"needs": "magic"`, `unknown capability "magic"`},
		{`{"name": "memories", "type": "[]memory?"`, `{"name": "memories", "type": "[]mammoth"`, "memory.get_response: field memories has the unknown type mammoth"},
		{`{"name": "memories", "type": "[]memory?"`, `{"name": "memories", "type": "list of memory"`, `"list of memory" is no type`},
		{`{"include": "memory_fields"}`, `{"include": "memory_parts"}`, "includes the unknown type memory_parts"},
		{`{"name": "agent", "type": "string"`, `{"name": "tags", "type": "string"`, "entry: the field tags appears twice"},
		{`{"name": "last_access", "type": "string", "optional": true`, `{"name": "last_access", "type": "string", "explicit": true`, "only an optional scalar can be explicit"},
		{`"name": "score_params", "to": "guest"`, `"name": "score_params", "to": "guests"`, `message score_params is to "guests"`},
		{`"name": "context", "type": "context", "doc": "the context"}
    ]},
    {"name": "hook_request"`, `"name": "context", "type": "contexts", "doc": "the context"}
    ]},
    {"name": "hook_request"`, "tool_request: field context has the unknown type contexts"},
		{`"name": "progress", "type": "progress"`, `"name": "progress", "type": "json"`, "type progress: no message has it"},
		{`"errors": ["not_found"]`, `"errors": ["lost"]`, `unknown error "lost"`},
		{`"default": 256, "max": 4096`, `"default": 256, "max": 5`, "limit memory_pages"},
	} {
		dir := directory(t)
		change(t, filepath.Join(dir, "abi.json"), c.before, c.after)
		if err := run(dir, false); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: the error is %v", c.after, err)
		}
	}
}

func TestAPartThatThereIsNotIsAnError(t *testing.T) {
	for _, name := range []string{"nothing", "fields nothing", "file nowhere.wat", "error.json: a case that is not there", "nowhere.json: x"} {
		dir := directory(t)
		change(t, filepath.Join(dir, "SPEC.md"), "generated: statuses", "generated: "+name)
		if run(dir, false) == nil {
			t.Errorf("%s: there is no error", name)
		}
	}
}

func TestNamesBecomeNamesOfGo(t *testing.T) {
	for name, want := range map[string]string{"memory.get": "MemoryGet", "wall_ms": "WallMS", "error-result": "ErrorResult", "ok": "OK"} {
		if got := pascal(name); got != want {
			t.Errorf("%s became %s", name, got)
		}
	}
}

func TestEveryLinkInsideTheDocumentsHasItsHeading(t *testing.T) {
	heading := regexp.MustCompile("(?m)^#+ (.*)$")
	anchors := map[string]bool{}
	texts := map[string]string{}
	for _, file := range []string{"SPEC.md", "OPERATIONS.md"} {
		text, err := os.ReadFile(filepath.Join("..", file))
		if err != nil {
			t.Fatal(err)
		}
		texts[file] = string(text)
		for _, found := range heading.FindAllStringSubmatch(texts[file], -1) {
			anchors[file+"#"+slug(found[1])] = true
		}
	}
	for file, text := range texts {
		for _, link := range regexp.MustCompile(`\]\(([A-Z]+\.md)?#([^)]+)\)`).FindAllStringSubmatch(text, -1) {
			target := cmp.Or(link[1], file) + "#" + link[2]
			if !anchors[target] {
				t.Errorf("%s links to %s, which is no heading", file, target)
			}
		}
	}
}

// slug is the anchor of a heading, as Markdown renderers of repositories make it.
func slug(heading string) string {
	heading = regexp.MustCompile("[^a-z0-9_ -]").ReplaceAllString(strings.ToLower(heading), "")
	return strings.ReplaceAll(heading, " ", "-")
}
