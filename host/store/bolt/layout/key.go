package layout

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

// EncodeChange is a record of a branch's change log: its key is the version and the key that changed, its value tells a deletion.
func EncodeChange(raw []byte, version uint64, deleted bool) (key, value []byte) {
	value = []byte{0}
	if deleted {
		value[0] = 1
	}
	return append(U64(version), raw...), value
}

// ChangeVersion is the version of a change, given its key. A key that is truncated counts as the newest, so that nothing drops it.
func ChangeVersion(key []byte) uint64 {
	if len(key) < keycode.VersionSize {
		return store.Latest
	}
	return binary.BigEndian.Uint64(key)
}

func decodeChange(key, value []byte) (store.Change, error) {
	if len(key) < keycode.VersionSize || len(value) != 1 || value[0] > 1 {
		return store.Change{}, fmt.Errorf("change %x: %x: %w", key, value, store.ErrDamaged)
	}
	k, err := keycode.Decode(key[keycode.VersionSize:])
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
	raw, version, err := keycode.SplitVersion(key)
	if k == KindLog && len(key) >= keycode.VersionSize {
		raw, version = key[keycode.VersionSize:], ChangeVersion(key)
	}
	if err == nil && slices.Contains([]Kind{KindEntries, KindValues, KindLog, KindCounters}, k) {
		if name, err := keycode.Decode(raw); err == nil {
			return fmt.Sprintf("%s at version %d", name, version)
		}
	}
	return fmt.Sprintf("record %q of %s", key, k.Bucket())
}
