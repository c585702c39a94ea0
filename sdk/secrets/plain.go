package secrets

import "strings"

// longestPlain is shorter than each token, in bytes.
const longestPlain = 15

// plain returns where a word of letters ends that neither is a secret nor tells of one, as most words of prose; 0: it may. It only saves time:
// all that is telling here is asked for again by word.
func plain(text string, i int) int {
	end := i
	for end < len(text) && class[text[end]]&letter != 0 {
		end++
	}
	if n := end - i; n < 2 || n > longestPlain || end < len(text) && class[text[end]]&joins != 0 {
		return 0
	}
	if end+1 < len(text) && strings.IndexByte("%!#$^&*+", text[end]) >= 0 && class[text[end+1]]&alnum != 0 {
		return 0
	}
	before := byte(0)
	if end-i > 2 {
		before = text[end-3]
	}
	if at := ending(before, text[end-2], text[end-1]); tellingEndings[at>>6]>>(at&63)&1 != 0 {
		return 0
	}
	return end
}

// ending is the number of three letters, whatever their case.
func ending(a, b, c byte) int { return int(a&31)<<10 | int(b&31)<<5 | int(c&31) }

// tellingWords are those that argument, scheme and meaningAt know beside those in named.
var tellingWords = [...]string{
	"chpasswd", "kinit", "cryptsetup", "smbpasswd", "vncpasswd", "stdin", "echo", "SecureString", "user", "basic", "htpasswd", "key", "auth",
	"priv", "mnemonic", "phrase", "login", "logon", "credential", "credentials", "creds", "account", "Zugangsdaten", "bearer", "by",
	"requirepass", "data", "passe", "splunk", "ssws", "GenieKey", "in", "code", "codes", "pgpass", "master", "words", "trezor", "ledger", "wallet", "metamask", "seed", "alias",
}

// tellingEndings has a bit for the last three letters of each word that tells of a secret.
var tellingEndings = endingsOf()

func endingsOf() (bits [1 << 15 / 64]uint64) {
	add := func(word string) {
		n := len(word)
		for a := range byte(32) {
			if n == 2 || a == word[n-3]&31 {
				at := ending(a, word[n-2], word[n-1])
				bits[at>>6] |= 1 << (at & 63)
			}
		}
	}
	for _, word := range tellingWords {
		add(word)
	}
	for _, n := range named {
		add(n.end)
	}
	return bits
}
