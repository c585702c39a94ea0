package scale

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	starts  = 3 // of each kind
	forks   = 5
	changed = 1000 // memories stored before a kill, and before an incremental backup
	most    = 10   // results of a call
)

// examinesFor is how long a server may take to examine its database.
const examinesFor = 2 * time.Minute

// slowStart is after how long of starts no other follows: some more would say no more.
const slowStart = 10 * time.Second

// step is a part of the measures.
type step struct {
	part, doing string // part: "" is never left out
	do          func(context.Context, *Server, *Size) error
}

// measure measures a store that has its size. The server runs before and after it.
func (r *run) measure(ctx context.Context, s *Server, size *Size) error {
	steps := []step{
		{"", "waiting for the index", func(ctx context.Context, s *Server, _ *Size) error { return awaitIndex(ctx, s) }},
		{"", "saving", r.sizes},
		{"start", "starting", r.starts},
		{"calls", "calling", r.calls},
		{"calls", "forking", r.forks},
		{"backup", "backing up", r.backup},
		{"verify", "verifying", r.verify},
		{"conversations", "storing turns", r.conversations},
		{"", "comparing", func(ctx context.Context, s *Server, size *Size) error {
			if r.Measured == nil {
				return nil
			}
			return r.Measured(ctx, size, s)
		}},
	}
	for _, step := range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if step.part != "" && r.skips(step.part) {
			continue
		}
		r.doing = step.doing + " at " + Thousands(size.N)
		r.worked(0)
		if err := step.do(ctx, s, size); err != nil {
			return fmt.Errorf("%s: %w", r.doing, err)
		}
		r.worked((size.N/5 + workOfParts) / len(steps))
	}
	return nil
}

// awaitIndex waits until nothing is left to index or embed.
func awaitIndex(ctx context.Context, s *Server) error {
	for {
		raw, _, err := s.Call(ctx, "memory_status", struct{}{})
		if err != nil {
			return err
		}
		var v struct {
			Health    string
			Embedders []struct{ Waiting int }
		}
		if err := json.Unmarshal(raw, &v); err != nil {
			return fmt.Errorf("read the status: %w", err)
		}
		if v.Health != "indexing" && (len(v.Embedders) == 0 || v.Embedders[0].Waiting == 0) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// sizes measures the files after a clean stop, when all is saved.
func (r *run) sizes(ctx context.Context, s *Server, size *Size) error {
	if _, err := s.Stop(ctx); err != nil {
		return err
	}
	g := r.state.Stored[plain]
	size.Store.Seconds = rounded(g.Marks[size.N])
	size.Store.PerSecond, size.Store.LastTenth = g.rates(size.N)
	files, err := filesOf(s.dir)
	if err != nil {
		return err
	}
	files.Text = g.TextBytes
	files.Ratio = rounded(float64(files.Database+files.Index) / float64(files.Text))
	size.Bytes = files
	_, err = s.Start(ctx)
	return err
}

// filesOf are the sizes of the folders that the index is kept in, and of all else, which is the database but for some logs.
func filesOf(dir string) (b Bytes, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if strings.HasPrefix(name, "blobs") || strings.HasPrefix(name, "index") {
			b.Index += info.Size()
		} else {
			b.Database += info.Size()
		}
		return err
	})
	return b, err
}

func (r *run) starts(ctx context.Context, s *Server, size *Size) error {
	var clean, first, stop, list, killed, killedFirst []time.Duration
	for i := range starts {
		took, err := s.Stop(ctx)
		if err != nil {
			return err
		}
		stop = append(stop, took)
		if err := r.start(ctx, s, size.N, i, &clean, &first); err != nil {
			return err
		}
		if _, took, err = s.Call(ctx, "memory_search", list10()); err != nil {
			return err
		}
		list = append(list, took)
		if slow(clean, first) {
			break
		}
	}
	for i := range starts {
		if err := examined(ctx, s); err != nil {
			return err
		}
		if err := r.change(ctx, s, size.N, i); err != nil {
			return err
		}
		if err := s.Kill(); err != nil {
			return err
		}
		if err := r.start(ctx, s, size.N, starts+i, &killed, &killedFirst); err != nil {
			return err
		}
		if slow(killed, killedFirst) {
			break
		}
	}
	size.Start = &Start{median(clean), median(first), median(list), median(killed), median(killedFirst), median(stop)}
	return nil
}

// examined waits until the server has examined its database, after which it keeps a record for a start after a kill. Where it keeps none,
// as on a network file system, the wait ends.
func examined(ctx context.Context, s *Server) error {
	for end := time.Now().Add(examinesFor); time.Now().Before(end); {
		if records, err := filepath.Glob(filepath.Join(s.dir, "*.running")); err != nil || len(records) > 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return nil
}

func slow(lists ...[]time.Duration) bool {
	all := time.Duration(0)
	for _, list := range lists {
		for _, d := range list {
			all += d
		}
	}
	return all > slowStart
}

// start starts a server, whose files are in the page cache, and asks its first question.
func (r *run) start(ctx context.Context, s *Server, n, number int, start, first *[]time.Duration) error {
	if err := warm(s.dir); err != nil {
		return err
	}
	took, err := s.Start(ctx)
	if err != nil {
		return err
	}
	*start = append(*start, took)
	arguments, err := r.ask(n, number)
	if err != nil {
		return err
	}
	_, took, err = s.Call(ctx, "memory_search", arguments)
	*first = append(*first, took)
	return err
}

// warm reads all files of a directory. Some systems take pages from the cache within seconds of their last use, and starts would measure the
// disk.
func warm(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(io.Discard, f)
		return err
	})
}

func list10() map[string]any { return map[string]any{"order": "newest", "k": most} }

// ask is a question.
func (r *run) ask(n, number int) (map[string]any, error) {
	text, err := Question(r.Texts, n, number, 2, 5)
	return map[string]any{"query": text, "k": most}, err
}

// change stores memories that are not of the texts' number, in a namespace of their own.
func (r *run) change(ctx context.Context, s *Server, n, number int) error {
	for from := 0; from < changed; from += r.Batch {
		var items []map[string]any
		for i := from; i < min(from+r.Batch, changed); i++ {
			text, err := r.Texts.Text(i % n)
			if err != nil {
				return err
			}
			items = append(items, map[string]any{"key": Key(i), "value": fmt.Sprintf("%s %d %d", text, n, number)})
		}
		if _, _, err := s.Call(ctx, "memory_store", map[string]any{"items": items, "namespace": "changed"}); err != nil {
			return r.notStored(from, from+len(items), err)
		}
	}
	return nil
}

// calls makes calls of each kind in turn, so that the machine's pace is the same for all.
func (r *run) calls(ctx context.Context, s *Server, size *Size) error {
	version, err := versionOf(ctx, s, size.N/2)
	if err != nil {
		return err
	}
	name, err := r.side(ctx, s, size.N)
	if err != nil {
		return err
	}
	took := map[string][]time.Duration{}
	for i := range r.Calls {
		list, err := r.round(size.N, i, version, name)
		if err != nil {
			return err
		}
		for kind, c := range list {
			_, d, err := s.Call(ctx, c.tool, c.arguments)
			if err != nil {
				return fmt.Errorf("%s: %w", kindLabel(kind), err)
			}
			took[kind] = append(took[kind], d)
		}
		r.worked(0)
	}
	size.Calls = map[string]Latency{}
	for kind, list := range took {
		size.Calls[kind] = LatencyOf(list)
	}
	pid, err := s.pid()
	if err != nil {
		return err
	}
	if size.Memory, err = memoryOf(pid); err != nil {
		size.Unmeasured = err.Error()
	}
	return nil
}

type call struct {
	tool      string
	arguments map[string]any
}

// round is a call of each kind. Those that ask have the same question.
func (r *run) round(n, i int, version, name string) (map[string]call, error) {
	asked, err := r.ask(n, i)
	if err != nil {
		return nil, err
	}
	word, err := Question(r.Texts, n, i, 1, 1)
	if err != nil {
		return nil, err
	}
	with := func(member string, value any) call {
		return call{"memory_search", map[string]any{"query": asked["query"], "k": most, member: value}}
	}
	at := rand.New(rand.NewPCG(uint64(n), uint64(i))).IntN(n)
	return map[string]call{
		question: {"memory_search", asked}, term: {"memory_search", map[string]any{"query": word, "k": most}},
		tagTenth: with("tags", []string{tenth}), tagHundredth: with("tags", []string{hundredth}), tagThousandth: with("tags", []string{thousandth}),
		newest: {"memory_search", list10()}, past: with("as_of", version), branch: with("branch", name),
		get:     {"memory_recall", map[string]any{"key": Key(at), "namespace": namespace(at)}},
		history: {"memory_history", map[string]any{"key": Key(at), "namespace": namespace(at)}},
		status:  {"memory_status", map[string]any{}},
	}, nil
}

// versionOf is the version of a memory, as as_of takes it.
func versionOf(ctx context.Context, s *Server, i int) (string, error) {
	raw, _, err := s.Call(ctx, "memory_history", map[string]any{"key": Key(i), "namespace": namespace(i)})
	if err != nil {
		return "", err
	}
	var v struct{ Versions []struct{ Version uint64 } }
	if err := json.Unmarshal(raw, &v); err != nil || len(v.Versions) == 0 {
		return "", errors.Join(fmt.Errorf("read the history of %s: %.200s", Key(i), raw), err)
	}
	return fmt.Sprint("v", v.Versions[0].Version), nil
}

// side makes a branch with changes of its own.
func (r *run) side(ctx context.Context, s *Server, n int) (string, error) {
	name := fmt.Sprintf("side-%d-%d", n, time.Now().UnixNano())
	if _, _, err := s.Call(ctx, "memory_branch", map[string]any{"action": "fork", "name": name}); err != nil {
		return "", err
	}
	var items []map[string]any
	for i := range min(r.Batch, n) {
		items = append(items, map[string]any{"key": Key(i), "value": fmt.Sprintf("memory %d is another on this branch", i)})
	}
	_, _, err := s.Call(ctx, "memory_store", map[string]any{"items": items, "namespace": namespace(0), "branch": name})
	return name, err
}

func (r *run) forks(ctx context.Context, s *Server, size *Size) error {
	var list []time.Duration
	for i := range forks {
		name := fmt.Sprintf("fork-%d-%d-%d", size.N, time.Now().UnixNano(), i)
		_, took, err := s.Call(ctx, "memory_branch", map[string]any{"action": "fork", "name": name})
		if err != nil {
			return err
		}
		list = append(list, took)
		if _, _, err := s.Call(ctx, "memory_branch", map[string]any{"action": "delete", "name": name}); err != nil {
			return err
		}
	}
	size.Fork = median(list)
	return nil
}

func (r *run) backup(ctx context.Context, s *Server, size *Size) (err error) {
	to := filepath.Join(r.Dir, "backup")
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(to)) }()
	full, err := s.run(ctx, "backup", to)
	if err != nil {
		return err
	}
	bytes, err := bytesIn(to)
	if err != nil {
		return err
	}
	if err := r.change(ctx, s, size.N, 2*starts); err != nil {
		return err
	}
	more, err := s.run(ctx, "backup", to, "--incremental")
	if err != nil {
		return err
	}
	all, err := bytesIn(to)
	if err != nil {
		return err
	}
	size.Backup = &Backup{
		Full: milliseconds(full), FullRate: rate(size.Bytes.Database, full), Bytes: bytes,
		Changed: changed, Incremental: milliseconds(more), IncrementalBytes: all - bytes, IncrementalRate: rate(all-bytes, more),
	}
	return nil
}

func (r *run) verify(ctx context.Context, s *Server, size *Size) error {
	took, err := s.run(ctx, "verify")
	if err != nil {
		return err
	}
	size.Verify = &Verify{milliseconds(took), rate(size.Bytes.Database+size.Bytes.Index, took)}
	return nil
}

// rate is in MB a second.
func rate(bytes int64, took time.Duration) float64 {
	return rounded(float64(bytes) / 1e6 / took.Seconds())
}

func bytesIn(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}

// conversations asks the same questions of as many turns, and of the texts, in turn.
func (r *run) conversations(ctx context.Context, s *Server, size *Size) (err error) {
	if have := r.state.Stored[turns].Memories; have > size.N {
		return fmt.Errorf("the store of turns has %s already: choose another --dir", Thousands(have))
	}
	t := NewServer(r.Program, filepath.Join(r.Dir, turns))
	defer func() { _, stopped := t.Stop(ctx); err = errors.Join(err, stopped) }()
	if _, err := t.Start(ctx); err != nil {
		return err
	}
	if err := r.grow(ctx, turns, t, size.N, turn); err != nil {
		return err
	}
	if err := awaitIndex(ctx, t); err != nil {
		return err
	}
	took := map[*Server][]time.Duration{}
	for i := range r.Calls {
		arguments, err := r.ask(size.N, i)
		if err != nil {
			return err
		}
		for _, server := range []*Server{s, t} {
			_, d, err := server.Call(ctx, "memory_search", arguments)
			if err != nil {
				return err
			}
			took[server] = append(took[server], d)
		}
	}
	c := Conversations{Turns: LatencyOf(took[t]), Plain: LatencyOf(took[s])}
	c.Ratio = rounded(c.Turns.P50 / c.Plain.P50)
	size.Conversations = &c
	return nil
}
