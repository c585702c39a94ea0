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

// rankDepth is the number of a search's best hits that are ranked.
const rankDepth = 50

// ranker returns the family that ranks; the first by name if several are granted it.
func (h *Hooks) ranker() (Family, bool) {
	list := h.o.Families.On(abi.HookRank)
	if len(list) == 0 {
		return nil, false
	}
	return list[0], true
}

// Depth returns the number of a search's best hits that Rank needs.
func (h *Hooks) Depth() int {
	if _, on := h.ranker(); !on {
		return 0
	}
	return rankDepth
}

// Rank has the ranking family score the candidates. While it is loading, or is itself searching, the order is
// unchanged.
func (h *Hooks) Rank(ctx context.Context, r memory.Ranking) ([]float32, bool, error) {
	x, on := h.ranker()
	if !on || x.Rest().Resting(h.o.Clock()) {
		return nil, false, nil
	}
	guest, loaded := x.Loaded()
	if !loaded {
		return nil, false, nil
	}
	defer guest.Release()
	ctx, cancel := context.WithTimeout(ctx, rankWithin)
	defer cancel()
	reader := r.Caller
	reader.Rights = reader.Rights.ReadOnly()
	stage, err := h.as(reader, x).Stage(ctx, r.Branch)
	if err != nil {
		return nil, false, err
	}
	namespace := ""
	if len(r.Namespaces) == 1 { // over several namespaces, the shared settings apply
		namespace = r.Namespaces[0]
	}
	asked := guest.Begin(abi.HookRank, stage, reader, namespace, "")
	request, err := scoring(ctx, x.Manifest().Hooks.Rank, asked, r)
	if err != nil {
		return nil, false, err
	}
	output, err := asked.Ask(ctx, abi.KindScore, request, rankCPU)
	if err == nil {
		var scores []float32
		scores, err = abi.ParseScores(output, r.Hits)
		x.Rest().asked(err, h.o.Clock())
		return scores, err == nil, err
	}
	var known *memory.Error
	switch {
	case errors.As(err, new(Failure)):
		err = fmt.Errorf("family %s failed to rank them: %w", x.Name(), err)
		x.Rest().asked(err, h.o.Clock())
	case errors.As(err, &known) && known.Code == memory.Denied:
		return nil, false, nil // it is on the stack: it asked for this search
	}
	return nil, false, err
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
