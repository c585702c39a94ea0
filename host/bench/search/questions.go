package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/bench/scale"
)

// asked is a program that is asked, with its copy of the data.
type asked struct {
	path   string
	server *scale.Server
	took   []time.Duration
	before scale.CPU // when questions began to count
}

// again asks programs and Xapian the same questions in turn, over the data of an earlier run with -dir.
func (s *scaled) again(programs string, rounds int) (err error) {
	ctx, n := context.Background(), s.sizes[len(s.sizes)-1]
	if s.dir == "" {
		return errors.New("-questions asks over the data of an earlier run: name its -dir")
	}
	if s.bench.Texts, err = scale.Words(1); err != nil {
		return err
	}
	x, err := newXapian()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.close()) }()
	s.growing, s.built = map[string]growing{"xapian": x}, map[string]*built{"xapian": {}}
	if err := s.openAgain(ctx, x, n); err != nil {
		return err
	}
	var list []*asked
	defer func() {
		for _, a := range list {
			_, stopped := a.server.Stop(ctx)
			err = errors.Join(err, stopped, os.RemoveAll(a.dir(s.dir, slices.Index(list, a))))
		}
	}()
	for i, path := range strings.Split(programs, ",") {
		a := &asked{}
		if a.path, err = filepath.Abs(path); err != nil {
			return err
		}
		if err := os.CopyFS(a.dir(s.dir, i), os.DirFS(filepath.Join(s.dir, "run", "plain"))); err != nil {
			return fmt.Errorf("copy the data: %w", err)
		}
		a.server = scale.NewServer(scale.Program{Path: a.path}, a.dir(s.dir, i))
		list = append(list, a)
		if _, err := a.server.Start(ctx); err != nil {
			return err
		}
	}
	return s.askAll(ctx, n, rounds, x, list)
}

func (a *asked) dir(dir string, i int) string { return filepath.Join(dir, fmt.Sprint("asked", i)) }

// openAgain opens Xapian's index of an earlier run, or makes it.
func (s *scaled) openAgain(ctx context.Context, x *ofXapian, n int) error {
	peers := filepath.Join(s.dir, "peers")
	if err := os.MkdirAll(peers, 0o700); err != nil {
		return err
	}
	x.dir = filepath.Join(peers, "xapian")
	a, err := x.ask(map[string]string{"dir": x.dir})
	if err != nil {
		return err
	}
	s.built["xapian"].texts = a.Hits
	return s.grow(ctx, "xapian", n)
}

// askAll asks in turn, after questions that warm, and prints the figures.
func (s *scaled) askAll(ctx context.Context, n, rounds int, x *ofXapian, list []*asked) error {
	var took []time.Duration
	used := time.Duration(0)
	for i := range rounds + warming {
		if i == warming {
			took, used = nil, x.used
			for _, a := range list {
				if err := a.begin(); err != nil {
					return err
				}
			}
		}
		text, err := scale.Question(s.bench.Texts, n, i, 2, 5)
		if err != nil {
			return err
		}
		for j := range list {
			a := list[(i+j)%len(list)]
			_, d, err := a.server.Call(ctx, "memory_search", map[string]any{"query": text, "k": 10})
			if err != nil {
				return fmt.Errorf("ask %s: %w", a.path, err)
			}
			a.took = append(a.took, d)
		}
		if _, err := x.search(text); err != nil {
			return err
		}
		took = append(took, x.latest)
	}
	p50, p99 := percentiles(took)
	each := (x.used - used) / time.Duration(rounds)
	rows := [][]string{{"", "p50", "p99", "of Xapian's p50", "CPU", "of Xapian's", "server's", "client's", "anonymous"}}
	rows = append(rows, []string{"Xapian", milliseconds(p50), milliseconds(p99), "", milliseconds(each), "", "", "", ""})
	for _, a := range list {
		row, err := a.row(rounds, p50, each)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	table(rows)
	return nil
}

func (a *asked) begin() (err error) {
	a.took = nil
	a.before, err = a.server.CPU()
	return err
}

func (a *asked) row(rounds int, xapian, xapianCPU time.Duration) ([]string, error) {
	now, err := a.server.CPU()
	if err != nil {
		return nil, err
	}
	m, err := a.server.Memory()
	if err != nil {
		return nil, err
	}
	server, client := (now.Server-a.before.Server)/time.Duration(rounds), (now.Client-a.before.Client)/time.Duration(rounds)
	p50, p99 := percentiles(a.took)
	return []string{filepath.Base(a.path), milliseconds(p50), milliseconds(p99), fmt.Sprintf("%.2f", float64(p50)/float64(xapian)), milliseconds(server + client),
		fmt.Sprintf("%.2f", float64(server+client)/float64(xapianCPU)), milliseconds(server), milliseconds(client), fmt.Sprintf("%.0f MB", float64(m.Anonymous)/1e6)}, nil
}
