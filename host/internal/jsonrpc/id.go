package jsonrpc

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"
)

// MaxID bounds the id of a request, in bytes as sent.
const MaxID = 1 << 10

// Plain reports whether an id is a string or a number.
func Plain(id []byte) bool {
	return len(id) > 0 && (id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9')
}

// Key returns the canonical form of an id: equal for 1 and 1.0, and for "a" and "\u0061".
func Key(id []byte) string {
	if len(id) > 0 && id[0] == '"' {
		return "s" + Text(id)
	}
	if n, err := strconv.ParseInt(string(id), 10, 64); err == nil {
		return "n" + strconv.FormatInt(n, 10)
	}
	if f, err := strconv.ParseFloat(string(id), 64); err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return "n" + strconv.FormatInt(int64(f), 10)
	}
	return "n" + string(id)
}

// FindID returns the id of an invalid message, so that its sender gets an answer; nil if there is none or more than one.
func FindID(raw []byte) []byte {
	var f idFinder
	f.read(raw)
	return f.found()
}

const longestName = 64 // bytes of a member's name that could be "id", with all escapes that there may be

// idFinder finds the id of a message without keeping the message.
type idFinder struct {
	depth   int
	quoted  bool
	escaped bool
	ended   bool // the message's own object is over

	behind bool   // the colon of one of the message's own members
	name   []byte // of the member that is read, as far as it matters
	value  []byte // of that member, as far as it matters

	id    []byte
	count int // of members named id
}

func (f *idFinder) read(part []byte) {
	for _, c := range part {
		f.readByte(c)
	}
}

func (f *idFinder) readByte(c byte) {
	wasQuoted, wasDeep := f.quoted, f.depth
	f.track(c)
	switch {
	case f.ended:
	case wasDeep == 0: // white space, or the message's first byte
		f.ended = c != '{' && !bytes.ContainsRune([]byte(" \t\r\n"), rune(c))
	case wasDeep == 1 && !wasQuoted && (c == ',' || c == '}'):
		f.member()
		f.ended = c == '}'
	case wasDeep == 1 && !wasQuoted && c == ':':
		f.behind = true
	case f.behind && len(f.value) <= MaxID:
		f.value = append(f.value, c)
	case !f.behind && len(f.name) <= longestName:
		f.name = append(f.name, c)
	}
}

// track keeps count of where c leads to.
func (f *idFinder) track(c byte) {
	switch {
	case f.escaped:
		f.escaped = false
	case f.quoted && c == '\\':
		f.escaped = true
	case c == '"':
		f.quoted = !f.quoted
	case f.quoted:
	case c == '{' || c == '[':
		f.depth++
	case c == '}' || c == ']':
		f.depth--
	}
}

// member ends a member of the message.
func (f *idFinder) member() {
	if f.behind && Text(bytes.TrimSpace(f.name)) == "id" {
		f.count++
		f.id = bytes.Clone(f.value)
	}
	f.behind, f.name, f.value = false, f.name[:0], f.value[:0]
}

func (f *idFinder) found() []byte {
	id := bytes.TrimSpace(f.id)
	if f.count != 1 || len(id) > MaxID || !Plain(id) || !json.Valid(id) || !utf8.Valid(id) {
		return nil
	}
	return id
}
