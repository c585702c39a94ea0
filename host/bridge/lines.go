package bridge

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// LineLimit is how long a message of the client may be, in bytes.
const LineLimit = 16 << 20

// ownerLimit is how long an answer of the owner may be. It is there to notice a fault, not to limit.
const ownerLimit = 256 << 20

// longLine says that a message was longer than the limit; it has been passed over.
type longLine struct {
	limit int
	id    []byte // of the request, when it was found
}

func (e *longLine) Error() string {
	return fmt.Sprintf("the message is longer than %d bytes (%d MiB): send less at once, for example by storing parts under several keys",
		e.limit, e.limit>>20)
}

// lines reads messages, one a line.
type lines struct {
	r     *bufio.Reader
	limit int
}

func newLines(r io.Reader, limit int) *lines {
	return &lines{bufio.NewReaderSize(r, 64<<10), limit}
}

// next returns a line with its end, the caller's own. A last line without an end counts only if whole is
// false: a connection that broke may have cut it.
func (l *lines) next(whole bool) ([]byte, error) {
	var line []byte
	for {
		part, err := l.r.ReadSlice('\n')
		if len(line)+len(part) > l.limit {
			return nil, l.passOver(line, part, err)
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line, nil
		case errors.Is(err, io.EOF) && !whole && len(bytes.TrimSpace(line)) > 0:
			return append(line, '\n'), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// passOver reads to the end of a line that is too long, looking for the id of the request in it, without
// keeping it.
func (l *lines) passOver(line, part []byte, err error) error {
	var f idFinder
	f.feed(line)
	f.feed(part)
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = l.r.ReadSlice('\n')
		f.feed(part)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return &longLine{l.limit, f.id}
}

// idFinder finds the member "id" of an object that is too long to keep, byte by byte.
type idFinder struct {
	id      []byte
	depth   int
	quoted  bool // inside a string
	escaped bool // behind a backslash
	value   bool // behind a colon of the outermost object
	token   []byte
	key     string
}

const tokenLimit = 256 // bytes of a key or id that are kept; a longer one is not found

func (f *idFinder) feed(data []byte) {
	for _, c := range data {
		if f.depth == 1 && (f.quoted || !bytes.ContainsRune([]byte(" \t\r\n:,{}[]"), rune(c))) && len(f.token) < tokenLimit {
			f.token = append(f.token, c)
		}
		f.step(c)
	}
}

func (f *idFinder) step(c byte) {
	switch {
	case f.escaped:
		f.escaped = false
	case f.quoted:
		f.escaped = c == '\\'
		f.quoted = c != '"'
	case c == '"':
		f.quoted = true
	case c == '{' || c == '[':
		f.depth++
	case c == '}' || c == ']':
		f.finish()
		f.depth--
	case c == ',':
		f.finish()
	case c == ':' && f.depth == 1:
		f.key, f.value, f.token = text(f.token), true, nil
	}
}

// finish ends a member of the outermost object.
func (f *idFinder) finish() {
	if f.depth != 1 {
		return
	}
	if f.value && f.key == "id" && len(f.token) > 0 && len(f.token) < tokenLimit {
		f.id = f.token
	}
	f.value, f.token = false, nil
}
