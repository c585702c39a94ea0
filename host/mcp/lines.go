package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// errLong says that a line was longer than allowed, and was skipped.
var errLong = errors.New("line too long")

// lines reads lines of at most limit bytes.
type lines struct {
	reader *bufio.Reader
	limit  int64
}

func newLines(r io.Reader, limit int64) *lines {
	return &lines{bufio.NewReaderSize(r, 64<<10), limit}
}

// next gives the next line, without its end. Of one that is too long it gives the id of the message in it, if it
// has one, and errLong, so that its sender does not wait for ever. The last line needs no end.
func (l *lines) next() (line []byte, id json.RawMessage, err error) {
	var finder *idFinder
	for {
		part, err := l.reader.ReadSlice('\n')
		if finder == nil && int64(len(line)+len(bytes.TrimSuffix(part, []byte("\n")))) > l.limit {
			finder = &idFinder{}
			finder.read(line)
			line = nil
		}
		if finder != nil {
			finder.read(part)
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && (len(line) > 0 || finder != nil):
			err = nil
		}
		if err == nil && finder != nil {
			return nil, finder.found(), errLong
		}
		return bytes.TrimRight(line, "\r\n"), nil, err
	}
}

// idFinder finds the id of a JSON-RPC message without keeping the message.
type idFinder struct {
	depth   int
	quoted  bool
	escaped bool
	inValue bool   // behind a colon of the message's own members
	name    []byte // of the member that is being read, as far as it matters
	value   []byte // of the member id
	done    bool
}

const longestID = 256 // bytes

// findID is the id of a message that cannot be decoded; nil when there is none to be found.
func findID(raw []byte) json.RawMessage {
	var f idFinder
	f.read(raw)
	return f.found()
}

func (f *idFinder) read(part []byte) {
	for _, c := range part {
		f.readByte(c)
	}
}

func (f *idFinder) readByte(c byte) {
	wasQuoted := f.quoted
	f.track(c)
	if f.done || f.depth > 1 || c == '{' && f.depth == 1 && !wasQuoted {
		return
	}
	switch {
	case !wasQuoted && (c == ',' || c == '}'):
		f.done = f.inValue && string(f.name) == `"id"`
		f.inValue, f.name = false, nil
	case !wasQuoted && c == ':':
		f.inValue = true
	case !f.inValue && len(f.name) <= len(`"id"`) && (wasQuoted || f.quoted):
		f.name = append(f.name, c)
	case f.inValue && string(f.name) == `"id"` && len(f.value) <= longestID:
		f.value = append(f.value, c)
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

// found is the id, or nil.
func (f *idFinder) found() json.RawMessage {
	id := bytes.TrimSpace(f.value)
	if !f.done || len(id) == 0 || len(f.value) > longestID || !json.Valid(id) || !plainID(id) {
		return nil
	}
	return id
}
