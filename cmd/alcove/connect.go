package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/owner"
)

// connection is the data of a client's configuration.
type connection struct {
	program string // absolute path
	dir     string // absolute path
	server  string // URL; empty: HTTP is off
	token   string // empty: there is none yet

	name    string     // of the server in the configuration; empty: alcove
	options []string   // further ones of alcove mcp
	query   url.Values // of the URL
}

// as is the name of the server in the configuration.
func (c connection) as() string { return cmp.Or(c.name, "alcove") }

// arguments are those of the program.
func (c connection) arguments() []string {
	return append([]string{"mcp", "--data", c.dir}, c.options...)
}

// recipe connects one kind of client.
type recipe struct {
	name  string // the argument of alcove connect
	title string
	file  string // where the lines go
	stdio func(connection) string
	http  func(connection) string
	over  string // what to know about HTTP
}

func recipes() []recipe {
	return []recipe{
		{name: "claude-code", title: "Claude Code", file: "in a shell", stdio: claudeCode, http: claudeCodeHTTP},
		{name: "claude-desktop", title: "Claude Desktop, Cursor, Windsurf", file: "claude_desktop_config.json, .cursor/mcp.json, mcp_config.json",
			stdio: mcpServers, http: mcpServersHTTP, over: " (Cursor; Windsurf calls url serverUrl; Claude Desktop supports stdio only)"},
		{name: "vscode", title: "VS Code", file: ".vscode/mcp.json", stdio: vsCode, http: vsCodeHTTP},
		{name: "codex", title: "Codex", file: "~/.codex/config.toml", stdio: codex, http: codexHTTP},
	}
}

// lines are what goes into the client's configuration.
func (r recipe) lines(c connection) string {
	if c.server == "" {
		return r.stdio(c) + "\n"
	}
	return r.stdio(c) + "\n\nor, over HTTP" + r.over + ":\n" + r.http(c) + "\n"
}

func (a *app) connectCommand() *cobra.Command {
	var system string
	c := &cobra.Command{
		Use:   "connect [CLIENT]",
		Short: "Print the lines that connect an MCP client: claude-code, claude-desktop, cursor, windsurf, vscode, codex",
		Args:  arguments(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := a.connection()
			if err != nil {
				return err
			}
			said := ""
			if system != "" {
				if c, said, err = a.from(c, system); err != nil {
					return err
				}
			}
			chosen := recipes()
			if len(args) == 1 {
				if chosen, err = chooseRecipe(args[0]); err != nil {
					return err
				}
			}
			if err := a.printRecipes(c, chosen); err != nil || said == "" {
				return err
			}
			return a.notef("note: these replace the server %s. %s\n", c.as(), said)
		},
	}
	c.Flags().StringVar(&system, "from", "", "take the place of another memory server, under its name: "+strings.Join(predecessorNames(), ", "))
	return c
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

// connection tells how to reach the data directory. There is a token once a server has run.
func (a *app) connection() (connection, error) {
	dir, err := a.dir()
	if err != nil {
		return connection{}, err
	}
	program, err := os.Executable()
	if err != nil {
		return connection{}, fmt.Errorf("find this program: %w", err)
	}
	c := connection{program: program, dir: dir}
	if listen := a.envOr("ALCOVE_LISTEN", host.DefaultHTTP); listen != "off" {
		c.server = owner.Record{HTTP: listen}.URL()
	}
	if r, err := owner.ReadRecord(dir); err == nil && r.HTTP != "" {
		c.server = r.URL()
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
		if err := a.printf("%s  %s\n\n%s\n", a.bold(r.title), a.dim(r.file), terminal.Lines(r.lines(c))); err != nil {
			return err
		}
	}
	switch {
	case c.server == "":
		return a.notef("note: HTTP is off (ALCOVE_LISTEN): these lines use stdio\n")
	case c.token == "":
		return a.printf("The token for HTTP is made when the server first starts: run alcove status --data %s, then repeat this command.\n", quoted(c.dir))
	}
	return nil
}

func (c connection) url() string {
	if len(c.query) == 0 {
		return c.server + "/mcp"
	}
	return c.server + "/mcp?" + strings.ReplaceAll(c.query.Encode(), "%2C", ",")
}

func (c connection) bearer() string { return "Bearer " + c.presented() }

func (c connection) presented() string {
	if c.token == "" {
		return "TOKEN"
	}
	return c.token
}

func claudeCode(c connection) string {
	line := "claude mcp add " + c.as() + " -- " + quoted(c.program)
	for _, argument := range c.arguments() {
		line += " " + quoted(argument)
	}
	return line
}

func claudeCodeHTTP(c connection) string {
	return fmt.Sprintf("claude mcp add --transport http %s %s --header %s", c.as(), quoted(c.url()), quoted("Authorization: "+c.bearer()))
}

// entry is a server in a JSON configuration; its members are in the usual order.
type entry struct {
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

func (c connection) stdioEntry(kind string) entry {
	return entry{Type: kind, Command: c.program, Args: c.arguments()}
}

func (c connection) httpEntry(kind string) entry {
	return entry{Type: kind, URL: c.url(), Headers: map[string]string{"Authorization": c.bearer()}}
}

// configuration is a JSON file with one server in the member list.
func (c connection) configuration(list string, e entry) string {
	raw, err := json.Marshal(map[string]map[string]entry{list: {c.as(): e}})
	if err != nil {
		return err.Error() // strings cannot fail
	}
	return terminal.IndentedJSON(raw).String()
}

func mcpServers(c connection) string     { return c.configuration("mcpServers", c.stdioEntry("")) }
func mcpServersHTTP(c connection) string { return c.configuration("mcpServers", c.httpEntry("http")) }
func vsCode(c connection) string         { return c.configuration("servers", c.stdioEntry("stdio")) }
func vsCodeHTTP(c connection) string     { return c.configuration("servers", c.httpEntry("http")) }

func codex(c connection) string {
	args := make([]string, len(c.arguments()))
	for i, argument := range c.arguments() {
		args[i] = tomlString(argument)
	}
	return fmt.Sprintf("[mcp_servers.%s]\ncommand = %s\nargs = [%s]", c.as(), tomlString(c.program), strings.Join(args, ", "))
}

func codexHTTP(c connection) string {
	return fmt.Sprintf("[mcp_servers.%s]\nurl = %s\nhttp_headers = { Authorization = %s }", c.as(), tomlString(c.url()), tomlString(c.bearer()))
}

// tomlString is a TOML basic string, which is written as a JSON string is.
func tomlString(s string) string {
	raw, err := text(s)
	if err != nil {
		return `""` // strings cannot fail
	}
	return string(raw)
}

// quoted is a word quoted for the shell.
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
