package secrets

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestWhatIsPassedOverIsNoSecret finds in texts whose words are never passed over what is found in the same texts.
func TestWhatIsPassedOverIsNoSecret(t *testing.T) {
	files, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	passed := 0
	for _, f := range files {
		data, err := os.ReadFile("testdata/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			passed += comparePassing(t, line)
		}
	}
	if passed == 0 {
		t.Error("no word was passed over")
	}
}

// FuzzPassingOver does so with any text.
func FuzzPassingOver(f *testing.F) {
	f.Add("the password is tiger4711, and login jane / tiger4711")
	f.Fuzz(func(t *testing.T, text string) { comparePassing(t, text) })
}

// comparePassing returns how many words of a text are passed over.
func comparePassing(t *testing.T, text string) (passed int) {
	t.Helper()
	var fast, slow finder
	fast.text, slow.text = text, text
	for i := 0; i < len(text) && len(fast.found) <= Most; {
		next := max(fast.step(i), i+1)
		if class[text[i]]&inName != 0 && plain(text, i) > 0 {
			passed++
		}
		i = next
	}
	for i := 0; i < len(text) && len(slow.found) <= Most; {
		step := slow.step
		if class[text[i]]&inName != 0 {
			step = slow.whole
		}
		i = max(step(i), i+1)
	}
	if !slices.Equal(fast.found, slow.found) {
		t.Errorf("in %q: found %v, and %v without passing over words", text, fast.found, slow.found)
	}
	return passed
}
