package core

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/host/tool"
)

// row is a part of a list that can do with less. Dropping is told in the row itself.
type row interface {
	value() json.RawMessage // nil when there is none, or it was dropped
	dropValue()
	dropDetails() // what may be large beside the value
}

// cut is what shorten left out.
type cut struct {
	values  []int // the rows whose values were dropped, by their index in the list
	details bool  // rows lost more than values
	rows    int   // how many rows at the end were dropped
}

func (c cut) nothing() bool { return len(c.values) == 0 && !c.details && c.rows == 0 }

// shorten makes a list fit into a number of characters, doing as little harm as it can: it drops the largest values
// first, so that every row still shows; then details; and rows only when nothing else is left.
func shorten[R row](rows []R, limit int) ([]R, cut, error) {
	var c cut
	sizes := make([]int, len(rows))
	total := 2 // brackets
	measure := func(i int) error {
		encoded, err := tool.Encode(rows[i])
		total -= sizes[i]
		sizes[i] = utf8.RuneCount(encoded) + 1 // and a comma
		total += sizes[i]
		return err
	}
	for i := range rows {
		if err := measure(i); err != nil {
			return nil, c, err
		}
	}
	for _, i := range byValue(rows) {
		if total <= limit || len(rows[i].value()) <= len(omitted) {
			break
		}
		rows[i].dropValue()
		c.values = append(c.values, i)
		if err := measure(i); err != nil {
			return nil, c, err
		}
	}
	for i := 0; i < len(rows) && total > limit; i++ {
		rows[i].dropDetails()
		c.details = true
		if err := measure(i); err != nil {
			return nil, c, err
		}
	}
	kept := len(rows)
	for ; kept > 1 && total > limit; kept-- {
		total -= sizes[kept-1]
	}
	c.rows = len(rows) - kept
	c.values = slices.DeleteFunc(c.values, func(i int) bool { return i >= kept })
	slices.Sort(c.values)
	return rows[:kept], c, nil
}

// omitted is what stands in a row for its value: dropping a shorter one gains nothing.
const omitted = `"value_omitted":true,`

// byValue orders rows by the size of their values, the largest first.
func byValue[R row](rows []R) []int {
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(rows[b].value()) - len(rows[a].value()) })
	return order
}

// plural puts a number before a noun.
func plural(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "y") && !strings.HasSuffix(noun, "ey"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(noun, "y"))
	case strings.HasSuffix(noun, "ch"):
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func verb(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// were makes a count a subject: "1 value was", "2 values were".
func were(n int, noun string) string { return plural(n, noun) + " " + verb(n) }
