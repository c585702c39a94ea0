package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/tool/tokens"
)

// result is what one server was measured to do. Nil: it could not.
type result struct {
	Name      string         `json:"name"`
	Version   string         `json:"version"`
	Start     *float64       `json:"initialize_ms"`   // median, from the start of the process in an empty directory
	First     *float64       `json:"first_answer_ms"` // likewise, to the answer of the first store
	Tools     int            `json:"tools"`
	Tokens    int            `json:"tokens"` // of tools/list
	Store     *float64       `json:"store_p50_ms"`
	Search    *float64       `json:"search_p50_ms"`
	Found     map[string]int `json:"found"` // questions with their answer among the first five, by kind
	Together  *writes        `json:"two_processes"`
	Killed    *writes        `json:"killed"`
	Complaint []string       `json:"complaints,omitempty"` // why something could not be measured

	starts, firsts []float64
}

// writes are stores, and what became of them.
type writes struct {
	Acknowledged int `json:"acknowledged"`
	Refused      int `json:"refused"` // answered by an error
	Lost         int `json:"lost"`    // acknowledged, and not found afterwards
	Rounds       int `json:"rounds"`
	// The first of each, as the server said it.
	Refusal string `json:"refusal,omitempty"`
	Failure string `json:"failure,omitempty"`
}

// sizes are how much is measured.
type sizes struct {
	Starts   int `json:"starts"`
	Stores   int `json:"stores"`
	Pairs    int `json:"pairs_of_processes"`
	Together int `json:"stores_of_each_process"`
	Kills    int `json:"kills"`
	Before   int `json:"stores_before_a_kill"` // at least
}

// bench measures servers.
type bench struct {
	sizes
	dir    string // of all data
	random *rand.Rand
	log    func(format string, args ...any)
	dirs   int
}

// measure measures all servers: starts in turn, so that a busy moment of the machine touches all of them.
func (b *bench) measure(ctx context.Context, all []peer) ([]*result, error) {
	var list []*result
	for _, p := range all {
		list = append(list, &result{Name: p.name})
	}
	for range b.Starts {
		for i, p := range all {
			b.try(list[i], "start", func() error { return b.start(ctx, p, list[i]) })
		}
	}
	for i, p := range all {
		r := list[i]
		b.log("measure %s", p.name)
		r.Start, r.First = median(r.starts), median(r.firsts)
		b.try(r, "tools/list", func() error { return b.tools(ctx, p, r) })
		b.try(r, "recall", func() error { return b.recall(ctx, p, r) })
		b.try(r, "stores", func() error { return b.speed(ctx, p, r) })
		b.try(r, "two processes", func() error { return b.together(ctx, p, r) })
		b.try(r, "kill", func() error { return b.kills(ctx, p, r) })
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// try notes why something could not be measured.
func (b *bench) try(r *result, what string, do func() error) {
	if err := do(); err != nil {
		r.Complaint = append(r.Complaint, fmt.Sprintf("%s: %v", what, err))
		b.log("%s: %s: %v", r.Name, what, err)
	}
}

// open makes a data directory, which done ends.
func (b *bench) open(p peer) (dir string, done func(), err error) {
	b.dirs++
	dir = filepath.Join(b.dir, fmt.Sprint(b.dirs))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", nil, err
	}
	return dir, func() {
		if p.end != nil {
			if err := p.end(dir); err != nil {
				b.log("%v", err)
			}
		}
	}, nil
}

func (b *bench) session(ctx context.Context, p peer, dir string) (*session, error) {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.dir, "TMPDIR=" + os.TempDir()}
	return start(ctx, p.line, append(env, p.env(dir)...))
}

// in runs with a session in a new data directory.
func (b *bench) in(ctx context.Context, p peer, do func(s *session, dir string) error) error {
	dir, done, err := b.open(p)
	if err != nil {
		return err
	}
	defer done()
	s, err := b.session(ctx, p, dir)
	if err != nil {
		return err
	}
	defer s.close()
	return do(s, dir)
}

func (b *bench) start(ctx context.Context, p peer, r *result) error {
	began := time.Now()
	return b.in(ctx, p, func(s *session, _ string) error {
		initialized := time.Since(began)
		if _, err := s.call(p.store("memory-1", "The first memory")); err != nil {
			return err
		}
		r.starts, r.firsts = append(r.starts, milliseconds(initialized)), append(r.firsts, milliseconds(time.Since(began)))
		r.Version = s.version
		return nil
	})
}

func (b *bench) tools(ctx context.Context, p peer, r *result) error {
	vocabulary, err := tokens.Load()
	if err != nil {
		return err
	}
	return b.in(ctx, p, func(s *session, _ string) error {
		answer, err := s.request("tools/list", map[string]any{})
		if err != nil {
			return err
		}
		var list struct{ Tools []json.RawMessage }
		if err := json.Unmarshal(answer, &list); err != nil {
			return err
		}
		r.Tools = len(list.Tools)
		for _, tool := range list.Tools {
			r.Tokens += vocabulary.Count(string(tool))
		}
		return nil
	})
}

func (b *bench) recall(ctx context.Context, p peer, r *result) error {
	memories, questions, err := labelled()
	if err != nil {
		return err
	}
	return b.in(ctx, p, func(s *session, _ string) error {
		for _, m := range memories {
			if _, err := s.call(p.store(m.Key, m.Text)); err != nil {
				return err
			}
		}
		r.Found = map[string]int{}
		for _, q := range questions {
			answer, err := s.call(p.search(q.Question))
			if err != nil {
				return err
			}
			keys := found(answer)
			if slices.Contains(keys[:min(hits, len(keys))], q.Answer) {
				r.Found[q.Kind]++
			}
		}
		return nil
	})
}

func (b *bench) speed(ctx context.Context, p peer, r *result) error {
	memories, questions, err := labelled()
	if err != nil {
		return err
	}
	return b.in(ctx, p, func(s *session, _ string) error {
		var stores, searches []float64
		for i := range b.Stores {
			m := memories[i%len(memories)]
			began := time.Now()
			if _, err := s.call(p.store(fmt.Sprintf("memory-%d", i), fmt.Sprintf("%s (%d)", m.Text, i))); err != nil {
				return err
			}
			stores = append(stores, milliseconds(time.Since(began)))
		}
		for _, q := range questions {
			began := time.Now()
			if _, err := s.call(p.search(q.Question)); err != nil {
				return err
			}
			searches = append(searches, milliseconds(time.Since(began)))
		}
		r.Store, r.Search = median(stores), median(searches)
		return nil
	})
}

// together has two processes store at once in one data directory, as two clients of one user do.
func (b *bench) together(ctx context.Context, p peer, r *result) error {
	w := &writes{Rounds: b.Pairs}
	for range b.Pairs {
		if err := b.pair(ctx, p, w); err != nil {
			return err
		}
	}
	r.Together = w
	return nil
}

func (b *bench) pair(ctx context.Context, p peer, w *writes) error {
	dir, done, err := b.open(p)
	if err != nil {
		return err
	}
	defer done()
	var (
		group    sync.WaitGroup
		sessions [2]*session
		each     [2]noted
		fails    [2]error
	)
	for i := range sessions {
		if sessions[i], err = b.session(ctx, p, dir); err != nil {
			return err
		}
	}
	for i, name := range []string{"a", "b"} {
		group.Go(func() {
			defer sessions[i].close() // what it holds, no check shall wait for
			fails[i] = each[i].store(sessions[i], p, name, b.Together)
		})
	}
	group.Wait()
	if err := errors.Join(fails[:]...); err != nil {
		return err
	}
	return errors.Join(b.check(ctx, p, dir, each[0], w), b.check(ctx, p, dir, each[1], w))
}

// noted are stores that were answered.
type noted struct {
	acknowledged []string // their numbers
	refused      int
	refusal      string // the first
}

// store stores memories, each with a word of its own.
func (n *noted) store(s *session, p peer, name string, count int) error {
	for i := range count {
		number := fmt.Sprintf("%s%04d", name, i)
		_, err := s.call(p.store("memory-"+number, "The note says zebra"+number+" and nothing else."))
		if errors.As(err, new(refused)) {
			n.refused++
			n.refusal = cmp.Or(n.refusal, err.Error())
			continue
		}
		if err != nil {
			return err
		}
		n.acknowledged = append(n.acknowledged, number)
	}
	return nil
}

// check counts the acknowledged stores that a new process does not find.
func (b *bench) check(ctx context.Context, p peer, dir string, n noted, w *writes) error {
	w.Acknowledged += len(n.acknowledged)
	w.Refused += n.refused
	w.Refusal = cmp.Or(w.Refusal, n.refusal)
	s, err := b.session(ctx, p, dir)
	if err != nil {
		w.Lost += len(n.acknowledged) // it does not even start with what is left
		w.Failure = cmp.Or(w.Failure, err.Error())
		return nil
	}
	defer s.close()
	for i, number := range n.acknowledged {
		answer, err := s.call(p.search("zebra" + number))
		if err != nil {
			w.Failure = cmp.Or(w.Failure, err.Error())
		}
		if err != nil && !errors.As(err, new(refused)) {
			w.Lost += len(n.acknowledged) - i
			return nil
		}
		if !slices.Contains(found(answer), "memory-"+number) {
			w.Lost++
		}
	}
	return nil
}

// kills ends the process with the data while it stores, by SIGKILL, again and again.
func (b *bench) kills(ctx context.Context, p peer, r *result) error {
	w := &writes{Rounds: b.Kills}
	for range b.Kills {
		if err := b.killed(ctx, p, w); err != nil {
			return err
		}
	}
	r.Killed = w
	return nil
}

func (b *bench) killed(ctx context.Context, p peer, w *writes) error {
	dir, done, err := b.open(p)
	if err != nil {
		return err
	}
	defer done()
	s, err := b.session(ctx, p, dir)
	if err != nil {
		return err
	}
	var n noted
	if err := n.store(s, p, "k", b.Before); err != nil {
		return errors.Join(err, s.kill())
	}
	victim := s.cmd.Process
	if p.owner != nil {
		pid, err := p.owner(dir)
		if err != nil {
			return errors.Join(err, s.kill())
		}
		if victim, err = os.FindProcess(pid); err != nil {
			return err
		}
	}
	// During a store, or between two. The child goes with it, so that no client's second try helps.
	killer := time.AfterFunc(time.Duration(b.random.Int64N(int64(20*time.Millisecond))), func() { victim.Kill(); s.cmd.Process.Kill() })
	defer killer.Stop()
	n.store(s, p, "l", 1_000_000) // until the server is gone
	s.cmd.Wait()
	return b.check(ctx, p, dir, n, w)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// median of none is nil.
func median(values []float64) *float64 {
	if len(values) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(values))
	return &sorted[len(sorted)/2]
}
