package secrets

import "strings"

// value is the value of a name.
type value struct {
	kind       Kind
	start, end int
}

// between is what stands between a name and its value.
type between uint8

const (
	colon   between = iota
	equals          // and the like
	spaced          // an equals sign between blanks: perhaps code
	verb            // is, or the like
	flag            // the blank after an option of a command
	blank           // any other blank
	call            // an opening parenthesis
	element         // the end of a tag of XML
	aside           // a comma in prose
)

// site is where the value of a name begins.
type site struct {
	at    int
	after between
	quote byte // 0: none
	line  bool // the name is the first word of its line
}

const (
	longestGap   = 24 // between a name and its value
	longestValue = 4096
)

// valueOf returns the value of the name from i to j, if it is a secret.
func (f *finder) valueOf(i, j int, m meaning) (value, bool) {
	if v, ok := f.grouped(j, m); ok {
		return v, true
	}
	if v, ok := f.valueAt(i, j, m); ok {
		return v, true
	}
	if v, ok := f.saidBehind(j, m); ok {
		return v, true
	}
	return f.saidBefore(i, m)
}

// grouped looks near a name for a key that is shown in groups of four small letters or digits, as those of applications and of authenticators.
func (f *finder) grouped(j int, m meaning) (value, bool) {
	const group, least = 4, 4
	line := f.text[j:min(len(f.text), j+nearby)]
	if line, _, _ = strings.Cut(line, "\n"); m.strength == digits {
		return value{}, false
	}
	for _, sign := range [...]string{" is ", ": ", "= ", "=\"", ": \""} {
		_, after, ok := strings.Cut(line, sign)
		if !ok {
			continue
		}
		start := j + len(line) - len(after)
		end, groups := start, 0
		for at := start; run(f.text, at, lower|digit) == at+group; {
			groups++
			if end = at + group; end >= len(f.text) || f.text[end] != ' ' {
				break
			}
			at = end + 1
		}
		if groups >= least && isUnspoken(f.text[start:end]) && (end == len(f.text) || class[f.text[end]]&alnum == 0) {
			return value{m.kind, start, end}, true
		}
	}
	return value{}, false
}

// isUnspoken reports whether letters are no words: they have few vowels, or digits among them.
func isUnspoken(v string) bool {
	vowels := 0
	for i := range len(v) {
		if strings.IndexByte("aeiou", v[i]) >= 0 {
			vowels++
		}
	}
	return vowels*10 < len(v)*3 && (vowels*4 < len(v) || count(v, digit) > 0)
}

// saidBehind looks for a value a few words after its name: Password for the server: …, or: the password of the server is …
func (f *finder) saidBehind(j int, m meaning) (value, bool) {
	if m.strength <= keyed || j >= len(f.text) || f.text[j] != ' ' {
		return value{}, false
	}
	for at, words := j, 0; words < 7; words++ {
		at = skipBlanks(f.text, at, len(f.text))
		if v, ok := f.inParentheses(at, m); ok {
			return v, true
		}
		end := at
		for end < len(f.text) && end-at < longestName && (class[f.text[end]]&inName != 0 || strings.IndexByte("'()@*-\"", f.text[end]) >= 0 || f.joinsName(end)) {
			end++
		}
		isColon := end < len(f.text) && (f.text[end] == ':' || f.text[end] == '=' && end == at)
		if isColon || end > at && end < len(f.text) && f.text[end] == ',' {
			end++
		}
		if end == at || end >= len(f.text) || f.text[end] != ' ' {
			return value{}, false
		}
		if word := f.text[at:end]; isColon || isOneOf(word, saying[:]) {
			for _, adverb := range [...]string{" still", " now", " jetzt", " currently"} {
				if strings.HasPrefix(f.text[end:], adverb+" ") {
					end += len(adverb)
				}
			}
			if s, ok := f.opened(end, site{after: verb}); ok {
				if v, ok := f.judged(s, m); ok {
					return v, true
				}
			}
		}
		at = end
	}
	return value{}, false
}

// joinsName reports whether a dot or a slash at a place stands inside of a name, as that of a file.
func (f *finder) joinsName(at int) bool {
	return strings.IndexByte("./:", f.text[at]) >= 0 && at > 0 && at+1 < len(f.text) && class[f.text[at-1]]&alnum != 0 && class[f.text[at+1]]&alnum != 0
}

// inParentheses is a password in parentheses that stand at a place.
func (f *finder) inParentheses(at int, m meaning) (value, bool) {
	if m.strength != password || at >= len(f.text) || f.text[at] != '(' {
		return value{}, false
	}
	v, _, ok := strings.Cut(f.text[at+1:min(len(f.text), at+1+longestName)], ")")
	if !ok || v == "" || standsFor(v) || isPath(v) || isCode(v, verb) || strings.IndexByte(v, ' ') >= 0 || !isStrong(v) {
		return value{}, false
	}
	return value{m.kind, at + 1, at + 1 + len(v)}, true
}

// saying are words after which a value may stand in prose.
var saying = [...]string{"is", "it's", "its", "be", "to", "was", "ist", "lautet", "war", "auf", "es", "est", "é", "è", "är", "being", "это"}

// saidBefore looks for a value before its name: use … as the password.
func (f *finder) saidBefore(i int, m meaning) (value, bool) {
	if m.strength <= keyed {
		return value{}, false
	}
	before := f.text[max(0, i-12):i]
	for _, words := range [...]string{" as the ", " as a ", " as ", " is the ", " is my ", " is her ", " is his ", " is our ", " is their ", " as my ", " as our "} {
		if !strings.HasSuffix(before, words) {
			continue
		}
		end := i - len(words)
		start := end
		for start > 0 && end-start < 128 && f.text[start-1] > ' ' {
			start--
		}
		for start < end && strings.IndexByte("\"'`", f.text[start]) >= 0 && f.text[end-1] == f.text[start] {
			start, end = start+1, end-1
		}
		if n := len(f.found); start < end && (n == 0 || f.found[n-1].End <= start) {
			if v := f.text[start:end]; !standsFor(v) && !isPath(v) && !isCode(v, verb) && (m.strength == password && isOdd(v) || isRandom(v)) {
				f.add(m.kind, start, end)
			}
		}
		break
	}
	return value{}, false
}

func (f *finder) valueAt(i, j int, m meaning) (value, bool) {
	at, ok := f.siteOf(i, j)
	if !ok {
		return value{}, false
	}
	return f.judged(at, m)
}

// judged is the value at a site, if it is a secret.
func (f *finder) judged(at site, m meaning) (value, bool) {
	if at.quote == 0 && (f.isAssignment(at.at) || at.after == blank && strings.Contains(f.lineBefore(at.at), "{{ ")) { // of a template
		return value{}, false
	}
	s, start, end := m.strength, at.at, f.endOf(at)
	if at.quote == 0 && at.after != flag { // YAML's blocks
		if v := f.text[start:end]; v == "|" || v == ">" || v == "|-" || v == ">-" {
			at = site{at: f.skipLine(end), after: colon, line: true}
			start, end = at.at, f.endOf(at)
		}
	}
	for _, scheme := range [...]string{"Bearer ", "bearer ", "Basic ", "basic ", "Token ", "token ", "ApiKey "} {
		if strings.HasPrefix(f.text[start:], scheme) {
			start += len(scheme)
			end = f.endOf(site{at: start, after: at.after, quote: at.quote})
			if k := strings.ToLower(scheme[:len(scheme)-1]); k == "bearer" {
				m.kind = Bearer
			}
			s = telling
		}
	}
	if at.quote == 0 {
		end = start + len(trimmed(f.text[start:end]))
	}
	if s == password && at.quote == 0 && (at.after == verb || at.after == colon) {
		if last := f.wordy(start); last > 0 {
			return value{m.kind, start, last}, true
		}
	}
	if end <= start || end-start > longestValue || !f.isSecret(f.text[start:end], s, at, end) {
		return value{}, false
	}
	if kind, stop := tokenAt(f.text, start); stop >= end {
		m.kind = kind
	}
	return value{m.kind, start, end}, true
}

// isAssignment reports whether a name that tells, and an equals sign, are at a place: the value is that name's.
func (f *finder) isAssignment(at int) bool {
	end := at
	for most := min(len(f.text), at+longestName); end < most && class[f.text[end]]&inName != 0; {
		end++
	}
	return end > at && end < len(f.text) && f.text[end] == '=' && strengthOf(f.text[at:end]) != nothing
}

// siteOf finds where the value of the name from i to j begins.
func (f *finder) siteOf(i, j int) (s site, ok bool) {
	text, most := f.text, min(len(f.text), j+longestGap)
	before := strings.TrimRight(text[max(0, i-longestName):i], " \t\"'`\\*-{(,#>+$")
	s.line = before == "" || strings.HasSuffix(before, "\n")
	at := j
	for at < most && strings.IndexByte("\"'`\\*])", text[at]) >= 0 {
		at++
	}
	if text[j-1] != ')' && at > j && text[at-1] == ')' { // a call that ends
		for _, typing := range [...]string{".type(", ".fill(", ".sendKeys(", ".send_keys(", ".setValue(", ".clear().type("} {
			if strings.HasPrefix(text[at:], typing) {
				s.after = call
				return f.opened(at+len(typing), s)
			}
		}
		return s, false
	}
	closed := at
	at = skipBlanks(text, at, most)
	if at >= most {
		return s, false
	}
	switch rest := text[at:]; {
	case strings.HasPrefix(rest, ":="), strings.HasPrefix(rest, "=>"), strings.HasPrefix(rest, "=="), strings.HasPrefix(rest, "->"):
		s.after, at = spaced, at+2
	case strings.HasPrefix(rest, "："):
		s.after, at = colon, at+len("：")
	case rest[0] == ':':
		if i > 0 && text[i-1] == ':' { // an element of a URN
			return s, false
		}
		s.after, at = colon, at+1
	case rest[0] == '=':
		s.after, at = equals, at+1
		if at-1 > closed && at < len(text) && text[at] == ' ' {
			s.after = spaced
		}
	case rest[0] == '>' && closed == j && strings.HasPrefix(text[at+1+max(0, strings.IndexByte(text[at+1:], '<')):], "</"):
		s.after, at = element, at+1
	case rest[0] == ',' && closed == j && at+2 < len(text) && text[at+1] == ' ':
		s.after, at = aside, at+1
	case rest[0] == ',' && closed > j && at+2 < len(text) && text[at+1] == ' ' && (text[at+2] == '"' || text[at+2] == '\''):
		s.after, at = call, at+1
	case rest[0] == '(' && closed == j && !isGetter(text[i:j]):
		s.after, at = call, at+1
	default:
		return f.afterBlank(i, j, at, s)
	}
	return f.opened(at, s)
}

// opened finds where a value begins after what separates it, and its quote.
func (f *finder) opened(at int, s site) (site, bool) {
	text, most := f.text, min(len(f.text), at+longestGap)
	from := at
	for at < most && (text[at] == ' ' || text[at] == '\t' || s.after == colon && text[at] == '*') {
		at++
	}
	for at < most && text[at] == '\\' && at+1 < len(text) && strings.IndexByte("\"'`\\", text[at+1]) >= 0 {
		at++
	}
	for _, q := range [...]string{"“", "„", "«", "「", "『", "‘"} {
		if strings.HasPrefix(text[at:], q) {
			at += len(q)
		}
	}
	if at >= len(text) {
		return s, false
	}
	for prefix := range 2 { // of Python's, Rust's and C#'s strings
		if at+prefix+1 < len(text) && strings.IndexByte("\"'`", text[at+prefix]) >= 0 && (prefix == 0 || strings.IndexByte("bfurLB@", text[at]) >= 0) {
			s.quote, at = text[at+prefix], at+prefix+1
			break
		}
	}
	if s.after == call && s.quote == 0 {
		return s, false
	}
	if s.after == colon && s.quote == 0 && at == from && class[text[at]]&inToken == 0 && strings.IndexByte("/!@#^", text[at]) < 0 {
		return s, false
	}
	s.at = at
	return f.pastType(s)
}

// pastType goes past the type between a name and its value, as in password: string = "…".
func (f *finder) pastType(s site) (site, bool) {
	if s.after != colon || s.quote != 0 {
		return s, true
	}
	end := s.at
	for end < len(f.text) && end-s.at < longestGap && (class[f.text[end]]&(inName) != 0 || strings.IndexByte("[]<>?|*&.", f.text[end]) >= 0) {
		end++
	}
	at := skipBlanks(f.text, end, min(len(f.text), end+4))
	if end > s.at && at > end && at+2 < len(f.text) && f.text[at] == '=' && f.text[at+1] == ' ' {
		s.after = spaced
		return f.opened(at+1, s)
	}
	return s, true
}

func isGetter(name string) bool {
	for _, verb := range [...]string{
		"get", "read", "load", "fetch", "find", "lookup", "has", "is", "validate", "check", "verify", "parse", "create",
		"delete", "by",
	} {
		if len(name) > len(verb) && strings.EqualFold(name[:len(verb)], verb) {
			return true
		}
	}
	return false
}

// verbs stand between a name and its value in prose.
var verbs = [...]string{
	"is still ", "is now ", "is currently ", "is set to ", "set to ", "changed to ", "should be ", "will be ", "would be ",
	"has been ", "ist jetzt ", "is: ", "is ", "was ", "ist ", "lautet ", "war ", "es ", "est ", "è ", "é ", "to ", "auf ",
	"as ", "now ", "of ", "über ", "är ", "to: ",
	"это ", "to jest ", "は", "是", "为", "-", "– ", "— ", "with ",
}

// afterBlank finds a value after a blank: of a command's option, in prose, or an attribute named value.
func (f *finder) afterBlank(i, j, at int, s site) (site, bool) {
	text := f.text
	cjk := j < len(text) && at == j && text[at] >= 0x80
	if name := text[i:j]; withoutParticle(name) != name {
		s.after = verb
		return f.opened(at, s)
	}
	if at == j && !cjk && text[at] != '\n' && text[at] != '\r' {
		return s, false
	}
	isOption := i >= 2 && text[i-1] == '-' && (text[i-2] == '-' || text[i-2] == ' ') || strings.HasSuffix(optionBefore(text[:i]), "--")
	if isOption {
		s.after = flag
		return f.opened(at, s)
	}
	if v := f.attribute(at); v > 0 {
		for v < len(text) && (text[v] == ' ' || text[v] == '"') {
			v++
		}
		if v < len(text) && (text[v] == ':' || text[v] == '=') {
			s.after = equals
			return f.opened(v+1, s)
		}
	}
	if text[at] == '\n' || text[at] == '\r' {
		return s, false
	}
	for _, word := range verbs {
		if strings.HasPrefix(text[at:], word) {
			s.after = verb
			return f.opened(at+len(word), s)
		}
	}
	if cjk {
		return s, false
	}
	if at+2 < len(text) && class[text[at]]&digit != 0 && text[at+1] == ' ' { // the form of a password of network gear: secret 0 …
		at += 2
	}
	s.after = blank
	return f.opened(at, s)
}

// optionBefore is the part of an option before its last word, as --db- of --db-password.
func optionBefore(text string) string {
	at := len(text)
	for at > 0 && len(text)-at < longestName && (class[text[at-1]]&alnum != 0 || text[at-1] == '-' && at > 1 && class[text[at-2]]&alnum != 0) {
		at--
	}
	if at == len(text) {
		return ""
	}
	return text[:at]
}

// attribute returns the place after the word value or default that follows a name; 0: it does not.
func (f *finder) attribute(at int) int {
	text := f.text
	at = skipBlanks(text, skipNewline(text, at), len(text))
	if at < len(text) && text[at] == '{' {
		at = skipBlanks(text, skipNewline(text, skipBlanks(text, at+1, len(text))), len(text))
	}
	for _, word := range [...]string{"value", "default"} {
		if strings.HasPrefix(text[at:], word) {
			return at + len(word)
		}
	}
	return 0
}

func skipBlanks(text string, at, most int) int {
	for at < most && (text[at] == ' ' || text[at] == '\t') {
		at++
	}
	return at
}

func skipNewline(text string, at int) int {
	for at < len(text) && (text[at] == '\r' || text[at] == '\n') {
		at++
	}
	return at
}

func (f *finder) skipLine(at int) int {
	return skipBlanks(f.text, skipNewline(f.text, at), len(f.text))
}

// endOf is where the value of a site ends: at its quote, or at what ends a word.
func (f *finder) endOf(s site) int {
	text, at := f.text, s.at
	most := min(len(text), at+longestValue+1)
	if s.quote != 0 {
		for ; at < most && text[at] != '\n'; at++ {
			if text[at] == '\\' && at+1 < most && (text[at+1] != s.quote || !f.escaped(s)) {
				at++
			} else if text[at] == s.quote || text[at] == '\\' {
				return at
			}
		}
		return s.at
	}
	for ; at < most; at++ {
		c := text[at]
		inProse := c == '&' && (s.after == verb || s.after == blank)
		if c <= ' ' || strings.IndexByte("\"'`<>;&|", c) >= 0 && at > s.at && !inProse || c == '\\' {
			break
		}
		if (c == ',' || c == ')' || c == '}' || c == ']') && (at+1 == len(text) || strings.IndexByte(" \n\r\t,)}];\"'", text[at+1]) >= 0) {
			break
		}
		if c >= 0x80 && (isEnd(text[at:]) || c >= 0xE3 && c <= 0xED && at > s.at && text[at-1] < 0x80) {
			break
		}
	}
	if at == s.at && at < most && (text[at] == '|' || text[at] == '>') {
		at++
	}
	return at
}

// isEnd reports whether a text begins with punctuation that ends a value.
func isEnd(text string) bool {
	for _, end := range [...]string{"。", "，", "、", "”", "“", "»", "」", "』", "’", "‘", "）", "；"} {
		if strings.HasPrefix(text, end) {
			return true
		}
	}
	return false
}

// escaped reports whether the quote that opens a value is itself escaped, so that the one that ends it is, too.
func (f *finder) escaped(s site) bool { return s.at >= 2 && f.text[s.at-2] == '\\' }

// trimmed is a value without what ends a sentence.
func trimmed(v string) string {
	v = strings.TrimRight(v, ".,;:*")
	for _, pair := range [...]string{"()", "[]", "{}"} {
		if strings.HasSuffix(v, pair[1:]) && !strings.Contains(v, pair[:1]) {
			v = v[:len(v)-1]
		}
	}
	return v
}
