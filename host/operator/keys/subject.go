package keys

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
)

// Issuer says how the tokens of an authorization server elsewhere become keys.
type Issuer struct {
	Audience   string   `json:"audience,omitempty"`   // for whom tokens are; empty: the public URL and /mcp
	JWKS       string   `json:"jwks,omitempty"`       // the URL of the keys that sign them; empty: what the metadata of the server say
	Algorithms []string `json:"algorithms,omitempty"` // by which they are signed; empty: RS256, PS256, ES256 and EdDSA
	Agent      string   `json:"agent,omitempty"`      // the claim that names the agent, which nobody can choose; empty: sub
	Rules      []Rule   `json:"rules"`                // the first that fits counts
}

// Rule is what the holders of tokens with some claims may do.
type Rule struct {
	Claims map[string]string `json:"claims,omitempty"` // each has the value, or a list that has it; none: all tokens fit
	Spaces []string          `json:"spaces,omitempty"` // for which the rule is; none: it is for the server's own memory
	// Namespaces are those of a grant. {agent} in them stands for the name of the agent.
	Namespaces []string       `json:"namespaces"`
	Rights     []memory.Right `json:"rights"`
	Limits     Limits         `json:"limits,omitzero"`
}

const (
	mostRules = 100
	MaxSpaces = 1000 // of a rule
)

// Check returns what is wrong with the rules of an issuer.
func (i Issuer) Check() error {
	if len(i.Rules) == 0 || len(i.Rules) > mostRules {
		return fmt.Errorf("%d rules: an issuer has 1 to %d", len(i.Rules), mostRules)
	}
	for n, rule := range i.Rules {
		if _, err := rule.grant("agent").normal(time.Time{}); err != nil {
			return fmt.Errorf("rule %d: %w", n+1, err)
		}
		if slices.Contains(rule.Spaces, "") || len(rule.Spaces) > MaxSpaces {
			return fmt.Errorf("rule %d: it has %d spaces: name at most %d, or none for the server's own memory", n+1, len(rule.Spaces), MaxSpaces)
		}
	}
	return nil
}

// GrantFor returns what the holder of a token with claims may do in the space with a name, or in the server's own memory for an empty one.
func (i Issuer) GrantFor(claims map[string]any, space string) (Grant, error) {
	named := i.Agent
	if named == "" {
		named = "sub"
	}
	name, _ := claims[named].(string)
	if name == "" {
		return Grant{}, denied("the token has no claim %q, which names the agent", named)
	}
	for _, rule := range i.Rules {
		if rule.isFor(space) && rule.fits(claims) {
			return rule.grant(agentNamed(name)), nil
		}
	}
	return Grant{}, denied("no rule for tokens of the issuer fits the claims of this one")
}

func (r Rule) grant(agent string) Grant {
	g := Grant{Agent: agent, Rights: r.Rights, Limits: r.Limits}
	for _, name := range r.Namespaces {
		g.Namespaces = append(g.Namespaces, strings.ReplaceAll(name, "{agent}", agent))
	}
	return g
}

func (r Rule) isFor(space string) bool {
	if space == "" {
		return len(r.Spaces) == 0
	}
	return slices.Contains(r.Spaces, space)
}

func (r Rule) fits(claims map[string]any) bool {
	for name, want := range r.Claims {
		if !hasValue(claims[name], want) {
			return false
		}
	}
	return true
}

// hasValue reports whether a claim is a value, or has it. Scopes are words of one text.
func hasValue(claim any, want string) bool {
	switch c := claim.(type) {
	case string:
		return c == want || slices.Contains(strings.Fields(c), want)
	case bool:
		return strconv.FormatBool(c) == want
	case float64:
		return strconv.FormatFloat(c, 'f', -1, 64) == want
	case []any:
		return slices.ContainsFunc(c, func(each any) bool { text, ok := each.(string); return ok && text == want })
	}
	return false
}

// agentNamed returns the name of the agent for that of a subject. Names that are no agents' get a digest, so that no two become one.
func agentNamed(name string) string {
	if checkName("agent", name) == nil && !strings.HasSuffix(name, "/") {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	plain := strings.Trim(notOfName().ReplaceAllString(name, "-"), "-/")
	return plain[:min(len(plain), longestPart)] + "-" + hex.EncodeToString(sum[:6])
}

// Subject is who an authorization server elsewhere knows.
type Subject struct {
	Issuer string `json:"issuer"`
	ID     string `json:"id"`
}

// OfSubject returns the key of a subject; same reports whether it has a grant.
func (k *Keys) OfSubject(of Subject, g Grant) (key Key, same bool, err error) {
	k.mu.RLock()
	s := k.bySubject[of]
	k.mu.RUnlock()
	if s == nil {
		return key, false, nil
	}
	if g, err = g.normal(k.o.Clock()); err != nil {
		return key, false, invalid("%v", err)
	}
	return s.Key, reflect.DeepEqual(s.Grant, g), k.check(s)
}

// SetSubject makes the key of a subject, or gives it a grant in place of the former. A key that was revoked stays so.
func (k *Keys) SetSubject(of Subject, g Grant) (Key, error) {
	k.changing.Lock()
	defer k.changing.Unlock()
	now := k.o.Clock().UTC()
	g, err := g.normal(now)
	if err != nil {
		return Key{}, invalid("%v", err)
	}
	file := k.snapshot()
	at := slices.IndexFunc(file.Keys, func(s *storedKey) bool { return s.Subject != nil && *s.Subject == of })
	for i, s := range file.Keys {
		if i != at && s.Agent == g.Agent && s.Holds(now) == nil {
			return Key{}, &memory.Error{Code: memory.Conflict, Message: fmt.Sprintf("the agent %q has another key, so that a token for it is refused", g.Agent)}
		}
	}
	var s storedKey
	switch {
	case at >= 0 && k.check(file.Keys[at]) != nil:
		return file.Keys[at].Key, k.check(file.Keys[at])
	case at >= 0:
		s = *file.Keys[at]
		s.Grant = g
		file.Keys[at] = &s
	case len(file.Keys) >= MaxKeys-forOperators:
		return Key{}, exhausted(MaxKeys-forOperators, "the server has %d keys, and the rest is for operators: ask one to delete some, with alcove key delete", len(file.Keys))
	default:
		id := make([]byte, idBytes)
		rand.Read(id)
		s.Key = Key{ID: hex.EncodeToString(id), Grant: g, Created: now, Subject: &of}
		file.Keys = append(file.Keys, &s)
	}
	if err := k.replace(file); err != nil {
		return Key{}, fmt.Errorf("keep the key of %s: %w", of.ID, err)
	}
	return s.Key, nil
}
