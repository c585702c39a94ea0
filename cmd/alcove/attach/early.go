package attach

import (
	"context"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/alcove-memory/alcove/host/owner"
)

// A client's start is to cost what the client needs, and most of a start is the initialization of packages that only the server uses.
// Go initializes a package as soon as those that it imports are, in the order of their paths, before main runs. So what is to run first
// runs in the initialization of this one, which imports little.
func init() {
	if len(os.Args) < 2 || os.Args[1] != "mcp" {
		return
	}
	o, ok := plain(os.Args[2:], os.Getenv)
	if !ok {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if early.err = Run(ctx, Dialer(o), os.Stdin, os.Stdout, os.Stderr); early.err == nil {
		os.Exit(0)
	}
	early.ran = true
}

// early is what became of a client that was served before main.
var early struct {
	ran bool
	err error
}

// Early reports whether a client was served before main, and why that ended.
func Early() (ran bool, err error) { return early.ran, early.err }

// plain reads a command line that needs no more than a connection. All others, wrong ones and those that draw warnings included, are
// left to main.
func plain(args []string, env func(string) string) (o owner.Options, ok bool) {
	var f Flags
	var data string
	flags := pflag.NewFlagSet("mcp", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	f.Define(flags, env)
	flags.StringVar(&data, "data", DefaultData(env), "")
	flags.BoolVar(&o.Sharing.Group, "shared-group", env("ALCOVE_SHARED_GROUP") != "", "")
	if flags.Parse(args) != nil || f.AutoEmbed || data == "" || env("ALCOVE_CACHE") != "" || env("ALCOVE_URL") != "" {
		return o, false
	}
	if n := flags.NArg(); n > 1 || n == 1 && !f.TakesName() {
		return o, false
	}
	f.Name(env, flags.Args())
	o.Hello = f.Hello(env)
	dir, err := filepath.Abs(data)
	if err != nil {
		return o, false
	}
	if warnings, err := o.Sharing.CheckDir(dir); err != nil || len(warnings) > 0 {
		return o, false
	}
	program, err := os.Executable()
	if err != nil {
		return o, false
	}
	var added []string
	if o.Sharing.Group {
		added = []string{"--shared-group"}
	}
	o.Dir, o.Start = dir, owner.Starter(program, dir, added...)
	return o, true
}
