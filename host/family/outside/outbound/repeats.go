package outbound

import (
	"bytes"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/host/memory/traces"
)

// leastLike is how many letters and digits a key needs to be looked for by these alone: shorter ones are in answers by chance.
const leastLike = 8

// repeats reports whether an answer contains a key: a server that returns what it was sent would reveal it. The key is found as it is, in
// the encodings that package traces undoes, and by its letters and digits alone, as alike says. Whoever invents an encoding of their own
// is not found out.
func repeats(header http.Header, body []byte, key string) bool {
	text, err := json.Marshal(key)
	if key == "" || err != nil {
		return false
	}
	found, forms := traces.New(""), encodedForms(key)
	found.Add(text)
	has := func(answer []byte) bool {
		return bytes.Contains(answer, []byte(key)) || found.Find(answer).Text || hasAny(lettersAndDigits(answer), forms)
	}
	for _, values := range header {
		if slices.ContainsFunc(values, func(value string) bool { return has([]byte(value)) }) {
			return true
		}
	}
	return has(body)
}

// encodedForms returns the forms of a key by which it is found in the letters and digits of an answer: in any case, with anything else between
// them; forwards, backwards, in hexadecimal, in base32, and as decimal numbers of its bytes.
func encodedForms(key string) (forms [][]byte) {
	reversed := []byte(key)
	slices.Reverse(reversed)
	var decimal []byte
	for _, c := range []byte(key) {
		decimal = strconv.AppendUint(decimal, uint64(c), 10)
	}
	all := append(inBase32(key), key, string(reversed), hex.EncodeToString([]byte(key)), string(decimal))
	for _, form := range all {
		if plain := lettersAndDigits([]byte(form)); len(plain) >= leastLike {
			forms = append(forms, plain)
		}
	}
	return forms
}

// inBase32 returns what base32 of any text with a key in it has of the key, for each place at which the key may begin.
func inBase32(key string) (forms []string) {
	for before := range 5 { // bytes of the text in the group in which the key begins
		encoded := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString([]byte(strings.Repeat("\x00", before) + key))
		from := (before*8 + 4) / 5 // the first character that has bits of the key alone
		to := (before + len(key)) * 8 / 5
		if from < to {
			forms = append(forms, encoded[from:to])
		}
	}
	return forms
}

// lettersAndDigits returns the ASCII letters and digits of a text, in lower case.
func lettersAndDigits(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for _, c := range text {
		switch {
		case c >= 'A' && c <= 'Z':
			out = append(out, c|0x20)
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			out = append(out, c)
		}
	}
	return out
}

func hasAny(text []byte, forms [][]byte) bool {
	return slices.ContainsFunc(forms, func(form []byte) bool { return bytes.Contains(text, form) })
}
