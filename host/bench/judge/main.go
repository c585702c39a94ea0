// Command judge measures how well families judge what memories are about, on sets that people labelled.
//
//	go run ./host/bench/judge [-test] [-data DIR] [SET...]
//	go run ./host/bench/judge [-wrong] secrets FILE...
//
// Each set asks the tools of a server with the built-in families, as an agent does, and compares their answers with the labels in
// testdata/NAME-dev.jsonl. With -test it also asks about NAME-test.jsonl and NAME-blind.jsonl, which nobody tunes on; a set may have no blind
// part. A baseline is what one would get without judging, by the same labels.
//
// Secrets are judged on files of one's own, without a server: a secret is found if nothing of it is left.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/alcove-memory/alcove/host/sandbox"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "compile-module" { // as the sandbox starts its compiler
		os.Exit(sandbox.RunCompiler(os.Args[2:], os.Stdin, os.Stderr))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	withTest := flag.Bool("test", false, "also judge the sets that nobody tunes on")
	data := flag.String("data", "", "the directory of the labelled sets; empty: those in testdata")
	wrong := flag.Bool("wrong", false, "print what was judged wrongly; of secrets alone")
	flag.Parse()
	if flag.Arg(0) == "secrets" {
		exit(judgeSecrets(os.Stdout, flag.Args()[1:], *wrong))
	}
	parts := []part{dev}
	if *withTest {
		parts = append(parts, test, blind)
	}
	chosen, err := choose(sets(), flag.Args())
	if err == nil {
		err = judge(ctx, os.Stdout, chosen, parts, *data)
	}
	exit(err)
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "judge:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// choose returns the sets with the names; all when there are none.
func choose(all []set, names []string) ([]set, error) {
	if len(names) == 0 {
		return all, nil
	}
	var chosen []set
	for _, name := range names {
		i := slices.IndexFunc(all, func(s set) bool { return s.name == name })
		if i < 0 {
			var known []string
			for _, s := range all {
				known = append(known, s.name)
			}
			return nil, fmt.Errorf("there is no set %q: name some of %s", name, strings.Join(known, ", "))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// judge prints a table for each set.
func judge(ctx context.Context, w io.Writer, list []set, parts []part, data string) error {
	for _, s := range list {
		results := make([][]row, len(parts))
		for i, p := range parts {
			rows, err := s.rows(ctx, p, data)
			if p == blind && errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return fmt.Errorf("%s, %s: %w", s.name, p, err)
			}
			results[i] = rows
		}
		if err := print(w, s.name, parts, results); err != nil {
			return err
		}
	}
	return nil
}

// print prints the table of a set: a line for each measure that a part has.
func print(w io.Writer, name string, parts []part, results [][]row) error {
	out := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprint(out, name)
	for _, p := range parts {
		fmt.Fprintf(out, "\t%s\tbaseline", p)
	}
	fmt.Fprintln(out)
	var measures []string
	for _, rows := range results {
		for _, r := range rows {
			if !slices.Contains(measures, r.measure) {
				measures = append(measures, r.measure)
			}
		}
	}
	for _, m := range measures {
		fmt.Fprint(out, "  ", m)
		for _, rows := range results {
			i := slices.IndexFunc(rows, func(r row) bool { return r.measure == m })
			if i < 0 {
				fmt.Fprint(out, "\t\t")
				continue
			}
			fmt.Fprintf(out, "\t%s\t%s", rows[i].got, rows[i].baseline)
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintln(out)
	return out.Flush()
}
