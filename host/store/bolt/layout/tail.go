package layout

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
)

// A small commit writes an entry and a point. What the log, the index of instants and the requests say of it is the tail of its point,
// until a later commit moves it there with those of the commits before: each of these buckets has pages of its own, which every commit
// would write again. The points with a tail are the newest ones, without gaps.

const (
	// TailEvery is after how many commits tails are moved.
	TailEvery = 64
	// tailBytes is how long a tail may be; a commit with more moves its own at once.
	tailBytes = 2 << 10

	tailFlag = 1 << 63 // of the instant, which is never negative
)

// Tail is what other buckets will say of a commit.
type Tail struct {
	Request []byte // its key; nil: the commit has none
	Outcome []byte // the value of the record of the request
	Changes []TailChange
}

// TailChange is a change of a branch's log.
type TailChange struct {
	Branch  store.BranchID
	Raw     []byte // the encoded key of the entry
	Deleted bool
}

// EncodeTailed is the value of the record of a point with a tail; ok is false for a tail that is too long.
func EncodeTailed(p store.Point, t Tail, note []byte) (value []byte, ok bool) {
	tail := appendBytes(appendBytes(nil, t.Request), t.Outcome)
	for _, c := range t.Changes {
		deleted := byte(0)
		if c.Deleted {
			deleted = 1
		}
		tail = append(appendBytes(binary.AppendUvarint(tail, uint64(c.Branch)), c.Raw), deleted)
		if len(tail) > tailBytes {
			return nil, false
		}
	}
	value = U64(uint64(p.Time.UnixMicro()) | tailFlag)
	return append(appendBytes(value, tail), note...), len(tail) <= tailBytes
}

func appendBytes(to, b []byte) []byte { return append(binary.AppendUvarint(to, uint64(len(b))), b...) }

// cutBytes is the inverse of appendBytes.
func cutBytes(from []byte) (b, rest []byte, ok bool) {
	n, used := binary.Uvarint(from)
	if used <= 0 || n > uint64(len(from)-used) {
		return nil, nil, false
	}
	end := used + int(n)
	return from[used:end:end], from[end:], true
}

// splitTailed separates the value of the record of a point. Without a tail, tailed is false; where it is truncated, micros is nil.
func splitTailed(value []byte) (micros, tail, note []byte, tailed bool) {
	if len(value) < 8 {
		return nil, nil, nil, false
	}
	if value[0]&(tailFlag>>56) == 0 {
		return value[:8:8], nil, value[8:], false
	}
	tail, note, ok := cutBytes(value[8:])
	if !ok {
		return nil, nil, nil, true
	}
	return U64(FromU64(value[:8]) &^ tailFlag), tail, note, true
}

// ErrTail is that the tail of a point cannot be decoded.
var ErrTail = fmt.Errorf("the tail of a point is malformed: %w", store.ErrDamaged)

func decodeTail(data []byte) (t Tail, err error) {
	request, data, ok := cutBytes(data)
	outcome, data, also := cutBytes(data)
	if !ok || !also {
		return t, ErrTail
	}
	if len(request) > 0 {
		t.Request, t.Outcome = request, outcome
	}
	for len(data) > 0 {
		branch, used := binary.Uvarint(data)
		if used <= 0 {
			return t, ErrTail
		}
		raw, rest, ok := cutBytes(data[used:])
		if !ok || len(rest) == 0 || rest[0] > 1 {
			return t, ErrTail
		}
		t.Changes = append(t.Changes, TailChange{store.BranchID(branch), raw, rest[0] == 1})
		data = rest[1:]
	}
	return t, nil
}

// Tail verifies and decodes the tail of a record of KindPoints; nil for none. It is part of data.
func (t Table) Tail(version, data []byte) (*Tail, error) {
	value, err := t.Open(version, data)
	if err != nil {
		return nil, fmt.Errorf("read version %d: %w", FromU64(version), err)
	}
	_, raw, _, tailed := splitTailed(value)
	if !tailed {
		return nil, nil
	}
	tail, err := decodeTail(raw)
	if err != nil {
		return nil, fmt.Errorf("read version %d: %w", FromU64(version), err)
	}
	return &tail, nil
}

// Tailed is a point whose tail was not moved.
type Tailed struct {
	store.Noted
	Tail
}

// Tails are the points with a tail that are newer than a version, oldest first. They belong to the transaction.
func Tails(tx *bbolt.Tx, after uint64) (list []Tailed, err error) {
	points := InSpace(tx, KindPoints)
	first := firstTailed(points, after)
	if first == nil {
		return nil, nil
	}
	c := points.Cursor()
	for version, data := c.Seek(first); version != nil; version, data = c.Next() {
		p, err := points.Noted(version, data)
		if err != nil {
			return nil, err
		}
		tail, err := points.Tail(version, data)
		if err != nil {
			return nil, err
		}
		if tail != nil {
			list = append(list, Tailed{p, *tail})
		}
	}
	return list, nil
}

// firstTailed is the version of the oldest point after one that has a tail; nil: none has.
func firstTailed(points Records, after uint64) (first []byte) {
	c := points.Cursor()
	for version, data := c.Last(); version != nil && FromU64(version) > after && hasTail(data); version, data = c.Prev() {
		first = version
	}
	return first
}

func hasTail(data []byte) bool { return len(data) > 0 && data[0]&(tailFlag>>56) != 0 }

// TailRequest is the outcome of a request in the tails; nil for none.
func TailRequest(tx *bbolt.Tx, key []byte) ([]byte, error) {
	points := InSpace(tx, KindPoints)
	c := points.Cursor()
	for version, data := c.Last(); version != nil && hasTail(data); version, data = c.Prev() {
		if !bytes.Contains(data, key) {
			continue // without the price of a checksum
		}
		t, err := points.Tail(version, data)
		if err != nil || bytes.Equal(t.Request, key) {
			return t.outcome(), err
		}
	}
	return nil, nil
}

func (t *Tail) outcome() []byte {
	if t == nil {
		return nil
	}
	return t.Outcome
}

// MoveTails moves all tails to the buckets that they are for.
func MoveTails(tx *bbolt.Tx) error {
	list, err := Tails(tx, 0)
	if err != nil {
		return err
	}
	for i := range list { // what is read belongs to pages that the writes below replace
		list[i].Own()
	}
	points := InSpace(tx, KindPoints)
	for _, p := range list {
		if err := p.Record(tx, p.Point); err != nil {
			return err
		}
		if err := points.Write(U64(p.Version), EncodePoint(p.Point, p.Note)); err != nil {
			return err
		}
	}
	return nil
}

// Own makes a point independent of its transaction.
func (p *Tailed) Own() {
	p.Note, p.Request, p.Outcome = bytes.Clone(p.Note), bytes.Clone(p.Request), bytes.Clone(p.Outcome)
	for i := range p.Changes {
		p.Changes[i].Raw = bytes.Clone(p.Changes[i].Raw)
	}
}

// Record writes a tail into the buckets that it is for.
func (t Tail) Record(tx *bbolt.Tx, at store.Point) error {
	for _, c := range t.Changes {
		branch, err := MakeBranch(tx, c.Branch)
		if err != nil {
			return err
		}
		change, deleted := EncodeChange(c.Raw, at.Version, c.Deleted)
		if err := Append(InBranch(branch, c.Branch, KindLog), change, deleted); err != nil {
			return err
		}
	}
	micros := uint64(at.Time.UnixMicro())
	if err := Append(InSpace(tx, KindTime), U64(micros), U64(at.Version)); err != nil || t.Request == nil {
		return err
	}
	if err := InSpace(tx, KindRequests).Write(t.Request, t.Outcome); err != nil {
		return err
	}
	return Append(InSpace(tx, KindAges), AgeKey(int64(micros), t.Request), nil)
}

// EncodeOutcome is the value of the record of a request.
func EncodeOutcome(r store.Request, done store.Committed) ([]byte, error) {
	return json.Marshal(Request{Digest: r.Digest[:], Version: done.Version, Micros: done.Time.UnixMicro(), Sequences: done.Sequences})
}
