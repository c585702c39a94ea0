package secrets

import "strings"

// argument looks for a secret that the words of a command, or of a sentence about an account, place after the word from i to end, and returns
// where to go on; 0: there is none.
func (f *finder) argument(name string, i, end int) int {
	if end < len(f.text) && (f.text[end] == '(' || f.text[end] == '=') && isOneOf(name, authenticating[:]) {
		return f.call(end)
	}
	switch name {
	case "chpasswd", "kinit", "cryptsetup", "smbpasswd", "vncpasswd", "stdin":
		f.piped(i)
	case "echo":
		return f.echoed(i, end)
	case "SecureString":
		return f.literal(end)
	case "change_password", "add_user":
		if strings.Contains(f.lineBefore(i), "rabbitmqctl") {
			return f.after(f.skipWord(end))
		}
	case "user":
		if i > 0 && f.text[i-1] == '/' && end < len(f.text) && f.text[end] == ':' || strings.HasSuffix(f.text[:i], "net ") {
			return f.after(f.skipWord(end))
		}
	case "basic":
		if strings.HasSuffix(f.text[:i], "http-") && end < len(f.text) && f.text[end] == '.' { // composer
			return f.after(f.skipWord(f.skipWord(end)))
		}
	case "htpasswd":
		if strings.HasPrefix(f.text[end:], " -b") || strings.HasPrefix(f.text[end:], " -nb") {
			return f.after(f.skipWord(f.skipWord(f.skipWord(end))))
		}
	case "key", "auth", "priv":
		if line := f.lineBefore(i); strings.Contains(line, "radius") || strings.Contains(line, "tacacs") || strings.Contains(line, "snmp") {
			return f.gear(end)
		}
	case "mnemonic", "phrase":
		if stop := f.mnemonic(name, i, end); stop > 0 {
			return stop
		}
		return f.seedWords(end)
	case "words", "trezor", "ledger", "wallet", "metamask", "seed":
		return f.seedWords(end)
	case "alias":
		if strings.HasSuffix(f.text[:i], "mc ") && strings.HasPrefix(f.text[end:], " set ") {
			return f.after(f.skipWord(f.skipWord(f.skipWord(f.skipWord(end)))))
		}
	case "codes", "code":
		return f.recoveryCodes(i, end)
	case "pgpass":
		f.pgpass(i)
	case "in":
		if strings.HasSuffix(f.text[:i], "og ") || strings.HasSuffix(f.text[:i], "ign ") {
			return f.account(end)
		}
	case "login", "Login", "logon", "credential", "credentials", "Credentials", "creds", "Creds", "account", "Zugangsdaten":
		return f.account(end)
	}
	return 0
}

// literal adds the string in quotes after a place, and returns where it ends; 0: there is none.
func (f *finder) literal(at int) int {
	at = skipBlanks(f.text, at, len(f.text))
	if strings.HasPrefix(f.text[at:], "-String ") {
		at += len("-String ")
	}
	s, ok := f.opened(at, site{after: flag})
	if !ok {
		return 0
	}
	end := f.endOf(s)
	if v := f.text[s.at:end]; len(v) < 6 || standsFor(v) || isPath(v) || v[0] == '-' || s.quote == 0 && !mixed(v) {
		return 0
	}
	f.add(Password, s.at, end)
	return end
}

// authenticating are functions and parameters that take a password or a key after another argument.
var authenticating = [...]string{
	"login", "auth", "authenticate", "signin", "NetworkCredential", "PasswordAuthentication", "HTTPBasicAuth", "BasicAuth", "SetBasicAuth", "PDO", "connect",
	"mysqli", "mysqli_connect", "sign", "createHmac", "basic_auth", "UsernamePasswordCredentials", "PasswordCredential",
}

// mostArguments bounds how much of a call is looked at, in bytes.
const mostArguments = 256

// call adds the last literal of a call, or of a pair, that looks like a password and is not its first argument. It returns where the literal ends.
func (f *finder) call(end int) int {
	at := end
	if f.text[at] == '=' {
		at++
	}
	if at >= len(f.text) || f.text[at] != '(' {
		return 0
	}
	most, argument, start, stop := min(len(f.text), at+mostArguments), 0, 0, 0
	for at++; at < most && f.text[at] != '\n' && f.text[at] != ')'; at++ {
		switch c := f.text[at]; c {
		case ',':
			argument++
		case '"', '\'', '`':
			close := strings.IndexByte(f.text[at+1:most], c)
			if close < 0 {
				at = most
				break
			}
			v := f.text[at+1 : at+1+close]
			if argument > 0 && len(v) >= 8 && strings.IndexByte(v, ' ') < 0 && !standsFor(v) && !isPath(v) && !isPublic(v) && (isOdd(v) || isRandom(v) || isMade(v)) {
				start, stop = at+1, at+1+close
			}
			at += close + 1
		}
	}
	if stop == 0 {
		return 0
	}
	f.add(Password, start, stop)
	return stop
}

// gear adds the first of the next words that looks like a password, as after auth sha, and returns where it ends; 0: none does.
func (f *finder) gear(end int) int {
	for range 3 {
		start := skipBlanks(f.text, end, len(f.text))
		end = f.skipWord(start)
		if v := f.text[start:end]; len(v) >= 8 && isOdd(v) && !standsFor(v) && !isPath(v) {
			f.add(Password, start, end)
			return end
		}
	}
	return 0
}

// here adds the password of a string that a command reads: kinit jane <<< …
func (f *finder) here(i int) int {
	line := f.lineBefore(i)
	for _, command := range [...]string{"kinit", "passwd", "cryptsetup", "login", "sudo -S"} {
		if strings.Contains(line, command) {
			if stop := f.after(i + len("<<<")); stop > 0 {
				return stop
			}
			break
		}
	}
	return i + len("<<<")
}

// echoed adds the password that echo gives to a command that takes one, and returns where it ends; 0: it gives none.
func (f *finder) echoed(i, end int) int {
	line := f.text[max(0, i-nearby):min(len(f.text), end+2*nearby)]
	takes := false
	for _, word := range [...]string{"pass", "sudo -S", "login", "secret"} {
		takes = takes || strings.Contains(line, word)
	}
	if !takes {
		return 0
	}
	if strings.HasPrefix(f.text[end:], " -n") {
		end += len(" -n")
	}
	s, ok := f.opened(end, site{after: flag})
	if !ok || s.at == end {
		return 0
	}
	stop := f.endOf(s)
	if v := f.text[s.at:stop]; v == "" || standsFor(v) || isPath(v) || !isStrong(v) {
		return 0
	}
	f.add(Password, s.at, stop)
	return stop
}

// userinfo adds the password of USER:PASSWORD@HOST without a scheme, or of Oracle's USER/PASSWORD@DATABASE; the at sign is at a place.
func (f *finder) userinfo(i int) {
	start := i
	if line := f.lineBefore(i); strings.Contains(line, "sqlplus ") || strings.Contains(line, "sqlldr ") || strings.Contains(line, "expdp ") {
		f.oracle(i)
		return
	}
	for start > 0 && i-start < 128 && f.text[start-1] > ' ' && strings.IndexByte("\"'`/<>()[]{}=,;", f.text[start-1]) < 0 {
		start--
	}
	sep := strings.LastIndexByte(f.text[start:i], ':')
	if n := len(f.found); sep < 1 || i+1 >= len(f.text) || class[f.text[i+1]]&letter == 0 || n > 0 && f.found[n-1].End > start+sep {
		return
	}
	v := f.text[start+sep+1 : i]
	host := f.text[i+1 : run(f.text, i+1, inDotted)]
	isAddress := strings.IndexByte(host, '.') > 0 || strings.HasPrefix(f.text[i+1:], "tcp(") || strings.HasPrefix(f.text[i+1:], "unix(")
	if isAddress && len(v) >= 6 && isOdd(v) && !standsFor(v) {
		f.add(URLPassword, start+sep+1, i)
	}
}

// recoveryCodes adds the codes that follow their name, each a word with digits or a group of them, and returns where they end; 0: none does.
func (f *finder) recoveryCodes(i, end int) int {
	if before, ok := wordBefore(f.text, i); !ok || !isOneOf(before, []string{"recovery", "backup", "scratch"}) {
		return 0
	}
	line := f.text[end:min(len(f.text), end+nearby)]
	at := strings.IndexAny(line, ":=\n")
	if is := strings.Index(line, " is "); is >= 0 && (at < 0 || is < at) {
		at = is + len(" is")
	}
	if at < 0 {
		return 0
	}
	start, stop, codes := end+at+1, 0, 0
	for start < len(f.text) && f.text[start] <= ' ' {
		start++
	}
	for next := start; next < len(f.text) && codes < 2*shortestMnemonic; codes++ {
		word := next
		for next < len(f.text) && class[f.text[next]]&inToken != 0 {
			next++
		}
		if next-word < 4 || count(f.text[word:next], digit) == 0 {
			break
		}
		stop = next
		for next < len(f.text) && strings.IndexByte(" \r\n\t,", f.text[next]) >= 0 {
			next++
		}
	}
	if stop-start < shortestTail && stop-start != len("1234 5678") && stop-start < 2*len("1234-5678") {
		return 0
	}
	f.add(Password, start, stop)
	return stop
}

// pgpass adds the last of the five fields of a line that names its file: HOST:PORT:DATABASE:USER:PASSWORD.
func (f *finder) pgpass(i int) {
	line := f.lineBefore(i)
	entry, _, _ := strings.Cut(line, " ")
	fields := strings.SplitN(entry, ":", 5)
	n := len(f.found)
	if len(fields) < 5 || len(fields[4]) < 4 || standsFor(fields[4]) || count(fields[1], digit) != len(fields[1]) {
		return
	}
	end := i - len(line) + len(entry)
	if start := end - len(fields[4]); n == 0 || f.found[n-1].End <= start {
		f.add(Password, start, end)
	}
}

// skipWord returns where the word ends that a place is in, or is before.
func (f *finder) skipWord(at int) int {
	at = skipBlanks(f.text, at, len(f.text))
	for n := 0; at < len(f.text) && f.text[at] > ' ' && n < longestName; n++ {
		at++
	}
	return at
}

// after adds the password that follows a place, and returns where it ends; 0: it is none.
func (f *finder) after(at int) int {
	if at >= len(f.text) || f.text[at] != ' ' {
		return 0
	}
	s, ok := f.opened(at, site{after: flag})
	if !ok {
		return 0
	}
	end := f.endOf(s)
	if v := f.text[s.at:end]; len(v) < 4 || standsFor(v) || isPath(v) || v[0] == '-' || !mixed(v) {
		return 0
	}
	f.add(Password, s.at, end)
	return end
}

// oracle adds the password of USER/PASSWORD@DATABASE; the at sign is at a place.
func (f *finder) oracle(i int) {
	start := i
	for start > 0 && i-start < 128 && f.text[start-1] > ' ' {
		start--
	}
	sep := strings.IndexByte(f.text[start:i], '/')
	if n := len(f.found); sep < 1 || n > 0 && f.found[n-1].End > start+sep {
		return
	}
	if v := strings.Trim(f.text[start+sep+1:i], "\"'"); len(v) >= 4 && !standsFor(v) {
		f.add(Password, start+sep+1, i)
	}
}

// piped adds the password of echo USER:PASSWORD | chpasswd, or of echo PASSWORD | kinit.
func (f *finder) piped(i int) {
	line := f.lineBefore(i)
	_, rest, ok := strings.Cut(line, "echo ")
	if !ok || strings.IndexByte(rest, '|') < 0 {
		return
	}
	s, ok := f.opened(i-len(rest), site{after: flag})
	if !ok {
		return
	}
	end := f.endOf(s)
	start := s.at
	if name, _, ok := strings.Cut(f.text[s.at:end], ":"); ok {
		start += len(name) + 1
	}
	v := f.text[start:end]
	if n := len(f.found); len(v) >= 4 && !standsFor(v) && (start > s.at || isOdd(v)) && (n == 0 || f.found[n-1].End <= start) {
		f.add(Password, start, end)
	}
}

// A mnemonic has 12 to 24 words.
const shortestMnemonic = 12

// mnemonic adds the words of a wallet that follow a colon or a quote soon after its name, and returns where they end; 0: there are none.
func (f *finder) mnemonic(name string, i, end int) int {
	if name == "phrase" {
		before, ok := wordBefore(f.text, i)
		if !ok || !isOneOf(before, []string{"seed", "recovery", "backup", "secret", "mnemonic"}) {
			return 0
		}
	}
	near := f.text[end:min(len(f.text), end+48)]
	at := strings.IndexAny(near, ":=\"'`")
	if at < 0 || strings.IndexByte(near[:at], '\n') >= 0 {
		return 0
	}
	start := end + at
	for start < len(f.text) && strings.IndexByte(" :=\"'`\n", f.text[start]) >= 0 {
		start++
	}
	words, stop := 0, start
	for stop < len(f.text) && words < 24 {
		next := stop
		for next < len(f.text) && class[f.text[next]]&lower != 0 {
			next++
		}
		if n := next - stop; n < 3 || n > 8 || isOneOf(f.text[stop:next], []string{"the", "and", "for", "with", "from", "was", "are"}) {
			break
		}
		words++
		end = next
		if stop = next; stop < len(f.text) && f.text[stop] == ' ' {
			stop++
		}
	}
	if words < shortestMnemonic {
		return 0
	}
	f.add(PrivateKey, start, end)
	return end
}

// seedWords adds the words of a wallet that follow soon after a place, twelve at least, and returns where they end; 0: there are none.
func (f *finder) seedWords(at int) int {
	const soon = 8 // words
	for range soon {
		for at < len(f.text) && strings.IndexByte(" :=\"'`,\n(-", f.text[at]) >= 0 {
			at++
		}
		words, end := 0, at
		for next := at; next < len(f.text) && words < 24; words++ {
			stop := next
			for stop < len(f.text) && stop-next < 10 && class[f.text[stop]]&lower != 0 {
				stop++
			}
			if n := stop - next; n < 3 || n > 8 || isFunction(f.text[next:stop]) || isOneOf(f.text[next:stop], []string{"order", "from", "with", "this", "that", "have", "they", "were", "will"}) {
				break
			}
			end = stop
			if next = stop; next < len(f.text) && f.text[next] == ' ' {
				next++
			}
		}
		if words >= shortestMnemonic {
			f.add(PrivateKey, at, end)
			return end
		}
		if at = f.skipWord(at); at >= len(f.text) || f.text[at] != ' ' {
			return 0
		}
	}
	return 0
}

// account adds the password of what a login is: jane / PASSWORD, or jane:PASSWORD. It returns where it ends; 0: there is none.
func (f *finder) account(end int) int {
	at := end
	for _, word := range [...]string{" is ", " are ", ": ", "=", " with ", " = "} {
		if strings.HasPrefix(f.text[end:], word) {
			at = end + len(word)
			break
		}
	}
	if at == end {
		if end < len(f.text) && f.text[end] == ' ' && !strings.EqualFold(f.text[max(0, end-len("account")):end], "account") { // login TOKEN
			start := end + 1
			stop := run(f.text, start, alnum)
			if v := f.text[start:stop]; len(v) >= 32 && isRandom(v) && (stop == len(f.text) || f.text[stop] <= ' ') {
				f.add(Token, start, stop)
				return stop
			}
		}
		return 0
	}
	stop := at
	for stop < len(f.text) && stop-at < longestName && f.text[stop] > ' ' && strings.IndexByte("/:,", f.text[stop]) < 0 {
		stop++
	}
	if stop == at || strings.HasPrefix(f.text[stop:], "://") {
		return 0
	}
	rest := strings.TrimLeft(f.text[stop:min(len(f.text), stop+3)], " ")
	if rest == "" || rest[0] != '/' && rest[0] != ':' {
		return 0
	}
	start := strings.IndexByte(f.text[stop:], rest[0]) + stop + 1
	s, ok := f.opened(start, site{after: verb})
	if !ok {
		return 0
	}
	last := f.endOf(s)
	v := trimmed(f.text[s.at:last])
	if v == "" || standsFor(v) || isPath(v) || isCode(v, verb) || !isOdd(v) {
		return 0
	}
	f.add(Password, s.at, s.at+len(v))
	return s.at + len(v)
}
