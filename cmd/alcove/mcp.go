package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/daemon/bridge"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
)

// mcpFlags are the flags of alcove mcp.
type mcpFlags struct {
	namespace, project, folder, branch, agent, profile, families string
	readOnly, developer, autoEmbed                               bool

	inProject  bool // the namespace is the project's
	asksFolder bool // nothing says in which folder the client works: it is asked
}

const (
	// agentOfEnvironment is the value of --agent without a name.
	agentOfEnvironment = "ALCOVE_AGENT"
	// developerFamily has the tools of --developer.
	developerFamily = "developer"
	// followsClient is the profile that the server knows by the client's name.
	followsClient = "auto"
)

func (a *app) mcpCommand() *cobra.Command {
	var f mcpFlags
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Serve one MCP client on standard input and output",
		Long: `Serve one MCP client on standard input and output. The command connects to the server of the data directory, which it starts if none is
running, or to the server at --url. Any number of clients share one memory.

MCP clients start this command themselves: alcove connect prints the configuration for each client, where these flags belong.`,
		Example: `  alcove mcp --namespace notes --agent planner
  alcove mcp --profile full --read-only
  alcove mcp --url https://memory.example:9742 --key-file ~/.alcove-key`,
		Args: func(c *cobra.Command, args []string) error {
			if f.takesName() {
				return arguments(0, 1)(c, args)
			}
			return noArguments(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			f.nameAgent(a.env, args)
			return a.mcp(c.Context(), f)
		},
	}
	f.define(c, a.env)
	c.SetHelpFunc(func(c *cobra.Command, args []string) {
		c.Flags().Lookup("agent").NoOptDefVal = "" // --agent alone is for command lines that other servers take, and would look odd
		c.Root().HelpFunc()(c, args)
	})
	return c
}

func (f *mcpFlags) define(c *cobra.Command, env func(string) string) {
	flags := c.Flags()
	flags.StringVar(&f.namespace, "namespace", env("ALCOVE_NAMESPACE"), "the `NAMESPACE` of calls that name none; @project: that of the project (or ALCOVE_NAMESPACE)")
	flags.StringVar(&f.project, "project", env("ALCOVE_PROJECT"), "the `PROJECT` that searches keep to: a name, or off (or ALCOVE_PROJECT; default: that of --folder, if it is in a repository or linked, and --namespace is not given)")
	flags.StringVar(&f.folder, "folder", "", "the `FOLDER` that the client works in (default: what the client says in CLAUDE_PROJECT_DIR, else the folder in which this command runs)")
	flags.StringVar(&f.branch, "branch", env("ALCOVE_BRANCH"), "the `BRANCH` that the session begins on (or ALCOVE_BRANCH)")
	flags.StringVar(&f.agent, "agent", env("ALCOVE_AGENT"), "the agent's `NAME`, which is kept with what it writes (or ALCOVE_AGENT)")
	flags.Lookup("agent").NoOptDefVal = agentOfEnvironment
	flags.BoolVar(&f.developer, "developer", false, "list the tools of the family developer from the start, beside the core")
	flags.BoolVar(&f.autoEmbed, "auto-embed", false, "warn if stored text is not embedded because no embedder is set (alcove embedder set)")
	flags.StringVar(&f.profile, "profile", cmp.Or(env("ALCOVE_PROFILE"), followsClient), "which tools are listed, by `PROFILE`: auto (as the client, by its name, makes best use of: deferred or agent), agent (the core, and families as they are loaded), full (all families), code (all, with the schemas of answers), deferred (all, for clients that search tools), operation (memory_operation alone) (or ALCOVE_PROFILE)")
	flags.StringVar(&f.families, "families", env("ALCOVE_FAMILIES"), "`FAMILIES` whose tools are listed from the start, such as auto-tag,ranking (or ALCOVE_FAMILIES)")
	flags.BoolVar(&f.readOnly, "read-only", false, "refuse every write of this client")
}

// takesName reports whether an argument may name the agent: --agent may stand alone, so --agent NAME is a flag and an argument.
func (f *mcpFlags) takesName() bool { return f.agent == agentOfEnvironment }

// nameAgent takes the agent's name from the arguments or the environment if --agent stands alone.
func (f *mcpFlags) nameAgent(env func(string) string, args []string) {
	switch {
	case f.takesName() && len(args) > 0:
		f.agent = args[0]
	case f.takesName():
		f.agent = env("ALCOVE_AGENT")
	}
}

// listedFamilies are the families whose tools are listed from the start.
func (f *mcpFlags) listedFamilies() []string {
	var families []string
	for name := range strings.SplitSeq(f.families, ",") {
		if name = strings.TrimSpace(name); name != "" {
			families = append(families, name)
		}
	}
	if f.developer && !slices.Contains(families, developerFamily) {
		families = append(families, developerFamily)
	}
	return families
}

// hello introduces the client to the server.
func (f *mcpFlags) hello(env func(string) string) owner.Hello {
	profile := f.profile
	if profile == followsClient {
		profile = "" // as servers before this name know it, too
	}
	return owner.Hello{Key: env("ALCOVE_KEY"), Namespace: f.namespace, Project: f.project, Branch: f.branch, Agent: f.agent, Profile: profile, ReadOnly: f.readOnly, Families: f.listedFamilies()}
}

// mcp serves one client until its input ends.
func (a *app) mcp(ctx context.Context, f mcpFlags) error {
	if err := a.chooseProject(&f); err != nil {
		return err
	}
	dial, err := a.dialerTo(f.hello(a.env), true)
	if err != nil {
		return err
	}
	if f.autoEmbed {
		a.warnWithoutEmbedder(ctx)
	}
	if isTerminal(a.in) {
		io.WriteString(a.err, typedByHand)
	}
	in, restore := polled(a.in)
	defer restore()
	var ofFolder func(folder string) string
	if f.asksFolder {
		ofFolder = a.ofFolderOrNone
	}
	return bridge.Run(ctx, bridge.Options{
		Dial: f.follow(dial), Project: f.project, ProjectOf: ofFolder, In: in, Out: a.out.Data(), Logger: slog.New(slog.NewTextHandler(a.err, nil)),
		Fatal: func(err error) bool { var refused *owner.Refusal; return errors.As(err, &refused) },
	})
}

// follow has a session whose namespace is its project's follow the project.
func (f *mcpFlags) follow(dial dialFunc) dialFunc {
	if !f.inProject {
		return dial
	}
	return func(ctx context.Context, at bridge.SessionState) (io.ReadWriteCloser, error) {
		if at.Project != nil && at.Namespace == "" {
			at.Namespace = cmp.Or(*at.Project, "default")
		}
		return dial(ctx, at)
	}
}

// warnWithoutEmbedder warns if no embedder is configured.
func (a *app) warnWithoutEmbedder(ctx context.Context) {
	list, err := query(ctx, a, operator.ListEmbedders)
	switch logger := slog.New(slog.NewTextHandler(a.err, nil)); {
	case err != nil:
		logger.Warn("could not ask whether stored text is embedded", "error", err)
	case len(list) == 0:
		logger.Warn("stored text is not embedded, and searches are by words: alcove embedder use builtin changes that")
	}
}

// typedByHand is the message to people who run alcove mcp themselves.
const typedByHand = "alcove mcp talks to an MCP client on standard input and output, and waits for one: clients start it themselves, as alcove connect prints.\n" +
	"Commands such as alcove search talk to the same memory. Ctrl-C ends this one.\n"

// isTerminal reports whether in is a terminal.
func isTerminal(in io.Reader) bool {
	file, ok := in.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// resumed is the hello of a session that continues in the state at.
func resumed(hello owner.Hello, at bridge.SessionState) owner.Hello {
	hello.Branch, hello.Namespace = cmp.Or(at.Branch, hello.Branch), cmp.Or(at.Namespace, hello.Namespace)
	if at.Families != nil {
		hello.Families = at.Families
	}
	if at.Project != nil {
		hello.Project = *at.Project
	}
	return hello
}
