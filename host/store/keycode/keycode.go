// Package keycode encodes keys of entries as bytes that sort as the keys do.
//
// An encoded key is namespace 0 collection 0 name 0 1, where a zero byte in a name is followed by 255. With a version, its
// inverse follows, so that the newest sorts first.
package keycode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/store"
)

// VersionSize is the number of bytes of a version in a key.
const VersionSize = 8

// ErrCursor means that a cursor belongs to another listing.
var ErrCursor = errors.New("cursor does not belong to this listing")

// Encode returns a key without a version.
func Encode(k store.Key) []byte {
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

// Decode is the inverse of Encode.
func Decode(raw []byte) (store.Key, error) {
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

// Check returns an error for a key that could not be decoded again, or is longer than 16 KiB.
func Check(k store.Key) error {
	if strings.IndexByte(k.Namespace, 0) >= 0 || strings.IndexByte(k.Collection, 0) >= 0 {
		return fmt.Errorf("key %s: a namespace or collection must not contain a zero byte", k)
	}
	if len(k.Namespace)+len(k.Collection)+2*len(k.Name) > 16<<10 {
		return fmt.Errorf("key %.64s… is too long: at most 16 KiB are allowed", k)
	}
	return nil
}

// Version returns an encoded key with a version.
func Version(raw []byte, version uint64) []byte {
	out := make([]byte, len(raw), len(raw)+VersionSize)
	copy(out, raw)
	return binary.BigEndian.AppendUint64(out, ^version)
}

// SplitVersion is the inverse of Version. Its key is part of the argument.
func SplitVersion(key []byte) (raw []byte, version uint64, err error) {
	if len(key) < VersionSize {
		return nil, 0, fmt.Errorf("key %x is too short: %w", key, store.ErrDamaged)
	}
	at := len(key) - VersionSize
	return key[:at], ^binary.BigEndian.Uint64(key[at:]), nil
}

// Prefix returns the common prefix of the encoded keys of a range.
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

// After returns the first key behind all that start with prefix; nil: none is.
func After(prefix []byte) []byte {
	end := slices.Clone(prefix)
	for len(end) > 0 && end[len(end)-1] == 255 {
		end = end[:len(end)-1]
	}
	if len(end) == 0 {
		return nil
	}
	end[len(end)-1]++
	return end
}

// Start returns the first key of a listing, given the prefix of its range: the cursor's, or the range's. For a reverse one it is the
// exclusive upper bound; nil: none.
func Start(r store.Range, prefix []byte, c store.Cursor) ([]byte, error) {
	if c != "" {
		if !bytes.HasPrefix([]byte(c), prefix) {
			return nil, ErrCursor
		}
		return []byte(c), nil
	}
	if r.Reverse {
		return reverseStart(r, prefix), nil
	}
	if r.From != "" {
		from := Encode(store.Key{Namespace: r.Namespace, Collection: r.Collection, Name: r.From})
		if bytes.Compare(from[:len(from)-2], prefix) > 0 {
			return from[:len(from)-2], nil
		}
	}
	return prefix, nil
}

func reverseStart(r store.Range, prefix []byte) []byte {
	if r.From != "" {
		return Version(Encode(store.Key{Namespace: r.Namespace, Collection: r.Collection, Name: r.From}), 0)
	}
	return After(prefix)
}
