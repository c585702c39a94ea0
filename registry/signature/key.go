package signature

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
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
		return nil, fmt.Errorf("it is not a public key: give the %d bytes that alcove family keygen or wasmsign2 keygen writes, or their Base64", 1+ed25519.PublicKeySize)
	}
	return bytes.Clone(data[1:]), nil
}

// FormatKey returns a public key as text: one of Ed25519 as FormatPublic does, one of ECDSA as the Base64 of its DER.
func FormatKey(key crypto.PublicKey) string {
	if k, ok := key.(ed25519.PublicKey); ok {
		return FormatPublic(k)
	}
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return ""
	}
	return base64.StdEncoding.EncodeToString(der)
}

// ParseKey reads a public key that may be trusted: one of Ed25519, or one of ECDSA on P-256, as cosign makes them, in PEM or as text.
func ParseKey(data []byte) (crypto.PublicKey, error) {
	public, err := ParsePublic(data)
	if err == nil {
		return public, nil
	}
	der := derOf(bytes.TrimSpace(data))
	if der == nil {
		return nil, err
	}
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, fmt.Errorf("read the public key: %w", err)
	}
	switch k := key.(type) {
	case ed25519.PublicKey:
		return k, nil
	case *ecdsa.PublicKey:
		if k.Curve == elliptic.P256() {
			return k, nil
		}
	}
	return nil, errors.New("the public key is neither of Ed25519 nor of ECDSA on P-256")
}

// derOf is a key in PEM or in Base64 as DER; nil if it is neither.
func derOf(text []byte) []byte {
	if block, rest := pem.Decode(text); block != nil {
		if block.Type != "PUBLIC KEY" || len(bytes.TrimSpace(rest)) > 0 {
			return nil
		}
		return block.Bytes
	}
	der, err := base64.StdEncoding.Strict().DecodeString(string(text))
	if err != nil {
		return nil
	}
	return der
}

// EncodePair returns a key pair in the serialized form that wasmsign2 reads.
func EncodePair(key ed25519.PrivateKey) []byte { return append([]byte{pairID}, key...) }

// ParsePair reads a serialized key pair.
func ParsePair(data []byte) (ed25519.PrivateKey, error) {
	if bytes.HasPrefix(data, []byte("ssh-")) || bytes.HasPrefix(data, []byte("-----BEGIN OPENSSH")) {
		return nil, errors.New("it is a key of SSH: add it to the agent with ssh-add, and name it with ssh-agent:COMMENT, as ssh-add -l shows it")
	}
	if len(data) != 1+ed25519.PrivateKeySize || data[0] != pairID {
		return nil, fmt.Errorf("it is not a secret key: give the %d bytes that alcove family keygen or wasmsign2 keygen writes", 1+ed25519.PrivateKeySize)
	}
	key := ed25519.NewKeyFromSeed(data[1 : 1+ed25519.SeedSize])
	if !bytes.Equal(key, data[1:]) {
		return nil, errors.New("the public half of the secret key does not belong to the other half: make a new one with alcove family keygen")
	}
	return key, nil
}
