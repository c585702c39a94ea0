// Package sealed hides texts that a client only hands back, such as the place to continue from, which may name a key that it may not read.
package sealed

import (
	"crypto/rand"
	"encoding/base64"

	"golang.org/x/crypto/nacl/secretbox"
)

// Key seals and opens texts. What one key sealed, no other opens.
type Key [32]byte

// New returns a random key.
func New() *Key {
	var k Key
	_, _ = rand.Read(k[:]) // never fails
	return &k
}

const nonceSize = 24

// Seal returns a text, encrypted and authenticated, in base64url.
func (k *Key) Seal(text []byte) string {
	var nonce [nonceSize]byte
	_, _ = rand.Read(nonce[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(secretbox.Seal(nonce[:], text, &nonce, (*[32]byte)(k)))
}

// Open is the reverse of Seal; ok is false for what the key did not seal.
func (k *Key) Open(sealed string) (text []byte, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil || len(raw) < nonceSize {
		return nil, false
	}
	return secretbox.Open(nil, raw[nonceSize:], (*[nonceSize]byte)(raw[:nonceSize]), (*[32]byte)(k))
}
