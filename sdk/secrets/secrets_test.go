package secrets_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/sdk/secrets"
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

func TestAValueMayBeTheSecretOfItsName(t *testing.T) {
	for _, x := range []struct{ name, text, want string }{
		{"password", "tiger4711", "[redacted:password]"}, {"x-api-key", "q7Zx81LmPw44VbTy90Kd", "[redacted:api-key]"}, {"pwd", "19283746", "[redacted:password]"},
		{"", "tiger4711", "tiger4711"}, {"count", "19283746", "19283746"}, {"password", "[redacted:password]", "[redacted:password]"},
	} {
		if got, _, err := (secrets.Redactor{}).Redact(x.name, x.text); err != nil || got != x.want {
			t.Errorf("Redact(%q, %q): got %q, %v, want %q", x.name, x.text, got, err, x.want)
		}
	}
}

func TestARedactorLeavesAndMarksAsItIsTold(t *testing.T) {
	r := secrets.Redactor{
		Leave: func(kind secrets.Kind, secret string) bool {
			return kind == secrets.URLPassword || secret == "tiger4711"
		},
		Mark: func(kind secrets.Kind) string { return "[no " + string(kind) + "]" },
	}
	text := "DB_PASSWORD=" + "tiger4711 URL=postgres://a:" + "horse99x@h/x PGPASSWORD=" + "lion8812"
	want := "DB_PASSWORD=" + "tiger4711 URL=postgres://a:" + "horse99x@h/x PGPASSWORD=[no password]"
	for range 2 {
		got, kinds, err := r.Redact("", text)
		if err != nil || got != want {
			t.Errorf("Redact(%q): got %q, %v, %v, want %q", text, got, kinds, err, want)
		}
		text = got
	}
}

func TestMoreSecretsThanAreAllowedAreRefused(t *testing.T) {
	text := strings.Repeat("password=tiger4711 ", secrets.Most+1)
	if _, _, err := secrets.Redact(text); !errors.Is(err, secrets.ErrTooMany) {
		t.Errorf("Redact: got %v, want %v", err, secrets.ErrTooMany)
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

// hostile are texts whose parts each look as if a secret began.
func hostile() map[string]string {
	list := map[string]string{}
	for _, part := range []string{
		"a", "-", "a=", "a-", "a/", "a+", "a.", "a:b@", "password ", "password:", "password=password=", "token a ", "login(", "login(\"", "auth=(\"a\",", "echo a | chpasswd ",
		"phrase: a ", "seed phrase: apple ", "-u ", "-p", "-----BEGIN PRIVATE KEY-----", "://", "://a:", "https://a@", "eyJ", "eyJ.", "eyJhbGciOiJI.", "sk-", "ghp_", "1//0", "M.",
		"key ", "snmp key ", "net user ", "/user:", "<<< ", "kinit <<< ", "credentials: a/", "login ", "[redacted:", "\\", "\"", "is my password ", "Bearer ", "IDENTIFIED BY ", "pat",
		"\xe2\x80", "密码", "bot1", "the password, it's ", "a|", "x--", "API_KEY_", "<password>", "echo ", "echo pass ", "the password (", "sqlplus a/b@", "パスワードはa",
	} {
		list[part] = strings.Repeat(part, (1<<20)/len(part))
	}
	return list
}

func TestHostileTextsAreReadToTheirEnd(t *testing.T) {
	for part, text := range hostile() {
		text = text[:1<<14]
		t.Run(part, func(t *testing.T) { check(t, text) })
	}
}

func BenchmarkHostile(b *testing.B) {
	for part, text := range hostile() {
		b.Run(part, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				_, _, _ = secrets.Redact(text)
			}
		})
	}
}

func BenchmarkRedact(b *testing.B) {
	for name, kind := range map[string]string{"secrets": "true", "harmless": "false"} {
		list, size := corpus(b, kind), 0
		for _, s := range list {
			size += len(s.text)
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				for _, s := range list {
					if _, _, err := secrets.Redact(s.text); err != nil {
						b.Fatal(err)
					}
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
