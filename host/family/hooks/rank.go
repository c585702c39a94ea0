package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
)

// Limits of a rank hook: of elapsed and of processor time.
const (
	rankWithin = 500 * time.Millisecond
	rankCPU    = 100 * time.Millisecond
)

// Numbers of a search's best hits that are ranked: when something calls for it, and when only the rating of one of them may. Ratings are read
// for each search.
const (
	rankDepth  = 50
	ratedDepth = 10
)

// ranker returns the family that ranks a search; the first by name if several are granted it. on is false if none does, or nothing calls for
// it but, perhaps, a rated hit.
func (h *Hooks) ranker(ctx context.Context, r memory.Ranking) (x Family, on bool, err error) {
	list := h.o.Families.On(abi.HookRank)
	if len(list) == 0 {
		return nil, false, nil
	}
	at := place{memory.Location{Branch: r.Branch, Namespace: namespaceOf(r)}, r.Caller.Agent}
	on, err = calledFor(ctx, list[0], list[0].RankWhen(), at)
	return list[0], on, err
}

// Ranker implements memory.Hooks. If it cannot be found out what ranks a search, the ranker says why.
func (h *Hooks) Ranker(ctx context.Context, r memory.Ranking) (memory.Ranker, int) {
	x, on, err := h.ranker(ctx, r)
	rank := func(ctx context.Context, r memory.Ranking) ([]float32, bool, error) {
		if err != nil || !on && !rated(x, r) || x.Breaker().Open(h.o.Clock()) {
			return nil, false, err
		}
		return h.rank(ctx, x, r)
	}
	switch {
	case on || err != nil:
		return rank, rankDepth
	case x != nil && readsOutcome(x):
		return rank, ratedDepth
	}
	return nil, 0
}

func readsOutcome(x Family) bool {
	return slices.Contains(x.Manifest().Hooks.Rank.Features, string(abi.FeatureOutcome))
}

// rated reports whether feedback rated one of the hits, which calls for a rank hook that reads outcome.
func rated(x Family, r memory.Ranking) bool {
	return readsOutcome(x) && slices.ContainsFunc(r.Column(string(abi.FeatureOutcome)), func(v float32) bool { return v == v }) // not missing
}

// ranking returns the guest of a ranking family. One that conditions call for is loaded when they do, and waited for; until others are loaded,
// ok is false.
func ranking(ctx context.Context, x Family) (g Guest, ok bool, err error) {
	if g, ok = x.Loaded(); ok || x.RankWhen().IsZero() {
		return g, ok, nil
	}
	g, err = x.Load(ctx)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("family %s is being loaded", x.Name())
	}
	return g, err == nil, err
}

// rank has a family score the candidates. While it is loading, or is itself searching, the order is unchanged.
func (h *Hooks) rank(ctx context.Context, x Family, r memory.Ranking) ([]float32, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, rankWithin)
	defer cancel()
	guest, loaded, err := ranking(ctx, x)
	if err != nil || !loaded {
		return nil, false, err
	}
	defer guest.Release()
	reader := r.Caller
	reader.Rights = reader.Rights.ReadOnly()
	stage, err := h.as(reader, x).Stage(ctx, r.Branch)
	if err != nil {
		return nil, false, err
	}
	asked := guest.Begin(abi.HookRank, stage, reader, namespaceOf(r), "")
	request, err := scoring(ctx, x.Manifest().Hooks.Rank, asked, r)
	if err != nil {
		return nil, false, err
	}
	output, err := asked.Ask(ctx, abi.KindScore, request, rankCPU)
	if err == nil {
		var scores []float32
		scores, err = abi.ParseScores(output, r.Hits)
		x.Breaker().record(err, h.o.Clock())
		return scores, err == nil, err
	}
	var known *memory.Error
	switch {
	case errors.As(err, new(Failure)):
		err = fmt.Errorf("family %s failed to rank them: %w", x.Name(), err)
		x.Breaker().record(err, h.o.Clock())
	case errors.As(err, &known) && known.Code == memory.Denied:
		return nil, false, nil // it is on the stack: it asked for this search
	}
	return nil, false, err
}

// namespaceOf returns the namespace whose settings apply to a search. Over several, the shared ones do.
func namespaceOf(r memory.Ranking) string {
	if len(r.Namespaces) == 1 {
		return r.Namespaces[0]
	}
	return ""
}

// scoring encodes the request to rank.
func scoring(ctx context.Context, hook *abi.RankHook, asked Request, r memory.Ranking) ([]byte, error) {
	config, err := asked.Config(ctx)
	if err != nil {
		return nil, err
	}
	params, err := json.Marshal(abi.ScoreParams{Config: config, Now: memory.FormatTime(r.Now), Query: r.Query, Context: asked.Operations().Context()})
	if err != nil {
		return nil, err
	}
	s := abi.Scoring{Params: params, Candidates: r.Hits}
	for _, name := range hook.Features {
		column := r.Column(name)
		if name == string(abi.FeatureType) {
			column = typeColumn(r.Types, hook.Types)
		}
		if column == nil {
			column = missing(r.Hits)
		}
		s.Columns = append(s.Columns, column)
	}
	return abi.AppendScoring(nil, s), nil
}

func typeColumn(types, known []string) []float32 {
	column := make([]float32, len(types))
	for i, t := range types {
		column[i] = float32(slices.Index(known, t))
	}
	return column
}

// missing returns a column without values.
func missing(n int) []float32 {
	column := make([]float32, n)
	for i := range column {
		column[i] = float32(math.NaN())
	}
	return column
}
