package sites

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
)

func TestDigestsAreThoseOfSHA256(t *testing.T) {
	for n := range 200 {
		text := strings.Repeat("é", n)
		want := sha256.Sum256([]byte(text + "\x00"))
		if got := digest(text); got != hex.EncodeToString(want[:]) {
			t.Fatalf("%d bytes: %s", 2*n, got)
		}
	}
}
