package modules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/sandbox"
)

// Module is the module of a built-in family.
type Module struct {
	Digest   string                 // SHA-256 of its bytes, hexadecimal
	Manifest []byte                 // the content of its manifest section
	Read     func() ([]byte, error) // its bytes, read only if their code is not cached
	Body     string                 // digest of its bytes without custom sections; empty: unknown
	Native   *sandbox.Native        // native code that came with this program; nil: none
}

// Of returns a module whose bytes are in memory.
func Of(packed []byte) (Module, error) {
	manifest, err := sandbox.ManifestBytes(packed)
	if err != nil {
		return Module{}, fmt.Errorf("read a module that the program carries: %w", err)
	}
	return Module{Digest: Digest(packed), Manifest: manifest, Read: func() ([]byte, error) { return packed, nil }}, nil
}

// Origin is where its bytes are.
func (m Module) Origin() Origin {
	return Origin{func() (string, error) { return m.Digest, nil }, sandbox.Hashed(m.Read)}
}

// Catalogue returns the digest of families that a program carries: of their digests, sorted.
func Catalogue(built []Module) string {
	var digests []string
	for _, m := range built {
		digests = append(digests, m.Digest)
	}
	slices.Sort(digests)
	return Digest([]byte(strings.Join(digests, "\n")))
}
