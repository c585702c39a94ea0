package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
)

// Binary is the bytes of a module with the digest that was computed of them. Both stay together, so that bytes are hashed once and the
// hashed bytes are those that run. The zero Binary is no module.
type Binary struct {
	bytes  []byte
	digest [sha256.Size]byte
}

// Hash returns the bytes of a module with their digest. The caller must not change them afterwards.
func Hash(module []byte) Binary { return Binary{module, sha256.Sum256(module)} }

// Bytes returns the module. The caller must not change it.
func (b Binary) Bytes() []byte { return b.bytes }

// Digest returns the SHA-256 of the bytes, hexadecimal.
func (b Binary) Digest() string { return hex.EncodeToString(b.digest[:]) }

// Hashed returns a function that hashes what another one reads.
func Hashed(read func() ([]byte, error)) func() (Binary, error) {
	return func() (Binary, error) {
		module, err := read()
		if err != nil {
			return Binary{}, err
		}
		return Hash(module), nil
	}
}
