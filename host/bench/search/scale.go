package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/bench/scale"
)

// scaled is a run at growing sizes, with the program as a client has it and libraries beside it.
type scaled struct {
	sizes                            []int
	program, dir, json, chart, table string
	resume                           bool
	skip, programs                   string
	rounds                           int
	growing                          map[string]growing
	built                            map[string]*built
	bench                            scale.Bench
}

// growing is a library whose index is kept between sizes.
type growing interface {
	library
	open(dir string) error
	add(texts []string) error
}

// built is how far a library's index is.
type built struct {
	texts int
	took  time.Duration
}

func scaleFlags() *scaled {
	s := &scaled{}
	flag.Func("scale", "measure the program and the libraries at these numbers of memories, with commas between them", func(list string) error {
		for _, text := range strings.Split(list, ",") {
			n, err := strconv.Atoi(text)
			if err != nil {
				return err
			}
			s.sizes = append(s.sizes, n)
		}
		return nil
	})
	flag.StringVar(&s.program, "program", "../../../bin/alcove", "with -scale, the program")
	flag.StringVar(&s.dir, "dir", "", "with -scale, the directory of the data, which stays (default: a temporary one)")
	flag.StringVar(&s.programs, "questions", "", "with -scale and the -dir of an earlier run, only ask these programs, with commas between them, and Xapian")
	flag.IntVar(&s.rounds, "rounds", 1000, "with -questions, how many")
	flag.BoolVar(&s.resume, "resume", false, "with -scale, go on with the run in -dir")
	flag.StringVar(&s.skip, "skip", "", "with -scale, what to leave out: parts of alcove bench scale, xapian or bleve, with commas between them")
	flag.StringVar(&s.json, "json", "", "with -scale, a file for the measures")
	flag.StringVar(&s.chart, "chart", "", "with -scale, a file for the chart")
	flag.StringVar(&s.table, "table", "", "with -scale, a document with marks, between which the table is written")
	return s
}

func (s *scaled) run() (err error) {
	if s.programs != "" {
		return s.again(s.programs, s.rounds)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if s.program, err = filepath.Abs(s.program); err != nil {
		return err
	}
	texts, err := scale.Words(1)
	if err != nil {
		return err
	}
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp("", "scale"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(s.dir)) }()
	}
	if err := s.start(); err != nil {
		return err
	}
	defer func() {
		for _, l := range s.growing {
			err = errors.Join(err, l.close())
		}
	}()
	s.bench = scale.Bench{Program: scale.Program{Path: s.program}, Dir: filepath.Join(s.dir, "run"), Texts: texts, Seed: 1, Batch: 100, Sizes: s.sizes, Resume: s.resume,
		Skip: s.skipped(scale.Parts()), Progress: told(), Measured: s.compare}
	r, err := s.bench.Run(ctx)
	if err != nil {
		return err
	}
	fmt.Println(r.Text())
	return s.write(r)
}

// skipped are those of the names that are left out.
func (s *scaled) skipped(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(strings.Split(s.skip, ","), name) })
}

// start opens the libraries, which begin anew in each run.
func (s *scaled) start() error {
	s.growing, s.built = map[string]growing{}, map[string]*built{}
	if len(s.skipped([]string{"bleve"})) == 0 {
		s.growing["bleve"] = &ofBleve{}
	}
	if len(s.skipped([]string{"xapian"})) == 0 {
		x, err := newXapian()
		if err != nil {
			return err
		}
		s.growing["xapian"] = x
	}
	peers := filepath.Join(s.dir, "peers")
	if err := errors.Join(os.RemoveAll(peers), os.MkdirAll(peers, 0o700)); err != nil {
		return err
	}
	for name, l := range s.growing {
		if err := l.open(peers); err != nil {
			return fmt.Errorf("open %s: %w", name, err)
		}
		s.built[name] = &built{}
	}
	return nil
}

// addedAtOnce is how many texts a library is given at once.
const addedAtOnce = 10_000

// grow adds texts to a library until it has those of a size.
func (s *scaled) grow(ctx context.Context, name string, n int) error {
	l, b := s.growing[name], s.built[name]
	for b.texts < n {
		if err := ctx.Err(); err != nil {
			return err
		}
		list := make([]string, min(addedAtOnce, n-b.texts))
		for i := range list {
			var err error
			if list[i], err = s.bench.Texts.Text(b.texts + i); err != nil {
				return err
			}
		}
		start := time.Now()
		if err := l.add(list); err != nil {
			return fmt.Errorf("add texts to %s: %w", name, err)
		}
		b.took += timeOf(l, start)
		b.texts += len(list)
	}
	return nil
}

// compare asks the program and each library the same questions in turn.
func (s *scaled) compare(ctx context.Context, size *scale.Size, server *scale.Server) error {
	size.Peers = map[string]scale.Peer{}
	for _, name := range slices.Sorted(maps.Keys(s.growing)) {
		if err := s.grow(ctx, name, size.N); err != nil {
			return err
		}
		bytes, err := s.growing[name].bytes()
		if err != nil {
			return err
		}
		size.Peers[name] = scale.Peer{Version: versionOf(s.growing[name]), Build: s.built[name].took.Seconds(), Bytes: bytes}
	}
	if len(size.Peers) == 0 {
		return nil
	}
	size.Peers[scale.Ours] = scale.Peer{Version: "over stdio", Bytes: size.Bytes.Index, Build: size.Store.Seconds}
	size.Peers[scale.OursLexical] = scale.Peer{Version: "over stdio, mode lexical", Bytes: size.Bytes.Index, Build: size.Store.Seconds}
	if err := s.compareBy(ctx, size, server, scale.Ours, map[string]any{}, s.growing); err != nil {
		return err
	}
	return s.compareBy(ctx, size, server, scale.OursLexical, map[string]any{"mode": "lexical"}, nil)
}

// compareBy asks the program, whose figures get a name, with further arguments, and libraries.
func (s *scaled) compareBy(ctx context.Context, size *scale.Size, server *scale.Server, name string, arguments map[string]any, libraries map[string]growing) error {
	before := s.used(server, name)
	took, err := s.ask(ctx, size.N, server, name, arguments, libraries)
	after := s.used(server, name)
	for name, list := range took {
		p := size.Peers[name]
		p.Question = scale.LatencyOf(list)
		p.CPU = (after[name] - before[name]).Seconds() * 1000 / (textQueries + warming)
		size.Peers[name] = p
	}
	return err
}

// used is the processor time of those whose processes do nothing else, where the system tells it. The program's has the given name.
func (s *scaled) used(server *scale.Server, name string) map[string]time.Duration {
	used := map[string]time.Duration{}
	if d, err := server.CPU(); err == nil {
		used[name] = d.Server + d.Client
	}
	if x, ok := s.growing["xapian"].(*ofXapian); ok {
		used["xapian"] = x.used
	}
	return used
}

const warming = 20 // questions that do not count

func (s *scaled) ask(ctx context.Context, n int, server *scale.Server, name string, arguments map[string]any, libraries map[string]growing) (map[string][]time.Duration, error) {
	took := map[string][]time.Duration{}
	for i := range textQueries + warming {
		text, err := scale.Question(s.bench.Texts, n, i, 2, 5)
		if err != nil {
			return nil, err
		}
		arguments["query"], arguments["k"] = text, 10
		_, d, err := server.Call(ctx, "memory_search", arguments)
		if err != nil {
			return nil, err
		}
		round := map[string]time.Duration{name: d}
		for name, l := range libraries {
			start := time.Now()
			if _, err := l.search(text); err != nil {
				return nil, fmt.Errorf("ask %s: %w", name, err)
			}
			round[name] = timeOf(l, start)
		}
		if i < warming {
			continue
		}
		for name, d := range round {
			took[name] = append(took[name], d)
		}
	}
	return took, nil
}

func versionOf(l library) string {
	if x, ok := l.(*ofXapian); ok {
		return x.version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if strings.HasPrefix(m.Path, "github.com/blevesearch/bleve/") {
				return m.Version
			}
		}
	}
	return "unknown"
}

// told tells progress, at most every ten seconds.
func told() func(scale.Progress) {
	var doing string
	var at time.Time
	return func(p scale.Progress) {
		if p.Doing == doing && time.Since(at) < 10*time.Second {
			return
		}
		doing, at = p.Doing, time.Now()
		fmt.Fprintln(os.Stderr, p)
	}
}

func (s *scaled) write(r scale.Report) error {
	raw, err := r.JSON()
	if err != nil {
		return err
	}
	for path, data := range map[string][]byte{s.json: append(raw, '\n'), s.chart: []byte(r.Chart())} {
		if path == "" {
			continue
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return fmt.Errorf("write the measures: %w", err)
		}
	}
	if s.table == "" {
		return nil
	}
	return insert(s.table, r)
}

// What encloses the table in a document.
const begin, end = "<!-- scale -->\n", "<!-- /scale -->\n"

// insert writes the table between the marks of a document.
func insert(path string, r scale.Report) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	before, rest, ok := bytes.Cut(data, []byte(begin))
	_, after, more := bytes.Cut(rest, []byte(end))
	if !ok || !more {
		return errors.New(path + " lacks the marks " + strings.TrimSpace(begin) + " and " + strings.TrimSpace(end))
	}
	text := fmt.Sprintf("%s%s\nMeasured on %s by `make bench-scale` on %s.\n%s", begin, r.Table(), time.Now().UTC().Format("2 January 2006"), r.Machine, end)
	return os.WriteFile(path, slices.Concat(before, []byte(text), after), 0o644)
}
