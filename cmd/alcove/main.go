// Command alcove is a memory server for AI agents, and the tool to talk to it.
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/sdk/client"
)

//go:embed VERSION
var ownVersion string

// The linker sets version and signatures for releases. An empty version means ownVersion; signatures are those of the catalogue of
// families, as package catalogue has them.
var version, signatures string

func main() { os.Exit(Main()) }

// Main runs the command line of this process and gives its exit code.
func Main() int {
	if len(os.Args) > 1 && os.Args[1] == compileModule {
		return sandbox.RunCompiler(os.Args[2:], os.Stdin, os.Stderr)
	}
	if len(os.Args) > 1 && os.Args[1] == hookName { // a prompt waits for it: what it allocates is bounded by LongestMessage and its time
		debug.SetGCPercent(-1)
		debug.SetMemoryLimit(hookMemory)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A write to an output that nobody reads ends a process, unless it takes the signal: head must not end an act.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	a := newApp(os.Stdin, os.Stdout, os.Stderr, os.Getenv)
	command := a.command()
	command.SetArgs(os.Args[1:])
	c, err := command.ExecuteContextC(ctx)
	if err != nil && c.Annotations[neverFails] != "" {
		a.logHook(err)
		return 0
	}
	if errors.Is(err, syscall.EPIPE) && a.out.Closed() {
		return 0 // whoever reads the output has enough
	}
	if err != nil {
		a.notef("alcove: %s\n", terminal.Indented(err.Error()))
	}
	return exitCode(err)
}

// app is one run of the command line.
type app struct {
	in  io.Reader
	out *terminal.Output // results only
	err *terminal.Output
	env func(string) string

	data      string
	space     string        // a space instead of the data directory's own memory
	spaces    string        // the folder of spaces; empty: that of the data directory
	store     string        // the URL of the database that has the store; empty: it is in the data directory
	storeFile string        // a file with that URL
	cache     string        // of compiled modules
	sharing   owner.Sharing // of the data directory
	warned    bool          // of it
	asJSON    bool
	why       string // an operator does something
	proposal  string // the branch on which the last write is proposed; empty: it is done
	inFull    bool   // changes of alcove.lock are shown as the difference of the file
	scope     scope
	elsewhere serverElsewhere
	release   string            // signatures of the catalogue of families
	working   *terminal.Working // of the command that runs; nil: it shows nothing
	hooks     *client.Session   // of a hook; nil: it has asked nothing yet
}

func newApp(in io.Reader, out, err io.Writer, env func(string) string) *app {
	return &app{in: in, out: terminal.New(out, env), err: terminal.New(err, env), env: env, release: signatures}
}

// scope is the branch and namespace of a command, and its author.
type scope struct {
	branch    string
	namespace string
	agent     string
}

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "alcove",
		Short: "Memory for AI agents: stored, searched, branched and rewound",
		Long: `Alcove is a memory server for AI agents. It stores memory in a data directory and serves it over MCP.

  alcove setup      connect the MCP clients on this machine
  alcove demo       see a session in a temporary directory, in a few seconds

Commands use the server of the data directory, and start it if none is running.`,
		Version:       versionText(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetVersionTemplate("alcove {{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return &usageError{fmt.Errorf("%w: see %s --help", err, c.CommandPath())}
	})
	flags := root.PersistentFlags()
	flags.StringVar(&a.data, "data", defaultData(a.env), "the data directory (or ALCOVE_DATA)")
	flags.StringVar(&a.space, "space", a.env("ALCOVE_SPACE"), "the space to use instead of the memory of the data directory (or ALCOVE_SPACE)")
	flags.StringVar(&a.spaces, "spaces", a.env("ALCOVE_SPACES"), "the folder of spaces (or ALCOVE_SPACES; default: the folder spaces of the data directory)")
	flags.StringVar(&a.store, "store", "", "the URL of a database for the store: postgres://USER@HOST/DATABASE?space=NAME (or ALCOVE_STORE; default: the data directory)")
	flags.StringVar(&a.storeFile, "store-file", a.env("ALCOVE_STORE_FILE"), "a file with that URL, to keep its password out of the command line (or ALCOVE_STORE_FILE)")
	flags.StringVar(&a.cache, "cache", a.env("ALCOVE_CACHE"), "the cache of compiled modules, or off (or ALCOVE_CACHE; default: in the cache directory of this user)")
	flags.BoolVar(&a.sharing.Group, "shared-group", a.env("ALCOVE_SHARED_GROUP") != "", "let the group of the data directory write to it (or ALCOVE_SHARED_GROUP)")
	flags.BoolVar(&a.asJSON, "json", false, "print JSON")
	a.elsewhereFlags(root)
	root.PersistentPreRunE = a.checkFlags
	for _, g := range a.groups() {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.id
			root.AddCommand(c)
		}
	}
	root.AddCommand(a.versionCommand(), a.manualCommand())
	refuseUnknown(root)
	a.showWorkingBelow(root)
	return root
}

// group is commands that people look for together.
type group struct {
	id, title string
	commands  []*cobra.Command
}

func (a *app) groups() []group {
	return []group{
		{"use", "Use the memory:", []*cobra.Command{
			called(a.storeCommand(), "add", "remember", "save", "put", "write", "set", "update", "edit"), called(a.recallCommand(), "get", "read", "show", "cat", "fetch"),
			called(a.searchCommand(), "find", "query", "ask", "grep", "look"), called(a.listMemoriesCommand(), "", "ls", "browse", "keys"),
			called(a.forgetCommand(), "rm", "delete", "remove", "del", "erase"), a.logCommand(), a.historyCommand(), a.branchCommand(), a.namespacesCommand(), a.projectCommand(), a.statusCommand(),
			a.pullCommand(), a.pushCommand(), a.syncCommand(), a.cloneCommand(), a.remoteCommand(), a.consoleCommand(), a.callCommand(), a.toolsCommand()}},
		{"connect", "Connect clients:", []*cobra.Command{
			a.setupCommand(), a.connectCommand(), a.hookCommand(), a.mcpCommand(), a.serveCommand(), a.stopCommand(), a.spaceCommand(), a.serviceCommand(), a.keyCommand(), a.hubCommand(), a.migrateCallsCommand(), a.demoCommand()}},
		{"care", "Look after the data:", []*cobra.Command{
			a.doctorCommand(), a.backupCommand(), a.restoreCommand(), a.followCommand(), a.exportCommand(), a.importCommand(), a.verifyCommand(), a.repairCommand(), a.compactCommand(),
			a.flushCommand(), a.durabilityCommand(), a.retentionCommand(), a.purgeCommand()}},
		{"operate", "Operate a server:", []*cobra.Command{
			a.clusterCommand(), a.configCommand(), a.quotaCommand(), a.approvalCommand(), a.postureCommand(), a.lockCommand(), a.unlockCommand(), a.auditCommand(), a.operatorCommand(), a.replayCommand(), a.benchCommand()}},
		{"extend", "Extend it:", []*cobra.Command{
			a.familyCommand(), a.rootCommand(), a.endpointCommand(), a.siteCommand(), a.embedderCommand()}},
	}
}

// called gives a command another name, if there is one, and the words with which people try what it does.
func called(c *cobra.Command, alias string, tried ...string) *cobra.Command {
	if alias != "" {
		c.Aliases = []string{alias}
	}
	c.SuggestFor = tried
	return c
}

// defaultData is ALCOVE_DATA, or the folder where the system keeps what programs store for a user.
func defaultData(env func(string) string) string {
	if dir := env("ALCOVE_DATA"); dir != "" {
		return dir
	}
	if dir := env("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "alcove")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = "."
	}
	switch runtime.GOOS {
	case "windows":
		if dir := env("LOCALAPPDATA"); dir != "" {
			return filepath.Join(dir, "alcove")
		}
		return filepath.Join(home, "AppData", "Local", "alcove")
	case "darwin":
		return filepath.Join(home, "Library", "Application Support", "alcove")
	default:
		return filepath.Join(home, ".local", "share", "alcove")
	}
}

// dir is the data directory, absolute. Commands that use a server elsewhere have none.
func (a *app) dir() (string, error) {
	if err := a.here(); err != nil {
		return "", err
	}
	if a.data == "" {
		return "", &usageError{fmt.Errorf("--data is empty: give a data directory")}
	}
	if a.space != "" {
		return a.spaceDir()
	}
	dir, err := filepath.Abs(a.data)
	if err != nil {
		return "", fmt.Errorf("find the data directory %s: %w", a.data, err)
	}
	return dir, nil
}

// ownDir is the data directory for commands that open it, or the server of it. One that others can change is refused, and one
// that its group can change is warned of, once.
func (a *app) ownDir() (string, error) {
	dir, err := a.dir()
	if err != nil {
		return "", err
	}
	warnings, err := a.sharing.CheckDir(dir)
	if err != nil || a.warned {
		return dir, err
	}
	a.warned = true
	for _, w := range warnings {
		err = errors.Join(err, a.notef("alcove: warning: %s\n", w))
	}
	return dir, err
}
