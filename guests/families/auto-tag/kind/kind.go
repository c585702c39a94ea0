// Package kind tells from its words and form which type a text has: a decision, an error, a plan.
//
// A linear model weighs the signs of a text: its words, their rough parts of speech, how it begins, what it denies. The weights are in
// weights.bin, which guests/build/kinds learns from labelled sentences.
package kind

import (
	_ "embed"
	"math"

	"github.com/alcove-memory/alcove/guests/lib/words"
)

//go:embed weights.bin
var learned string

// Types are the types in the order of their weights.
func Types() [9]string {
	return [...]string{"observation", "error", "correction", "decision", "steering_rule", "plan", "insight", "learning", "session_summary"}
}

const types = 9

// Teller tells types. It may be used any number of times.
type Teller struct {
	signer *signer
	table  table
}

// New makes one.
func New() *Teller { return &Teller{newSigner(), readTable(learned)} }

// Told is what a text shows of its type.
type Told struct {
	Kind   string         // the likeliest type; empty: the text has no words
	Sure   float64        // how sure it is, from 0 to 1
	Shares [types]float64 // of each type, in the order of Types
}

// Tell tells the type of a text that was split into words.
func (t *Teller) Tell(text string, list []words.Word) (told Told) {
	var sums [types]int32
	n := 0
	t.signer.signs(text, list, func(sign uint32) {
		n++
		t.table.add(sign, &sums)
	})
	if n == 0 {
		return told
	}
	best := 0
	for i, sum := range sums {
		if sum > sums[best] {
			best = i
		}
	}
	unit, total := t.table.unit/math.Sqrt(float64(n)), 0.0
	for i, sum := range sums {
		told.Shares[i] = math.Exp(float64(sum-sums[best]) * unit)
		total += told.Shares[i]
	}
	for i := range told.Shares {
		told.Shares[i] /= total
	}
	told.Kind, told.Sure = Types()[best], told.Shares[best]
	return told
}

// Signs gives the signs of a text, for those who learn weights.
func (t *Teller) Signs(text string, emit Emit) { t.signer.signs(text, words.Split(text), emit) }

// Part is the rough part of speech of a word.
func (t *Teller) Part(w *words.Word) Part { return t.signer.part(w) }
