package catalogue

import (
	"bytes"
	"crypto/ed25519"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/registry/signature"
)

const digest = "477f0cbf79b3b0e01124c283b8b50e27a55929caa856352742cc5387731becc4"

func keyOf(n byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize))
}

func publicOf(n byte) string { return signature.FormatPublic(keyOf(n).Public().(ed25519.PublicKey)) }

func signed(t testing.TB, keys ...byte) string {
	t.Helper()
	var all []ed25519.PrivateKey
	for _, n := range keys {
		all = append(all, keyOf(n))
	}
	s, err := Sign(digest, all...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestACatalogueIsSignedByAllKeysOfARelease(t *testing.T) {
	for _, keys := range [][]byte{{1}, {1, 2}, {1, 2, 3, 4, 5, 6, 7, 8}} {
		var want []string
		for _, n := range keys {
			want = append(want, publicOf(n))
		}
		got, err := Verify(signed(t, keys...), digest)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("keys %v: %q, %v", keys, got, err)
		}
	}
	if got, err := Verify("", digest); len(got) > 0 || err != nil {
		t.Errorf("without a key of a release: %q, %v", got, err)
	}
}

func TestASignatureOfAReleaseHoldsForNothingElse(t *testing.T) {
	good := signed(t, 1)
	public, made, _ := strings.Cut(good, ":")
	other := strings.Replace(digest, "4", "5", 1)
	elsewhere, err := signature.SignDetached(append([]byte("\x00asm\x01\x00\x00\x00"), 1, 4, 1, 0x60, 0, 0), nil, keyOf(1))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ signatures, digest, want string }{
		"another catalogue":            {good, other, "is not what the key " + public + " signed"},
		"another key":                  {publicOf(2) + ":" + made, digest, "is not what the key"},
		"a byte of the signature":      {public + ":A" + made[1:], digest, "is not what the key"},
		"no signature":                 {public, digest, "is not what the key"},
		"no key":                       {":" + made, digest, "it is not a public key"},
		"a secret key":                 {string(signature.EncodePair(keyOf(1))) + ":" + made, digest, "it is a secret key"},
		"a signature of a module":      {public + ":" + string(elsewhere), digest, "is not what the key"},
		"a good one and a wrong one":   {good + "," + publicOf(2) + ":" + made, digest, "is not what the key " + publicOf(2)},
		"an empty one behind":          {good + ",", digest, "it is not a public key"},
		"more than can be":             {strings.Repeat(good+",", 8) + good, digest, "more than 8 signatures"},
		"characters behind the Base64": {good + " ", digest, "is not what the key"},
	} {
		if keys, err := Verify(c.signatures, c.digest); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "download it again") {
			t.Errorf("%s: Verify = %q, %v, want an error that says %q", name, keys, err, c.want)
		}
	}
	if _, err := Sign(digest); err == nil {
		t.Error("nobody signed")
	}
}

func FuzzVerify(f *testing.F) {
	f.Add(signed(f, 1))
	f.Add(signed(f, 1, 2))
	f.Fuzz(func(t *testing.T, signatures string) {
		keys, err := Verify(signatures, digest)
		if err != nil {
			return
		}
		for _, key := range keys {
			if key != publicOf(1) && key != publicOf(2) {
				t.Errorf("%q is signed by %s, which signed nothing", signatures, key)
			}
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	s := signed(b, 1)
	for b.Loop() {
		if _, err := Verify(s, digest); err != nil {
			b.Fatal(err)
		}
	}
}
