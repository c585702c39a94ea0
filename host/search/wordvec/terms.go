package wordvec

import "strings"

// unknown is the row of what the training left out.
const unknown = "unk"

// Terms are the terms of the table that are no stop words, those that are most frequent in English first.
func (t *Table) Terms() []string {
	list := make([]string, 0, len(t.rows))
	for _, term := range t.terms {
		if term != unknown && !strings.HasSuffix(term, stopMark) {
			list = append(list, term)
		}
	}
	return list
}
