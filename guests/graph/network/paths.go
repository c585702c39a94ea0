package network

import (
	"cmp"
	"slices"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/order"
)

// FindPaths finds the shortest connections between two memories or entities.
//
// Links are followed in both directions. A path names each node once. The shortest come first, and equally short ones in the order of
// their ids. truncated says that graph_max_visits ended the search.
//
//alcove:title Find connections
//alcove:description Shortest connections between two memories or entities.
//alcove:tool read-only
type FindPaths struct {
	SourceID   alcove.ID `alcove:"required,alias=from"`
	TargetID   alcove.ID `alcove:"required,alias=to"`
	MaxDepth   int       `alcove:"min=1,max=7,default=4,alias=depth"`
	MaxResults int       `alcove:"default=10,alias=limit"`
}

type paths struct {
	Paths     [][]alcove.ID
	Truncated bool `json:"truncated,omitzero"`
}

// Call finds them, one length after the other.
func (in FindPaths) Call(c *alcove.Call, cfg Config) (out paths, err error) {
	from, err := mustResolve(c, in.SourceID)
	if err != nil {
		return out, err
	}
	to, err := mustResolve(c, in.TargetID)
	if err != nil {
		return out, err
	}
	if from.ID == to.ID {
		return paths{Paths: [][]alcove.ID{{from.ID}}}, nil
	}
	m := meeting{
		walk:  &walk{c: c, budget: cfg.MaxVisits, anyone: true},
		near:  map[alcove.ID][]alcove.ID{},
		alive: map[alcove.ID]bool{from.ID: true, to.ID: true},
		ends:  [2]*side{newSide(from.ID), newSide(to.ID)},
		most:  bounded(in.MaxResults, 50), steps: stepsPerVisit * cfg.MaxVisits,
	}
	for length := 1; length <= in.MaxDepth && len(m.found) < in.MaxResults && !m.truncated; length++ {
		if err := m.widen(); err != nil {
			return out, err
		}
		m.enumerate([]alcove.ID{from.ID}, to.ID, length)
	}
	return paths{m.found, m.truncated}, nil
}

// stepsPerVisit is how many steps a search takes through links that it looked at before, for each that it may look at.
const stepsPerVisit = 20

// side is what is known around one end: nodes by their distance, up to a radius.
type side struct {
	distance map[alcove.ID]int
	frontier []alcove.ID
	radius   int
}

func newSide(node alcove.ID) *side {
	return &side{distance: map[alcove.ID]int{node: 0}, frontier: []alcove.ID{node}}
}

// meeting is a search from both ends. When the radiuses of both sides add up to a length, near has every link of every path of this
// length: a node of such a path is within one of the radiuses.
type meeting struct {
	*walk
	near  map[alcove.ID][]alcove.ID // neighbours, in the order of their ids
	alive map[alcove.ID]bool        // whether a node exists, where that is known
	ends  [2]*side
	found [][]alcove.ID
	most  int
	steps int
}

// widen extends the side with fewer nodes at its edge by one link.
func (m *meeting) widen() error {
	s := m.ends[0]
	if len(m.ends[1].frontier) < len(s.frontier) {
		s = m.ends[1]
	}
	s.radius++
	around := make(map[alcove.ID][]alcove.ID, len(s.frontier))
	var unknown []alcove.ID
	for _, node := range s.frontier {
		others, err := m.neighbours(node)
		if err != nil || m.truncated {
			return err
		}
		around[node] = others
		for _, other := range others {
			if _, known := m.alive[other]; !known {
				m.alive[other], unknown = false, append(unknown, other)
			}
		}
	}
	there, err := existing(m.c, unknown)
	if err != nil {
		return err
	}
	for id := range there {
		m.alive[id] = true
	}
	var next []alcove.ID
	for _, node := range s.frontier {
		for _, other := range around[node] {
			if !m.alive[other] {
				continue
			}
			m.connect(node, other)
			if _, known := s.distance[other]; !known {
				s.distance[other] = s.radius
				next = append(next, other)
			}
		}
	}
	s.frontier = next
	return nil
}

// neighbours are the nodes that a node is linked with in either direction.
func (m *meeting) neighbours(node alcove.ID) (list []alcove.ID, err error) {
	for _, d := range []direction{outward, inward} {
		hops, err := m.hops(node, d)
		if err != nil {
			return nil, err
		}
		for _, h := range hops {
			if h.Other != node {
				list = append(list, h.Other)
			}
		}
	}
	order.By(list, compareIDs)
	return slices.Compact(list), nil
}

func compareIDs(a, b alcove.ID) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Key, b.Key))
}

// connect notes that two nodes are neighbours.
func (m *meeting) connect(a, b alcove.ID) {
	for _, pair := range [2][2]alcove.ID{{a, b}, {b, a}} {
		list := m.near[pair[0]]
		if i, there := slices.BinarySearchFunc(list, pair[1], compareIDs); !there {
			m.near[pair[0]] = slices.Insert(list, i, pair[1])
		}
	}
}

// enumerate finds the paths that go on from a path to a target in so many steps.
func (m *meeting) enumerate(path []alcove.ID, target alcove.ID, steps int) {
	for _, next := range m.near[path[len(path)-1]] {
		if len(m.found) == m.most || m.truncated {
			return
		}
		if m.steps--; m.steps < 0 {
			m.truncated = true
			return
		}
		switch {
		case next == target && steps == 1:
			m.found = append(m.found, append(slices.Clone(path), next))
		case next != target && steps > 1 && m.reaches(next, steps-1) && !slices.Contains(path, next):
			m.enumerate(append(path, next), target, steps-1)
		}
	}
}

// reaches reports whether a node may be so near to the target: what is outside of the target's side is farther than its radius.
func (m *meeting) reaches(node alcove.ID, steps int) bool {
	s := m.ends[1]
	if d, known := s.distance[node]; known {
		return d <= steps
	}
	return steps > s.radius
}
