package configfile

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
)

// keys compares keys by their agents. A policy cannot change: an agent gets a new key, and those that differ are revoked after that.
func (f *File) keys(ctx context.Context, s operator.Server) ([]Change, error) {
	if f.Keys == nil {
		return nil, nil
	}
	list, err := operator.Query(ctx, s, operator.ListKeys)
	if err != nil {
		return nil, fmt.Errorf("list the keys: %w", err)
	}
	changes := f.Keys.limits(list.Limits)
	live := liveKeys(list.Keys)
	for _, agent := range slices.Sorted(maps.Keys(f.Keys.Agents)) {
		found, err := f.Keys.Agents[agent].compare(agent, live[agent])
		if err != nil {
			return nil, fmt.Errorf("key of %s: %w", agent, err)
		}
		changes = append(changes, found...)
	}
	for _, agent := range slices.Sorted(maps.Keys(live)) {
		if _, named := f.Keys.Agents[agent]; !named && f.Keys.Prune {
			changes = append(changes, revocations(live[agent], "the file does not name the agent")...)
		}
	}
	return changes, nil
}

// liveKeys are the keys that operators made and that hold, by agent.
func liveKeys(list []operator.Key) map[string][]operator.Key {
	live, now := map[string][]operator.Key{}, time.Now()
	for _, k := range list {
		if k.By == nil && k.Holds(now) == nil {
			live[k.Agent] = append(live[k.Agent], k)
		}
	}
	return live
}

func (k *Keys) limits(have operator.KeyLimits) []Change {
	if k.Limits == nil {
		return nil
	}
	want := *k.Limits
	details := differences(have, want.Effective())
	if len(details) == 0 {
		return nil
	}
	return []Change{{Does: Alter, Section: "keys", Name: "limits", Details: details, act: func(ctx context.Context, s operator.Server) (Made, error) {
		_, err := operator.Call(ctx, s, operator.LimitKeys, want)
		return Made{}, err
	}}}
}

func (k Key) compare(agent string, live []operator.Key) ([]Change, error) {
	expires, err := k.end()
	if err != nil {
		return nil, err
	}
	want := policy{sorted(k.Namespaces), sorted(k.Rights), expires, k.Limits}
	var differing []operator.Key
	for _, there := range live {
		if len(differences(policyOf(there, expires), want)) > 0 {
			differing = append(differing, there)
		}
	}
	revoked := revocations(differing, "the file has another policy for the agent")
	if len(differing) < len(live) {
		return revoked, nil
	}
	c := Change{Does: Create, Section: "key", Name: agent, Details: differences(policy{}, want)}
	if len(live) > 0 {
		c.Does, c.Details = Alter, append(differences(policyOf(live[0], expires), want), "a new key takes the place of the present one")
	}
	r := operator.KeyRequest{Agent: agent, Namespaces: k.Namespaces, Rights: k.Rights, Expires: k.Expires, Limits: k.Limits}
	c.act = func(ctx context.Context, s operator.Server) (Made, error) {
		issued, err := operator.Call(ctx, s, operator.CreateKey, r)
		return Made{issued.Secret, issued.Narrowed}, err
	}
	return append([]Change{c}, revoked...), nil
}

// spanOf begins what is said of keys that end a span after they were created: when they end is not compared.
const spanOf = "after "

// end is when the key ends, as it is compared: an instant, or a span from its creation.
func (k Key) end() (string, error) {
	if k.Expires == "" {
		return "", nil
	}
	begins := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	one, err := memory.ParseExpiry(k.Expires, begins)
	if err != nil {
		return "", fmt.Errorf("expires: %w", err)
	}
	if other, err := memory.ParseExpiry(k.Expires, begins.Add(time.Hour)); err != nil || !other.Equal(one) {
		return spanOf + k.Expires, err
	}
	return one.UTC().Format(time.RFC3339), nil
}

func revocations(list []operator.Key, why string) (changes []Change) {
	for _, k := range list {
		changes = append(changes, Change{Does: Remove, Section: "key", Name: k.Agent, Details: []string{k.ID + " is revoked: " + why}, act: func(ctx context.Context, s operator.Server) (Made, error) {
			_, err := operator.Call(ctx, s, operator.RevokeKey, operator.KeyID{ID: k.ID})
			return Made{}, err
		}})
	}
	return changes
}

// policy is what of a key is compared.
type policy struct {
	Namespaces string             `json:"namespaces"`
	Rights     string             `json:"rights"`
	Expires    string             `json:"expires"`
	Limits     operator.KeyLimits `json:"limits,omitzero"`
}

// policyOf is the policy of a key. One that ends has the span that is wanted, whatever it was.
func policyOf(k operator.Key, wanted string) policy {
	p := policy{Namespaces: sorted(k.Namespaces), Rights: sorted(k.Rights), Limits: k.Limits}
	switch {
	case k.Expires.IsZero():
	case strings.HasPrefix(wanted, spanOf):
		p.Expires = wanted
	default:
		p.Expires = k.Expires.UTC().Format(time.RFC3339)
	}
	return p
}

func sorted[T ~string](list []T) string {
	names := make([]string, len(list))
	for i, name := range list {
		names[i] = string(name)
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ",")
}
