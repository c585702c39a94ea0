// Package measure measures the quality and speed of retrieval, through the tools that agents use.
package measure

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Document is something to be found.
type Document struct {
	ID   string                     `json:"id"`
	Text string                     `json:"text"`
	Meta map[string]json.RawMessage `json:"meta"`
}

// Question is asked of the documents, some of which are known to answer it.
type Question struct {
	ID       string                     `json:"id"`
	Text     string                     `json:"text"`
	Relevant map[string]float64         `json:"relevant"` // grades by document
	Meta     map[string]json.RawMessage `json:"meta"`
}

// longestLine bounds a line of a file, in bytes.
const longestLine = 16 << 20

// ReadDocuments reads one document a line of JSON.
func ReadDocuments(r io.Reader) ([]Document, error) {
	seen := map[string]bool{}
	return readLines(r, func(d Document) error {
		switch {
		case d.ID == "":
			return errors.New(`the document has no "id"`)
		case seen[d.ID]:
			return fmt.Errorf("there is a document %q before it", d.ID)
		}
		seen[d.ID] = true
		return nil
	})
}

// ReadQuestions reads one question a line of JSON.
func ReadQuestions(r io.Reader) ([]Question, error) {
	return readLines(r, func(q Question) error {
		if q.ID == "" || strings.TrimSpace(q.Text) == "" {
			return errors.New(`the question has no "id", or no "text"`)
		}
		return nil
	})
}

// OfCategories are the questions whose meta.category is one of those named; all when none is.
func OfCategories(list []Question, names []string) []Question {
	if len(names) == 0 {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(q Question) bool { return !slices.Contains(names, field(q.Meta, "category")) })
}

func readLines[T any](r io.Reader, check func(T) error) ([]T, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestLine)
	var list []T
	n := 0
	for lines.Scan() {
		n++
		if len(strings.TrimSpace(lines.Text())) == 0 {
			continue
		}
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if err := check(v); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		list = append(list, v)
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return nil, fmt.Errorf("line %d is longer than %d bytes", n+1, longestLine)
	}
	return list, lines.Err()
}

// field is what a path such as meta.conv says about a document or question; empty when there is nothing. Texts are
// as they are, anything else as its JSON.
func field(meta map[string]json.RawMessage, path string) string {
	names := strings.Split(strings.TrimPrefix(path, "meta."), ".")
	raw := meta[names[0]]
	for _, name := range names[1:] {
		var inner map[string]json.RawMessage
		if json.Unmarshal(raw, &inner) != nil {
			return ""
		}
		raw = inner[name]
	}
	if s := ""; json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// longestNamespace is that of a namespace's name, in characters.
const longestNamespace = 128

// namespace is where the documents of a group are kept.
func namespace(group string) string {
	if group == "" {
		return "default"
	}
	allowed := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(".-", r)
	}
	if len(group) <= longestNamespace && !strings.ContainsFunc(group, func(r rune) bool { return !allowed(r) }) && !slices.Contains([]string{".", ".."}, group) {
		return group
	}
	sum := sha256.Sum256([]byte(group))
	return "group-" + hex.EncodeToString(sum[:16])
}
