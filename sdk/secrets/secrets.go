// Package secrets finds keys, tokens and passwords in text. Host and guests share it, and it imports neither.
//
// It knows keys by the forms that their services publish or by the words around them, and passwords by the names before them: in URLs, headers,
// commands, configurations, code and prose. What stands for a secret is none: placeholders, variables, calls, paths, digests, UUIDs. It uses no
// regular expressions, and reads a text once, from left to right; of a text with secrets, what is left is read again.
package secrets

import (
	"errors"
	"slices"
	"strings"
)

// Kind is what a secret is.
type Kind string

// The kinds of secrets that are found by their names. Those found by their forms are in the table of tokens.
const (
	Password    Kind = "password"
	Token       Kind = "token"
	Secret      Kind = "secret"
	APIKey      Kind = "api-key"
	Bearer      Kind = "bearer"
	URLPassword Kind = "url-password"
	PrivateKey  Kind = "private-key"
	JWT         Kind = "jwt"
	HighEntropy Kind = "high-entropy"
)

// Kinds returns all kinds, sorted.
func Kinds() []Kind {
	list := []Kind{Password, Token, Secret, APIKey, Bearer, URLPassword, PrivateKey, JWT, HighEntropy, "password-hash", "telegram-token", "webhook", "azure-key", "azure-secret", "discord-token", "airtable-token", "asana-token", "mailchimp-key"}
	for _, x := range forms {
		list = append(list, x.kind)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Mark is what a secret of the kind is replaced by.
func (k Kind) Mark() string { return opening + string(k) + "]" }

const opening = "[redacted:"

// Found is a secret in a text, in bytes.
type Found struct {
	Kind       Kind
	Start, End int
}

// Most is how many secrets a text may have.
const Most = 1000

// ErrTooMany is the error for a text with more than Most secrets.
var ErrTooMany = errors.New("it has more than 1000 secrets")

// passes bounds how often a text is read whose secrets show others as they are replaced.
const passes = 8

// Find returns the secrets of a text in their order. They do not overlap.
func Find(text string) ([]Found, error) {
	f := finder{text: text}
	if err := f.run(); err != nil {
		return nil, err
	}
	return f.everywhere()
}

// FindIn returns the secrets of a text that is the value of a name, as in JSON. An empty name tells nothing.
func FindIn(name, text string) ([]Found, error) {
	if name == "" {
		return Find(text)
	}
	if m := meaningOf(strings.ReplaceAll(strings.ReplaceAll(name, "-", "_"), " ", "_")); m.strength != nothing && isNamed(name, text, m) {
		kind := m.kind
		if k, end := tokenAt(text, 0); end == len(text) {
			kind = k
		}
		return []Found{{kind, 0, len(text)}}, nil
	}
	return Find(text)
}

// isNamed reports whether a text is a secret because of its name.
func isNamed(name, text string, m meaning) bool {
	if text == "" || len(text) > longestValue || strings.IndexByte(text, '\n') >= 0 {
		return false
	}
	f := finder{text: name + `: "` + text + `"`}
	start := len(name) + len(`: "`)
	return f.isSecret(text, m.strength, site{at: start, after: colon, quote: '"', line: true}, start+len(text))
}

// Redact replaces the secrets of a text by their marks, and returns what they are. It changes no text twice: what it returns has none.
func Redact(text string) (string, []Kind, error) { return Redactor{}.Redact("", text) }

// Redactor replaces secrets. Its zero value replaces all by their marks.
type Redactor struct {
	// Leave reports whether a secret stays as it is; nil: none does.
	Leave func(kind Kind, secret string) bool
	// Mark is what a secret is replaced by; nil: Kind.Mark. It begins with a bracket, lest it be taken for a secret.
	Mark func(Kind) string
}

// Redact is the function Redact for a text that is the value of a name; empty: of none.
func (r Redactor) Redact(name, text string) (string, []Kind, error) {
	var kinds []Kind
	for range passes {
		found, err := FindIn(name, text)
		if err == nil && r.Leave != nil {
			found = slices.DeleteFunc(found, func(x Found) bool { return r.Leave(x.Kind, text[x.Start:x.End]) })
		}
		if err != nil || len(found) == 0 {
			return text, kinds, err
		}
		if len(kinds)+len(found) > Most {
			return "", nil, ErrTooMany
		}
		for _, x := range found {
			kinds = append(kinds, x.Kind)
		}
		text = r.replace(text, found)
	}
	return "", nil, ErrTooMany
}

func (r Redactor) replace(text string, found []Found) string {
	mark := r.Mark
	if mark == nil {
		mark = Kind.Mark
	}
	var out strings.Builder
	at := 0
	for _, x := range found {
		out.WriteString(text[at:x.Start])
		out.WriteString(mark(x.Kind))
		at = x.End
	}
	out.WriteString(text[at:])
	return out.String()
}

// finder finds the secrets of a text.
type finder struct {
	text  string
	found []Found
}

func (f *finder) add(kind Kind, start, end int) {
	f.found = append(f.found, Found{kind, start, end})
}

// run reads the text once. What was found is passed over.
func (f *finder) run() error {
	for i := 0; i < len(f.text); {
		next := f.step(i)
		if len(f.found) > Most {
			return ErrTooMany
		}
		i = max(next, i+1)
	}
	return nil
}

// step looks for a secret that begins at a place, or is named there, and returns where to go on.
func (f *finder) step(i int) int {
	switch c := f.text[i]; {
	case class[c]&inName != 0:
		return f.word(i)
	case c == '-':
		return f.dash(i)
	case c == ':' && strings.HasPrefix(f.text[i:], "://"):
		return f.url(i)
	case c == '@':
		f.userinfo(i)
	case c == '?' || c == '&':
		if end := f.query(i); end > 0 {
			return end
		}
	case c == '$' || c == '{':
		if end := f.crypt(i); end > 0 {
			return end
		}
	case c == '^' && i > 0 && strings.IndexByte(" \"'`", f.text[i-1]) >= 0:
		if end := f.loose(i); end > 0 {
			return end
		}
	case c == '/' && i > 0 && f.text[i-1] == ' ':
		if end := f.option(i); end > 0 {
			return end
		}
	case c == '<' && strings.HasPrefix(f.text[i:], "<<< "):
		return f.here(i)
	case c == '[' && strings.HasPrefix(f.text[i:], opening):
		if end := strings.IndexByte(f.text[i:min(i+64, len(f.text))], ']'); end > 0 {
			return i + end
		}
	}
	return i + 1
}

// word looks for a secret that begins with a word, or that the word names.
func (f *finder) word(i int) int {
	if end := plain(f.text, i); end > 0 {
		return end
	}
	return f.whole(i)
}

// whole is word without passing over plain words.
func (f *finder) whole(i int) int {
	if i == 0 || class[f.text[i-1]]&alnum == 0 {
		if kind, end := tokenAt(f.text, i); end > 0 {
			f.add(kind, i, end)
			if kind == "aws-key" {
				return f.besideKey(end)
			}
			return end
		}
	}
	if class[f.text[i]]&digit != 0 && (i == 0 || f.text[i-1] <= ' ' || strings.IndexByte("\"':=(#>", f.text[i-1]) >= 0) {
		if end := f.coded(i); end > 0 {
			return end
		}
	}
	end := i + 1
	for end < len(f.text) && class[f.text[end]]&inName != 0 && !isWide(f.text[end:]) && !(f.text[end] < 0x80 && isCJK(f.text, end)) {
		end++
	}
	name := f.text[i:end]
	if m := meaningAt(f.text, i, end); m.strength != nothing {
		if v, ok := f.valueOf(i, end, m); ok {
			f.add(v.kind, v.start, v.end)
			return v.end
		}
	}
	if start, stop, kind := f.scheme(name, end); stop > 0 {
		f.add(kind, start, stop)
		return stop
	}
	if strings.HasPrefix(name, "bot") && end-i > 10 {
		if n := telegramLength(f.text[i+3:]); n > 0 {
			f.add("telegram-token", i+3, i+3+n)
			return i + 3 + n
		}
	}
	if stop := f.argument(name, i, end); stop > 0 {
		return stop
	}
	if i == 0 || strings.IndexByte(" \t\"'`:=(\n", f.text[i-1]) >= 0 {
		if stop := f.atWord(i, end); stop > 0 {
			return stop
		}
	}
	return f.lone(i, end)
}

// atWord looks for a secret that begins with the word from i to end, and that the line tells. It returns where the secret ends; 0: there is none.
func (f *finder) atWord(i, end int) int {
	if i == 0 || f.text[i-1] == '\n' {
		if stop := f.colons(i); stop > 0 {
			return stop
		}
	}
	if end < len(f.text) && f.text[end] == '-' && end-i >= shortestCode && end-i <= 8 {
		if stop := f.groupedCode(i); stop > 0 {
			return stop
		}
	}
	if f.text[i] == 'W' {
		if stop := f.wifi(i); stop > 0 {
			return stop
		}
	}
	if stop := f.userColon(i, end); stop > 0 {
		return stop
	}
	return f.loose(i)
}

// besideKey adds the secret that stands beside the id of an AWS key, as in a list of keys, and returns where to go on.
func (f *finder) besideKey(end int) int {
	start := end
	for start < len(f.text) && start-end < 4 && strings.IndexByte(" /:,;|\t", f.text[start]) >= 0 {
		start++
	}
	if stop := run(f.text, start, inBase64); start > end && stop-start == 40 && isRandom(f.text[start:stop]) {
		f.add(Secret, start, stop)
		return stop
	}
	return end
}

// isWide reports whether a text begins with punctuation that is not ASCII.
func isWide(text string) bool {
	return text[0] >= 0xE2 && (strings.HasPrefix(text, "\xE2\x80") || strings.HasPrefix(text, "\xE3\x80") || strings.HasPrefix(text, "\xEF\xBC"))
}

// isCJK reports whether the character before a place is one of three bytes, as those of Chinese, Japanese and Korean: no blank ends their words.
func isCJK(text string, at int) bool {
	return at >= 3 && text[at-3] >= 0xE3 && text[at-3] <= 0xED && text[at-1] >= 0x80
}

// everywhere adds where else the secrets stand that were found by a name. A password that is a common word is left.
func (f *finder) everywhere() ([]Found, error) {
	list := f.found
	known := map[string]bool{}
	for _, x := range f.found {
		secret := f.text[x.Start:x.End]
		if known[secret] || len(secret) < 6 || !mixed(secret) {
			continue
		}
		known[secret] = true
		for at := 0; ; {
			i := strings.Index(f.text[at:], secret)
			if i < 0 {
				break
			}
			start, end := at+i, at+i+len(secret)
			at = end
			list = append(list, Found{x.Kind, start, end})
		}
		if len(list) > 2*Most {
			return nil, ErrTooMany
		}
	}
	if len(known) == 0 {
		return list, nil
	}
	list = disjoint(list)
	if len(list) > Most {
		return nil, ErrTooMany
	}
	return list, nil
}

// disjoint sorts what was found, and joins what overlaps.
func disjoint(list []Found) []Found {
	slices.SortStableFunc(list, func(a, b Found) int {
		if a.Start != b.Start {
			return a.Start - b.Start
		}
		return b.End - a.End
	})
	var kept []Found
	for _, x := range list {
		if n := len(kept); n > 0 && x.Start < kept[n-1].End {
			kept[n-1].End = max(kept[n-1].End, x.End)
			continue
		}
		kept = append(kept, x)
	}
	return kept
}
