package sandbox

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/abi"
)

// ReadManifest reads a module's manifest without validating the rest of the module. Admit validates it.
func ReadManifest(module []byte) (*abi.Manifest, error) {
	data, err := ManifestBytes(module)
	if err != nil {
		return nil, err
	}
	return abi.ParseManifest(data)
}

// ManifestBytes returns the bytes of a module's manifest.
func ManifestBytes(module []byte) ([]byte, error) {
	var manifest []byte
	err := sections(module, func(_, name, data []byte) bool {
		if string(name) == abi.Section {
			manifest = data
		}
		return manifest == nil
	})
	if err == nil && manifest == nil {
		err = fmt.Errorf("it has no section %s: pack it with alcove family pack", abi.Section)
	}
	return manifest, err
}

// sections calls f for each section of a module until f returns false. whole includes the section's id and length. name and
// data are set for custom sections only, whose name is not nil.
func sections(module []byte, f func(whole, name, data []byte) bool) error {
	if len(module) < 8 || string(module[:4]) != "\x00asm" {
		return errors.New("it is not a WebAssembly module")
	}
	for rest := module[8:]; len(rest) > 0; {
		id, before := rest[0], rest
		content, after, err := cutSized(rest[1:])
		if err != nil {
			return fmt.Errorf("section %d: %w", id, err)
		}
		rest = after
		var name, data []byte
		if id == customSection {
			if name, data, err = cutSized(content); err != nil {
				return fmt.Errorf("a custom section: %w", err)
			}
		}
		if !f(before[:len(before)-len(rest)], name, data) {
			return nil
		}
	}
	return nil
}

// bodyOf returns the digest of a module without custom sections, which do not affect its code, and its manifests and sources. It
// returns false for a faulty module, which must be decoded to find the fault.
func bodyOf(module []byte) (body [sha256.Size]byte, manifests, sources [][]byte, ok bool) {
	limits, customs, fine := structural(), 0, true
	h := sha256.New()
	err := sections(module, func(whole, name, data []byte) bool {
		if name == nil {
			h.Write(whole)
			return true
		}
		customs++
		fine = fine && customs <= limits.Customs && len(name) <= limits.Name && utf8.Valid(name)
		switch string(name) {
		case abi.Section:
			manifests = append(manifests, data)
		case abi.SourceSection:
			sources = append(sources, data)
		}
		return fine
	})
	if err != nil || !fine {
		return body, nil, nil, false
	}
	h.Write(module[:8])
	h.Sum(body[:0])
	return body, manifests, sources, true
}

// cutSized splits off length-prefixed bytes.
func cutSized(data []byte) (content, rest []byte, err error) {
	n, used := binary.Uvarint(data)
	if used <= 0 || n > uint64(len(data)-used) {
		return nil, nil, errors.New("it is cut off")
	}
	return data[used : used+int(n)], data[used+int(n):], nil
}
