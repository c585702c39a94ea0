// Package plugins makes the plugins of AI clients: the server, the hooks, a skill and commands, in the form of each client.
//
// Names of files and members are those of the clients' documentation:
//
//   - Claude Code: code.claude.com/docs/en/plugins-reference, …/plugin-marketplaces, and …/mcp for alwaysLoad
//   - Codex: developers.openai.com/codex/plugins/build. A command is a skill: its plugins have no commands
//   - Gemini CLI: geminicli.com/docs/extensions/reference, …/cli/custom-commands, …/cli/skills
//
// Nothing in a plugin depends on a machine: the program is alcove on the path, with the user's data directory.
package plugins

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"strings"

	"github.com/alcove-memory/alcove/host/capture/hook"
	"github.com/alcove-memory/alcove/host/daemon/clients"
)

//go:embed content
var content embed.FS

// Of all plugins.
const (
	Name        = "alcove" // of the plugin, its marketplace and its server
	title       = "Alcove memory"
	description = "Memory that lasts between sessions: what was decided, preferred and learned is found again"
	site        = "https://github.com/alcove-memory/alcove"
	license     = "Apache-2.0"
)

// skill tells a model how memory is used. Clients choose it by its description.
const (
	skill            = "alcove-memory"
	skillDescription = "How to remember between sessions with Alcove: when to search, store, branch, rewind and hand over. " +
		"Use when work begins or ends, when the user says remember, recall, forget or asks what was decided before, " +
		"when many memories are to change, and when work is handed over."
)

// command is what a user types, such as /remember.
type command struct {
	name, description string
	hint              string   // of its argument
	tools             []string // that it calls without asking
}

func commands() []command {
	return []command{
		{"remember", "Remember something for later sessions", "[what to remember]", []string{"memory_search", "memory_store"}},
		{"recall", "Find what is remembered", "[words or a key]", []string{"memory_search", "memory_recall"}},
		{"memory-review", "Review what is remembered: keep, correct or forget", "[what to review]",
			[]string{"memory_status", "memory_search", "memory_recall"}},
	}
}

// Files returns the files of all plugins, by their paths with slashes, for a version of the program such as v1.2.3.
func Files(version string) (map[string][]byte, error) {
	b := builder{version: strings.TrimPrefix(version, "v"), files: map[string][]byte{}}
	b.claudeCode("claude-code/" + Name)
	b.codex("codex/" + Name)
	b.gemini("gemini/" + Name)
	return b.files, b.err
}

// builder collects files until an error.
type builder struct {
	version string
	files   map[string][]byte
	err     error
}

// object is a JSON object. Its members are written in the order of their names.
type object = map[string]any

func (b *builder) json(name string, value any) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(value); err != nil && b.err == nil {
		b.err = fmt.Errorf("write %s: %w", name, err)
	}
	b.files[name] = out.Bytes()
}

func (b *builder) text(name, text string) { b.files[name] = []byte(text) }

// source is a text of the folder content.
func (b *builder) source(name string) string {
	data, err := content.ReadFile(path.Join("content", name))
	if err != nil && b.err == nil {
		b.err = err
	}
	return string(data)
}

// prompt is a command's text. args takes the place of what the user types behind the command.
func (b *builder) prompt(c command, args string) string {
	return strings.ReplaceAll(b.source("commands/"+c.name+".md"), "{{args}}", args)
}

// hooks writes the hooks of a client that are of use.
func (b *builder) hooks(name, client string) {
	c, ok := clients.Find(client)
	if !ok && b.err == nil {
		b.err = fmt.Errorf("write %s: there is no client %s", name, client)
	}
	b.json(name, object{"hooks": c.HookLists(func(e clients.Event) string {
		if !hook.Serves(hook.Client(client), hook.Event(e)) {
			return ""
		}
		return Name + " hook " + string(e) + " --client " + client
	})})
}

// servers are the MCP servers of a plugin, with further members of the entry.
func servers(further object) object {
	entry := object{"command": Name, "args": []string{"mcp"}}
	maps.Copy(entry, further)
	return object{Name: entry}
}

// skill writes a skill: a text that a model reads when its description fits.
func (b *builder) skill(dir, name, description, text string) {
	b.text(path.Join(dir, "skills", name, "SKILL.md"), frontMatter("name", name, "description", description)+text)
}

// frontMatter is a block of YAML. Values are JSON strings, which YAML reads.
func frontMatter(pairs ...string) string {
	out := "---\n"
	for i := 0; i < len(pairs); i += 2 {
		value, _ := json.Marshal(pairs[i+1]) // strings cannot fail
		out += pairs[i] + ": " + string(value) + "\n"
	}
	return out + "---\n\n"
}

// manifest are the members of a manifest that Claude Code and Codex have in common.
func (b *builder) manifest(further object) object {
	m := object{"name": Name, "version": b.version, "description": description, "author": object{"name": "Alcove", "url": site}, "homepage": site,
		"repository": site, "license": license, "keywords": []string{"memory", "mcp"}}
	maps.Copy(m, further)
	return m
}

func (b *builder) claudeCode(dir string) {
	b.json(".claude-plugin/marketplace.json", object{"name": Name, "description": description, "owner": object{"name": "Alcove", "url": site},
		"plugins": []object{{"name": Name, "source": "./" + dir, "description": description}}})
	b.json(dir+"/.claude-plugin/plugin.json", b.manifest(nil))
	b.json(dir+"/.mcp.json", object{"mcpServers": servers(nil)})
	b.hooks(dir+"/hooks/hooks.json", "claude-code")
	b.skill(dir, skill, skillDescription, b.source("skill.md"))
	for _, c := range commands() {
		var tools []string
		for _, tool := range c.tools {
			tools = append(tools, "mcp__plugin_"+Name+"_"+Name+"__"+tool)
		}
		b.text(dir+"/commands/"+c.name+".md", frontMatter("description", c.description, "argument-hint", c.hint, "allowed-tools", strings.Join(tools, ", "))+
			b.prompt(c, "$ARGUMENTS"))
	}
}

func (b *builder) codex(dir string) {
	b.json(".agents/plugins/marketplace.json", object{"name": Name, "interface": object{"displayName": title}, "plugins": []object{{
		"name": Name, "source": object{"source": "local", "path": "./" + dir}, "category": "Productivity",
		"policy": object{"installation": "AVAILABLE", "authentication": "ON_INSTALL"}}}})
	b.json(dir+"/.codex-plugin/plugin.json", b.manifest(object{"skills": "./skills/", "mcpServers": "./.mcp.json", "interface": object{
		"displayName": title, "shortDescription": "Memory that lasts between sessions", "longDescription": description + ".", "developerName": "Alcove",
		"category": "Productivity", "capabilities": []string{"Read", "Write"}, "defaultPrompt": []string{"What do you remember of this project?"}}}))
	b.json(dir+"/.mcp.json", object{"mcpServers": servers(nil)})
	b.hooks(dir+"/hooks/hooks.json", "codex")
	b.skill(dir, skill, skillDescription, b.source("skill.md"))
	for _, c := range commands() {
		b.skill(dir, c.name, c.description+". Use when the user names this skill.", b.prompt(c, "(what the user wrote behind the name of this skill)"))
	}
}

func (b *builder) gemini(dir string) {
	b.json(dir+"/gemini-extension.json", object{"name": Name, "version": b.version, "description": description, "mcpServers": servers(nil),
		"contextFileName": "GEMINI.md"})
	b.text(dir+"/GEMINI.md", b.source("context.md"))
	b.hooks(dir+"/hooks/hooks.json", "gemini")
	b.skill(dir, skill, skillDescription, b.source("skill.md"))
	for _, c := range commands() {
		about, _ := json.Marshal(c.description) // strings cannot fail
		b.text(dir+"/commands/"+c.name+".toml", fmt.Sprintf("description = %s\nprompt = '''\n%s'''\n", about, b.prompt(c, "{{args}}")))
	}
}
