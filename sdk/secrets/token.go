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
	inDotted // letters, digits, _, - and .
	breaks   // what no password in a sentence has: blanks, quotes, brackets
	joining  // hyphens and dots
	joins    // what a word goes on with, in a name, a token, an address, or a call

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
		if b <= ' ' || b >= 0x80 || strings.IndexByte("\"'`,;()<>[]{}|\\", byte(b)) >= 0 {
			c[b] |= breaks
		}
		if b == '-' || b == '.' {
			c[b] |= joining
		}
		if c[b]&inToken != 0 || b == '.' {
			c[b] |= inDotted
		}
		if 'a' <= b && b <= 'f' {
			c[b] |= hexLower
		}
		if c[b]&(inName|inDotted|inBase64) != 0 || b == ':' || b == '~' || b == '(' {
			c[b] |= joins
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
	{"A3-", "1password-key", inToken, 30, 45},
	{"ABIA", "aws-key", inUpper, 16, 16},
	{"ABSK", "aws-key", inBase64, 100, 300},
	{"ACCA", "aws-key", inUpper, 16, 16},
	{"AGE-SECRET-KEY-1", PrivateKey, inUpper, 58, 58},
	{"AIza", "google-key", inToken, 35, 35},
	{"AKCp", "artifactory-key", alnum, 69, 69},
	{"AKIA", "aws-key", inUpper, 16, 16},
	{"AKID", "tencent-key", alnum, 32, 36},
	{"API-", "octopus-key", inUpper, 26, 26},
	{"AQVN", "yandex-key", inToken, 35, 38},
	{"ASIA", "aws-key", inUpper, 16, 16},
	{"ATATT3", "atlassian-token", inToken | inBase64, 50, anyLength},
	{"ATBB", "bitbucket-token", alnum, 24, 40},
	{"ATCTT3", "atlassian-token", inToken | inBase64, 50, anyLength},
	{"ATTA", "trello-token", hexLower, 60, 80},
	{"AVNS_", "aiven-password", inToken, 16, 40},
	{"Atza|", "amazon-token", inToken, 60, anyLength},
	{"BSA", "brave-key", inToken, 28, 28},
	{"CCIPAT_", "circleci-token", inToken, 40, 100},
	{"CCIPRJ_", "circleci-token", inToken, 40, 100},
	{"CFPAT-", "contentful-token", inToken, 40, 60},
	{"CLOJARS_", "clojars-token", alnum, 60, 60},
	{"EAAA", "square-token", inToken, 56, 60},
	{"EAA", "facebook-token", alnum, 90, 400},
	{"EZAK", "easypost-key", alnum, 54, 54},
	{"EZTK", "easypost-key", alnum, 54, 54},
	{"FLWSECK-", "flutterwave-key", inToken, 30, 40},
	{"FLWSECK_TEST-", "flutterwave-key", inToken, 12, 40},
	{"FwoGZXIvYXdz", "aws-token", inBase64, 60, anyLength},
	{"GOCSPX-", "google-secret", inToken, 28, 28},
	{"GOOG1E", "google-key", inUpper, 50, 62},
	{"GOOG", "google-key", inUpper, 20, 24},
	{"GR1348941", "gitlab-token", inToken, 20, 20},
	{"HRKU-", "heroku-key", inToken, 36, 64},
	{"IGAA", "instagram-token", inToken, 80, 400},
	{"IGQV", "instagram-token", inToken, 80, 400},
	{"IQoJb3JpZ2lu", "aws-token", inBase64, 60, anyLength},
	{"K001", "backblaze-key", inBase64, 27, 27},
	{"K002", "backblaze-key", inBase64, 27, 27},
	{"K003", "backblaze-key", inBase64, 27, 27},
	{"K004", "backblaze-key", inBase64, 27, 27},
	{"K005", "backblaze-key", inBase64, 27, 27},
	{"LTAI", "alibaba-key", alnum, 12, 24},
	{"NRAK-", "newrelic-key", inUpper, 27, 27},
	{"NRII-", "newrelic-key", inToken, 32, 32},
	{"NRRA-", "newrelic-key", alnum, 40, 46},
	{"PMAK-", "postman-key", inToken, 59, 59},
	{"RGAPI-", "riot-key", inToken, 36, 36},
	{"SG.", "sendgrid-key", inToken, 22, 22},
	{"SK", "twilio-key", hexLower, 32, 32},
	{"access-development-", "plaid-token", inToken, 36, 36},
	{"access-production-", "plaid-token", inToken, 36, 36},
	{"access-sandbox-", "plaid-token", inToken, 36, 36},
	{"aio_", "adafruit-key", alnum, 28, 28},
	{"ak-", "modal-key", alnum, 22, 22},
	{"akab-", "akamai-key", inToken, 30, 40},
	{"amzn.mws.", "amazon-secret", inToken, 36, 36},
	{"amzn1.oa2-cs.v1.", "amazon-secret", hexLower, 64, 64},
	{"api_org_", "huggingface-token", alnum, 34, 34},
	{"apify_api_", "apify-token", alnum, 36, 40},
	{"as-", "modal-key", alnum, 22, 22},
	{"bb_live_", "browserbase-key", inToken, 26, 40},
	{"bkua_", "buildkite-token", hexLower, 40, 40},
	{"cal_live_", "cal-key", hexLower, 32, 32},
	{"cfat_", "cloudflare-token", alnum, 40, 60},
	{"cfk_", "cloudflare-token", alnum, 40, 60},
	{"cfut_", "cloudflare-token", alnum, 40, 60},
	{"cio", "crates-token", alnum, 32, 32},
	{"csk-", "cerebras-key", alnum, 40, 60},
	{"ctx7sk-", "context7-key", inToken, 36, 36},
	{"dG9rO", "intercom-token", inBase64, 40, 80},
	{"da2-", "aws-key", alnum, 26, 26},
	{"dapi", "databricks-token", hexLower, 32, 32},
	{"dckr_oat_", "docker-token", inToken, 27, anyLength},
	{"dckr_pat_", "docker-token", inToken, 27, anyLength},
	{"ddp_", "deno-token", alnum, 36, 40},
	{"django-insecure-", "django-key", inToken | inBase64, 20, 100},
	{"dnkey-", "defined-key", inToken, 60, 100},
	{"doo_v1_", "digitalocean-token", hexLower, 64, 64},
	{"dop_v1_", "digitalocean-token", hexLower, 64, 64},
	{"dor_v1_", "digitalocean-token", hexLower, 64, 64},
	{"dp.pt.", "doppler-token", alnum, 40, 44},
	{"dp.st.", "doppler-token", inToken, 40, 60},
	{"dt0c01.", "dynatrace-token", inDotted, 80, 100},
	{"duffel_live_", "duffel-token", inToken, 40, 46},
	{"duffel_test_", "duffel-token", inToken, 40, 46},
	{"e2b_", "e2b-key", hexLower, 40, 40},
	{"eyJhdXRocyI6", "docker-token", inBase64, 20, anyLength},
	{"fc-", "firecrawl-key", hexLower, 32, 32},
	{"figd_", "figma-token", inToken, 40, 60},
	{"fio-u-", "frameio-token", inToken, 64, 64},
	{"fm1a_", "fly-token", inBase64, 60, anyLength},
	{"fm1r_", "fly-token", inBase64, 60, anyLength},
	{"fm2_", "fly-token", inBase64, 60, anyLength},
	{"fo1_", "fly-token", inToken, 43, 43},
	{"fw_", "fireworks-key", alnum, 22, 24},
	{"gho_", "github-token", alnum, 36, 255},
	{"ghp_", "github-token", alnum, 36, 255},
	{"ghr_", "github-token", alnum, 36, 255},
	{"ghs_", "github-token", alnum, 36, 255},
	{"ghu_", "github-token", alnum, 36, 255},
	{"github_pat_", "github-token", inToken, 60, 255},
	{"glagent-", "gitlab-token", inToken, 50, 50},
	{"glc_", "grafana-token", inBase64, 32, 400},
	{"glcbt-", "gitlab-token", inToken, 20, 300},
	{"gldt-", "gitlab-token", inToken, 20, 300},
	{"glffct-", "gitlab-token", inToken, 20, 20},
	{"glft-", "gitlab-token", inToken, 20, 20},
	{"glimt-", "gitlab-token", inToken, 25, 25},
	{"gloas-", "gitlab-token", inToken, 64, 64},
	{"glpat-", "gitlab-token", inToken, 20, 300},
	{"glptt-", "gitlab-token", inToken, 40, 300},
	{"glrt-", "gitlab-token", inToken, 20, 300},
	{"glsa_", "grafana-token", inToken, 41, 41},
	{"glsoat-", "gitlab-token", inToken, 20, 20},
	{"gsk_", "groq-key", alnum, 40, 60},
	{"hcaik_", "honeycomb-key", alnum, 50, 64},
	{"hf_", "huggingface-token", alnum, 34, 40},
	{"hvb.", "vault-token", inToken, 24, 300},
	{"hvs.", "vault-token", inToken, 24, 300},
	{"ico-", "infracost-key", alnum, 32, 32},
	{"jina_", "jina-key", inToken, 55, 70},
	{"key-", "mailgun-key", hexLower, 32, 32},
	{"lin_api_", "linear-key", alnum, 40, 40},
	{"lin_oauth_", "linear-key", alnum, 40, 64},
	{"lin_wh_", "linear-key", alnum, 32, 64},
	{"lsv2_pt_", "langsmith-key", inToken, 40, 50},
	{"lsv2_sk_", "langsmith-key", inToken, 40, 50},
	{"mdb_sa_sk_", "mongodb-secret", inToken, 30, 60},
	{"mfa.", "discord-token", inToken, 80, 90},
	{"napi_", "neon-key", alnum, 60, 70},
	{"nfp_", "netlify-token", alnum, 36, 40},
	{"npm_", "npm-token", alnum, 36, 36},
	{"nsec1", PrivateKey, lower | digit, 50, 64},
	{"ntn_", "notion-token", alnum, 40, 50},
	{"nvapi-", "nvidia-key", inToken, 60, 70},
	{"oauth:", "twitch-token", alnum, 30, 30},
	{"ops_eyJ", "1password-token", inToken | inBase64, 200, anyLength},
	{"ory_at_", "ory-token", inToken, 40, 100},
	{"ory_pat_", "ory-token", inToken, 24, 64},
	{"ory_rt_", "ory-token", inToken, 40, 100},
	{"oy2", "nuget-key", alnum, 43, 43},
	{"p8e-", "adobe-secret", alnum, 32, 32},
	{"pa-", "voyage-key", inToken, 40, 50},
	{"pat-eu1-", "hubspot-token", inToken, 36, 36},
	{"pat-na1-", "hubspot-token", inToken, 36, 36},
	{"pcsk_", "pinecone-key", inToken, 60, 80},
	{"phx_", "posthog-key", inToken, 40, 50},
	{"pit-", "highlevel-token", inToken, 36, 36},
	{"pk_", "clickup-token", inToken, 41, 43},
	{"pnu_", "prefect-key", alnum, 36, 36},
	{"pplx-", "perplexity-key", alnum, 40, 56},
	{"pscale_oauth_", "planetscale-token", inToken, 32, 64},
	{"pscale_pw_", "planetscale-token", inToken, 32, 64},
	{"pscale_tkn_", "planetscale-token", inToken, 32, 64},
	{"ptla_", "pterodactyl-key", alnum, 43, 43},
	{"ptlc_", "pterodactyl-key", alnum, 43, 43},
	{"ptr_", "portainer-key", inBase64, 40, 50},
	{"pul-", "pulumi-token", hexLower, 40, 40},
	{"pypi-", "pypi-token", inToken, 50, anyLength},
	{"r8_", "replicate-token", alnum, 37, 40},
	{"rdme_", "readme-key", alnum, 70, 72},
	{"re_", "resend-key", inToken, 31, 36},
	{"rk_live_", "stripe-key", alnum, 24, 247},
	{"rk_prod_", "stripe-key", alnum, 24, 247},
	{"rk_test_", "stripe-key", alnum, 24, 247},
	{"rnd_", "render-key", alnum, 28, 36},
	{"rpa_", "runpod-key", alnum, 40, 60},
	{"rubygems_", "rubygems-key", hexLower, 48, 48},
	{"s-s4t2af-", "intra42-secret", hexLower, 64, 64},
	{"s-s4t2ud-", "intra42-secret", hexLower, 64, 64},
	{"sb_secret_", "supabase-token", inToken, 27, 50},
	{"sbp_", "supabase-token", hexLower, 40, 40},
	{"secret_", "notion-token", alnum, 43, 43},
	{"sgp_", "sourcegraph-token", inToken, 40, 62},
	{"sha256~", "openshift-token", inToken, 43, 43},
	{"shippo_live_", "shippo-token", hexLower, 40, 40},
	{"shippo_test_", "shippo-token", hexLower, 40, 40},
	{"shpat_", "shopify-token", hexLower | upper, 32, 32},
	{"shpca_", "shopify-token", hexLower | upper, 32, 32},
	{"shppa_", "shopify-token", hexLower | upper, 32, 32},
	{"shpss_", "shopify-token", hexLower | upper, 32, 32},
	{"shptka_", "shopify-token", hexLower | upper, 32, 32},
	{"shpua_", "shopify-token", hexLower | upper, 32, 32},
	{"signkey-prod-", "inngest-key", hexLower, 32, 64},
	{"sk-None-", "openai-key", inToken, 40, 250},
	{"sk-admin-", "openai-key", inToken, 40, 250},
	{"sk-ant-", "anthropic-key", inToken, 32, 200},
	{"sk-lf-", "langfuse-key", inToken, 36, 36},
	{"sk-or-v1-", "openrouter-key", hexLower, 64, 64},
	{"sk-proj-", "openai-key", inToken, 40, 250},
	{"sk-svcacct-", "openai-key", inToken, 40, 250},
	{"sk-", "openai-key", alnum, 32, 100},
	{"sk_live_", "stripe-key", alnum, 24, 247},
	{"sk_prod_", "stripe-key", alnum, 24, 247},
	{"sk_test_", "stripe-key", alnum, 24, 247},
	{"sk_", "elevenlabs-key", hexLower, 48, 48},
	{"sl.", "dropbox-token", inToken, 130, anyLength},
	{"sntrya_", "sentry-token", hexLower, 64, 64},
	{"sntrys_", "sentry-token", inBase64 | inToken, 60, anyLength},
	{"sntryu_", "sentry-token", hexLower, 64, 64},
	{"sq0atp-", "square-token", inToken, 22, 22},
	{"sq0csp-", "square-token", inToken, 43, 43},
	{"sqa_", "sonar-token", hexLower, 40, 40},
	{"sqp_", "sonar-token", hexLower, 40, 40},
	{"squ_", "sonar-token", hexLower, 40, 40},
	{"syt_", "matrix-token", inToken, 30, 80},
	{"t1.9eu", "yandex-token", inDotted, 60, anyLength},
	{"tfp_", "typeform-token", inToken, 40, 64},
	{"tk-us-", "scalingo-token", inToken, 48, 48},
	{"tr_dev_", "trigger-key", alnum, 20, 40},
	{"tr_prod_", "trigger-key", alnum, 20, 40},
	{"tskey-", "tailscale-key", inToken, 20, 120},
	{"tvly-", "tavily-key", inToken, 28, 60},
	{"v1.0-", "cloudflare-token", inToken, 150, 200},
	{"vca_", "vercel-token", alnum, 24, 64},
	{"vci_", "vercel-token", alnum, 24, 64},
	{"vck_", "vercel-token", alnum, 24, 64},
	{"vcp_", "vercel-token", alnum, 24, 64},
	{"vcr_", "vercel-token", alnum, 24, 64},
	{"waka_", "wakatime-key", inToken, 36, 36},
	{"whsec_", "stripe-key", inBase64, 24, 100},
	{"xaat-", "axiom-token", inToken, 36, 36},
	{"xai-", "xai-key", alnum, 70, 90},
	{"xapp-", "slack-token", inToken, 40, 250},
	{"xkeysib-", "brevo-key", inToken, 70, 90},
	{"xoxa-", "slack-token", inToken, 20, 250},
	{"xoxb-", "slack-token", inToken, 20, 250},
	{"xoxc-", "slack-token", inToken, 20, 250},
	{"xoxd-", "slack-token", inToken | inBase64, 20, 400},
	{"xoxe-", "slack-token", inToken, 20, 250},
	{"xoxo-", "slack-token", inToken, 20, 250},
	{"xoxp-", "slack-token", inToken, 20, 250},
	{"xoxr-", "slack-token", inToken, 20, 250},
	{"xoxs-", "slack-token", inToken, 20, 250},
	{"xprv9", PrivateKey, alnum, 100, 110},
	{"xsmtpsib-", "brevo-key", inToken, 70, 90},
	{"y0_", "yandex-token", inToken, 50, 70},
	{"ya29.", "google-token", inToken, 30, anyLength},
	{"zpka_", "zuplo-key", inToken, 36, 60},
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

// begins has a bit for each second byte of a prefix, by the first.
var begins = seconds()

func seconds() (b [128][4]uint32) {
	for _, x := range forms {
		second := x.prefix[1]
		b[x.prefix[0]][second>>5] |= 1 << (second & 31)
	}
	return b
}

// tokenAt returns the token of a known form that begins at a place; end is 0 if there is none.
func tokenAt(text string, i int) (kind Kind, end int) {
	if i >= len(text) {
		return "", 0
	}
	c := text[i]
	if c >= 128 {
		return "", 0
	}
	rest := text[i:]
	if len(rest) < 2 {
		return "", 0
	}
	if second := rest[1]; second < 128 && begins[c][second>>5]>>(second&31)&1 != 0 {
		for at := formsFrom[c][0]; at < formsFrom[c][1]; at++ {
			x := &forms[at]
			if !strings.HasPrefix(rest, x.prefix) {
				continue
			}
			n := x.length(rest)
			if n > 0 && !isSample(rest[len(x.prefix):n]) {
				return x.kind, i + n
			}
		}
	}
	switch {
	case c == 'k' && strings.HasPrefix(rest, "key") && len(rest) >= 17:
		if n := run(rest, 3, alnum); n == 17 && switches(rest[3:n]) > 3 && !isCamel(rest[3:n]) {
			return "airtable-token", i + n
		}
	case c == 's' && rest[1] == '.':
		if n := run(rest, 2, alnum); n >= 26 && n <= 28 && isRandom(rest[2:n]) {
			return "vault-token", i + n
		}
	case c == 'e' && strings.HasPrefix(rest, "eyJ"):
		if n := jwtLength(rest); n > 0 {
			return JWT, i + n
		}
	case class[c]&digit != 0:
		if n := telegramLength(rest); n > 0 {
			return "telegram-token", i + n
		}
		if n := asanaLength(rest); n > 0 {
			return "asana-token", i + n
		}
		if n := run(rest, min(4, len(rest)), inToken); strings.HasPrefix(rest, "1//0") && n > 40 {
			return "google-token", i + n
		}
	case c == 'M' || c == 'N' || c == 'O':
		if n := parts(rest, '.', 23, 28, 6, 7, 27, 40); n > 0 {
			return "discord-token", i + n
		}
	case c == 'p' && strings.HasPrefix(rest, "pat"):
		if n := parts(rest, '.', 17, 17, 64, 64); n > 0 {
			return "airtable-token", i + n
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
	switch {
	case len(rest) > 34 && rest[4] == 'Q' && rest[5] == '~' && class[rest[3]]&digit != 0:
		if n := run(rest, 6, inDotted); n >= 36 && n <= 42 {
			return "azure-secret", i + n
		}
	case class[c]&hexLower != 0 && len(rest) >= 50 && rest[32] == '-' && rest[41] == '-' && run(rest, 0, hexLower) == 32 && run(rest, 33, hexLower) == 41 && run(rest, 42, hexLower) == 50:
		return "mailgun-key", i + 50
	case class[c]&hexLower != 0 && len(rest) > 36 && strings.HasPrefix(rest[32:], "-us"):
		if n := run(rest, 35, digit); run(rest, 0, hexLower) == 32 && n > 35 {
			return "mailchimp-key", i + n
		}
	}
	return "", 0
}

// asanaLength is the length of the personal token of Asana that a text begins with: 1/USER:HEX.
func asanaLength(text string) int {
	if !strings.HasPrefix(text, "1/") {
		return 0
	}
	at := run(text, 2, digit)
	if at < 14 || at >= len(text) || text[at] != ':' {
		return 0
	}
	if end := run(text, at+1, hexLower); end-at == 33 {
		return end
	}
	return 0
}

// parts is the length of the token of so many parts that a text begins with: of at least and at most so many bytes each.
func parts(text string, by byte, bounds ...int) int {
	at := 0
	for i := 0; i < len(bounds); i += 2 {
		if i > 0 {
			if at >= len(text) || text[at] != by {
				return 0
			}
			at++
		}
		end := run(text, at, inToken)
		if end-at < bounds[i] || end-at > bounds[i+1] {
			return 0
		}
		at = end
	}
	if isSample(text[:at]) || slug(text[:at]) {
		return 0
	}
	return at
}

// Addresses that let who knows them write to a channel.
const (
	slackHook   = "hooks.slack.com/services/"
	discordHook = "discord.com/api/webhooks/"
)

// length is that of the token that a text begins with; 0: there is none.
func (x *form) length(text string) int {
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
