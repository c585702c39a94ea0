package memory

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"
	"unicode"
	"unicode/utf8"
)

// traces are what copies of purged payloads can be told by. Texts of leastText bytes and more identify a payload wherever they stand,
// however they are encoded. What is shorter, numbers, and names of members are looked for as whole values only, and are not
// enough alone where others may have them by chance: see certainty.
type traces struct {
	key    string // of the memory; empty: an event
	texts  map[string]bool
	values map[string]certainty // strings as they are, numbers as number writes them
	size   int                  // bytes of all that
	match  *matcher             // of texts; nil until it is needed
}

// certainty is what a whole value that equals one of a purged payload says.
type certainty int

const (
	byKey  certainty = iota + 1 // a copy where the memory's key is beside it; nothing otherwise
	likely                      // the same, but worth to be named otherwise
	sure                        // a copy
)

const (
	leastSure   = 4 // bytes of a short text with letters and digits or signs, as passwords have them
	leastDigits = 6 // of a number that is a copy wherever it is
	leastLikely = 3 // bytes, or digits: what is shorter is in everything
)

func newTraces(key string) *traces {
	return &traces{key: key, texts: map[string]bool{}, values: map[string]certainty{}}
}

// add adds what a payload, as JSON, can be told by. true, false and null are not looked for.
func (t *traces) add(payload json.RawMessage) {
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

func (t *traces) value(text string, c certainty) {
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

// isIdentifier reports whether a text is like the names that programs give to members.
func isIdentifier(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' || r == '-' || r == '.')
	})
}

// trace is what was found of a payload in a record.
type trace struct {
	text   bool // a text, or a value that is sure
	value  bool // a value that is likely
	beside bool // a value that is a copy beside the key
	part   bool // the beginning of a text
	key    bool
	unread bool // not all was looked at
}

// copied reports whether that is enough to call it a copy.
func (t trace) copied() bool { return t.text || t.key && (t.value || t.beside) }

// doubtful says why it may be a copy; empty when there is no reason to think so.
func (t trace) doubtful() string {
	switch {
	case t.part:
		return "it has the beginning of a text that was purged"
	case t.value:
		return "it has a short or common value that was purged"
	case t.key:
		return "it mentions the key"
	case t.unread:
		return "it is encoded too deeply to be looked through"
	}
	return ""
}

// leastBudget is how many bytes may be decoded or compared of even the shortest record; of a longer one, mostTimes its length.
const (
	leastBudget = 1 << 20
	mostTimes   = 32
)

// in looks for traces in what is stored as JSON.
func (t *traces) in(stored []byte) (found trace) {
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
		found.text, found.part, found.unread = m.whole, found.part || m.part, found.unread || !ok
		found.key = found.key || len(t.key) >= leastText && bytes.Contains(text, []byte(t.key))
		return found.text
	})
	found.unread = found.unread || !whole
	if found.text || len(t.values) == 0 && len(t.key) >= leastText {
		return found
	}
	t.valuesIn(stored, &found)
	return found
}

// valuesIn looks for whole values, also in JSON within strings and in strings that are an encoding as a whole.
func (t *traces) valuesIn(stored []byte, found *trace) {
	budget := leastBudget + mostTimes*len(stored)
	var look func(stored []byte, layer int)
	seen := func(text string) {
		found.key = found.key || t.key != "" && text == t.key
		switch t.values[text] {
		case sure:
			found.text = true
		case likely:
			found.value = true
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

// decodedWhole is what a string as a whole may be an encoding of. A string may itself be JSON.
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

// kind is what a value of JSON is.
type kind int

const (
	aString kind = iota
	aNumber
	aName // of a member
)

// eachValue gives the strings, numbers and names of members in JSON, in their order, until that is no JSON any more. Numbers are
// written in one way, however they were.
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

// longestNumber is how many characters of a number are compared by its worth, and mostExponent how many digits its exponent may have then:
// others are compared as they are written.
const (
	longestNumber = 64
	mostExponent  = 3
)

func canonicalNumber(text string) string {
	_, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	if len(text) > longestNumber || len(strings.TrimLeft(exponent, "+-")) > mostExponent {
		return text
	}
	worth, ok := new(big.Rat).SetString(text)
	if !ok {
		return text
	}
	if worth.IsInt() {
		return worth.Num().String()
	}
	exact, _ := worth.FloatPrec()
	return worth.FloatString(exact)
}
