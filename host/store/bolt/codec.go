package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
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
		return store.Key{}, fmt.Errorf("key %x has no namespace", raw)
	}
	collection, rest, ok := bytes.Cut(rest, []byte{0})
	if !ok || !bytes.HasSuffix(rest, []byte{0, 1}) {
		return store.Key{}, fmt.Errorf("key %x has no collection or no end", raw)
	}
	name := string(rest[:len(rest)-2])
	if strings.Count(name, "\x00") != strings.Count(name, "\x00\xff") {
		return store.Key{}, fmt.Errorf("key %x has a name that ends in the middle", raw)
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
		return store.Change{}, fmt.Errorf("change %x: %x is damaged", key, value)
	}
	k, err := decodeKey(key[versionSize:])
	return store.Change{Key: k, Version: changedAt(key), Deleted: value[0] == 1}, err
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
		return nil, 0, fmt.Errorf("key %x is too short", key)
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

// record is how an entry is stored: flags, the instant in µs, the branch, a CRC-32C of all this and the value,
// and the value, unless it is large and stands in the branch's values, under the same key.
type record struct {
	flags  byte
	micros int64
	branch store.BranchID
	crc    uint32
	value  []byte
}

const (
	flagDeleted = 1 << iota
	flagLarge

	recordHeader = 1 + 8 + 8 + 4
	largeValue   = 1 << 10 // bytes from which on a value is kept apart
)

var errRot = errors.New("checksum does not match: the file is damaged")

func newRecord(branch store.BranchID, at store.Point, value []byte, deleted bool) record {
	r := record{micros: at.Time.UnixMicro(), branch: branch, value: value}
	if deleted {
		r.flags, r.value = flagDeleted, nil
	}
	if len(value) > largeValue && !deleted {
		r.flags |= flagLarge
	}
	r.crc = r.checksum()
	return r
}

func (r record) header() []byte {
	out := make([]byte, 0, recordHeader+largeValue)
	out = append(out, r.flags)
	out = binary.BigEndian.AppendUint64(out, uint64(r.micros))
	return binary.BigEndian.AppendUint64(out, uint64(r.branch))
}

func (r record) checksum() uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum(r.header(), table), table, r.value)
}

func (r record) encode() []byte {
	out := binary.BigEndian.AppendUint32(r.header(), r.crc)
	if r.flags&flagLarge != 0 {
		return out
	}
	return append(out, r.value...)
}

// decodeRecord reads a record; a large value is yet to be added.
func decodeRecord(data []byte) (record, error) {
	if len(data) < recordHeader {
		return record{}, fmt.Errorf("record of %d bytes is too short", len(data))
	}
	if data[0]&^(flagDeleted|flagLarge) != 0 {
		return record{}, fmt.Errorf("record has the flags %#x, of which some are unknown", data[0])
	}
	return record{
		flags:  data[0],
		micros: int64(binary.BigEndian.Uint64(data[1:])),
		branch: store.BranchID(binary.BigEndian.Uint64(data[9:])),
		crc:    binary.BigEndian.Uint32(data[17:]),
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
