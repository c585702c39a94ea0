package secrets

import "strings"

// credentialed are words after which a word that looks like a password is one.
var credentialed = [...]string{
	"password", "passwords", "pass", "passphrase", "passcode", "pw", "pwd", "login", "logins", "credentials", "creds", "account",
	"administrator", "admin", "root", "master", "user", "username", "kinit",
	"passwort", "kennwort", "zugangsdaten", "zugang", "wifi", "wlan", "router", "signin", "sign-in", "logs", "unlock", "vault",
	"bitwarden", "keepass", "1password", "lastpass", "sudo", "ssh", "rdp", "vpn",
	"contraseña", "senha", "wachtwoord", "mot", "hasło", "пароль", "parola", "vnc", "ftp", "sftp", "smb", "nas", "netflix", "spotify",
	"log", "sign", "secret", "auth", "guest",
}

// typed are words before a password that somebody types, says, or has.
var typed = [...]string{"is", "has", "with", "with:", "and", "/", "use", "was", "to", "ist", "mit", "es", "est", "con", "as", "=", ":", "->", "→", "=>", "-", "–", "now", "still", "just", "und", "lautet"}

// loose adds the word at a place if it looks like a password that rules for passwords allow, and stands where one stands in a sentence about an
// account: as Administrator / …, the account has …, log in with …. It returns where the word ends; 0: it is none.
func (f *finder) loose(i int) int {
	end, odd := i, 0
	for end < len(f.text) && end-i < 64 && class[f.text[end]]&breaks == 0 {
		if class[f.text[end]]&(letter|joining) == 0 {
			odd++
		}
		end++
	}
	if odd == 0 || end-i < 8 {
		return 0
	}
	v := strings.TrimRight(f.text[i:end], ".:?")
	isOdd := isStrong(v) || isGarbled(v)
	if len(v) < 8 || len(v) > 40 || !isOdd && !isMade(v) || strings.ContainsAny(v, "/=") || standsFor(v) || isPath(v) || isPublic(v) || isCode(v, verb) || isUUID(v) || isVersioned(v) || strengthOf(v) != nothing {
		return 0
	}
	if at := strings.IndexByte(v, '@'); at > 0 && strings.IndexByte(v[at:], '.') > 0 { // a mail address
		return 0
	}
	if f.isSpoken(i) || isOdd && (f.isAskedFor(i, i+len(v)) || f.isOfAccount(i, v)) {
		f.add(Password, i, i+len(v))
		return i + len(v)
	}
	return 0
}

// isSpoken reports whether a password may stand at a place by the words before it: as the word that opens something.
func (f *finder) isSpoken(i int) bool {
	for _, words := range [...]string{"opens with ", "open with ", "unlock with ", "unlocks with ", "log in with ", "login with ", "unlock it with ", "sign in with ", "protected with ", "encrypted with "} {
		if strings.HasSuffix(f.text[:i], words) {
			return true
		}
	}
	return false
}

// isAskedFor reports whether the words after a place, and the one before it, say that a password stands there: use … when it asks for the password.
func (f *finder) isAskedFor(i, end int) bool {
	last := ""
	if words := strings.Fields(f.text[max(0, i-16):i]); len(words) > 0 {
		last = words[len(words)-1]
	}
	if !isOneOf(last, []string{"use", "type", "enter", "try", "with", "give", "put", "paste"}) {
		return false
	}
	after, _, _ := strings.Cut(f.text[end:min(len(f.text), end+behind)], "\n")
	return hasPart(strings.ToLower(after), []string{"password", "passphrase", "passwort", " login", "credential", "sudo", "to log in", "to sign in", "to unlock"})
}

// isOfAccount reports whether the words before a place are about an account.
func (f *finder) isOfAccount(i int, v string) bool {
	from := max(0, i-around)
	before := f.text[from:i]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	words := strings.Fields(before)
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	isTyped := isOneOf(strings.Trim(last, "\"'`,("), typed[:]) || strings.IndexByte(":=(/", last[len(last)-1]) >= 0
	for n := len(words) - 1; n >= 0 && n >= len(words)-8; n-- {
		word := strings.Trim(words[n], "\"'`,.:()=")
		if at := strings.LastIndexByte(word, '-'); at > 0 {
			word = word[at+1:]
		}
		switch {
		case n >= len(words)-closeBy/2 && tells(word)&isInnocent != 0 && word != "account":
			return false
		case tells(word)&isCredential != 0:
			return isTyped || len(v) >= 10 && isGarbled(v) && strengthOf(word) == password
		}
	}
	return false
}

// isGarbled reports whether a value has small letters, capitals and digits as no word has them.
func isGarbled(v string) bool {
	return count(v, lower) > 1 && count(v, upper) > 1 && count(v, digit) > 1 && switches(v)+changes(v) >= 5 && !slug(v)
}

// isVersioned reports whether a value is the name of a thing with its version, as PostgreSQL-16 or Ubuntu22.04LTS.
func isVersioned(v string) bool {
	return strings.Count(v, ".") > 0 && !strings.ContainsAny(v, "!#$%^&*+~?")
}

// longestPhrase bounds what is looked at as words that somebody made up, in bytes.
const longestPhrase = 64

// isScrambled reports whether a value is letters whose case changes as in no word.
func isScrambled(v string) bool {
	return len(v) >= 8 && len(v) <= longestPhrase && switches(v) >= 3 && !isCamel(v)
}

// isHyphened reports whether a value is three small words or more that hyphens join, as a passphrase, and no phrase of a language.
func isHyphened(v string) bool {
	if len(v) > longestPhrase {
		return false
	}
	parts := strings.Split(v, "-")
	if len(parts) < 3 || len(v) < 10 {
		return false
	}
	for _, part := range parts {
		if part == "" || count(part, upper|digit) > 0 || strings.ContainsAny(part, "./:_@(") || isFunction(part) || isCommon(part) || isOneOf(part, terms[:]) || isOneOf(part, []string{"to", "of", "in", "by", "up", "on", "at", "as"}) {
			return false
		}
	}
	return true
}

// isMade reports whether a value is words and a number, as people make passwords, and no technical term: gato_negro88.
func isMade(v string) bool {
	if len(v) < 8 || len(v) > longestPhrase || count(v, letter) < 4 || count(v, digit) == 0 || strings.ContainsAny(v, "./:@()=") {
		return false
	}
	first := v[:len(v)-len(strings.TrimLeft(v, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))]
	if len(first) < 2 || isCommon(first) || isOneOf(first, terms[:]) {
		return false
	}
	for _, word := range strings.FieldsFunc(v, func(r rune) bool { return r == '-' || r == '_' }) {
		if isOneOf(word, terms[:]) || isCommon(word) {
			return false
		}
	}
	return true
}

// terms are words of technical names that have numbers: they are no passwords.
var terms = [...]string{
	"base", "sha", "utf", "aes", "rsa", "argon", "bcrypt", "scrypt", "pbkdf", "hmac", "oauth", "saml", "http", "https", "ipv", "tls",
	"ssl", "ed", "ecdsa", "hs", "rs", "es", "ntlm", "ldap",
	"encoded", "hashed", "encrypted", "based", "protected", "characters", "character", "chars", "char", "digit", "digits", "letters",
	"bit", "bits", "byte", "bytes", "days", "day", "hours", "minutes", "months",
	"kerberos", "version", "level", "phase", "step", "part", "windows", "ubuntu", "debian", "python", "node", "postgres", "mysql",
	"line", "error", "code", "test", "case", "cve", "rfc", "section", "chapter",
	"less", "free", "only", "type", "field", "input", "form", "plain", "factor", "minimum", "long", "webauthn", "fido", "totp",
	"passkey", "number", "env", "file", "var", "key", "token", "secret", "issue", "page",
	"login", "user", "admin", "service", "server", "prod", "dev", "staging", "db", "app", "api",
}

// closes reports whether a sentence, a line or a quote ends at a place.
func (f *finder) closes(at int) bool {
	if at >= len(f.text) || strings.IndexByte("\r\n\"'`,;)<", f.text[at]) >= 0 {
		return true
	}
	if strings.IndexByte(".!?", f.text[at]) >= 0 {
		return at+1 == len(f.text) || f.text[at+1] <= ' '
	}
	rest := strings.TrimLeft(f.text[at:min(len(f.text), at+12)], " ")
	for _, word := range [...]string{"(", "-", "–", "—", "#", "and ", "for ", "on ", "in ", "until ", "but ", "und ", "für ", "so ", "please", "if ", "です", "et ", "pour ", "y ", "para "} {
		if strings.HasPrefix(rest, word) {
			return true
		}
	}
	return rest == ""
}

// wordy is where a passphrase ends that begins at a place: four words or more, with capitals or a number among them, to the end of a line; 0: it is none.
func (f *finder) wordy(at int) int {
	end, words, odd := at, 0, 0
	for next := at; next < len(f.text) && next-at < 96; {
		stop := next
		for stop < len(f.text) && class[f.text[stop]]&alnum != 0 {
			stop++
		}
		w := f.text[next:stop]
		if w == "" || isFunction(strings.ToLower(w)) || isCommon(w) {
			return 0
		}
		if class[w[0]]&(upper|digit) != 0 {
			odd++
		}
		words++
		if end = stop; stop >= len(f.text) || f.text[stop] != ' ' {
			break
		}
		next = stop + 1
	}
	if words < 4 || words > 8 || odd*2 < words || !f.closes(end) {
		return 0
	}
	return end
}
