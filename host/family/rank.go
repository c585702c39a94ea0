package family

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/sandbox"
)

// rankDepth is how many of a search's best hits are ranked.
const rankDepth = 50

// ranker is the family that ranks; the first by name, should several be granted it.
func (f *Families) ranker() *family {
	f.mu.RLock()
	defer f.mu.RUnlock()
	var first *family
	for _, x := range f.known {
		if _, on := f.hookOf(x, abi.HookRank); on && (first == nil || x.name < first.name) {
			first = x
		}
	}
	return first
}

// Depth is how many of a search's best hits Rank wants.
func (f *Families) Depth() int {
	if f.ranker() == nil {
		return 0
	}
	return rankDepth
}

// Rank lets the family that ranks score the candidates. While it is being loaded, or is itself what searches, the order stays
// as it is.
func (f *Families) Rank(ctx context.Context, r memory.Ranking) ([]float32, bool, error) {
	x := f.ranker()
	if x == nil || x.resting(f) {
		return nil, false, nil
	}
	m := x.hold(f)
	if m == nil {
		f.loadBehind(x)
		return nil, false, nil
	}
	defer x.release(f)
	ctx, cancel := context.WithTimeout(ctx, rankWithin)
	defer cancel()
	reader := r.Caller
	reader.Rights = reader.Rights.ReadOnly()
	stage, err := f.spaceFor(reader, x).Stage(ctx, r.Branch)
	if err != nil {
		return nil, false, err
	}
	w := f.newRequest(x, stage, reader, "", "")
	request, err := w.scoring(ctx, r)
	if err != nil {
		return nil, false, err
	}
	limits := within(limitsOf(f.grantOf(x)), x.manifest.Limits, rankCPU)
	result, err := m.Call(ctx, sandbox.Request{Kind: abi.KindScore, Payload: request, Host: w.Call, Limits: limits})
	var denied *abi.Error
	if errors.As(err, &denied) && denied.Code == abi.CodeDenied {
		return nil, false, nil // it is on the stack: it asked for this search
	}
	if err != nil {
		return nil, false, err
	}
	if result.Class != abi.ClassOK {
		err := fmt.Errorf("family %s failed to rank them: %w", x.name, w.failure(result))
		x.asked(f, err)
		return nil, false, err
	}
	scores, err := abi.ParseScores(result.Output, r.Hits)
	x.asked(f, err)
	return scores, err == nil, err
}

// scoring is the request that asks a family to rank.
func (w *request) scoring(ctx context.Context, r memory.Ranking) ([]byte, error) {
	if len(r.Namespaces) == 1 { // over several, what is set for all counts
		w.applies = r.Namespaces[0]
	}
	config, err := w.configJSON(ctx)
	if err != nil {
		return nil, err
	}
	params, err := json.Marshal(abi.ScoreParams{Config: config, Now: memory.FormatTime(r.Now), Query: r.Query, Context: w.Context()})
	if err != nil {
		return nil, err
	}
	s := abi.Scoring{Params: params, Candidates: r.Hits}
	for _, name := range w.family.manifest.Hooks.Rank.Features {
		column := r.Column(name)
		if name == string(abi.FeatureType) {
			column = typeColumn(r.Types, w.family.manifest.Hooks.Rank.Types)
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
