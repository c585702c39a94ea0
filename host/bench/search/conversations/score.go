package main

import (
	"math"
	"slices"
)

// recall returns the share of the relevant documents among the first of those found.
func recall(most int) func(found []string, relevant map[string]float64) float64 {
	return func(found []string, relevant map[string]float64) float64 {
		hits := 0
		for _, key := range found[:min(most, len(found))] {
			if relevant[key] > 0 {
				hits++
			}
		}
		return float64(hits) / float64(len(relevant))
	}
}

// gain is nDCG: the discounted gain relative to that of the best order (Järvelin and Kekäläinen, 2002).
func gain(found []string, relevant map[string]float64) float64 {
	var grades []float64
	for _, grade := range relevant {
		grades = append(grades, grade)
	}
	slices.SortFunc(grades, func(a, b float64) int { return int(math.Copysign(1, b-a)) })
	ideal, got := 0.0, 0.0
	for i := range min(10, len(grades)) {
		ideal += grades[i] / math.Log2(float64(i+2))
	}
	for i, key := range found[:min(10, len(found))] {
		got += relevant[key] / math.Log2(float64(i+2))
	}
	return got / ideal
}
