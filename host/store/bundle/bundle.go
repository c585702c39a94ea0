package bundle

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/alcove-memory/alcove/host/store"
)

// Summary describes a bundle's content.
type Summary struct {
	Since   uint64  `json:"since"` // the base version; 0: everything
	Until   uint64  `json:"until"` // the newest version
	Lines   int     `json:"lines"`
	Entries int     `json:"entries"`
	Bytes   int64   `json:"bytes"`
	SHA256  string  `json:"sha256"`
	Guards  []Guard `json:"guards,omitempty"`
}

// Write dumps an engine's present space, or its changes after since. After an error the output is no valid bundle:
// its last line is missing. guards is called after the newest version was chosen; nil: no guards.
func Write(ctx context.Context, w io.Writer, from interface {
	store.Portable
	Head(context.Context) (store.Point, error)
}, since uint64, guards func() ([]Guard, error)) (Summary, error) {
	release, err := from.HoldVersions(ctx)
	if err != nil {
		return Summary{}, fmt.Errorf("export: %w", err)
	}
	defer release()
	head, err := from.Head(ctx)
	if err != nil {
		return Summary{}, fmt.Errorf("export: %w", err)
	}
	if since > head.Version {
		return Summary{}, fmt.Errorf("export: version %d is newer than the newest, %d", since, head.Version)
	}
	var asked []Guard
	if guards != nil {
		if asked, err = guards(); err != nil {
			return Summary{}, fmt.Errorf("export: %w", err)
		}
	}
	return write(ctx, w, from, since, head.Version, asked)
}

// dumper is what a bundle is written from.
type dumper interface {
	Dump(ctx context.Context, since, at uint64, yield func(store.Piece) error) error
}

// Digest describes the bundle of a space at a version, without guards, which is written nowhere.
func Digest(ctx context.Context, from dumper, since, at uint64) (Summary, error) {
	return write(ctx, io.Discard, from, since, at, nil)
}

func write(ctx context.Context, w io.Writer, from dumper, since, at uint64, guards []Guard) (Summary, error) {
	e := &encoder{out: bufio.NewWriterSize(w, 1<<20), sum: sha256.New(), summary: Summary{Since: since, Until: at}}
	h := header{Alcove: "bundle", Format: Format, Since: since, Until: at}
	if err := e.json(h); err != nil {
		return e.summary, fmt.Errorf("export: %w", err)
	}
	for _, g := range guards {
		if err := e.json(line{Guard: &g}); err != nil {
			return e.summary, fmt.Errorf("export: %w", err)
		}
	}
	if err := from.Dump(ctx, since, at, e.piece); err != nil {
		return e.summary, fmt.Errorf("export: %w", err)
	}
	return e.summary, e.finish()
}

type encoder struct {
	out     *bufio.Writer
	sum     hash.Hash
	scratch []byte
	summary Summary
}

func (e *encoder) write(b []byte) error {
	e.sum.Write(b)
	e.summary.Lines++
	e.summary.Bytes += int64(len(b))
	_, err := e.out.Write(b)
	return err
}

func (e *encoder) json(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return e.write(append(data, '\n'))
}

func (e *encoder) piece(p store.Piece) (err error) {
	if p.Entry != nil {
		e.summary.Entries++
	}
	if e.scratch, err = appendPiece(e.scratch[:0], p); err != nil {
		return err
	}
	return e.write(e.scratch)
}

func (e *encoder) finish() error {
	e.summary.SHA256 = hex.EncodeToString(e.sum.Sum(nil))
	err := e.json(trailer{End: true, Lines: e.summary.Lines, SHA256: e.summary.SHA256})
	if err = errors.Join(err, e.out.Flush()); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// LineError is an error in a line of a bundle.
type LineError struct {
	Line int // from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }
func (e *LineError) Unwrap() error { return e.Err }

// ErrCut means that a bundle is truncated.
var ErrCut = errors.New("the last line is missing: the file was truncated, or its writing was interrupted")

// ErrNone means that a file is not a bundle.
var ErrNone = errors.New("it is not a bundle of Alcove's: the first line does not say so")

// Read reads a bundle to its end and passes each piece to add, which may be nil to validate only. The pieces are valid
// only if there is no error: the checksum over all lines is at the end. progress receives the number of bytes
// read; it may be nil.
func Read(ctx context.Context, r io.Reader, add func(store.Piece) error, progress func(bytes int64)) (Summary, error) {
	d := &decoder{in: bufio.NewReaderSize(r, 1<<20), sum: sha256.New(), add: add, progress: progress}
	for {
		if err := ctx.Err(); err != nil {
			return d.summary, err
		}
		done, err := d.line()
		if err != nil {
			return d.summary, &LineError{Line: d.summary.Lines + 1, Err: err}
		}
		if done {
			return d.summary, nil
		}
	}
}

type decoder struct {
	in       *bufio.Reader
	sum      hash.Hash
	long     []byte
	add      func(store.Piece) error
	progress func(int64)
	summary  Summary
}

// next returns the next line, valid until the following call.
func (d *decoder) next() ([]byte, error) {
	part, err := d.in.ReadSlice('\n')
	if err == nil {
		return part, nil
	}
	for d.long = append(d.long[:0], part...); errors.Is(err, bufio.ErrBufferFull); d.long = append(d.long, part...) {
		if len(d.long) > maxLine {
			return nil, fmt.Errorf("it is longer than %d bytes", maxLine)
		}
		part, err = d.in.ReadSlice('\n')
	}
	if errors.Is(err, io.EOF) {
		return nil, ErrCut
	}
	return d.long, err
}

func (d *decoder) line() (done bool, err error) {
	data, err := d.next()
	if err != nil {
		if d.summary.Lines == 0 && errors.Is(err, ErrCut) {
			return false, ErrNone
		}
		return false, err
	}
	if d.summary.Lines > 0 && bytes.HasPrefix(data, []byte(`{"end":`)) {
		return true, d.end(data)
	}
	if d.summary.Lines == 0 {
		err = d.header(data)
	} else {
		err = d.piece(data)
	}
	if err != nil {
		return false, err
	}
	d.sum.Write(data)
	d.summary.Lines++
	d.summary.Bytes += int64(len(data))
	if d.progress != nil && d.summary.Lines%1000 == 0 {
		d.progress(d.summary.Bytes)
	}
	return false, nil
}

func (d *decoder) header(data []byte) error {
	var h header
	if json.Unmarshal(data, &h) != nil || h.Alcove != "bundle" {
		return ErrNone
	}
	if h.Format != Format && h.Format != earlyGuarded {
		return fmt.Errorf("the bundle has format %d and this program knows %d: use a newer program", h.Format, Format)
	}
	d.summary.Since, d.summary.Until = h.Since, h.Until
	return nil
}

func (d *decoder) piece(data []byte) error {
	l, err := readLine(data)
	if err != nil {
		return err
	}
	if l.Guard != nil {
		if d.summary.Guards = append(d.summary.Guards, *l.Guard); len(d.summary.Guards) > mostGuards {
			return fmt.Errorf("it has more than %d guards", mostGuards)
		}
		return l.Guard.check()
	}
	p, err := l.piece()
	if err != nil {
		return err
	}
	if p.Entry != nil {
		d.summary.Entries++
	}
	if d.add == nil {
		return nil
	}
	return d.add(p)
}

func (d *decoder) end(data []byte) error {
	var t trailer
	if err := json.Unmarshal(data, &t); err != nil || !t.End {
		return fmt.Errorf("the last line is damaged: %.100s", data)
	}
	d.summary.SHA256 = hex.EncodeToString(d.sum.Sum(nil))
	if t.Lines != d.summary.Lines || t.SHA256 != d.summary.SHA256 {
		return fmt.Errorf("the bundle has %d lines with the sum %s, and should have %d with %s: it was changed", d.summary.Lines, d.summary.SHA256, t.Lines, t.SHA256)
	}
	if _, err := d.in.ReadByte(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the last line")
	}
	return nil
}
