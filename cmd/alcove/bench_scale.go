package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host/bench/scale"
)

type scaleFlags struct {
	sizes      []int
	dir        string
	resume     bool
	text       string
	seed       uint64
	batch      int
	calls      int
	skip       []string
	chart      string
	showSchema bool
}

func (a *app) benchScaleCommand() *cobra.Command {
	var f scaleFlags
	c := &cobra.Command{
		Use:   "scale",
		Short: "Measure stores, starts, searches, memory and bytes at growing sizes",
		Long: `Store texts in a directory of its own through a client as agents have it, a process on standard input and output, and measure at each
size: the rate of stores, the time of starts, of first searches and of calls of each kind, backup, verify, memory, and bytes on disk.

Progress is told on standard error. A run that was interrupted goes on with --resume and the same flags.`,
		Example: `  alcove bench scale --n 100000,1000000 --chart cost.svg
  alcove bench scale --n 1000000 --dir ./scale --json
  alcove bench scale --n 1000000 --dir ./scale --json --resume`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error { return a.benchScale(c.Context(), f) },
	}
	flags := c.Flags()
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "memories" {
			name = "n"
		}
		return pflag.NormalizedName(name)
	})
	flags.IntSliceVar(&f.sizes, "n", []int{100_000}, "how many memories, or several sizes in ascending order, up to 10000000 (or --memories)")
	flags.StringVar(&f.dir, "dir", "", "an empty directory, which keeps the data (default: a temporary one, which is removed)")
	flags.BoolVar(&f.resume, "resume", false, "continue the interrupted run in --dir")
	flags.StringVar(&f.text, "text", "words", "what to store: words, or a file of {\"text\": …} lines")
	flags.Uint64Var(&f.seed, "seed", 1, "the seed of words and tags")
	flags.IntVar(&f.batch, "batch", 100, "memories of a store, up to 1000")
	flags.IntVar(&f.calls, "calls", 200, "calls of each kind that are timed")
	flags.StringSliceVar(&f.skip, "skip", nil, "parts to leave out: "+strings.Join(scale.Parts(), ", "))
	flags.StringVar(&f.chart, "chart", "", "draw cost over size into this file, as SVG")
	flags.BoolVar(&f.showSchema, "schema", false, "print the JSON Schema of --json, and measure nothing")
	return c
}

func (a *app) benchScale(ctx context.Context, f scaleFlags) (err error) {
	if f.showSchema {
		return a.printf("%s\n", terminal.IndentedJSON(scale.Schema))
	}
	if f.resume && f.dir == "" {
		return &usageError{errors.New("--resume continues a run in a directory: name it with --dir")}
	}
	if f.batch < 1 || f.calls < 1 {
		return &usageError{fmt.Errorf("--batch is %d and --calls is %d: both are at least 1", f.batch, f.calls)}
	}
	if f.chart != "" {
		if _, err := destination(f.chart); err != nil {
			return err
		}
	}
	texts, done, err := textsToStore(f.text, f.seed)
	if err != nil {
		return &usageError{err}
	}
	defer done()
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	b := scale.Bench{Program: scale.Program{Path: program}, Dir: f.dir, Texts: texts, Seed: f.seed, Batch: f.batch, Sizes: f.sizes, Resume: f.resume, Calls: f.calls, Skip: f.skip,
		Progress: a.scaleProgress(), Free: freeSpace}
	report, err := a.runScale(ctx, b)
	if err != nil {
		return err
	}
	if f.chart != "" {
		if err := writeOutputFile(f.chart, 0o644, []byte(report.Chart())); err != nil {
			return err
		}
	}
	if a.asJSON {
		return a.printJSON(report)
	}
	return a.printf("%s\n", terminal.Lines(report.Text()))
}

// runScale runs in a temporary directory if none is named. What is interrupted is kept, to go on with.
func (a *app) runScale(ctx context.Context, b scale.Bench) (report scale.Report, err error) {
	temporary := b.Dir == ""
	if temporary {
		b.Dir = os.TempDir()
	}
	if err := b.Check(); err != nil {
		return report, &usageError{err}
	}
	if temporary {
		if b.Dir, err = os.MkdirTemp("", "alcove-scale-"); err != nil {
			return report, fmt.Errorf("make a temporary directory: %w: name one with --dir", err)
		}
	}
	report, err = b.Run(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return report, fmt.Errorf("interrupted: what is stored is kept in %s; continue with the same flags and --resume --dir %[1]s", b.Dir)
	case err != nil && temporary:
		return report, fmt.Errorf("%w; what is stored is kept in %s", err, b.Dir)
	case err == nil && temporary:
		err = os.RemoveAll(b.Dir)
	}
	return report, err
}

// textsToStore are the texts that --text names.
func textsToStore(name string, seed uint64) (scale.Texts, func() error, error) {
	if name == "words" {
		texts, err := scale.Words(seed)
		return texts, func() error { return nil }, err
	}
	texts, file, err := scale.File(name)
	if err != nil {
		return nil, nil, fmt.Errorf("--text is words or a file: %w", err)
	}
	return texts, file.Close, nil
}

// progressEvery is how often progress is told.
const progressEvery = 10 * time.Second

// scaleProgress tells, line by line, what is done and how long the rest takes.
func (a *app) scaleProgress() func(scale.Progress) {
	var doing string
	var told time.Time
	return func(p scale.Progress) {
		if p.Doing == doing && time.Since(told) < progressEvery {
			return
		}
		doing, told = p.Doing, time.Now()
		a.notef("%s\n", terminal.Line(p.String()))
	}
}
