package signature

import (
	"crypto"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"strings"
)

// mostKeys bounds the signatures of a text.
const mostKeys = 8

// SignText returns the signatures of a text by all keys: for each, the public key, a colon and the signature, both in Base64; commas are
// between them. The domain keeps a signature from being one of anything else.
func SignText[K crypto.Signer](domain, text string, keys ...K) (string, error) {
	if len(keys) == 0 || len(keys) > mostKeys {
		return "", fmt.Errorf("there are %d keys: give from 1 to %d", len(keys), mostKeys)
	}
	all := make([]string, len(keys))
	for i, key := range keys {
		made, err := signedBy(key, []byte(domain+text))
		if err != nil {
			return "", err
		}
		all[i] = FormatPublic(key.Public().(ed25519.PublicKey)) + ":" + base64.StdEncoding.EncodeToString(made)
	}
	return strings.Join(all, ","), nil
}

// VerifyText returns the public keys that signed a text, as text, in the order of their signatures; without signatures none. It fails if one
// of them does not hold.
func VerifyText(domain, text, signatures string) ([]string, error) {
	if signatures == "" {
		return nil, nil
	}
	all := strings.Split(signatures, ",")
	if len(all) > mostKeys {
		return nil, fmt.Errorf("it has more than %d signatures", mostKeys)
	}
	keys := make([]string, len(all))
	for i, one := range all {
		public, made, _ := strings.Cut(one, ":")
		key, err := ParsePublic([]byte(public))
		if err != nil {
			return nil, fmt.Errorf("the key of a release %.60q: %w", public, err)
		}
		raw, err := base64.StdEncoding.Strict().DecodeString(made)
		if err != nil || !ed25519.Verify(key, []byte(domain+text), raw) {
			return nil, fmt.Errorf("it is not what the key %s signed", public)
		}
		keys[i] = public
	}
	return keys, nil
}
