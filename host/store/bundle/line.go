// Package bundle writes a space as lines of JSON, and reads it back.
//
// The first line names the format; the last one has the count and checksum of all others, so a truncated or
// changed bundle is detected before it is used. Every other line is one piece of a dump: see docs/guides.
package bundle

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/host/store"
)

const (
	Format       = 1
	earlyGuarded = 2 // builds before version 1 wrote it where there are guards; their directories are moved with bundles
)

// Guard is a family whose store hook every store had to pass where the bundle was written. It carries no powers.
type Guard struct {
	Family  string `json:"family"`
	Version string `json:"version,omitempty"` // for people
	Digest  string `json:"digest"`            // SHA-256 of its module, hexadecimal
	Carried bool   `json:"carried,omitempty"` // built in
}

// Bounds of guards.
const (
	mostGuards = 1000
	guardText  = 200 // bytes of a name, a version or a digest
)

func (g Guard) check() error {
	if g.Family == "" || g.Digest == "" || len(g.Family) > guardText || len(g.Version) > guardText || len(g.Digest) > guardText {
		return fmt.Errorf("a guard has a family, a version and a digest of at most %d bytes each", guardText)
	}
	return nil
}

// maxLine bounds a line, in bytes: an entry is at most a megabyte, and its text may be escaped.
const maxLine = 16 << 20

// header is the first line.
type header struct {
	Alcove string `json:"alcove"` // "bundle"
	Format int    `json:"format"`
	Since  uint64 `json:"since"` // 0: everything
	Until  uint64 `json:"until"` // the newest version
}

// trailer is the last line.
type trailer struct {
	End    bool   `json:"end"`
	Lines  int    `json:"lines"`  // before this one
	SHA256 string `json:"sha256"` // of all bytes before this line
}

// line is a piece as JSON. Its fields determine its kind.
type line struct {
	Guard    *Guard           `json:"guard,omitempty"`
	Branches []store.BranchID `json:"branches,omitempty"`
	// A point: version and instant in µs since the epoch. The note of its commit is the value.
	Point []int64 `json:"point,omitempty"`
	// A branch: floor is a point.
	Branch *store.BranchID `json:"branch,omitempty"`
	Floor  []int64         `json:"floor,omitempty"`
	Pins   []uint64        `json:"pins,omitempty"`
	Keep   []store.Keep    `json:"keep,omitempty"`
	// An entry or a counter on branch B: namespace, collection, name, version.
	B       *store.BranchID `json:"b,omitempty"`
	N       string          `json:"n,omitempty"`
	C       string          `json:"c,omitempty"`
	K       string          `json:"k,omitempty"`
	K64     string          `json:"k64,omitempty"` // a name that is not UTF-8
	V       uint64          `json:"v,omitempty"`
	X       json.RawMessage `json:"x,omitempty"`   // the value as JSON, byte for byte
	X64     *string         `json:"x64,omitempty"` // or as base64
	D       bool            `json:"d,omitempty"`   // or deleted
	Counter bool            `json:"counter,omitempty"`
}

// appendPiece writes a piece as a line.
func appendPiece(out []byte, p store.Piece) ([]byte, error) {
	switch {
	case p.Entry != nil:
		out = appendPlace(out, p.Entry.Branch, p.Entry.Key, p.Entry.Version)
		if p.Entry.Deleted {
			return append(out, `,"d":true}`+"\n"...), nil
		}
		return append(appendValue(out, p.Entry.Value), "}\n"...), nil
	case p.Counter != nil:
		out = append(appendPlace(out, p.Counter.Branch, p.Counter.Key, p.Counter.Version), `,"counter":true`...)
		if p.Counter.Value != nil {
			out = appendValue(out, p.Counter.Value)
		}
		return append(out, "}\n"...), nil
	}
	data, err := json.Marshal(plain(p))
	if len(p.Note) > 0 && err == nil {
		data = append(appendValue(data[:len(data)-1], p.Note), '}')
	}
	return append(append(out, data...), '\n'), err
}

// plain encodes the infrequent pieces.
func plain(p store.Piece) line {
	switch {
	case p.Point != nil:
		return line{Point: numbers(*p.Point)}
	case p.Branch != nil:
		l := line{Branch: &p.Branch.ID, Pins: p.Branch.Pins, Keep: p.Branch.Keep}
		if p.Branch.Floor.Version != 0 {
			l.Floor = numbers(p.Branch.Floor)
		}
		return l
	}
	return line{Branches: p.Branches}
}

func numbers(p store.Point) []int64 { return []int64{int64(p.Version), p.Time.UnixMicro()} }

func appendPlace(out []byte, b store.BranchID, k store.Key, version uint64) []byte {
	out = strconv.AppendUint(append(out, `{"b":`...), uint64(b), 10)
	out = appendString(append(out, `,"n":`...), k.Namespace)
	out = appendString(append(out, `,"c":`...), k.Collection)
	if utf8.ValidString(k.Name) {
		out = appendString(append(out, `,"k":`...), k.Name)
	} else {
		out = append(append(append(out, `,"k64":"`...), base64.StdEncoding.EncodeToString([]byte(k.Name))...), '"')
	}
	return strconv.AppendUint(append(out, `,"v":`...), version, 10)
}

func appendString(out []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' || c >= 0x7f {
			data, _ := json.Marshal(s) // strings always encode
			return append(out, data...)
		}
	}
	return append(append(append(out, '"'), s...), '"')
}

// appendValue appends JSON values unchanged, and others as base64.
func appendValue(out, value []byte) []byte {
	if len(value) > 0 && json.Valid(value) && bytes.IndexByte(value, '\n') < 0 && value[0] > ' ' && value[len(value)-1] > ' ' {
		return append(append(out, `,"x":`...), value...)
	}
	return append(append(append(out, `,"x64":"`...), base64.StdEncoding.EncodeToString(value)...), '"')
}

// readLine reads a line that is not the first or the last.
func readLine(data []byte) (l line, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return l, dec.Decode(&l)
}

func (l line) piece() (store.Piece, error) {
	switch {
	case l.B != nil:
		return l.placed()
	case l.Point != nil:
		p, err := point(l.Point)
		if err != nil {
			return store.Piece{}, err
		}
		note, err := l.value()
		return store.Piece{Point: &p, Note: note}, err
	case l.Branch != nil:
		s := store.BranchState{ID: *l.Branch, Pins: l.Pins, Keep: l.Keep}
		var err error
		if l.Floor != nil {
			s.Floor, err = point(l.Floor)
		}
		return store.Piece{Branch: &s}, err
	case l.Branches != nil:
		return store.Piece{Branches: l.Branches}, nil
	}
	return store.Piece{}, fmt.Errorf("it is none of the known kinds")
}

func point(n []int64) (store.Point, error) {
	if len(n) != 2 || n[0] <= 0 {
		return store.Point{}, fmt.Errorf("a point is a version and an instant, not %v", n)
	}
	return store.Point{Version: uint64(n[0]), Time: time.UnixMicro(n[1]).UTC()}, nil
}

// value is the value of a line; nil for none.
func (l line) value() ([]byte, error) {
	if l.X64 == nil {
		return l.X, nil
	}
	value, err := base64.StdEncoding.DecodeString(*l.X64)
	if err != nil {
		return nil, fmt.Errorf("its value: %w", err)
	}
	return value, nil
}

func (l line) placed() (store.Piece, error) {
	key := store.Key{Namespace: l.N, Collection: l.C, Name: l.K}
	if l.K64 != "" {
		name, err := base64.StdEncoding.DecodeString(l.K64)
		if err != nil {
			return store.Piece{}, fmt.Errorf("its key: %w", err)
		}
		key.Name = string(name)
	}
	value, err := l.value()
	if err != nil {
		return store.Piece{}, err
	}
	if l.Counter {
		return store.Piece{Counter: &store.CounterRecord{Branch: *l.B, Key: key, Version: l.V, Value: value}}, nil
	}
	if value == nil && !l.D {
		return store.Piece{}, fmt.Errorf("it has neither a value nor says that it was deleted")
	}
	return store.Piece{Entry: &store.Entry{Key: key, Point: store.Point{Version: l.V}, Branch: *l.B, Value: value, Deleted: l.D}}, nil
}
