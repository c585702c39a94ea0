package keys

import (
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

// Bounds of delegated keys.
const (
	MaxDepth     = 3                   // delegations, one from the other
	MaxDelegated = 50                  // keys that hold, delegated from one key or its delegates; the owner has as many for each family
	MaxLife      = 30 * 24 * time.Hour // of a delegated key
	maxDrafts    = 1_000
	keptEnded    = 7 * 24 * time.Hour // how long an ended delegated key is listed
	mostEnded    = 1_000              // ended delegated keys that are listed
)

// plainName matches what a delegated agent is called after the delegating one.
var plainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`) })

// Draft makes a key for an agent that works for a caller, with a part of the caller's rights. It holds from Issue on. g.Agent is what
// the agent is called after the caller's name and a slash. The key does not outlive the caller's.
func (k *Keys) Draft(caller memory.Caller, family string, g Grant) (Key, string, error) {
	key, err := k.draft(caller, family, g)
	if err != nil {
		return key, "", err
	}
	s, secret := newKey(key)
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.drafts) >= maxDrafts { // of calls that failed
		k.drafts = slices.Delete(k.drafts, 0, 1)
	}
	k.drafts = append(k.drafts, s)
	return s.Key, secret, nil
}

// Now returns the instant by which keys expire.
func (k *Keys) Now() time.Time { return k.o.Clock() }

func (k *Keys) draft(caller memory.Caller, family string, g Grant) (key Key, err error) {
	now := k.o.Clock().UTC()
	if !plainName().MatchString(g.Agent) {
		return key, invalid("the name %.80q: it has 1 to 64 of the characters A-Z a-z 0-9 . _ -", g.Agent)
	}
	if g.Expires.IsZero() || g.Expires.After(now.Add(MaxLife)) {
		return key, invalid("a delegated key lasts at most %v", MaxLife)
	}
	g.Agent = nameUnder(caller.Agent, g.Agent)
	return k.delegated(caller, &Delegation{Family: family, Parent: caller.Key, Depth: 1}, g)
}

// delegated returns the key, without id and secret, that a caller delegates.
func (k *Keys) delegated(caller memory.Caller, by *Delegation, g Grant) (key Key, err error) {
	now := k.o.Clock().UTC()
	if !caller.IsOwner() {
		by.Principal = caller.AsMember()
		if err := k.attach(by, &g); err != nil {
			return key, err
		}
	}
	if g, err = g.normal(now); err != nil {
		return key, invalid("%v", err)
	}
	if err := within(g, caller.Rights); err != nil {
		return key, err
	}
	return Key{Grant: g, Created: now, By: by}, k.checkDelegated(g.Agent, by)
}

// attach bounds a delegation by the key of the caller.
func (k *Keys) attach(by *Delegation, g *Grant) error {
	if err := k.Check(by.Parent); err != nil {
		return err
	}
	k.mu.RLock()
	parent := k.byID[by.Parent]
	k.mu.RUnlock()
	if parent == nil {
		return denied("the key %.64s was deleted", by.Parent)
	}
	if parent.By != nil {
		by.Depth = parent.By.Depth + 1
	}
	if by.Depth > MaxDepth {
		return exhausted(MaxDepth, "keys are delegated at most %d times, one from the other", MaxDepth)
	}
	if !parent.Expires.IsZero() && g.Expires.After(parent.Expires) {
		g.Expires = parent.Expires
	}
	return nil
}

// notOfName matches what may not be in the name of a key's agent.
var notOfName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^A-Za-z0-9._/-]+`) })

// nameUnder returns the name of an agent that works for another. Only agents without a key have names of any form.
func nameUnder(agent, name string) string {
	if agent = strings.Trim(notOfName().ReplaceAllString(agent, "-"), "-/"); agent == "" {
		agent = "owner"
	}
	return agent + "/" + name
}

// within returns an error for a grant that exceeds some rights.
func within(g Grant, rights memory.Rights) error {
	ceiling := rights.Ceiling() // rights records bound the holder as they bind the caller
	for _, right := range g.Rights {
		if right != Read && right != Write && !rights.May(right) {
			return denied("the right %s cannot be delegated by a caller that lacks it", right)
		}
		for _, name := range g.Namespaces {
			if right == Read && !mayPass(name, ceiling.MayRead, rights.MayRead) || right == Write && !mayPass(name, ceiling.MayWrite, rights.MayWrite) {
				return denied("the right to %s namespace %q cannot be delegated by a caller that lacks it", right, name)
			}
		}
	}
	return nil
}

func mayPass(name string, ceiling, now func(string) bool) bool {
	if namespace.IsPattern(name) {
		return ceiling(name)
	}
	return now(name)
}

// checkDelegated returns an error if there are as many delegated keys as there may be, or if an agent with another key has the name.
func (k *Keys) checkDelegated(agent string, by *Delegation) error {
	now, related, kept := k.o.Clock(), 0, 0
	k.mu.RLock()
	defer k.mu.RUnlock()
	origin := k.origin(by)
	for _, s := range k.file.Keys {
		if s.By == nil || s.Holds(now) == nil {
			kept++
		}
		switch {
		case s.Holds(now) != nil:
		case s.Agent == agent:
			return &memory.Error{Code: memory.Conflict, Message: fmt.Sprintf("agent %q has a key: choose another name", agent)}
		case s.By != nil && k.origin(s.By) == origin:
			related++
		}
	}
	if related >= MaxDelegated {
		return exhausted(MaxDelegated, "%d keys are delegated for this caller and its agents, which is the limit: revoke one, or wait until one expires", related)
	}
	if most := MaxKeys - forOperators - mostEnded; kept >= most {
		return exhausted(most, "the server has %d keys, and the rest is for operators: ask one to delete some, with alcove key delete", kept)
	}
	return nil
}

// origin returns what a delegation comes from: the id of the key that was not delegated; for the owner, the first family.
func (k *Keys) origin(by *Delegation) string {
	for range MaxDepth + 1 {
		if by.Parent == "" {
			return "family " + by.Family
		}
		parent := k.byID[by.Parent]
		if parent == nil || parent.By == nil {
			break
		}
		by = parent.By
	}
	return by.Parent
}

// Issue has a drafted key hold.
func (k *Keys) Issue(id string) (Key, error) {
	k.changing.Lock()
	defer k.changing.Unlock()
	s := k.takeDraft(id)
	if s == nil {
		return Key{}, errors.New("the key was drafted too long ago: make another")
	}
	if err := k.checkDelegated(s.Agent, s.By); err != nil { // others may have been issued meanwhile
		return Key{}, err
	}
	file := k.snapshot()
	file.Keys = append(k.withoutPast(file.Keys), s)
	if err := k.replace(file); err != nil {
		return Key{}, fmt.Errorf("issue a key: %w", err)
	}
	return s.Key, nil
}

// takeDraft removes a draft and returns it; nil: there is none.
func (k *Keys) takeDraft(id string) *storedKey {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := slices.IndexFunc(k.drafts, func(s *storedKey) bool { return s.ID == id })
	if at < 0 {
		return nil
	}
	s := k.drafts[at]
	k.drafts = slices.Delete(k.drafts, at, at+1)
	return s
}

// withoutPast drops delegated keys that ended long ago, and the oldest of the others that ended if there are too many.
func (k *Keys) withoutPast(all []*storedKey) []*storedKey {
	now := k.o.Clock()
	all = slices.DeleteFunc(all, func(s *storedKey) bool { return s.By != nil && s.ended(now).Before(now.Add(-keptEnded)) })
	ended := 0
	for i, s := range slices.Backward(all) {
		if s.By == nil || s.ended(now).Equal(now) {
			continue
		}
		if ended++; ended > mostEnded {
			all = slices.Delete(all, i, i+1)
		}
	}
	return all
}

// ended returns when a key ended; now: it holds.
func (k Key) ended(now time.Time) time.Time {
	for _, end := range []time.Time{k.Revoked, k.Expires} {
		if !end.IsZero() && end.Before(now) {
			now = end
		}
	}
	return now
}

// DelegatedBy returns an error unless a family made a key for a caller.
func (k *Keys) DelegatedBy(caller memory.Caller, family, id string) error {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if s := k.byID[id]; s != nil && s.By != nil && s.By.Family == family && s.By.Parent == caller.Key {
		return nil
	}
	return &memory.Error{Code: memory.NotFound, Message: "this family made no such key for this caller"}
}

// withDelegated returns the ids of a key, first, and of those delegated from it.
func withDelegated(all []*storedKey, id string) []string {
	ids := []string{id}
	for at := 0; at < len(ids); at++ {
		for _, s := range all {
			if s.By != nil && s.By.Parent == ids[at] && !slices.Contains(ids, s.ID) {
				ids = append(ids, s.ID)
			}
		}
	}
	return ids
}

func invalid(format string, args ...any) error {
	return &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf(format, args...)}
}

func exhausted(limit int, format string, args ...any) error {
	return &memory.Error{Code: memory.Exhausted, Message: fmt.Sprintf(format, args...), Details: map[string]any{"limit": limit}}
}

func notFound(format string, args ...any) error {
	return &memory.Error{Code: memory.NotFound, Message: fmt.Sprintf(format, args...)}
}
