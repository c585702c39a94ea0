// Package tokens splits texts into tokens for language models, by the vocabulary cl100k_base.
package tokens

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Encoding is the name of the vocabulary.
const Encoding = "cl100k_base"

// packed holds the compressed tokens in the order of their ranks, each after a byte with its length.
//
//go:embed cl100k.gz
var packed []byte

// Tokenizer holds the vocabulary. It may be used concurrently.
type Tokenizer struct {
	text  string   // all tokens, concatenated in the order of their ranks
	ends  []uint32 // end of each in text
	slots []uint32 // a hash table of ranks, plus 1; 0: free
}

// slotCount is the size of the hash table: a power of two, more than twice the number of tokens.
const slotCount = 1 << 18

// Load unpacks the vocabulary: about 3 MB, in about 20 ms.
func Load() (*Tokenizer, error) {
	unpacked, err := unpack(packed)
	if err != nil {
		return nil, fmt.Errorf("unpack the vocabulary %s: %w", Encoding, err)
	}
	t := &Tokenizer{slots: make([]uint32, slotCount)}
	var text strings.Builder
	for len(unpacked) > 0 {
		n := int(unpacked[0])
		if n == 0 || n >= len(unpacked)+1 || 1+n > len(unpacked) {
			return nil, fmt.Errorf("unpack the vocabulary %s: token %d is cut off", Encoding, len(t.ends))
		}
		text.Write(unpacked[1 : 1+n])
		t.ends = append(t.ends, uint32(text.Len()))
		unpacked = unpacked[1+n:]
	}
	t.text = text.String()
	for rank := range t.ends {
		t.add(uint32(rank))
	}
	return t, nil
}

func unpack(data []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

func (t *Tokenizer) token(rank uint32) string {
	begin := uint32(0)
	if rank > 0 {
		begin = t.ends[rank-1]
	}
	return t.text[begin:t.ends[rank]]
}

// hash computes FNV-1a.
func hash(text string) uint32 {
	h := uint32(2166136261)
	for i := range len(text) {
		h = (h ^ uint32(text[i])) * 16777619
	}
	return h
}

func (t *Tokenizer) add(rank uint32) {
	at := hash(t.token(rank)) % slotCount
	for t.slots[at] != 0 {
		at = (at + 1) % slotCount
	}
	t.slots[at] = rank + 1
}

// longest bounds a token, in bytes.
const longest = 128

// rank returns the rank of a token; ok is false if it is unknown.
func (t *Tokenizer) rank(text string) (rank uint32, ok bool) {
	if len(text) > longest {
		return 0, false
	}
	for at := hash(text) % slotCount; t.slots[at] != 0; at = (at + 1) % slotCount {
		if found := t.slots[at] - 1; t.token(found) == text {
			return found, true
		}
	}
	return 0, false
}

// Count returns the number of tokens of a text. Special tokens such as <|endoftext|> count as plain text.
func (t *Tokenizer) Count(text string) int {
	n := 0
	for text != "" {
		piece := text[:next(text)]
		text = text[len(piece):]
		if _, whole := t.rank(piece); whole {
			n++
			continue
		}
		n += len(t.merge(piece))
	}
	return n
}

// Split returns the tokens of a text. One may be a part of a character.
func (t *Tokenizer) Split(text string) []string {
	list := []string{}
	for text != "" {
		piece := text[:next(text)]
		text = text[len(piece):]
		if _, whole := t.rank(piece); whole {
			list = append(list, piece)
			continue
		}
		list = append(list, t.merge(piece)...)
	}
	return list
}

// IDs returns the ids of the tokens of a text.
func (t *Tokenizer) IDs(text string) []int {
	split := t.Split(text)
	ids := make([]int, len(split))
	for i, token := range split {
		rank, _ := t.rank(token) // all bytes are tokens
		ids[i] = int(rank)
	}
	return ids
}

// Text returns the text of a token; ok is false for an unknown id, such as that of a special token. It may be a part of a character.
func (t *Tokenizer) Text(id int) (text string, ok bool) {
	if id < 0 || id >= len(t.ends) {
		return "", false
	}
	return t.token(uint32(id)), true
}

// next returns the length of the first non-empty piece of a text. Tokens never span pieces, which this expression
// matches, alternative by alternative:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func next(text string) int {
	if n := contraction(text); n > 0 {
		return n
	}
	first, size := utf8.DecodeRuneInString(text)
	if unicode.IsLetter(first) {
		return run(text, unicode.IsLetter)
	}
	if !isNewline(first) && !unicode.IsNumber(first) {
		if letters := run(text[size:], unicode.IsLetter); letters > 0 {
			return size + letters
		}
	}
	if unicode.IsNumber(first) {
		return digits(text)
	}
	blank := 0
	if first == ' ' {
		blank = 1
	}
	if signs := run(text[blank:], isSign); signs > 0 {
		return blank + signs + run(text[blank+signs:], isNewline)
	}
	return spaces(text)
}

// contraction returns the length of a contraction at the start of a text; 0: none.
func contraction(text string) int {
	if text[0] != '\'' {
		return 0
	}
	for _, end := range []string{"s", "t", "re", "ve", "m", "ll", "d"} {
		if len(text) > len(end) && strings.EqualFold(text[1:1+len(end)], end) {
			return 1 + len(end)
		}
	}
	return 0
}

func isNewline(r rune) bool { return r == '\r' || r == '\n' }

func isSign(r rune) bool { return !unicode.IsSpace(r) && !unicode.IsLetter(r) && !unicode.IsNumber(r) }

// run returns the length of a text's longest prefix of characters of a kind.
func run(text string, is func(rune) bool) int {
	for i, r := range text {
		if !is(r) {
			return i
		}
	}
	return len(text)
}

// digits returns the length of the at most three numerals at the start of a text.
func digits(text string) int {
	n := 0
	for i, r := range text {
		if n == 3 || !unicode.IsNumber(r) {
			return i
		}
		n++
	}
	return len(text)
}

// spaces returns the length of the white space at the start of a text: up to its last line end, or else without the last blank before a
// word.
func spaces(text string) int {
	all := run(text, unicode.IsSpace)
	if line := strings.LastIndexAny(text[:all], "\r\n"); line >= 0 {
		return line + 1
	}
	if _, last := utf8.DecodeLastRuneInString(text[:all]); all < len(text) && all > last {
		return all - last
	}
	return all
}
