package main

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host/operator"
)

func (a *app) purgeCommand() *cobra.Command {
	var p operator.PurgeRequest
	version, yes := "", false
	c := &cobra.Command{
		Use:   "purge [KEY]",
		Short: "Erase a memory or the data of an event from all branches, versions and files, permanently",
		Long: `Erase the payloads of a memory, or the data of a log event, from every branch and version and from the files of
the data directory. Digests and the names of keys stay, and so do the name and agent of an event, because the hash
chain of the log covers them. Earlier backups and exports still have the payloads: make a new full backup, and delete
the old ones.

The purge also erases records of families, queued jobs and stored answers that contain the same text, plain or
encoded. It lists other possible copies and leaves them: --collection erases one record, --family all records of a
family. It does not find text that a family paraphrased.`,
		Args: arguments(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				p.Key = args[0]
			}
			if version != "" {
				n, err := strconv.ParseUint(strings.TrimPrefix(version, "v"), 10, 64)
				if err != nil || n == 0 {
					return &usageError{fmt.Errorf("--version %q is not a version such as v12", version)}
				}
				p.Version = n
			}
			if !yes {
				return &usageError{errors.New("a purge cannot be undone: repeat it with --yes")}
			}
			return callAndPrint(c.Context(), a, operator.Purge, p, a.printPurged)
		},
	}
	flags := c.Flags()
	flags.StringVar(&p.Namespace, "namespace", a.env("ALCOVE_NAMESPACE"), "the namespace (or ALCOVE_NAMESPACE)")
	flags.Uint64Var(&p.Event, "event", 0, "the sequence number of an event of the log, instead of a key")
	flags.StringVar(&p.Branch, "branch", "", "the branch of the event's log (default: default)")
	flags.StringVar(&version, "version", "", "only the content of this version, such as v12, in every version with the same content")
	flags.StringVar(&p.Collection, "collection", "", "KEY is the key of a family record in this collection, such as notes/list")
	flags.StringVar(&p.Family, "family", "", "all data of this family, instead of a key")
	flags.BoolVar(&p.SetAside, "set-aside", false, "also remove the files that earlier repairs kept")
	flags.BoolVar(&yes, "yes", false, "confirm the purge")
	return c
}

func (a *app) printPurged(done operator.Purged) error {
	if a.asJSON {
		return a.printJSON(done)
	}
	var out strings.Builder
	for _, e := range done.Erased {
		fmt.Fprintf(&out, "v%-8d %-20s sha256 %s\n", e.Version, terminal.Line(cmp.Or(e.Branch, "(a deleted branch)")).String(), e.Digest)
	}
	if n := done.Copies.Records; n > 0 {
		fmt.Fprintf(&out, "\n%d copies were erased too:\n", n)
		for _, c := range done.Copies.List {
			fmt.Fprintf(&out, "  %s\n", where(c))
		}
		more(&out, n, len(done.Copies.List))
	}
	if n := done.Possible.Records; n > 0 {
		fmt.Fprintf(&out, "\n%d were NOT erased and may have it; erase each with the command below it:\n", n)
		for _, c := range done.Possible.List {
			fmt.Fprintf(&out, "  %s: %s\n      %s\n", where(c), c.Why, eraseCopy(c))
		}
		more(&out, n, len(done.Possible.List))
	}
	a.writeWitnesses(&out, done)
	return a.printf("%s", terminal.Lines(out.String())) // each name in it is a Line
}

func more(out *strings.Builder, all, listed int) {
	if all > listed {
		fmt.Fprintf(out, "  and %d more\n", all-listed)
	}
}

// writeWitnesses says who may have it where nothing can be found.
func (a *app) writeWitnesses(out *strings.Builder, done operator.Purged) {
	if len(done.Families) > 0 {
		fmt.Fprint(out, "\nthese families saw it or could; paraphrases of it cannot be found:\n")
	}
	for _, f := range done.Families {
		var saw []string
		if len(f.Hooks) > 0 {
			saw = append(saw, "its hooks "+strings.Join(f.Hooks, ", ")+" receive every memory")
		}
		if f.Reads {
			saw = append(saw, "it may read there when it is called")
		}
		if f.Copies > 0 {
			saw = append(saw, fmt.Sprintf("%d of the copies were its own", f.Copies))
		}
		if f.Possible > 0 {
			saw = append(saw, fmt.Sprintf("%d of the possible copies are its own", f.Possible))
		}
		fmt.Fprintf(out, "  %s: %s\n      alcove purge --family %s --yes    erases all that it keeps\n", terminal.Line(f.Family).String(), strings.Join(saw, "; "), word(f.Family))
	}
	if len(done.Outside) > 0 {
		fmt.Fprint(out, "\nit may have been sent to external servers, which a purge does not reach:\n")
	}
	for _, o := range done.Outside {
		fmt.Fprintf(out, "  %s\n", terminal.Line(o).String())
	}
	if len(done.Erased) > 0 {
		fmt.Fprint(out, "\nearlier backups and exports still have it: make a full backup, then delete them\n")
	}
}

// where is where a copy is, or was.
func where(c operator.Copy) string {
	what := terminal.Line(c.Collection).String()
	switch c.Collection {
	case "memory":
		what = "the memory"
	case "_log":
		what = "event"
	case "_answers":
		return fmt.Sprintf("the answer that is kept with a request, on branch %s", terminal.Line(c.Branch).String())
	}
	return fmt.Sprintf("%s %s, namespace %s, branch %s", what, word(c.Key), terminal.Line(c.Namespace).String(), terminal.Line(c.Branch).String())
}

// eraseCopy is the command that erases what may be a copy. A name with control characters has to be typed otherwise.
func eraseCopy(c operator.Copy) string {
	arguments := []string{"alcove", "purge", "--yes", "--namespace", word(c.Namespace)}
	switch c.Collection {
	case "_log":
		return strings.Join(append(arguments, "--branch", word(c.Branch), "--event", word(c.Key)), " ")
	case "memory":
	default:
		arguments = append(arguments, "--collection", word(c.Collection))
	}
	if strings.HasPrefix(c.Key, "-") {
		arguments = append(arguments, "--")
	}
	return strings.Join(append(arguments, word(c.Key)), " ")
}

// word is something that was stored as a word that the shell takes.
func word(s string) string { return quoted(terminal.Line(s).String()) }
