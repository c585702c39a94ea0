package scan

import (
	"strconv"
	"unicode/utf8"
	"unsafe"
)

// AppendString appends a string with its quotes. What is not UTF-8 becomes the replacement character.
func AppendString(dst []byte, text string) []byte {
	dst = append(dst, '"')
	if ordinary(unsafe.Slice(unsafe.StringData(text), len(text))) == len(text) {
		return append(append(dst, text...), '"')
	}
	return appendEscaped(dst, text)
}

// appendEscaped appends the characters of a string and the quote behind them.
func appendEscaped(dst []byte, text string) []byte {
	from := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(text[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, text[from:i]...), "\ufffd"...)
				from = i + 1
			}
			i += size
			continue
		}
		if c < ' ' || c == '"' || c == '\\' {
			dst = escape(append(dst, text[from:i]...), c)
			from = i + 1
		}
		i++
	}
	return append(append(dst, text[from:]...), '"')
}

func escape(dst []byte, c byte) []byte {
	const digits = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}

// AppendStrings appends a list of strings.
func AppendStrings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, text := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, text)
	}
	return append(dst, ']')
}

// AppendNumber appends a finite number.
func AppendNumber(dst []byte, v float64) []byte {
	if few, ok := millionths(v); ok {
		return appendMillionths(dst, few)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, 64)
}

// millionths is a number of few digits behind the point, as most are, in millionths. It has at most 12 digits, of which no others make the
// same number, so they are what strconv.AppendFloat gives.
func millionths(v float64) (few int64, ok bool) {
	if v < 1e-4 || v >= 1e6 {
		return 0, false
	}
	few = int64(v*1e6 + .5)
	return few, float64(few)/1e6 == v
}

func appendMillionths(dst []byte, few int64) []byte {
	dst = strconv.AppendInt(dst, few/1e6, 10)
	rest := few % 1e6
	if rest == 0 {
		return dst
	}
	dst = append(dst, '.')
	for unit := int64(1e5); rest > 0; unit /= 10 {
		dst = append(dst, '0'+byte(rest/unit))
		rest %= unit
	}
	return dst
}

// AppendKey appends a key with its colon, and a comma in front unless it is the first of its object.
func AppendKey(dst []byte, key string) []byte {
	if n := len(dst); n > 0 && dst[n-1] != '{' {
		dst = append(dst, ',')
	}
	return append(AppendString(dst, key), ':')
}
