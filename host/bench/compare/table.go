package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// report is what a run measured, and where.
type report struct {
	Date    string    `json:"date"`
	Machine string    `json:"machine"`
	Command string    `json:"command"`
	Sizes   sizes     `json:"sizes"`
	Servers []*result `json:"servers"`
}

const nothing = "–"

// markdown is a table with a column for each server.
func (r report) markdown() (string, error) {
	_, questions, err := labelled()
	if err != nil {
		return "", err
	}
	of := map[string]int{}
	for _, q := range questions {
		of[q.Kind]++
	}
	var b strings.Builder
	row := func(label string, cell func(*result) string) {
		b.WriteString("| " + label + " |")
		for _, s := range r.Servers {
			b.WriteString(" " + cell(s) + " |")
		}
		b.WriteString("\n")
	}
	row("", func(s *result) string { return s.Name + " " + s.Version })
	b.WriteString("|---|" + strings.Repeat("---|", len(r.Servers)) + "\n")
	row("start to `initialize`, ms", func(s *result) string { return number(s.Start, "%.0f") })
	row("start to the first store's answer, ms", func(s *result) string { return number(s.First, "%.0f") })
	row("tools, tokens of their list", func(s *result) string { return fmt.Sprintf("%d, %s", s.Tools, thousands(s.Tokens)) })
	row(fmt.Sprintf("store, p50 of %d, ms", r.Sizes.Stores), func(s *result) string { return number(s.Store, "%.1f") })
	row(fmt.Sprintf("search among %d, p50, ms", r.Sizes.Stores), func(s *result) string { return number(s.Search, "%.1f") })
	for _, kind := range kinds() {
		row(labels()[kind], func(s *result) string {
			if s.Found == nil {
				return nothing
			}
			return fmt.Sprintf("%d of %d", s.Found[kind], of[kind])
		})
	}
	row("two processes store at once: lost", func(s *result) string { return s.Together.String() })
	row(fmt.Sprintf("`kill -9` during stores, %d times: lost", r.Sizes.Kills), func(s *result) string { return s.Killed.String() })
	return b.String(), nil
}

func labels() map[string]string {
	return map[string]string{
		"phrase": "found by a phrase of the memory", "words": "by two of its words", "question": "by a question in its words",
		"other words": "by a question in other words",
	}
}

func number(v *float64, format string) string {
	if v == nil {
		return nothing
	}
	return fmt.Sprintf(format, *v)
}

func (w *writes) String() string {
	if w == nil {
		return nothing
	}
	text := fmt.Sprintf("%s of %s", thousands(w.Lost), thousands(w.Acknowledged))
	if w.Refused > 0 {
		text += fmt.Sprintf(", %s refused", thousands(w.Refused))
	}
	return text
}

func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

// What encloses the table in a document.
const begin, end = "<!-- compare -->\n", "<!-- /compare -->\n"

// insert writes the report between the marks of a document.
func (r report) insert(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	before, rest, ok := bytes.Cut(data, []byte(begin))
	_, after, more := bytes.Cut(rest, []byte(end))
	if !ok || !more {
		return errors.New(path + " lacks the marks " + strings.TrimSpace(begin) + " and " + strings.TrimSpace(end))
	}
	table, err := r.markdown()
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%s%s\nMeasured on %s by `%s` on %s.\n%s", begin, table, r.Date, r.Command, r.Machine, end)
	return os.WriteFile(path, slices.Concat(before, []byte(text), after), 0o644)
}
