// Package catalogue signs catalogues of first-party families with the key of a release, and verifies their signatures.
//
// A program carries the signatures as one text, which the linker sets, in the form of signature.SignText. During the rotation of a key, a
// release is signed by the old key and by the new one.
package catalogue

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/alcove-memory/alcove/registry/signature"
)

// domain keeps a signature of a catalogue from being one of anything else, such as a module.
const domain = "alcove catalogue 1\n"

// Sign returns the signatures of the catalogue with a digest by all keys.
func Sign(catalogue string, keys ...ed25519.PrivateKey) (string, error) {
	made, err := signature.SignText(domain, catalogue, keys...)
	if err != nil {
		return "", fmt.Errorf("sign the catalogue: %w", err)
	}
	return made, nil
}

// Verify returns the public keys that signed the catalogue with a digest, as text, in the order of their signatures; without
// signatures none. It fails if one of them does not hold: a release has no such.
func Verify(signatures, catalogue string) ([]string, error) {
	keys, err := signature.VerifyText(domain, catalogue, signatures)
	if err != nil {
		return nil, fmt.Errorf("the catalogue of families %s: %w: %w", catalogue, err, errAltered)
	}
	return keys, nil
}

var errAltered = errors.New("this program was altered, or was not built by make release: download it again, or build it without signatures")
