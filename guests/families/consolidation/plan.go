package consolidation

import (
	"cmp"
	"slices"

	"github.com/alcove-memory/alcove/guests/families/consolidation/compare"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// plan is what would be done with the memories of a namespace. Numbers are those of items.
type plan struct {
	merges         []merge
	contradictions []compare.Pair
	clusters       [][]int
	movedAway      bool // what is stale was asked for, which is found elsewhere
}

// merge keeps one memory in place of others.
type merge struct {
	keep   int
	others []int
}

// Bounds of what is merged.
const (
	mostMerged      = 50 // memories by one
	mostCluster     = 20
	mostJudged      = 2000 // pairs that are judged by meaning, the most similar ones
	mostMeanings    = 4000 // words and texts of these
	clusterFrom     = .5   // similarity of memories of a cluster
	mostWords       = 1000 // of a memory, of which the other may have others
	partDuplicates  = "duplicates"
	partContradicts = "contradictions"
	partClusters    = "clusters"
	partStale       = "stale"
)

// plan works out what to do, of the parts that are wanted. What words say is confirmed by meaning. What only meaning says is added if meant says
// so, for people to look at, and is never merged by itself.
func (l *loaded) plan(c *alcove.Call, cfg Config, only []string, meant bool) (*plan, error) {
	wants := func(part string) bool { return len(only) == 0 || slices.Contains(only, part) }
	p := &plan{}
	gone := map[int]bool{}
	if wants(partDuplicates) || wants(partContradicts) || wants(partClusters) {
		pairs, err := l.pairs(c, meant)
		if err != nil {
			return nil, err
		}
		merges := l.merges(pairs)
		for _, m := range merges {
			for _, i := range m.others {
				gone[i] = true
			}
		}
		if wants(partDuplicates) {
			p.merges = merges
		}
		if wants(partContradicts) {
			p.contradictions = l.contradictions(pairs, gone)
		}
		if wants(partClusters) {
			if p.clusters, err = l.clusters(c, cfg, pairs, gone); err != nil {
				return nil, err
			}
		}
	}
	p.movedAway = slices.Contains(only, partStale)
	return p, nil
}

// pairs are the pairs that are at least related.
func (l *loaded) pairs(c *alcove.Call, meant bool) ([]compare.Pair, error) {
	var pairs []compare.Pair
	if l.candidates != nil {
		pairs = l.reader.Among(l.facts, l.candidates)
	} else {
		pairs = l.reader.Candidates(l.facts)
	}
	if !meant {
		for i := range pairs {
			l.reader.Reconsider(l.facts, &pairs[i])
		}
		return pairs, l.confirm(c, pairs)
	}
	if l.candidates == nil && compare.Few(len(l.facts)) {
		means, err := embed(c, l.texts())
		if err != nil {
			return nil, err
		}
		l.reader.Learn(means)
		pairs = append(pairs, l.reader.NearPairs(l.facts, pairs)...)
	}
	return pairs, l.judge(c, pairs)
}

func (l *loaded) texts() (list []string) {
	for _, f := range l.facts {
		if f.Text() != "" && !slices.Contains(list, f.Text()) {
			list = append(list, f.Text())
		}
	}
	return list
}

// confirm judges those pairs by meaning that words have decided. A duplicate of which meaning is not sure is none.
func (l *loaded) confirm(c *alcove.Call, pairs []compare.Pair) error {
	var decided []*compare.Pair
	for i := range pairs {
		if pairs[i].Relation != compare.Related {
			decided = append(decided, &pairs[i])
		}
	}
	decided, means, err := l.meanings(c, decided)
	if err != nil || means == nil {
		return err
	}
	l.reader.Learn(means)
	for _, p := range decided {
		l.reader.Reconsider(l.facts, p)
		if p.Relation.Duplicate() && !p.Sure {
			p.Relation = compare.Related
		}
	}
	return nil
}

// judge judges the most similar pairs by meaning, and the rest, or all where there is no embedder, by their words.
func (l *loaded) judge(c *alcove.Call, pairs []compare.Pair) error {
	order := make([]*compare.Pair, len(pairs))
	for i := range pairs {
		order[i] = &pairs[i]
	}
	slices.SortStableFunc(order, func(a, b *compare.Pair) int { return cmp.Compare(b.Similarity, a.Similarity) })
	meant, means, err := l.meanings(c, order)
	if err != nil {
		return err
	}
	if means == nil {
		meant = nil
	}
	l.reader.Learn(nil)
	for _, p := range order[len(meant):] {
		l.reader.Reconsider(l.facts, p)
	}
	l.reader.Learn(means)
	for _, p := range meant {
		l.reader.Reconsider(l.facts, p)
	}
	return nil
}

// meanings are what the words and texts of pairs mean, and of how many pairs, from the first on; none without an embedder.
func (l *loaded) meanings(c *alcove.Call, pairs []*compare.Pair) ([]*compare.Pair, compare.Vectors, error) {
	pairs = pairs[:min(len(pairs), mostJudged)]
	var list []string
	seen := map[string]bool{}
	listed := make([]bool, len(l.facts))
	add := func(text string) {
		if !seen[text] && text != "" {
			seen[text] = true
			list = append(list, text)
		}
	}
	for n, p := range pairs {
		if len(list) > mostMeanings {
			pairs = pairs[:n]
			break
		}
		for _, i := range []int{p.A, p.B} {
			if !listed[i] {
				listed[i] = true
				for _, w := range l.reader.Words(l.facts[i]) {
					add(w)
				}
				add(l.facts[i].Text())
			}
		}
	}
	means, err := embed(c, list)
	return pairs, means, err
}

// merges chooses which memories stand for others. Each of the others is a duplicate of the one that is kept itself, not
// only of another one.
func (l *loaded) merges(pairs []compare.Pair) []merge {
	neighbours := map[int][]compare.Pair{}
	for _, p := range pairs {
		if p.Relation.Duplicate() {
			neighbours[p.A] = append(neighbours[p.A], p)
			neighbours[p.B] = append(neighbours[p.B], p)
		}
	}
	byImportance := make([]int, 0, len(neighbours))
	for i := range neighbours {
		byImportance = append(byImportance, i)
	}
	slices.SortFunc(byImportance, l.better)
	grouped := map[int]bool{}
	var merges []merge
	for _, i := range byImportance {
		if grouped[i] {
			continue
		}
		m := merge{keep: i}
		for _, p := range neighbours[i] {
			other, relation := p.B, p.Relation
			if other == i {
				other, relation = p.A, reversed(relation)
			}
			if !grouped[other] && relation != compare.Contained && len(m.others) < l.room(i) {
				grouped[other] = true
				m.others = append(m.others, other)
			}
		}
		if len(m.others) > 0 {
			grouped[i] = true
			merges = append(merges, m)
		}
	}
	slices.SortFunc(merges, func(a, b merge) int { return cmp.Compare(a.keep, b.keep) })
	return merges
}

// room is how many memories can be merged into one: each takes a link and a superseded key.
func (l *loaded) room(i int) int {
	return min(mostMerged, (mostLinks-len(l.items[i].links)-len(l.items[i].supersedes))/2)
}

// reversed is a relation seen from the other side.
func reversed(r compare.Relation) compare.Relation {
	switch r {
	case compare.Contained:
		return compare.Contains
	case compare.Contains:
		return compare.Contained
	}
	return r
}

// better orders memories by which of duplicates to keep: the one that says more, is more important, was used more, is
// shorter, is newer.
func (l *loaded) better(a, b int) int {
	x, y := &l.items[a], &l.items[b]
	return cmp.Or(
		cmp.Compare(l.facts[b].Size(), l.facts[a].Size()), cmp.Compare(important(y), important(x)),
		cmp.Compare(y.accesses, x.accesses), cmp.Compare(len(x.text), len(y.text)), cmp.Compare(y.written, x.written), cmp.Compare(x.key, y.key))
}

func important(it *item) float64 {
	if it.importance == nil {
		return 0
	}
	return *it.importance
}

// contradictions are those among memories that stay, the surest first.
func (l *loaded) contradictions(pairs []compare.Pair, gone map[int]bool) []compare.Pair {
	var found []compare.Pair
	for _, p := range pairs {
		if p.Relation.Contradiction() && !gone[p.A] && !gone[p.B] {
			found = append(found, p)
		}
	}
	slices.SortStableFunc(found, func(a, b compare.Pair) int { return cmp.Compare(b.Similarity, a.Similarity) })
	return found
}

// clusters are groups of memories that stay and are about the same.
func (l *loaded) clusters(c *alcove.Call, cfg Config, pairs []compare.Pair, gone map[int]bool) ([][]int, error) {
	closest := slices.Clone(pairs)
	if l.candidates != nil {
		var err error
		if closest, err = l.related(c, pairs); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(closest, func(a, b compare.Pair) int { return cmp.Compare(b.Similarity, a.Similarity) })
	groups := compare.Groups(len(l.items), closest, mostCluster, func(p compare.Pair) bool {
		return p.Similarity >= clusterFrom && !p.Relation.Contradiction() && !gone[p.A] && !gone[p.B]
	})
	groups = slices.DeleteFunc(groups, func(g []int) bool { return len(g) < max(cfg.MinFacts, 2) })
	return groups, l.readGroups(c, cfg, groups)
}

// related are the pairs of memories that are about the same, as the host finds them, without those that contradict each other.
func (l *loaded) related(c *alcove.Call, judged []compare.Pair) (related []compare.Pair, err error) {
	found, err := c.MemoryPairs(alcove.MemoryPairsRequest{Namespace: l.namespace, Filter: facts(false), After: l.after, Limit: l.most, Similarity: clusterFrom, Missing: mostWords})
	if err != nil {
		return nil, err
	}
	contradict := map[[2]int]bool{}
	for _, p := range judged {
		contradict[[2]int{p.A, p.B}] = p.Relation.Contradiction()
	}
	for i, p := range found.Pairs {
		a, b := l.place(found.Keys[p[0]]), l.place(found.Keys[p[1]])
		if a, b = min(a, b), max(a, b); !contradict[[2]int{a, b}] {
			related = append(related, compare.Pair{A: a, B: b, Verdict: compare.Verdict{Relation: compare.Related, Similarity: float64(found.Similarities[i])}})
		}
	}
	return related, nil
}

// readGroups reads what is listed or merged of groups and was not read yet.
func (l *loaded) readGroups(c *alcove.Call, cfg Config, groups [][]int) error {
	if !cfg.MergeClusters {
		groups = groups[:min(len(groups), listed)]
	}
	var missing []item
	for _, group := range groups {
		for _, i := range group {
			if l.facts[i] == nil {
				missing = append(missing, l.items[i])
			}
		}
	}
	return l.read(c, missing)
}
