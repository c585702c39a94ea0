package secrets

import "strings"

// around is how much of a line is looked at on both sides of what may be a secret, in bytes.
const (
	around = 72
	behind = 64

	closeBy = 5 // words between what says that a value is an id, and the value
)

// near is what the words around a place tell.
type near struct {
	tells    bool // a secret follows
	key      bool // a key follows, of whatever
	service  bool // a service is named that gives out keys
	innocent bool // it is an id, a digest, or public
}

// tellers are words beside which a value that looks random is a secret.
var tellers = [...]string{
	"token", "tokens", "secret", "secrets", "credential", "credentials", "creds", "apikey", "passwd", "password", "passwords", "passwort",
	"private", "license", "licence", "unlock", "pat", "bearer", "authorization", "authtoken", "passphrase", "login", "pw", "pwd", "pass",
	"totp", "otp", "2fa", "mfa", "authenticator", "jwt", "schlüssel", "clé", "clave", "chave", "chiave", "sleutel", "nyckel", "klucz",
	"ключ", "auth",
	"hmac", "fernet", "aes", "cipher", "decrypt", "encrypt", "keystore", "keypair", "base58", "unseal", "privkey", "nsec", "refresh",
	"signing", "seed", "sharedkey",
}

// services give out keys that have no form of their own.
var services = [...]string{
	"abuseipdb", "airtable", "alchemy", "algolia", "alphavantage", "amplitude", "ankr", "anthropic", "apify", "appcenter", "asana",
	"assemblyai", "auth0",
	"b2", "backblaze", "bandwidth", "bitly", "bitrise", "brevo", "bugsnag", "buildkite", "bunny", "calendly", "censys", "checkr",
	"circleci", "clearbit",
	"clickup", "cloudconvert", "cloudflare", "cloudinary", "codecov", "cohere", "coinbase", "coinmarketcap", "contentful", "coveralls",
	"datadog",
	"deepgram", "deepl", "digitalocean", "dnsimple", "docusign", "dropbox", "elevenlabs", "etherscan", "fastly", "finnhub", "fixer",
	"flickr", "foursquare",
	"freshdesk", "gemini", "giphy", "gitea", "gitlab", "googlemaps", "grafana", "groq", "helpscout", "heroku", "hetzner", "honeycomb",
	"hubspot",
	"imgbb", "imgur", "infura", "instagram", "intercom", "ipinfo", "ipstack", "iterable", "klaviyo", "kraken", "lastfm",
	"launchdarkly", "linear", "linode",
	"lob", "loggly", "logzio", "mailchimp", "mailersend", "mailgun", "mailjet", "mapbox", "maxmind", "messagebird", "mistral",
	"mixpanel", "moralis",
	"mailtrap", "netlify", "newrelic", "newsapi", "nexmo", "ngrok", "notion", "nytimes", "okta", "onesignal", "openai", "opencage",
	"openrouter", "openweather",
	"openweathermap", "opsgenie", "pagerduty", "paypal", "pexels", "pinata", "pinecone", "pingdom", "pipedrive", "pixabay", "plaid",
	"plivo", "polygon",
	"postmark", "pushbullet", "pushover", "quandl", "rapidapi", "razorpay", "replicate", "resend", "rollbar", "salesforce", "samsara",
	"scaleway",
	"sendgrid", "sendinblue", "sentry", "serpapi", "shodan", "shippo", "signalwire", "snyk", "sonarqube", "sparkpost", "splunk", "spotify",
	"statuspage", "storyblok", "stripe", "supabase", "telnyx", "tiingo", "tinify", "tinypng", "tmdb", "todoist", "transifex", "travis",
	"trello", "twelvedata",
	"twilio", "twitch", "twitter", "typeform", "unsplash", "uptimerobot", "urlscan", "vapid", "vault", "virustotal", "vonage", "vultr",
	"wakatime", "weatherapi",
	"weatherstack", "webex", "wistia", "wordnik", "yelp", "youtube", "zapier", "zendesk", "zoho", "zoom", "newsdata", "lokalise", "crowdin",
	"bitwarden", "doppler", "infisical", "jenkins", "jira", "pulumi", "teamcity", "artifactory", "jfrog", "nexus", "sonatype",
	"portainer", "plex", "sonarr",
	"radarr", "jellyfin", "immich", "paperless", "tautulli", "prowlarr", "homeassistant", "octoprint", "strava", "adyen", "ebay",
	"shopify", "woocommerce", "wordpress", "magento", "braintree", "gocardless", "mollie", "klarna", "paddle", "chargebee", "recurly",
	"xero",
	"quickbooks", "freshbooks", "toggl", "clockify", "basecamp", "miro", "figma", "canva", "unsplash", "vimeo", "dailymotion",
	"soundcloud", "deezer", "musixmatch", "thetvdb", "trakt", "omdb",
	"igdb", "rawg", "riot", "blizzard", "fitbit", "garmin", "withings", "oura", "whoop", "uber", "lyft", "tomtom", "graphhopper",
	"geoapify", "locationiq", "positionstack", "ipgeolocation",
	"openrouteservice", "amadeus", "skyscanner", "aviationstack", "marinetraffic", "binance", "bitfinex", "bitstamp", "bybit",
	"kucoin", "okx", "gemini", "coingecko", "cryptocompare", "blockfrost", "helius",
	"bscscan", "polygonscan", "arbiscan", "thirdweb", "opensea", "tenderly", "chainlink", "fireblocks", "revolut", "monzo", "starling",
	"truelayer", "tink", "dwolla", "marqeta", "databricks", "snowflake",
	"fivetran", "airbyte", "confluent", "aiven", "upstash", "neon", "planetscale", "turso", "fauna", "xata", "convex", "appwrite",
	"pocketbase", "firebase", "onelogin", "clerk", "workos", "stytch", "descope",
	"sumologic", "sumo", "logdna", "papertrail", "signoz", "axiom", "betterstack", "statuscake", "raygun", "airbrake", "appdynamics",
	"dynatrace", "instana", "lightstep", "meilisearch", "typesense",
	"weaviate", "qdrant", "milvus", "huggingface", "deepseek", "perplexity", "fireworks", "anyscale", "stability", "runway",
	"midjourney", "leonardo", "heygen", "synthesia", "murf", "speechmatics",
	"gladia", "telegram", "discord", "slack", "mattermost", "zulip", "viber", "kakao", "wechat", "dingtalk", "feishu", "lark",
	"bitbucket", "codeberg", "azdo",
	"ovh", "hcloud", "contabo", "upcloud", "exoscale", "civo", "vercel", "railway", "koyeb", "namecheap", "godaddy", "porkbun",
	"gandi", "desec", "route53", "bunnycdn", "keycdn", "wasabi",
	"minio", "storj", "pcloud", "onedrive", "evernote", "obsidian", "roam", "readwise", "raindrop", "instapaper", "feedly",
	"inoreader", "ifttt", "n8n", "pipedream", "tray",
	"workato", "retool", "zapier", "tuya", "ecobee", "smartthings", "shelly", "tado", "netatmo", "solaredge", "enphase", "powerwall",
	"tesla", "mqtt", "esphome", "frigate", "unifi", "pihole",
	"adguard", "tailscale", "zerotier", "nordvpn", "mullvad", "protonvpn", "wireguard", "tibber", "nextcloud", "discourse",
}

// innocents are words beside which a value that looks random is none.
var innocents = [...]string{
	"did", "deployment", "public", "publishable", "id", "ids", "uuid", "guid", "hash", "hashes", "digest", "checksum", "commit",
	"fingerprint", "sha", "sha1", "sha256", "sha512",
	"md5", "integrity", "signature", "page", "cursor", "account", "zone", "project", "prj", "workspace", "tenant", "subscription",
	"org", "organization",
	"request", "trace", "span", "etag", "nonce", "revision", "blob", "tree", "container", "image", "layer", "build", "bucket", "stack",
	"object",
	"serial", "tracking", "transaction", "tx", "block", "contract", "address", "wallet", "pinned", "cid", "ipfs", "kid", "crv",
	"certificate", "pubkey",
	"recipient", "peer", "publickey", "site", "verification", "challenge", "boundary", "udid", "device", "example", "placeholder",
	"fake", "dummy", "prefix",
	"pixel", "measurement", "upload", "job", "run", "pipeline", "artifact", "chunk", "etherscan.io", "cache", "row", "sort", "table",
	"base", "record",
	"invoice", "order", "ticket", "issue", "file", "folder", "document", "doc", "video", "channel", "message", "thread", "session_id",
	"client_id", "app_id",
}

// What a word tells of what stands beside it.
const (
	isTeller = 1 << iota
	isService
	isInnocent
	isCredential
	isLink
	isOpener
	isCloser
)

// told is what words tell, by their small letters.
var told = toldOf()

func toldOf() map[string]uint8 {
	all := map[string]uint8{}
	for tells, list := range map[uint8][]string{
		isTeller: tellers[:], isService: services[:], isInnocent: innocents[:], isCredential: credentialed[:], isLink: linking[:], isOpener: openers[:], isCloser: closers[:],
	} {
		for _, word := range list {
			all[word] |= tells
		}
	}
	return all
}

// tells returns what a word tells.
func tells(word string) uint8 {
	var small [24]byte
	if len(word) > len(small) {
		return 0
	}
	for i := range len(word) {
		c := word[i]
		if class[c]&upper != 0 {
			c += 'a' - 'A'
		}
		small[i] = c
	}
	return told[string(small[:len(word)])]
}

// nearTo tells what the words of a line around the part from i to end tell.
func (f *finder) nearTo(i, end int) (n near) {
	from := max(0, i-around)
	before := f.text[from+strings.LastIndexByte(f.text[from:i], '\n')+1 : i]
	if strings.TrimLeft(before, " \t>$") == "" { // it begins its line: what is asked for is on the one before
		before = strings.TrimRight(f.text[from:i], " \t\r\n>$")
		before = before[strings.LastIndexByte(before, '\n')+1:]
	}
	after := f.text[end:min(len(f.text), end+behind)]
	after, _, _ = strings.Cut(after, "\n")
	n.read(before, true)
	n.read(after, false)
	return n
}

// read reads the words on one side. What follows a value seldom says that it is an id.
func (n *near) read(part string, isBefore bool) {
	words := strings.FieldsFunc(part, func(r rune) bool { return r < 0x80 && class[r]&alnum == 0 && r != '-' })
	for i, word := range words {
		isClose := isBefore && i >= len(words)-closeBy
		before := ""
		if i > 0 {
			before = words[i-1]
		}
		if at := strings.LastIndexByte(word, '-'); at > 0 {
			n.innocent = n.innocent || isClose && isOneOf(word[at+1:], []string{"id", "hash", "sha", "digest", "uuid"})
			before, word = word[strings.LastIndexByte(word[:at], '-')+1:at], word[at+1:]
		} else {
			isTold := i+1 < len(words) && isOneOf(words[i+1], []string{"this", "that", "it"}) // do not commit this
			n.innocent = n.innocent || isClose && !isTold && tells(word)&isInnocent != 0
		}
		switch {
		case len(word) < 2 || len(word) > 20:
		case tells(word)&isTeller != 0:
			n.tells = true
		case strings.EqualFold(word, "key") && (isOneOf(before, keys[:]) || tells(before)&isService != 0):
			n.tells = true
		case strings.EqualFold(word, "key") && isBefore && i >= len(words)-2 && (i == len(words)-1 || len(words[i+1]) < 4):
			n.key = true
		case strings.EqualFold(word, "key") && i+1 < len(words) && isOneOf(words[i+1], []string{"is", "to", "for"}):
			n.tells = true
		case tells(word)&isService != 0:
			n.service = true
		}
	}
}

// standsAlone reports whether the part from i to end is a word of its own: no part of a path, an address or a call.
func (f *finder) standsAlone(i, end int) bool {
	if i > 0 && strings.IndexByte(" \t\n\"'`=:(>,;", f.text[i-1]) < 0 {
		return false
	}
	return end >= len(f.text) || strings.IndexByte(" \t\r\n\"'`,;)<&\\", f.text[end]) >= 0 ||
		strings.IndexByte(".:!?", f.text[end]) >= 0 && (end+1 == len(f.text) || f.text[end+1] <= ' ')
}

// byContext reports whether a value that has the look of a key is one by the words around it: letters of both cases and digits beside a word that
// tells or the name of a service, and the digits of a hexadecimal number or a UUID likewise, unless a word says that it is an id or a digest.
func (f *finder) byContext(v string, i int) bool {
	isHex := len(v) >= 32 && count(v, hexLower) == len(v) && count(v, digit) >= 4 && count(v, letter) >= 4
	isBase32 := len(v) >= 16 && count(v, upper)+count(v, digit) == len(v) && count(v, digit) >= 2 && count(v, upper) >= 4 && distinct(v) >= 9
	isLow := len(v) >= 32 && count(v, lower|digit) == len(v) && count(v, digit) >= 4 && distinct(v) >= 12 && isRandom(v)
	if !isHex && !isUUID(v) && !isBase32 && !isLow && !isDrawn(v) || !f.standsAlone(i, padded(f.text, i+len(v))) {
		return false
	}
	n := f.nearTo(i, i+len(v))
	if n.innocent {
		return false
	}
	if isUUID(v) {
		return n.tells && n.service
	}
	if isLow && !isHex || isBase32 && count(v, digit) < 4 {
		return n.tells
	}
	return n.tells || (n.key || n.service && !isTyped(v)) && (n.service || !isHex)
}

// isTyped reports whether a value begins as an id that says of what it is, as dpl_….
func isTyped(v string) bool {
	at := strings.IndexByte(v, '_')
	return at > 1 && at < 9 && count(v[:at], lower) == at
}

// padded is where the equals signs end that fill base64 up, after a place.
func padded(text string, at int) int {
	for n := 0; n < 2 && at < len(text) && text[at] == '='; n++ {
		at++
	}
	return at
}
