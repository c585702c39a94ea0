package events

import (
	"strings"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

var subscriptions = alcove.Records[subscription]{Name: "subscription", Per: "space", Indexes: [][]string{{"owner"}}}

// prefixSubscription is that of the ids of subscriptions.
const prefixSubscription = "sub:"

// subscription is what is sent to an endpoint, and how far that is.
//
//alcove:camel
type subscription struct {
	Owner      string
	Endpoint   string   // the operator's name
	Events     []string // kinds; none: all
	Namespaces []string // names and patterns; none: all that the owner may read
	Agents     []string
	Branch     string
	Created    alcove.Time

	Watermark uint64 // all commits up to it were handled
	Within    string // the last event that was handled of the commit after it; empty: none
	Replayed  uint64 `json:"replayed,omitzero"` // events up to this watermark are sent again
	Attempts  int    `json:"attempts,omitzero"` // of the next event
	LastError string `json:"lastError,omitzero"`
	Delivered int
	Failed    int
	Job       string // the one that sends; others are of no account
	Due       alcove.Time
}

// find returns a subscription of the caller, or of another in whose name it may act. Those of others are not there.
func find(c *alcove.Call, id alcove.ID) (s subscription, at alcove.ID, err error) {
	if id.Namespace == "" {
		id.Namespace = c.Namespace
	}
	s, ok, err := subscriptions.In(id.Namespace).Get(c, id.Key)
	if err == nil && ok && s.Owner != c.Caller {
		ok, err = maySee(c)
	}
	if err == nil && !ok {
		err = alcove.Errorf(alcove.NotFound, "you have no subscription %q in %s", id.Key, id.Namespace)
	}
	return s, id, err
}

// maySee reports whether the caller may see what others have.
func maySee(c *alcove.Call) (bool, error) {
	can, err := c.CallerCan(alcove.CallerCanRequest{Action: "act_as"})
	return can.Allowed, err
}

// Subscribe sends changes to an endpoint.
//
// The endpoint is one that the operator named and granted to the family. What happens from now on, on the call's branch, is sent in its
// order as POST requests, each signed if the operator said so. events are kinds, as memory_poll_events has them; namespace_filter are names
// and patterns such as team/*; agent_filter are authors.
//
//alcove:title Subscribe an endpoint
//alcove:description Send changes to an endpoint the operator named.
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
	s := subscription{Owner: c.Caller, Endpoint: in.Endpoint, Namespaces: in.NamespaceFilter, Agents: in.AgentFilter, Branch: c.Branch, Created: c.Time(), Watermark: now.Version}
	for _, kind := range in.Events {
		if kind != all && kind != "*" {
			s.Events = append(s.Events, kind)
		}
	}
	out.SubscriptionID = c.ID(c.NewID(prefixSubscription))
	return out, s.wait(c, out.SubscriptionID.Key)
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

// Unsubscribe stops a subscription.
//
// Nothing more is sent. What was given up stays listed for 30 days.
//
//alcove:title Stop a subscription
//alcove:description Stop a subscription.
//alcove:tool destructive
type Unsubscribe struct {
	ID alcove.ID `alcove:"required,alias=subscriptionId"`
}

type unsubscribed struct{ Success bool }

// Call deletes it.
func (in Unsubscribe) Call(c *alcove.Call) (unsubscribed, error) {
	s, id, err := find(c, in.ID)
	if err != nil {
		return unsubscribed{}, err
	}
	cancel(c, s.Job)
	_, err = subscriptions.In(id.Namespace).Delete(c, id.Key)
	return unsubscribed{err == nil}, err
}

// cancel stops a job, if it is still there.
func cancel(c *alcove.Call, job string) {
	if job == "" {
		return
	}
	if _, err := c.JobCancel(alcove.JobCancelRequest{ID: job}); err != nil && alcove.CodeOf(err) != alcove.NotFound {
		c.Log("the job %s is not cancelled: %v", job, err)
	}
}

// ListSubscriptions lists the subscriptions of the namespace that the caller may see.
//
// These are its own, and those of agents in whose name it may act. state is running; failing, if the endpoint did not accept the next event;
// or stopped, if nothing was sent or looked for since more than ten minutes after it was due: memory_subscription_replay starts it again.
//
//alcove:title List subscriptions
//alcove:description Subscriptions you may see.
//alcove:tool read-only
type ListSubscriptions struct {
	Limit  int `alcove:"default=50,min=1,max=200"`
	Cursor string
}

type listed struct {
	Subscriptions []shown
	NextCursor    string `json:"next_cursor,omitzero"`
	Truncated     bool   `json:"truncated,omitzero"`
}

type shown struct {
	ID              alcove.ID
	Owner           string
	Endpoint        string
	Events          []string
	NamespaceFilter []string `json:"namespace_filter"`
	AgentFilter     []string `json:"agent_filter"`
	Branch          string
	Watermark       uint64
	State           string
	LastError       string `json:"last_error,omitzero"`
	Delivered       int
	Failed          int
	CreatedAt       alcove.Time
}

// Call lists them.
func (in ListSubscriptions) Call(c *alcove.Call) (out listed, err error) {
	r := alcove.RecordListRequest{Collection: subscriptions.Name, Order: "owner", After: in.Cursor, Limit: in.Limit}
	others, err := maySee(c)
	if err != nil {
		return out, err
	}
	if !others {
		r.Filters = []alcove.RecordFilter{{Field: "owner", Op: "eq", Value: alcove.JSON(c.Caller)}}
	}
	page, err := c.RecordList(r)
	if err != nil {
		return out, err
	}
	for i := range page.Records {
		item, err := subscriptions.Item(&page.Records[i])
		if err != nil {
			c.Log("%v", err)
			continue
		}
		s := &item.Value
		state, problem := s.state(c.Time())
		out.Subscriptions = append(out.Subscriptions, shown{item.ID, s.Owner, s.Endpoint, s.Events, s.Namespaces, s.Agents, s.Branch, s.Watermark, state, problem, s.Delivered, s.Failed, s.Created})
	}
	out.NextCursor, out.Truncated = page.Next, page.Next != ""
	return out, nil
}

// overdue is how late the job of a subscription may be.
const overdue = 600 * alcove.Second

// state says whether a subscription sends, and the last problem.
func (s *subscription) state(now alcove.Time) (state, problem string) {
	switch {
	case now.Sub(s.Due) > overdue:
		return "stopped", or(s.LastError, "its job ended, as the log of the server tells")
	case s.Attempts > 0 || s.LastError != "":
		return "failing", s.LastError
	}
	return "running", ""
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
