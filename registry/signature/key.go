package signature

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
)

// The first byte of a key says what it is.
const (
	publicID = 0x01
	pairID   = 0x81
)

// FormatPublic returns a public key as text: the Base64 of its serialized form.
func FormatPublic(key ed25519.PublicKey) string {
	return base64.StdEncoding.EncodeToString(EncodePublic(key))
}

// EncodePublic returns a public key in the serialized form that wasmsign2 reads.
func EncodePublic(key ed25519.PublicKey) []byte { return append([]byte{publicID}, key...) }

// ParsePublic reads a public key, serialized or as text.
func ParsePublic(data []byte) (ed25519.PublicKey, error) {
	if text := bytes.TrimSpace(data); len(text) == base64.StdEncoding.EncodedLen(1+ed25519.PublicKeySize) {
		if raw, err := base64.StdEncoding.Strict().DecodeString(string(text)); err == nil {
			data = raw
		}
	}
	if len(data) > 0 && data[0] == pairID {
		return nil, errors.New("it is a secret key: give the public one, and keep this one to yourself")
	}
	if len(data) != 1+ed25519.PublicKeySize || data[0] != publicID {
		return nil, fmt.Errorf("it is no public key: give the %d bytes that alcove family keygen or wasmsign2 keygen writes, or their Base64", 1+ed25519.PublicKeySize)
	}
	return bytes.Clone(data[1:]), nil
}

// EncodePair returns a key pair in the serialized form that wasmsign2 reads.
func EncodePair(key ed25519.PrivateKey) []byte { return append([]byte{pairID}, key...) }

// ParsePair reads a serialized key pair.
func ParsePair(data []byte) (ed25519.PrivateKey, error) {
	if len(data) != 1+ed25519.PrivateKeySize || data[0] != pairID {
		return nil, fmt.Errorf("it is no secret key: give the %d bytes that alcove family keygen or wasmsign2 keygen writes", 1+ed25519.PrivateKeySize)
	}
	key := ed25519.NewKeyFromSeed(data[1 : 1+ed25519.SeedSize])
	if !bytes.Equal(key, data[1:]) {
		return nil, errors.New("the public half of the secret key does not belong to the other half: make a new one with alcove family keygen")
	}
	return key, nil
}
