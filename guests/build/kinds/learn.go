package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/alcove-memory/alcove/guests/families/auto-tag/kind"
)

const types = 9

// options say how to learn.
type options struct {
	decay       float64
	observation float64
	rounds      int
	rows        int
}

// model is the weights of signs, for each type: a multinomial logistic regression.
type model map[uint32]*[types]float64

// learn finds weights by gradient descent with steps of their own (Adagrad). The same sentences give the same weights.
func learn(list []sentence, o options) model {
	m, squares := model{}, model{}
	for _, s := range list {
		for _, sign := range s.signs {
			if m[sign] == nil {
				m[sign], squares[sign] = &[types]float64{}, &[types]float64{}
			}
		}
	}
	var of [types]int
	for _, s := range list {
		of[s.kind]++
	}
	order := rand.New(rand.NewPCG(1, 2))
	for range o.rounds {
		for _, at := range order.Perm(len(list)) {
			s := &list[at]
			weight := float64(len(list)) / float64(types*of[s.kind])
			if s.kind == 0 {
				weight *= o.observation
			}
			m.step(squares, s, weight, o.decay)
		}
	}
	return m
}

// step moves the weights of one sentence's signs.
func (m model) step(squares model, s *sentence, weight, decay float64) {
	shares := m.shares(s.signs)
	x := 1 / math.Sqrt(float64(len(s.signs)))
	for k := range types {
		slope := shares[k]
		if k == s.kind {
			slope--
		}
		slope *= x * weight
		for _, sign := range s.signs {
			g := slope + decay*m[sign][k]
			squares[sign][k] += g * g
			m[sign][k] -= .5 * g / math.Sqrt(squares[sign][k]+1e-8)
		}
	}
}

// shares are the probabilities of the types.
func (m model) shares(signs []uint32) (shares [types]float64) {
	for _, sign := range signs {
		if w := m[sign]; w != nil {
			for k := range types {
				shares[k] += w[k]
			}
		}
	}
	x, total, most := 1/math.Sqrt(float64(len(signs))), 0.0, slices.Max(shares[:])
	for k := range types {
		shares[k] = math.Exp((shares[k] - most) * x)
		total += shares[k]
	}
	for k := range types {
		shares[k] /= total
	}
	return shares
}

func (m model) tell(signs []uint32) int {
	shares := m.shares(signs)
	best := 0
	for k := range types {
		if shares[k] > shares[best] {
			best = k
		}
	}
	return best
}

// table is the weights in steps of a byte, without the signs that weigh least.
func (m model) table(o options) []byte {
	signs, most := make([]uint32, 0, len(m)), 0.0
	for sign, w := range m {
		signs = append(signs, sign)
		for k := range types {
			most = max(most, math.Abs(w[k]))
		}
	}
	slices.SortFunc(signs, func(a, b uint32) int { return cmp.Or(cmp.Compare(m.spread(b), m.spread(a)), cmp.Compare(a, b)) })
	signs = signs[:min(len(signs), o.rows)]
	slices.Sort(signs)
	unit := math.Ceil(1e6 * most / 127)
	rows := make([]kind.Row, len(signs))
	for i, sign := range signs {
		rows[i].Sign = sign
		for k := range types {
			rows[i].Weights[k] = int8(math.Round(m[sign][k] * 1e6 / unit))
		}
	}
	return kind.WriteTable(uint32(unit), rows)
}

// spread is how much a sign tells types apart.
func (m model) spread(sign uint32) float64 {
	w := m[sign]
	return slices.Max(w[:]) - slices.Min(w[:])
}
