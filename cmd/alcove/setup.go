package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/cmd/alcove/migrate"
	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host/capture/hook"
	"github.com/alcove-memory/alcove/host/daemon/clients"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/registry"
)

// setup are the options of alcove setup.
type setup struct {
	scope             string
	yes, dryRun, undo bool
	profile           string // which tools are listed; empty: that of the client
	posture           string // to choose; empty: as the directory has it
}

func (a *app) setupCommand() *cobra.Command {
	var s setup
	c := &cobra.Command{
		Use:   "setup [CLIENT…]",
		Short: "Connect the MCP clients on this machine: edit their configurations",
		Long: `Connect the MCP clients of this machine, or those that are named: ` + strings.Join(setUpNames(), ", ") + `.
The command shows the changes, asks, and keeps a backup beside each file. It preserves all other entries, comments and their
order. With --url, the clients use that server. For other clients, use alcove connect.`,
		Example: "  alcove setup\n  alcove setup claude-code codex --yes\n  alcove setup cursor --scope project\n  alcove setup --undo",
		RunE:    func(c *cobra.Command, args []string) error { return a.setUp(c, args, s) },
	}
	flags := c.Flags()
	flags.StringVar(&s.scope, "scope", string(clients.User), "for whom: user, for you in all projects, or project, for all who work in this one")
	flags.BoolVar(&s.yes, "yes", false, "write without asking")
	flags.BoolVar(&s.dryRun, "dry-run", false, "show the changes, and write nothing")
	flags.StringVar(&s.posture, "posture", "", "how much the built-in families do by themselves: personal, careful or locked, as alcove posture set says (default: as before; a new memory begins with personal)")
	flags.StringVar(&s.profile, "profile", "", profileUsage)
	flags.BoolVar(&s.undo, "undo", false, "undo what setup wrote")
	return c
}

// setUpNames are the clients that setup can connect.
func setUpNames() (names []string) {
	for _, c := range clients.All() {
		if c.CanSetUp(clients.User) {
			names = append(names, c.Name)
		}
	}
	return names
}

// machine is this one, for the files of clients.
func (a *app) machine(folder string) clients.Machine {
	return clients.Machine{OS: runtime.GOOS, Home: cmp.Or(a.env("HOME"), a.env("USERPROFILE")), Env: a.env, Folder: folder}
}

// journal keeps what setup wrote, for all data directories of the user.
func (a *app) journal(m clients.Machine) (*clients.Journal, error) {
	dir := filepath.Join(m.Home, ".config")
	switch {
	case filepath.IsAbs(a.env("XDG_CONFIG_HOME")):
		dir = a.env("XDG_CONFIG_HOME")
	case m.OS == "darwin":
		dir = filepath.Join(m.Home, "Library", "Application Support")
	case m.OS == "windows":
		dir = cmp.Or(a.env("APPDATA"), filepath.Join(m.Home, "AppData", "Roaming"))
	}
	if m.Home == "" {
		return nil, errors.New("find the home directory, where clients keep their configurations: HOME is not set")
	}
	return &clients.Journal{Path: filepath.Join(dir, "alcove", "setup.json")}, nil
}

func (a *app) setUp(c *cobra.Command, names []string, s setup) error {
	scope := clients.Scope(s.scope)
	if scope != clients.User && scope != clients.Project {
		return &usageError{fmt.Errorf("unknown scope %q: use user or project", s.scope)}
	}
	if err := errors.Join(a.checkSetupPosture(s), checkProfile(s.profile)); err != nil {
		return err
	}
	for _, name := range names {
		if !slices.Contains(setUpNames(), name) {
			known := strings.Join(setUpNames(), ", ")
			return &usageError{fmt.Errorf("unknown client %q: use %s. alcove connect prints the lines for others", name, known)}
		}
	}
	folder, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the current folder: %w", err)
	}
	m := a.machine(folder)
	journal, err := a.journal(m)
	if err != nil {
		return err
	}
	if s.undo {
		changes, err := journal.Undo(m, scope, names)
		return errors.Join(a.carryOut(journal, changes, s), err)
	}
	server, err := a.setupServer(c, scope)
	if err != nil {
		return err
	}
	server.Profile = s.profile
	changes, err := a.planSetup(m, server, scope, names)
	err = errors.Join(a.carryOut(journal, changes, s), err)
	if s.posture == "" {
		return err
	}
	return errors.Join(err, a.setPosture(c, operator.Posture(s.posture), postureFlags{yes: s.yes, dryRun: s.dryRun}))
}

// checkSetupPosture refuses a posture that setup cannot choose.
func (a *app) checkSetupPosture(s setup) error {
	switch {
	case s.posture == "":
		return nil
	case !slices.Contains(registry.Postures(), operator.Posture(s.posture)):
		return &usageError{fmt.Errorf("unknown posture %.40q: use personal, careful or locked", s.posture)}
	case s.undo:
		return &usageError{errors.New("--undo undoes what setup wrote for clients: alcove posture set changes the posture")}
	case a.elsewhere.url != "":
		return &usageError{errors.New("the posture of a server elsewhere is chosen there, with alcove posture set")}
	}
	return nil
}

// planSetup plans the changes of clients. One whose files cannot be edited is in the error, and keeps no other from being connected.
func (a *app) planSetup(m clients.Machine, server clients.Server, scope clients.Scope, names []string) (
	changes []clients.Change, err error) {
	found := 0
	for _, client := range clients.All() {
		switch {
		case len(names) > 0 && !slices.Contains(names, client.Name):
			continue
		case len(names) == 0 && (!client.Installed(m, a.lookPath) || !client.CanSetUp(scope)):
			continue
		}
		found++
		if has := client.Plugin(m); has != "" && (scope == clients.User || inside(m.Folder, has)) {
			err = errors.Join(err, a.notef("%s has the plugin alcove (%s), so nothing is written for it: remove the plugin to have setup connect it\n",
				client.Title, has))
			continue
		}
		planned, refused := clients.Plan(m, client, scope, server)
		if err = errors.Join(err, refused); refused == nil {
			changes = append(changes, planned...)
		}
	}
	if found == 0 {
		known := strings.Join(setUpNames(), ", ")
		return nil, notFound("no MCP client was found on this machine: name one of %s, or use the lines of alcove connect", known)
	}
	return changes, err
}

// inside reports whether a path is in a folder.
func inside(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// setupServer is the server that clients are to start.
func (a *app) setupServer(c *cobra.Command, scope clients.Scope) (clients.Server, error) {
	to, err := a.connection(c.Context())
	if err != nil {
		return clients.Server{}, err
	}
	if to.keyed && !to.handed && to.token == "" {
		return clients.Server{}, &usageError{
			errors.New("the server requires an API key: make one with alcove key create, and give it by --key-file or ALCOVE_KEY")}
	}
	if scope == clients.Project {
		return a.sharedServer(to)
	}
	return withHooks(to.overStdio(), to), nil
}

// sharedServer is the server in a file that others of the project read, too: without a key, and without this machine's paths where that
// does.
func (a *app) sharedServer(to connection) (clients.Server, error) {
	if to.keyed && !to.handed {
		return clients.Server{}, &usageError{
			errors.New("everybody who works in the project reads its file, and would read the API key: give it by --key-file, or use --scope user")}
	}
	if found, err := exec.LookPath("alcove"); err == nil && samePath(found, to.program) {
		to.program = "alcove"
	}
	if dir, err := a.dir(); err == nil && a.elsewhere.url == "" && samePath(dir, defaultData(func(name string) string {
		if name == "ALCOVE_DATA" {
			return ""
		}
		return a.env(name)
	})) {
		to.place = nil
	}
	return withHooks(to.overStdio(), to), nil
}

// withHooks has clients run hooks where that is of use. Turns are kept by a server on this machine alone.
func withHooks(s clients.Server, to connection) clients.Server {
	if to.keyed && !to.handed { // hooks have no environment of their own, in which a key could be
		return s
	}
	s.Hook = func(event clients.Event, client string) string {
		far := slices.Contains(to.place, "--url")
		if !hook.Serves(hook.Client(client), hook.Event(event)) || far && hook.Keeps(hook.Event(event)) {
			return ""
		}
		words := []string{to.program, "hook", string(event), "--client", client}
		return shellWords(slices.Concat(words, to.place, to.options))
	}
	return s
}

// lookPath finds a program on the path.
func (a *app) lookPath(name string) (string, error) {
	if a.env("PATH") == "" {
		return "", exec.ErrNotFound
	}
	return exec.LookPath(name)
}

// carryOut shows changes, asks, and makes them.
func (a *app) carryOut(j *clients.Journal, changes []clients.Change, s setup) error {
	differs := slices.ContainsFunc(changes, clients.Change.Differs)
	if !a.asJSON {
		if err := a.printChanges(changes, s.undo); err != nil {
			return err
		}
	}
	made := map[string]string{}
	var failed error
	if !s.dryRun {
		if ok, err := a.agreed(s.yes || !differs); err != nil || !ok {
			return err
		}
		made, failed = a.makeChanges(j, changes)
	}
	if a.asJSON {
		return errors.Join(a.printJSON(a.rows(changes, made, s.dryRun)), failed)
	}
	if failed != nil || len(made) == 0 {
		return failed
	}
	if s.undo {
		return a.notef("restart the clients\n")
	}
	return a.notef("restart the clients; alcove doctor says whether each is connected, and alcove setup --undo undoes this\n")
}

// makeChanges makes changes. What keeps one from being made keeps no other.
func (a *app) makeChanges(j *clients.Journal, changes []clients.Change) (made map[string]string, failed error) {
	made = map[string]string{}
	for _, c := range changes {
		backup, err := j.Apply(c, time.Now())
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if !c.Differs() {
			continue
		}
		made[c.Path] = backup
		if a.asJSON {
			continue
		}
		kept := ""
		if backup != "" {
			kept = "; the original is in " + filepath.Base(backup)
		}
		done := "wrote"
		if c.After == nil {
			done = "removed"
		}
		failed = errors.Join(failed, a.printf("%s %s%s\n", done, c.Path, kept))
	}
	return made, failed
}

// changeRow is a change as --json prints it.
type changeRow struct {
	Client  string `json:"client"`
	Path    string `json:"path"`
	Differs bool   `json:"differs"`
	Made    bool   `json:"made"`
	Backup  string `json:"backup,omitempty"`
	Diff    string `json:"diff,omitempty"`
}

func (a *app) rows(changes []clients.Change, made map[string]string, dryRun bool) []changeRow {
	rows := []changeRow{}
	for _, c := range changes {
		backup, ok := made[c.Path]
		row := changeRow{Client: c.Client, Path: c.Path, Differs: c.Differs(), Made: ok, Backup: backup}
		if dryRun {
			row.Diff = a.difference(c)
		}
		rows = append(rows, row)
	}
	return rows
}

// longestLine is how much of a line a difference shows, in bytes: a configuration may be one line.
const longestLine = 200

// difference shows a change, without the API key.
func (a *app) difference(c clients.Change) string {
	diff := migrate.Diff(c.Path, string(c.Before), string(c.After))
	if key, err := a.key(); err == nil && key != "" {
		diff = strings.ReplaceAll(diff, key, "…")
	}
	lines := strings.Split(diff, "\n")
	for i, line := range lines {
		if len(line) > longestLine {
			lines[i] = strings.ToValidUTF8(line[:longestLine], "") + "…"
		}
	}
	return strings.Join(lines, "\n")
}

func (a *app) printChanges(changes []clients.Change, undo bool) error {
	if undo && len(changes) == 0 {
		return a.notef("setup has written nothing here that could be undone\n")
	}
	for _, c := range changes {
		title := c.Client
		if client, ok := clients.Find(c.Client); ok {
			title = client.Title
		}
		if !c.Differs() {
			state := "is connected already"
			if undo {
				state = "no longer has an entry"
			}
			if err := a.printf("%s  %s %s\n", a.bold(title), c.Path, state); err != nil {
				return err
			}
			continue
		}
		if err := a.printf("%s\n%s\n", a.bold(title), terminal.Lines(a.difference(c))); err != nil {
			return err
		}
	}
	return nil
}

// agreed asks whether the changes are to be made.
func (a *app) agreed(yes bool) (bool, error) {
	if yes {
		return true, nil
	}
	if a.asJSON || !isTerminal(a.in) {
		return false, &usageError{errors.New("nothing was written, since there is no terminal to ask: repeat the command with --yes")}
	}
	if err := a.notef("Write these changes? [y/N] "); err != nil {
		return false, err
	}
	answer, err := bufio.NewReader(a.in).ReadString('\n')
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer == "y" || answer == "yes" {
		return true, nil
	}
	if err != nil {
		err = fmt.Errorf("read the answer: %w", err)
	}
	return false, errors.Join(err, a.notef("nothing was written\n"))
}
