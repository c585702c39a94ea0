package secrets

import "strings"

// isSecret decides about the value of a name. end is where it ends in the text.
func (f *finder) isSecret(v string, s strength, at site, end int) bool {
	if s == digits {
		isPIN := at.at >= 4 && strings.HasSuffix(f.text[:at.at], "PIN ")
		return len(v) >= 4 && len(v) <= 12 && count(v, digit) == len(v) && (at.after != blank || isPIN) && at.after != call
	}
	if len(v) < 4 || standsFor(v) || isPath(v) || isPublic(v) ||
		s == telling && (isNumber(v) || strings.IndexByte(v, '/') >= 0 && !isRandom(v)) {
		return false
	}
	quoted := at.quote != 0
	if !quoted && (at.after == verb || at.after == blank) && isPair(v) {
		return false
	}
	if strings.IndexByte(v, ' ') >= 0 {
		return quoted && s == password && (isPhrase(v) || (at.after == equals || at.after == flag) && isQuotedPhrase(v))
	}
	if !quoted && isCode(v, at.after) {
		return false
	}
	switch {
	case at.after == aside:
		return s == password && !quoted && isStrong(v)
	case s == keyed && len(v) >= 32 && at.after == equals && isRandom(v):
		return true
	case s == keyed && len(v) >= 32 && count(v, hexLower) == len(v) && (at.after == equals || at.after == colon):
		return true
	case s == weak && quoted && len(v) >= 32 && count(v, hexLower) == len(v) && strings.Contains(f.lineBefore(at.at), "username"):
		return true
	case s == weak || s == keyed:
		isCookie := strings.HasSuffix(strings.ToLower(f.text[max(0, at.at-10):at.at]), "cookie: ") && len(v) >= 32
		return len(v) >= shortestTail && isRandom(v) && !isULID(v) && (isCookie || !endsInDigest(v)) && at.after != blank && at.after != verb
	case isUUID(v):
		return true
	case at.after == blank && !quoted:
		return s == password && (isOdd(v) || strings.Count(v, "-") >= 3 && isMade(v)) || isRandom(v)
	case at.after == verb && !quoted:
		return s == password && (isOdd(v) || (isMade(v) || isHyphened(v)) && f.closes(end)) || isRandom(v)
	case at.after == call || at.after == verb || at.after == blank:
		return s == password && (isOdd(v) || isScrambled(v)) || mixed(v) && len(v) >= 6 && !slug(v)
	case mixed(v):
		return f.isMixedSecret(v, s, at, end)
	}
	if s == password && at.after == equals && strings.IndexByte(v, '-') > 0 && switches(v) > 0 && len(v) >= 8 {
		return true
	}
	return s == password && (f.isWord(v, at, end) || len(v) == 16 && count(v, lower) == 16 && isUnspoken(v) || isJoined(v) && (at.quote != 0 || at.after == equals || at.after == colon && f.endsLine(end)))
}

// isJoined reports whether a value is a passphrase of small words that hyphens join.
func isJoined(v string) bool {
	return strings.Count(v, "-") >= 3 && isPhrase(strings.ReplaceAll(v, "-", " "))
}

// isMixedSecret decides about a value of letters and other characters.
func (f *finder) isMixedSecret(v string, s strength, at site, end int) bool {
	if s == password {
		return at.quote != 0 || at.after != colon || isOdd(v) || at.line && f.endsLine(end)
	}
	if slug(v) {
		return false
	}
	digits := count(v, digit)
	return len(v) >= 8 && (at.quote != 0 || at.after != colon || digits >= 2) || len(v) >= 6 && (at.after == equals || at.quote != 0) && digits > 0
}

// isWord decides about a password that is a word, as it may be in a configuration.
func (f *finder) isWord(v string, at site, end int) bool {
	if count(v, digit) == len(v) {
		return len(v) >= 5 && at.after != verb
	}
	if len(v) < 5 || count(v, lower) != len(v) || isCommon(v) || strengthOf(v) != nothing {
		return false
	}
	switch {
	case at.quote != 0:
		return true
	case at.after == flag:
		next := skipBlanks(f.text, end, len(f.text))
		return next == len(f.text) || strings.IndexByte("-\n\r\"'`&|;\\", f.text[next]) >= 0
	case at.after == equals || at.after == element:
		return end >= len(f.text) || strings.IndexByte(",).([", f.text[end]) < 0
	}
	return at.after == colon && at.line && f.endsLine(end)
}

// isPair reports whether a value is another name and its value.
func isPair(v string) bool {
	i := strings.IndexByte(v, '=')
	return i > 1 && i+1 < len(v) && isIdentifier(v[:i]) && count(v[:i], digit) == 0
}

// endsLine reports whether nothing but a comment follows on the line.
func (f *finder) endsLine(at int) bool {
	at = skipBlanks(f.text, at, len(f.text))
	return at == len(f.text) || strings.IndexByte("\r\n#\\", f.text[at]) >= 0
}

// standsFor reports whether a value stands for a secret, or shows its form.
func standsFor(v string) bool {
	if strings.IndexByte("$*&!", v[0]) >= 0 && isStrong(v[1:]) && count(v, lower) > 0 && trailing(v) > 2 {
		return isSample(v)
	}
	switch v[0] {
	case '$', '<', '{', '[', '*', '(', '%', '@', '&', '|', '!':
		if len(v) > 1 && (class[v[1]]&letter != 0 && v[0] != '!' && v[0] != '@' && v[0] != '*' || strings.IndexByte("({[<*%$\"'", v[1]) >= 0 || v[0] == '[' || v[0] == '<') {
			return true
		}
	}
	if strings.HasSuffix(v, ">") && strings.Contains(v, "<") || strings.Contains(v, "${") || strings.Contains(v, "{{") || strings.Contains(v, "$(") || strings.Contains(v, "%(") {
		return true
	}
	return isSample(v) || isCommon(v)
}

// samples are parts of values that are written in place of a secret.
var samples = [...]string{
	"example", "your", "placeholder", "changeme", "change-me", "change_me", "change.me", "redacted", "replace", "insert",
	"dummy", "xxxx", "****", "....", "…", "todo", "sample", "not-a-real", "notreal",
	"fake", "____", "----", "••••", "secret-here", "key-here", "token-here", "goes-here", "goes_here", "0000000", "deadbeef",
	"••", "my-secret", "my_secret", "mysecret", "my-api", "my_api", "my-token", "my_token",
	"mypassword", "my_password", "my-password", "s3cr3t-here", "put-", "enter-", "foobar", "lorem",
	"550e8400-e29b-41d4-a716", "123e4567-e89b-12d3-a456",
}

// isSample reports whether a value shows how one looks: it says so, counts, or repeats.
func isSample(v string) bool {
	for i := range len(v) {
		switch v[i] | 0x20 {
		case 'e', 'y', 'p', 'c', 'r', 'i', 'd', 'x', 't', 's', 'n', 'f', 'k', 'g', 'm', 'l', '*' | 0x20, '.' | 0x20, '_' | 0x20, '-' | 0x20, '0' | 0x20, '1' | 0x20, '5' | 0x20, 0xe2:
			for _, s := range samples {
				if s[0]|0x20 == v[i]|0x20 && hasFold(v[i:], s) {
					return true
				}
			}
		}
	}
	return len(v) >= 8 && (distinct(v) <= 3 || counts(v))
}

func hasFold(v, prefix string) bool { return len(v) >= len(prefix) && endsIn(v[:len(prefix)], prefix) }

// counts reports whether a value is a sequence, as 12345678 or abcdefgh.
func counts(v string) bool {
	steps := 0
	for i := 1; i < len(v); i++ {
		if v[i] == v[i-1]+1 || v[i] == v[i-1] || v[i-1] == '9' && v[i] == '0' {
			steps++
		}
	}
	return len(v) >= 10 && steps*10 >= (len(v)-1)*6
}

func distinct(v string) (n int) {
	var seen [256]bool
	for i := range len(v) {
		if !seen[v[i]] {
			seen[v[i]] = true
			n++
		}
	}
	return n
}

// common are words that stand where a secret could, and are none.
var common = [...]string{
	"string", "text", "none", "null", "true", "false", "required", "optional", "undefined", "empty", "unset", "default",
	"hidden", "masked", "secret", "secrets", "password", "passwort", "token", "tokens",
	"value", "values", "input", "field", "test", "testing", "bytes", "bool", "boolean", "number", "object", "array", "bearer",
	"basic", "oauth", "oauth2", "vault", "inherit", "missing", "invalid", "expired",
	"incorrect", "wrong", "correct", "valid", "enabled", "disabled", "stored", "encrypted", "hashed", "reset", "forgotten",
	"forgot", "changed", "unknown", "stdin", "prompt", "prompted", "unchanged", "needed", "here",
	"refused", "rejected", "accepted", "generated", "rotated", "leaked", "same", "above", "below", "later", "with", "from",
	"into", "that", "this", "then", "when", "must", "should", "could", "would",
	"base64", "base32", "sha1", "sha256", "sha384", "sha512", "md5", "utf8", "utf-8", "argon2", "argon2id", "bcrypt", "scrypt",
	"pbkdf2", "hs256", "rs256", "es256", "aes256", "aes-256", "ed25519", "x509", "http2", "ipv4", "ipv6",
	"keychain", "keyring", "environment", "variable", "config", "settings", "admin", "username", "notset", "login", "entry",
	"result", "param", "params", "args", "self", "char", "varchar", "varchar(255)", "credentials", "credential",
	"falsch", "richtig", "vergessen", "geändert", "abgelaufen", "gespeichert", "incorrecta", "oublié", "visible", "toggle",
	"show", "hide", "submit", "confirm", "label", "strong", "short", "long", "auto", "session", "header", "cookie",
	"process", "localhost", "sensitive", "rotate", "create", "update", "delete", "length", "policy", "manager", "strength",
	"protected", "authentication", "mismatch", "match", "matches", "works", "plaintext", "verbatim",
}

func isCommon(v string) bool {
	if len(v) > 16 {
		return false
	}
	for _, w := range common {
		if len(w) == len(v) && endsIn(v, w) {
			return true
		}
	}
	return false
}

// isPath reports whether a value says where something is: a file, an address, a place in a vault.
func isPath(v string) bool {
	if strings.Contains(v, "://") {
		return true
	}
	for _, p := range [...]string{
		"/", "./", "../", "~/", ".\\", "C:\\", "file:", "arn:", "vault:", "env:", "env.", "ssm:", "secretref:", "op:",
		"process.", "os.", "secrets.", "data:", "keychain:", "self.", "config.", "vars.",
	} {
		if len(v) > len(p) && hasFold(v, p) {
			return p != "/" || strings.Count(v, "/") > 1 && !isRandom(v) || slug(v[1:])
		}
	}
	if at := strings.LastIndexByte(v, '/'); at > 0 {
		if dot := strings.LastIndexByte(v, '.'); dot > at && len(v)-dot > 2 && len(v)-dot < 7 && count(v[dot+1:], lower) == len(v)-dot-1 {
			return true
		}
	}
	return strings.Count(v, "/") > 0 && slug(v) || hasExtension(v)
}

// hasExtension reports whether a value is the name of a file.
func hasExtension(v string) bool {
	i := strings.LastIndexByte(v, '.')
	if i < 1 || len(v)-i > 6 || len(v)-i < 3 {
		return false
	}
	for _, e := range [...]string{
		".txt", ".pem", ".key", ".json", ".yaml", ".yml", ".env", ".go", ".py", ".js", ".ts", ".java", ".rs", ".rb", ".md",
		".toml", ".ini", ".cfg", ".conf", ".crt", ".p12", ".com", ".org", ".net", ".dev", ".php", ".html", ".tsx", ".png",
		".svg",
	} {
		if strings.EqualFold(v[i:], e) {
			return true
		}
	}
	return false
}

// isPublic reports whether a value has the form of what is no secret: a digest, a version, a date, a key that is public.
func isPublic(v string) bool {
	for _, p := range [...]string{
		"sha256:", "sha256-", "sha1-", "sha1:", "sha384-", "sha512-", "sha512:", "md5:", "ssh-rsa", "ssh-ed25519", "ecdsa-",
		"pk_live_", "pk_test_", "phc_", "pub_", "sb_publishable_", "$2a$", "$2b$", "$2y$", "$argon2", "pbkdf2", "urn:", "iVBORw0KGgo",
		"/9j/4AAQ", "R0lGOD",
		"UklGR",
	} {
		if hasFold(v, p) {
			return true
		}
	}
	if strings.IndexByte(v, '|') > 0 && slug(strings.ReplaceAll(v, "|", ".")) { // rules of a form
		return true
	}
	other := 0
	for i := range len(v) {
		if class[v[i]]&digit == 0 {
			other++
			if strings.IndexByte(".-:/TZ+", v[i]) < 0 {
				return false
			}
		}
	}
	return other > 0 || len(v) > 4 && allSame(v)
}

func allSame(v string) bool { return distinct(v) == 1 }

func isUUID(v string) bool {
	if len(v) != 36 {
		return false
	}
	for i := range len(v) {
		if isHyphen := i == 8 || i == 13 || i == 18 || i == 23; isHyphen != (v[i] == '-') || !isHyphen && class[v[i]|0x20]&hexLower == 0 && class[v[i]]&digit == 0 {
			return false
		}
	}
	return true
}

// isULID reports whether a value is an id that begins with a time, of 26 capitals and digits.
func isULID(v string) bool { return len(v) == 26 && count(v, inUpper) == len(v) && v[0] <= '7' }

// isCode reports whether a value without quotes is an expression: a call, an element, a member, a variable.
func isCode(v string, after between) bool {
	if strings.IndexByte("*&!", v[0]) >= 0 && trailing(v) > 2 && isStrong(v[1:]) {
		return false
	}
	if v[0] == ',' || v[0] == '*' && len(v) > 1 && isIdentifier(v[1:]) {
		return true
	}
	if open := strings.IndexAny(v, "([{"); open >= 0 && (open == 0 || isIdentifier(strings.ReplaceAll(v[:open], "::", "."))) {
		return true
	}
	if strings.HasSuffix(v, "()") || strings.HasPrefix(v, "&") || strings.HasPrefix(v, "!") && len(v) > 1 && isIdentifier(v[1:]) {
		return true
	}
	isAssigned := after == spaced || after == colon || after == equals
	if strings.IndexByte(v, '.') > 0 && isIdentifier(v) && class[v[0]]&letter != 0 && count(v, digit) <= 2 && isAssigned {
		return true
	}
	if after == spaced && isIdentifier(v) && (count(v, digit) == 0 || strings.IndexByte(v, '_') > 0 && count(v, digit) <= 2 || strengthOf(v) != nothing) {
		return true
	}
	return isAssigned && isIdentifier(v) && strengthOf(strings.TrimRight(v, "0123456789")) != nothing
}

// isIdentifier reports whether a value is names that dots join.
func isIdentifier(v string) bool {
	for i := range len(v) {
		if class[v[i]]&inName == 0 && (v[i] != '.' || i == 0) && (i < 1 || v[i] != '?') {
			return false
		}
	}
	return class[v[0]]&digit == 0
}

// isPhrase reports whether a value is a passphrase of small words.
func isPhrase(v string) bool {
	words := strings.Fields(v)
	if len(words) < 4 {
		return false
	}
	for _, w := range words {
		if count(w, lower) != len(w) || len(w) < 3 || isCommon(w) || isFunction(w) {
			return false
		}
	}
	return true
}

// isQuotedPhrase reports whether a value in quotes is some words, and no sentence.
func isQuotedPhrase(v string) bool {
	words := strings.Fields(v)
	if len(words) < 2 || len(words) > 8 {
		return false
	}
	for _, w := range words {
		if count(w, alnum) != len(w) || isCommon(w) || isFunction(strings.ToLower(w)) || strengthOf(w) != nothing {
			return false
		}
	}
	return len(words) > 2 || mixed(v)
}

// isFunction reports whether a word is one that sentences have and passphrases have not.
func isFunction(w string) bool {
	for _, x := range [...]string{
		"the", "and", "for", "you", "your", "are", "not", "has", "was", "can", "der", "die", "das", "ist", "und", "les", "des",
		"use", "enter", "please", "must", "new", "least",
	} {
		if w == x {
			return true
		}
	}
	return false
}

// mixed reports whether a value has letters and other characters, or capitals among its letters.
func mixed(v string) bool {
	letters, digits := count(v, letter), count(v, digit)
	others := len(v) - letters - digits
	for i := range len(v) {
		if v[i] >= 0x80 || strings.IndexByte("-_./", v[i]) >= 0 {
			others--
		}
	}
	return letters > 0 && digits > 0 || others > 0 && letters+digits > 0 || switches(v) >= 4 && len(v) >= 10 && !isCamel(v)
}

// isOdd reports whether a value is no word of any language: in prose, that is what shows a password.
func isOdd(v string) bool {
	if len(v) < 6 || !mixed(v) || isCommon(v) {
		return false
	}
	first := v
	if i := strings.IndexAny(v, "-_./"); i > 0 {
		first = v[:i]
	}
	if isCommon(first) || first == "tls" || first == "ssl" {
		return false
	}
	digits, letters := count(v, digit), count(v, letter)
	symbols := 0
	for i := range len(v) {
		if strings.IndexByte("!@#$%^&*+=~?", v[i]) >= 0 {
			symbols++
		}
	}
	isPlain := !slug(v) || digits > 2 && (!strings.ContainsAny(v, "-./:") || isCoined(v))
	return letters > 0 && digits > 0 && isPlain || symbols > 0 && letters >= 4 && (digits > 0 || symbols > 1 || class[v[len(v)-1]]&letter != 0)
}

// isCoined reports whether a value is words that hyphens join and a number, as people make passwords: one of the words has a capital.
func isCoined(v string) bool {
	return !strings.ContainsAny(v, "./:") && strings.Count(v, "-") > 1 && trailing(v) > 2 && count(v, upper) > 0 && count(v, lower) > 0
}

// isStrong reports whether a value has what rules for passwords ask for: three of small letters, capitals, digits and symbols.
func isStrong(v string) bool {
	kinds := 0
	for _, of := range [...]uint16{lower, upper, digit} {
		if count(v, of) > 0 {
			kinds++
		}
	}
	if strings.ContainsAny(v, "!@#$%^&*+=~?") {
		kinds++
	}
	return len(v) >= 8 && kinds >= 3 && isOdd(v)
}

// isRandom reports whether a value looks as if a machine drew it.
func isRandom(v string) bool {
	if len(v) < 16 || slug(v) || isUUID(v) {
		return false
	}
	digits, letters := count(v, digit), count(v, letter)
	return letters > 0 && (digits >= 2 || switches(v) >= 5 && !isCamel(v)) && distinct(v) >= 9 && changes(v)*6 >= len(v)
}

// isCamel reports whether letters are words that begin with capitals: small letters stand in longer runs than a machine draws.
func isCamel(v string) bool {
	small, runs := 0, 0
	for i := range len(v) {
		if class[v[i]]&lower != 0 {
			small++
			if i == 0 || class[v[i-1]]&lower == 0 {
				runs++
			}
		}
	}
	return runs > 0 && small*10 >= runs*27
}

// isNumber reports whether a value is a number, as programs write it.
func isNumber(v string) bool {
	for i := range len(v) {
		if class[v[i]]&digit == 0 && strings.IndexByte("+-.eE_", v[i]) < 0 {
			return false
		}
	}
	return true
}

// endsInDigest reports whether a value is a digest, or words and one.
func endsInDigest(v string) bool {
	last := v[strings.LastIndexAny(v, "-_./:")+1:]
	return len(last) >= 7 && count(last, hexLower) == len(last)
}

// changes is how often letters, capitals and digits follow each other.
func changes(v string) (n int) {
	const kinds = lower | upper | digit
	for i := 1; i < len(v); i++ {
		a, b := class[v[i-1]]&kinds, class[v[i]]&kinds
		if a != b && a != 0 && b != 0 {
			n++
		}
	}
	return n
}

// switches is how often the case of letters changes.
func switches(v string) (n int) {
	for i := 1; i < len(v); i++ {
		if class[v[i]]&upper != 0 && class[v[i-1]]&lower != 0 || class[v[i]]&lower != 0 && class[v[i-1]]&upper != 0 {
			n++
		}
	}
	return n
}

// slug reports whether a value is words and small numbers that punctuation joins.
func slug(v string) bool {
	parts, words := 0, 0
	for at := 0; at < len(v); {
		end := at
		for end < len(v) && strings.IndexByte("-_./:", v[end]) < 0 {
			end++
		}
		part := v[at:end]
		if part != "" {
			parts++
			letters := count(part, lower)
			capital := class[part[0]] & upper
			digits := trailing(part)
			switch {
			case letters == len(part), capital != 0 && letters == len(part)-1, count(part, upper) == len(part):
				if words++; len(part) > 20 {
					return false
				}
			case count(part, digit) == len(part) && len(part) <= 8:
			case digits <= 3 && letters+digits == len(part) && letters > 1:
				words++
			default:
				return false
			}
		}
		at = end + 1
	}
	return parts > 1 && words > 0
}

// trailing is how many digits a value ends with.
func trailing(v string) (n int) {
	for n < len(v) && class[v[len(v)-1-n]]&digit != 0 {
		n++
	}
	return n
}

func count(v string, of uint16) (n int) {
	for i := range len(v) {
		if class[v[i]]&of != 0 {
			n++
		}
	}
	return n
}
