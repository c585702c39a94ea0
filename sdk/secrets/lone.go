package secrets

import "strings"

const (
	shortestTail = 20 // of a token of a form that nobody published
	shortestLone = 20 // of what stands near a word that tells
	shortestSeed = 16 // of capitals and digits there
	nearby       = 48 // bytes
)

// lone looks for a token in the word from i to end that is told by neither a published form nor a name: by a prefix that says what it is, as
// acme_live_…, or by a word before it on its line. It returns where to go on.
func (f *finder) lone(i, end int) int {
	if end-i < 2 || i > 0 && (class[f.text[i-1]]&inDotted != 0 || strings.IndexByte("+/", f.text[i-1]) >= 0) {
		return end
	}
	stop := run(f.text, i, inToken)
	if i > 0 && strings.IndexByte("= \"'`:", f.text[i-1]) >= 0 { // perhaps base64
		for most := min(len(f.text), i+longestRun); stop < most && strings.IndexByte("+/", f.text[stop]) >= 0; {
			stop = run(f.text, stop+1, inToken)
		}
	}
	if stop-i < shortestSeed || stop < len(f.text) && strings.IndexByte("/:@(", f.text[stop]) >= 0 {
		return end
	}
	v := strings.TrimRight(f.text[i:stop], "-_/")
	if n := strings.Count(v, "/"); n*12 > len(v) || n > 0 && strings.IndexByte(v, '_') >= 0 {
		return end
	}
	if len(v) < shortestSeed || !(len(v) >= shortestTail && isPrefixed(v)) && !f.byContext(v, i) || isSample(v) || isPublic(v) {
		return end
	}
	last := padded(f.text, i+len(v))
	f.add(Token, i, last)
	return last
}

// isPrefixed reports whether a token is words and a random tail, and one of the words says that it is a secret.
func isPrefixed(v string) bool {
	at := strings.LastIndexAny(v, "-_")
	if at < 2 {
		return false
	}
	tail := v[at+1:]
	if len(tail) < shortestTail || count(tail, alnum) != len(tail) || count(tail, digit) < 3 || count(tail, letter) < 3 || distinct(tail) < 8 {
		return false
	}
	tells := false
	for _, word := range strings.FieldsFunc(v[:at], func(r rune) bool { return r == '-' || r == '_' }) {
		if len(word) > 12 || count(word, lower|digit) != len(word) && count(word, upper|digit) != len(word) {
			return false
		}
		if isOneOf(word, []string{"pk", "pub", "public", "id", "hash", "sha", "cache", "test"}) {
			return false
		}
		tells = tells || isOneOf(word, []string{"sk", "rk", "pat", "live", "secret", "token", "apikey", "oauth", "priv", "private", "prod"})
	}
	return tells
}

// isDrawn reports whether a token has capitals, small letters and digits, mixed as machines mix them, and is no id of a known service.
func isDrawn(v string) bool {
	if len(v) < shortestLone || count(v, digit) < 2 || count(v, upper) < 3 || count(v, lower) < 3 || !isRandom(v) || switches(v) < 4 {
		return false
	}
	prefix, _, ok := strings.Cut(v, "_")
	if !ok {
		prefix, _, ok = strings.Cut(v, "-")
	}
	return !ok || !isOneOf(prefix, ids[:])
}

// ids are prefixes of ids that are no secrets.
var ids = [...]string{
	"call", "toolu", "msg", "chatcmpl", "req", "run", "resp", "file", "thread", "asst", "step", "batch", "cus", "price", "pi", "sub", "in", "evt",
	"prod", "pk", "pm", "ch", "seti", "acct", "user", "org", "proj", "item", "fc", "rs", "ses", "prt", "gen", "conv", "pub", "public",
}
