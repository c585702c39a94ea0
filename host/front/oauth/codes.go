package oauth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/operator/keys"
)

const (
	codeHolds    = time.Minute
	codeKept     = 10 * time.Minute // so that a code that is used again is known
	mostCodes    = 1000
	verifierLeft = 43 // characters of the shortest verifier and challenge
	verifierMost = 128
)

// decision is what a person allowed a client.
type decision struct {
	holder    string // id of the key; empty: the operator
	client    keys.Client
	grant     keys.Grant
	redirect  string
	challenge string
	issued    time.Time
}

// code is a decision that waits for its client, or had one.
type code struct {
	decision
	used     bool
	replayed bool   // it was presented again
	key      string // of the authorization that it became
}

// codes are the codes of decisions, by their digest.
type codes struct {
	clock func() time.Time

	mu   sync.Mutex
	kept map[[sha256.Size]byte]*code
}

func newCodes(clock func() time.Time) *codes {
	return &codes{clock: clock, kept: map[[sha256.Size]byte]*code{}}
}

// issue returns the code of a decision; false: there are too many.
func (c *codes) issue(d decision) (string, bool) {
	now := c.clock()
	d.issued = now
	secret := make([]byte, 32)
	rand.Read(secret)
	text := base64.RawURLEncoding.EncodeToString(secret)
	c.mu.Lock()
	defer c.mu.Unlock()
	for by, each := range c.kept {
		if now.Sub(each.issued) >= codeKept {
			delete(c.kept, by)
		}
	}
	if len(c.kept) >= mostCodes {
		return "", false
	}
	c.kept[sha256.Sum256([]byte(text))] = &code{decision: d}
	return text, true
}

// take returns the code with a text, once. Later it returns the id of the key that the code became, which is to be revoked; empty: there is
// none yet.
func (c *codes) take(text string) (found *code, revoke string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found = c.kept[sha256.Sum256([]byte(text))]
	switch {
	case found == nil:
		return nil, ""
	case found.used:
		found.replayed = true
		return nil, found.key
	}
	found.used = true
	if c.clock().Sub(found.issued) >= codeHolds {
		return nil, ""
	}
	return found, ""
}

// became notes the key of a code, and reports whether the code was presented again meanwhile.
func (c *codes) became(one *code, key string) (replayed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one.key = key
	return one.replayed
}
