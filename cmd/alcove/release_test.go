package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/guests"
	"github.com/alcove-memory/alcove/registry/catalogue"
	"github.com/alcove-memory/alcove/registry/checksums"
	"github.com/alcove-memory/alcove/registry/signature"
)

// A program whose families were signed, or not, or were altered afterwards, says so in version and doctor.
func TestAProgramSaysByWhatItsFamiliesAreKnown(t *testing.T) {
	digest := ""
	if guests.Embedded() {
		digest = catalogueDigest()
	}
	keyOf := func(n byte) ed25519.PrivateKey {
		return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize))
	}
	public := func(n byte) string { return signature.FormatPublic(keyOf(n).Public().(ed25519.PublicKey)) }
	signed := func(digest string, keys ...ed25519.PrivateKey) string {
		s, err := catalogue.Sign(digest, keys...)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for name, c := range map[string]struct{ release, says, newest, refused string }{
		"built without a key": {"", "locked by digest: built without the key of a release", "", "name its families by their digest"},
		"signed":              {signed(digest, keyOf(1)), "signed by the release key " + public(1), public(1), ""},
		"signed by two":       {signed(digest, keyOf(1), keyOf(2)), "signed by the release key " + public(1) + " and by " + public(2), public(2), ""},
		"altered":             {signed(digest+"0", keyOf(1)), "", "", "is not what the key " + public(1) + " signed"},
	} {
		says := func(what, text string, err error) {
			t.Helper()
			if digest == "" && c.says != "" {
				return // without families it has none to speak of
			}
			if c.says != "" && (err != nil || !strings.Contains(text, c.says)) || c.says == "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
				t.Errorf("%s: %s = %s, %v, want %q, or the error %q", name, what, text, err, c.says, c.refused)
			}
		}
		var out bytes.Buffer
		a := newApp(nil, &out, &bytes.Buffer{}, func(string) string { return "" })
		a.release = c.release
		command := a.command()
		command.SetArgs([]string{"version"})
		err := command.ExecuteContext(t.Context())
		says("version", out.String(), err)
		if c.says == "" && strings.Contains(out.String(), "locked by digest") {
			t.Errorf("%s: version: %s", name, out.String())
		}
		if f := a.examineCatalogue(); (f.Is == fine) != (c.says != "") || digest != "" && !strings.Contains(f.Says, c.says+c.refused) && c.newest != "" {
			t.Errorf("%s: doctor: %+v", name, f)
		}
		key, err := a.releaseKey("this")
		if key != c.newest || (err == nil) != (c.newest != "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: --release this is %q, %v", name, key, err)
		}
	}
}

// A user verifies a download with the program that is installed, by the key of its release, and offline.
func TestVersionCheckVerifiesADownloadAndAsksNobody(t *testing.T) {
	if !guests.Embedded() {
		t.Skip("a program without families has no key of a release")
	}
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize))
	list := fmt.Sprintf("%x  alcove-linux-amd64.deb\n%x  alcove.rb\n", sha256.Sum256([]byte("a package")), sha256.Sum256([]byte("a formula")))
	signed, err := checksums.Sign([]byte(list), key)
	if err != nil {
		t.Fatal(err)
	}
	catalogued, err := catalogue.Sign(catalogueDigest(), key)
	if err != nil {
		t.Fatal(err)
	}
	good, other := t.TempDir(), t.TempDir()
	for _, dir := range []string{good, other} {
		for name, text := range map[string]string{checksums.List: list, checksums.Signatures: signed, "alcove-linux-amd64.deb": "a package", "alcove.rb": "a formula"} {
			if dir == other && strings.HasSuffix(name, ".deb") {
				text = "another"
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	public := signature.FormatPublic(key.Public().(ed25519.PublicKey))
	for _, c := range []struct {
		release, want string
		args          []string
	}{
		{"", "no command checks for newer versions", []string{"--check"}},
		{catalogued, "signed by " + public + ":\n  alcove-linux-amd64.deb\n  alcove.rb\n", []string{"--check", good}},
		{"", "signed by " + public, []string{"--check", good, "--key", public}},
		{"", "give it with --key", []string{"--check", good}},
		{catalogued, "the release says", []string{"--check", other}},
		{catalogued, "takes \"x\" with --check only", []string{"x"}},
	} {
		var out bytes.Buffer
		a := newApp(nil, &out, &bytes.Buffer{}, func(string) string { return "" })
		a.release = c.release
		command := a.command()
		command.SetArgs(append([]string{"version"}, c.args...))
		err := command.ExecuteContext(t.Context())
		if got := fmt.Sprint(out.String(), err); !strings.Contains(got, c.want) {
			t.Errorf("version %q: got %s, want %q", c.args, got, c.want)
		}
	}
}
