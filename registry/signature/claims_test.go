package signature

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"
)

func ecdsaKey(t testing.TB, curve elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// artifactOf is the manifest of an artifact whose module has a digest.
func artifactOf(digest string) []byte {
	return fmt.Appendf(nil, `{"schemaVersion":2,"layers":[{"mediaType":"application/wasm","digest":"sha256:%s","size":1}]}`, digest)
}

func simple(artifact, kind string) []byte {
	return fmt.Appendf(nil, `{"critical":{"identity":{"docker-reference":"r.example.org/notes"},"image":{"docker-manifest-digest":"%s"},"type":"%s"},"optional":null}`, artifact, kind)
}

func statement(artifact, kind string) []byte {
	return fmt.Appendf(nil, `{"_type":"https://in-toto.io/Statement/v1","subject":[{"digest":{"sha256":"%s"}}],"predicateType":"%s","predicate":{}}`, strings.TrimPrefix(artifact, "sha256:"), kind)
}

// claimed signs a payload as cosign does.
func claimed(t testing.TB, kind string, payload []byte, key crypto.Signer) Claim {
	t.Helper()
	message := payload
	if kind != SimpleSigning {
		message = preAuthenticated(kind, payload)
	}
	sum := sha256.Sum256(message)
	made, err := key.Sign(rand.Reader, sum[:], crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	return Claim{kind, payload, made}
}

func beside(t testing.TB, c Claims, detached []byte) []byte {
	t.Helper()
	data, err := c.Beside(detached)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestCosignSignsTheArtifactWhoseModuleItIs(t *testing.T) {
	key, other := ecdsaKey(t, elliptic.P256()), ecdsaKey(t, elliptic.P256())
	manifest := artifactOf(sumOf(module))
	twice := []byte(strings.Replace(string(manifest), `"layers":[`, `"layers":[{"mediaType":"application/wasm","digest":"sha256:0"},`, 1))
	sum := digestOf(manifest)
	holds := claimed(t, SimpleSigning, simple(sum, simpleType), key)
	changed := holds
	changed.Payload = bytes.Replace(holds.Payload, []byte("null"), []byte("true"), 1)
	for name, c := range map[string]struct {
		manifest []byte
		claim    Claim
		want     bool
	}{
		"a payload":                       {manifest, holds, true},
		"an envelope":                     {manifest, claimed(t, InToto, statement(sum, signPredicate), key), true},
		"another key":                     {manifest, claimed(t, SimpleSigning, simple(sum, simpleType), other), false},
		"another artifact":                {manifest, claimed(t, SimpleSigning, simple(digestOf([]byte("x")), simpleType), key), false},
		"another artifact in an envelope": {manifest, claimed(t, InToto, statement(digestOf([]byte("x")), signPredicate), key), false},
		"another kind of payload":         {manifest, claimed(t, SimpleSigning, simple(sum, "atomic container signature"), key), false},
		"a statement of provenance":       {manifest, claimed(t, InToto, statement(sum, "https://slsa.dev/provenance/v1"), key), false},
		"an unknown type":                 {manifest, claimed(t, "text/plain", simple(sum, simpleType), key), false},
		"a payload that was changed":      {manifest, changed, false},
		"a payload taken as a statement":  {manifest, Claim{InToto, holds.Payload, holds.Signature}, false},
		"no JSON":                         {manifest, claimed(t, SimpleSigning, []byte("x"), key), false},
		"a manifest of another module":    {artifactOf(sumOf([]byte("x"))), claimed(t, SimpleSigning, simple(digestOf(artifactOf(sumOf([]byte("x")))), simpleType), key), false},
		"a manifest of two modules":       {twice, claimed(t, SimpleSigning, simple(digestOf(twice), simpleType), key), false},
		"a manifest that is none":         {[]byte("x"), claimed(t, SimpleSigning, simple(digestOf([]byte("x")), simpleType), key), false},
		"too long a payload":              {manifest, claimed(t, SimpleSigning, append(simple(sum, simpleType), make([]byte, ClaimLimit)...), key), false},
	} {
		s, err := Open(module, beside(t, Claims{c.manifest, []Claim{c.claim}}, nil))
		if err != nil || s.By(&key.PublicKey) != c.want || s.By(publicOf(1)) {
			t.Errorf("%s: signed by the key %t, %v, want %t", name, s.By(&key.PublicKey), err, c.want)
		}
	}
}

func TestClaimsAreKeptBesideSignaturesOfTheModule(t *testing.T) {
	key := ecdsaKey(t, elliptic.P256())
	manifest := artifactOf(sumOf(module))
	claims := Claims{manifest, []Claim{claimed(t, SimpleSigning, simple(digestOf(manifest), simpleType), key)}}
	data, err := SignDetached(module, beside(t, claims, nil), keyOf(1))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(module, data)
	if err != nil || !s.By(&key.PublicKey) || !s.By(publicOf(1)) || s.By(publicOf(2)) || s.None() {
		t.Errorf("Open: %v, by cosign %t, by the author %t, want both and nobody else", err, s.By(&key.PublicKey), s.By(publicOf(1)))
	}
	whole := signed(t, module, 2)
	manifest = artifactOf(sumOf(whole))
	s, err = Open(whole, beside(t, Claims{manifest, []Claim{claimed(t, SimpleSigning, simple(digestOf(manifest), simpleType), key)}}, nil))
	if err != nil || !s.By(&key.PublicKey) || !s.By(publicOf(2)) {
		t.Errorf("a module with a signature in it: %v, by cosign %t, by its author %t, want both", err, s.By(&key.PublicKey), s.By(publicOf(2)))
	}
	embedded, err := Attach(module, beside(t, claims, nil))
	if err != nil {
		t.Fatal(err)
	}
	if s, err := Open(embedded, nil); err == nil {
		t.Errorf("claims in a module are read: %v, want them refused", s)
	}
}

func TestTooManyClaimsAreRefused(t *testing.T) {
	many := Claims{Claims: make([]Claim, MostClaims+1)}
	nested, _ := json.Marshal(withClaims{Format: 1, Detached: []byte("{}")})
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"claims": {beside(t, many, nil), "the limit is 16"}, "bytes": {append([]byte("{"), make([]byte, DataLimit)...), "65536 bytes"},
		"nothing of the format": {[]byte(`{"format":2}`), "unknown format"}, "claims in claims": {nested, "unknown format"}, "no JSON": {[]byte("{"), "read the signature"},
	} {
		if _, err := Open(module, c.data); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, c.want)
		}
	}
	if data, err := (Claims{make([]byte, DataLimit), make([]Claim, 1)}).Beside(nil); err == nil {
		t.Errorf("Beside made %d bytes, want an error", len(data))
	}
}

func TestKeysOfCosignAreReadInPEM(t *testing.T) {
	encoded := func(key any) []byte {
		der, err := x509.MarshalPKIXPublicKey(key)
		if err != nil {
			t.Fatal(err)
		}
		return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	}
	weak, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	key := ecdsaKey(t, elliptic.P256())
	for name, c := range map[string]struct {
		data []byte
		want crypto.PublicKey
	}{
		"ECDSA on P-256": {encoded(&key.PublicKey), &key.PublicKey}, "its text": {[]byte(FormatKey(&key.PublicKey) + "\n"), &key.PublicKey},
		"Ed25519": {encoded(publicOf(1)), publicOf(1)}, "Ed25519 as text": {[]byte(FormatPublic(publicOf(1))), publicOf(1)},
		"ECDSA on P-384": {encoded(&ecdsaKey(t, elliptic.P384()).PublicKey), nil}, "RSA": {encoded(&weak.PublicKey), nil},
		"a secret key": {pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED SIGSTORE PRIVATE KEY", Bytes: []byte("x")}), nil},
		"two keys":     {append(encoded(publicOf(1)), encoded(publicOf(2))...), nil}, "no DER": {[]byte("AAAA"), nil}, "nothing": {nil, nil},
	} {
		got, err := ParseKey(c.data)
		if (err == nil) != (c.want != nil) || c.want != nil && FormatKey(got) != FormatKey(c.want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, c.want)
		}
	}
	if text := FormatKey(ed25519.PublicKey(publicOf(1))); text != FormatPublic(publicOf(1)) {
		t.Errorf("FormatKey of Ed25519: %s, want %s", text, FormatPublic(publicOf(1)))
	}
}

// The example is that of the specification of DSSE.
func TestWhatAnEnvelopeSignsIsAsItsSpecificationSays(t *testing.T) {
	if got, want := string(preAuthenticated("http://example.com/HelloWorld", []byte("hello world"))), "DSSEv1 29 http://example.com/HelloWorld 11 hello world"; got != want {
		t.Errorf("it signs %q, want %q", got, want)
	}
}

func TestAnEnvelopeHoldsForItsPayloadAndItsTypeAlone(t *testing.T) {
	e, err := SignEnvelope(InToto, []byte("{}"), keyOf(1), keyOf(2))
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	if e, err = OpenEnvelope(data); err != nil || !e.By(publicOf(1)) || !e.By(publicOf(2)) || e.By(publicOf(3)) {
		t.Errorf("OpenEnvelope: %v, want signatures by two keys", err)
	}
	other, typed := e, e
	other.Payload, typed.PayloadType = []byte("[]"), "text/plain"
	if other.By(publicOf(1)) || typed.By(publicOf(1)) {
		t.Error("the signature holds for another payload or type, want for neither")
	}
	for name, c := range map[string]struct{ data, want string }{
		"bytes":      {strings.Repeat(" ", EnvelopeLimit+1), "bytes"},
		"signatures": {`{"payloadType":"x","payload":"eA==","signatures":[` + strings.Repeat("{},", mostSignatures) + `{}]}`, "the limit is 64"},
		"no payload": {`{"payloadType":"x"}`, "no payload"}, "no JSON": {"{", "read the envelope"},
	} {
		if _, err := OpenEnvelope([]byte(c.data)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, c.want)
		}
	}
}

func FuzzClaims(f *testing.F) {
	key := ecdsaKey(f, elliptic.P256())
	manifest := artifactOf(sumOf(module))
	f.Add(beside(f, Claims{manifest, []Claim{claimed(f, SimpleSigning, simple(digestOf(manifest), simpleType), key)}}, nil))
	f.Add(beside(f, Claims{manifest, []Claim{claimed(f, InToto, statement(digestOf(manifest), signPredicate), key)}}, []byte(header)))
	stranger := ecdsaKey(f, elliptic.P256())
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, err := Open(module, data); err == nil && s.By(&stranger.PublicKey) {
			t.Error("it is signed by a key that signed nothing")
		}
		if e, err := OpenEnvelope(data); err == nil && e.By(&stranger.PublicKey) {
			t.Error("the envelope is signed by a key that signed nothing")
		}
	})
}
