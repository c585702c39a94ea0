// Package index lists families that registries have. Each entry is signed by the author of its family, so that whoever serves a list
// can leave entries out, and can make none up.
package index

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/registry/signature"
)

// File is the name of a list in its folder, and Suffix what files of entries end with.
const (
	File   = "index.jsonl"
	Suffix = ".entry.json"
)

// Bounds of a list.
const (
	MostBytes   = 16 << 20
	MostEntry   = 64 << 10 // bytes of a line
	MostEntries = 10_000
	mostTools   = 200
	mostWords   = 64  // keywords
	longestText = 400 // characters of a description
	longestName = 128 // bytes of a tool, a version or a keyword
)

// domain keeps the signature of an entry from being one of anything else.
const domain = "alcove family entry 1\n"

// Entry is a version of a family.
type Entry struct {
	Name        string   `json:"name"`
	Version     string   `json:"version"`
	Description string   `json:"description"`
	Keywords    []string `json:"keywords,omitempty"`
	Tools       []Tool   `json:"tools,omitempty"`
	SHA256      string   `json:"sha256"` // of the module
	Source      string   `json:"source"` // oci://HOST/REPOSITORY:TAG@sha256:DIGEST
}

// Tool is a tool of a family.
type Tool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Signed is an entry whose signatures hold.
type Signed struct {
	Entry
	Keys []string `json:"keys"` // public ones that signed it, as text
}

// line is an entry as a list has it.
type line struct {
	Entry      string `json:"entry"` // the JSON that is signed
	Signatures string `json:"signatures"`
}

// header is the first line of a list.
type header struct {
	Alcove string `json:"alcove"` // "families"
	Format int    `json:"format"` // 1
}

// Sign returns an entry as a line of a list.
func Sign[K crypto.Signer](e Entry, keys ...K) ([]byte, error) {
	text, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	made, err := signature.SignText(domain, string(text), keys...)
	if err != nil {
		return nil, err
	}
	out, err := json.Marshal(line{string(text), made})
	if err != nil {
		return nil, err
	}
	if _, err := Open(out); err != nil {
		return nil, err
	}
	return append(out, '\n'), nil
}

// Open reads a line of a list, and verifies its signatures.
func Open(data []byte) (s Signed, err error) {
	if len(data) > MostEntry {
		return s, fmt.Errorf("the entry has more than %d bytes", MostEntry)
	}
	var l line
	if err := strictly(data, &l); err != nil {
		return s, fmt.Errorf("read the entry: %w", err)
	}
	if s.Keys, err = signature.VerifyText(domain, l.Entry, l.Signatures); err != nil {
		return s, err
	}
	if len(s.Keys) == 0 {
		return s, errors.New("the entry is not signed")
	}
	if err := json.Unmarshal([]byte(l.Entry), &s.Entry); err != nil {
		return s, fmt.Errorf("read the signed entry: %w", err)
	}
	return s, s.Entry.check()
}

func strictly(data []byte, into any) error {
	in := json.NewDecoder(bytes.NewReader(data))
	in.DisallowUnknownFields()
	if err := in.Decode(into); err != nil {
		return err
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows it")
	}
	return nil
}

var forms = sync.OnceValue(func() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		"name": regexp.MustCompile(`^[a-z][a-z0-9-]{0,47}$`), "version": regexp.MustCompile(`^[0-9A-Za-z.+-]{1,128}$`), "sha256": regexp.MustCompile(`^[0-9a-f]{64}$`),
		"source": regexp.MustCompile(`^oci://[0-9A-Za-z._:/-]{1,500}@sha256:[0-9a-f]{64}$`),
	}
})

func (e Entry) check() error {
	for _, member := range [][2]string{{"name", e.Name}, {"version", e.Version}, {"sha256", e.SHA256}, {"source", e.Source}} {
		if form := forms()[member[0]]; !form.MatchString(member[1]) {
			return fmt.Errorf("%s of the entry is %.80q, and not of the form %s", member[0], member[1], form)
		}
	}
	if len(e.Tools) > mostTools || len(e.Keywords) > mostWords {
		return fmt.Errorf("the entry has %d tools and %d keywords: at most %d and %d are allowed", len(e.Tools), len(e.Keywords), mostTools, mostWords)
	}
	texts, names := []string{e.Description}, slices.Clone(e.Keywords)
	for _, t := range e.Tools {
		texts, names = append(texts, t.Description), append(names, t.Name)
	}
	for _, s := range texts {
		if utf8.RuneCountInString(s) > longestText || strings.ContainsFunc(s, unicode.IsControl) {
			return fmt.Errorf("a description of the entry is %.80q: at most %d characters are allowed, and no control characters", s, longestText)
		}
	}
	for _, s := range names {
		if s == "" || len(s) > longestName || strings.ContainsFunc(s, unicode.IsControl) {
			return fmt.Errorf("a name in the entry is %.80q: 1 to %d bytes are allowed, and no control characters", s, longestName)
		}
	}
	return nil
}

// Write writes a list of lines that Sign made.
func Write(w io.Writer, lines [][]byte) error {
	if len(lines) > MostEntries {
		return fmt.Errorf("there are %d entries: at most %d are allowed", len(lines), MostEntries)
	}
	if _, err := fmt.Fprintln(w, `{"alcove":"families","format":1}`); err != nil {
		return err
	}
	for _, l := range lines {
		if _, err := fmt.Fprintf(w, "%s\n", bytes.TrimSpace(l)); err != nil {
			return err
		}
	}
	return nil
}

// Read reads a list. Entries that do not hold are left out, and refused is why, for each.
func Read(r io.Reader) (list []Signed, refused []error, err error) {
	in := bufio.NewScanner(io.LimitReader(r, MostBytes+1))
	in.Buffer(make([]byte, 0, 64<<10), MostEntry+1)
	size := 0
	for n := 1; in.Scan(); n++ {
		data := in.Bytes()
		if size += len(data) + 1; size > MostBytes {
			return nil, nil, fmt.Errorf("the index has more than %d bytes", MostBytes)
		}
		if n == 1 {
			var h header
			if json.Unmarshal(data, &h) != nil || h != (header{"families", 1}) {
				return nil, nil, errors.New("it is not an index of families of format 1")
			}
			continue
		}
		if n > MostEntries+1 {
			return nil, nil, fmt.Errorf("the index has more than %d entries", MostEntries)
		}
		s, err := Open(data)
		if err != nil {
			refused = append(refused, fmt.Errorf("line %d: %w", n, err))
			continue
		}
		list = append(list, s)
	}
	switch err := in.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, nil, fmt.Errorf("the index has a line of more than %d bytes", MostEntry)
	case err != nil:
		return nil, nil, err
	case size == 0:
		return nil, nil, errors.New("it is not an index of families: it is empty")
	}
	return list, refused, nil
}

// Find returns the entries that have all words, the best first: words of names count more than those of tools, and these more than
// those of descriptions.
func Find(list []Signed, words []string) []Signed {
	type found struct {
		Signed
		score int
	}
	var all []found
	for _, s := range list {
		if n, ok := s.score(words); ok {
			all = append(all, found{s, n})
		}
	}
	slices.SortStableFunc(all, func(a, b found) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.Name, b.Name), cmp.Compare(b.Version, a.Version))
	})
	out := make([]Signed, len(all))
	for i, f := range all {
		out[i] = f.Signed
	}
	return out
}

func (e Entry) score(words []string) (sum int, all bool) {
	var tools, texts strings.Builder
	texts.WriteString(strings.ToLower(e.Description + " " + strings.Join(e.Keywords, " ")))
	for _, t := range e.Tools {
		tools.WriteString(" " + strings.ToLower(t.Name))
		texts.WriteString(" " + strings.ToLower(t.Description))
	}
	for _, w := range words {
		switch w = strings.ToLower(w); {
		case strings.Contains(e.Name, w):
			sum += 4
		case strings.Contains(tools.String(), w):
			sum += 2
		case strings.Contains(texts.String(), w):
			sum++
		default:
			return 0, false
		}
	}
	return sum, true
}
