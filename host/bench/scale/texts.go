package scale

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/alcove-memory/alcove/host/search/wordvec"
)

// Texts are what is stored, each the same whenever it is asked for. They are not safe for concurrent use.
type Texts interface {
	Text(i int) (string, error)
	Name() string          // tells these texts from others
	Most() int             // how many there are
	Stop(word string) bool // whether a question has no use for the word
}

const (
	vocabulary = 250_000
	// The word of rank r comes up in proportion to 1/(r+offset)^exponent (Mandelbrot 1953).
	offset, exponent = 2.7, 1.1
	// The logarithms of lengths in words are normal, with these, in these bounds.
	medianLength, lengthDeviation = 28, .7
	shortestLength, longestLength = 3, 400
)

// functionWords are the most frequent words of English, which no question asks for, in the order of their frequency.
const functionWords = `the of and to a in is that it was for you on with as i he be have at this but not they by from his or we are an my had
do she which there their all if one will would so who when what can her him has been out up about into than them could some only its then
no me your our were did any these those how also after before where while just because over between through during`

// words are texts of words that are as unevenly frequent as those of English: function words, the terms of the built-in word
// vectors by their frequency, and made-up words, which stand for names and numbers.
type words struct {
	seed  uint64
	stops map[string]bool
	list  []string
	sums  []float64 // of frequencies up to each word
}

// Words makes the same texts for the same seed.
func Words(seed uint64) (Texts, error) {
	table, err := wordvec.Open()
	if err != nil {
		return nil, err
	}
	w := &words{seed: seed, stops: map[string]bool{}, list: strings.Fields(functionWords), sums: make([]float64, vocabulary)}
	seen := make(map[string]bool, vocabulary)
	for _, word := range w.list {
		w.stops[word], seen[word] = true, true
	}
	for _, word := range table.Terms() {
		if !seen[word] {
			seen[word] = true
			w.list = append(w.list, word)
		}
	}
	for random := rand.New(rand.NewPCG(seed, 17)); len(w.list) < vocabulary; {
		if word := madeUp(random); !seen[word] {
			seen[word] = true
			w.list = append(w.list, word)
		}
	}
	sum := 0.0
	for i := range w.sums {
		sum += math.Pow(float64(i)+offset, -exponent)
		w.sums[i] = sum
	}
	return w, nil
}

// madeUp is a word of two to four syllables.
func madeUp(random *rand.Rand) string {
	const consonants, vowels = "bdfghklmnprstvwz", "aeiou"
	var b strings.Builder
	for range 2 + random.IntN(3) {
		b.WriteByte(consonants[random.IntN(len(consonants))])
		b.WriteByte(vowels[random.IntN(len(vowels))])
	}
	if random.IntN(2) == 0 {
		b.WriteByte(consonants[random.IntN(len(consonants))])
	}
	return b.String()
}

func (w *words) Name() string          { return fmt.Sprintf("words of %s, seed %d", wordvec.Identity, w.seed) }
func (w *words) Most() int             { return Most }
func (w *words) Stop(word string) bool { return w.stops[word] }

func (w *words) Text(i int) (string, error) {
	random := of(w.seed, i)
	length := int(math.Round(medianLength * math.Exp(lengthDeviation*random.NormFloat64())))
	list := make([]string, min(max(length, shortestLength), longestLength))
	for i := range list {
		at, _ := slices.BinarySearch(w.sums, random.Float64()*w.sums[len(w.sums)-1])
		list[i] = w.list[min(at, len(w.list)-1)]
	}
	return strings.Join(list, " "), nil
}

// of is the randomness that belongs to one text, question or memory.
func of(seed uint64, i int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(i)*0x9e3779b97f4a7c15+1))
}

// longestLine bounds a line of a file of texts, in bytes.
const longestLine = 1 << 20

// file are the texts of a file of {"text": …} lines, which may have other members.
type file struct {
	name  string
	from  *os.File
	lines []int64 // where each begins, and the end
}

// File opens texts, which are read from the file whenever they are asked for. Close is the caller's.
func File(path string) (Texts, io.Closer, error) {
	from, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	f := &file{name: path, from: from, lines: []int64{0}}
	if err := f.index(); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("read %s: %w", path, err), from.Close())
	}
	return f, from, nil
}

func (f *file) index() error {
	lines := bufio.NewScanner(f.from)
	lines.Buffer(nil, longestLine)
	at := int64(0)
	lines.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		advance, token, err := bufio.ScanLines(data, atEOF)
		at += int64(advance)
		return advance, token, err
	})
	for lines.Scan() {
		if _, err := textOf(lines.Bytes()); err != nil {
			return fmt.Errorf("line %d: %w", len(f.lines), err)
		}
		f.lines = append(f.lines, at)
	}
	switch {
	case errors.Is(lines.Err(), bufio.ErrTooLong):
		return fmt.Errorf("line %d is longer than %d bytes", len(f.lines), longestLine)
	case lines.Err() == nil && len(f.lines) == 1:
		return errors.New("it has no lines")
	}
	return lines.Err()
}

func textOf(line []byte) (string, error) {
	var v struct{ Text string }
	if err := json.Unmarshal(line, &v); err != nil {
		return "", err
	}
	if strings.TrimSpace(v.Text) == "" {
		return "", errors.New(`it has no "text"`)
	}
	return v.Text, nil
}

func (f *file) Name() string          { return "the file " + f.name }
func (f *file) Most() int             { return len(f.lines) - 1 }
func (f *file) Stop(word string) bool { return len([]rune(word)) < 4 }

func (f *file) Text(i int) (string, error) {
	line := make([]byte, f.lines[i+1]-f.lines[i])
	if _, err := f.from.ReadAt(line, f.lines[i]); err != nil {
		return "", fmt.Errorf("read line %d of %s: %w", i+1, f.name, err)
	}
	return textOf(line)
}

// Question is some words of one of the first n texts, so that there is an answer. The same number makes the same question.
func Question(texts Texts, n, number, least, most int) (string, error) {
	random := of(uint64(n), -1-number)
	for {
		text, err := texts.Text(random.IntN(n))
		if err != nil {
			return "", err
		}
		var list []string
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
			if word = strings.ToLower(word); !texts.Stop(word) && !slices.Contains(list, word) {
				list = append(list, word)
			}
		}
		if len(list) < least {
			if random.IntN(1000) == 0 { // texts without words to ask for
				return text, nil
			}
			continue
		}
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		return strings.Join(list[:min(len(list), least+random.IntN(most-least+1))], " "), nil
	}
}
