package alcove

import (
	"bytes"
	"encoding/base64"
	"math/rand/v2"
	"testing"
)

func TestBase64IsReadAsTheStandardLibraryReadsIt(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		want := make([]byte, n)
		for i := range want {
			want[i] = byte(random.Uint32())
		}
		text := base64.StdEncoding.EncodeToString(want)
		if got, ok := fromBase64(text); !ok || !bytes.Equal(got, want) {
			t.Errorf("%s is read as %x (%v), want %x", text, got, ok, want)
		}
	}
	for _, text := range []string{"A", "AA", "AAA", "AA=", "A===", "=AAA", "AA=A", "AA A", "AA\n=", "AA-A", "\xffAAA"} {
		if got, ok := fromBase64(text); ok {
			t.Errorf("%q is read as %x, want it refused", text, got)
		}
	}
}
