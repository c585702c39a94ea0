package events

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// Deliver sends the next events of a subscription, and queues itself for those that follow.
//
//alcove:job deliver parallel=16
//alcove:description Sends events to endpoints
type Deliver struct {
	Subscription string
}

type delivered struct {
	Sent   int
	Failed int
}

// Bounds of one run.
const (
	pageSize = 25     // events, about
	patience = 10_000 // for an answer, in milliseconds: all of a page stay within the run's wall_ms
	longest  = 3600 * alcove.Second
)

// delays are how long the next attempt of an event waits after each failure.
var delays = []alcove.Duration{
	200 * alcove.Millisecond, alcove.Second, 5 * alcove.Second, 20 * alcove.Second, 80 * alcove.Second, 320 * alcove.Second, 1280 * alcove.Second, longest,
}

// Run sends them. Repetitions of the run send the same events with the same ids.
func (j Deliver) Run(c *alcove.Call) (out delivered, err error) {
	s, ok, err := subscriptions.Get(c, j.Subscription)
	if err != nil || !ok || s.Job != c.RequestID {
		return out, err
	}
	page, err := c.FeedRead(alcove.FeedReadRequest{After: s.Watermark, Namespaces: []string{"*"}, Kinds: s.Events, Agents: s.Agents, Limit: pageSize})
	if err != nil {
		if alcove.CodeOf(err) != alcove.Denied {
			return out, err
		}
		s.LastError = err.Error() // the owner may read nothing at present
		return out, s.next(c, j.Subscription, longest, 0)
	}
	if page.Missed != nil {
		if err := s.missed(c, j.Subscription, page.Missed); err != nil {
			return out, err
		}
	}
	for _, n := range s.rest(page.Notices) {
		if s.wants(&n) {
			if err := s.post(c, j.Subscription, &n); err != nil {
				gone, err := s.failed(c, j.Subscription, &n, err)
				if err != nil || !gone {
					return out, err
				}
				out.Failed++
			} else {
				out.Sent++
				s.Delivered, s.Attempts, s.LastError = s.Delivered+1, 0, ""
			}
		}
		s.handled(&n)
	}
	s.Watermark, s.Within = page.Watermark, ""
	if page.More || len(page.Notices) > 0 {
		return out, s.next(c, j.Subscription, 0, 0)
	}
	return out, s.wait(c, j.Subscription)
}

// handled notes that all up to an event was handled.
func (s *subscription) handled(n *alcove.Notice) {
	s.Watermark, s.Within = n.Watermark-1, identity(n)
}

// rest is what follows the last event that was handled.
func (s *subscription) rest(list []alcove.Notice) []alcove.Notice {
	if s.Within == "" {
		return list
	}
	for i := range list {
		if list[i].Watermark != s.Watermark+1 {
			break
		}
		if identity(&list[i]) == s.Within {
			return list[i+1:]
		}
	}
	return list // it is out of reach: its commit is sent again
}

// identity tells the events of a commit apart.
func identity(n *alcove.Notice) string {
	h := fnv.New64a()
	h.Write([]byte(n.Kind + "\x00" + n.Namespace + "\x00" + n.Key))
	return strconv.FormatUint(h.Sum64(), 36)
}

// next stores the subscription, and queues the job that goes on with it.
func (s *subscription) next(c *alcove.Call, key string, after alcove.Duration, feedAfter uint64) error {
	payload, err := scan.Encode(Deliver{key})
	if err != nil {
		return err
	}
	queued, err := c.JobEnqueue(alcove.JobEnqueueRequest{Job: "deliver", Payload: payload, AfterS: after.Seconds(), FeedAfter: feedAfter})
	if err != nil {
		return err
	}
	s.Job, s.Due = queued.ID, c.Time().Add(after)
	return subscriptions.Put(c, key, *s)
}

// wait has the job wait for news.
func (s *subscription) wait(c *alcove.Call, key string) error {
	return s.next(c, key, longest, max(s.Watermark, 1))
}

// event is what is sent.
//
//alcove:camel
//alcove:json
type event struct {
	ID             string
	SubscriptionID alcove.ID
	EventType      string
	Payload        alcove.Raw
	AgentID        string
	ScopeID        string
	Timestamp      string
	Watermark      uint64
	Attempt        int
	Replayed       bool `json:"replayed,omitzero"`
}

// about is the payload of events that have none of their own.
//
//alcove:camel
//alcove:json
type about struct {
	FactID  alcove.ID `json:"factId,omitzero"`
	AgentID string
	ScopeID string
	Changes *logged `json:"changes,omitzero"`
}

type logged struct{ Sequence uint64 }

// payload is that of an event, as memory_poll_events shows it.
func payload(n *alcove.Notice) alcove.Raw {
	a := about{AgentID: n.Agent, ScopeID: n.Namespace}
	switch n.Kind {
	case "memory_stored", "memory_forgotten":
		a.FactID = alcove.ID{Namespace: n.Namespace, Key: n.Key}
	case "event_logged":
		sequence, _ := strconv.ParseUint(n.Key, 10, 64)
		a.Changes = &logged{sequence}
	default:
		if !n.Payload.Null() {
			return n.Payload
		}
	}
	return alcove.JSON(a)
}

// post sends an event once.
func (s *subscription) post(c *alcove.Call, key string, n *alcove.Notice) error {
	e := event{ID: key + "/" + strconv.FormatUint(n.Watermark, 10) + "/" + identity(n), SubscriptionID: c.ID(key), EventType: n.Kind, Payload: payload(n), AgentID: n.Agent,
		ScopeID: n.Namespace, Timestamp: n.Timestamp, Watermark: n.Watermark, Attempt: s.Attempts + 1, Replayed: n.Watermark <= s.Replayed}
	answer, err := c.HTTPFetch(alcove.HTTPFetchRequest{Endpoint: s.Endpoint, Method: "POST", Body: string(alcove.JSON(e)), Repeatable: true, TimeoutMS: patience,
		Headers: map[string]string{"Content-Type": "application/json", "Webhook-Id": e.ID}})
	if err == nil && (answer.Status < 200 || answer.Status > 299) {
		err = alcove.Errorf(alcove.Unavailable, "the endpoint answered %d", answer.Status)
	}
	return err
}

// failed notes that an event was not accepted. It is tried again later, unless it was given up.
func (s *subscription) failed(c *alcove.Call, key string, n *alcove.Notice, why error) (gone bool, err error) {
	s.Attempts, s.LastError = s.Attempts+1, why.Error()
	if s.Attempts <= len(delays) {
		return false, s.next(c, key, delays[s.Attempts-1], 0)
	}
	f := failure{Subscription: key, Owner: s.Owner, EventType: n.Kind, ScopeID: n.Namespace, Payload: payload(n), AgentID: n.Agent, Timestamp: n.Timestamp, Watermark: n.Watermark,
		Attempts: s.Attempts, LastError: s.LastError, At: c.Time()}
	s.Attempts, s.Failed = 0, s.Failed+1
	return true, failures.Put(c, c.NewID(key+"/"), f)
}

// missed notes events that are no longer kept.
func (s *subscription) missed(c *alcove.Call, key string, m *alcove.Missed) error {
	s.Within, s.Attempts, s.Failed = "", 0, s.Failed+1
	return failures.Put(c, c.NewID(key+"/"), failure{Subscription: key, Owner: s.Owner, EventType: "missed", ScopeID: c.Namespace, Payload: alcove.Raw("null"), Watermark: m.Oldest, LastError: m.Message, At: c.Time()})
}

// wants reports whether an event is for the subscription.
func (s *subscription) wants(n *alcove.Notice) bool {
	return (len(s.Namespaces) == 0 || slices.ContainsFunc(s.Namespaces, func(p string) bool { return covers(p, n.Namespace) })) && s.addressed(n)
}

// covers reports whether a name, or a pattern such as team/*, is that of a namespace.
func covers(pattern, namespace string) bool {
	prefix, star := strings.CutSuffix(pattern, "*")
	return pattern == namespace || star && strings.HasPrefix(namespace, prefix)
}

// directed are the members of payloads that say for whom an event is.
//
//alcove:json
type directed struct {
	From          string     `json:"from"`
	Recipients    alcove.Raw `json:"recipients"`
	TargetAgentID string     `json:"targetAgentId"`
}

// addressed reports whether an event is for everybody, or for the owner: direct messages of others are for neither.
func (s *subscription) addressed(n *alcove.Notice) bool {
	if n.Kind != "message" && n.Kind != "notification_created" && n.Kind != "notification_read" {
		return true
	}
	var d directed
	if scan.Decode(n.Payload, &d) != nil {
		return false
	}
	if d.TargetAgentID != "" && d.TargetAgentID != s.Owner && n.Agent != s.Owner {
		return false
	}
	if to, ok := d.Recipients.Text(); ok {
		return to == all || to == "" || to == s.Owner || n.Agent == s.Owner
	}
	if d.Recipients.Null() {
		return true
	}
	r := scan.New(d.Recipients)
	list := r.Strings()
	return r.End() == nil && (len(list) == 0 || slices.Contains(list, all) || slices.Contains(list, s.Owner) || n.Agent == s.Owner)
}
