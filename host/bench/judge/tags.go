package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/words"
)

// taggedNamespace is memories that people tagged.
type taggedNamespace struct {
	Namespace string
	Tagged    []struct {
		Text string
		Tags []string
	}
}

// labelledTags is a text of a namespace, which of its tags fit, which others are sensible, and which words of the text are nonsense as tags.
type labelledTags struct {
	Namespace, Text           string
	Reuse, Sensible, Nonsense []string
}

// judgeTags stores memories with tags, and asks which tags other texts of the same namespaces get.
func judgeTags(ctx context.Context, s *server, l labels) ([]row, error) {
	if err := storeTagged(ctx, s, l); err != nil {
		return nil, err
	}
	list, err := read[labelledTags](l, "tags")
	if err != nil {
		return nil, err
	}
	rarity := rarities(list)
	listed, noNonsense := row{measure: "tags in the list of sensible ones"}, row{measure: "tags that are no nonsense"}
	useful := row{measure: "texts that get a sensible tag"}
	some, reused, fitting := row{measure: "texts with a fitting tag of the namespace that get one"}, row{measure: "fitting tags of the namespace that are given"}, row{measure: "tags of the namespace that fit"}
	perText := 0
	for _, t := range list {
		var got struct {
			Tags []struct {
				Tag   string
				Known bool
			}
		}
		if err := s.call(ctx, "memory_suggest_tags", map[string]any{"text": t.Text, "namespace": t.Namespace}, &got); err != nil {
			return nil, err
		}
		perText += len(got.Tags)
		found := map[string]bool{}
		for _, tag := range got.Tags {
			fold := words.Fold(tag.Tag)
			found[fold] = true
			listed.got.add(contains(t.Sensible, fold))
			noNonsense.got.add(!contains(t.Nonsense, fold))
			if tag.Known {
				fitting.got.add(contains(t.Reuse, fold))
			}
		}
		useful.got.add(slices.ContainsFunc(t.Sensible, func(tag string) bool { return found[words.Fold(tag)] }))
		hit := false
		for _, tag := range t.Reuse {
			is := found[words.Fold(tag)]
			hit = hit || is
			reused.got.add(is)
			reused.baseline.add(strings.Contains(strings.ToLower(t.Text), tag))
		}
		if len(t.Reuse) > 0 {
			some.got.add(hit)
		}
		baseline(&listed, &noNonsense, &useful, t, rarity)
	}
	size := row{measure: fmt.Sprintf("tags a text: %.1f", float64(perText)/float64(max(len(list), 1)))}
	return []row{listed, noNonsense, useful, some, reused, fitting, size}, nil
}

// baseline counts what the three words of a text would be that are in the fewest texts.
func baseline(listed, noNonsense, useful *row, t labelledTags, rarity map[string]int) {
	var rarest []string
	for _, w := range words.Split(t.Text) {
		if fold := words.Fold(w.Lower); rarity[fold] > 0 && !slices.Contains(rarest, fold) {
			rarest = append(rarest, fold)
		}
	}
	slices.SortStableFunc(rarest, func(a, b string) int { return cmp.Or(rarity[a]-rarity[b], len(b)-len(a)) })
	hit := false
	for _, w := range rarest[:min(len(rarest), 3)] {
		hit = hit || contains(t.Sensible, w)
		listed.baseline.add(contains(t.Sensible, w))
		noNonsense.baseline.add(!contains(t.Nonsense, w))
	}
	useful.baseline.add(hit)
}

// rarities are in how many of the texts each folded word is that is no stop word and no number.
func rarities(list []labelledTags) map[string]int {
	stops, in := words.Stops(), map[string]int{}
	for _, t := range list {
		seen := map[string]bool{}
		for _, w := range words.Split(t.Text) {
			if fold := words.Fold(w.Lower); !w.Number && !seen[fold] && !slices.Contains(stops, w.Lower) {
				seen[fold] = true
				in[fold]++
			}
		}
	}
	return in
}

// contains says whether a list has a tag, in whatever form.
func contains(list []string, fold string) bool {
	return slices.ContainsFunc(list, func(tag string) bool { return words.Fold(tag) == fold })
}

func storeTagged(ctx context.Context, s *server, l labels) error {
	list, err := read[taggedNamespace](l, "tags-namespaces")
	if err != nil {
		return err
	}
	for _, n := range list {
		for i, m := range n.Tagged {
			arguments := map[string]any{"namespace": n.Namespace, "key": fmt.Sprint("m", i), "value": m.Text, "tags": m.Tags}
			if err := s.call(ctx, "memory_store", arguments, nil); err != nil {
				return err
			}
		}
	}
	return nil
}
