// Package attach connects an MCP client's standard input and output to the server of a data directory.
package attach

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/alcove-memory/alcove/host/bridge"
	"github.com/alcove-memory/alcove/host/owner"
)

// Flags are the flags of alcove mcp.
type Flags struct {
	namespace, branch, agent, profile, families string
	readOnly, developer                         bool

	AutoEmbed bool // tell if stored text is not embedded
}

// unnamed is the value of --agent alone: the tools for agents, which are the default, and the agent of the environment.
const unnamed = "ALCOVE_AGENT"

// developerFamily has the tools of --developer.
const developerFamily = "developer"

// defaultProfile is that of clients that ask for no other.
const defaultProfile = "agent"

// Define adds the flags of alcove mcp to a set.
func (f *Flags) Define(flags *pflag.FlagSet, env func(string) string) {
	flags.StringVar(&f.namespace, "namespace", env("ALCOVE_NAMESPACE"), "the `NAMESPACE` of calls that name none (or ALCOVE_NAMESPACE)")
	flags.StringVar(&f.branch, "branch", env("ALCOVE_BRANCH"), "the `BRANCH` that the session begins on (or ALCOVE_BRANCH)")
	flags.StringVar(&f.agent, "agent", env("ALCOVE_AGENT"), "the agent's `NAME`, which is kept with what it writes (or ALCOVE_AGENT)")
	flags.Lookup("agent").NoOptDefVal = unnamed
	flags.BoolVar(&f.developer, "developer", false, "list the tools of the family developer from the start, beside the core")
	flags.BoolVar(&f.AutoEmbed, "auto-embed", false, "warn if stored text is not embedded because no embedder is set (alcove embedder set)")
	flags.StringVar(&f.profile, "profile", cmp.Or(env("ALCOVE_PROFILE"), defaultProfile), "which tools are listed, by `PROFILE`: agent (the core, and families as they are loaded), full (all families), deferred (all, for clients that search tools), operation (memory_operation alone) (or ALCOVE_PROFILE)")
	flags.StringVar(&f.families, "families", env("ALCOVE_FAMILIES"), "`FAMILIES` whose tools are listed from the start, such as auto-tag,ranking (or ALCOVE_FAMILIES)")
	flags.BoolVar(&f.readOnly, "read-only", false, "refuse every write of this client")
}

// TakesName reports whether the flags leave the agent's name to an argument: --agent may stand alone, so that --agent NAME is both.
func (f *Flags) TakesName() bool { return f.agent == unnamed }

// Name completes the name of the agent by the arguments, or by the environment.
func (f *Flags) Name(env func(string) string, args []string) {
	switch {
	case f.TakesName() && len(args) > 0:
		f.agent = args[0]
	case f.TakesName():
		f.agent = env("ALCOVE_AGENT")
	}
}

// listed are the families whose tools are listed from the start.
func (f *Flags) listed() []string {
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

// Hello is how the client is introduced to the server.
func (f *Flags) Hello(env func(string) string) owner.Hello {
	return owner.Hello{Key: env("ALCOVE_KEY"), Namespace: f.namespace, Branch: f.branch, Agent: f.agent, Profile: f.profile, ReadOnly: f.readOnly, Families: f.listed()}
}

// Dialer connects to the owner of a data directory as bridges want it.
func Dialer(o owner.Options) Dial {
	return func(ctx context.Context, at bridge.SessionState) (io.ReadWriteCloser, error) {
		o := o
		o.Hello = At(o.Hello, at)
		return owner.Dial(ctx, o)
	}
}

// At is a hello for a session that goes on in some state.
func At(hello owner.Hello, at bridge.SessionState) owner.Hello {
	hello.Branch, hello.Namespace = cmp.Or(at.Branch, hello.Branch), cmp.Or(at.Namespace, hello.Namespace)
	if at.Families != nil {
		hello.Families = at.Families
	}
	return hello
}

// typed is said to people who run the command themselves.
const typed = "alcove mcp talks to an MCP client on standard input and output, and waits for one: clients start it themselves, as alcove connect prints.\n" +
	"Commands such as alcove search talk to the same memory. Ctrl-C ends this one.\n"

// isTerminal reports whether somebody types the input.
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

// Dial connects to a server, for a session in some state.
type Dial = func(context.Context, bridge.SessionState) (io.ReadWriteCloser, error)

// Run serves one client until its input ends.
func Run(ctx context.Context, dial Dial, in io.Reader, out, messages io.Writer) error {
	if isTerminal(in) {
		io.WriteString(messages, typed)
	}
	in, restore := polled(in)
	defer restore()
	return bridge.Run(ctx, bridge.Options{
		Dial: dial, In: in, Out: out, Logger: slog.New(slog.NewTextHandler(messages, nil)),
		Fatal: func(err error) bool { var refused *owner.Refusal; return errors.As(err, &refused) },
	})
}

// DefaultData is ALCOVE_DATA, or where the system keeps what programs store for a user.
func DefaultData(env func(string) string) string {
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
