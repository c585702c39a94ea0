package main

import (
	"cmp"
	"fmt"
	"slices"
)

const folds = 5

// told is what trees say of an example that they were not learned from.
type told struct {
	example
	score int
}

// foldAll tells our own pairs by the rest of them and the named ones, and the named ones by our own and the rest, and by our own alone.
func foldAll(q question, own, named []pair, verbose bool, o options) {
	mine, theirs := q.examples(own), q.examples(named)
	report(q.name+", own", crossed(mine, theirs, o), verbose)
	if len(theirs) == 0 {
		return
	}
	report(q.name+", named", crossed(theirs, mine, o), verbose)
	trees := learn(mine, o)
	var alone []told
	for _, e := range theirs {
		alone = append(alone, told{e, trees.Score(&e.signs, nil)})
	}
	report(q.name+", named by own alone", alone, false)
}

func crossed(list, more []example, o options) (out []told) {
	for f := range folds {
		from := slices.Clone(more)
		for _, e := range list {
			if e.group%folds != f {
				from = append(from, e)
			}
		}
		trees := learn(from, o)
		for _, e := range list {
			if e.group%folds == f {
				out = append(out, told{e, trees.Score(&e.signs, nil)})
			}
		}
	}
	return out
}

// report prints recall and precision at some thresholds. Precision is as if half of the pairs should be found.
func report(name string, list []told, verbose bool) {
	slices.SortStableFunc(list, func(a, b told) int { return cmp.Compare(b.score, a.score) })
	wanted, rest := 0, 0
	for _, t := range list {
		if t.found {
			wanted++
		} else {
			rest++
		}
	}
	fmt.Printf("%s: %d of %d\n", name, wanted, len(list))
	for _, least := range []int{0, 500, 1000, 1500, 2000, 2500, 3000} {
		right, wrong := 0, 0
		for _, t := range list {
			if t.score >= least {
				if t.found {
					right++
				} else {
					wrong++
				}
			}
		}
		recall, alarms := float64(right)/float64(wanted), float64(wrong)/float64(rest)
		fmt.Printf("  from %4d: recall %.3f, precision %.3f (%d wrong)\n", least, recall, recall/(recall+alarms), wrong)
	}
	if !verbose {
		return
	}
	for _, t := range list {
		if t.found != (t.score >= 1000) {
			fmt.Printf("    %5d %v %s\n\t%s\n\t%s\n", t.score, t.found, t.kind, t.a, t.b)
		}
	}
}
