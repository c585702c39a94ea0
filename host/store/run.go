package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// A run is the concatenation of encoded pieces of a dump: a type byte, then numbers as varints, and length-prefixed texts
// and values.
const (
	runBranches byte = iota + 1 // count, ids
	runPoint                    // version, µs
	runBranch                   // id, version and µs of the floor, count, pins
	runEntry                    // branch, version, namespace, collection, name, value
	runDeleted                  // the same without a value
	runCounter                  // the same with a value
	runForgot                   // the same without a value
	runKeeping                  // branch, count, then of each keep: namespace, versions, from
	runNoted                    // version, µs, note
)

// AppendRun appends the encoding of a piece to a run.
func AppendRun(run []byte, p Piece) []byte {
	switch {
	case p.Entry != nil:
		return AppendRunEntry(run, *p.Entry)
	case p.Counter != nil:
		c := p.Counter
		if c.Value == nil {
			return appendPlace(append(run, runForgot), c.Branch, c.Version, c.Key)
		}
		return appendBytes(appendPlace(append(run, runCounter), c.Branch, c.Version, c.Key), c.Value)
	case p.Point != nil && len(p.Note) > 0:
		return appendBytes(appendPoint(append(run, runNoted), *p.Point), p.Note)
	case p.Point != nil:
		return appendPoint(append(run, runPoint), *p.Point)
	case p.Branch != nil:
		kind := runBranch
		if len(p.Branch.Keep) > 0 {
			kind = runKeeping
		}
		run = binary.AppendUvarint(append(run, kind), uint64(p.Branch.ID))
		return appendKeep(appendNumbers(appendPoint(run, p.Branch.Floor), p.Branch.Pins), p.Branch.Keep)
	}
	return appendNumbers(append(run, runBranches), p.Branches)
}

// appendKeep appends nothing for an empty list.
func appendKeep(run []byte, keep []Keep) []byte {
	if len(keep) == 0 {
		return run
	}
	run = binary.AppendUvarint(run, uint64(len(keep)))
	for _, k := range keep {
		run = binary.AppendUvarint(binary.AppendUvarint(appendBytes(run, k.Namespace), uint64(k.Versions)), k.From)
	}
	return run
}

// AppendRunEntry appends the encoding of an entry. It does not retain the entry's value.
func AppendRunEntry(run []byte, e Entry) []byte {
	if e.Deleted {
		return appendPlace(append(run, runDeleted), e.Branch, e.Version, e.Key)
	}
	return appendBytes(appendPlace(append(run, runEntry), e.Branch, e.Version, e.Key), e.Value)
}

func appendPlace(run []byte, b BranchID, version uint64, k Key) []byte {
	run = binary.AppendUvarint(binary.AppendUvarint(run, uint64(b)), version)
	return appendBytes(appendBytes(appendBytes(run, k.Namespace), k.Collection), k.Name)
}

func appendBytes[T string | []byte](run []byte, b T) []byte {
	return append(binary.AppendUvarint(run, uint64(len(b))), b...)
}

func appendPoint(run []byte, p Point) []byte {
	micros := int64(0)
	if p.Version != 0 {
		micros = p.Time.UnixMicro()
	}
	return binary.AppendVarint(binary.AppendUvarint(run, p.Version), micros)
}

func appendNumbers[T ~uint64](run []byte, list []T) []byte {
	run = binary.AppendUvarint(run, uint64(len(list)))
	for _, n := range list {
		run = binary.AppendUvarint(run, uint64(n))
	}
	return run
}

// runMade bounds the memory allocated by a count that a damaged run claims, in numbers.
const runMade = 1 << 10

var errRun = errors.New("the run is damaged")

// ReadRun yields the pieces of a run. They share no memory with it.
func ReadRun(run []byte, yield func(Piece) error) error {
	r := &runReader{rest: run}
	for len(r.rest) > 0 {
		at := len(run) - len(r.rest)
		p := r.piece()
		if r.bad {
			return fmt.Errorf("%w at byte %d of %d", errRun, at, len(run))
		}
		if err := yield(p); err != nil {
			return err
		}
	}
	return nil
}

// runReader decodes the rest of a run. After an error everything reads as zero.
type runReader struct {
	rest []byte
	bad  bool
}

func (r *runReader) piece() Piece {
	kind := r.rest[0]
	r.rest = r.rest[1:]
	switch kind {
	case runBranches:
		return Piece{Branches: readNumbers[BranchID](r)}
	case runPoint, runNoted:
		p := r.point()
		r.bad = r.bad || p.Version == 0
		if kind == runPoint {
			return Piece{Point: &p}
		}
		note := r.value()
		r.bad = r.bad || len(note) == 0 || len(note) > NoteLimit
		return Piece{Point: &p, Note: note}
	case runBranch, runKeeping:
		s := BranchState{ID: BranchID(r.number()), Floor: r.point()}
		if pins := readNumbers[uint64](r); len(pins) > 0 {
			s.Pins = pins
		}
		if kind == runKeeping {
			s.Keep = r.keep()
		}
		return Piece{Branch: &s}
	case runEntry, runDeleted:
		e := Entry{Deleted: kind == runDeleted}
		e.Branch, e.Version, e.Key = r.place()
		if !e.Deleted {
			e.Value = r.value()
		}
		return Piece{Entry: &e}
	case runCounter, runForgot:
		var c CounterRecord
		c.Branch, c.Version, c.Key = r.place()
		if kind == runCounter {
			c.Value = r.value()
		}
		return Piece{Counter: &c}
	}
	r.bad = true
	return Piece{}
}

func (r *runReader) keep() []Keep {
	n := r.number()
	if n == 0 || n > uint64(len(r.rest)) { // each takes a byte at least
		r.bad, r.rest = true, nil
		return nil
	}
	list := make([]Keep, 0, min(n, runMade))
	for range n {
		if r.bad {
			return nil
		}
		k := Keep{Namespace: string(r.bytes()), Versions: int(r.number()), From: r.number()}
		r.bad = r.bad || k.Versions < 0
		list = append(list, k)
	}
	return list
}

func (r *runReader) number() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *runReader) point() (p Point) {
	p.Version = r.number()
	micros, n := binary.Varint(r.rest)
	if n <= 0 {
		r.bad, r.rest = true, nil
		return p
	}
	r.rest = r.rest[n:]
	if p.Version != 0 {
		p.Time = time.UnixMicro(micros).UTC()
	}
	return p
}

func (r *runReader) bytes() []byte {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.bad, r.rest = true, nil
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

// value is never nil.
func (r *runReader) value() []byte { return append([]byte{}, r.bytes()...) }

func (r *runReader) place() (b BranchID, version uint64, k Key) {
	b, version = BranchID(r.number()), r.number()
	k = Key{Namespace: string(r.bytes()), Collection: string(r.bytes()), Name: string(r.bytes())}
	return b, version, k
}

// readNumbers is never nil.
func readNumbers[T ~uint64](r *runReader) []T {
	n := r.number()
	if n > uint64(len(r.rest)) { // each takes a byte at least
		r.bad, r.rest = true, nil
		return nil
	}
	list := make([]T, 0, min(n, runMade))
	for range n {
		if r.bad {
			return nil
		}
		list = append(list, T(r.number()))
	}
	return list
}
