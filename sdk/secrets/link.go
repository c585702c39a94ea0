package secrets

import "strings"

// capabilities are parts of the paths of addresses whose last part lets anyone in who knows it.
var capabilities = [...]string{
	"hook", "/trigger/", "/push/", "/ping/", "/invite", "/reset", "/verify", "/magic", "/private", "/feed/", "/confirm",
	"/unsubscribe/", "/share", "/deploy/",
	"/key/", "/token/", "/secret/", "/login/", "/auth/", "/api/push", "/setup/", "/activate",
}

// personal are parts of the paths of addresses that are sent to one person.
var personal = [...]string{"/private", "/reset", "/verify", "/invite", "/magic", "/confirm", "/activate", "/login/", "/unsubscribe/", "/password/", "reset-password", "password_reset"}

// gateways are parts of the names of hosts that take a key as the last part of a path.
var gateways = [...]string{
	"alchemy", "infura", "quiknode", "quicknode", "ankr", "moralis", "blastapi", "getblock", "nodereal", "chainstack", "drpc", "pokt",
	"hook", "pipedream", "hc-ping",
	"helius", "tenderly", "blockpi", "opsgenie", "chatgpt-webhook", "exchangerate-api", "logic.azure", "m.pipedream", "ifttt",
	"healthchecks", "webhook.site",
}

// Bounds of an address, in bytes.
const (
	shortestHost = 4
	longestHost  = 128
	longestLink  = 512
)

// linked adds the part of the path of an address that lets in who knows it, as that of a webhook. The address is the text from start to end,
// without its scheme. It returns where the part ends; 0: there is none.
func (f *finder) linked(start int) int {
	if slash := strings.IndexByte(f.text[start:min(len(f.text), start+longestHost)], '/'); slash < shortestHost {
		return 0
	}
	end := start
	for end < len(f.text) && end-start < longestLink && f.text[end] > ' ' && strings.IndexByte("\"'`<>\\?#),;|", f.text[end]) < 0 {
		end++
	}
	link := f.text[start:end]
	slash := strings.IndexByte(link, '/')
	if slash < 0 || len(link)-slash < shortestSeed/2 {
		return 0
	}
	host, path := link[:slash], link[slash:]
	opens, isHook := hasPart(host, gateways[:]), strings.Contains(link, "hook") && !strings.Contains(host, "example") && !strings.Contains(host, "github.com")
	if !opens && !isHook && !hasPart(path, capabilities[:]) {
		return 0
	}
	opened := hasPart(path, personal[:])
	for at := start + slash; at < end; {
		next := at + 1
		for next < end && f.text[next] != '/' {
			next++
		}
		part := f.text[at+1 : next]
		trimmed := strings.TrimRight(part, ".:!")
		trimmed = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(trimmed, ".ics"), ".xml"), ".rss")
		if n := len(trimmed); n > 0 && !isSample(trimmed) && (isLinkKey(trimmed, isHook || opens, opened) || isHook && at > start+slash && next >= end-1 && n >= 7 && isLow(trimmed)) {
			f.add("webhook", at+1, at+1+n)
			return max(at+1+n, end)
		}
		at = next
	}
	return 0
}

// isLinkKey reports whether a part of a path is drawn by a machine. Where the address is known to have a key, it may be a UUID or hexadecimal.
func isLinkKey(v string, known, opened bool) bool {
	v = strings.TrimPrefix(v, "private-")
	if (known || opened) && (isUUID(v) || len(v) >= 20 && count(v, hexLower) == len(v) && count(v, digit) > 3) {
		return true
	}
	return len(v) >= shortestSeed && isRandom(v) && (!endsInDigest(v) || opened && len(v) >= 32)
}

// isLow reports whether a value is small letters and digits that are no word.
func isLow(v string) bool {
	return count(v, lower|digit) == len(v) && (count(v, digit) > 0 && changes(v) > 0 || len(v) >= 12 && isUnspoken(v)) && trailing(v) < len(v)-2
}

func hasPart(text string, list []string) bool {
	for _, part := range list {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// queries are names of parameters of addresses whose values let anyone in who knows them.
var queries = [...]string{"sig", "signature", "token", "key", "code", "secret", "password", "pwd", "auth", "ticket", "sid", "jwt", "hmac", "appid", "otp", "invite", "access", "hash", "st", "k", "pass", "credential"}

// query adds the value of a parameter of an address that begins at a place, with its question mark or ampersand, and returns where the value ends;
// 0: it tells nothing.
func (f *finder) query(i int) int {
	eq := i + 1
	for eq < len(f.text) && eq-i < 40 && class[f.text[eq]]&inToken != 0 {
		eq++
	}
	if eq >= len(f.text) || f.text[eq] != '=' || eq == i+1 {
		return 0
	}
	name := f.text[i+1 : eq]
	if at := strings.LastIndexAny(name, "-_"); at >= 0 {
		if strings.EqualFold(name, "page_token") || strings.EqualFold(name, "next_token") || strings.HasPrefix(name, "utm") {
			return 0
		}
		name = name[at+1:]
	}
	if !isOneOf(name, queries[:]) {
		return 0
	}
	end := eq + 1
	for end < len(f.text) && end-eq < longestValue && (class[f.text[end]]&(inDotted|inBase64) != 0 || f.text[end] == '%' || f.text[end] == '~') {
		end++
	}
	v := strings.TrimRight(f.text[eq+1:end], ".")
	isHex := len(v) >= 24 && count(v, hexLower|upper) == len(v) && count(v, digit) > 3 && !isOneOf(name, []string{"hash", "k", "key", "code"})
	isLong := len(v) >= 16 && (isRandom(v) && !endsInDigest(v) || isUUID(v) && name != "key")
	if v == "" || standsFor(v) || isPath(v) || !isHex && !isLong && !(len(v) >= 8 && isGarbled(v)) {
		return 0
	}
	f.add(Token, eq+1, eq+1+len(v))
	return eq + 1 + len(v)
}
