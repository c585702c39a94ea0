package secrets_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/guests/lib/secrets"
)

func TestASecretIsReplacedByItsKind(t *testing.T) {
	for text, want := range map[string]string{
		"export DB_PASSWORD=" + "tiger4711":                         "export DB_PASSWORD=[redacted:password]",
		"see postgres://app:" + "tiger4711@db/x, and tiger4711":     "see postgres://app:[redacted:url-password]@db/x, and [redacted:url-password]",
		"token " + "ghp_" + strings.Repeat("aB3dE6gH9j", 4) + " it": "token [redacted:github-token] it",
		"the password is stored in Vault":                           "the password is stored in Vault",
		"":                                                          "",
	} {
		if got, _, err := secrets.Redact(text); err != nil || got != want {
			t.Errorf("Redact(%q): got %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestAValueKeepsWhatIsNoSecret(t *testing.T) {
	for value, want := range map[string]string{
		`{"user": "ann",  "password":"tiger4711", "n": 1.50}`: `{"user": "ann",  "password":"[redacted:password]", "n": 1.50}`,
		`["a \"quoted\" password=` + `tiger4711"]`:            `["a \"quoted\" password=[redacted:password]"]`,
		`{"pwd": 19283746, "count": 19283746}`:                `{"pwd": "[redacted:password]", "count": 19283746}`,
		`{"a":{"password":{"min":8}},"b":["x"]}`:              `{"a":{"password":{"min":8}},"b":["x"]}`,
		`{"x-api-key":"` + "q7Zx81LmPw44VbTy90Kd" + `"}`:      `{"x-api-key":"[redacted:api-key]"}`,
		`{"postgres://a:` + "tiger4711" + `@h/x":1}`:          `{"postgres://a:[redacted:url-password]@h/x":1}`,
		`"tea"`: `"tea"`,
		`null`:  `null`,
	} {
		got, _, err := secrets.JSON([]byte(value))
		if err != nil || string(got) != want {
			t.Errorf("JSON(%s): got %s, %v, want %s", value, got, err, want)
		}
	}
}

func TestMoreSecretsThanAreAllowedAreRefused(t *testing.T) {
	text := strings.Repeat("password=tiger4711 ", secrets.Most+1)
	if _, _, err := secrets.Redact(text); !errors.Is(err, secrets.ErrTooMany) {
		t.Errorf("Redact: got %v, want %v", err, secrets.ErrTooMany)
	}
	list, err := json.Marshal([]string{text[:len(text)/2], text[:len(text)/2], text[:len(text)/2]})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := secrets.JSON(list); !errors.Is(err, secrets.ErrTooMany) {
		t.Errorf("JSON: got %v, want %v", err, secrets.ErrTooMany)
	}
}

// every text of the corpus.
func texts(t testing.TB) (list []string) {
	for _, s := range slices.Concat(corpus(t, "true"), corpus(t, "false")) {
		list = append(list, s.text)
	}
	return list
}

func TestWhatWasRedactedStaysAsItIs(t *testing.T) {
	all := append(texts(t), strings.Join(texts(t), "\n"))
	for _, text := range all {
		check(t, text)
	}
}

// check checks what holds of any text.
func check(t *testing.T, text string) {
	t.Helper()
	out, kinds, err := secrets.Redact(text)
	if err != nil {
		if !errors.Is(err, secrets.ErrTooMany) {
			t.Errorf("Redact(%q): got %v, want %v or none", text, err, secrets.ErrTooMany)
		}
		return
	}
	if len(kinds) == 0 && out != text {
		t.Errorf("Redact(%q): got %q without a kind, want it unchanged", text, out)
	}
	if again, _, err := secrets.Redact(out); err != nil || again != out {
		t.Errorf("Redact(%q): got %q, and of that %q, %v, want no further change", text, out, again, err)
	}
	found, err := secrets.Find(text)
	if err != nil {
		t.Errorf("Find(%q): got %v, want none", text, err)
	}
	at := 0
	for _, x := range found {
		if x.Start < at || x.End <= x.Start || x.End > len(text) {
			t.Fatalf("Find(%q): got %v after %d, want spans in order", text, x, at)
		}
		at = x.End
		if secret := text[x.Start:x.End]; strings.ContainsAny(secret, "0123456789") && len(secret) > 24 && strings.Contains(out, secret) {
			t.Errorf("Redact(%q): got %q, which has %q, want it without", text, out, secret)
		}
	}
}

func FuzzRedact(f *testing.F) {
	for _, text := range texts(f) {
		f.Add(text)
	}
	f.Fuzz(check)
}

func FuzzJSON(f *testing.F) {
	for _, text := range texts(f) {
		value, err := json.Marshal(map[string]any{"text": text, text: []string{text}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		out, kinds, err := secrets.JSON(value)
		if err != nil || !json.Valid(value) {
			return
		}
		if !json.Valid(out) || len(kinds) == 0 && string(out) != string(value) {
			t.Errorf("JSON(%q): got %q with %v, want JSON, unchanged without kinds", value, out, kinds)
		}
	})
}

func BenchmarkRedact(b *testing.B) {
	for name, kind := range map[string]string{"secrets": "true", "harmless": "false"} {
		var text strings.Builder
		for _, s := range corpus(b, kind) {
			text.WriteString(s.text + "\n")
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				if _, _, err := secrets.Redact(text.String()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	prose := strings.Repeat("We moved the search index to its own package, and asked Ann whether the old one is still read by anybody; it is not.\n", 200)
	b.Run("prose", func(b *testing.B) {
		b.SetBytes(int64(len(prose)))
		for b.Loop() {
			if _, _, err := secrets.Redact(prose); err != nil {
				b.Fatal(err)
			}
		}
	})
}
