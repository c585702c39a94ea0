package clients_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/daemon/clients/edit"
)

// TestAPluginIsKnownByTheFilesOfItsClient writes one file of a client.
func TestAPluginIsKnownByTheFilesOfItsClient(t *testing.T) {
	for _, test := range []struct {
		client, file, text string
		has                bool
	}{
		{"claude-code", ".claude/settings.json", `{"enabledPlugins": {"alcove@alcove": true}}`, true},
		{"claude-code", ".claude/settings.json", "{ // mine\n\"enabledPlugins\": {\"alcove@team\": true,}}", true},
		{"claude-code", "project/.claude/settings.json", `{"enabledPlugins": {"alcove@alcove": true}}`, true},
		{"claude-code", "project/.claude/settings.local.json", `{"enabledPlugins": {"alcove@alcove": true}}`, true},
		{"claude-code", ".claude/settings.json", `{"enabledPlugins": {"alcove@alcove": false, "alcove-tools@x": true, "x@alcove": true}}`, false},
		{"claude-code", ".claude/settings.json", `{"enabledPlugins": ["alcove@alcove"]}`, false},
		{"claude-code", ".claude/settings.json", `{"enabledPlugins"`, false},
		{"claude-code", ".claude/settings.json", strings.Repeat(" ", edit.Most) + `{"enabledPlugins": {"alcove@alcove": true}}`, false},
		{"codex", ".codex/config.toml", "[plugins.\"alcove@alcove\"]\nenabled = true\n", true},
		{"codex", ".codex/config.toml", "[plugins.\"alcove@alcove\"]\n", true},
		{"codex", ".codex/config.toml", "[plugins.\"alcove@alcove\"]\nenabled = false\n", false},
		{"codex", ".codex/config.toml", "[mcp_servers.alcove]\ncommand = \"alcove\"\n", false},
		{"codex", ".codex/config.toml", "[plugins", false},
		{"gemini", ".gemini/extensions/alcove/gemini-extension.json", `{"name": "alcove"}`, true},
		{"gemini", ".gemini/extensions/other/gemini-extension.json", `{"name": "other"}`, false},
		{"cursor", ".cursor/mcp.json", `{"enabledPlugins": {"alcove@alcove": true}}`, false},
	} {
		m := machine(t)
		path := filepath.Join(m.Home, filepath.FromSlash(test.file))
		write(t, path, test.text)
		want := ""
		if test.has {
			want = path
		}
		if got := client(t, test.client).Plugin(m); got != want {
			t.Errorf("%s with %.60s in %s: got the plugin in %q, want %q", test.client, test.text, test.file, got, want)
		}
	}
}

func TestSettingsOfAProjectDisableAPlugin(t *testing.T) {
	m := machine(t)
	write(t, filepath.Join(m.Home, ".claude", "settings.json"), `{"enabledPlugins": {"alcove@alcove": true}}`)
	write(t, filepath.Join(m.Folder, ".claude", "settings.json"), `{"enabledPlugins": {"alcove@alcove": false}}`)
	if got := client(t, "claude-code").Plugin(m); got != "" {
		t.Errorf("a plugin that the project disables: got %s, want none", got)
	}
	extension := filepath.Join(m.Home, ".gemini", "extensions")
	write(t, filepath.Join(extension, "alcove", "gemini-extension.json"), "{}")
	for rules, has := range map[string]bool{`["/home/*"]`: true, `["!/home/*"]`: false, `["!/home/*", "/home/*"]`: true, `[]`: true, `7`: true} {
		write(t, filepath.Join(extension, "extension-enablement.json"), `{"alcove": {"overrides": `+rules+`}}`)
		if got := client(t, "gemini").Plugin(m); (got != "") != has {
			t.Errorf("an extension with the rules %s: got %q, want it: %t", rules, got, has)
		}
	}
}
