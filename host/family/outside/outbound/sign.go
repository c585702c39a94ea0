package outbound

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/registry"
)

// The headers of signed requests, as of Standard Webhooks 1.0: the signature is "v1," and the base64 of the HMAC-SHA256 of
// ID.TIMESTAMP.BODY. Receivers reject timestamps more than five minutes off, and ids that they have seen.
const (
	signedID        = "Webhook-Id" // of the message; a family sets it, so that a repeated message has the same
	signedTime      = "Webhook-Timestamp"
	signedSignature = "Webhook-Signature"
)

// secretPrefix precedes a key in base64.
const secretPrefix = "whsec_"

// longestID bounds a family's id of a message, in bytes.
const longestID = 128

// shortestSecret is the least length of a key that signs, in bytes.
const shortestSecret = 16

// authenticate adds an endpoint's key to a request, or signs it. The key is empty if the endpoint has none.
func (c Client) authenticate(r *http.Request, e registry.Endpoint, key string, body []byte) error {
	if e.Auth != registry.HMAC {
		if key != "" {
			r.Header.Set("Authorization", "Bearer "+key)
		}
		return nil
	}
	secret, err := secretOf(key)
	if err != nil {
		return &Failure{reason: noKey, cause: err, noEffect: true}
	}
	now := time.Now
	if c.Clock != nil {
		now = c.Clock
	}
	id, at := r.Header.Get(signedID), strconv.FormatInt(now().Unix(), 10)
	switch {
	case id == "":
		id = "msg_" + randomID()
	case len(id) > longestID || strings.Contains(id, "."):
		return fmt.Errorf("the header %s has 1 to %d bytes, without a dot", signedID, longestID)
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(id + "." + at + "."))
	mac.Write(body)
	r.Header.Set(signedID, id)
	r.Header.Set(signedTime, at)
	r.Header.Set(signedSignature, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return nil
}

// secretOf returns the bytes of a key.
func secretOf(key string) ([]byte, error) {
	secret, err := []byte(key), error(nil)
	if encoded, ok := strings.CutPrefix(key, secretPrefix); ok {
		secret, err = base64.StdEncoding.DecodeString(encoded)
	}
	if err == nil && len(secret) < shortestSecret {
		err = fmt.Errorf("the key has %d bytes: a signature needs at least %d", len(secret), shortestSecret)
	}
	return secret, err
}

func randomID() string {
	id := make([]byte, 16)
	rand.Read(id)
	return hex.EncodeToString(id)
}
