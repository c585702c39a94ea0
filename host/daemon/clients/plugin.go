package clients

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/daemon/clients/edit"
	"github.com/alcove-memory/alcove/host/regular"
)

// pluginName is that of the program's plugin in every client.
const pluginName = "alcove"

// Plugin is the file that says that the client has the program's plugin, with the server and the hooks; empty: it has none, as far as its
// files show.
func (c Client) Plugin(m Machine) string {
	if c.plugin == nil {
		return ""
	}
	return c.plugin(m)
}

// claudePlugin follows the settings that count: those of the project before the user's, and those that are not shared before both.
func claudePlugin(m Machine) string {
	enabled := map[string]string{} // where, by plugin@marketplace
	for _, path := range []string{
		filepath.Join(claudeDir(m), "settings.json"), filepath.Join(m.Folder, ".claude", "settings.json"), filepath.Join(m.Folder, ".claude", "settings.local.json"),
	} {
		for name, raw := range membersOf(path, edit.JSON, "enabledPlugins") {
			if isPlugin(name) {
				enabled[name] = path
				if string(raw) == "false" {
					delete(enabled, name)
				}
			}
		}
	}
	for _, path := range enabled {
		return path
	}
	return ""
}

func codexPlugin(m Machine) string {
	path := filepath.Join(codexDir(m), "config.toml")
	for name, raw := range membersOf(path, edit.TOML, "plugins") {
		if isPlugin(name) && string(members(raw)["enabled"]) != "false" {
			return path
		}
	}
	return ""
}

// geminiPlugin reports an extension as absent if the last rule about it disables it.
func geminiPlugin(m Machine) string {
	dir := m.home(".gemini", "extensions")
	path := filepath.Join(dir, pluginName, "gemini-extension.json")
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	var rules struct{ Overrides []string }
	_ = json.Unmarshal(membersOf(filepath.Join(dir, "extension-enablement.json"), edit.JSON)[pluginName], &rules) // without rules it is enabled
	if n := len(rules.Overrides); n > 0 && strings.HasPrefix(rules.Overrides[n-1], "!") {
		return ""
	}
	return path
}

// isPlugin reports whether plugin@marketplace is the program's plugin.
func isPlugin(name string) bool {
	plugin, _, _ := strings.Cut(name, "@")
	return plugin == pluginName
}

// membersOf are the members of an object in a file. A file that cannot be read has none.
func membersOf(path string, f edit.Format, object ...string) map[string]json.RawMessage {
	text, err := regular.Read(path, edit.Most)
	if err != nil {
		return nil
	}
	raw, err := f.Value(text, slices.Clone(object))
	if err != nil {
		return nil
	}
	return members(raw)
}
