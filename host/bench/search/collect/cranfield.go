package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// record is a document or a question of the Cranfield collection: its number, and its fields by their letters.
type record struct {
	number string
	fields map[byte]string
}

// records reads a file of lines such as ".I 1", ".T" and the text that follows.
func records(path string) ([]record, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var list []record
	field := byte(0)
	for _, line := range strings.Split(strings.ReplaceAll(string(raw), "\r", ""), "\n") {
		switch {
		case strings.HasPrefix(line, ".I "):
			list = append(list, record{strings.TrimSpace(line[3:]), map[byte]string{}})
			field = 0
		case len(line) == 2 && line[0] == '.':
			field = line[1]
		case len(list) > 0 && field != 0:
			last := list[len(list)-1].fields
			last[field] = strings.TrimSpace(last[field] + " " + strings.TrimSpace(line))
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no line that begins with .I", path)
	}
	return list, nil
}

// cranfield reads abstracts, questions, and which of the former answer which of the latter. The collection grades from 1,
// the best, to 4, the least; what is written grades from 4 to 1. Questions are numbered in their order.
func cranfield(documents, questions, judgements string) (docs []document, queries []query, err error) {
	abstracts, err := records(documents)
	if err != nil {
		return nil, nil, err
	}
	for _, a := range abstracts {
		docs = append(docs, document{ID: a.number, Text: a.fields['W'], Meta: map[string]any{"title": a.fields['T'], "author": a.fields['A']}})
	}
	asked, err := records(questions)
	if err != nil {
		return nil, nil, err
	}
	for i, q := range asked {
		queries = append(queries, query{ID: strconv.Itoa(i + 1), Text: q.fields['W'], Relevant: map[string]int{}, Meta: map[string]any{}})
	}
	raw, err := os.ReadFile(judgements)
	if err != nil {
		return nil, nil, err
	}
	for n, line := range strings.Split(string(raw), "\n") {
		parts := strings.Fields(line)
		if len(parts) == 0 {
			continue
		}
		if len(parts) < 3 {
			return nil, nil, fmt.Errorf("%s, line %d: %q has no three numbers", judgements, n+1, line)
		}
		question, err := strconv.Atoi(parts[0])
		grade, bad := strconv.Atoi(parts[2])
		if err != nil || bad != nil || question < 1 || question > len(queries) {
			return nil, nil, fmt.Errorf("%s, line %d: %q is no judgement of a question that there is", judgements, n+1, line)
		}
		if grade >= 1 && grade <= 4 {
			queries[question-1].Relevant[parts[1]] = 5 - grade
		}
	}
	return docs, queries, nil
}
