package secrets_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/sdk/secrets"
)

// sample is a text of the corpus, with the secrets that it was built with.
type sample struct {
	line, text string
	secrets    []string
	heldOut    bool
}

// corpus is the cases of a kind. Those that are held out, one half of those that were written with the detector and all that were
// written after it, had no part in its first form. The cases of a later file were run once before the detector was corrected by them:
// docs/guides/capture.md has the figures.
func corpus(t testing.TB, kind string) []sample {
	t.Helper()
	all := samplesIn(t, kind+".txt")
	for _, later := range []string{"unseen", "blind", "second", "third"} {
		for _, s := range samplesIn(t, later+"-"+kind+".txt") {
			s.heldOut = true
			all = append(all, s)
		}
	}
	return slices.Concat(all, written(t, "fourth", kind == "true"), written(t, "fifth", kind == "true"))
}

// written is a set that was written without sight of the detector. Of the fourth, 258 of 300 were found then, and 4 of 300 false; of the fifth,
// 388 of 500 and 5 of 500. Their secrets are written backwards, lest scanners of repositories find them.
func written(t testing.TB, name string, secret bool) (list []sample) {
	t.Helper()
	file, err := os.Open("testdata/" + name + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := json.NewDecoder(file); lines.More(); {
		var x struct{ Text, Secret string }
		if err := lines.Decode(&x); err != nil {
			t.Fatal(err)
		}
		if (x.Secret != "") != secret {
			continue
		}
		backwards := []rune(x.Secret)
		slices.Reverse(backwards)
		s := sample{text: strings.ReplaceAll(x.Text, "\x01", string(backwards)), heldOut: true}
		if secret {
			s.secrets = []string{string(backwards)}
		}
		list = append(list, s)
	}
	return list
}

func samplesIn(t testing.TB, name string) (list []sample) {
	t.Helper()
	file, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		h := fnv.New64a()
		h.Write([]byte(line))
		s := sample{line: line, heldOut: h.Sum64()>>7%2 == 1}
		draw := rand.New(rand.NewPCG(h.Sum64(), 1))
		s.text = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t").Replace(line)
		if strings.HasSuffix(name, "true.txt") {
			s.text, s.secrets = filled(s.text, draw)
		}
		list = append(list, s)
	}
	return list
}

// filled is a text with secrets in place of what is in braces, if it is a form of one.
func filled(text string, draw *rand.Rand) (string, []string) {
	var out strings.Builder
	var all []string
	for {
		before, rest, ok := strings.Cut(text, "{")
		out.WriteString(before)
		if !ok {
			return out.String(), all
		}
		form, after, ok := strings.Cut(rest, "}")
		whole, parts := drawn(form, draw)
		if !ok || whole == "" {
			out.WriteString("{")
			text = rest
			continue
		}
		out.WriteString(whole)
		all, text = append(all, parts...), after
	}
}

const (
	digits  = "0123456789"
	hex     = digits + "abcdef"
	lower   = "abcdefghijklmnopqrstuvwxyz"
	upper   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	symbols = "!#$%*+-=?@^_~"
)

func words() []string {
	return strings.Fields("winter summer tiger falcon coffee rocket purple garden monday london dragon silver orange bridge wizard hunter cactus velvet thunder marble")
}

// drawn is a secret of a form, and what of it must not be kept; empty: it is no form.
func drawn(form string, draw *rand.Rand) (whole string, parts []string) {
	name, size, _ := strings.Cut(form, ".")
	n, _ := strconv.Atoi(size)
	word := func() string { return words()[draw.IntN(len(words()))] }
	capital := func(w string) string { return strings.ToUpper(w[:1]) + w[1:] }
	from := func(n int, letters string) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = letters[draw.IntN(len(letters))]
		}
		return string(b)
	}
	switch name {
	case "upper":
		whole = from(n, upper+digits)
	case "num":
		whole = from(1, digits[1:]) + from(n-1, digits)
	case "hex":
		whole = from(n, hex)
	case "b62":
		whole = from(n, lower+upper+digits)
	case "b64":
		whole = from(n, lower+upper+digits+"+/")
	case "tok":
		whole = from(n-1, lower+upper+digits+"-_") + from(1, lower+digits)
	case "word":
		whole = word()
	case "word4":
		whole = from(4, lower) + from(4, lower) + from(4, lower) + from(4, lower)
	case "phrase":
		whole = strings.Join([]string{word(), word(), word(), word()}, " ")
	case "pw":
		whole = []string{word() + from(3, digits), capital(word()) + from(2, digits), capital(word()) + from(4, digits), word() + "_" + from(4, digits)}[draw.IntN(4)]
	case "strong":
		if n == 0 {
			n = 14
		}
		whole = []string{capital(word()) + from(4, digits) + "!", from(n, lower+upper+digits) + from(1, symbols[:2]) + from(2, digits), from(3, upper) + from(n, lower+digits+"#%+=_~") + from(2, digits)}[draw.IntN(3)]
	case "hard":
		whole = from(9, lower) + from(5, upper+digits) + from(4, digits)
	case "pem", "jsonpem":
		return block(size, name == "jsonpem", from)
	default:
		return "", nil
	}
	if whole == "" {
		return "", nil
	}
	return whole, []string{whole}
}

func block(label string, escaped bool, from func(int, string) string) (whole string, parts []string) {
	for range 6 {
		parts = append(parts, base64.StdEncoding.EncodeToString([]byte(from(48, lower+upper+digits))))
	}
	line := "\n"
	if escaped {
		line = `\n`
	}
	return "-----BEGIN " + label + "-----" + line + strings.Join(parts, line) + line + "-----END " + label + "-----", parts
}

// report is how a detector does on the corpus.
type report struct{ found, secret, false, harmless int }

func (r report) String() string {
	return fmt.Sprintf("%d of %d found (%.1f%%), %d of %d false (%.1f%%)", r.found, r.secret, 100*float64(r.found)/float64(r.secret), r.false, r.harmless, 100*float64(r.false)/float64(r.harmless))
}

// measured reports on a half of the corpus. missed and wrong are told what went wrong.
func measured(t testing.TB, heldOut bool, redact func(string) string, wrong func(s sample, out string)) (r report) {
	for _, s := range corpus(t, "true") {
		if s.heldOut != heldOut {
			continue
		}
		r.secret++
		out, ok := redact(s.text), true
		for _, secret := range s.secrets {
			ok = ok && !strings.Contains(out, secret)
		}
		if ok {
			r.found++
		} else if wrong != nil {
			wrong(s, out)
		}
	}
	for _, s := range corpus(t, "false") {
		if s.heldOut != heldOut {
			continue
		}
		r.harmless++
		if out := redact(s.text); out != s.text {
			r.false++
			if wrong != nil {
				wrong(s, out)
			}
		}
	}
	return r
}

func redacted(t testing.TB) func(string) string {
	return func(text string) string {
		out, _, err := secrets.Redact(text)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
}

func TestMostSecretsAreFoundAndLittleElse(t *testing.T) {
	for _, half := range []struct {
		name    string
		heldOut bool
	}{{"seen", false}, {"held out", true}} {
		r := measured(t, half.heldOut, redacted(t), func(s sample, out string) {
			if !half.heldOut || os.Getenv("SHOW") != "" {
				t.Logf("%s\n     became %s", s.text, out)
			}
		})
		t.Logf("%s: %v; by the rules of the example in Rust: %v", half.name, r, measured(t, half.heldOut, byExample, nil))
		if r.secret < 140 || r.harmless < 140 {
			t.Errorf("%s: got %d and %d cases, want 140 of each at least", half.name, r.secret, r.harmless)
		}
		if float64(r.found) < .98*float64(r.secret) || float64(r.false) > .02*float64(r.harmless) {
			t.Errorf("%s: got %v, want 98%% found and 2%% false", half.name, r)
		}
	}
}

// byExample replaces words as the example redactor in Rust does, without its mail addresses and card numbers.
func byExample(text string) string {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool {
		return !strings.ContainsRune("@._-+%", r) && (r < 0x80 && !strings.ContainsRune(lower+upper+digits, r))
	}) {
		for _, form := range []struct {
			begin string
			least int
		}{{"AKIA", 20}, {"ghp_", 36}, {"gho_", 36}, {"github_pat_", 40}, {"sk-", 24}, {"xoxb-", 24}, {"xoxp-", 24}, {"glpat-", 20}, {"AIza", 39}} {
			if i := strings.Index(word, form.begin); i >= 0 && len(word)-i >= form.least {
				text = strings.Replace(text, word[i:], "[token]", 1)
				break
			}
		}
	}
	if strings.Contains(text, "PRIVATE KEY-----") {
		return "" // refused
	}
	return text
}
