package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/owner"
)

// connection is what a client's configuration has to say.
type connection struct {
	program string // absolute path
	dir     string // absolute path
	address string // for HTTP
	token   string // empty: there is none yet
}

// recipe is how to connect one kind of client.
type recipe struct {
	name  string // as an argument of alcove connect
	title string
	where string // where the lines go
	lines func(connection) string
}

func recipes() []recipe {
	return []recipe{
		{"claude-code", "Claude Code", "in a shell", claudeCode},
		{"claude-desktop", "Claude Desktop, Cursor, Windsurf", "claude_desktop_config.json, .cursor/mcp.json, mcp_config.json", mcpServers},
		{"vscode", "VS Code", ".vscode/mcp.json", vsCode},
		{"codex", "Codex", "~/.codex/config.toml", codex},
	}
}

func (a *app) connectCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "connect [CLIENT]",
		Short: "Print the lines that connect an MCP client: claude-code, claude-desktop, cursor, windsurf, vscode, codex",
		Args:  arguments(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := a.connection()
			if err != nil {
				return err
			}
			chosen := recipes()
			if len(args) == 1 {
				if chosen, err = chooseRecipe(args[0]); err != nil {
					return err
				}
			}
			return a.printRecipes(c, chosen)
		},
	}
}

func chooseRecipe(name string) ([]recipe, error) {
	if name == "cursor" || name == "windsurf" {
		name = "claude-desktop"
	}
	all := recipes()
	i := slices.IndexFunc(all, func(r recipe) bool { return r.name == name })
	if i < 0 {
		return nil, &usageError{fmt.Errorf("unknown client %q: use claude-code, claude-desktop, cursor, windsurf, vscode or codex", name)}
	}
	return all[i : i+1], nil
}

// connection is how the data directory is reached. The token is there once a server has run.
func (a *app) connection() (connection, error) {
	dir, err := a.dir()
	if err != nil {
		return connection{}, err
	}
	program, err := os.Executable()
	if err != nil {
		return connection{}, fmt.Errorf("find this program: %w", err)
	}
	c := connection{program: program, dir: dir, address: a.envOr("ALCOVE_LISTEN", host.DefaultHTTP)}
	if r, err := owner.ReadRecord(dir); err == nil && r.HTTP != "" {
		c.address = r.HTTP
	}
	token, err := os.ReadFile(owner.TokenPath(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return connection{}, fmt.Errorf("read the token for HTTP: %w", err)
	}
	c.token = strings.TrimSpace(string(token))
	return c, nil
}

func (a *app) printRecipes(c connection, chosen []recipe) error {
	for _, r := range chosen {
		if err := a.printf("%s  %s\n\n%s\n", a.bold(r.title), a.dim(r.where), terminal.Lines(r.lines(c))); err != nil {
			return err
		}
	}
	if c.token == "" {
		return a.printf("The token for HTTP is made when the server first starts: run alcove status --data %s, then this again.\n", quoted(c.dir))
	}
	return nil
}

func (c connection) url() string    { return "http://" + c.address + "/mcp" }
func (c connection) bearer() string { return "Bearer " + c.presented() }

func (c connection) presented() string {
	if c.token == "" {
		return "TOKEN"
	}
	return c.token
}

func claudeCode(c connection) string {
	return fmt.Sprintf(`claude mcp add alcove -- %s mcp --data %s

or, over HTTP:
claude mcp add --transport http alcove %s --header %s
`, quoted(c.program), quoted(c.dir), c.url(), quoted("Authorization: "+c.bearer()))
}

// entry is what JSON configurations say about a server, in the order people write it.
type entry struct {
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

func (c connection) stdio(kind string) entry {
	return entry{Type: kind, Command: c.program, Args: []string{"mcp", "--data", c.dir}}
}

func (c connection) http(kind string) entry {
	return entry{Type: kind, URL: c.url(), Headers: map[string]string{"Authorization": c.bearer()}}
}

// configuration is a JSON file that lists one server under a name.
func configuration(list string, e entry) string {
	raw, err := json.Marshal(map[string]map[string]entry{list: {"alcove": e}})
	if err != nil {
		return err.Error() // strings cannot fail
	}
	return terminal.IndentedJSON(raw).String()
}

func mcpServers(c connection) string {
	return fmt.Sprintf("%s\n\nor, over HTTP (Cursor; Windsurf says serverUrl for url; Claude Desktop takes stdio only):\n%s\n",
		configuration("mcpServers", c.stdio("")), configuration("mcpServers", c.http("http")))
}

func vsCode(c connection) string {
	return fmt.Sprintf("%s\n\nor, over HTTP:\n%s\n", configuration("servers", c.stdio("stdio")), configuration("servers", c.http("http")))
}

func codex(c connection) string {
	return fmt.Sprintf(`[mcp_servers.alcove]
command = %s
args = ["mcp", "--data", %s]

or, over HTTP:
[mcp_servers.alcove]
url = %s
http_headers = { Authorization = %s }
`, tomlString(c.program), tomlString(c.dir), tomlString(c.url()), tomlString(c.bearer()))
}

// tomlString is a string as TOML, whose basic strings are written as JSON's are.
func tomlString(s string) string {
	raw, err := text(s)
	if err != nil {
		return `""` // strings cannot fail
	}
	return string(raw)
}

// quoted is a word as the shell takes it.
func quoted(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%=,", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !safe(r) }) {
		return s
	}
	if runtime.GOOS == "windows" {
		return `"` + s + `"`
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
