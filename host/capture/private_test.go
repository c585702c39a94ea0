package capture

import (
	"strings"
	"testing"
)

func TestTextBetweenPrivateTagsIsRemoved(t *testing.T) {
	for text, want := range map[string]string{
		"no tags":                                       "no tags",
		"a <private>secret</private> b":                 "a  b",
		"a <PRIVATE>secret</Private> b":                 "a  b",
		"a <private>one\ntwo\n</private>b":              "a b",
		"a <private>secret":                             "a ",
		"a <private>x<private>y</private>z</private>b":  "a b",
		"a <private>x<private>y</private>z":             "a ",
		"a < private >x</ private >b":                   "a b",
		"a <private reason='b'>x</private\n>b":          "a b",
		"<private>x</private>a<private>y</private>b":    "ab",
		"a </private> b":                                "a  b",
		"a <private/> b":                                "a  b",
		"a <privateer>x</privateer> <private-key>":      "a <privateer>x</privateer> <private-key>",
		"a <private secret":                             "a ",
		"a <private":                                    "a ",
		"<<private>x</private>":                         "<",
		"1 < 2 <private>3</private> > 0":                "1 < 2  > 0",
		"a <private>x</private><private>y":              "a ",
		"a <private>x <b>bold</b> y</private> <b>z</b>": "a  <b>z</b>",
	} {
		if got := withoutPrivate(text); got != want {
			t.Errorf("withoutPrivate(%q): got %q, want %q", text, got, want)
		}
	}
}

func FuzzPrivateTextIsNeverKept(f *testing.F) {
	f.Add("a", "b", "c")
	f.Add("<private>", "</private", "<private")
	f.Add("<", "x>", ">")
	f.Fuzz(func(t *testing.T, before, inside, after string) {
		const secret = "0secret0"
		if strings.Contains(before+inside+after, secret) ||
			strings.Contains(strings.ToLower(inside), "private") || strings.Contains(before, "<") {
			t.Skip()
		}
		text := before + "<private>" + inside + secret + inside + "</private>" + after
		if got := withoutPrivate(text); strings.Contains(got, secret) || !strings.HasPrefix(got, before) {
			t.Errorf("withoutPrivate(%q): got %q, want it without the secret", text, got)
		}
		if got := withoutPrivate(before + "<private>" + secret + after); strings.Contains(got, secret) {
			t.Errorf("unclosed: got %q, want it without the secret", got)
		}
	})
}
