package checksums

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/alcove-memory/alcove/registry/signature"
)

func keyOf(n byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize))
}

func publicOf(n byte) string { return signature.FormatPublic(keyOf(n).Public().(ed25519.PublicKey)) }

// folder is a release of two programs and a manifest in a folder, of which one program was downloaded.
func folder(t testing.TB) fstest.MapFS {
	t.Helper()
	list := fmt.Sprintf("%x  alcove-a\n%x  alcove-b\n%x  winget/c.yaml\n", sha256.Sum256([]byte("a")), sha256.Sum256([]byte("b")), sha256.Sum256([]byte("c")))
	signatures, err := Sign([]byte(list), keyOf(1), keyOf(2))
	if err != nil {
		t.Fatal(err)
	}
	return fstest.MapFS{List: {Data: []byte(list)}, Signatures: {Data: []byte(signatures + "\n")}, "alcove-a": {Data: []byte("a")}, "winget/c.yaml": {Data: []byte("c")}}
}

func TestFilesOfASignedListAreFound(t *testing.T) {
	for _, key := range []byte{1, 2} {
		r, err := Verify(folder(t), publicOf(key))
		if want := []string{"alcove-a", "winget/c.yaml"}; err != nil || !slices.Equal(r.Files, want) || len(r.Keys) != 2 {
			t.Errorf("key %d: got %+v, %v, want the files %q and two keys", key, r, err, want)
		}
	}
}

func TestWhatIsNotTheReleaseIsRefused(t *testing.T) {
	for want, change := range map[string]func(fstest.MapFS){
		"alcove-a has the sum":             func(f fstest.MapFS) { f["alcove-a"].Data = []byte("x") },
		"is not what the key":              func(f fstest.MapFS) { f[List].Data = append(f[List].Data, 'x') },
		"is not signed by the key":         func(f fstest.MapFS) { f[Signatures].Data = nil },
		"also download its SHA256SUMS.sig": func(f fstest.MapFS) { delete(f, Signatures) },
		"also download its SHA256SUMS":     func(f fstest.MapFS) { delete(f, List) },
		"is longer than 65536 bytes":       func(f fstest.MapFS) { f[List].Data = make([]byte, limit+1) },
		"it is not a public key":           func(f fstest.MapFS) { f[Signatures].Data = []byte("x:y") },
		"more than 8 signatures":           func(f fstest.MapFS) { f[Signatures].Data = bytes.Repeat([]byte("x,"), 9) },
		"none of the 3 files":              func(f fstest.MapFS) { delete(f, "alcove-a"); delete(f, "winget/c.yaml") },
		"is not a regular file":            func(f fstest.MapFS) { f["alcove-a/inside"] = &fstest.MapFile{}; delete(f, "alcove-a") },
	} {
		f := folder(t)
		change(f)
		if _, err := Verify(f, publicOf(1)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := Verify(folder(t), publicOf(3)); err == nil || !strings.Contains(err.Error(), "is not signed by the key "+publicOf(3)) {
		t.Errorf("by another key: %v", err)
	}
	if _, err := Sign(nil); err == nil || !strings.Contains(err.Error(), "there are 0 keys") {
		t.Errorf("by nobody: %v", err)
	}
}

func TestAListNamesFilesBelowItsFolderOnce(t *testing.T) {
	sum := strings.Repeat("0", 64)
	for _, list := range []string{sum + "  ../a\n", sum + "  /a\n", sum + "  .\n", sum + "  a//b\n", sum + " a\n", sum[1:] + "  a\n", "x\n", sum + "  a\n" + sum + "  a\n", "\n"} {
		if sums, err := parse([]byte(list)); err == nil {
			t.Errorf("%q: got %v, want an error", list, sums)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(strings.Repeat("0", 64) + "  a/b\n"))
	f.Fuzz(func(t *testing.T, list []byte) {
		sums, err := parse(list)
		for name, sum := range sums {
			if err != nil || len(sum) != 64 || strings.HasPrefix(name, "/") || strings.Contains(name, "..") && strings.HasPrefix(name, "..") {
				t.Errorf("got %q %q, %v", name, sum, err)
			}
		}
	})
}
