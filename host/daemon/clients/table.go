package clients

import (
	"cmp"
	"path/filepath"

	"github.com/alcove-memory/alcove/host/daemon/clients/edit"
)

// All are the clients, in the order in which they are listed. Formats and paths are those of the clients' own documentation, named at each;
// "tried" says that a release of the client lists the server that setup wrote (host/integration/clients), the rest is from the pages alone.
func All() []Client {
	servers := []string{"mcpServers"}
	return []Client{
		{ // docs.claude.com/en/docs/claude-code/mcp, …/settings, …/hooks; tried
			Name: "claude-code", Title: "Claude Code", Where: "in a shell", List: servers, stdio: plain, http: typed("http"),
			user: func(m Machine) []string {
				if dir := m.env("CLAUDE_CONFIG_DIR"); dir != "" {
					return []string{filepath.Join(dir, ".claude.json")}
				}
				return []string{m.home(".claude.json")}
			},
			project: []string{".mcp.json"}, further: []string{"projects", "*", "mcpServers"},
			signs: func(m Machine) []string { return []string{m.home(".claude.json"), claudeDir(m)} }, programs: []string{"claude"}, plugin: claudePlugin,
			transcripts: func(m Machine) []string { return []string{filepath.Join(claudeDir(m), "projects")} },
			hooks: &hooks{
				user:    func(m Machine) string { return filepath.Join(claudeDir(m), "settings.json") },
				project: ".claude/settings.json", form: grouped(10),
				events: []hookEvent{
					{SessionStart, "SessionStart"}, {UserPrompt, "UserPromptSubmit"}, {PreCompact, "PreCompact"}, {Stop, "Stop"}, {SessionEnd, "SessionEnd"}},
			},
		},
		{ // modelcontextprotocol.io/docs/develop/connect-local-servers; there is no release for Linux, where rebuilt ones use ~/.config
			Name: "claude-desktop", Title: "Claude Desktop", Together: "Claude Desktop, Cursor, Windsurf",
			Where:    "claude_desktop_config.json, .cursor/mcp.json, mcp_config.json",
			OverHTTP: " (Cursor; Windsurf calls url serverUrl; Claude Desktop supports stdio only)",
			List:     servers, stdio: plain, http: typed("http"),
			user:  func(m Machine) []string { return []string{m.apps("Claude", "claude_desktop_config.json")} },
			signs: func(m Machine) []string { return []string{m.apps("Claude")} },
		},
		{ // cursor.com/docs/context/mcp, cursor.com/docs/hooks. It can be told to run Claude Code's hooks, too
			Name: "cursor", Title: "Cursor", Together: "Claude Desktop, Cursor, Windsurf", List: servers, stdio: plain, http: typed("http"),
			user:    func(m Machine) []string { return []string{m.home(".cursor", "mcp.json")} },
			project: []string{".cursor/mcp.json"},
			signs:   func(m Machine) []string { return []string{m.home(".cursor")} }, programs: []string{"cursor"},
			hooks: &hooks{
				user: func(m Machine) string { return m.home(".cursor", "hooks.json") }, project: ".cursor/hooks.json", form: flat(10), version: 1,
				events: []hookEvent{
					{SessionStart, "sessionStart"}, {UserPrompt, "beforeSubmitPrompt"}, {PreCompact, "preCompact"}, {Stop, "stop"}, {SessionEnd, "sessionEnd"}},
			},
		},
		{ // docs.windsurf.com/windsurf/cascade/mcp, …/hooks: no project file for servers, no hook at the start of a session
			Name: "windsurf", Title: "Windsurf", Together: "Claude Desktop, Cursor, Windsurf", List: servers, stdio: plain, http: typed("http"),
			user:  func(m Machine) []string { return []string{m.home(".codeium", "windsurf", "mcp_config.json")} },
			signs: func(m Machine) []string { return []string{m.home(".codeium", "windsurf")} }, programs: []string{"windsurf"},
			hooks: &hooks{
				user: func(m Machine) string { return m.home(".codeium", "windsurf", "hooks.json") }, project: ".windsurf/hooks.json", form: flat(0),
				events: []hookEvent{{UserPrompt, "pre_user_prompt"}, {Stop, "post_cascade_response"}},
			},
		},
		{ // code.visualstudio.com/docs/copilot/customization/mcp-servers. Its hooks are a preview; it runs Claude Code's
			Name: "vscode", Title: "VS Code", Where: ".vscode/mcp.json", List: []string{"servers"}, stdio: typed("stdio"), http: typed("http"),
			user:    func(m Machine) []string { return []string{m.apps("Code", "User", "mcp.json")} },
			project: []string{".vscode/mcp.json"},
			signs:   func(m Machine) []string { return []string{m.apps("Code", "User")} }, programs: []string{"code"},
		},
		{ // developers.openai.com/codex/mcp, …/hooks: the project's file counts once the project is trusted, and so does each hook; tried
			Name: "codex", Title: "Codex", Where: "~/.codex/config.toml",
			List: []string{"mcp_servers"}, Format: edit.TOML, stdio: plain, http: codexHTTP,
			user:    func(m Machine) []string { return []string{filepath.Join(codexDir(m), "config.toml")} },
			project: []string{".codex/config.toml"},
			signs:   func(m Machine) []string { return []string{codexDir(m)} }, programs: []string{"codex"}, plugin: codexPlugin,
			transcripts: func(m Machine) []string {
				return []string{filepath.Join(codexDir(m), "sessions"), filepath.Join(codexDir(m), "archived_sessions")}
			},
			hooks: &hooks{
				user: func(m Machine) string { return filepath.Join(codexDir(m), "hooks.json") }, project: ".codex/hooks.json", form: grouped(10),
				events: []hookEvent{{SessionStart, "SessionStart"}, {UserPrompt, "UserPromptSubmit"}, {PreCompact, "PreCompact"}, {Stop, "Stop"}},
			},
		},
		{ // geminicli.com/docs/tools/mcp-server, …/hooks/reference (timeouts in ms); tried
			Name: "gemini", Title: "Gemini CLI", Where: "~/.gemini/settings.json", List: servers, stdio: plain, http: geminiHTTP,
			user:    func(m Machine) []string { return []string{m.home(".gemini", "settings.json")} },
			project: []string{".gemini/settings.json"},
			signs:   func(m Machine) []string { return []string{m.home(".gemini")} }, programs: []string{"gemini"}, plugin: geminiPlugin,
			transcripts: func(m Machine) []string { return []string{m.home(".gemini", "tmp")} },
			hooks: &hooks{
				user: func(m Machine) string { return m.home(".gemini", "settings.json") }, project: ".gemini/settings.json", form: grouped(10_000),
				events: []hookEvent{
					{SessionStart, "SessionStart"}, {UserPrompt, "BeforeAgent"}, {PreCompact, "PreCompress"}, {Stop, "AfterAgent"}, {SessionEnd, "SessionEnd"}},
			},
		},
		{ // zed.dev/docs/ai/mcp
			Name: "zed", Title: "Zed", Where: "settings.json", List: []string{"context_servers"}, stdio: plain, http: typed(""),
			user: func(m Machine) []string {
				if m.OS == "windows" {
					return []string{m.apps("Zed", "settings.json")}
				}
				return []string{m.config("zed", "settings.json")}
			},
			project: []string{".zed/settings.json"},
			signs:   func(m Machine) []string { return []string{m.config("zed")} }, programs: []string{"zed"},
		},
		{ // opencode.ai/docs/config, …/mcp-servers: ~/.config on every system. Plugins in JavaScript take the place of hooks; tried
			Name: "opencode", Title: "opencode", Where: "opencode.json", List: []string{"mcp"}, stdio: opencodeStdio, http: opencodeHTTP,
			user: func(m Machine) []string {
				return []string{m.config("opencode", "opencode.json"), m.config("opencode", "opencode.jsonc")}
			},
			project: []string{"opencode.json", "opencode.jsonc"},
			signs:   func(m Machine) []string { return []string{m.config("opencode")} }, programs: []string{"opencode"},
		},
		{Name: "cline", Title: "Cline", Where: "cline_mcp_settings.json", List: servers, stdio: plain, http: typed("streamableHttp")},
		{Name: "jetbrains", Title: "JetBrains", Where: "Settings | Tools | AI Assistant | Model Context Protocol (MCP) | As JSON",
			List: servers, stdio: plain},
		{Name: "goose", Title: "Goose", Where: "~/.config/goose/config.yaml",
			List: []string{"extensions"}, Format: yaml, stdio: plain, http: typed("")},
	}
}

// yaml is a format that is printed, and not edited.
const yaml edit.Format = -1

func claudeDir(m Machine) string { return cmp.Or(m.env("CLAUDE_CONFIG_DIR"), m.home(".claude")) }

func codexDir(m Machine) string { return cmp.Or(m.env("CODEX_HOME"), m.home(".codex")) }
