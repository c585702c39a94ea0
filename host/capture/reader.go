package capture

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/alcove-memory/alcove/host/memory/importer"
	"github.com/alcove-memory/alcove/host/regular"
)

// Reader reads transcripts of a source on from where they were read to.
type Reader struct {
	Source Source
	// Wrong is called for each line or document that cannot be read, with its file and line. It is left out if Wrong returns nil. A nil
	// Wrong: the first one ends Read with its error.
	Wrong func(*importer.InputError) error
}

// Read gives the turns of a transcript that follow a cursor, in chunks, each with the cursor after it. A last line without its end is
// left for the next time, unless it is whole. A transcript that no longer begins with what was read is read from its beginning. A call
// that had no outcome at the end is given again once it has.
func (r *Reader) Read(ctx context.Context, path string, from Cursor, each func([]Turn, Cursor) error) error {
	if r.Source.tables != nil {
		if read := r.Source.tables(path); read != nil {
			return read(ctx, r, path, from, each)
		}
	}
	if r.Source.lines == nil {
		return r.document(ctx, path, from, each)
	}
	f, err := regular.Open(path)
	if err != nil {
		return err
	}
	l := &lineReader{Reader: r, ctx: ctx, path: path, file: f, each: each, decoder: r.Source.lines()}
	return errors.Join(l.read(from), f.Close())
}

func (r *Reader) wrong(path, place string, err error) error {
	placed := &importer.InputError{Path: path, Location: place, Err: err}
	if r.Wrong == nil {
		return placed
	}
	return r.Wrong(placed)
}

// wrongIn is wrong for an error that may have a place.
func (r *Reader) wrongIn(path string, err error) error {
	if placed := new(importer.InputError); errors.As(err, &placed) {
		return r.wrong(placed.Path, placed.Location, placed.Err)
	}
	return r.wrong(path, "", err)
}

// document reads a transcript as a whole, if it changed.
func (r *Reader) document(ctx context.Context, path string, from Cursor, each func([]Turn, Cursor) error) error {
	d, err := r.Source.whole(path)
	if err != nil {
		return r.wrongIn(path, err)
	}
	if d.sum == from.Sum {
		return nil
	}
	var out chunk
	err = d.decode(r.wrong, func(t Turn) error {
		t, ok := t.kept()
		if !ok {
			return nil
		}
		if out.add(t); !out.isFull() {
			return nil
		}
		return errors.Join(each(out.take(), Cursor{}), ctx.Err())
	})
	if err != nil {
		return err
	}
	return each(out.take(), Cursor{Sum: d.sum})
}

// chunk gathers turns.
type chunk struct {
	turns []Turn
	bytes int
}

func (c *chunk) add(t Turn) {
	c.turns = append(c.turns, t)
	c.bytes += len(t.Text)
}

func (c *chunk) isFull() bool { return len(c.turns) >= chunkTurns || c.bytes >= chunkBytes }

func (c *chunk) take() []Turn {
	turns := c.turns
	*c = chunk{}
	return turns
}

// lineReader reads a transcript that grows by lines.
type lineReader struct {
	*Reader
	ctx     context.Context // of the one call of Read
	path    string
	file    *os.File
	each    func([]Turn, Cursor) error
	decoder decoder

	in      *bufio.Reader
	at      Cursor // before the next line: offset, lines and place
	from    Cursor // from which it was read
	out     chunk
	pending []pendingCall // in order
}

// pendingCall is a call without its outcome. The cursor stays before its line, so that it is read again beside its outcome.
type pendingCall struct {
	id      string
	turn    Turn
	at      Cursor
	isGiven bool // without outcome
}

func (l *lineReader) read(from Cursor) error {
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	fits, err := from.fits(l.file, info.Size())
	if err != nil {
		return err
	}
	if fits {
		l.from = from
		l.at = Cursor{Offset: from.Offset, Lines: from.Lines, Place: from.Place}
	}
	if _, err := l.file.Seek(l.at.Offset, io.SeekStart); err != nil {
		return err
	}
	l.in = bufio.NewReaderSize(l.file, 256<<10)
	for more := true; more; {
		if more, err = l.line(); err != nil {
			return err
		}
		if l.out.isFull() {
			if err := l.give(false); err != nil {
				return err
			}
		}
	}
	for _, p := range l.pending {
		l.addCall(p)
	}
	return l.give(true)
}

// give passes on the turns, with the cursor from which to go on. isEnd says that calls that wait are among them.
func (l *lineReader) give(isEnd bool) (err error) {
	at := l.at
	if len(l.pending) > 0 {
		at = l.pending[0].at
	}
	at.Given = max(l.at.Offset, l.from.Given)
	at.Called = isEnd
	if at.Given > 0 {
		if at.Head, at.Tail, err = edges(l.file, at.Given); err != nil {
			return err
		}
	}
	return errors.Join(l.each(l.out.take(), at), l.ctx.Err())
}

func (l *lineReader) add(t Turn) {
	if t, ok := t.kept(); ok {
		l.out.add(t)
	}
}

// line reads a line; more is false at the end.
func (l *lineReader) line() (more bool, err error) {
	line, size, ended, err := nextLine(l.in)
	if isLong := new(importer.LimitError); err != nil && !errors.As(err, &isLong) {
		return false, fmt.Errorf("read %s: %w", l.path, err)
	}
	if !ended && (err != nil || !isWhole(line)) {
		return false, nil // it may be being written
	}
	start := l.at
	if err == nil && len(bytes.TrimSpace(line)) > 0 {
		err = l.decode(line, start)
	}
	l.at.Offset += size
	if ended {
		l.at.Lines++
	}
	if err != nil {
		err = l.wrong(l.path, fmt.Sprintf("line %d", start.Lines+1), err)
	}
	return ended, err
}

// decode decodes a line, or what follows in it after a line that broke off.
func (l *lineReader) decode(line []byte, start Cursor) error {
	l.release(start)
	isGiven := start.Offset < l.from.Given
	say := func(t Turn) {
		if !isGiven {
			l.add(l.withSession(t))
		}
	}
	out := &output{
		place: &l.at.Place,
		say:   say,
		call: func(id string, t Turn) {
			if id == "" {
				say(t) // no outcome will name it
				return
			}
			l.pending = append(l.pending, pendingCall{id, l.withSession(t), start, isGiven && l.from.Called})
		},
		outcome: func(id, outcome string) { l.end(id, outcome, isGiven) },
	}
	err := l.decoder.decode(line, out)
	if err != nil {
		if rest := afterBreak(line); rest != nil {
			err = errors.Join(err, l.decoder.decode(rest, out))
		}
	}
	return err
}

// withSession names the session after the file if no line did.
func (l *lineReader) withSession(t Turn) Turn {
	if t.Session == "" {
		t.Session = stem(l.path)
	}
	return t
}

func stem(path string) string {
	name := filepath.Base(path)
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// addCall adds a call without outcome, once.
func (l *lineReader) addCall(p pendingCall) {
	if !p.isGiven {
		l.add(p.turn)
	}
}

// end adds the call that waits under an id, with its outcome.
func (l *lineReader) end(id, outcome string, isGiven bool) {
	for i, p := range l.pending {
		if p.id == id {
			p.turn.Text = withOutcome(p.turn.Text, outcome)
			if !isGiven {
				l.add(p.turn)
			}
			l.pending = append(l.pending[:i], l.pending[i+1:]...)
			return
		}
	}
}

// release adds the calls that have waited too long.
func (l *lineReader) release(now Cursor) {
	for len(l.pending) > 0 && (now.Lines-l.pending[0].at.Lines > pendingLines || now.Offset-l.pending[0].at.Offset > pendingBytes) {
		l.addCall(l.pending[0])
		l.pending = l.pending[1:]
	}
}

// isWhole reports whether a line without its end is an object: one that broke off is none.
func isWhole(line []byte) bool { return begins(line, '{') && json.Valid(line) }

const mostBreaks = 64 // places at which a line is tried

// afterBreak is the whole line that follows, in one line, what a writer that was killed had written of another; nil: there is none.
func afterBreak(line []byte) []byte {
	for from, tries := 1, 0; tries < mostBreaks; tries++ {
		next := bytes.Index(line[min(from, len(line)):], []byte(`{"`))
		if next < 0 {
			return nil
		}
		if from += next; json.Valid(line[from:]) {
			return line[from:]
		}
		from++
	}
	return nil
}

// nextLine reads a line, without its break; ended is false if it has none. A line that is too long is skipped.
func nextLine(r *bufio.Reader) (line []byte, size int64, ended bool, err error) {
	for {
		part, failed := r.ReadSlice('\n')
		size += int64(len(part))
		if size > longestLine {
			line, err = nil, tooLong("bytes in a line", longestLine)
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(failed, bufio.ErrBufferFull):
			continue
		case failed != nil && !errors.Is(failed, io.EOF):
			return nil, 0, false, failed
		}
		return bytes.TrimSuffix(line, []byte("\n")), size, failed == nil, err
	}
}
