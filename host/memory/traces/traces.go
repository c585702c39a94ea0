// Package traces finds copies of a text however it is encoded.
package traces

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Set is the traces of some payloads, by which copies of them are recognized. Texts of leastText bytes and more identify a payload
// anywhere in a record, in any encoding. Shorter texts, numbers and member names are matched as whole values only, and
// prove nothing alone where others may have them by chance: see certainty. A Set is not safe for concurrent use.
type Set struct {
	key    string // of the payloads; empty: none
	texts  map[string]bool
	values map[string]certainty // strings as they are, numbers as number writes them
	size   int                  // bytes of texts and values
	match  *matcher             // of texts; nil until the next Find
}

// certainty is what a whole value equal to one of a payload proves.
type certainty int

const (
	byKey  certainty = iota + 1 // a copy in a record with the key; nothing otherwise
	likely                      // a copy in a record with the key; a doubt otherwise
	sure                        // a copy
)

const (
	leastSure   = 4 // bytes of a short text that mixes letters with digits or signs, as passwords do
	leastDigits = 6 // of a number that is a copy anywhere
	leastLikely = 3 // bytes, or digits: shorter values are everywhere
)

// New returns an empty set for payloads under a key, which hints at a copy when it is in the same record; empty: no key.
func New(key string) *Set {
	return &Set{key: key, texts: map[string]bool{}, values: map[string]certainty{}}
}

// Add adds the traces of a payload, which is JSON. true, false and null leave none.
func (t *Set) Add(payload json.RawMessage) {
	eachValue(payload, func(text string, is kind) {
		switch {
		case is == aName && isIdentifier(text):
			t.value(text, byKey)
		case is == aNumber:
			t.value(text, ofNumber(text))
		case len(text) >= leastText:
			if !t.texts[text] {
				t.texts[text], t.match = true, nil
				t.size += len(text)
			}
		default:
			t.value(text, ofShort(text))
		}
	})
}

// Size is how many bytes of texts and values the set holds.
func (t *Set) Size() int { return t.size }

// Key is the key the set was made for.
func (t *Set) Key() string { return t.key }

func (t *Set) value(text string, c certainty) {
	if c == 0 || t.values[text] >= c {
		return
	}
	t.values[text] = c
	t.size += len(text)
}

func ofNumber(text string) certainty {
	digits := len(strings.Trim(strings.Trim(text, "-"), "0")) // of the canonical form
	switch {
	case digits >= leastDigits:
		return sure
	case digits >= leastLikely:
		return likely
	}
	return 0
}

func ofShort(text string) certainty {
	letters, others := strings.ContainsFunc(text, unicode.IsLetter), strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
	switch {
	case len(text) >= leastSure && letters && others && !isIdentifier(text):
		return sure
	case len(text) >= leastLikely:
		return likely
	}
	return 0
}

// isIdentifier reports whether a text looks like a member name that a program chose.
func isIdentifier(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' || r == '-' || r == '.')
	})
}

// Found is what a record has of the payloads of a set.
type Found struct {
	Text   bool // a text, or a value that is distinctive enough alone
	Value  bool // a short or common value
	Part   bool // the beginning of a text
	Key    bool // the key of the set
	beside bool // a value that counts only with the key
	unread bool // the record was not read to the end: its encodings exceed the budget
}

// Copy reports whether the record is a copy for sure.
func (f Found) Copy() bool { return f.Text || f.Key && (f.Value || f.beside) }

// Explanation says why the record may be a copy; empty when nothing suggests it.
func (f Found) Explanation() string {
	switch {
	case f.Part:
		return "it has the beginning of a text that was purged"
	case f.Value:
		return "it has a short or common value that was purged"
	case f.Key:
		return "it mentions the key"
	case f.unread:
		return "it is encoded too deeply to be looked through"
	}
	return ""
}

// A record may cost leastBudget bytes of decoding and of comparing, plus mostTimes its length.
const (
	leastBudget = 1 << 20
	mostTimes   = 32
)

// Find looks for the traces in a record, which is JSON, in time proportional to its length.
func (t *Set) Find(stored []byte) (found Found) {
	if t.match == nil {
		texts := make([]string, 0, len(t.texts))
		for text := range t.texts {
			texts = append(texts, text)
		}
		t.match = newMatcher(texts)
	}
	budget := leastBudget + mostTimes*len(stored)
	compared := budget
	whole := eachDecoding(stored, &budget, func(text []byte) bool {
		m, ok := t.match.find(text, &compared)
		found.Text, found.Part, found.unread = m.whole, found.Part || m.part, found.unread || !ok
		found.Key = found.Key || len(t.key) >= leastText && bytes.Contains(text, []byte(t.key))
		return found.Text
	})
	found.unread = found.unread || !whole
	if found.Text || len(t.values) == 0 && len(t.key) >= leastText {
		return found
	}
	t.valuesIn(stored, &found)
	return found
}

// valuesIn looks for whole values, also in strings that are JSON or another encoding as a whole.
func (t *Set) valuesIn(stored []byte, found *Found) {
	budget := leastBudget + mostTimes*len(stored)
	var look func(stored []byte, layer int)
	seen := func(text string) {
		found.Key = found.Key || t.key != "" && text == t.key
		switch t.values[text] {
		case sure:
			found.Text = true
		case likely:
			found.Value = true
		case byKey:
			found.beside = true
		}
	}
	look = func(stored []byte, layer int) {
		eachValue(stored, func(text string, is kind) {
			if budget -= len(text); budget < 0 {
				found.unread = true
				return
			}
			seen(text)
			if layer == mostLayers || is == aNumber {
				return
			}
			for _, inner := range decodedWhole(text) {
				seen(string(inner))
				look(inner, layer+1)
			}
		})
	}
	look(stored, 0)
}

// decodedWhole returns everything a string as a whole may be an encoding of. A string of JSON is among it as it is.
func decodedWhole(text string) [][]byte {
	raw := []byte(text)
	var list [][]byte
	if first := bytes.TrimLeft(raw, " \t\r\n"); len(first) > 0 && strings.IndexByte(`{["-0123456789`, first[0]) >= 0 && json.Valid(raw) {
		list = append(list, raw)
	}
	for _, decode := range []func([]byte) []byte{unescaped, unentitied, unpercented, unplussed, wholeBase64, wholeHex} {
		if out := decode(raw); len(out) > 0 && !bytes.Equal(out, raw) && utf8.Valid(out) {
			list = append(list, out)
		}
	}
	return list
}

// kind is the kind of a JSON value.
type kind int

const (
	aString kind = iota
	aNumber
	aName // of a member
)

// eachValue calls do with the strings, numbers and member names of JSON, in their order, up to the first syntax error. Numbers are
// canonical.
func eachValue(value []byte, do func(text string, is kind)) {
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	var inObject []bool // per open bracket: is it an object?
	name := false       // the next string is a member's name
	for {
		token, err := dec.Token()
		if err != nil {
			return
		}
		switch t := token.(type) {
		case json.Delim:
			if t == '{' || t == '[' {
				inObject = append(inObject, t == '{')
				name = t == '{'
				continue
			}
			inObject = inObject[:len(inObject)-1]
		case json.Number:
			do(canonicalNumber(t.String()), aNumber)
		case string:
			if name {
				name = false
				do(t, aName)
				continue
			}
			do(t, aString)
		}
		name = len(inObject) > 0 && inObject[len(inObject)-1]
	}
}

// Numbers of up to longestNumber characters, with exponents of up to mostExponent digits, are compared by their value; others as they
// are written, because their expansion may be huge.
const (
	longestNumber = 64
	mostExponent  = 3
)

// canonicalNumber writes a number in one way, however it was written: 4.0e1 as 40.
func canonicalNumber(text string) string {
	_, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	if len(text) > longestNumber || len(strings.TrimLeft(exponent, "+-")) > mostExponent {
		return text
	}
	number, ok := new(big.Rat).SetString(text)
	if !ok {
		return text
	}
	if number.IsInt() {
		return number.Num().String()
	}
	exact, _ := number.FloatPrec()
	return number.FloatString(exact)
}
