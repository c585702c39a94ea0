package signature

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// SimpleSigning is the media type of what cosign signs: the digest of an artifact and the name of its repository.
const SimpleSigning = "application/vnd.dev.cosign.simplesigning.v1+json"

const (
	simpleType    = "cosign container image signature"
	signPredicate = "https://sigstore.dev/cosign/sign/v1"
	moduleType    = "application/wasm"
)

// Bounds of claims.
const (
	ClaimLimit = 16 << 10 // bytes of a payload
	MostClaims = 16
)

// Claims are what cosign signed: that an artifact of a registry is what its signer approved. The artifact's manifest leads from its digest,
// which they are of, to the module's.
type Claims struct {
	Manifest []byte  `json:"manifest,omitempty"` // of the artifact, as the registry has it
	Claims   []Claim `json:"claims,omitempty"`
}

// Claim is a payload and a signature of it.
type Claim struct {
	Type      string `json:"type"` // of the payload: SimpleSigning, or InToto for one in an envelope
	Payload   []byte `json:"payload"`
	Signature []byte `json:"signature"`
}

// withClaims is signature data that has claims beside signatures of the module.
type withClaims struct {
	Format   int    `json:"format"`             // 1
	Detached []byte `json:"detached,omitempty"` // signature data without claims
	Claims
}

// Beside returns signature data that has claims beside the detached signatures of a module; those alone if there are no claims.
func (c Claims) Beside(detached []byte) ([]byte, error) {
	if len(c.Claims) == 0 {
		return detached, nil
	}
	data, err := json.Marshal(withClaims{1, detached, c})
	if err == nil && len(data) > DataLimit {
		err = errTooLong
	}
	return data, err
}

// splitSignature returns the two parts of signature data.
func splitSignature(data []byte) (detached []byte, c Claims, err error) {
	if len(data) > DataLimit {
		return nil, c, errTooLong
	}
	if !bytes.HasPrefix(data, []byte("{")) {
		return data, c, nil
	}
	var w withClaims
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, c, fmt.Errorf("read the signature: %w", err)
	}
	if w.Format != 1 || bytes.HasPrefix(w.Detached, []byte("{")) {
		return nil, c, errors.New("the signature is of an unknown format")
	}
	if len(w.Claims.Claims) > MostClaims {
		return nil, c, fmt.Errorf("the signature has %d claims: the limit is %d", len(w.Claims.Claims), MostClaims)
	}
	return w.Detached, w.Claims, nil
}

// cover returns the claims about the artifact whose module has a digest.
func (c Claims) cover(module string) []Claim {
	if len(c.Claims) == 0 || c.module() != module {
		return nil
	}
	sum := digestOf(c.Manifest)
	return slices.DeleteFunc(slices.Clone(c.Claims), func(one Claim) bool {
		of, _, err := one.About()
		return err != nil || of != sum
	})
}

// module is the digest of the only module of the artifact.
func (c Claims) module() (digest string) {
	var m struct {
		Layers []struct {
			MediaType string `json:"mediaType"`
			Digest    string `json:"digest"`
		} `json:"layers"`
	}
	if json.Unmarshal(c.Manifest, &m) != nil {
		return ""
	}
	for _, l := range m.Layers {
		if l.MediaType != moduleType {
			continue
		}
		if digest != "" {
			return ""
		}
		digest = strings.TrimPrefix(l.Digest, "sha256:")
	}
	return digest
}

// About returns the digest of the artifact that a claim is about, and the repository that its signer named; empty: none. The signature is
// not verified yet.
func (c Claim) About() (artifact, repository string, err error) {
	if len(c.Payload) > ClaimLimit {
		return "", "", fmt.Errorf("the payload has more than %d bytes", ClaimLimit)
	}
	switch c.Type {
	case SimpleSigning:
		return aboutSimple(c.Payload)
	case InToto:
		return aboutStatement(c.Payload)
	}
	return "", "", fmt.Errorf("the payload is of the type %.100q, which is not read", c.Type)
}

func aboutSimple(payload []byte) (artifact, repository string, err error) {
	var p struct {
		Critical struct {
			Identity struct {
				Reference string `json:"docker-reference"`
			} `json:"identity"`
			Image struct {
				Digest string `json:"docker-manifest-digest"`
			} `json:"image"`
			Type string `json:"type"`
		} `json:"critical"`
	}
	if err := json.Unmarshal(payload, &p); err != nil {
		return "", "", fmt.Errorf("read the payload: %w", err)
	}
	if p.Critical.Type != simpleType {
		return "", "", fmt.Errorf("the payload is %.100q, and not %q", p.Critical.Type, simpleType)
	}
	return p.Critical.Image.Digest, p.Critical.Identity.Reference, nil
}

// ErrStatement is the error of a statement that says something of an artifact, such as its provenance, and does not approve it.
var ErrStatement = errors.New("the statement is not a signature of an artifact")

// aboutStatement reads a statement that approves an artifact.
func aboutStatement(payload []byte) (artifact, repository string, err error) {
	var s struct {
		Subject []struct {
			Digest map[string]string `json:"digest"`
		} `json:"subject"`
		Predicate string `json:"predicateType"`
	}
	if err := json.Unmarshal(payload, &s); err != nil {
		return "", "", fmt.Errorf("read the statement: %w", err)
	}
	if s.Predicate != signPredicate {
		return "", "", fmt.Errorf("%w: its type is %.100q", ErrStatement, s.Predicate)
	}
	if len(s.Subject) != 1 {
		return "", "", fmt.Errorf("the statement is about %d artifacts, not one", len(s.Subject))
	}
	return "sha256:" + s.Subject[0].Digest["sha256"], "", nil
}

// By reports whether a key made the signature.
func (c Claim) By(key crypto.PublicKey) bool {
	if c.Type == SimpleSigning {
		return verifies(key, c.Payload, c.Signature)
	}
	return verifies(key, preAuthenticated(c.Type, c.Payload), c.Signature)
}

func digestOf(data []byte) string { return "sha256:" + sumOf(data) }

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
