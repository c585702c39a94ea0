package family

import (
	"bytes"
	"crypto/ed25519"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/registry"
	signed "github.com/alcove-memory/alcove/registry/catalogue"
	"github.com/alcove-memory/alcove/registry/signature"
)

func releaseKey(n byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize))
}

func releasePublic(n byte) string {
	return signature.FormatPublic(releaseKey(n).Public().(ed25519.PublicKey))
}

// releaseOf is the signatures of the catalogue of some families by the keys with these numbers.
func releaseOf(t *testing.T, built []modules.Module, keys ...byte) string {
	t.Helper()
	var all []ed25519.PrivateKey
	for _, n := range keys {
		all = append(all, releaseKey(n))
	}
	s, err := signed.Sign(modules.Catalogue(built), all...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Each case is the start of a program: what it carries, by which keys that is signed, and what the lock file asks for.
func TestTheFamiliesOfAProgramAreWhatItsReleaseSigned(t *testing.T) {
	first := []modules.Module{carrying(t, pack(t, aFamily("first"), script{says: `1`}))}
	next := []modules.Module{carrying(t, pack(t, aFamily("first"), script{says: `2`}))}
	more := append([]modules.Module{carrying(t, pack(t, aFamily("more"), script{says: `1`}))}, first...)
	old, other := releasePublic(1), releasePublic(2)
	for name, c := range map[string]struct {
		built   []modules.Module
		release string
		lock    registry.Lock
		open    bool   // the server is not locked
		refused string // empty: it starts
	}{
		"built without a key":                              {built: first},
		"signed":                                           {built: first, release: releaseOf(t, first, 1)},
		"signed, and asked for":                            {built: first, release: releaseOf(t, first, 1), lock: registry.Lock{Release: old}},
		"the next release of the same key":                 {built: next, release: releaseOf(t, next, 1), lock: registry.Lock{Release: old}},
		"the digest and the key":                           {built: first, release: releaseOf(t, first, 1), lock: registry.Lock{Release: old, Catalogue: modules.Catalogue(first)}},
		"the key of another digest":                        {built: next, release: releaseOf(t, next, 1), lock: registry.Lock{Release: old, Catalogue: modules.Catalogue(first)}, refused: "with the digest"},
		"built without a key, and one is asked for":        {built: first, lock: registry.Lock{Release: old}, refused: "it was built without the key of a release"},
		"built without a key, in an open server":           {built: first, lock: registry.Lock{Release: old}, open: true},
		"another key than is asked for":                    {built: first, release: releaseOf(t, first, 2), lock: registry.Lock{Release: old}, refused: "signed by " + other + ": use a released program"},
		"a key that was replaced, both sign":               {built: first, release: releaseOf(t, first, 1, 2), lock: registry.Lock{Release: old}},
		"a key that was replaced, the lock names the next": {built: first, release: releaseOf(t, first, 1, 2), lock: registry.Lock{Release: other}},
		"a family altered after signing":                   {built: next, release: releaseOf(t, first, 1), refused: "is not what the key " + old + " signed"},
		"a family added after signing":                     {built: more, release: releaseOf(t, first, 1), refused: "is not what the key"},
		"a family removed after signing":                   {built: first, release: releaseOf(t, more, 1), refused: "is not what the key"},
		"altered, in an open server":                       {built: next, release: releaseOf(t, first, 1), open: true, refused: "is not what the key"},
		"a good signature and a wrong one":                 {built: first, release: releaseOf(t, first, 1) + "," + releaseOf(t, next, 2), lock: registry.Lock{Release: old}, refused: "is not what the key " + other},
		"a wrong signature":                                {built: first, release: old + ":nonsense", refused: "is not what the key"},
	} {
		_, err := catalogue.Options{Lock: c.lock, Locked: !c.open, Built: c.built, Release: c.release}.VerifyBuilt()
		if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %v, want %q", name, err, c.refused)
		}
	}
}

func TestAServerDoesNotStartWithFamiliesThatItsReleaseDidNotSign(t *testing.T) {
	built := []modules.Module{carrying(t, pack(t, aFamily("first"), script{says: `1`}))}
	o := Options{Built: built, Release: releaseOf(t, append(built, built...), 1), Dir: t.TempDir()}
	w := open(t, func(*Options) {})
	o.Space, o.Sandbox = w.o.Space, w.o.Sandbox
	if f, err := New(t.Context(), o); err == nil || !strings.Contains(err.Error(), "download it again") {
		t.Errorf("New = %v, %v, want the advice to download it again", f, err)
	}
}

func TestALockFileNamesTheKeyOfReleases(t *testing.T) {
	w := open(t, func(*Options) {})
	public := releasePublic(1)
	trusted, err := w.Trust(TrustRequest{Release: &public})
	if err != nil || trusted.Release != public {
		t.Errorf("Trust = %+v, %v, want the release key %s", trusted, err, public)
	}
	if l, err := registry.Read(w.dir); err != nil || l.Release != public {
		t.Errorf("the lock file has %q, %v", l.Release, err)
	}
	wrong, none := "no key", ""
	if _, err := w.Trust(TrustRequest{Release: &wrong}); err == nil || !strings.Contains(err.Error(), "release: it is not a public key") {
		t.Errorf("Trust of no key: %v, want the error that it is not a public key", err)
	}
	if trusted, err := w.Trust(TrustRequest{Release: &none}); err != nil || trusted.Release != "" {
		t.Errorf("Trust of none = %+v, %v, want no release key", trusted, err)
	}
}
