package signature

import (
	"os"
	"path/filepath"
	"testing"
)

// cosign 3.0.6 signed the artifacts of these modules in a registry of this machine: as a bundle, which it does by itself, and with
// --new-bundle-format=false under a tag and as a referrer. The files are what alcove family pull wrote.
func TestWhatCosignSignedVerifies(t *testing.T) {
	read := func(name string) []byte {
		t.Helper()
		data, err := os.ReadFile(filepath.Join("testdata/cosign", name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	key, err := ParseKey(read("cosign.pub"))
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{"bundle", "simple", "referrer"} {
		module, data := read(form+".wasm"), read(form+".wasm.sig")
		s, err := Open(module, data)
		if err != nil || !s.By(key) || s.By(publicOf(1)) {
			t.Errorf("%s: signed by the key of cosign %t, %v, want true", form, s.By(key), err)
		}
		if s, err := Open(flip(module, len(module)-1), data); err == nil && s.By(key) {
			t.Errorf("%s: the signature holds for a changed module, want that it does not", form)
		}
	}
}
