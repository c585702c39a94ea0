package main

import (
	"context"
	"fmt"
	"slices"
)

// labelledPair is two texts: whether they say the same, or whether they contradict each other.
type labelledPair struct {
	A, B        string
	Same        bool
	Contradicts bool
	Kind        string
}

// verdicts counts how many pairs are found that should be, and how many of those found should have been.
type verdicts struct{ recall, precision share }

func (v *verdicts) add(found, want bool) {
	if want {
		v.recall.add(found)
	}
	if found {
		v.precision.add(want)
	}
}

func (v *verdicts) rows(tool string) []row {
	return []row{{measure: tool + ", recall", got: v.recall}, {measure: tool + ", precision", got: v.precision}}
}

// pairsAtOnce is how many pairs are in one namespace: a tool lists up to 50 of those that it finds.
const pairsAtOnce = 25

// judgeDuplicates asks whether the second text of each pair is known where the first ones of all pairs are stored, and which of all texts say
// the same.
func judgeDuplicates(ctx context.Context, s *server, l labels) ([]row, error) {
	list, err := read[labelledPair](l, "duplicates")
	if err != nil {
		return nil, err
	}
	if err := storeAll(ctx, s, list); err != nil {
		return nil, err
	}
	var checked, found verdicts
	for i, p := range list {
		var got struct {
			IsDuplicate bool `json:"is_duplicate"`
		}
		if err := s.call(ctx, "memory_check_duplicate", map[string]any{"content": p.B}, &got); err != nil {
			return nil, err
		}
		checked.add(got.IsDuplicate, p.Same)
		if i%pairsAtOnce > 0 {
			continue
		}
		var groups struct {
			Groups []struct {
				Keep string
				Keys []string
			}
		}
		if err := s.call(ctx, "memory_find_duplicates", map[string]any{"namespace": namespaceOf(i), "k": 50}, &groups); err != nil {
			return nil, err
		}
		for j, p := range list[i:min(i+pairsAtOnce, len(list))] {
			together := false
			for _, g := range groups.Groups {
				members := append([]string{g.Keep}, g.Keys...)
				together = together || slices.Contains(members, keyOf("a", i+j)) && slices.Contains(members, keyOf("b", i+j))
			}
			found.add(together, p.Same)
		}
	}
	return append(checked.rows("memory_check_duplicate"), found.rows("memory_find_duplicates")...), nil
}

// judgeContradictions asks of each pair whether its texts contradict each other, and which of all texts do.
func judgeContradictions(ctx context.Context, s *server, l labels) ([]row, error) {
	list, err := read[labelledPair](l, "contradictions")
	if err != nil {
		return nil, err
	}
	if err := storeAll(ctx, s, list); err != nil {
		return nil, err
	}
	var compared, found verdicts
	for i, p := range list {
		var got struct{ Contradicts bool }
		ids := map[string]any{"id_a": namespaceOf(i) + "#" + keyOf("a", i), "id_b": namespaceOf(i) + "#" + keyOf("b", i)}
		if err := s.call(ctx, "memory_detect_contradiction", ids, &got); err != nil {
			return nil, err
		}
		compared.add(got.Contradicts, p.Contradicts)
		if i%pairsAtOnce > 0 {
			continue
		}
		var pairs struct{ Contradictions []struct{ A, B string } }
		if err := s.call(ctx, "memory_find_contradictions", map[string]any{"namespace": namespaceOf(i), "k": 50}, &pairs); err != nil {
			return nil, err
		}
		for j, p := range list[i:min(i+pairsAtOnce, len(list))] {
			a, b := keyOf("a", i+j), keyOf("b", i+j)
			there := false
			for _, c := range pairs.Contradictions {
				there = there || c.A == a && c.B == b || c.A == b && c.B == a
			}
			found.add(there, p.Contradicts)
		}
	}
	return append(compared.rows("memory_detect_contradiction"), found.rows("memory_find_contradictions")...), nil
}

func namespaceOf(pair int) string { return fmt.Sprint("pairs-", pair/pairsAtOnce) }

func keyOf(side string, pair int) string { return fmt.Sprintf("%s%03d", side, pair) }

// storeAll stores both texts of each pair in a namespace of some pairs, and the first one in the default namespace too.
func storeAll(ctx context.Context, s *server, list []labelledPair) error {
	for i, p := range list {
		for _, m := range []map[string]any{
			{"key": keyOf("a", i), "value": p.A, "namespace": namespaceOf(i)},
			{"key": keyOf("b", i), "value": p.B, "namespace": namespaceOf(i)},
			{"key": keyOf("a", i), "value": p.A},
		} {
			if err := s.call(ctx, "memory_store", m, nil); err != nil {
				return err
			}
		}
	}
	return nil
}
