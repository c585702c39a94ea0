package layout

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/store"
)

// Keys are encoded so that their bytes sort as keys do: namespace 0 collection 0 name, where a zero byte in a name is followed by
// 255, and a name ends with 0 1. The version follows, inverted, so that the newest sorts first.

// VersionSize is how many bytes of a key are its version.
const VersionSize = 8

// EncodeKey is a key without a version.
func EncodeKey(k store.Key) []byte {
	out := make([]byte, 0, len(k.Namespace)+len(k.Collection)+len(k.Name)+4+VersionSize)
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

// DecodeKey is the inverse of EncodeKey.
func DecodeKey(raw []byte) (store.Key, error) {
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

// EncodeChange is a record of a branch's change log: its key is the version and the key that changed, its value tells a deletion.
func EncodeChange(raw []byte, version uint64, deleted bool) (key, value []byte) {
	value = []byte{0}
	if deleted {
		value[0] = 1
	}
	return append(U64(version), raw...), value
}

// ChangeVersion is the version of a change, given its key. A key that is cut short counts as the newest, so that nothing drops it.
func ChangeVersion(key []byte) uint64 {
	if len(key) < VersionSize {
		return store.Latest
	}
	return binary.BigEndian.Uint64(key)
}

func decodeChange(key, value []byte) (store.Change, error) {
	if len(key) < VersionSize || len(value) != 1 || value[0] > 1 {
		return store.Change{}, fmt.Errorf("change %x: %x: %w", key, value, store.ErrDamaged)
	}
	k, err := DecodeKey(key[VersionSize:])
	return store.Change{Key: k, Version: ChangeVersion(key), Deleted: value[0] == 1}, err
}

// Change verifies and decodes a record of a change log.
func (t Table) Change(key, data []byte) (store.Change, error) {
	value, err := t.Open(key, data)
	if err != nil {
		return store.Change{}, err
	}
	return decodeChange(key, value)
}

// CheckKey refuses a key that could not be decoded again, or is longer than 16 KiB.
func CheckKey(k store.Key) error {
	if strings.IndexByte(k.Namespace, 0) >= 0 || strings.IndexByte(k.Collection, 0) >= 0 {
		return fmt.Errorf("key %s: a namespace or collection must not contain a zero byte", k)
	}
	if len(k.Namespace)+len(k.Collection)+2*len(k.Name) > 16<<10 {
		return fmt.Errorf("key %.64s… is too long: at most 16 KiB are allowed", k)
	}
	return nil
}

// VersionKey is an encoded key with a version.
func VersionKey(raw []byte, version uint64) []byte {
	out := make([]byte, len(raw), len(raw)+VersionSize)
	copy(out, raw)
	return binary.BigEndian.AppendUint64(out, ^version)
}

// SplitVersion is the inverse of VersionKey. Its key is part of the argument.
func SplitVersion(key []byte) (raw []byte, version uint64, err error) {
	if len(key) < VersionSize {
		return nil, 0, fmt.Errorf("key %x is too short: %w", key, store.ErrDamaged)
	}
	at := len(key) - VersionSize
	return key[:at], ^binary.BigEndian.Uint64(key[at:]), nil
}

// Prefix is the common prefix of the encoded keys of a range.
func Prefix(r store.Range) []byte {
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

// U64 encodes a number so that its bytes sort as numbers do.
func U64(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// FromU64 is the inverse of U64; 0 for anything that has not 8 bytes.
func FromU64(b []byte) uint64 {
	if len(b) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(b)
}

// DescribeKey names a record for an error or a report: the entry and version that it is about, if its key can be decoded.
func DescribeKey(k Kind, key []byte) string {
	raw, version, err := SplitVersion(key)
	if k == KindLog && len(key) >= VersionSize {
		raw, version = key[VersionSize:], ChangeVersion(key)
	}
	if err == nil && slices.Contains([]Kind{KindEntries, KindValues, KindLog, KindCounters}, k) {
		if name, err := DecodeKey(raw); err == nil {
			return fmt.Sprintf("%s at version %d", name, version)
		}
	}
	return fmt.Sprintf("record %q of %s", key, k.Bucket())
}
