package secrets

import "strings"

// strength is how much a name tells of its value.
type strength uint8

const (
	nothing  strength = iota
	weak              // a key, a session: its value is a secret if it looks random
	keyed             // a key in the environment: its value may be hexadecimal, too
	telling           // a token, an API key: its value is a secret if it is no word
	password          // its value may be a word
	digits            // a PIN: its value is a number
)

// named are the ends of names that tell of secrets. Those that are apart are words of their own: pass is in compass.
var named = [...]struct {
	end      string
	apart    bool
	strength strength
	kind     Kind
}{
	{"password", false, password, Password}, {"passwd", false, password, Password}, {"passphrase", false, password, Password},
	{"passcode", false, password, Password}, {"storepass", false, password, Password}, {"keypass", false, password, Password},
	{"dbpass", false, password, Password},
	{"userpass", false, password, Password}, {"smtppass", false, password, Password}, {"adminpass", false, password, Password},
	{"rootpass", false, password, Password}, {"pwd", true, password, Password}, {"pass", true, password, Password},
	{"pw", true, password, Password},
	{"psk", true, password, Password}, {"passwort", false, password, Password}, {"kennwort", false, password, Password},
	{"contraseña", false, password, Password}, {"contrasena", false, password, Password}, {"senha", true, password, Password},
	{"wachtwoord", false, password, Password}, {"lösenord", false, password, Password}, {"hasło", false, password, Password},
	{"пароль", false, password, Password}, {"Пароль", false, password, Password}, {"Şifre", false, password, Password},
	{"密码", false, password, Password}, {"密碼", false, password, Password},
	{"パスワード", false, password, Password}, {"비밀번호", false, password, Password}, {"şifre", false, password, Password},
	{"apikey", false, telling, APIKey}, {"api_key", false, telling, APIKey}, {"accesskey", false, telling, APIKey},
	{"access_key", false, telling, APIKey},
	{"secretkey", false, telling, Secret}, {"secret_key", false, telling, Secret}, {"accountkey", false, telling, "azure-key"},
	{"account_key", false, telling, "azure-key"},
	{"sharedaccesskey", false, telling, "azure-key"}, {"privatekey", false, telling, PrivateKey},
	{"private_key", false, telling, PrivateKey},
	{"authkey", false, telling, APIKey}, {"auth_key", false, telling, APIKey}, {"signingkey", false, telling, Secret},
	{"signing_key", false, telling, Secret},
	{"encryptionkey", false, telling, Secret}, {"encryption_key", false, telling, Secret},
	{"masterkey", false, telling, Secret}, {"master_key", false, telling, Secret},
	{"licensekey", false, telling, APIKey}, {"license_key", false, telling, APIKey}, {"servicekey", false, telling, APIKey},
	{"service_key", false, telling, APIKey},
	{"secret_key_base", false, telling, Secret}, {"secret", false, telling, Secret}, {"token", false, telling, Token},
	{"geheimnis", false, telling, Secret}, {"token密钥", false, telling, Token}, {"密钥", false, telling, APIKey},
	{"key", true, weak, HighEntropy}, {"auth", true, weak, HighEntropy}, {"credential", true, weak, HighEntropy},
	{"credentials", true, weak, HighEntropy},
	{"cookie", true, weak, HighEntropy}, {"session", true, weak, HighEntropy}, {"sessionid", true, weak, HighEntropy},
	{"sid", true, weak, HighEntropy},
	{"sig", true, weak, HighEntropy}, {"signature", true, weak, HighEntropy}, {"seed", true, weak, HighEntropy},
	{"authorization", true, weak, HighEntropy}, {"bearer", true, weak, Bearer}, {"pepper", true, telling, Secret},
	{"salt", true, weak, Secret},
	{"bindpw", false, password, Password}, {"rootpw", false, password, Password}, {"dbpw", false, password, Password},
	{"keydata", false, telling, PrivateKey}, {"key_data", false, telling, PrivateKey}, {"pin", true, digits, Password},
	{"secret_id", false, telling, Secret}, {"secretid", false, telling, Secret}, {"writekey", false, telling, APIKey},
	{"schlüssel", false, weak, HighEntropy}, {"clave", true, weak, HighEntropy}, {"jsessionid", false, telling, Token},
	{"phpsessid", false, telling, Token},
	{"pat", true, telling, Token}, {"lösenordet", false, password, Password}, {"passordet", false, password, Password},
	{"adgangskoden", false, password, Password},
	{"salasanani", false, password, Password}, {"refresh", true, keyed, Token}, {"appid", true, keyed, APIKey},
	{"private", true, keyed, PrivateKey}, {"parola", true, password, Password}, {"heslo", true, password, Password},
	{"jelszó", false, password, Password}, {"salasana", false, password, Password},
	{"adgangskode", false, password, Password}, {"passord", false, password, Password}, {"lozinka", true, password, Password},
	{"geslo", true, password, Password},
	{"parool", true, password, Password}, {"slaptažodis", false, password, Password}, {"khẩu", true, password, Password},
	{"sandi", true, password, Password},
	{"κωδικός", false, password, Password}, {"סיסמה", false, password, Password}, {"المرور", false, password, Password},
	{"السر", false, password, Password},
	{"पासवर्ड", false, password, Password}, {"รหัสผ่าน", false, password, Password}, {"暗証番号", false, password, Password},
	{"口令", false, password, Password},
	{"암호", false, password, Password}, {"zugangscode", false, password, Password}, {"losenord", false, password, Password},
	{"haslo", true, password, Password},
	{"пароля", false, password, Password}, {"пароли", false, password, Password}, {"pswd", true, password, Password},
	{"psw", true, password, Password},
	{"passkey", false, telling, Secret}, {"cred", true, telling, Secret}, {"creds", true, weak, HighEntropy},
	{"apitoken", false, telling, Token}, {"appsecret", false, telling, Secret},
	{"webhook", true, weak, "webhook"}, {"dsn", true, weak, HighEntropy},
	{"community", true, password, Password}, {"wif", true, telling, PrivateKey},
}

// qualifiers may follow the word that tells.
var qualifiers = [...]string{
	"prod", "production", "dev", "staging", "test", "live", "new", "old", "current", "value", "base64", "b64", "text", "plain",
	"str", "string", "env", "root", "admin", "primary", "secondary",
}

// innocent are the ends of names whose values are public: a key of a cache, a token of a grammar.
var innocent = [...]string{
	"publickey", "public_key", "primarykey", "primary_key", "foreignkey", "foreign_key", "cachekey", "cache_key", "sortkey",
	"sort_key", "partitionkey", "partition_key",
	"publickeytoken", "public_key_token", "keytoken", "pagetoken", "page_token", "nexttoken", "next_token", "continuationtoken",
	"continuation_token", "csrftoken",
	"stoptoken", "stop_token", "eostoken", "eos_token",
	"bostoken", "bos_token", "padtoken", "pad_token", "unktoken", "unk_token", "publishablekey", "publishable_key",
	"idempotencykey", "idempotency_key",
	"synctoken", "sync_token", "keyid", "rowkey", "row_key", "objectkey", "object_key", "hostkey", "sitekey", "site_key",
}

// keys are what a key is that is a secret, and others what it is that is none.
var (
	keys = [...]string{
		"api", "access", "secret", "private", "master", "signing", "encryption", "account", "license", "service", "auth",
		"shared", "deploy", "webhook", "subscription", "admin", "app",
		"product", "recovery", "root", "write", "ingest", "consumer", "server", "network", "hmac", "sdk", "genie", "ca",
	}
	others = [...]string{"cache", "sort", "primary", "foreign", "partition", "public", "publishable", "row", "object", "idempotency", "site", "host", "lookup", "map", "hash", "shard", "s3"}
)

// particles may follow the word that tells, in languages that write them together.
var particles = [...]string{"는", "은", "이", "가", "は", "が", "是", "为", "為"}

// meaning is what a name tells.
type meaning struct {
	strength strength
	kind     Kind
}

const longestName = 96

// meaningAt is what the name from i to j tells, with the word before it: an API key, a pass phrase, a mot de passe.
func meaningAt(text string, i, j int) meaning {
	m := meaningOf(text[i:j])
	if j-i == len("PASS") && strings.HasSuffix(text[:i], "--- ") { // of a test
		return meaning{}
	}
	if m.strength > keyed || j-i > 6 {
		return m
	}
	name := unnumbered(text[i:j])
	if !isOneOf(name, split[:]) {
		return m
	}
	before, ok := wordBefore(text, i)
	switch {
	case !ok:
	case strings.EqualFold(name, "key") && isOneOf(before, keys[:]):
		return meaning{telling, APIKey}
	case strings.EqualFold(name, "key") && isOneOf(before, others[:]):
		return meaning{}
	case strings.EqualFold(name, "data") && strings.EqualFold(before, "key"):
		return meaning{telling, PrivateKey}
	case strings.EqualFold(name, "code") && isOneOf(before, []string{"alarm", "door", "gate", "security", "entry"}):
		return meaning{digits, Password}
	case strings.EqualFold(name, "master") && isOneOf(before, []string{"bitwarden", "keepass", "keepassxc", "1password", "lastpass", "vault", "dashlane", "enpass", "proton"}):
		return meaning{password, Password}
	case strings.EqualFold(name, "passe") && strings.EqualFold(before, "de"), strings.EqualFold(name, "phrase") && strings.EqualFold(before, "pass"):
		return meaning{password, Password}
	}
	return m
}

// split are the ends of names that other words begin.
var split = [...]string{"key", "data", "passe", "phrase", "code", "master"}

// unnumbered is a name without the number that it ends with.
func unnumbered(name string) string {
	for len(name) > 0 && (class[name[len(name)-1]]&digit != 0 || name[len(name)-1] == '_') {
		name = name[:len(name)-1]
	}
	return name
}

// wordBefore is the word before a place, from which one character parts it.
func wordBefore(text string, at int) (word string, ok bool) {
	if at < 3 || strings.IndexByte(" -.", text[at-1]) < 0 {
		return "", false
	}
	start := at - 1
	for start > 0 && at-start < 20 && class[text[start-1]]&letter != 0 {
		start--
	}
	return text[start : at-1], start < at-1
}

func isOneOf(word string, list []string) bool {
	for _, w := range list {
		if strings.EqualFold(word, w) {
			return true
		}
	}
	return false
}

// withoutParticle is a name without what its language writes after it.
func withoutParticle(name string) string {
	for _, p := range particles {
		if len(name) > len(p) && strings.HasSuffix(name, p) {
			return name[:len(name)-len(p)]
		}
	}
	return name
}

// strengthOf is how much a name tells.
func strengthOf(name string) strength { return meaningOf(name).strength }

// meaningOf is what a name tells. Most words are told by their last letter.
func meaningOf(name string) meaning {
	for len(name) > 0 && name[len(name)-1] == '_' {
		name = name[:len(name)-1]
	}
	if len(name) < 2 || len(name) > longestName {
		return meaning{}
	}
	if m := endOf(name); m.strength != nothing {
		return m
	}
	if name[len(name)-1] >= 0x80 {
		if bare := withoutParticle(name); bare != name {
			return endOf(bare)
		}
		return meaning{}
	}
	short := unnumbered(name)
	if i := strings.LastIndexByte(short, '_'); i > 1 && isQualifier(short[i+1:]) {
		short = short[:i]
	} else if len(short) == len(name) {
		return meaning{}
	}
	return endOf(strings.TrimRight(short, "_"))
}

func isQualifier(word string) bool { return isOneOf(word, qualifiers[:]) }

func endOf(name string) meaning {
	if len(name) < 2 {
		return meaning{}
	}
	for _, i := range namedBy[name[len(name)-1]] {
		n := &named[i]
		if !endsIn(name, n.end) || n.apart && !startsWord(name, len(name)-len(n.end)) {
			continue
		}
		for _, other := range innocent {
			if endsIn(name, other) {
				return meaning{}
			}
		}
		if n.end == "key" {
			return keyOf(name[:len(name)-len("key")])
		}
		return meaning{n.strength, n.kind}
	}
	return meaning{}
}

// keyOf is what a name that ends in key tells, by the word before it: DD_APP_KEY, writeKey.
func keyOf(before string) meaning {
	before = strings.TrimRight(before, "_")
	start := len(before)
	for start > 0 && class[before[start-1]]&letter != 0 {
		start--
		if class[before[start]]&upper != 0 && start > 0 && class[before[start-1]]&lower != 0 {
			break
		}
	}
	switch word := before[start:]; {
	case isOneOf(word, keys[:]):
		return meaning{telling, APIKey}
	case isOneOf(word, others[:]), isShipped(before):
		return meaning{}
	case len(before) > 2 && count(before, upper|digit)+strings.Count(before, "_") == len(before):
		return meaning{keyed, Secret}
	}
	return meaning{weak, HighEntropy}
}

// isShipped reports whether a variable is one that builders of web pages copy into them: its value is public.
func isShipped(name string) bool {
	for _, p := range [...]string{"vite_", "next_public_", "react_app_", "expo_public_", "nuxt_public_", "gatsby_", "public_", "vue_app_"} {
		if hasFold(name, p) {
			return true
		}
	}
	return false
}

// namedBy are the indexes of named by the last byte, in both cases: it tells most words apart.
var namedBy = byLast()

func byLast() (list [256][]uint8) {
	for i, n := range named {
		c := n.end[len(n.end)-1]
		list[c] = append(list[c], uint8(i))
		if class[c]&lower != 0 {
			list[c-'a'+'A'] = append(list[c-'a'+'A'], uint8(i))
		}
	}
	return list
}

// endsIn reports whether a name ends in a word, whatever the case of its ASCII letters.
func endsIn(name, end string) bool {
	at := len(name) - len(end)
	if at < 0 {
		return false
	}
	for i := len(end) - 1; i >= 0; i-- {
		c := name[at+i]
		if class[c]&upper != 0 {
			c += 'a' - 'A'
		}
		if c != end[i] {
			return false
		}
	}
	return true
}

// startsWord reports whether a word begins inside a name: after another character than a letter, or with a capital.
func startsWord(name string, at int) bool {
	return at == 0 || class[name[at-1]]&letter == 0 && name[at-1] < 0x80 || class[name[at]]&upper != 0 && class[name[at-1]]&lower != 0
}
