package plugins_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/alcove-memory/alcove/host/capture/hook"
	"github.com/alcove-memory/alcove/host/daemon/clients"
	"github.com/alcove-memory/alcove/host/daemon/plugins"
	"github.com/alcove-memory/alcove/host/tool/core"
)

var update = flag.Bool("update", false, "write the golden anew")

func made(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := plugins.Files("v1.2.3-rc.1")
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestPluginsAreAsRecorded(t *testing.T) {
	files := made(t)
	var out bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&out, "-- %s --\n%s", name, files[name])
	}
	golden := filepath.Join("testdata", "files.golden")
	if *update {
		if err := os.WriteFile(golden, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(golden); err != nil || !bytes.Equal(out.Bytes(), want) {
		t.Errorf("got other files than %s has (%v); -update writes it:\n%s", golden, err, out.String())
	}
}

// TestFilesFollowTheSchemasOfTheirClients has a schema for each file, with the source of its facts. A file without one fails.
func TestFilesFollowTheSchemasOfTheirClients(t *testing.T) {
	schemas := map[string]string{
		".claude-plugin/marketplace.json":               "claude-marketplace",
		"claude-code/alcove/.claude-plugin/plugin.json": "claude-plugin",
		"claude-code/alcove/.mcp.json":                  "claude-mcp",
		"claude-code/alcove/hooks/hooks.json":           "claude-hooks",
		"claude-code/alcove/commands/*.md":              "claude-command",
		".agents/plugins/marketplace.json":              "codex-marketplace",
		"codex/alcove/.codex-plugin/plugin.json":        "codex-plugin",
		"codex/alcove/.mcp.json":                        "codex-mcp",
		"codex/alcove/hooks/hooks.json":                 "codex-hooks",
		"gemini/alcove/gemini-extension.json":           "gemini-extension",
		"gemini/alcove/hooks/hooks.json":                "gemini-hooks",
		"gemini/alcove/commands/*.toml":                 "gemini-command",
		"*/alcove/skills/*/SKILL.md":                    "skill",
	}
	for name, data := range made(t) {
		if path.Base(name) == "GEMINI.md" {
			continue // text alone
		}
		schema := ""
		for pattern, each := range schemas {
			if ok, _ := path.Match(pattern, name); ok {
				schema = each
			}
		}
		if schema == "" {
			t.Errorf("%s: got no schema, want one", name)
			continue
		}
		compiled, err := jsonschema.NewCompiler().Compile(filepath.Join("testdata", "schemas", schema+".json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiled.Validate(decoded(t, name, data)); err != nil {
			t.Errorf("%s: got %v, want what %s.json allows", name, err, schema)
		}
	}
}

// decoded is a file's JSON, TOML or front matter.
func decoded(t *testing.T, name string, data []byte) any {
	t.Helper()
	value := map[string]any{}
	var err error
	switch path.Ext(name) {
	case ".toml":
		err = toml.Unmarshal(data, &value)
	case ".md":
		head, text, ok := strings.Cut(strings.TrimPrefix(string(data), "---\n"), "\n---\n\n")
		if !ok || strings.TrimSpace(text) == "" {
			t.Fatalf("%s: got no front matter or no text: %s", name, data)
		}
		for line := range strings.Lines(head) {
			key, raw, _ := strings.Cut(line, ": ")
			var member any
			if err := json.Unmarshal([]byte(raw), &member); err != nil {
				t.Fatalf("%s: got the line %q, want a JSON string behind its name: %v", name, line, err)
			}
			value[key] = member
		}
	default:
		err = json.Unmarshal(data, &value)
	}
	if err != nil {
		t.Fatalf("%s: got %q, want what can be read: %v", name, data, err)
	}
	return value
}

// TestHooksAreThoseThatAreOfUse compares each plugin's events with what the program serves.
func TestHooksAreThoseThatAreOfUse(t *testing.T) {
	for _, client := range []string{"claude-code", "codex", "gemini"} {
		c, _ := clients.Find(client)
		var want []string
		for _, e := range c.Hooks() {
			if hook.Serves(hook.Client(client), hook.Event(e)) {
				want = append(want, "alcove hook "+string(e)+" --client "+client)
			}
		}
		var got []string
		for _, found := range regexp.MustCompile(`"command": "([^"]*)"`).FindAllStringSubmatch(string(made(t)[client+"/alcove/hooks/hooks.json"]), -1) {
			got = append(got, found[1])
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) || len(got) == 0 {
			t.Errorf("%s: got hooks %q, want %q", client, got, want)
		}
	}
}

// TestPluginsNameToolsThatExist reads the names of core tools and of built-in families.
func TestPluginsNameToolsThatExist(t *testing.T) {
	known := map[string]bool{}
	for _, spec := range core.Specs(core.Options{}) {
		known[spec.Name] = true
	}
	manifests, err := filepath.Glob(filepath.Join("..", "..", "..", "guests", "families", "*", "manifest.json"))
	if err != nil || len(manifests) == 0 {
		t.Fatalf("got %d manifests of families, %v", len(manifests), err)
	}
	families := map[string]bool{}
	for _, file := range manifests {
		var manifest struct {
			Tools []struct{ Name string }
		}
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &manifest)
		}
		if err != nil {
			t.Fatal(err)
		}
		families[filepath.Base(filepath.Dir(file))] = true
		for _, tool := range manifest.Tools {
			known[tool.Name] = true
		}
	}
	for name, data := range made(t) {
		for _, tool := range regexp.MustCompile(`memory_[a-z_]+`).FindAllString(string(data), -1) {
			if !known[tool] {
				t.Errorf("%s: got the tool %s, want one that exists", name, tool)
			}
		}
	}
	for _, family := range []string{"sessions", "consolidation", "lifecycle", "governance"} {
		if !families[family] {
			t.Errorf("the texts name the family %s, want one that exists", family)
		}
	}
}

// TestPluginsRunNothingButTheProgram has no file run a command of its own: clients run what follows ! in commands, fill in ${…}, and read
// what follows @.
func TestPluginsRunNothingButTheProgram(t *testing.T) {
	for name, data := range made(t) {
		text := strings.ReplaceAll(string(data), "$ARGUMENTS", "")
		for _, part := range []string{"!`", "!{", "@{", "${", "$(", "\\", "/home/", "/Users/", "/work", "/tmp", "\r", "\x1b"} {
			if strings.Contains(strings.ReplaceAll(text, `\"`, ""), part) {
				t.Errorf("%s: got %q in it, want none", name, part)
			}
		}
		if !utf8.Valid(data) || len(data) > 8<<10 || !strings.HasSuffix(text, "\n") {
			t.Errorf("%s: got %d bytes, want at most 8 KiB of lines in UTF-8", name, len(data))
		}
		if !regexp.MustCompile(`^[A-Za-z0-9./-]+$`).MatchString(name) || strings.Contains(name, "..") {
			t.Errorf("got a file %q, want a name that is safe on every system", name)
		}
	}
}

func TestACommandsPromptIsTheSameInEveryClient(t *testing.T) {
	files := made(t)
	for _, name := range []string{"remember", "recall", "memory-review"} {
		_, claude, _ := strings.Cut(string(files["claude-code/alcove/commands/"+name+".md"]), "\n---\n\n")
		_, codex, _ := strings.Cut(string(files["codex/alcove/skills/"+name+"/SKILL.md"]), "\n---\n\n")
		gemini := decoded(t, name+".toml", files["gemini/alcove/commands/"+name+".toml"]).(map[string]any)["prompt"].(string)
		if got := strings.ReplaceAll(claude, "$ARGUMENTS", "{{args}}"); got != gemini || !strings.Contains(gemini, "{{args}}") {
			t.Errorf("%s: got %q for Claude Code, want %q", name, got, gemini)
		}
		if got := strings.ReplaceAll(codex, "(what the user wrote behind the name of this skill)", "{{args}}"); got != gemini {
			t.Errorf("%s: got %q for Codex, want %q", name, got, gemini)
		}
	}
}
