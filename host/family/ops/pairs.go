package ops

import (
	"context"
	"math"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/search"
)

func memoryPairs(call *Call, ctx context.Context, r abi.MemoryPairsRequest) (out abi.MemoryPairsResponse, err error) {
	namespace := call.in(r.Namespace)
	if err := call.Powers.Check(abi.CanMemoryRead, namespace); err != nil {
		return out, err
	}
	filter, err := filterOf(r.Filter, call.Stage.Now())
	if err != nil {
		return out, err
	}
	found, err := call.Stage.Pairs(ctx, memory.PairQuery{
		Namespace: namespace, Filter: filter, After: r.After, Memories: r.Limit, Similarity: r.Similarity, Missing: r.Missing, Most: r.Most,
	})
	if err != nil {
		return out, err
	}
	return pairsOf(found), nil
}

// pairsOf converts pairs. The places of memories are among those that are in pairs.
func pairsOf(found search.Paired) abi.MemoryPairsResponse {
	out := abi.MemoryPairsResponse{Compared: len(found.Keys), Keys: []string{}, Pairs: make([][]int, len(found.Pairs)), Similarities: make([]float32, len(found.Pairs))}
	if found.More {
		out.Next = found.Keys[len(found.Keys)-1]
	}
	places := map[uint32]int{}
	place := func(n uint32) int {
		at, ok := places[n]
		if !ok {
			at = len(out.Keys)
			places[n], out.Keys = at, append(out.Keys, found.Keys[n])
		}
		return at
	}
	for i, p := range found.Pairs {
		out.Pairs[i], out.Similarities[i] = []int{place(p.A), place(p.B)}, rounded(p.Similarity)
	}
	return out
}

// rounded leaves three digits, which all platforms agree on.
func rounded(similarity float32) float32 { return float32(math.Round(float64(similarity)*1000) / 1000) }
