package secrets

import "strings"

// Classes of bytes.
const (
	lower = 1 << iota
	upper
	digit
	hexLower // and digits
	inName   // letters, digits, _ and what is not ASCII
	inToken  // letters, digits, _ and -
	inBase64 // letters, digits, +, / and =
	inUpper  // capitals and digits

	letter = lower | upper
	alnum  = letter | digit
)

var class = classes()

func classes() (c [256]uint16) {
	for b := range c {
		switch {
		case 'a' <= b && b <= 'z':
			c[b] = lower | inName | inToken | inBase64
		case 'A' <= b && b <= 'Z':
			c[b] = upper | inName | inToken | inBase64 | inUpper
		case '0' <= b && b <= '9':
			c[b] = digit | hexLower | inName | inToken | inBase64 | inUpper
		case b == '_':
			c[b] = inName | inToken
		case b == '-':
			c[b] = inToken
		case b == '+' || b == '/' || b == '=':
			c[b] = inBase64
		case b >= 0x80:
			c[b] = inName
		}
		if 'a' <= b && b <= 'f' {
			c[b] |= hexLower
		}
	}
	return c
}

// form is how a service's tokens look: a prefix, and a tail of some class of so many bytes.
type form struct {
	prefix      string
	kind        Kind
	tail        uint16
	least, most int
}

const anyLength = 4096

// forms are those that services publish, longer prefixes before shorter ones.
var forms = [...]form{
	{"AKIA", "aws-key", inUpper, 16, 16},
	{"ASIA", "aws-key", inUpper, 16, 16},
	{"ABIA", "aws-key", inUpper, 16, 16},
	{"AIza", "google-key", inToken, 35, 35},
	{"ATATT3", "atlassian-token", inToken | inBase64, 50, anyLength},
	{"AGE-SECRET-KEY-1", PrivateKey, inUpper, 58, 58},
	{"EAAA", "square-token", inToken, 56, 60},
	{"GOCSPX-", "google-secret", inToken, 28, 28},
	{"NRAK-", "newrelic-key", inUpper, 27, 27},
	{"SG.", "sendgrid-key", inToken, 22, 22},
	{"SK", "twilio-key", hexLower, 32, 32},
	{"apify_api_", "apify-token", alnum, 36, 40},
	{"dapi", "databricks-token", hexLower, 32, 32},
	{"dckr_pat_", "docker-token", inToken, 27, anyLength},
	{"doo_v1_", "digitalocean-token", hexLower, 64, 64},
	{"dop_v1_", "digitalocean-token", hexLower, 64, 64},
	{"dp.st.", "doppler-token", inToken, 40, 60},
	{"dp.pt.", "doppler-token", alnum, 40, 44},
	{"figd_", "figma-token", inToken, 40, 60},
	{"fo1_", "fly-token", inToken, 43, 43},
	{"github_pat_", "github-token", inToken, 60, 255},
	{"ghp_", "github-token", alnum, 36, 255},
	{"gho_", "github-token", alnum, 36, 255},
	{"ghu_", "github-token", alnum, 36, 255},
	{"ghs_", "github-token", alnum, 36, 255},
	{"ghr_", "github-token", alnum, 36, 255},
	{"glpat-", "gitlab-token", inToken, 20, 300},
	{"glptt-", "gitlab-token", inToken, 40, 300},
	{"gldt-", "gitlab-token", inToken, 20, 300},
	{"glrt-", "gitlab-token", inToken, 20, 300},
	{"glcbt-", "gitlab-token", inToken, 20, 300},
	{"glc_", "grafana-token", inBase64, 32, 400},
	{"glsa_", "grafana-token", inToken, 41, 41},
	{"gsk_", "groq-key", alnum, 40, 60},
	{"hf_", "huggingface-token", alnum, 34, 40},
	{"hvs.", "vault-token", inToken, 24, 300},
	{"hvb.", "vault-token", inToken, 24, 300},
	{"key-", "mailgun-key", hexLower, 32, 32},
	{"lin_api_", "linear-key", alnum, 40, 40},
	{"npm_", "npm-token", alnum, 36, 36},
	{"ntn_", "notion-token", alnum, 40, 50},
	{"pplx-", "perplexity-key", alnum, 40, 56},
	{"pscale_tkn_", "planetscale-token", inToken, 32, 64},
	{"pscale_pw_", "planetscale-token", inToken, 32, 64},
	{"pypi-", "pypi-token", inToken, 50, anyLength},
	{"r8_", "replicate-token", alnum, 37, 40},
	{"rk_live_", "stripe-key", alnum, 24, 247},
	{"rk_test_", "stripe-key", alnum, 24, 247},
	{"rubygems_", "rubygems-key", hexLower, 48, 48},
	{"sbp_", "supabase-token", hexLower, 40, 40},
	{"sk-ant-", "anthropic-key", inToken, 32, 200},
	{"sk-or-v1-", "openrouter-key", hexLower, 64, 64},
	{"sk-proj-", "openai-key", inToken, 40, 250},
	{"sk-svcacct-", "openai-key", inToken, 40, 250},
	{"sk_live_", "stripe-key", alnum, 24, 247},
	{"sk_test_", "stripe-key", alnum, 24, 247},
	{"sk-", "openai-key", alnum, 32, 100},
	{"sntrys_", "sentry-token", inBase64 | inToken, 60, anyLength},
	{"shpat_", "shopify-token", hexLower | upper, 32, 32},
	{"shpss_", "shopify-token", hexLower | upper, 32, 32},
	{"shpca_", "shopify-token", hexLower | upper, 32, 32},
	{"sq0atp-", "square-token", inToken, 22, 22},
	{"sq0csp-", "square-token", inToken, 43, 43},
	{"tskey-", "tailscale-key", inToken, 20, 120},
	{"whsec_", "stripe-key", inBase64, 24, 100},
	{"xai-", "xai-key", alnum, 70, 90},
	{"xapp-", "slack-token", inToken, 40, 250},
	{"xoxa-", "slack-token", inToken, 20, 250},
	{"xoxb-", "slack-token", inToken, 20, 250},
	{"xoxe-", "slack-token", inToken, 20, 250},
	{"xoxo-", "slack-token", inToken, 20, 250},
	{"xoxp-", "slack-token", inToken, 20, 250},
	{"xoxr-", "slack-token", inToken, 20, 250},
	{"xoxs-", "slack-token", inToken, 20, 250},
	{"ya29.", "google-token", inToken, 30, anyLength},
}

// formsFrom are the first and the last form for each first byte of a prefix.
var formsFrom = ranges()

func ranges() (r [128][2]uint8) {
	for i, x := range forms {
		at := &r[x.prefix[0]]
		if at[1] == 0 {
			at[0] = uint8(i)
		}
		at[1] = uint8(i + 1)
	}
	return r
}

// tokenAt returns the token of a known form that begins at a place; end is 0 if there is none.
func tokenAt(text string, i int) (kind Kind, end int) {
	c := text[i]
	if c >= 128 {
		return "", 0
	}
	rest := text[i:]
	for _, x := range forms[formsFrom[c][0]:formsFrom[c][1]] {
		if !strings.HasPrefix(rest, x.prefix) {
			continue
		}
		n := x.length(rest)
		if n > 0 && !isSample(rest[len(x.prefix):n]) {
			return x.kind, i + n
		}
	}
	switch {
	case c == 'e' && strings.HasPrefix(rest, "eyJ"):
		if n := jwtLength(rest); n > 0 {
			return JWT, i + n
		}
	case class[c]&digit != 0:
		if n := telegramLength(rest); n > 0 {
			return "telegram-token", i + n
		}
	case c == 'h' && strings.HasPrefix(rest, slackHook), c == 'd' && strings.HasPrefix(rest, discordHook):
		from := strings.Index(rest, "hooks/") + len("hooks/")
		if c == 'h' {
			from = len(slackHook)
		}
		if n := run(rest, from, inToken|inBase64); n-from > 40 && !isSample(rest[from:n]) && !slug(rest[from:n]) {
			return "webhook", i + n
		}
	}
	return "", 0
}

// Addresses that let who knows them write to a channel.
const (
	slackHook   = "hooks.slack.com/services/"
	discordHook = "discord.com/api/webhooks/"
)

// length is that of the token that a text begins with; 0: there is none.
func (x form) length(text string) int {
	at := len(x.prefix)
	end := run(text, at, x.tail)
	if x.prefix == "SG." { // of two parts
		if end-at != x.least || end+44 > len(text) || text[end] != '.' || run(text, end+1, inToken) != end+44 {
			return 0
		}
		return end + 44
	}
	if x.tail&inToken != 0 || x.most == anyLength { // what ends a sentence
		for end > at && (text[end-1] == '-' || text[end-1] == '/') {
			end--
		}
	}
	follows := end < len(text) && class[text[end]]&inName != 0
	if n := end - at; n < x.least || n > x.most || follows && x.tail&inToken == 0 {
		return 0
	}
	if x.tail&inToken != 0 && slug(text[at:end]) {
		return 0
	}
	return end
}

// longestRun bounds how far a token is followed, lest a text of beginnings of tokens be read again and again.
const longestRun = 8192

// run returns where bytes of a class end that begin at a place, after longestRun at most.
func run(text string, at int, of uint16) int {
	most := min(len(text), at+longestRun)
	for at < most && class[text[at]]&of != 0 {
		at++
	}
	return at
}

// jwtLength is the length of the JSON web token that a text begins with: three parts, or five of an encrypted one.
func jwtLength(text string) int {
	end, parts := 0, 0
	for {
		next := run(text, end, inToken)
		if parts < 2 && next-end < 10 || parts == 1 && !strings.HasPrefix(text[end:], "eyJ") && next-end < 40 {
			return 0
		}
		parts++
		if end = next; parts == 5 || end >= len(text) || text[end] != '.' || parts >= 3 && run(text, end+1, inToken)-end < 17 {
			break
		}
		end++
	}
	if parts < 3 || isSample(text[:end]) {
		return 0
	}
	return end
}

// telegramLength is the length of the token of a Telegram bot that a text begins with.
func telegramLength(text string) int {
	at := run(text, 0, digit)
	if at < 8 || at > 10 || !strings.HasPrefix(text[at:], ":A") {
		return 0
	}
	if end := run(text, at+1, inToken); end-at == 36 && !isSample(text[at+1:end]) {
		return end
	}
	return 0
}
