// Package catalogue signs catalogues of first-party families with the key of a release, and verifies their signatures.
//
// A program carries the signatures as one text, which the linker sets: for each key, the public key, a colon and the signature, both in
// Base64; commas are between them. During the rotation of a key, a release is signed by the old key and by the new one.
package catalogue

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/alcove-memory/alcove/registry/signature"
)

// mostKeys bounds the signatures of a catalogue.
const mostKeys = 8

// domain keeps a signature of a catalogue from being one of anything else, such as a module.
const domain = "alcove catalogue 1\n"

// Sign returns the signatures of the catalogue with a digest by all keys.
func Sign(catalogue string, keys ...ed25519.PrivateKey) (string, error) {
	if len(keys) == 0 || len(keys) > mostKeys {
		return "", fmt.Errorf("sign the catalogue: there are %d keys: give from 1 to %d", len(keys), mostKeys)
	}
	all := make([]string, len(keys))
	for i, key := range keys {
		made := ed25519.Sign(key, []byte(domain+catalogue))
		all[i] = signature.FormatPublic(key.Public().(ed25519.PublicKey)) + ":" + base64.StdEncoding.EncodeToString(made)
	}
	return strings.Join(all, ","), nil
}

// Verify returns the public keys that signed the catalogue with a digest, as text, in the order of their signatures; without
// signatures none. It fails if one of them does not hold: a release has no such.
func Verify(signatures, catalogue string) ([]string, error) {
	if signatures == "" {
		return nil, nil
	}
	all := strings.Split(signatures, ",")
	if len(all) > mostKeys {
		return nil, fmt.Errorf("the catalogue of families has more than %d signatures: %w", mostKeys, errAltered)
	}
	keys := make([]string, len(all))
	for i, one := range all {
		public, made, _ := strings.Cut(one, ":")
		key, err := signature.ParsePublic([]byte(public))
		if err != nil {
			return nil, fmt.Errorf("the key of a release %.60q: %w: %w", public, err, errAltered)
		}
		raw, err := base64.StdEncoding.Strict().DecodeString(made)
		if err != nil || !ed25519.Verify(key, []byte(domain+catalogue), raw) {
			return nil, fmt.Errorf("the catalogue of families %s is not what the key %s signed: %w", catalogue, public, errAltered)
		}
		keys[i] = public
	}
	return keys, nil
}

var errAltered = errors.New("this program was altered, or was not built by make release: download it again, or build it without signatures")
