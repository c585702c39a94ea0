package bolt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// Keys are encoded so that their bytes sort as the keys do: namespace 0 collection 0 name, where a zero byte in a
// name is followed by 255, and a name ends with 0 1. Behind that stands the version, inverted, so that the newest
// comes first.

const versionSize = 8

func encodeKey(k store.Key) []byte {
	out := make([]byte, 0, len(k.Namespace)+len(k.Collection)+len(k.Name)+4+versionSize)
	out = append(append(out, k.Namespace...), 0)
	out = append(append(out, k.Collection...), 0)
	out = appendName(out, k.Name)
	return append(out, 0, 1)
}

func appendName(out []byte, name string) []byte {
	for i := range len(name) {
		out = append(out, name[i])
		if name[i] == 0 {
			out = append(out, 255)
		}
	}
	return out
}

func decodeKey(raw []byte) (store.Key, error) {
	namespace, rest, ok := bytes.Cut(raw, []byte{0})
	if !ok {
		return store.Key{}, fmt.Errorf("key %x has no namespace: %w", raw, store.ErrDamaged)
	}
	collection, rest, ok := bytes.Cut(rest, []byte{0})
	if !ok || !bytes.HasSuffix(rest, []byte{0, 1}) {
		return store.Key{}, fmt.Errorf("key %x has no collection or no end: %w", raw, store.ErrDamaged)
	}
	name := string(rest[:len(rest)-2])
	if strings.Count(name, "\x00") != strings.Count(name, "\x00\xff") {
		return store.Key{}, fmt.Errorf("key %x has a name that ends in the middle: %w", raw, store.ErrDamaged)
	}
	name = strings.ReplaceAll(name, "\x00\xff", "\x00")
	return store.Key{Namespace: string(namespace), Collection: string(collection), Name: name}, nil
}

// A branch's change log is keyed by version and key; its values say whether the key was deleted.

func encodeChange(raw []byte, version uint64, deleted bool) (key, value []byte) {
	value = []byte{0}
	if deleted {
		value[0] = 1
	}
	return append(u64(version), raw...), value
}

// changedAt is the version of a record of the change log. A damaged one counts as the newest: nothing drops it.
func changedAt(key []byte) uint64 {
	if len(key) < versionSize {
		return store.Latest
	}
	return binary.BigEndian.Uint64(key)
}

func decodeChange(key, value []byte) (store.Change, error) {
	if len(key) < versionSize || len(value) != 1 || value[0] > 1 {
		return store.Change{}, fmt.Errorf("change %x: %x: %w", key, value, store.ErrDamaged)
	}
	k, err := decodeKey(key[versionSize:])
	return store.Change{Key: k, Version: changedAt(key), Deleted: value[0] == 1}, err
}

// change is a record of a change log.
func (p place) change(key, data []byte) (store.Change, error) {
	value, err := p.open(key, data)
	if err != nil {
		return store.Change{}, err
	}
	return decodeChange(key, value)
}

// checkKey refuses keys whose encoding would be taken for another's.
func checkKey(k store.Key) error {
	if strings.IndexByte(k.Namespace, 0) >= 0 || strings.IndexByte(k.Collection, 0) >= 0 {
		return fmt.Errorf("key %s: a namespace or collection must not contain a zero byte", k)
	}
	if len(k.Namespace)+len(k.Collection)+2*len(k.Name) > 16<<10 {
		return fmt.Errorf("key %.64s… is too long: at most 16 KiB are allowed", k)
	}
	return nil
}

func atVersion(raw []byte, version uint64) []byte {
	out := make([]byte, len(raw), len(raw)+versionSize)
	copy(out, raw)
	return binary.BigEndian.AppendUint64(out, ^version)
}

func splitVersion(key []byte) (raw []byte, version uint64, err error) {
	if len(key) < versionSize {
		return nil, 0, fmt.Errorf("key %x is too short: %w", key, store.ErrDamaged)
	}
	at := len(key) - versionSize
	return key[:at], ^binary.BigEndian.Uint64(key[at:]), nil
}

// prefixOf is what the encoded keys of a range begin with.
func prefixOf(r store.Range) []byte {
	if r.Namespace == "" {
		return nil
	}
	out := append([]byte(r.Namespace), 0)
	if r.Collection == "" {
		return out
	}
	out = append(append(out, r.Collection...), 0)
	out = appendName(out, r.Prefix)
	if r.Exact {
		out = append(out, 0, 1)
	}
	return out
}

// record is how an entry is stored: flags, the instant in µs, the branch, a CRC-32C of the key, all this and the value,
// and the value. A large value stands in the branch's values, under the same key; its checksum is here instead.
type record struct {
	flags  byte
	micros int64
	branch store.BranchID
	value  []byte
}

const (
	flagDeleted = 1 << iota
	flagLarge

	recordStart  = 1 + 8 + 8 // bytes before the checksum
	recordHeader = recordStart + sealSize
	largeValue   = 1 << 10 // bytes from which on a value is kept apart
)

var errRot = fmt.Errorf("checksum does not match: %w", store.ErrDamaged)

// newRecord is the record of an entry, and its value as it is kept apart; nil when it is not.
func newRecord(branch store.BranchID, key []byte, at store.Point, value []byte, deleted bool) (r record, apart []byte) {
	r = record{micros: at.Time.UnixMicro(), branch: branch, value: value}
	if deleted {
		r.flags, r.value = flagDeleted, nil
		return r, nil
	}
	if len(value) > largeValue {
		apart = placeOf(kindValues, uint64(branch)).seal(key, value)
		r.flags, r.value = flagLarge, apart[len(value):]
	}
	return r, apart
}

func (r record) encode(key []byte) []byte {
	out := make([]byte, recordStart, recordHeader+len(r.value))
	out[0] = r.flags
	binary.BigEndian.PutUint64(out[1:], uint64(r.micros))
	binary.BigEndian.PutUint64(out[9:], uint64(r.branch))
	sum := placeOf(kindEntries, 0).sum(key, out, r.value)
	return append(binary.BigEndian.AppendUint32(out, sum), r.value...)
}

// decodeRecord reads a record, and makes sure that it is whole. The value of a large one is the checksum of its value. p is the
// place of entries.
func (p place) decodeRecord(key, data []byte) (record, error) {
	r, err := splitRecord(data)
	if err == nil && p.sum(key, data[:recordStart], r.value) != p.stored(data) {
		err = errRot
	}
	return r, err
}

// splitRecord takes a record apart, whether it is whole or not.
func splitRecord(data []byte) (record, error) {
	if len(data) < recordHeader {
		return record{}, fmt.Errorf("record of %d bytes is too short: %w", len(data), store.ErrDamaged)
	}
	if data[0]&^(flagDeleted|flagLarge) != 0 {
		return record{}, fmt.Errorf("record has the flags %#x, of which some are unknown: %w", data[0], store.ErrDamaged)
	}
	return record{
		flags:  data[0],
		micros: int64(binary.BigEndian.Uint64(data[1:])),
		branch: store.BranchID(binary.BigEndian.Uint64(data[9:])),
		value:  data[recordHeader:],
	}, nil
}

func (r record) entry(key store.Key, version uint64) store.Entry {
	e := store.Entry{Key: key, Branch: r.branch, Deleted: r.flags&flagDeleted != 0,
		Point: store.Point{Version: version, Time: time.UnixMicro(r.micros).UTC()}}
	if !e.Deleted {
		e.Value = append([]byte{}, r.value...)
	}
	return e
}

func u64(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func fromU64(b []byte) uint64 {
	if len(b) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(b)
}
