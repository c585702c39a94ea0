package main

import (
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
	listed, noNonsense := row{measure: "tags in the list of sensible ones"}, row{measure: "tags that are no nonsense"}
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
		baseline(&listed, &noNonsense, t)
	}
	size := row{measure: fmt.Sprintf("tags a text: %.1f", float64(perText)/float64(max(len(list), 1)))}
	return []row{listed, noNonsense, some, reused, fitting, size}, nil
}

// baseline counts what the three longest words of a text would be.
func baseline(listed, noNonsense *row, t labelledTags) {
	var longest []string
	for _, w := range words.Split(t.Text) {
		longest = append(longest, w.Lower)
	}
	slices.SortStableFunc(longest, func(a, b string) int { return len(b) - len(a) })
	for _, w := range longest[:min(len(longest), 3)] {
		listed.baseline.add(contains(t.Sensible, words.Fold(w)))
		noNonsense.baseline.add(!contains(t.Nonsense, words.Fold(w)))
	}
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
