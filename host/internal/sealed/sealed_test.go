package sealed

import (
	"strings"
	"testing"
)

func TestOnlyTheKeyThatSealedATextOpensIt(t *testing.T) {
	k := New()
	for _, text := range []string{"", "project/secret: plan"} {
		sealed := k.Seal([]byte(text))
		if strings.Contains(sealed, "secret") || sealed == k.Seal([]byte(text)) {
			t.Errorf("%q is sealed as %q, want a text that shows nothing and differs each time", text, sealed)
		}
		if got, ok := k.Open(sealed); !ok || string(got) != text {
			t.Errorf("%q opens as %q (%v), want it back", text, got, ok)
		}
		if got, ok := New().Open(sealed); ok {
			t.Errorf("another key opens %q as %q, want nothing", text, got)
		}
	}
}

func TestWhatWasNotSealedOrChangedIsNotOpened(t *testing.T) {
	k := New()
	good := k.Seal([]byte("a key"))
	for _, text := range []string{"", "x", "?", strings.Repeat("A", 31), strings.Repeat("A", 200), good[1:], good[:len(good)-1], "B" + good[1:]} {
		if text == good {
			continue
		}
		if got, ok := k.Open(text); ok {
			t.Errorf("%q opens as %q, want nothing", text, got)
		}
	}
}
