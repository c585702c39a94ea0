package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"time"
)

// measureFamilies measures what families add: a store with a store hook, a search with a rank hook, and a tool of a sample family beside the
// core tool that does the same. What a build cannot do is noted, with its reason.
func (s *server) measureFamilies(ctx context.Context, call caller, calls int, module string, m measurement) error {
	for _, part := range []struct {
		name    string
		measure func() error
	}{
		{storeHooked, func() error { return s.measureStoreHook(ctx, call, calls, m.figures) }},
		{searchHooked, func() error { return s.measureRankHook(ctx, call, calls, m.figures) }},
		{factStored, func() error { return s.measureFacts(ctx, call, calls, module, m.figures) }},
	} {
		if err := part.measure(); ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			m.missing[part.name] = err.Error()
		}
	}
	return nil
}

// The figures of families.
const (
	storeHooked  = "store with a store hook"
	searchHooked = "search with a rank hook"
	factStored   = "memory_keep_fact"
)

// family runs an operator's command on the data directory.
func (s *server) family(ctx context.Context, arguments ...string) error {
	out, err := exec.CommandContext(ctx, s.binary, append(append([]string{"family"}, arguments...), "--data", s.dir)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("family %s: %w: %.300s", arguments[0], err, out)
	}
	return nil
}

// patience is how long a hook may take to load, on a busy machine with an empty cache of compiled modules.
const patience = 2 * time.Minute

// load calls a family's tool until it answers: compiling its module may take longer than allowed on a busy machine.
func (s *server) load(ctx context.Context, call caller, tool string, arguments map[string]any) error {
	for until := time.Now().Add(patience); ; time.Sleep(time.Second) {
		if _, err := s.one(call, tool, arguments); err == nil || ctx.Err() != nil || time.Now().After(until) {
			return err
		}
	}
}

// eventually repeats a call until its answer shows that a hook acts.
func eventually(ctx context.Context, acts func(answer []byte) bool, ask func() ([]byte, error)) error {
	for until := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		answer, err := ask()
		if err != nil || acts(answer) {
			return err
		}
		if ctx.Err() != nil || time.Now().After(until) {
			return fmt.Errorf("no answer shows the hook after %v: the last is %.300s", patience, answer)
		}
	}
}

func note(prefix string, n int) map[string]any {
	return map[string]any{"key": fmt.Sprintf("%s/note-%d", prefix, n), "value": fmt.Sprintf("Note %d: tea grows in rows on hill %d, and the %s pot holds it.", n, n%17, prefix)}
}

// measureStoreHook measures stores that auto-tag takes part in.
func (s *server) measureStoreHook(ctx context.Context, call caller, calls int, f figures) error {
	if err := s.family(ctx, "grant", "auto-tag", "--hook", "store"); err != nil {
		return err
	}
	n := 0
	tagged := func() ([]byte, error) {
		n++
		if _, err := s.one(call, "memory_store", note("hooked", -n)); err != nil {
			return nil, err
		}
		return s.one(call, "memory_recall", map[string]any{"key": fmt.Sprintf("hooked/note-%d", -n)})
	}
	if err := eventually(ctx, func(answer []byte) bool { return bytes.Contains(answer, []byte("auto_tag")) }, tagged); err != nil {
		return err
	}
	err := s.timed(storeHooked, calls, f, func(n int) error {
		_, err := s.one(call, "memory_store", note("hooked", n))
		return err
	})
	if err != nil {
		return err
	}
	return s.family(ctx, "revoke", "auto-tag", "store")
}

// score is the first hit's in an answer.
var score = regexp.MustCompile(`"score":[0-9.e-]+`)

// measureRankHook measures searches whose order ranking decides.
func (s *server) measureRankHook(ctx context.Context, call caller, calls int, f figures) error {
	ask := func(n int) ([]byte, error) {
		return s.one(call, "memory_search", map[string]any{"query": fmt.Sprintf("which tea grows on hill %d", n%17)})
	}
	before, err := ask(0)
	if err != nil {
		return err
	}
	if err := s.family(ctx, "grant", "ranking", "--hook", "rank"); err != nil {
		return err
	}
	if err := s.load(ctx, call, "memory_explain_ranking", map[string]any{"query": "tea"}); err != nil {
		return err
	}
	ranked := func(answer []byte) bool { return !bytes.Equal(score.Find(answer), score.Find(before)) }
	if err := eventually(ctx, ranked, func() ([]byte, error) { return ask(0) }); err != nil {
		return err
	}
	err = s.timed(searchHooked, calls, f, func(n int) error {
		_, err := ask(n)
		return err
	})
	if err != nil {
		return err
	}
	return s.family(ctx, "revoke", "ranking", "rank")
}

// measureFacts measures a family's tool that stores one checked memory beside memory_store: first in turns, then each alone.
func (s *server) measureFacts(ctx context.Context, call caller, calls int, module string, f figures) error {
	if module == "" {
		return fmt.Errorf("no module was named: -family bin/facts.wasm, which make bench-pairs builds")
	}
	if err := s.family(ctx, "install", module); err != nil {
		return err
	}
	if err := s.family(ctx, "grant", "kept-facts", "--all"); err != nil {
		return err
	}
	plain := func(n int) error {
		memory := note("plain", n)
		memory["type"], memory["importance"], memory["tags"] = "decision", 0.8, []string{"tea", fmt.Sprint("hill", n%17)}
		_, err := s.one(call, "memory_store", memory)
		return err
	}
	fact := func(n int) error {
		memory := note("fact", n)
		_, err := s.one(call, "memory_keep_fact", map[string]any{"key": memory["key"], "content": memory["value"], "fact_type": "decision", "tags": []string{"tea", fmt.Sprint("hill", n%17)}})
		return err
	}
	if err := s.load(ctx, call, "memory_keep_fact", map[string]any{"key": "first", "content": "tea"}); err != nil {
		return err
	}
	var took [2][]float64
	for n := range calls {
		for i := range 2 {
			which := (i + n) % 2 // neither always comes first
			began := time.Now()
			if err := []func(int) error{plain, fact}[which](n); err != nil {
				return err
			}
			took[which] = append(took[which], ms(time.Since(began)))
		}
	}
	f[factStored+", p50 (ms)"] = median(took[1])
	f[factStored+" / memory_store, p50"] = median(took[1]) / median(took[0])
	alone := [2]figures{{}, {}}
	for i, store := range []func(int) error{plain, fact} {
		if err := s.timed("", calls, alone[i], func(n int) error { return store(calls + n) }); err != nil {
			return err
		}
	}
	const cpu = ", CPU of the server (ms)"
	f[factStored+cpu] = alone[1][cpu]
	f[factStored+" / memory_store, CPU"] = alone[1][cpu] / alone[0][cpu]
	return nil
}

// timed makes calls of one kind, and notes the median latency and the server's CPU time of one.
func (s *server) timed(name string, calls int, f figures, do func(n int) error) error {
	used, err := s.cpu()
	if err != nil {
		return err
	}
	var took []float64
	for n := range calls {
		began := time.Now()
		if err := do(n); err != nil {
			return err
		}
		took = append(took, ms(time.Since(began)))
	}
	now, err := s.cpu()
	f[name+", p50 (ms)"] = median(took)
	f[name+", CPU of the server (ms)"] = ms(now-used) / float64(calls)
	return err
}
