package oauth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator/keys"
)

const (
	codeHolds    = time.Minute
	codeKept     = 10 * time.Minute // so that a code that is used again is known
	mostCodes    = 1000
	codeRandom   = 32 // bytes of a code that nobody can guess
	codeMark     = 16 // bytes by which the server knows a code as its own
	verifierLeft = 43 // characters of the shortest verifier and challenge
	verifierMost = 128
)

// decision is what a person allowed a client.
type decision struct {
	Holder    string      `json:"holder,omitempty"` // id of the key; empty: the operator
	Client    keys.Client `json:"client"`
	Grant     keys.Grant  `json:"grant"`
	Redirect  string      `json:"redirect"`
	Challenge string      `json:"challenge"`
	Issued    time.Time   `json:"issued"`
}

// code is a decision that waits for its client, or had one.
type code struct {
	decision
	Used     bool   `json:"used,omitempty"`
	Replayed bool   `json:"replayed,omitempty"` // it was presented again
	Key      string `json:"key,omitempty"`      // of the authorization that it became
}

// Codes are the codes of decisions, by their digest. They may be used concurrently.
type Codes struct {
	clock func() time.Time
	keep  func([]byte) error // for the next server; nil: codes end with this one

	mu   sync.Mutex
	kept map[string]code
}

// OpenCodes returns codes that an earlier server kept; kept is nil if none did. keep keeps them for the next one; nil: nothing does.
func OpenCodes(clock func() time.Time, kept []byte, keep func([]byte) error) (*Codes, error) {
	c := &Codes{clock: clock, keep: keep, kept: map[string]code{}}
	if kept == nil {
		return c, nil
	}
	if err := json.Unmarshal(kept, &c.kept); err != nil {
		return nil, fmt.Errorf("read the codes of an earlier server: %w", err)
	}
	return c, nil
}

var errTooMany = errors.New("there are too many codes")

// issue keeps a decision, whose code has a digest.
func (c *Codes) issue(digest string, d decision) error {
	d.Issued = c.clock().UTC()
	return c.change(func(kept map[string]code) error {
		maps.DeleteFunc(kept, func(_ string, each code) bool { return d.Issued.Sub(each.Issued) >= codeKept })
		if len(kept) >= mostCodes {
			return errTooMany
		}
		kept[digest] = code{decision: d}
		return nil
	})
}

// take returns the code with a digest, once. Later it returns the id of the key that the code became, which is to be revoked; empty: there
// is none yet.
func (c *Codes) take(digest string) (found *code, revoke string, err error) {
	err = c.change(func(kept map[string]code) error {
		one, there := kept[digest]
		switch {
		case !there:
			return nil
		case one.Used:
			one.Replayed, revoke = true, one.Key
		case c.clock().Sub(one.Issued) < codeHolds:
			taken := one
			found = &taken
		}
		one.Used = true
		kept[digest] = one
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	return found, revoke, nil
}

// redeemed notes the key of a code, and reports whether the code was presented again meanwhile.
func (c *Codes) redeemed(digest, key string) (replayed bool, err error) {
	err = c.change(func(kept map[string]code) error {
		one := kept[digest]
		one.Key, replayed = key, one.Replayed
		kept[digest] = one
		return nil
	})
	return replayed, err
}

// change changes a copy of the codes, which are then kept in their place.
func (c *Codes) change(do func(map[string]code) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := maps.Clone(c.kept)
	if err := do(next); err != nil {
		return err
	}
	if c.keep != nil && !maps.EqualFunc(next, c.kept, code.equal) {
		data, err := json.Marshal(next)
		if err == nil {
			err = c.keep(data)
		}
		if err != nil {
			return &memory.Error{Code: memory.Unavailable, Retryable: true, Message: fmt.Sprintf("the code could not be kept: %v", err)}
		}
	}
	c.kept = next
	return nil
}

// equal reports whether nothing happened to a code since it was another one.
func (c code) equal(other code) bool {
	return c.Used == other.Used && c.Replayed == other.Replayed && c.Key == other.Key
}

// newCode returns a code, by which a client presents a decision.
func (s *Server) newCode() string {
	random := make([]byte, codeRandom)
	rand.Read(random)
	return base64.RawURLEncoding.EncodeToString(append(random, s.markCode(random)...))
}

// isCode reports whether this server issued a code, whatever became of it.
func (s *Server) isCode(text string) bool {
	bytes, err := base64.RawURLEncoding.DecodeString(text)
	return err == nil && len(bytes) == codeRandom+codeMark && subtle.ConstantTimeCompare(bytes[codeRandom:], s.markCode(bytes[:codeRandom])) == 1
}

func (s *Server) markCode(random []byte) []byte { return s.mac("code", string(random))[:codeMark] }

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
