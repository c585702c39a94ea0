package traces

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"hash/maphash"
	"html"
	"unicode/utf16"
	"unicode/utf8"
)

// mostLayers is how many nested encodings are undone: JSON within JSON within a record, and one or two more.
const mostLayers = 5

// decodings undoes one layer of each encoding wherever it occurs in a text, and keeps or drops the rest.
func decodings(text []byte) [][]byte {
	return append([][]byte{unescaped(text), unentitied(text), unpercented(text), unplussed(text)}, append(unbased(text), unhexed(text)...)...)
}

// eachDecoding visits a text and everything it may be an encoding of, until visit returns true. Output that is not UTF-8 is not decoded
// further. budget is how many bytes it may decode; eachDecoding lowers it. ok is false when the budget ran out.
func eachDecoding(text []byte, budget *int, visit func(text []byte) (stop bool)) (ok bool) {
	seed := maphash.MakeSeed()
	seen := map[uint64]bool{maphash.Bytes(seed, text): true}
	layer := [][]byte{text}
	for depth := 0; len(layer) > 0; depth++ {
		var next [][]byte
		for _, text := range layer {
			if visit(text) {
				return true
			}
			if depth == mostLayers || !utf8.Valid(text) {
				continue
			}
			for _, out := range decodings(text) {
				if len(out) == 0 || seen[maphash.Bytes(seed, out)] {
					continue
				}
				seen[maphash.Bytes(seed, out)] = true
				if *budget -= len(out); *budget < 0 {
					return false
				}
				next = append(next, out)
			}
		}
		layer = next
	}
	return true
}

// unescaped undoes the escapes of JSON strings and similar ones, also in a text that is not JSON as a whole.
func unescaped(text []byte) []byte {
	if bytes.IndexByte(text, '\\') < 0 {
		return nil
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		if text[i] != '\\' || i+1 == len(text) {
			out = append(out, text[i])
			i++
			continue
		}
		r, size := escapedRune(text[i:])
		out, i = utf8.AppendRune(out, r), i+size
	}
	return out
}

// escapedRune decodes the escape at the beginning of a text, and returns its length in bytes.
func escapedRune(text []byte) (r rune, size int) {
	switch c := text[1]; c {
	case 'n':
		return '\n', 2
	case 't':
		return '\t', 2
	case 'r':
		return '\r', 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'x':
		if n, ok := hexNumber(text, 2, 2); ok {
			return n, 4
		}
	case 'U':
		if n, ok := hexNumber(text, 2, 8); ok {
			return n, 10
		}
	case 'u':
		n, ok := hexNumber(text, 2, 4)
		if !ok {
			break
		}
		if low, ok := hexNumber(text, 8, 4); ok && text[6] == '\\' && text[7] == 'u' && utf16.IsSurrogate(n) {
			if pair := utf16.DecodeRune(n, low); pair != utf8.RuneError {
				return pair, 12
			}
		}
		return n, 6
	}
	r, size = utf8.DecodeRune(text[1:])
	return r, 1 + size
}

// hexNumber decodes hexadecimal digits of a text.
func hexNumber(text []byte, from, digits int) (n rune, ok bool) {
	if from+digits > len(text) {
		return 0, false
	}
	for _, c := range text[from : from+digits] {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F':
			n = n<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return n, true
}

// unentitied undoes the character references of HTML and XML.
func unentitied(text []byte) []byte {
	if bytes.IndexByte(text, '&') < 0 {
		return nil
	}
	return []byte(html.UnescapeString(string(text)))
}

// unpercented undoes the percent encoding of URLs.
func unpercented(text []byte) []byte {
	if bytes.IndexByte(text, '%') < 0 {
		return nil
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if n, ok := hexNumber(text, i+1, 2); text[i] == '%' && ok {
			out = append(out, byte(n))
			i += 2
			continue
		}
		out = append(out, text[i])
	}
	return out
}

// unplussed undoes the encoding of blanks in HTML forms.
func unplussed(text []byte) []byte {
	if bytes.IndexByte(text, '+') < 0 {
		return nil
	}
	return bytes.ReplaceAll(text, []byte{'+'}, []byte{' '})
}

const (
	leastBased = 11 // characters of base64 that encode leastText bytes
	leastHexed = 2 * leastText
)

// unbased decodes the runs of base64 characters in a text, in both alphabets, across lines, and from each offset in a run. The first
// result has the outputs that are UTF-8, the second the others.
func unbased(text []byte) [][]byte {
	var out runs
	eachRun(text, isBased, leastBased, out.addBased)
	if bytes.IndexByte(text, '\n') >= 0 {
		lines := bytes.ReplaceAll(bytes.ReplaceAll(text, []byte{'\r'}, nil), []byte{'\n'}, nil)
		eachRun(lines, isBased, leastBased, out.addBased)
	}
	return [][]byte{out.texts, out.others}
}

// runs are decoded runs of characters, each followed by a zero byte.
type runs struct{ texts, others []byte }

func (r *runs) add(data []byte) {
	to := &r.texts
	if !utf8.Valid(data) {
		to = &r.others
	}
	*to = append(append(*to, data...), 0)
}

func isBased(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '-' || c == '_'
}

func (r *runs) addBased(run []byte) {
	run = bytes.Clone(run)
	for i, c := range run {
		switch c {
		case '-':
			run[i] = '+'
		case '_':
			run[i] = '/'
		}
	}
	for from := range 4 {
		part := run[from:]
		if len(part)%4 == 1 {
			part = part[:len(part)-1]
		}
		if data, err := base64.RawStdEncoding.AppendDecode(nil, part); err == nil {
			r.add(data)
		}
	}
}

// unhexed does the same for runs of hexadecimal digits.
func unhexed(text []byte) [][]byte {
	var out runs
	eachRun(text, isHexed, leastHexed, func(run []byte) {
		for from := range 2 {
			part := run[from : from+(len(run)-from)/2*2]
			if data, err := hex.AppendDecode(nil, part); err == nil {
				out.add(data)
			}
		}
	})
	return [][]byte{out.texts, out.others}
}

func isHexed(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// eachRun calls do with every maximal run of the characters that in accepts, of at least least bytes.
func eachRun(text []byte, in func(byte) bool, least int, do func(run []byte)) {
	for at := 0; at < len(text); at++ {
		from := at
		for at < len(text) && in(text[at]) {
			at++
		}
		if at-from >= least {
			do(text[from:at])
		}
	}
}

// wholeBase64 decodes a text that is base64 as a whole, however short; nil when it is not.
func wholeBase64(text []byte) []byte {
	trimmed := bytes.TrimRight(text, "=")
	if len(trimmed) < 4 || len(trimmed)%4 == 1 {
		return nil
	}
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if data, err := encoding.AppendDecode(nil, trimmed); err == nil {
			return data
		}
	}
	return nil
}

// wholeHex decodes a text that is hexadecimal as a whole; nil when it is not.
func wholeHex(text []byte) []byte {
	data, err := hex.AppendDecode(nil, text)
	if err != nil || len(data) < leastLikely {
		return nil
	}
	return data
}
