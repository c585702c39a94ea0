package secrets

import "strings"

// dash looks for a private key, or for a password that follows an option of one letter.
func (f *finder) dash(i int) int {
	text := f.text
	if strings.HasPrefix(text[i:], "-----BEGIN ") {
		if end := f.privateKey(i); end > 0 {
			f.add(PrivateKey, i, end)
			return end
		}
		return i + len("-----BEGIN ")
	}
	if i+3 >= len(text) || i > 0 && text[i-1] != ' ' {
		return i + 1
	}
	start := i + 2
	switch option := text[i+1]; {
	case option == '-' && optionOf(text[start:], users[:]) > 0:
		return f.userAndPassword(i, start+optionOf(text[start:], users[:]))
	case option == 'u':
		return f.userAndPassword(i, start)
	case option == 'U':
		return f.userAndPassword(i, start)
	case option != 'p' && option != 'a' && option != 'w' && option != 'P' && option != 'N' && option != 'k' && option != 'A' && option != 'X':
		return i + 1
	case !takesPassword(f.lineBefore(i), option, text[start] == ' '):
		return i + 1
	}
	s, ok := f.opened(start, site{after: flag})
	if !ok {
		return i + 1
	}
	end := f.endOf(s)
	v := text[s.at:end]
	if len(v) < 4 || standsFor(v) || isPath(v) || v[0] == '-' && s.quote == 0 {
		return i + 1
	}
	f.add(Password, s.at, end)
	return end
}

// users are options that take USER:PASSWORD.
var users = [...]string{"user", "auth", "userpwd", "proxy-user", "credentials", "credential", "basic-auth", "basic", "userpass", "login", "creds", "user-pass"}

// optionOf is where the value of an option begins that a text begins with; 0: it is none of a list.
func optionOf(text string, list []string) int {
	for _, name := range list {
		if len(text) > len(name) && strings.HasPrefix(text, name) && strings.IndexByte(" =", text[len(name)]) >= 0 {
			return len(name) + 1
		}
	}
	return 0
}

// userAndPassword looks for the password of an option -u USER:PASSWORD.
func (f *finder) userAndPassword(i, at int) int {
	s, ok := f.opened(at, site{after: flag})
	if !ok {
		return i + 1
	}
	by := ""
	line := f.lineBefore(i)
	if f.text[i+1] == '-' {
		by = ":"
	}
	for _, of := range [...][2]string{{"lftp", ","}, {"smbclient", "%"}, {"rpcclient", "%"}, {"smbmap", "%"}, {"curl", ":"}, {"http", ":"}, {"wget", ":"}, {"jira", ":"}, {"api", ":"}} {
		if strings.Contains(line, of[0]) {
			by = of[1]
			break
		}
	}
	if by == "" || f.text[i+1] == 'U' && by != "%" {
		return i + 1
	}
	end := f.endOf(s)
	name, v, ok := strings.Cut(f.text[s.at:end], by)
	if ok && len(v) < 2 && isRandom(name) { // the key stands for the user
		f.add(Password, s.at, s.at+len(name))
		return end
	}
	if !ok || len(v) < 4 || standsFor(v) || name != "" && f.text[i+1] == '-' && !isOdd(v) && !mixed(v) {
		return i + 1
	}
	f.add(Password, s.at+len(name)+1, end)
	return end
}

// lineBefore is what is before a place in its line, of a bounded length.
func (f *finder) lineBefore(i int) string {
	from := max(0, i-256)
	return f.text[from+strings.LastIndexByte(f.text[from:i], '\n')+1 : i]
}

// takesPassword reports whether the option of a command is a password.
func takesPassword(line string, option byte, apart bool) bool {
	has := func(names ...string) bool {
		for _, n := range names {
			if strings.Contains(line, n) {
				return true
			}
		}
		return false
	}
	switch option {
	case 'p':
		return has("sshpass", " login", "mongo", "twine ", "cqlsh", "beeline", "rdesktop", "psexec", "evil-winrm", "crackmapexec", "netexec", "nxc ", "vncdo", "ncftp", "xfreerdp", "mosquitto_passwd") ||
			!apart && has("mysql", "mariadb", "7z ", "7za ", "unrar ", "rar ")
	case 'k':
		return has("openssl enc", "openssl aes", "openssl des")
	case 'A', 'X':
		return has("snmpget", "snmpwalk", "snmpset", "snmpbulk")
	case 'N':
		return has("ssh-keygen")
	case 'P':
		return has("sqlcmd", "bcp ", "mosquitto", "ipmitool", "zip ")
	case 'a':
		return has("redis-cli")
	}
	return has("ldapsearch", "ldapmodify")
}

// longestKey bounds the lines of a private key, in bytes; those of RSA with 16,384 bits have 13,000.
const longestKey = 16 << 10

// privateKey is where the private key ends that begins at a place; 0: it is none, or only the form of one.
func (f *finder) privateKey(i int) int {
	text := f.text
	head := text[i:min(len(text), i+80)]
	label := strings.Index(head, "PRIVATE KEY")
	if label < 0 || strings.IndexByte(head[:label], '\n') >= 0 {
		return 0
	}
	body := i + label + len("PRIVATE KEY")
	text = text[:min(len(text), body+longestKey)]
	end, after := len(text), len(text)
	if n := strings.Index(text[body:], "-----END "); n >= 0 {
		end = body + n
		after = end + len("-----END ")
		if n := strings.Index(text[after:min(len(text), after+64)], "-----"); n >= 0 {
			after += n + len("-----")
		}
	}
	if n, inside := strings.Index(text[body:end], "-----BEGIN "), body; n >= 0 {
		end = inside + n
		after = end
	}
	drawn, seen := 0, [256]bool{}
	for _, c := range []byte(text[body:end]) {
		if class[c]&inBase64 != 0 {
			drawn++
			seen[c] = true
		}
	}
	kinds := 0
	for _, was := range seen {
		if was {
			kinds++
		}
	}
	if drawn < 48 || kinds < 16 {
		return 0
	}
	if after == len(text) && end == len(text) { // it is cut: what may be its lines
		return body + keyLines(text[body:])
	}
	return after
}

// keyLines is how much of a text may be the lines of a key: until a line has words.
func keyLines(text string) int {
	at := 0
	for at < len(text) {
		line := text[at:]
		if n := strings.IndexByte(line, '\n'); n >= 0 {
			line = line[:n+1]
		}
		if at > 0 && strings.Count(strings.TrimSpace(line), " ") > 2 {
			break
		}
		at += len(line)
	}
	return at
}

// url looks for the password in a URL, and returns where to go on.
func (f *finder) url(i int) int {
	text, start := f.text, i+len("://")
	end := start
	at, sep := -1, -1
	for ; end < len(text) && end-start < 1024; end++ {
		c := text[end]
		if c <= ' ' || strings.IndexByte("\"'`<>\\", c) >= 0 || at >= 0 && (c == '/' || c == '?' || c == '#') {
			break
		}
		if c == '@' {
			at = end
		}
		if c == ':' && sep < 0 {
			sep = end
		}
		if at < 0 && c == '/' && sep >= 0 && count(text[sep+1:end], digit) == end-sep-1 {
			break
		}
		if at < 0 && (c == '/' || c == '?') && (sep < 0 || !strings.Contains(text[end:min(len(text), end+64)], "@") || c == '?') {
			break
		}
	}
	if at >= 0 && sep < 0 && isRandom(text[start:at]) && strings.IndexByte(text[start:at], '.') < 0 { // a token alone
		f.add(URLPassword, start, at)
		return at
	}
	if at < 0 || sep < 0 || sep >= at {
		if _, known := tokenAt(text, start); at < 0 && known == 0 {
			return max(start, f.linked(start))
		}
		return start
	}
	v := text[sep+1 : at]
	if strings.IndexByte(v, '@') >= 0 && strings.Contains(v, "://") || len(v) < 3 || standsFor(v) || isUserName(v) || strings.Contains(v, ",") && strings.Contains(v, ":") {
		return start
	}
	if v == text[start:sep] && count(v, lower) == len(v) { // as it is installed
		return start
	}
	f.add(URLPassword, sep+1, at)
	return at
}

// isUserName reports whether what stands for a password in a URL is the word for one.
func isUserName(v string) bool {
	for _, w := range [...]string{"pass", "pwd", "passwd", "pw", "password", "pass123word", "passphrase"} {
		if strings.EqualFold(v, w) {
			return true
		}
	}
	return v[0] == ':' || count(v, upper) == len(v) && strengthOf(v) != nothing
}

// scheme looks for the secret after the word of an authorization, or after SQL's IDENTIFIED BY.
func (f *finder) scheme(word string, end int) (start, stop int, kind Kind) {
	text := f.text
	switch {
	case len(word) == 6 && endsIn(word, "bearer"):
		kind = Bearer
	case len(word) == 5 && endsIn(word, "basic"), (word == "Splunk" || word == "SSWS" || word == "GenieKey") && strings.HasSuffix(text[:end-len(word)], "uthorization: "):
		kind = Bearer
	case len(word) == 2 && endsIn(word, "by") && strings.HasSuffix(strings.ToUpper(text[max(0, end-13):end]), "IDENTIFIED BY"):
		kind = Password
	case len(word) == 11 && endsIn(word, "requirepass"):
		kind = Password
	default:
		return 0, 0, ""
	}
	s, ok := f.opened(end, site{after: flag})
	if !ok || s.at == end {
		return 0, 0, ""
	}
	stop = f.endOf(s)
	if s.quote == 0 {
		stop = s.at + len(trimmed(text[s.at:stop]))
	}
	v := text[s.at:stop]
	switch {
	case len(v) < 4 || standsFor(v) || isPath(v) || !mixed(v):
		return 0, 0, ""
	case kind == Bearer && (len(v) < 12 || isPair(v) || slug(v) || strings.IndexByte(v, ' ') >= 0 || strings.IndexByte(v, '(') >= 0):
		return 0, 0, ""
	}
	return s.at, stop, kind
}
