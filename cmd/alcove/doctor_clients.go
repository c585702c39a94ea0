package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator/keys"
	"github.com/alcove-memory/alcove/host/regular"
)

// longestConfig is how much of a client's configuration is read, in bytes.
const longestConfig = 8 << 20

// clientFile is a file in which a client keeps its MCP servers.
type clientFile struct {
	client string // the argument of alcove connect; empty: it has no recipe
	title  string
	path   string
	list   []string // the members with the servers; * is any member
}

// configurations lists the files of known clients: the user's own, and those of the folder that the command runs in.
func (a *app) configurations(folder string) []clientFile {
	home := cmp.Or(a.env("HOME"), a.env("USERPROFILE"))
	if home == "" {
		return nil
	}
	apps := cmp.Or(a.env("XDG_CONFIG_HOME"), filepath.Join(home, ".config"))
	switch runtime.GOOS {
	case "darwin":
		apps = filepath.Join(home, "Library", "Application Support")
	case "windows":
		apps = cmp.Or(a.env("APPDATA"), filepath.Join(home, "AppData", "Roaming"))
	}
	servers := []string{"mcpServers"}
	list := []clientFile{
		{"claude-desktop", "Claude Desktop", filepath.Join(apps, "Claude", "claude_desktop_config.json"), servers},
		{"claude-code", "Claude Code", filepath.Join(home, ".claude.json"), servers},
		{"claude-code", "Claude Code", filepath.Join(home, ".claude.json"), []string{"projects", "*", "mcpServers"}},
		{"claude-code", "Claude Code", filepath.Join(folder, ".mcp.json"), servers},
		{"cursor", "Cursor", filepath.Join(home, ".cursor", "mcp.json"), servers},
		{"cursor", "Cursor", filepath.Join(folder, ".cursor", "mcp.json"), servers},
		{"vscode", "VS Code", filepath.Join(apps, "Code", "User", "mcp.json"), []string{"servers"}},
		{"vscode", "VS Code", filepath.Join(folder, ".vscode", "mcp.json"), []string{"servers"}},
		{"windsurf", "Windsurf", filepath.Join(home, ".codeium", "windsurf", "mcp_config.json"), servers},
		{"", "Zed", filepath.Join(cmp.Or(a.env("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "zed", "settings.json"), []string{"context_servers"}},
		{"", "Gemini CLI", filepath.Join(home, ".gemini", "settings.json"), servers},
		{"codex", "Codex", filepath.Join(home, ".codex", "config.toml"), []string{"mcp_servers"}},
	}
	return slices.CompactFunc(list, func(a, b clientFile) bool { return a.path == b.path && slices.Equal(a.list, b.list) }) // the folder may be the home
}

// serverEntry is a server in a client's configuration.
type serverEntry struct {
	Command string
	Args    []string
	Env     map[string]string
	URL     string
	Headers map[string]string
}

// UnmarshalJSON reads the forms of all clients: Zed's command may be an object, Windsurf calls url serverUrl.
func (l *serverEntry) UnmarshalJSON(raw []byte) error {
	var read struct {
		Command   json.RawMessage
		Args      []string
		Env       map[string]string
		URL       string
		ServerURL string
		HTTPURL   string
		Headers   map[string]string
		HTTPHead  map[string]string `json:"http_headers"`
	}
	if err := json.Unmarshal(raw, &read); err != nil {
		return err
	}
	*l = serverEntry{Args: read.Args, Env: read.Env, URL: cmp.Or(read.URL, read.ServerURL, read.HTTPURL), Headers: read.Headers}
	if l.Headers == nil {
		l.Headers = read.HTTPHead
	}
	if len(read.Command) == 0 || json.Unmarshal(read.Command, &l.Command) == nil {
		return nil
	}
	var nested struct {
		Path string
		Args []string
		Env  map[string]string
	}
	if err := json.Unmarshal(read.Command, &nested); err != nil {
		return err
	}
	l.Command, l.Args, l.Env = nested.Path, nested.Args, nested.Env
	return nil
}

// ours reports whether an entry is about this program.
func (l serverEntry) ours(name string) bool {
	base := strings.TrimSuffix(strings.ToLower(filepath.Base(filepath.ToSlash(l.Command))), ".exe")
	return base == "alcove" || strings.Contains(strings.ToLower(name), "alcove")
}

// value returns what an entry's arguments have for a flag, or its environment for a variable; empty: neither.
func (l serverEntry) value(flag, variable string) string {
	for i, arg := range l.Args {
		if value, ok := strings.CutPrefix(arg, flag+"="); ok {
			return value
		}
		if arg == flag && i+1 < len(l.Args) {
			return l.Args[i+1]
		}
	}
	return l.Env[variable]
}

// examineClients looks at the configurations of clients that name this program.
func (a *app) examineClients(dir string) (found []finding) {
	folder, err := os.Getwd()
	if err != nil {
		folder = "."
	}
	for _, c := range a.configurations(folder) {
		servers, err := c.servers()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			found = append(found, finding{"client", noted, fmt.Sprintf("%s: %s was not looked at: %v", c.title, c.path, err)})
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(servers)) {
			if s := servers[name]; s.ours(name) {
				found = append(found, c.judge(name, s, dir))
			}
		}
	}
	return found
}

// judge tells whether an entry leads to the data directory.
func (c clientFile) judge(name string, s serverEntry, dir string) finding {
	where := fmt.Sprintf("%s: %q in %s ", c.title, name, c.path)
	again := "; alcove connect prints the lines that do"
	if c.client != "" {
		again = "; alcove connect " + c.client + " prints the lines that do"
	}
	wrong := func(format string, args ...any) finding {
		return finding{"client", bad, where + fmt.Sprintf(format, args...) + again}
	}
	if s.URL != "" {
		return c.judgeURL(s, dir, where, wrong)
	}
	if s.Command == "" {
		return wrong("names neither a command nor a url")
	}
	if _, err := exec.LookPath(s.Command); err != nil {
		return wrong("starts %s, which cannot be run: %v", s.Command, errors.Unwrap(err))
	}
	if server := s.value("--url", "ALCOVE_URL"); server != "" {
		return finding{"client", noted, where + "uses the server " + server}
	}
	other := s.value("--data", "ALCOVE_DATA")
	if other == "" || samePath(other, dir) {
		if keysRequired(dir) && s.value("--key-file", "ALCOVE_KEY") == "" {
			return wrong("presents no API key, which the server requires")
		}
		return finding{"client", fine, where + "is fine"}
	}
	if info, err := os.Stat(other); err != nil || !info.IsDir() {
		return wrong("uses the data directory %s, which does not exist", other)
	}
	return finding{"client", noted, where + "uses another data directory: " + other}
}

func (c clientFile) judgeURL(s serverEntry, dir, where string, wrong func(string, ...any) finding) finding {
	at, err := url.Parse(s.URL)
	if err != nil || at.Host == "" {
		return wrong("has a url that is none")
	}
	r, err := owner.ReadRecord(dir)
	switch token, _ := os.ReadFile(owner.TokenPath(dir)); {
	case err != nil || r.HTTP == "":
		return finding{"client", noted, where + "uses " + at.Host + ", which answers only while a server listens there: alcove service install"}
	case !strings.HasSuffix(r.HTTP, ":"+at.Port()):
		return wrong("uses %s, and the server listens on %s", at.Host, r.HTTP)
	case keysRequired(dir) && !presents(s.Headers, ""):
		return wrong("presents no API key, which the server requires")
	case !presents(s.Headers, strings.TrimSpace(string(token))):
		return wrong("presents neither the token of the data directory nor an API key")
	}
	return finding{"client", fine, where + "is fine"}
}

// keysRequired reports whether a directory's server refuses clients without a key. What is wrong with the file of the keys, the server says.
func keysRequired(dir string) bool {
	required, err := keys.Required(owner.KeysPath(dir))
	return err == nil && required
}

// presents reports whether headers have the token or an API key. Values that clients fill in later count.
func presents(headers map[string]string, token string) bool {
	for name, value := range headers {
		if strings.EqualFold(name, "Authorization") {
			given := strings.TrimSpace(strings.TrimPrefix(value, "Bearer "))
			return given != "" && given == token || strings.HasPrefix(given, "alcove_key_") || strings.Contains(given, "${")
		}
	}
	return false
}

func samePath(a, b string) bool {
	one, errA := filepath.EvalSymlinks(a)
	other, errB := filepath.EvalSymlinks(b)
	return errA == nil && errB == nil && one == other || filepath.Clean(a) == filepath.Clean(b)
}

// servers reads the servers in a client's configuration.
func (c clientFile) servers() (map[string]serverEntry, error) {
	data, err := regular.Read(c.path, longestConfig)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(c.path, ".toml") {
		return tomlServers(string(data), c.list[0]), nil
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	found := map[string]serverEntry{}
	return found, member(plainJSON(data), c.list, found)
}

// member adds the servers below the members of an object.
func member(raw json.RawMessage, path []string, found map[string]serverEntry) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return errors.New("it is not a JSON object")
	}
	if len(path) == 0 {
		for name, value := range members {
			var s serverEntry
			if json.Unmarshal(value, &s) == nil {
				found[name] = s
			}
		}
		return nil
	}
	for name, value := range members {
		if (path[0] == name || path[0] == "*") && bytes.HasPrefix(bytes.TrimSpace(value), []byte("{")) {
			if err := member(value, path[1:], found); err != nil {
				return err
			}
		}
	}
	return nil
}

// plainJSON removes comments and trailing commas, which VS Code and Zed allow.
func plainJSON(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			end := i + 1
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end, len(text)-1)
			out = append(out, text[i:end+1]...)
			i = end
		case c == '/' && i+1 < len(text) && text[i+1] == '/':
			for i < len(text) && text[i] != '\n' {
				i++
			}
		case c == '/' && i+1 < len(text) && text[i+1] == '*':
			end := bytes.Index(text[i+2:], []byte("*/"))
			if end < 0 {
				return out
			}
			i += 2 + end + 1
		case c == '}' || c == ']':
			out = append(bytes.TrimSuffix(bytes.TrimRight(out, " \t\r\n"), []byte(",")), c)
		default:
			out = append(out, c)
		}
	}
	return out
}

// tomlServers reads the tables [LIST.NAME] of a TOML file: command, args and url as basic or literal strings, one a line.
func tomlServers(text, list string) map[string]serverEntry {
	found, name := map[string]serverEntry{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if table, ok := strings.CutPrefix(line, "["); ok {
			name = ""
			if inner, ok := strings.CutPrefix(strings.TrimSuffix(table, "]"), list+"."); ok && !strings.ContainsAny(inner, ".[") {
				name = strings.Trim(inner, `"'`)
				found[name] = serverEntry{}
			}
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if name == "" || !ok {
			continue
		}
		s := found[name]
		switch values := tomlStrings(value); strings.TrimSpace(key) {
		case "command":
			s.Command = strings.Join(values, "")
		case "args":
			s.Args = values
		case "url":
			s.URL = strings.Join(values, "")
		case "http_headers":
			s.Headers = map[string]string{"Authorization": strings.Join(values, "")}
		}
		found[name] = s
	}
	return found
}

// tomlStrings lists the strings in a value.
func tomlStrings(value string) (list []string) {
	for i := 0; i < len(value); i++ {
		quote := value[i]
		if quote == '#' {
			break
		}
		if quote != '"' && quote != '\'' {
			continue
		}
		end := i + 1
		for end < len(value) && value[end] != quote {
			if value[end] == '\\' && quote == '"' {
				end++
			}
			end++
		}
		if end >= len(value) {
			break
		}
		text := value[i+1 : end]
		if quote == '"' && json.Unmarshal([]byte(value[i:end+1]), &text) != nil {
			text = value[i+1 : end]
		}
		list, i = append(list, text), end
	}
	return list
}
