package signature

import (
	"bytes"
	"crypto/ed25519"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The files of testdata/wasmsign2 were written by the command wasmsign2 0.2.6, a module with a manifest and signatures of it:
// keygen -k author.key -K author.pub, likewise reviewer; sign -k author.key -i module.wasm -o one.wasm; the reviewer signs
// one.wasm as two.wasm; with -K author.pub, keyid.wasm; with -S, detached.sig; after split -i module.wasm -o split.wasm, parts.wasm.
func fromWasmsign2(t *testing.T, name string) []byte {
	t.Helper()
	return contentOf(t, filepath.Join("testdata/wasmsign2", name))
}

func contentOf(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func pairFrom(t *testing.T, data []byte) ed25519.PrivateKey {
	t.Helper()
	key, err := ParsePair(data)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func publicFrom(t *testing.T, data []byte) ed25519.PublicKey {
	t.Helper()
	key, err := ParsePublic(data)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestModulesThatWasmsign2SignedVerify(t *testing.T) {
	author, reviewer := publicFrom(t, fromWasmsign2(t, "author.pub")), publicFrom(t, fromWasmsign2(t, "reviewer.pub"))
	for name, c := range map[string]struct {
		module, data string
		both         bool
	}{
		"by one key":             {module: "one.wasm"},
		"by two keys":            {module: "two.wasm", both: true},
		"with the key's name":    {module: "keyid.wasm"},
		"with delimited parts":   {module: "parts.wasm"},
		"the signature detached": {module: "module.wasm", data: "detached.sig"},
	} {
		module, data := fromWasmsign2(t, c.module), []byte(nil)
		if c.data != "" {
			data = fromWasmsign2(t, c.data)
		}
		s, err := Open(module, data)
		if err != nil || !s.By(author) || s.By(reviewer) != c.both {
			t.Errorf("%s: by the author %v, by the reviewer %v, %v", name, s.By(author), s.By(reviewer), err)
		}
		if s, err := Open(flip(module, len(module)-2), data); err == nil && s.By(author) {
			t.Errorf("%s: it holds for another byte of code", name)
		}
	}
}

// Ed25519 has one signature for a key and a message, so that equal modules mean that each verifies what the other signs.
func TestModulesAreSignedAsByWasmsign2(t *testing.T) {
	author, reviewer := pairFrom(t, fromWasmsign2(t, "author.key")), pairFrom(t, fromWasmsign2(t, "reviewer.key"))
	for want, c := range map[string]struct {
		module string
		key    ed25519.PrivateKey
	}{
		"one.wasm": {"module.wasm", author}, "two.wasm": {"one.wasm", reviewer}, "parts.wasm": {"split.wasm", author},
	} {
		got, err := Sign(fromWasmsign2(t, c.module), c.key)
		if err != nil || !bytes.Equal(got, fromWasmsign2(t, want)) {
			t.Errorf("%s: Sign = %x, %v, want what wasmsign2 wrote", want, got, err)
		}
	}
	data, err := SignDetached(fromWasmsign2(t, "module.wasm"), nil, author)
	if err != nil || !bytes.Equal(data, fromWasmsign2(t, "detached.sig")) {
		t.Errorf("detached: %x, %v", data, err)
	}
	for name, written := range map[string][]byte{"author.key": EncodePair(author), "author.pub": EncodePublic(author.Public().(ed25519.PublicKey))} {
		if !bytes.Equal(written, fromWasmsign2(t, name)) {
			t.Errorf("%s is written as %x", name, written)
		}
	}
}

// With ALCOVE_WASMSIGN2, the path of the command, both programs sign and verify what the other wrote.
func TestTheCommandWasmsign2VerifiesWhatIsSignedHere(t *testing.T) {
	command := os.Getenv("ALCOVE_WASMSIGN2")
	if command == "" {
		t.Skip("ALCOVE_WASMSIGN2 does not name the command wasmsign2: what it wrote is in testdata/wasmsign2")
	}
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	run := func(fails string, args ...string) {
		t.Helper()
		if out, err := exec.Command(command, args...).CombinedOutput(); (err != nil) != (fails != "") {
			t.Errorf("wasmsign2 %q: %v: %s", args, err, out)
		}
	}
	write := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(path(name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("here.key", EncodePair(keyOf(1)))
	write("here.pub", EncodePublic(publicOf(1)))
	run("", "keygen", "-k", path("there.key"), "-K", path("there.pub"))
	there := publicFrom(t, contentOf(t, path("there.pub")))

	write("here.wasm", signed(t, module, 1))
	run("", "verify", "-K", path("here.pub"), "-i", path("here.wasm"))
	run("another key", "verify", "-K", path("there.pub"), "-i", path("here.wasm"))
	write("altered.wasm", flip(signed(t, module, 1), len(signed(t, module, 1))-2))
	run("altered", "verify", "-K", path("here.pub"), "-i", path("altered.wasm"))

	run("", "sign", "-k", path("there.key"), "-K", path("there.pub"), "-i", path("here.wasm"), "-o", path("both.wasm"))
	both := contentOf(t, path("both.wasm"))
	if s, err := Open(both, nil); err != nil || !s.By(there) || !s.By(publicOf(1)) {
		t.Errorf("signed there after here: %v", err)
	}
	write("three.wasm", signed(t, both, 2))
	write("second.pub", EncodePublic(publicOf(2)))
	for _, key := range []string{"here.pub", "there.pub", "second.pub"} {
		run("", "verify", "-K", path(key), "-i", path("three.wasm"))
	}
	data, err := SignDetached(module, nil, keyOf(1))
	if err != nil {
		t.Fatal(err)
	}
	write("module.wasm", module)
	write("module.sig", data)
	run("", "verify", "-K", path("here.pub"), "-i", path("module.wasm"), "-S", path("module.sig"))
}
