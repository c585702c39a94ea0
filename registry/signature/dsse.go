package signature

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
)

// InToto is the media type of statements about artifacts.
const InToto = "application/vnd.in-toto+json"

// EnvelopeLimit bounds an envelope, in bytes.
const EnvelopeLimit = 4 << 20

// Envelope is a payload with its signatures, in the format DSSE. A signature covers the payload and its type.
type Envelope struct {
	PayloadType string              `json:"payloadType"`
	Payload     []byte              `json:"payload"`
	Signatures  []EnvelopeSignature `json:"signatures"`
}

// EnvelopeSignature is a signature by one key.
type EnvelopeSignature struct {
	KeyID string `json:"keyid,omitempty"` // a hint of the signer; not trusted
	Sig   []byte `json:"sig"`
}

// SignEnvelope returns an envelope of a payload with a signature by each key.
func SignEnvelope[K crypto.Signer](kind string, payload []byte, keys ...K) (e Envelope, err error) {
	if len(keys) == 0 || len(keys) > mostKeys {
		return e, fmt.Errorf("there are %d keys: give from 1 to %d", len(keys), mostKeys)
	}
	e = Envelope{PayloadType: kind, Payload: payload}
	for _, key := range keys {
		made, err := signedBy(key, preAuthenticated(kind, payload))
		if err != nil {
			return e, err
		}
		e.Signatures = append(e.Signatures, EnvelopeSignature{FormatKey(key.Public()), made})
	}
	return e, nil
}

// OpenEnvelope reads an envelope, whose signatures are not verified yet.
func OpenEnvelope(data []byte) (e Envelope, err error) {
	if len(data) > EnvelopeLimit {
		return e, fmt.Errorf("the envelope has more than %d bytes", EnvelopeLimit)
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return e, fmt.Errorf("read the envelope: %w", err)
	}
	switch {
	case e.PayloadType == "" || len(e.Payload) == 0:
		return e, errors.New("it is not an envelope of DSSE: it has no payload, or no type of it")
	case len(e.Signatures) > mostSignatures:
		return e, fmt.Errorf("the envelope has %d signatures: the limit is %d", len(e.Signatures), mostSignatures)
	}
	return e, nil
}

// By reports whether a key signed the payload.
func (e Envelope) By(key crypto.PublicKey) bool {
	message := preAuthenticated(e.PayloadType, e.Payload)
	for _, s := range e.Signatures {
		if verifies(key, message, s.Sig) {
			return true
		}
	}
	return false
}

// preAuthenticated is what signatures of an envelope cover.
func preAuthenticated(kind string, payload []byte) []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(kind), kind, len(payload), payload)
}

// verifies reports whether a signature of a message is by a key of Ed25519, or of ECDSA over its SHA-256.
func verifies(key crypto.PublicKey, message, made []byte) bool {
	switch k := key.(type) {
	case ed25519.PublicKey:
		return len(k) == ed25519.PublicKeySize && ed25519.Verify(k, message, made)
	case *ecdsa.PublicKey:
		sum := sha256.Sum256(message)
		return ecdsa.VerifyASN1(k, sum[:], made)
	}
	return false
}
