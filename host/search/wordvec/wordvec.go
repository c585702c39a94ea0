// Package wordvec embeds English texts with a table of word vectors that is part of the program.
//
// A text's vector is the normalised sum of the vectors of its terms. Terms that the table lacks, most names and numbers
// among them, are skipped.
package wordvec

import (
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/alcove-memory/alcove/host/search"
)

// Dimensions is the length of the vectors.
const Dimensions = 128

// Identity names the table and the analysis: vectors of another identity are not comparable. It changes with either.
const Identity = "english-1"

//go:embed table.bin
var table string

// The format of a table; numbers are little-endian:
//
//	"alcwords"  u32 rows  u32 dimensions
//	rows × float32                 the factor of each row
//	rows × dimensions × int8
//	the terms of the rows, each followed by a line feed
//
// An apostrophe follows the term of a stop word.
// Rows are ordered by the frequency of their terms, so that the pages of frequent terms are few.
const (
	magic      = "alcwords"
	stopMark   = "'"
	headerSize = len(magic) + 8
)

// leastKnown is the share of a text's terms that are in the table or stop words, below which the text is taken for one in
// another language. Of 500 English memories and questions 2% have less than .71, none less than .60; half of those in German and Spanish less
// than .45 and .55.
const (
	leastKnown = .6
	leastAsked = .7
)

// longestText bounds the embedded terms of a text.
const longestText = 4096

// Table is the vectors of terms. It is safe for concurrent use.
type Table struct {
	*content

	mu    sync.Mutex
	asked map[string][]search.NearTerm
}

// content is what tables share.
type content struct {
	analyser *search.Analyser
	terms    []string // by row
	rows     map[string]int32
	stops    map[string]int32 // rows of stop words, such as when and who
	factors  string           // float32 by row
	vectors  string           // int8, Dimensions a row
	shapes   func() []shape   // by row; made when first needed
	notes    []search.Note    // by row
	unknown  search.Note      // of words that have no row
}

// Open reads the program's table, which takes some milliseconds.
func Open() (*Table, error) { return parse(table) }

// parse reads a table. The result shares the memory of the text.
func parse(raw string) (*Table, error) {
	if len(raw) < headerSize || !strings.HasPrefix(raw, magic) {
		return nil, errors.New("read the table of word vectors: it does not begin like one")
	}
	rows, dimensions := int(number(raw[len(magic):])), int(number(raw[len(magic)+4:]))
	rest := raw[headerSize:]
	if dimensions != Dimensions || rows > len(rest)/(4+Dimensions) {
		return nil, fmt.Errorf("read the table of word vectors: %d rows of %d dimensions do not fit %d bytes", rows, dimensions, len(rest))
	}
	t := &Table{content: &content{factors: rest[:4*rows], vectors: rest[4*rows : (4+Dimensions)*rows], rows: make(map[string]int32, rows), stops: map[string]int32{}}, asked: map[string][]search.NearTerm{}}
	for term := range strings.Lines(rest[(4+Dimensions)*rows:]) {
		term = strings.TrimSuffix(term, "\n")
		if stop, found := strings.CutSuffix(term, stopMark); found {
			t.stops[stop] = int32(len(t.terms))
		} else {
			t.rows[term] = int32(len(t.terms))
		}
		t.terms = append(t.terms, term)
	}
	if len(t.terms) != rows || len(t.rows)+len(t.stops) != rows {
		return nil, fmt.Errorf("read the table of word vectors: %d distinct terms for %d rows", len(t.rows)+len(t.stops), rows)
	}
	var err error
	if t.analyser, err = search.NewAnalyser("english"); err != nil {
		return nil, err
	}
	t.shapes = sync.OnceValue(t.shapesOf)
	t.unknown, t.notes = search.Note{By: t, Number: noRow}, make([]search.Note, rows)
	for i := range t.notes {
		t.notes[i] = search.Note{By: t, Number: int32(i)}
	}
	return t, nil
}

// Another returns a table of the same vectors, which remembers nothing of what this one was asked.
func (t *Table) Another() *Table {
	return &Table{content: t.content, asked: map[string][]search.NearTerm{}}
}

// Fusion is how the scores of the table's vectors are combined with lexical ones. The numbers are those that served best
// for questions in other words, and lowered nothing for conversations and abstracts: see docs/guides/search.md.
func Fusion() *search.Fusion { return &search.Fusion{Weight: 2, Full: 2, Floor: .2, Least: .4} }

const (
	// NearWeight is the weight of near terms beside the terms of a question.
	NearWeight = .3
	// MostNearDocuments bounds the documents of a view in which near terms are searched, so that a search takes not much longer. Among
	// more of them the question's own words are seldom missing.
	MostNearDocuments = 20_000
)

func number(raw string) uint32 {
	return uint32(raw[0]) | uint32(raw[1])<<8 | uint32(raw[2])<<16 | uint32(raw[3])<<24
}

func (t *Table) factor(row int32) float32 {
	return math.Float32frombits(number(t.factors[4*row:]))
}

func (t *Table) vector(row int32) string {
	return t.vectors[int(row)*Dimensions : (int(row)+1)*Dimensions]
}

// Vector returns the vector of a text, of length 1; nil if the table knows too few of its terms, as in other languages.
func (t *Table) Vector(text string) []float32 { return t.embed(text, leastKnown) }

// Question is Vector for a question, of which more terms must be known: without a vector the words alone decide.
func (t *Table) Question(text string) []float32 { return t.embed(text, leastAsked) }

func (t *Table) embed(text string, least float64) []float32 {
	s := sum{table: t}
	for term, stop := range t.analyser.Words(text) {
		if !s.add(t.row(term, stop), stop) {
			break
		}
	}
	return s.vector(least)
}

// OfWords returns Vector of the text in which an analyser found words; ok is false if it is not the table's.
func (t *Table) OfWords(w search.DocumentWords) (v []float32, ok bool) {
	if !t.analyser.Finds(w.By) {
		return nil, false
	}
	s := sum{table: t}
	w.Each(func(w search.Word) bool { return s.add(t.rowOf(w), w.IsStop()) })
	return s.vector(leastKnown), true
}

// noRow is that of a term that the table lacks.
const noRow = -1

func (t *Table) row(term string, stop bool) int32 {
	rows := t.rows
	if stop {
		rows = t.stops
	}
	if row, ok := rows[term]; ok {
		return row
	}
	return noRow
}

// rowOf is row, which it notes with the word.
func (t *Table) rowOf(w search.Word) int32 {
	if n := w.Note(); n != nil && n.By == t {
		return n.Number
	}
	row := t.row(w.Term(), w.IsStop())
	if row == noRow {
		w.SetNote(&t.unknown)
	} else {
		w.SetNote(&t.notes[row])
	}
	return row
}

// sum is the sum of the vectors of a text's terms.
type sum struct {
	table        *Table
	of           [Dimensions]float32
	terms, known int
}

// add adds the row of a term, and reports whether others may follow.
func (s *sum) add(row int32, stop bool) bool {
	if row != noRow {
		s.table.add(&s.of, row)
	}
	if row != noRow || stop {
		s.known++
	}
	s.terms++
	return s.terms < longestText
}

// vector returns the vector of the text; nil if fewer than the least share of its terms is known.
func (s *sum) vector(least float64) []float32 {
	if float64(s.known) < least*float64(s.terms) {
		return nil
	}
	return normalised(&s.of)
}

func (t *Table) add(to *[Dimensions]float32, row int32) {
	factor, v := t.factor(row), t.vector(row)
	for i := range to {
		to[i] += float32(factor * float32(int8(v[i]))) // not fused, so that all platforms agree
	}
}

func normalised(to *[Dimensions]float32) []float32 {
	square := 0.0
	for _, x := range to {
		square += float64(x) * float64(x)
	}
	if length := math.Sqrt(square); length > 1e-12 {
		v := make([]float32, Dimensions)
		for i, x := range to {
			v[i] = float32(float64(x) / length)
		}
		return v
	}
	return nil
}

// Name implements embed.Embedder.
func (*Table) Name() string { return "builtin" }

// Dimensions implements embed.Embedder.
func (*Table) Dimensions() int { return Dimensions }

// Embed implements embed.Embedder.
func (t *Table) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		vectors[i] = t.Vector(text)
	}
	return vectors, nil
}

// Term is an index term. A stop word is another than the equal stem of a word: own is also the stem of owned.
type Term struct {
	Text string
	Stop bool
}

// Row is a term with its vector as a table keeps it: each element is Factor times a whole number.
type Row struct {
	Term   Term
	Factor float32
	Vector []int8 // Dimensions elements
}

// Encode returns a table of rows, most frequent terms first.
func Encode(rows []Row) []byte {
	out := binary.LittleEndian.AppendUint32([]byte(magic), uint32(len(rows)))
	out = binary.LittleEndian.AppendUint32(out, Dimensions)
	for _, r := range rows {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(r.Factor))
	}
	for _, r := range rows {
		for _, x := range r.Vector {
			out = append(out, byte(x))
		}
	}
	for _, r := range rows {
		out = append(out, r.Term.Text...)
		if r.Term.Stop {
			out = append(out, stopMark...)
		}
		out = append(out, '\n')
	}
	return out
}
