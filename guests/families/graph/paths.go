package graph

import (
	"cmp"
	"slices"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// FindPaths finds the shortest connections between two memories or entities.
//
// Links that hold at valid_at are followed, in both directions. A path names each node once. The shortest come first, and equally short ones
// in the order of their ids. corrected says that source or target is spelled otherwise, truncated that graph_max_visits ended the search.
//
//alcove:title Find connections
//alcove:description How are two memories or entities connected: the shortest paths.
//alcove:tool read-only
type FindPaths struct {
	SourceID   alcove.ID `alcove:"required,alias=from"`
	TargetID   alcove.ID `alcove:"required,alias=to"`
	MaxDepth   int       `alcove:"min=1,max=7,default=4,alias=depth"`
	MaxResults int       `alcove:"default=10,alias=limit"`
	ValidAt    string    // Default: now; any: links of all times.
}

type paths struct {
	Paths     [][]alcove.ID
	Corrected []correction `json:"corrected,omitzero"`
	Truncated bool         `json:"truncated,omitzero"`
}

// Call finds them, one length after the other.
func (in FindPaths) Call(c *alcove.Call, cfg Config) (out paths, err error) {
	at, err := validAt(c, in.ValidAt)
	if err != nil {
		return out, err
	}
	from, err := resolveNear(c, in.SourceID, &out.Corrected)
	if err != nil {
		return out, err
	}
	to, err := resolveNear(c, in.TargetID, &out.Corrected)
	if err != nil {
		return out, err
	}
	if from.ID == to.ID {
		out.Paths = [][]alcove.ID{{from.ID}}
		return out, nil
	}
	m := meeting{walk: &walk{c: c, budget: cfg.MaxVisits, anyone: true, at: at}, numbers: map[alcove.ID]int{}, most: bounded(in.MaxResults, 50)}
	m.ends = [2]*side{m.side(from.ID), m.side(to.ID)}
	for length := 1; length <= in.MaxDepth && len(m.found) < in.MaxResults && !m.truncated; length++ {
		if err := m.widen(); err != nil {
			return out, err
		}
		if err := m.search(length, stepsPerVisit*cfg.MaxVisits); err != nil {
			return out, err
		}
	}
	out.Paths, out.Truncated = m.paths(), m.truncated
	return out, nil
}

// stepsPerVisit is how many steps the search for paths of a length takes through links that it looked at before, for each that it may
// look at.
const stepsPerVisit = 20

// side is what is known around one end: nodes by their distance, up to a radius.
type side struct {
	distance map[int]int
	frontier []int
	radius   int
}

// life is whether there is a node, as far as that is known.
type life byte

const (
	unknown life = iota
	alive
	missing
)

// meeting is a search from both ends, of nodes by their numbers. When the radiuses of both sides add up to a length, next has every link of
// every path of this length, in its direction.
type meeting struct {
	*walk
	numbers map[alcove.ID]int
	ids     []alcove.ID
	lives   []life
	next    [][]int // neighbours on the way to the target
	sorted  []bool  // whether next is in the order of the ids, each once
	ends    [2]*side
	found   [][]int
	most    int
	steps   int
}

// number is that of a node.
func (m *meeting) number(id alcove.ID) int {
	n, ok := m.numbers[id]
	if !ok {
		n = len(m.ids)
		m.numbers[id] = n
		m.ids, m.lives, m.next, m.sorted = append(m.ids, id), append(m.lives, unknown), append(m.next, nil), append(m.sorted, true)
	}
	return n
}

// side is what is known around an end: itself.
func (m *meeting) side(end alcove.ID) *side {
	n := m.number(end)
	m.lives[n] = alive
	return &side{distance: map[int]int{n: 0}, frontier: []int{n}}
}

// widen extends the side with fewer nodes at its edge by one link.
func (m *meeting) widen() error {
	s, forward := m.ends[0], true
	if len(m.ends[1].frontier) < len(s.frontier) {
		s, forward = m.ends[1], false
	}
	s.radius++
	frontier, err := m.living(s.frontier)
	if err != nil {
		return err
	}
	s.frontier = nil
	how := ends
	if m.at != 0 {
		how = whole
	}
	around, err := m.links(frontier, how, outward, inward)
	if err != nil || m.truncated {
		return err
	}
	for i, id := range frontier {
		node := m.number(id)
		for j := range around[i] {
			other := m.number(around[i][j].Other)
			if other == node {
				continue
			}
			if forward {
				m.next[node], m.sorted[node] = append(m.next[node], other), false
			} else {
				m.next[other], m.sorted[other] = append(m.next[other], node), false
			}
			if _, known := s.distance[other]; !known {
				s.distance[other] = s.radius
				s.frontier = append(s.frontier, other)
			}
		}
	}
	return nil
}

// living are the ids of those of some nodes that there are.
func (m *meeting) living(nodes []int) (ids []alcove.ID, err error) {
	if err := m.look(nodes); err != nil {
		return nil, err
	}
	for _, n := range nodes {
		if m.lives[n] == alive {
			ids = append(ids, m.ids[n])
		}
	}
	return ids, nil
}

// look finds out which of some nodes there are.
func (m *meeting) look(nodes []int) error {
	var ids []alcove.ID
	for _, n := range nodes {
		if m.lives[n] == unknown {
			ids = append(ids, m.ids[n])
		}
	}
	there, err := present(m.c, ids)
	for i := range there {
		m.lives[m.number(ids[i])] = missing
		if there[i] {
			m.lives[m.number(ids[i])] = alive
		}
	}
	return err
}

// search finds the paths of a length. Few nodes are on paths, so it looks afterwards whether these are there; if one is missing, it looks
// at all nodes and searches again.
func (m *meeting) search(length, steps int) error {
	const from, to = 0, 1 // the first numbers
	before := len(m.found)
	m.steps = steps
	m.enumerate([]int{from}, to, length)
	for _, path := range m.found[before:] {
		if err := m.look(path); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(m.found[before:], m.broken) {
		return nil
	}
	all := make([]int, len(m.ids))
	for i := range all {
		all[i] = i
	}
	if err := m.look(all); err != nil {
		return err
	}
	m.found, m.steps, m.truncated = m.found[:before], steps, false
	m.enumerate([]int{from}, to, length)
	return nil
}

// broken reports whether a node of a path is missing.
func (m *meeting) broken(path []int) bool {
	return slices.ContainsFunc(path, func(n int) bool { return m.lives[n] == missing })
}

// paths are those that were found.
func (m *meeting) paths() (list [][]alcove.ID) {
	for _, path := range m.found {
		ids := make([]alcove.ID, len(path))
		for i, n := range path {
			ids[i] = m.ids[n]
		}
		list = append(list, ids)
	}
	return list
}

func compareIDs(a, b alcove.ID) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Key, b.Key))
}

// onward are the neighbours of a node on the way to the target, in the order of their ids.
func (m *meeting) onward(node int) []int {
	if !m.sorted[node] {
		list := m.next[node]
		slices.SortFunc(list, func(a, b int) int { return compareIDs(m.ids[a], m.ids[b]) })
		m.next[node], m.sorted[node] = slices.Compact(list), true
	}
	return m.next[node]
}

// enumerate finds the paths that go on from a path to a target in so many steps.
func (m *meeting) enumerate(path []int, target, steps int) {
	for _, next := range m.onward(path[len(path)-1]) {
		if len(m.found) == m.most || m.truncated {
			return
		}
		if m.steps--; m.steps < 0 {
			m.truncated = true
			return
		}
		switch {
		case m.lives[next] == missing:
		case next == target && steps == 1:
			m.found = append(m.found, append(slices.Clone(path), next))
		case next != target && steps > 1 && m.reaches(next, steps-1) && !slices.Contains(path, next):
			m.enumerate(append(path, next), target, steps-1)
		}
	}
}

// reaches reports whether a node may be so near to the target: what is outside of the target's side is farther than its radius.
func (m *meeting) reaches(node, steps int) bool {
	s := m.ends[1]
	if d, known := s.distance[node]; known {
		return d <= steps
	}
	return steps > s.radius
}
