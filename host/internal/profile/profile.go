// Package profile says which tools the clients of MCP list.
package profile

import (
	"slices"
	"strings"
)

// Profiles select the tools in a client's list. Every tool can be called in any profile.
const (
	Auto      = "auto"      // that of the client: see Of
	Agent     = "agent"     // the core tools and loaded families
	Operation = "operation" // memory_operation only
	Full      = "full"      // the core tools and all families but deprecated ones, with few of their optional parameters
	Code      = "code"      // likewise with all parameters and the schemas of answers, for clients whose models write code that calls tools
	Deferred  = "deferred"  // likewise with all parameters, for clients that load tools on search
)

// All lists the profiles.
func All() []string { return []string{Auto, Agent, Operation, Full, Code, Deferred} }

// ListsAll reports whether a profile lists the tools of all families.
func ListsAll(name string) bool { return name == Full || name == Code || name == Deferred }

// client is a client of which it is known how it lists tools.
type client struct {
	names   []string // by which it introduces itself, in lower case; a name followed by " - " and more is its, too
	setup   string   // its name in alcove setup
	profile string
}

// clients are those that search tools themselves: they show a model the names at most, and the description and schema of what it finds. A
// list of all families then costs it nothing, and a change of the list would cost the cache of its prompts.
func clients() []client {
	return []client{
		// Tools of MCP servers are deferred by default and found by ToolSearch (changelog 2.1.7; code.claude.com/docs/en/mcp). _meta
		// anthropic/alwaysLoad of a tool keeps it in the prompt, and descriptions are cut at 2 KB. After list_changed a running session keeps
		// its old list: anthropics/claude-code issues 50515 and 79826.
		{[]string{"claude-code"}, "claude-code", Deferred},
		// tool_search ranks tools by BM25 over names, descriptions and parameters (openai/codex pull requests 17287 and 31745). list_changed is
		// ignored (issue 33266).
		{[]string{"codex-mcp-client"}, "codex", Deferred},
		// Descriptions of tools are files that the agent searches with grep (cursor.com/blog/dynamic-context-discovery). The editor calls itself
		// cursor-vscode, and the command line cursor.
		{[]string{"cursor-vscode", "cursor"}, "cursor", Deferred},
		// More than 128 tools become groups that the model opens (code.visualstudio.com/docs/copilot/chat/chat-tools, "virtual tools"), chosen by
		// embeddings. Insiders calls itself "Visual Studio Code - Insiders".
		{[]string{"visual studio code"}, "vscode", Deferred},
	}
}

// Of is the profile of a client by its name for itself. Those that are not known list the core, since every model is shown all of it: Gemini
// CLI, Claude Desktop, Zed and the frameworks (LangChain's adapters, AI SDK, mcp-use, Mastra) pass the whole list on, and some APIs take 128
// tools at most.
func Of(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	for _, c := range clients() {
		for _, own := range c.names {
			if name == own || strings.HasPrefix(name, own+" - ") {
				return c.profile
			}
		}
	}
	return Agent
}

// OfSetup is the profile of a client by its name in alcove setup; empty: the usual one.
func OfSetup(name string) string {
	all := clients()
	if i := slices.IndexFunc(all, func(c client) bool { return c.setup == name }); i >= 0 {
		return all[i].profile
	}
	return ""
}
