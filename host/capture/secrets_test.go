package capture

import (
	"bytes"
	"strings"
	"testing"
)

func TestNoTurnKeepsASecret(t *testing.T) {
	token, word := "ghp_"+strings.Repeat("aB3dE6gH9j", 4), "tiger"+"4711"
	for _, turn := range []Turn{
		{Text: "push with " + token + " please"},
		{Text: "the password is " + word + ", not more"},
		{Speaker: Tool, Text: "Bash: PGPASSWORD=" + word + " psql"},
		{Caption: "a screenshot of API_TOKEN=" + token},
		{Text: "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEF"+token[4:]+"\n", 3) + "-----END PRIVATE KEY-----"},
	} {
		kept, ok := turn.kept()
		got := asJSON(kept.memories("n"))
		if !ok || bytes.Contains(got, []byte(token[4:])) || bytes.Contains(got, []byte(word)) || !bytes.Contains(got, []byte("[redacted:")) {
			t.Errorf("%+v: got %v %s, want a turn in which the secret is redacted", turn, ok, got)
		}
	}
}

func TestATurnThatCannotBeRedactedIsNotKept(t *testing.T) {
	word := "tiger" + "4711"
	kept, ok := Turn{Text: strings.Repeat("password="+word+" ", 2000)}.kept()
	if want := "[not kept: it has more than 1000 secrets]"; !ok || kept.Text != want {
		t.Errorf("got %.80q, %v, want %q", kept.Text, ok, want)
	}
}

func TestACallOfAToolIsRedactedBeforeItIsCutShort(t *testing.T) {
	token := "ghp_" + strings.Repeat("aB3dE6gH9j", 4)
	for _, before := range []int{longestCall - 60, longestCall - 44, longestCall - 20, longestCall - 4} {
		if got := shortened(mayBeKept(strings.Repeat("x", before-1)+" "+token), longestCall); strings.Contains(got, "ghp_aB3") {
			t.Errorf("after %d bytes: got %q, want no part of the token", before, got[max(0, len(got)-60):])
		}
	}
}
