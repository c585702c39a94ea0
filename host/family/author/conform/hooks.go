package conform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/sandbox"
)

// values returns memories of every form.
func values() []string {
	return []string{
		`null`, `true`, `0`, `-1e308`, `""`, `"tea"`, `"\u0000\ud83d\ude00 \u202e"`, `[]`, `{}`, `[[[[[[[[1]]]]]]]]`, `{"":{"a":[null,1.5]}}`,
		`"` + strings.Repeat("long text ", 6000) + `"`, `{"text":"card 4111 1111 1111 1111, mail ann@example.com"}`,
	}
}

// hooks runs the hooks and jobs.
func (t *test) hooks(ctx context.Context) error {
	t.guests.taken()
	h := t.manifest.Hooks
	if h.Store != nil || h.Stored != nil {
		if err := t.stores(ctx); err != nil {
			return err
		}
	}
	if h.Rank != nil {
		t.rank(ctx, *h.Rank)
	}
	if h.Embed != nil {
		t.embed(ctx, *h.Embed)
	}
	for _, job := range h.Jobs {
		if err := t.job(ctx, job); err != nil {
			return err
		}
	}
	return nil
}

// stores stores memories of every form, and tells the family of them.
func (t *test) stores(ctx context.Context) error {
	c := Check{Name: "answers", Subject: "hooks of stores"}
	for i, value := range values() {
		c.Cases++
		item := memory.Item{Key: fmt.Sprintf("conform/%d", i), Value: json.RawMessage(value), Tags: []string{"tea", "İ"}}
		_, err := t.world.Space.As(tester()).Store(ctx, memory.Location{Branch: memory.Default, Namespace: memory.Default}, []memory.Item{item}, memory.Write{Agent: "conform"})
		var known *memory.Error
		if err != nil && !errors.As(err, &known) {
			return err
		}
		if err := t.world.Families.Step(ctx); err != nil {
			return err
		}
		for _, r := range t.guests.taken() {
			if f := fault(r); f != "" {
				c.problem(value, f)
			}
		}
	}
	t.done(c)
	return nil
}

// rank scores none, one and many candidates, with features of every value.
func (t *test) rank(ctx context.Context, h abi.RankHook) {
	c := Check{Name: "answers", Subject: "hook rank"}
	for _, n := range []int{0, 1, 1000} {
		c.Cases++
		payload, err := t.scoring(h, n)
		if err != nil {
			c.problem(fmt.Sprintf("%d candidates", n), err.Error())
			continue
		}
		if n > 0 {
			t.guests.keep(abi.KindScore, payload) // to be sent damaged, and twice
		}
		if fault := t.scored(ctx, payload, n); fault != "" {
			c.problem(fmt.Sprintf("%d candidates", n), fault)
		}
	}
	t.done(c)
}

// scored says what is wrong with the answer to a request of n candidates.
func (t *test) scored(ctx context.Context, payload []byte, n int) string {
	r, err := t.guests.ask(ctx, sandbox.Request{Kind: abi.KindScore, Payload: payload})
	if err != nil {
		return err.Error()
	}
	if r.Class != abi.ClassOK {
		return string(r.Class) + ": " + r.Error.Error()
	}
	scores, err := abi.ParseScores(r.Output, n)
	if err != nil {
		return err.Error()
	}
	if i := slices.IndexFunc(scores, func(s float32) bool { return math.IsInf(float64(s), 0) }); i >= 0 {
		return fmt.Sprintf("the score of candidate %d is infinite", i)
	}
	return ""
}

// scoring is a request of n candidates whose features are numbers, bounds and missing ones.
func (t *test) scoring(h abi.RankHook, n int) ([]byte, error) {
	config := map[string]json.RawMessage{}
	for _, s := range t.manifest.Config {
		config[s.Key] = s.Default
	}
	settings, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	const now = "2026-06-01T12:00:00Z"
	params, err := json.Marshal(abi.ScoreParams{Config: settings, Now: now, Query: "tea 東京", Context: abi.Context{Family: t.manifest.Name, Namespace: memory.Default, Branch: memory.Default, Now: now}})
	if err != nil {
		return nil, err
	}
	odd := []float32{0, 1, 0.5, float32(math.NaN()), -1, 1e30, -1e30}
	s := abi.Scoring{Params: params, Candidates: n}
	for f := range h.Features {
		column := make([]float32, n)
		for i := range column {
			column[i] = odd[(i+f)%len(odd)]
		}
		s.Columns = append(s.Columns, column)
	}
	return abi.AppendScoring(nil, s), nil
}

// embed makes vectors of odd texts, twice.
func (t *test) embed(ctx context.Context, h abi.EmbedHook) {
	c := Check{Name: "answers", Subject: "hook embed"}
	e, on := t.world.Families.Hooks().EmbedderOf(t.manifest.Name)
	for _, text := range []string{"", "tea", "\x00\u202e東京", strings.Repeat("long text ", 6000)} {
		c.Cases++
		if !on {
			c.problem(text, "the hook could not be turned on")
			continue
		}
		first, err := e.Embed(ctx, []string{text, "tea"}, "query")
		again, err2 := e.Embed(ctx, []string{text, "tea"}, "query")
		switch {
		case err != nil || err2 != nil:
			c.problem(text, errors.Join(err, err2).Error())
		case len(first) != 2 || len(first[0]) != h.Dimensions:
			c.problem(text, fmt.Sprintf("%d vectors, of %d dimensions", len(first), len(first[0])))
		case !slices.EqualFunc(first, again, slices.Equal):
			c.problem(text, "made twice, the vectors differ")
		}
	}
	t.done(c)
}

// job queues a job, and runs what is queued.
func (t *test) job(ctx context.Context, j abi.Job) error {
	c := Check{Name: "answers", Subject: "job " + j.Name, Cases: 1}
	stage, err := t.world.Space.As(tester()).Stage(ctx, memory.Default)
	if err != nil {
		return err
	}
	queue, err := t.world.Families.JobsOn(stage, t.manifest.Name, tester(), memory.Default)
	if err != nil {
		return err
	}
	if _, err = queue.Enqueue(ctx, abi.JobEnqueueRequest{Job: j.Name}); err == nil {
		_, err = stage.Commit(ctx, memory.Commit{})
	}
	if err != nil {
		return fmt.Errorf("queue job %s: %w", j.Name, err)
	}
	t.guests.taken()
	if err := t.world.Families.Step(ctx); err != nil {
		return err
	}
	for _, r := range t.guests.taken() {
		if f := fault(r); f != "" {
			c.problem("a job without a payload", f)
		}
	}
	t.done(c)
	return nil
}
