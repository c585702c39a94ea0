// Package scan reads JSON whose form is known, and writes it, without reflection.
//
// In a guest encoding/json takes ten times as long as in a native program, so what runs on every request is read with
// this instead. A Scanner stops at its first error and gives zeros from there on; Err tells it.
package scan

import (
	"errors"
	"iter"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// maxDepth is how deep values may nest.
const maxDepth = 1000

// Scanner reads one JSON value from its beginning to its end.
type Scanner struct {
	data  []byte
	at    int
	first []bool // for each open object or list: nothing was read of it yet
	err   error

	usual [16]bool // of first, while nothing nests deeper
	coder Coder    // by which values read
}

// New reads data, which must not change any more: strings and raw values point into it.
func New(data []byte) *Scanner {
	s := &Scanner{}
	s.Reset(data)
	return s
}

// Reset has the scanner read other data from their beginning.
func (s *Scanner) Reset(data []byte) {
	s.data, s.at, s.first, s.err = data, 0, s.usual[:0], nil
}

// Err is the first error; nil when everything was as expected.
func (s *Scanner) Err() error { return s.err }

// End is an error when there was one, or when something follows the value.
func (s *Scanner) End() error {
	s.blanks()
	if s.err == nil && s.at < len(s.data) {
		s.fail("nothing")
	}
	return s.err
}

func (s *Scanner) fail(wanted string) {
	if s.err != nil {
		return
	}
	s.err = errors.New("JSON at byte " + strconv.Itoa(s.at) + " of " + strconv.Itoa(len(s.data)) + ": expected " + wanted)
	s.at = len(s.data)
}

func (s *Scanner) blanks() {
	for s.at < len(s.data) {
		switch s.data[s.at] {
		case ' ', '\n', '\t', '\r':
			s.at++
		default:
			return
		}
	}
}

// peek is the next byte that is not blank; 0 at the end.
func (s *Scanner) peek() byte {
	if s.at < len(s.data) && s.data[s.at] > ' ' {
		return s.data[s.at]
	}
	s.blanks()
	if s.at == len(s.data) {
		return 0
	}
	return s.data[s.at]
}

func (s *Scanner) open(sign byte, what string) bool {
	if s.Null() {
		return false
	}
	if s.peek() != sign || len(s.first) == maxDepth {
		s.fail(what)
		return false
	}
	s.at++
	s.first = append(s.first, true)
	return true
}

// more says whether there is another element before the end of what is open, and stands before it.
func (s *Scanner) more(end byte) bool {
	if s.err != nil || len(s.first) == 0 {
		return false
	}
	top := len(s.first) - 1
	if s.at < len(s.data) && s.data[s.at] == ',' && !s.first[top] {
		s.at++
		return true
	}
	c := s.peek()
	switch {
	case c == end:
		s.at++
		s.first = s.first[:top]
		return false
	case s.first[top]:
		s.first[top] = false
		return true
	case c == ',':
		s.at++
		return true
	}
	s.fail("a comma or the end")
	return false
}

// Fields goes through an object: for each key, its value has to be read before the next. Null has no fields.
func (s *Scanner) Fields() iter.Seq[string] {
	return func(yield func(string) bool) {
		if !s.open('{', "an object") {
			return
		}
		for s.more('}') {
			key, ok := s.key()
			if !ok || !yield(key) {
				return
			}
		}
	}
}

// key reads a key and its colon.
func (s *Scanner) key() (string, bool) {
	key, ok := s.simple()
	if !ok {
		key = s.quoted()
	}
	return key, s.colon()
}

func (s *Scanner) colon() bool {
	if s.at < len(s.data) && s.data[s.at] == ':' {
		s.at++
		return s.err == nil
	}
	if s.peek() != ':' {
		s.fail("a colon")
		return false
	}
	s.at++
	return s.err == nil
}

// Elements goes through a list: each element has to be read before the next. Null has none.
func (s *Scanner) Elements() iter.Seq[int] {
	return func(yield func(int) bool) {
		if !s.open('[', "a list") {
			return
		}
		for i := 0; s.more(']'); i++ {
			if !yield(i) {
				return
			}
		}
	}
}

// Null reads null, if that comes next.
func (s *Scanner) Null() bool {
	return s.peek() == 'n' && s.word("null")
}

func (s *Scanner) word(w string) bool {
	if end := s.at + len(w); end <= len(s.data) && string(s.data[s.at:end]) == w {
		s.at = end
		return true
	}
	s.fail(w)
	return false
}

// String reads a string; null is an empty one.
func (s *Scanner) String() string {
	if text, ok := s.simple(); ok {
		return text
	}
	if s.Null() {
		return ""
	}
	return s.quoted()
}

func (s *Scanner) quoted() string {
	raw, plain := s.literal()
	if plain {
		return unsafe.String(unsafe.SliceData(raw), len(raw))
	}
	text, ok := unquote(raw)
	if s.err == nil && !ok {
		s.fail("a string")
	}
	return text
}

// simple reads a string of ordinary characters that comes next, as nearly all do. In a guest a call costs as much as some characters, so
// it makes few.
func (s *Scanner) simple() (text string, ok bool) {
	if s.at >= len(s.data) || s.data[s.at] != '"' {
		return "", false
	}
	rest := s.data[s.at+1:]
	n := ordinary(rest)
	if n == len(rest) || rest[n] != '"' {
		return "", false
	}
	s.at += n + 2
	return unsafe.String(unsafe.SliceData(rest), n), true
}

// unquote reads a string with its quotes and its escapes. What is not UTF-8 becomes the replacement character.
func unquote(raw []byte) (text string, ok bool) {
	if len(raw) < 2 {
		return "", false
	}
	raw = raw[1 : len(raw)-1]
	out := make([]byte, 0, len(raw))
	for len(raw) > 0 {
		if raw[0] == '\\' {
			r, size := escaped(raw)
			if size == 0 {
				return "", false
			}
			out, raw = utf8.AppendRune(out, r), raw[size:]
			continue
		}
		r, size := utf8.DecodeRune(raw)
		out, raw = utf8.AppendRune(out, r), raw[size:]
	}
	return string(out), true
}

// escaped reads the escape that data begins with; size is 0 if it is none.
func escaped(data []byte) (r rune, size int) {
	if len(data) < 2 {
		return 0, 0
	}
	switch data[1] {
	case '"', '\\', '/':
		return rune(data[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		return hexadecimal(data)
	}
	return 0, 0
}

// hexadecimal reads an escape of the form \u0041, or two that are halves of one character.
func hexadecimal(data []byte) (r rune, size int) {
	r, ok := unit(data)
	if !ok {
		return 0, 0
	}
	if utf16.IsSurrogate(r) {
		if low, ok := unit(data[6:]); ok {
			if whole := utf16.DecodeRune(r, low); whole != utf8.RuneError {
				return whole, 12
			}
		}
		return utf8.RuneError, 6
	}
	return r, 6
}

// unit reads the code unit of an escape of the form \u0041.
func unit(data []byte) (r rune, ok bool) {
	if len(data) < 6 || data[0] != '\\' || data[1] != 'u' {
		return 0, false
	}
	for _, c := range data[2:6] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// literal passes over a string. Without escapes it gives what is between the quotes, else all with the quotes.
func (s *Scanner) literal() (raw []byte, plain bool) {
	if s.peek() != '"' {
		s.fail("a string")
		return nil, false
	}
	from := s.at
	s.at++
	if n := ordinary(s.data[s.at:]); s.at+n < len(s.data) && s.data[s.at+n] == '"' {
		raw = s.data[s.at : s.at+n]
		s.at += n + 1
		return raw, true
	}
	return s.rest(from)
}

// ordinary counts the ASCII characters before a quote, a backslash or anything else, eight at a time. In a guest, each turn of a loop pays
// for the whole function around it: this one is small.
func ordinary(data []byte) int {
	i := 0
	for ; i+8 <= len(data) && !special(eight(data[i:])); i += 8 {
	}
	for ; i < len(data); i++ {
		if c := data[i]; c == '"' || c == '\\' || c-' ' > '~'-' ' {
			return i
		}
	}
	return len(data)
}

// eight is the first eight bytes of data, little-endian. encoding/binary would link reflect into every guest.
func eight(data []byte) uint64 {
	_ = data[7]
	return uint64(data[0]) | uint64(data[1])<<8 | uint64(data[2])<<16 | uint64(data[3])<<24 |
		uint64(data[4])<<32 | uint64(data[5])<<40 | uint64(data[6])<<48 | uint64(data[7])<<56
}

// special reports whether one of eight bytes is a quote, a backslash, a control character or not of ASCII. A byte minus 1 borrows from its
// highest bit if the byte is 0, and only then if that bit was not set; a borrow from a neighbour that is 0 changes nothing, as that is found.
func special(eight uint64) bool {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	quote, backslash, last := eight^ones*'"', eight^ones*'\\', eight^ones*0x7f
	return (eight|(eight-ones*' ')|(quote-ones)|(backslash-ones)|(last-ones))&high != 0
}

// rest passes over what is left of a string that begins at from and is not of ordinary characters only.
func (s *Scanner) rest(from int) (raw []byte, plain bool) {
	plain = true
	for ; s.at < len(s.data); s.at++ {
		switch c := s.data[s.at]; {
		case c == '"':
			s.at++
			if plain = plain && utf8.Valid(s.data[from:s.at]); plain {
				return s.data[from+1 : s.at-1], true
			}
			return s.data[from:s.at], false
		case c == '\\':
			plain = false
			s.at++
		case c < ' ':
			s.fail("no control character")
			return nil, false
		}
	}
	s.at = len(s.data)
	s.fail("the end of a string")
	return nil, false
}

// Strings reads a list of strings, or a single one as if it were a list of one; nil for null.
func (s *Scanner) Strings() []string {
	switch s.peek() {
	case '[':
		return s.strings()
	case 'n':
		s.Null()
		return nil
	}
	return []string{s.String()}
}

func (s *Scanner) strings() []string {
	list := make([]string, 0, 4) // most are short
	if s.open('[', "a list") {
		for s.more(']') {
			list = append(list, s.String())
		}
	}
	return list
}

// Many goes through a list, or through a single value as if it were a list of one. Null has no elements.
func (s *Scanner) Many() iter.Seq[int] {
	if c := s.peek(); c == '[' || c == 'n' {
		return s.Elements()
	}
	return func(yield func(int) bool) {
		if s.err == nil {
			yield(0)
		}
	}
}

// Any reads a value of any form, as encoding/json reads it into an any.
func (s *Scanner) Any() any {
	switch s.peek() {
	case '{':
		m := map[string]any{}
		for key := range s.Fields() {
			m[key] = s.Any()
		}
		return m
	case '[':
		list := []any{}
		for range s.Elements() {
			list = append(list, s.Any())
		}
		return list
	case '"':
		return s.quoted()
	case 't', 'f':
		return s.Bool()
	case 'n':
		s.Null()
		return nil
	}
	return s.Number()
}

// Number reads a number; null is 0.
func (s *Scanner) Number() float64 {
	if s.Null() {
		return 0
	}
	text := s.number()
	if v, ok := decimal(text); ok {
		return v
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		s.fail("a number")
	}
	return v
}

// decimal reads a number of few digits without an exponent, as most are. Both numbers that it divides are exact, so the quotient is
// what strconv.ParseFloat gives.
func decimal(text []byte) (v float64, ok bool) {
	unsigned := trim(text, '-')
	if len(unsigned) == 0 || len(unsigned) > 15 {
		return 0, false
	}
	whole, behind := digits(unsigned)
	if behind < 0 {
		return 0, false
	}
	v = float64(whole)
	if behind > 0 {
		v /= float64(power(behind))
	}
	if len(unsigned) < len(text) {
		v = -v
	}
	return v, true
}

// digits gives the digits of a decimal number as one whole number, and how many of them are behind the point; -1: there is something
// else.
func digits(text []byte) (whole int64, behind int) {
	for i, c := range text {
		if c == '.' {
			behind = len(text) - 1 - i
			continue
		}
		if c < '0' || c > '9' {
			return 0, -1
		}
		whole = 10*whole + int64(c-'0')
	}
	return whole, behind
}

// power is a power of 10.
func power(exponent int) int64 {
	p := int64(1)
	for range exponent {
		p *= 10
	}
	return p
}

// Int reads a whole number; null is 0.
func (s *Scanner) Int() int64 {
	if s.Null() {
		return 0
	}
	v, err := strconv.ParseInt(string(s.number()), 10, 64)
	if err != nil {
		s.fail("a whole number")
	}
	return v
}

// Uint reads a whole number that is not negative; null is 0.
func (s *Scanner) Uint() uint64 {
	if s.Null() {
		return 0
	}
	v, err := strconv.ParseUint(string(s.number()), 10, 64)
	if err != nil {
		s.fail("a whole number from 0 on")
	}
	return v
}

func (s *Scanner) number() []byte {
	s.blanks()
	from := s.at
	s.at += numeric(s.data[from:])
	if text := s.data[from:s.at]; isNumber(text) {
		return text
	}
	s.fail("a number")
	return nil
}

// numeric counts the bytes of which a number can consist.
func numeric(data []byte) int {
	for i, c := range data {
		if (c < '0' || c > '9') && c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E' {
			return i
		}
	}
	return len(data)
}

// isNumber says whether a text is a number as JSON has them.
func isNumber(text []byte) bool {
	text = trim(text, '-')
	whole := count(text)
	if whole == 0 || whole > 1 && text[0] == '0' {
		return false
	}
	text = text[whole:]
	if len(text) > 0 && text[0] == '.' {
		n := count(text[1:])
		if n == 0 {
			return false
		}
		text = text[1+n:]
	}
	if len(text) > 0 && (text[0] == 'e' || text[0] == 'E') {
		text = text[1:]
		if signed := trim(text, '-'); len(signed) == len(text) {
			text = trim(text, '+')
		} else {
			text = signed
		}
		n := count(text)
		return n > 0 && n == len(text)
	}
	return len(text) == 0
}

func trim(text []byte, sign byte) []byte {
	if len(text) > 0 && text[0] == sign {
		return text[1:]
	}
	return text
}

func count(text []byte) int {
	n := 0
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	return n
}

// Bool reads true or false; null is false.
func (s *Scanner) Bool() bool {
	switch s.peek() {
	case 't':
		return s.word("true")
	case 'f':
		s.word("false")
		return false
	}
	if !s.Null() {
		s.fail("true or false")
	}
	return false
}

// Raw passes over a value of any form, and gives its bytes.
func (s *Scanner) Raw() []byte {
	s.blanks()
	from := s.at
	s.Skip()
	return s.data[from:s.at]
}

// Skip passes over a value of any form.
func (s *Scanner) Skip() {
	switch s.peek() {
	case '{':
		s.open('{', "an object")
		for s.more('}') {
			if s.pass(); !s.colon() {
				return
			}
			s.Skip()
		}
	case '[':
		for range s.Elements() {
			s.Skip()
		}
	case '"':
		s.pass()
	case 't', 'f':
		s.Bool()
	case 'n':
		s.Null()
	default:
		s.number()
	}
}

// pass passes over a string.
func (s *Scanner) pass() {
	if _, ok := s.simple(); ok {
		return
	}
	raw, plain := s.literal()
	if plain || s.err != nil {
		return
	}
	if _, ok := unquote(raw); !ok {
		s.fail("a string")
	}
}
