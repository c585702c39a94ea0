package secrets

import "strings"

// crypts are the beginnings of hashes of passwords: who has one can guess the password.
var crypts = [...]string{"$1$", "$5$", "$6$", "$y$", "$7$", "$apr1$", "$2a$", "$2b$", "$2y$", "$argon2", "$pbkdf2", "$scrypt$", "$P$", "$H$", "$sha1$", "{SHA}", "{SSHA}", "{SSHA512}", "{SHA512}", "{CRYPT}", "{MD5}", "{SMD5}"}

// crypt adds the hash of a password at a place, and returns where it ends; 0: it is none. What a field is named that holds hashes is left, as a
// developer shows its form: password_hash: $2b$…
func (f *finder) crypt(i int) int {
	rest := f.text[i:min(len(f.text), i+512)]
	for _, begin := range crypts {
		if !strings.HasPrefix(rest, begin) {
			continue
		}
		end := len(begin)
		for end < len(rest) && (class[rest[end]]&(inBase64|inDotted) != 0 || strings.IndexByte("$,", rest[end]) >= 0) {
			end++
		}
		if end-len(begin) < 20 || strings.Contains(strings.ToLower(f.lineBefore(i)), "hash") || isSample(rest[len(begin):end]) {
			return 0
		}
		f.add("password-hash", i, i+end)
		return i + end
	}
	return 0
}

// colons adds the last field of a line of HOST:PORT:DATABASE:USER:PASSWORD that begins at a place, and returns where it ends; 0: it is none.
func (f *finder) colons(i int) int {
	line := f.text[i:min(len(f.text), i+256)]
	if n := strings.IndexAny(line, " \t\r\n"); n >= 0 {
		line = line[:n]
	}
	fields := strings.SplitN(line, ":", 5)
	if len(fields) < 5 || fields[1] == "" || fields[1] != "*" && count(fields[1], digit) != len(fields[1]) || len(fields[4]) < 6 || standsFor(fields[4]) || strings.Contains(line, "//") {
		return 0
	}
	if !mixed(fields[4]) || strings.ContainsAny(fields[4], ":/") || fields[2] == "" || class[fields[2][0]]&letter == 0 && fields[2] != "*" {
		return 0
	}
	end := i + len(line)
	f.add(Password, end-len(fields[4]), end)
	return end
}

// option adds the value of an option of Windows at a place, as /p:PASSWORD, and returns where it ends; 0: it is none.
func (f *finder) option(i int) int {
	for _, name := range [...]string{"/p:", "/rp:", "/pw:", "/pwd:"} {
		if !hasFold(f.text[i:], name) {
			continue
		}
		s, ok := f.opened(i+len(name), site{after: flag})
		if !ok {
			return 0
		}
		end := f.endOf(s)
		if v := f.text[s.at:end]; len(v) < 6 || !mixed(v) || standsFor(v) || isPath(v) {
			return 0
		}
		f.add(Password, s.at, end)
		return end
	}
	return 0
}

// groupedCode adds a key in groups that hyphens join, of a known form or after a word that tells: those of BitLocker, of FileVault, of licenses, of
// recovery, of an application. It returns where the key ends; 0: it is none.
func (f *finder) groupedCode(i int) int {
	end := run(f.text, i, inToken)
	v := strings.TrimRight(f.text[i:end], "-")
	groups := strings.Split(v[:min(len(v), 96)], "-")
	if len(v) < 9 || len(v) > 71 || len(groups) < 2 || !f.standsAlone(i, i+len(v)) {
		return 0
	}
	size := len(groups[0])
	for _, g := range groups {
		if len(g) != size || count(g, alnum) != size {
			return 0
		}
	}
	digits, small, capital := count(v, digit), count(v, lower), count(v, upper)
	isBitLocker := size == 6 && len(groups) == 8 && small+capital == 0
	isLow := small > 0 && capital == 0 && (digits > 0 || isUnspoken(strings.ReplaceAll(v, "-", "")))
	isHigh := capital > 0 && small == 0 && digits > 0
	if size < 4 || size > 8 || !isBitLocker && !isLow && !isHigh {
		return 0
	}
	words := []string{"recovery", "backup", "scratch", "license", "licence", "product", "filevault", "bitlocker", "activation", "key", "app-specific", "lizenz", "lizenzschlüssel", "code", "codes", "reset"}
	if isLow {
		words = append(words, "apple", "app", "icloud", "notarytool", "altool", "google", "gmail")
	}
	if !isBitLocker && !f.isAfter(i, words) && !(len(groups) == 6 && size == 4 && isHigh) {
		return 0
	}
	f.add(Password, i, i+len(v))
	return i + len(v)
}

// isAfter reports whether a word of a list is close before a place on its line, or after it.
func (f *finder) isAfter(i int, list []string) bool {
	from := max(0, i-nearby)
	before := f.text[from:i]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	for _, word := range strings.FieldsFunc(before, func(r rune) bool { return r < 0x80 && class[r]&alnum == 0 && r != '-' }) {
		switch {
		case isOneOf(word, []string{"serial", "order", "tracking", "id", "ticket", "public", "commit", "model", "sticker"}):
			return false
		case isOneOf(word, list):
			return true
		}
	}
	return false
}

// wifi adds the password of a network that a code for cameras has, WIFI:T:WPA;S:NAME;P:PASSWORD;;, and returns where it ends; 0: it has none.
func (f *finder) wifi(i int) int {
	rest := f.text[i:min(len(f.text), i+256)]
	at := strings.Index(rest, ";P:")
	if !strings.HasPrefix(rest, "WIFI:") || at < 0 || strings.IndexByte(rest[:at], '\n') >= 0 {
		return 0
	}
	start := i + at + len(";P:")
	end := start
	for end < len(f.text) && f.text[end] != ';' && f.text[end] > ' ' {
		end++
	}
	if end-start < 4 || standsFor(f.text[start:end]) {
		return 0
	}
	f.add(Password, start, end)
	return end
}

// userColon adds the password of USER:PASSWORD where words before it say that it is one: basic auth = …, creds: …. It returns where it ends; 0: there is none.
func (f *finder) userColon(i, end int) int {
	if end-i > 32 || end >= len(f.text) || f.text[end] != ':' || end+1 >= len(f.text) || f.text[end+1] <= ' ' {
		return 0
	}
	s := site{at: end + 1, after: verb}
	stop := run(f.text[:min(len(f.text), s.at+longestPhrase+1)], s.at, inName)
	if stop-s.at <= longestPhrase {
		stop = f.endOf(s)
	}
	v := trimmed(f.text[s.at:stop])
	if len(v) < 6 || len(v) > longestPhrase || standsFor(v) || isPath(v) || isPublic(v) || isNumber(v) || strings.ContainsAny(v, "/:(") || strengthOf(f.text[i:end]) != nothing {
		return 0
	}
	isLikely := isOdd(v) || isMade(v) || isRandom(v)
	if !isLikely && count(v, lower) == len(v) {
		isLikely = isUnspoken(v) && f.isAfter(i, []string{"auth", "creds", "credentials"})
	}
	isDrawnValue := isDrawn(v) && count(f.text[i:end], letter) == end-i && f.standsAlone(i, s.at+len(v))
	if !isLikely || !isDrawnValue && !f.isAfter(i, []string{"auth", "creds", "credentials", "login", "logins", "cred", "basic", "account", "user", "credential", "zugangsdaten"}) {
		return 0
	}
	if n := f.nearTo(i, s.at+len(v)); isDrawnValue && n.innocent {
		return 0
	}
	f.add(Password, s.at, s.at+len(v))
	return s.at + len(v)
}
