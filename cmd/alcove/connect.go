package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/clients"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator/keys"
)

// connection is the data of a client's configuration.
type connection struct {
	program string   // absolute path
	place   []string // the options of alcove mcp that name the memory: --data or --url
	server  string   // URL; empty: there is no HTTP
	token   string   // or API key; empty: there is none yet
	keyed   bool     // the server wants an API key
	handed  bool     // which a file has that the options name
	notes   []string // what to know beside the lines

	name    string     // of the server in the configuration; empty: alcove
	profile string     // which tools are listed; empty: that of the client
	options []string   // further ones of alcove mcp
	query   url.Values // of the URL
}

// as is the name of the server in the configuration.
func (c connection) as() string { return cmp.Or(c.name, "alcove") }

// arguments are those of the program.
func (c connection) arguments() []string {
	return append(append([]string{"mcp"}, c.place...), c.options...)
}

// environment is that of the program.
func (c connection) environment() map[string]string {
	if !c.keyed || c.handed {
		return nil
	}
	return map[string]string{"ALCOVE_KEY": c.presented()}
}

// recipe is what is printed for clients of one form.
type recipe struct {
	names []string // the arguments of alcove connect
	title string
	clients.Client
}

func recipes() (list []recipe) {
	for _, c := range clients.All() {
		if n := len(list); n > 0 && c.Together != "" && list[n-1].title == c.Together {
			list[n-1].names = append(list[n-1].names, c.Name)
			continue
		}
		list = append(list, recipe{[]string{c.Name}, cmp.Or(c.Together, c.Title), c})
	}
	return list
}

// usual is how many recipes are printed where none is asked for, and usualClients how many clients they are for.
const usual, usualClients = 4, 6

func usualRecipes() []recipe { return recipes()[:usual] }

// clientNames are the clients that connect knows.
func clientNames() (names []string) {
	for _, r := range recipes() {
		names = append(names, r.names...)
	}
	return names
}

// lines are what goes into the client's configuration.
func (r recipe) lines(c connection) string {
	if c.server == "" || !r.HasHTTP() {
		return r.form(c, c.overStdio()) + "\n"
	}
	return r.form(c, c.overStdio()) + "\n\nor, over HTTP" + r.OverHTTP + ":\n" + r.form(c, c.overHTTP()) + "\n"
}

// form is a server as the client wants it.
func (r recipe) form(c connection, s clients.Server) string {
	switch {
	case r.Name == "claude-code" && s.URL == "":
		return claudeCode(c, r.For(s))
	case r.Name == "claude-code":
		return claudeCodeHTTP(c, r.For(s))
	case r.Name == "goose" && s.URL == "":
		return goose(c, r.For(s))
	case r.Name == "goose":
		return gooseHTTP(c, r.For(s))
	}
	lines, err := r.Lines(s)
	if err != nil {
		return err.Error() // strings cannot fail
	}
	return lines
}

// overStdio is the server as clients start it.
func (c connection) overStdio() clients.Server {
	return clients.Server{Name: c.as(), Program: c.program, Args: c.arguments(), Env: c.environment(), Profile: c.profile}
}

// overHTTP is the server as clients call it.
func (c connection) overHTTP() clients.Server {
	return clients.Server{Name: c.as(), URL: c.url(), Headers: c.headers(), Profile: c.profile}
}

func (a *app) connectCommand() *cobra.Command {
	var system, profile string
	c := &cobra.Command{
		Use:   "connect [CLIENT]",
		Short: "Print the lines that connect an MCP client, such as claude-code, cursor or zed",
		Long: `Print the lines that connect an MCP client, with the paths of this machine, for its configuration. The clients: ` + strings.Join(clientNames(), ", ") + `.
For any other client, use the command and arguments printed for claude-desktop. With --url, the client connects to that server.`,
		Args: arguments(0, 1),
		RunE: func(command *cobra.Command, args []string) error {
			if err := checkProfile(profile); err != nil {
				return err
			}
			c, err := a.connection(command.Context())
			if err != nil {
				return err
			}
			c.profile = profile
			said := ""
			if system != "" {
				if c, said, err = a.from(c, system); err != nil {
					return err
				}
			}
			chosen := usualRecipes()
			if len(args) == 1 {
				if chosen, err = chooseRecipe(args[0]); err != nil {
					return err
				}
			}
			if err := a.printRecipes(c, chosen); err != nil {
				return err
			}
			if len(args) == 0 {
				if err := a.notef("note: other clients: alcove connect %s\n", strings.Join(clientNames()[usualClients:], " | ")); err != nil {
					return err
				}
			}
			if said == "" {
				return nil
			}
			return a.notef("note: these replace the server %s. %s\n", c.as(), said)
		},
	}
	c.Flags().StringVar(&system, "from", "", "replace another memory server and keep its name: "+strings.Join(predecessorNames(), ", "))
	c.Flags().StringVar(&profile, "profile", "", profileUsage)
	return c
}

const profileUsage = "which tools the client lists: the `PROFILE` of alcove mcp (default: deferred for clients that search tools, else auto)"

func checkProfile(name string) error {
	if name != "" && !slices.Contains(clients.Profiles(), name) {
		return &usageError{fmt.Errorf("unknown profile %.40q: use %s", name, strings.Join(clients.Profiles(), ", "))}
	}
	return nil
}

func chooseRecipe(name string) ([]recipe, error) {
	all := recipes()
	i := slices.IndexFunc(all, func(r recipe) bool { return slices.Contains(r.names, name) })
	if i < 0 {
		return nil, &usageError{fmt.Errorf("unknown client %q: use one of %s. Other clients take the command and the arguments of claude-desktop", name, strings.Join(clientNames(), ", "))}
	}
	return all[i : i+1], nil
}

// apiKey stands for a key that is yet to be made.
const apiKey = "API_KEY"

// connection tells how to reach the memory.
func (a *app) connection(ctx context.Context) (connection, error) {
	program, err := os.Executable()
	if err != nil {
		return connection{}, fmt.Errorf("find this program: %w", err)
	}
	key, err := a.key()
	if err != nil {
		return connection{}, err
	}
	c := connection{program: program, token: key, keyed: key != ""}
	if file := a.elsewhere.keyFile; file != "" {
		if file, err = filepath.Abs(file); err != nil {
			return c, fmt.Errorf("find the file of the API key: %w", err)
		}
		c.options, c.handed = append(c.options, "--key-file", file), true
	}
	if a.elsewhere.url != "" {
		return c.elsewhere(a)
	}
	return c.here(ctx, a)
}

// elsewhere connects to the server that --url names.
func (c connection) elsewhere(a *app) (connection, error) {
	s, err := a.server(false)
	if err != nil {
		return c, err
	}
	c.place, c.server, c.keyed = []string{"--url", a.elsewhere.url}, strings.TrimSuffix(s.URL(), "/mcp"), true
	if file := a.elsewhere.caFile; file != "" {
		if file, err = filepath.Abs(file); err != nil {
			return c, fmt.Errorf("find the file of certificates: %w", err)
		}
		c.place = append(c.place, "--ca-file", file)
		c.notes = append(c.notes, fmt.Sprintf("clients over HTTP must trust the certificate: those in Node.js do with NODE_EXTRA_CA_CERTS=%s", file))
	}
	if c.token == "" {
		c.notes = append(c.notes, "put an API key in place of "+apiKey+": whoever runs the server makes one with alcove key create")
	}
	return c, nil
}

// here connects to the data directory, and its server if it serves HTTP. There is a token once a server has run.
func (c connection) here(ctx context.Context, a *app) (connection, error) {
	dir, err := a.dir()
	if err != nil {
		return c, err
	}
	c.place = []string{"--data", dir}
	required, err := keys.Required(owner.KeysPath(dir))
	if err != nil {
		return c, err
	}
	c.keyed = c.keyed || required
	if required && c.token == "" {
		c.notes = append(c.notes, fmt.Sprintf("the server requires an API key of each client: make one with alcove key create --data %s --agent NAME --namespaces '*', and put it in place of %s", quoted(dir), apiKey))
	}
	var why string
	c.server, why = a.reachedOverHTTP(ctx, dir)
	if why != "" {
		c.notes = append(c.notes, why)
	}
	if c.keyed || c.server == "" {
		return c, nil
	}
	token, err := os.ReadFile(owner.TokenPath(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c, fmt.Errorf("read the token for HTTP: %w", err)
	}
	c.token = strings.TrimSpace(string(token))
	return c, nil
}

// reachedOverHTTP is the URL under which the data directory's server is reached, or will be; empty, with the reason, if there is no such
// server: whoever has its port must not be given a token.
func (a *app) reachedOverHTTP(ctx context.Context, dir string) (server, why string) {
	r, err := owner.ReadRecord(dir)
	running := errors.As(owner.CheckFree(dir), new(*owner.OwnedError))
	switch {
	case running && err != nil:
		return "", "the server does not say whether it serves HTTP: these lines use stdio; alcove doctor tells more"
	case running && r.HTTP == "":
		return "", "the running server does without HTTP (its port was taken, or it was told to): these lines use stdio"
	case running:
		return usable(ctx, r), ""
	}
	listen := a.envOr("ALCOVE_LISTEN", host.DefaultHTTP)
	if listen == "off" {
		return "", "HTTP is off (ALCOVE_LISTEN): these lines use stdio"
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return "", fmt.Sprintf("another program has the address for HTTP (%v): these lines use stdio; alcove serve --listen chooses another address", err)
	}
	l.Close()
	return owner.Record{HTTP: listen}.URL(), ""
}

func (a *app) printRecipes(c connection, chosen []recipe) error {
	for _, r := range chosen {
		if err := a.printf("%s  %s\n\n%s\n", a.bold(r.title), a.dim(r.Where), terminal.Lines(r.lines(c))); err != nil {
			return err
		}
	}
	if c.server != "" && c.token == "" && !c.keyed {
		return a.printf("The token for HTTP is made when the server first starts: run alcove status %s, then repeat this command.\n", shellWords(c.place))
	}
	for _, note := range c.notes {
		if err := a.notef("note: %s\n", note); err != nil {
			return err
		}
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
	if c.keyed {
		return cmp.Or(c.token, apiKey)
	}
	return cmp.Or(c.token, "TOKEN")
}

// claudeCode is for all projects of the user: the memory is to be there in the next one, too.
func claudeCode(c connection, s clients.Server) string {
	line := "claude mcp add " + c.as() + " --scope user"
	for _, name := range slices.Sorted(maps.Keys(c.environment())) {
		line += " --env " + quoted(name+"="+c.environment()[name])
	}
	return line + " -- " + quoted(s.Program) + " " + shellWords(s.Args)
}

func claudeCodeHTTP(c connection, s clients.Server) string {
	return fmt.Sprintf("claude mcp add --scope user --transport http %s %s --header %s", c.as(), quoted(s.URL), quoted("Authorization: "+c.bearer()))
}

// shellWords are words on one line for the shell.
func shellWords(words []string) string {
	list := make([]string, len(words))
	for i, word := range words {
		list[i] = quoted(word)
	}
	return strings.Join(list, " ")
}

func (c connection) headers() map[string]string {
	return map[string]string{"Authorization": c.bearer()}
}

// goose is YAML, in which lists and objects may be written as in JSON.
func goose(c connection, s clients.Server) string {
	lines := "extensions:\n  " + c.as() + ":\n    name: " + c.as() + "\n    type: stdio\n    enabled: true\n    timeout: 300\n    cmd: " + jsonString(s.Program) + "\n    args: [" + jsonStrings(s.Args) + "]"
	if env := c.environment(); env != nil {
		lines += "\n    envs: " + members(env)
	}
	return lines
}

func gooseHTTP(c connection, s clients.Server) string {
	return "extensions:\n  " + c.as() + ":\n    name: " + c.as() + "\n    type: streamable_http\n    enabled: true\n    timeout: 300\n    uri: " + jsonString(s.URL) + "\n    headers: " + members(c.headers())
}

// members is an object of strings on one line, as JSON and YAML have it.
func members(m map[string]string) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		list = append(list, jsonString(name)+": "+jsonString(m[name]))
	}
	return "{" + strings.Join(list, ", ") + "}"
}

// jsonString is a string of JSON, which YAML reads too.
func jsonString(s string) string {
	raw, err := text(s)
	if err != nil {
		return `""` // strings cannot fail
	}
	return string(raw)
}

func jsonStrings(list []string) string {
	written := make([]string, len(list))
	for i, s := range list {
		written[i] = jsonString(s)
	}
	return strings.Join(written, ", ")
}

// quoted is a word quoted for the shell.
func quoted(s string) string { return clients.Quoted(runtime.GOOS, s) }
