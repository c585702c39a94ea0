package secrets

import "strings"

// A code has so many digits.
const (
	shortestCode = 4
	longestCode  = 10
)

// openers are words before the number that opens something: a door, an account, a telephone. Those in capitals are so only in capitals.
var openers = [...]string{
	"pin", "tan", "otp", "2fa", "mfa", "mtan", "totp", "passcode", "sms", "alarm", "door", "gate", "garage", "locker", "lock",
	"padlock", "safe", "vault", "suitcase", "luggage",
	"lockbox", "keypad", "keybox", "combination", "combo", "unlock", "unlocks", "verification", "verify", "one-time", "onetime",
	"security", "login", "authenticator", "authentication", "confirmation",
	"entry", "access", "building", "disarm", "whatsapp", "signal", "bank", "pairing", "sign-in", "puk", "voicemail", "elevator",
	"entrance", "intercom",
	"bestätigungscode", "zugangscode", "türcode", "sicherheitscode", "einmalcode", "tür", "tresor", "alarmanlage", "schloss", "handy",
	"zahlenschloss", "geheimzahl", "haustür", "garage",
	"vérification", "digicode", "coffre", "porte", "código", "verificación", "puerta", "verificação", "cofre", "porta", "codice",
	"cassaforte", "kluis", "deur", "kode", "koden", "kod",
	"recovery", "backup",
}

// closers are words before a number that opens nothing.
var closers = [...]string{
	"error", "exit", "status", "zip", "postal", "area", "country", "http", "response", "return", "product", "booking", "promo",
	"discount", "coupon", "color", "colour", "line", "port",
	"pid", "issue", "pr", "ticket", "order", "invoice", "version", "page", "gpio", "board", "numpy", "header", "fehler", "fehlercode",
	"plz", "postleitzahl", "test", "tests", "example",
	"means", "keycode", "char", "ascii", "unicode", "opcode", "byte", "bytes", "kundennummer", "customer", "model", "part", "retcode",
	"min", "minutes", "seconds", "sec", "days", "since", "after", "in",
}

// coded adds the number at a place, if the words before it say that it opens something, and returns where it ends; 0: it is none.
func (f *finder) coded(i int) int {
	end, digits, groups := i, 0, 1
	for end < len(f.text) && end-i < 24 {
		c := f.text[end]
		if class[c]&digit != 0 {
			digits++
		} else if (c == '-' || c == ' ') && end+1 < len(f.text) && class[f.text[end+1]]&digit != 0 {
			groups++
		} else {
			break
		}
		end++
	}
	if digits < shortestCode || digits > longestCode || groups > 4 || end < len(f.text) && class[f.text[end]]&inName != 0 {
		return 0
	}
	if end+1 < len(f.text) && strings.IndexByte(".:/,-%°", f.text[end]) >= 0 && class[f.text[end+1]]&alnum != 0 || end < len(f.text) && strings.IndexByte("%/@(", f.text[end]) >= 0 {
		return 0
	}
	if groups > 1 && strings.IndexByte(f.text[i:end], ' ') >= 0 && digits != 6 && digits != 8 {
		return 0
	}
	if !f.isCode(i, end, groups) {
		return 0
	}
	if end < len(f.text) && f.text[end] == '#' {
		end++
	}
	f.add(Password, i, end)
	return end
}

// isCode reports whether the number from i to end opens something by the words of its sentence.
func (f *finder) isCode(i, end, groups int) bool {
	from := max(0, i-64)
	before := f.text[from:i]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	if at := strings.LastIndex(before, ". "); at >= 0 && !strings.Contains(before[at:], "ode") {
		before = before[at+2:]
	}
	words := strings.FieldsFunc(before, func(r rune) bool { return r < 0x80 && class[r]&alnum == 0 && r != '-' })
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	opens, code, joined := false, false, tells(last)&isLink != 0
	isNamed := strings.ContainsAny(before[max(0, len(before)-3):], ":=#")
	for n, word := range words {
		isLast := n == len(words)-1
		switch {
		case tells(word)&isCloser != 0:
			if n >= len(words)-4 {
				return false
			}
		case tells(word)&isOpener != 0:
			opens = true
			joined = joined || isLast && isNamed || isLast && !isOneOf(word, []string{"pin", "lock", "safe", "access", "bank", "entry", "login", "signal", "tan"}) || isLast && count(word, upper) == len(word) && len(word) > 2
		case strings.EqualFold(word, "code"), strings.EqualFold(word, "codes"), strings.HasSuffix(word, "code"):
			code = true
			joined = joined || isLast && (isNamed || opens || n > 0 && tells(words[n-1])&isOpener != 0)
		}
	}
	if !opens && !code {
		return false
	}
	said := tells(last)&isLink != 0
	after := f.text[end:min(len(f.text), end+behind)]
	isBehind := strings.Contains(after, "disarm") || strings.Contains(after, "expires") || strings.Contains(after, "valid") || strings.HasPrefix(after, "#")
	switch {
	case opens && (joined || said):
		return true
	case opens && code || isBehind && (opens || code):
		return true
	}
	return code && said && (end-i == 6 || end-i == 7 && groups == 2)
}

// linking are words between what a number opens and the number.
var linking = [...]string{"is", "are", "was", "ist", "lautet", "est", "es", "é", "è", "with", "mit", "to", "now", "still", "jetzt", "sind", "=", "be", "auf", "code", "number", "er", "är", "to"}
