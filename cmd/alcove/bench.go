package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/bench/measure"
	"github.com/alcove-memory/alcove/host/daemon/bridge"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
)

func (a *app) benchCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure search quality, and cost at growing sizes",
		Args:  noArguments,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.benchRecallCommand(), a.benchScaleCommand())
	return c
}

type recallFlags struct {
	docs, queries, group string
	categories           []string
	mode                 string
	embedder             operator.EmbedderConfig
	verbose              bool
}

func (a *app) benchRecallCommand() *cobra.Command {
	var f recallFlags
	c := &cobra.Command{
		Use:   "recall --docs D.jsonl --queries Q.jsonl",
		Short: "Measure recall, MRR, nDCG and latency with judged questions",
		Long: `Store documents, one {"id","text","meta"} a line, in a temporary data directory, ask the questions, one
{"id","text","relevant":{id: grade},"meta"} a line, with memory_search, and print how good the answers are: the
means over all questions that have a relevant document, and by meta.category where the questions have one.`,
		Example: `  alcove bench recall --docs turns.jsonl --queries asked.jsonl --group meta.conv --categories 1,2,3,4`,
		Args:    noArguments,
		RunE:    func(c *cobra.Command, _ []string) error { return a.benchRecall(c.Context(), f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.docs, "docs", "", "the documents")
	flags.StringVar(&f.queries, "queries", "", "the questions")
	flags.StringVar(&f.group, "group", "", "a field, such as meta.conv: a question searches only the documents with its value")
	flags.StringSliceVar(&f.categories, "categories", nil, "ask only the questions of these categories (meta.category)")
	flags.StringVar(&f.mode, "mode", "", "the mode of memory_search: hybrid, lexical or semantic")
	f.embedder = a.embedderFromEnvironment()
	embedderFlags(c, &f.embedder, "embedder-")
	flags.Float64Var(&f.embedder.Weight, "weight", 0, "the weight of vectors against words (default .5)")
	flags.Float64Var(&f.embedder.NearWords, "near-words", 0, "the weight of near words of a static model (default 0)")
	flags.StringVar(&f.embedder.QueryPrefix, "query-prefix", "", "the embedder's prefix of questions")
	flags.StringVar(&f.embedder.DocumentPrefix, "document-prefix", "", "the embedder's prefix of documents")
	flags.BoolVar(&f.verbose, "verbose", false, "list the hits of each question")
	return c
}

func (a *app) benchRecall(ctx context.Context, f recallFlags) error {
	docs, err := readLines(f.docs, "--docs", measure.ReadDocuments)
	if err != nil {
		return err
	}
	questions, err := readLines(f.queries, "--queries", measure.ReadQuestions)
	if err != nil {
		return err
	}
	if questions = measure.OfCategories(questions, f.categories); len(questions) == 0 {
		return &usageError{fmt.Errorf("%s has no question to ask: see --categories", f.queries)}
	}
	embedder, err := embedderToServe(f.embedder)
	if err != nil {
		return err
	}
	bar := a.count("measuring", len(docs)+len(questions))
	var report measure.Report
	err = a.throwaway(ctx, func(t *throwaway) error {
		t.embedder = embedder
		return t.open(ctx, func(call measure.Caller) error {
			m := measure.Recall{Documents: docs, Questions: questions, Group: f.group, Now: time.Now, Progress: func(done, _ int) { bar.Set(done) }, Search: map[string]any{}}
			if f.mode != "" {
				m.Search["mode"] = f.mode
			}
			if embedder != nil {
				m.Stored = func() error { return embedded(ctx, call) }
			}
			report, err = m.Run(ctx, call)
			return err
		})
	})
	if err = errors.Join(err, bar.Close()); err != nil {
		return err
	}
	if !f.verbose {
		report.Questions = nil
	}
	return a.printRecall(report)
}

// embedderPatience is how long an embedder may take to give its first vector.
const embedderPatience = 90 * time.Second

// embedded waits until all documents have vectors.
func embedded(ctx context.Context, call measure.Caller) error {
	for start := time.Now(); ; {
		raw, err := call("memory_status", struct{}{})
		if err != nil {
			return err
		}
		var s struct {
			Embedders []struct {
				Waiting int
				Error   string
			}
		}
		if err := json.Unmarshal(raw, &s); err != nil {
			return fmt.Errorf("read the status: %w", err)
		}
		switch {
		case len(s.Embedders) > 0 && s.Embedders[0].Error != "":
			return fmt.Errorf("embed the documents: %s", s.Embedders[0].Error)
		case len(s.Embedders) > 0 && s.Embedders[0].Waiting == 0:
			return nil
		case len(s.Embedders) == 0 && time.Since(start) > embedderPatience:
			return errors.New("the embedder does not answer")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// readLines reads the file of a flag.
func readLines[T any](path, flag string, read func(io.Reader) ([]T, error)) ([]T, error) {
	if path == "" {
		return nil, &usageError{fmt.Errorf("%s FILE is missing", flag)}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, &usageError{err}
	}
	defer f.Close()
	list, err := read(f)
	if err != nil {
		return nil, &usageError{fmt.Errorf("read %s: %w", path, err)}
	}
	return list, nil
}

func (a *app) printRecall(r measure.Report) error {
	if a.asJSON {
		return a.printJSON(r)
	}
	var lines strings.Builder
	row := func(name string, m measure.Metrics) {
		fmt.Fprintf(&lines, "%-12s %9d %9.4f %9.4f %9.4f %9.4f %9.4f\n", name, m.Questions, m.Recall5, m.Recall10, m.Recall20, m.MRR, m.NDCG10)
	}
	fmt.Fprintf(&lines, "%-12s %9s %9s %9s %9s %9s %9s\n", "", "questions", "recall@5", "recall@10", "recall@20", "MRR", "nDCG@10")
	row("all", r.Metrics)
	for _, category := range slices.Sorted(maps.Keys(r.ByCategory)) {
		row("category "+terminal.Line(category).String(), r.ByCategory[category])
	}
	fmt.Fprintf(&lines, "%d documents; a search takes %s\n", r.Documents, latency(r.Latency))
	for _, q := range r.Questions {
		fmt.Fprintf(&lines, "%s: %s\n", terminal.Line(q.ID), terminal.Line(strings.Join(q.Hits, " ")))
	}
	return a.printf("%s", terminal.Lines(lines.String()))
}

func latency(l measure.Latency) string {
	return fmt.Sprintf("%.3g ms (half of them at most %.3g, 99%% at most %.3g)", l.Mean, l.P50, l.P99)
}

// throwaway is a temporary data directory.
type throwaway struct {
	app      *app
	dir      string
	embedder *operator.EmbedderConfig // nil: none
}

func (a *app) throwaway(ctx context.Context, use func(*throwaway) error) (err error) {
	dir, err := os.MkdirTemp("", "alcove-bench-")
	if err != nil {
		return fmt.Errorf("make a temporary data directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return use(&throwaway{app: a, dir: filepath.Join(dir, "data")})
}

// open owns the directory for as long as use takes, which calls tools as MCP clients do.
func (t *throwaway) open(ctx context.Context, use func(measure.Caller) error) (err error) {
	logger := slog.New(slog.NewTextHandler(t.app.err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	h, err := host.Open(ctx, host.Options{Dir: t.dir, Version: versionText(), Logger: logger, Embedder: t.embedder})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c, err := newSession(ctx, bridge.Connect(ctx, func(ctx context.Context, _ bridge.SessionState) (io.ReadWriteCloser, error) {
		return h.Dial(ctx, owner.Hello{Agent: "bench"}), nil
	}))
	if err != nil {
		return err
	}
	defer c.Close()
	return use(func(tool string, arguments any) (json.RawMessage, error) {
		r, err := c.Call(ctx, tool, arguments)
		return r.Structured, err
	})
}
