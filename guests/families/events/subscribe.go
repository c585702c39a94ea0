package events

import (
	"strings"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Subscribe sends changes to an endpoint.
//
// The endpoint is one that the operator named and granted to the family. What happens from now on, on the call's branch, is sent in its
// order as POST requests, each signed if the operator said so. events are kinds, as memory_poll_events has them; those of an installed family
// are FAMILY.KIND or FAMILY.*, and an unknown kind is refused. namespace_filter are names and patterns such as team/*; agent_filter are authors.
//
//alcove:title Subscribe an endpoint
//alcove:description Call a webhook when something changes: send changes to an endpoint the operator named.
//alcove:tool open-world
type Subscribe struct {
	Endpoint        string   `alcove:"required,min=1,max=200"`
	Events          []string `alcove:"many,max=100,alias=eventTypes|kinds"`
	NamespaceFilter []string `alcove:"many,max=64,alias=namespaces|scopeIds"`
	AgentFilter     []string `alcove:"many,max=64,alias=agents"`
}

type subscribed struct {
	SubscriptionID alcove.ID `json:"subscriptionId"`
}

// all stands for every kind of events.
const all = "all"

// Call stores the subscription, and has the job wait for news.
func (in Subscribe) Call(c *alcove.Call, cfg Config) (out subscribed, err error) {
	wanted, err := in.kinds()
	if err != nil {
		return out, err
	}
	if err := reachable(c, in.Endpoint); err != nil {
		return out, err
	}
	if err := room(c, cfg); err != nil {
		return out, err
	}
	now, err := c.VersionAt(alcove.VersionAtRequest{AsOf: "now"})
	if err != nil {
		return out, err
	}
	s := subscription{Owner: c.Caller, Endpoint: in.Endpoint, Events: wanted, Namespaces: in.NamespaceFilter, Agents: in.AgentFilter, Branch: c.Branch, Created: c.Time(), Watermark: now.Version}
	out.SubscriptionID = c.ID(c.NewID(prefixSubscription))
	return out, s.wait(c, out.SubscriptionID.Key)
}

// kinds are the kinds that are sent; none: all.
func (in Subscribe) kinds() (list []string, err error) {
	every := false
	for _, kind := range in.Events {
		if kind == all || kind == "*" {
			every = true
			continue
		}
		if err := checkKind(kind); err != nil {
			return nil, err
		}
		list = append(list, kind)
	}
	if every {
		return nil, nil
	}
	return list, nil
}

// reachable returns an error unless an endpoint is granted to the family.
func reachable(c *alcove.Call, endpoint string) error {
	if strings.Contains(endpoint, "://") {
		return alcove.Errorf(alcove.InvalidArgument, "%q is an address: give the name of an endpoint that the operator added, with alcove endpoint add", endpoint)
	}
	who, err := c.CallerGet()
	if err != nil {
		return err
	}
	for _, p := range who.Capabilities {
		if p.Name != "http" {
			continue
		}
		for _, name := range p.Scope {
			if name == endpoint || name == "*" {
				return nil
			}
		}
	}
	return alcove.Errorf(alcove.NotFound, "there is no endpoint %q for the family events: the operator adds one, with alcove endpoint add, and grants it, with alcove family grant events http=%s", endpoint, endpoint)
}

// room returns an error if the namespace has as many subscriptions as it may have.
func room(c *alcove.Call, cfg Config) error {
	n := 0
	for _, err := range subscriptions.All(c, prefixSubscription) {
		if err != nil {
			return err
		}
		n++
	}
	if n >= cfg.SubscriptionsMax {
		return alcove.Errorf(alcove.Exhausted, "%s has %d subscriptions, and may have subscriptions_max=%d: end one that is not needed", c.Namespace, n, cfg.SubscriptionsMax)
	}
	return nil
}
