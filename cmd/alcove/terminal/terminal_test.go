package terminal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
)

func TestWhatSteersATerminalOrHidesIsShownAsAnEscape(t *testing.T) {
	for _, c := range []struct{ text, line string }{
		{"\x1b]52;c;bGV0\x07", `\x1b]52;c;bGV0\x07`},
		{"\x00\b\x7f", `\x00\x08\x7f`},
		{"a\r\nb\tc\rd", `a\r\nb\tc\rd`},
		{"\u009b31m \u0085", `\u009b31m \u0085`},
		{"\xff\x9bA\xe2\x80", `\xff\x9bA\xe2\x80`},
		{"a\u202eb\u2066c\u2069\u200e\u200f\u061c", `a\u202eb\u2066c\u2069\u200e\u200f\u061c`},
		{"a\u200bb\ufeffc\u2060\u00ad\u180e", `a\u200bb\ufeffc\u2060\u00ad\u180e`},
		{"a\u2028b\u2029c", `a\u2028b\u2029c`},
		{"\U000e0041\U000e007f\U000e0101", `\U000e0041\U000e007f\U000e0101`},
		{"ad\u200dmin", `ad\u200dmin`},
		{"é\u200d", `é\u200d`},
		{"é\u200d\u200dé", `é\u200d\u200dé`},
		{"é\u200d\u202eé", `é\u200d\u202eé`},
		{"\u3164\u115f\uffa0", `\u3164\u115f\uffa0`},
		{"\ufffe\U0010ffff", `\ufffe\U0010ffff`},
	} {
		if got := terminal.Line(c.text).String(); got != c.line {
			t.Errorf("%q is printed as %q, not %q", c.text, got, c.line)
		}
	}
}

func TestOrdinaryTextIsPrintedAsItIs(t *testing.T) {
	for _, text := range []string{
		"", "plain, with \\ and \"quotes\"", "Zürich Ελλάδα Москва 東京 한국어", "e\u0301 और", "👩\u200d👩\u200d👧 ❤\ufe0f\u200d🔥 🇵🇹 👍🏽", "می\u200cخواهم क\u094d\u200dष",
		"葛\U000e0100城", "no\u00a0break", "\u0600\u0661", "\ufffd", "\U0001fae9\ue0b0",
	} {
		if got := terminal.Line(text).String(); got != text {
			t.Errorf("%q is printed as %q", text, got)
		}
	}
}

func TestLineBreaksAreKeptInTextOfManyLinesOnly(t *testing.T) {
	if got := terminal.Lines("a\r\n\tb\rc\n").String(); got != "a\r\n\tb\\rc\n" {
		t.Errorf("Lines = %q, want line breaks and tabs as they are", got)
	}
	if got := terminal.Indented("fails\nalcove: fine").String(); got != "fails\n  alcove: fine" {
		t.Errorf("Indented = %q, want the second line indented", got)
	}
}

func TestArgumentsAreCleanedAndTheLayoutIsNot(t *testing.T) {
	var out bytes.Buffer
	o := terminal.New(&out, func(string) string { return "" })
	type word string
	o.Printf("\x1b[K%s|%v|%d|%5.1f|%v|%s|%-4s|%s|%v|%s\n", "\x1b", errors.New("e\x1b"), 7, 1.5, true, word("w\n"), "x", []string{"\u202e"}, time.Second, terminal.Lines("a\nb\x1b"))
	if got, want := out.String(), "\x1b[K\\x1b|e\\x1b|7|  1.5|true|w\\n|x   |[\\u202e]|1s|a\nb\\x1b\n"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

func TestWritingKeepsRunesThatComeInParts(t *testing.T) {
	var out bytes.Buffer
	o := terminal.New(&out, func(string) string { return "" })
	for _, b := range []byte("é\n\x1b東\u202e👍") {
		if n, err := o.Write([]byte{b}); n != 1 || err != nil {
			t.Fatalf("Write of a byte = %d, %v, want 1", n, err)
		}
	}
	if got := out.String(); got != "é\n\\x1b東\\u202e👍" {
		t.Errorf("wrote %q, want whole runes, and escapes shown", got)
	}
	if o.Data() != &out {
		t.Error("data for programs is changed")
	}
}

func TestJSONDecodesToTheSame(t *testing.T) {
	var out bytes.Buffer
	value := map[string]string{"k\u202e\u009b": "\x7f\u2028\U000e0041 é 👩\u200d👧 <&>\r\n"}
	if err := terminal.New(&out, func(string) string { return "" }).JSON(value); err != nil {
		t.Fatal(err)
	}
	var back map[string]string
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || fmt.Sprint(back) != fmt.Sprint(value) {
		t.Errorf("%s became %q (%v)", out.String(), back, err)
	}
	if want := `{
  "k\u202e\u009b": "\u007f\u2028\udb40\udc41 é 👩` + "\u200d" + `👧 <&>\r\n"
}
`; out.String() != want {
		t.Errorf("%s\nnot\n%s", out.String(), want)
	}
}

func TestJSONThatIsNestedDeepIsNotIndentedToHundredsOfTimesItsLength(t *testing.T) {
	deep := strings.Repeat("[", 512) + strings.Repeat("0,", 100_000) + "0" + strings.Repeat("]", 512)
	if got := terminal.IndentedJSON([]byte(deep)).String(); got != deep {
		t.Errorf("%d bytes became %d", len(deep), len(got))
	}
	if got := terminal.IndentedJSON([]byte(`{"a":[1,"]]["]}`)).String(); got != "{\n  \"a\": [\n    1,\n    \"]][\"\n  ]\n}" {
		t.Errorf("IndentedJSON = %q, want brackets in texts left alone", got)
	}
}

// FuzzClean prints any bytes: what is forbidden never gets through, cleaning again changes nothing, and JSON stays the same.
func FuzzClean(f *testing.F) {
	for _, seed := range []string{"\x1b[2J", "\u009b", "é\u200d\u202e", "a\r\n", "\xff", "👩\u200d👧", "葛\U000e0100", "\U000e0041"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, print := range []func(string) terminal.Text{terminal.Line, terminal.Lines, terminal.JSON} {
			got := print(s).String()
			if again := print(got).String(); again != got {
				t.Errorf("%q became %q and then %q", s, got, again)
			}
			if bad := strings.IndexFunc(got, forbidden); bad >= 0 || !utf8.ValidString(got) {
				t.Errorf("%q is printed as %q", s, got)
			}
		}
		if strings.ContainsAny(terminal.Line(s).String(), "\n\t\r") {
			t.Errorf("%q is printed on several lines", s)
		}
		raw, err := json.Marshal(s)
		var back, want string
		if err = errors.Join(err, json.Unmarshal(raw, &want), json.Unmarshal([]byte(terminal.JSON(string(raw)).String()), &back)); err != nil || back != want {
			t.Errorf("%q became %q in JSON (%v)", want, back, err)
		}
	})
}

// forbidden is told apart from what the package itself does: by the blocks that are known to steer or hide.
func forbidden(r rune) bool {
	return unicode.IsControl(r) && !strings.ContainsRune("\n\t\r", r) || unicode.Is(unicode.Bidi_Control, r) || strings.ContainsRune("\u2028\u2029\u200b\u2060\ufeff", r) ||
		r >= 0xe0000 && r <= 0xe00ff
}
