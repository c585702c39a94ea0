package main

import (
	"cmp"
	"maps"
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

// usual are the options that served best for sentences that nothing was learned from. 30,000 rows are 390 kB.
func usual() options { return options{decay: 2e-4, observation: 1.5, rounds: 20, rows: 30_000} }

// model is the weights of signs, for each type: a multinomial logistic regression.
type model struct {
	rows    map[uint32]int // where the weights of a sign are
	weights [][types]float64
}

// learn finds weights by gradient descent with steps of their own (Adagrad). The same sentences give the same weights.
func learn(list []sentence, o options) *model {
	m := &model{rows: map[uint32]int{}}
	rows := make([][]int, len(list))
	var of [types]int
	for i, s := range list {
		of[s.kind]++
		for _, sign := range s.signs {
			if _, ok := m.rows[sign]; !ok {
				m.rows[sign] = len(m.rows)
			}
			rows[i] = append(rows[i], m.rows[sign])
		}
	}
	m.weights = make([][types]float64, len(m.rows))
	squares := make([][types]float64, len(m.rows))
	order := rand.New(rand.NewPCG(1, 2))
	for range o.rounds {
		for _, at := range order.Perm(len(list)) {
			kind := list[at].kind
			weight := float64(len(list)) / float64(types*of[kind])
			if kind == 0 {
				weight *= o.observation
			}
			m.step(squares, rows[at], kind, weight, o.decay)
		}
	}
	return m
}

// step moves the weights of one sentence's signs.
func (m *model) step(squares [][types]float64, rows []int, kind int, weight, decay float64) {
	slopes := m.sharesOf(rows, len(rows))
	slopes[kind]--
	x := 1 / math.Sqrt(float64(len(rows)))
	for k := range slopes {
		slopes[k] *= x * weight
	}
	for _, row := range rows {
		w, square := &m.weights[row], &squares[row]
		for k, slope := range slopes {
			g := slope + decay*w[k]
			square[k] += g * g
			w[k] -= .1 * g / math.Sqrt(square[k]+1e-8)
		}
	}
}

// shares are the probabilities of the types.
func (m *model) shares(signs []uint32) (shares [types]float64) {
	var rows []int
	for _, sign := range signs {
		if row, ok := m.rows[sign]; ok {
			rows = append(rows, row)
		}
	}
	return m.sharesOf(rows, len(signs))
}

// sharesOf are the probabilities by the signs in some rows, of n that a text has.
func (m *model) sharesOf(rows []int, n int) (shares [types]float64) {
	for _, row := range rows {
		for k, w := range m.weights[row] {
			shares[k] += w
		}
	}
	x, total, most := 1/math.Sqrt(float64(n)), 0.0, slices.Max(shares[:])
	for k := range types {
		shares[k] = math.Exp((shares[k] - most) * x)
		total += shares[k]
	}
	for k := range types {
		shares[k] /= total
	}
	return shares
}

func (m *model) tell(signs []uint32) int {
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
func (m *model) table(o options) []byte {
	signs, most := slices.Collect(maps.Keys(m.rows)), 0.0
	for _, w := range m.weights {
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
		for k, w := range m.weights[m.rows[sign]] {
			rows[i].Weights[k] = int8(math.Round(w * 1e6 / unit))
		}
	}
	return kind.WriteTable(uint32(unit), rows)
}

// spread is how much a sign tells types apart.
func (m *model) spread(sign uint32) float64 {
	w := m.weights[m.rows[sign]]
	return slices.Max(w[:]) - slices.Min(w[:])
}
