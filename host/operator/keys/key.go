// Package keys keeps the API keys of a data directory: who the holder of a key is, and what they may do.
package keys

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/internal/namespace"
	"github.com/alcove-memory/alcove/host/memory"
)

// Bounds of keys.
const (
	MaxKeys       = 10_000 // in a data directory, revoked and expired ones included
	forOperators  = 1_000  // of these, which delegated keys leave to operators
	MaxNamespaces = 64     // of a key
	MaxRights     = 64     // of a key
	longestName   = 128    // characters of an agent's name, a namespace or a family's
)

// The rights to namespaces. The others are those of package memory.
const (
	Read  = memory.ToRead
	Write = memory.ToWrite
)

// Grant is what a key stands for.
type Grant struct {
	Agent string `json:"agent"` // the name of its holder, whatever a client calls itself
	// Namespaces are the names and patterns that read and write apply to, such as "notes" and "team/*"; "*" means all.
	Namespaces []string       `json:"namespaces"`
	Rights     []memory.Right `json:"rights"`
	Expires    time.Time      `json:"expires,omitzero"` // zero: never
	Limits     Limits         `json:"limits,omitzero"`
	Device     string         `json:"device,omitempty"` // what its holder presents it from, who may have several; empty: unknown
}

// Key is an issued key, without its secret.
type Key struct {
	ID string `json:"id"`
	Grant
	Created time.Time `json:"created"`
	Revoked time.Time `json:"revoked,omitzero"` // zero: it is not
	// By is set for a key that a family made for its caller, or that a person gave a client, with a part of that caller's rights.
	By *Delegation `json:"by,omitempty"`
	// Subject is set for a key whose holder presents tokens of an authorization server elsewhere.
	Subject *Subject `json:"subject,omitempty"`
}

// Delegation is the origin of a delegated key.
type Delegation struct {
	Family string `json:"family,omitempty"` // empty: it is a client's
	// Client is who has tokens of the key, in place of its secret; nil: nobody.
	Client *Client `json:"client,omitempty"`
	// Parent is the id of the delegating caller's key, with which the key ends; empty: that was the owner.
	Parent string `json:"parent,omitempty"`
	// Principal is the agent whose memberships of scopes the key has; empty: its own.
	Principal string `json:"principal,omitempty"`
	Depth     int    `json:"depth"` // 1 if it was delegated by a key that is not, or by the owner
}

// principal returns the agent whose memberships of scopes the key has; empty: its own.
func (k Key) principal() string {
	if k.By == nil {
		return ""
	}
	return k.By.Principal
}

// parent returns the id of the key that the key was delegated from; empty: it was from none.
func (k Key) parent() string {
	if k.By == nil {
		return ""
	}
	return k.By.Parent
}

// Holds returns why a key does not hold at an instant; nil: it does.
func (k Key) Holds(now time.Time) error {
	switch {
	case !k.Revoked.IsZero():
		return denied("the key %s was revoked: ask the memory's owner for another", k.ID)
	case !k.Expires.IsZero() && !now.Before(k.Expires):
		return denied("the key %s expired at %s: ask the memory's owner for another", k.ID, k.Expires.UTC().Format(time.RFC3339))
	}
	return nil
}

// Caller returns the caller that a holder of the key is.
func (k Key) Caller() memory.Caller {
	var read, write []string
	var further []memory.Right
	for _, right := range k.Rights {
		switch right {
		case Read:
			read = k.Namespaces
		case Write:
			write = k.Namespaces
		default:
			further = append(further, right)
		}
	}
	return memory.Caller{Agent: k.Agent, Key: k.ID, Principal: k.principal(), Rights: memory.RightsTo(read, write).LimitedTo(further)}
}

// nameForm matches names of agents, namespaces and families.
var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9._/-]+$`) })

func checkName(what, name string) error {
	if len(name) > longestName || !nameForm().MatchString(name) {
		return fmt.Errorf("%s %.140q: a name has 1 to %d of the characters A-Z a-z 0-9 . _ / -", what, name, longestName)
	}
	return nil
}

// normal returns a grant in its normal form, or what is wrong with it.
func (g Grant) normal(now time.Time) (Grant, error) {
	if err := checkName("agent", g.Agent); err != nil {
		return g, err
	}
	if g.Device != "" {
		if err := checkName("device", g.Device); err != nil {
			return g, err
		}
	}
	if len(g.Namespaces) == 0 || len(g.Namespaces) > MaxNamespaces {
		return g, fmt.Errorf("%d namespaces: name 1 to %d, or * for all", len(g.Namespaces), MaxNamespaces)
	}
	for _, name := range g.Namespaces {
		if name == namespace.All {
			continue
		}
		if err := checkName("namespace", strings.TrimSuffix(name, "/"+namespace.All)); err != nil {
			return g, err
		}
	}
	if len(g.Rights) == 0 || len(g.Rights) > MaxRights {
		return g, fmt.Errorf("%d rights: name 1 to %d of %s", len(g.Rights), MaxRights, rightNames)
	}
	for _, right := range g.Rights {
		if err := checkRight(right); err != nil {
			return g, err
		}
	}
	if !slices.Contains(g.Rights, Read) && !slices.Contains(g.Rights, Write) {
		return g, errors.New("the rights have neither read nor write: a key without them can do nothing")
	}
	if !g.Expires.IsZero() && !g.Expires.After(now) {
		return g, fmt.Errorf("the key would have expired at %s: name a later instant", g.Expires.UTC().Format(time.RFC3339))
	}
	if err := g.Limits.check(); err != nil {
		return g, err
	}
	g.Namespaces, g.Rights, g.Expires = namespace.Set(g.Namespaces), slices.Clone(g.Rights), g.Expires.UTC()
	slices.Sort(g.Rights)
	g.Rights = slices.Compact(g.Rights)
	return g, nil
}

const rightNames = "read, write, branch, config, scope.admin, site.admin, act_as, family:NAME"

func checkRight(right memory.Right) error {
	family, ofFamily := strings.CutPrefix(string(right), "family:")
	switch {
	case ofFamily && family != memory.AllFamilies:
		return checkName("family", family)
	case memory.IsRight(right):
		return nil
	}
	return fmt.Errorf("%.140q is not a right: choose from %s", right, rightNames)
}

// denied returns an error for a client with a key that does not hold.
func denied(format string, args ...any) error {
	return &memory.Error{Code: memory.Denied, Message: fmt.Sprintf(format, args...)}
}

// byAge orders keys by creation, then id.
func byAge(a, b Key) int { return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.ID, b.ID)) }
