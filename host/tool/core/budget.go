package core

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/host/tool"
)

// row is a row of a list that can be shortened. The row itself shows what was dropped.
type row interface {
	value() json.RawMessage // nil: none, or dropped
	dropValue()
	dropDetails() // other parts that may be large
}

// cut describes what shorten left out.
type cut struct {
	values  []int // indexes of the rows whose values were dropped
	details bool  // rows lost more than values
	rows    int   // number of rows dropped at the end
}

func (c cut) nothing() bool { return len(c.values) == 0 && !c.details && c.rows == 0 }

// shorten cuts a list to a number of characters with the least loss: first it drops the largest values, so that every row
// still shows; then details; and rows only as a last resort.
func shorten[R row](rows []R, limit int) ([]R, cut, error) {
	kept, _, c, err := shortenEncoded(rows, limit)
	return kept, c, err
}

// shortenEncoded is shorten, and returns the rows that are kept as JSON, too.
func shortenEncoded[R row](rows []R, limit int) ([]R, [][]byte, cut, error) {
	var c cut
	sizes, encoded := make([]int, len(rows)), make([][]byte, len(rows))
	total := 2 // brackets
	count := func(i int) {
		total -= sizes[i]
		sizes[i] = utf8.RuneCount(encoded[i]) + 1 // and a comma
		total += sizes[i]
	}
	measure := func(i int) (err error) {
		encoded[i], err = encodeRow(rows[i])
		count(i)
		return err
	}
	bytes := total
	for i := range rows {
		var err error
		if encoded[i], err = encodeRow(rows[i]); err != nil {
			return nil, nil, c, err
		}
		bytes += len(encoded[i]) + 1
	}
	if bytes <= limit { // no more characters than bytes
		return rows, encoded, c, nil
	}
	for i := range rows {
		count(i)
	}
	for _, i := range byValue(rows) {
		if total <= limit || len(rows[i].value()) <= len(omitted) {
			break
		}
		rows[i].dropValue()
		c.values = append(c.values, i)
		if err := measure(i); err != nil {
			return nil, nil, c, err
		}
	}
	for i := 0; i < len(rows) && total > limit; i++ {
		rows[i].dropDetails()
		c.details = true
		if err := measure(i); err != nil {
			return nil, nil, c, err
		}
	}
	kept := len(rows)
	for ; kept > 1 && total > limit; kept-- {
		total -= sizes[kept-1]
	}
	c.rows = len(rows) - kept
	c.values = slices.DeleteFunc(c.values, func(i int) bool { return i >= kept })
	slices.Sort(c.values)
	return rows[:kept], encoded[:kept], c, nil
}

func encodeRow(r row) ([]byte, error) {
	if a, ok := r.(appender); ok {
		return a.appendTo(make([]byte, 0, len(r.value())+usualRow))
	}
	return tool.Encode(r)
}

// appender is a row that encodes itself, faster than encoding/json.
type appender interface {
	appendTo(to []byte) ([]byte, error)
}

// usualRow is about the length of a row beside its value, in bytes.
const usualRow = 256

// omitted replaces a dropped value in a row: dropping a shorter value gains nothing.
const omitted = `"value_omitted":true,`

// byValue returns the indexes of rows by descending size of their values.
func byValue[R row](rows []R) []int {
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(rows[b].value()) - len(rows[a].value()) })
	return order
}

// plural returns a noun with its count.
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

// were returns a count as a subject: "1 value was", "2 values were".
func were(n int, noun string) string { return plural(n, noun) + " " + verb(n) }
