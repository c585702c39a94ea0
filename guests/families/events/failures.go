package events

import (
	"github.com/alcove-memory/alcove/guests/lib/moment"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// failures are events that were given up.
var failures = alcove.Records[failure]{Name: "delivery_failure", Per: "space", Expires: "30d", Indexes: [][]string{{"subscription", "at"}, {"owner", "at"}}}

//alcove:camel
type failure struct {
	Subscription string
	Owner        string
	EventType    string
	Payload      alcove.Raw
	AgentID      string
	ScopeID      string
	Timestamp    string
	Watermark    uint64
	Attempts     int
	LastError    string
	At           alcove.Time
}

// SubscriptionFailures lists events that were given up, the newest first.
//
// An event is given up after nine attempts in about an hour and a half. An entry of the type missed stands for events that were no longer kept when
// their turn came.
//
//alcove:title List failed deliveries
//alcove:description Deliveries that were given up.
//alcove:tool read-only
type SubscriptionFailures struct {
	SubscriptionID alcove.ID `alcove:"alias=id"` // By default all of yours.
	Limit          int       `alcove:"default=100,min=1,max=1000"`
	Cursor         string
}

type failed struct {
	Failures   []givenUp
	NextCursor string `json:"next_cursor,omitzero"`
	Truncated  bool   `json:"truncated,omitzero"`
}

type givenUp struct {
	SubscriptionID alcove.ID
	Event          abandoned
	Attempts       int
	LastError      string
	At             alcove.Time
}

//alcove:camel
type abandoned struct {
	EventType string
	Payload   alcove.Raw
	AgentID   string
	ScopeID   string
	Timestamp string
	Watermark uint64
}

// Call lists them.
func (in SubscriptionFailures) Call(c *alcove.Call) (out failed, err error) {
	r := alcove.RecordListRequest{Collection: failures.Name, Namespace: c.Namespace, Order: "at", Descending: true, Limit: in.Limit, After: in.Cursor}
	r.Filters = []alcove.RecordFilter{{Field: "owner", Op: "eq", Value: alcove.JSON(c.Caller)}}
	if !in.SubscriptionID.IsZero() {
		_, id, err := find(c, in.SubscriptionID)
		if err != nil {
			return out, err
		}
		r.Namespace, r.Filters[0] = id.Namespace, alcove.RecordFilter{Field: "subscription", Op: "eq", Value: alcove.JSON(id.Key)}
	}
	page, err := c.RecordList(r)
	if err != nil {
		return out, err
	}
	for i := range page.Records {
		item, err := failures.Item(&page.Records[i])
		if err != nil {
			c.Log("%v", err)
			continue
		}
		f := item.Value
		out.Failures = append(out.Failures, givenUp{alcove.ID{Namespace: item.Namespace, Key: f.Subscription}, abandoned{f.EventType, f.Payload, f.AgentID, f.ScopeID, f.Timestamp, f.Watermark}, f.Attempts, f.LastError, f.At})
	}
	out.NextCursor, out.Truncated = page.Next, page.Next != ""
	return out, nil
}

// SubscriptionReplay sends events again, from a time on.
//
// They have the ids that they had, and replayed is true. A subscription that stopped starts again.
//
//alcove:title Send again
//alcove:description Deliver again from a time.
//alcove:tool open-world
type SubscriptionReplay struct {
	SubscriptionID alcove.ID `alcove:"required,alias=id"`
	Since          string    `alcove:"required,min=1"`
}

type replaying struct {
	Queued    int
	Truncated bool `json:"truncated,omitzero"` // There are more.
}

// mostCounted is how many pages of events are counted.
const mostCounted = 20

// Call moves the subscription back, and starts its job.
func (in SubscriptionReplay) Call(c *alcove.Call) (out replaying, err error) {
	s, id, err := find(c, in.SubscriptionID)
	if err != nil {
		return out, err
	}
	if s.Owner != c.Caller {
		return out, alcove.Errorf(alcove.Denied, "the subscription is that of %q, who alone has it send again: it is sent what that agent may read", s.Owner)
	}
	if id.Namespace != c.Namespace || s.Branch != c.Branch {
		return out, alcove.Errorf(alcove.InvalidArgument, "the subscription is one of the namespace %s on the branch %s: ask there", id.Namespace, s.Branch)
	}
	t, err := moment.Of(c, in.Since, moment.Begin)
	if err != nil {
		return out, err
	}
	if t > c.Time() {
		return out, alcove.Errorf(alcove.InvalidArgument, "since %s lies in the future", t)
	}
	from := uint64(0)
	at, err := c.VersionAt(alcove.VersionAtRequest{AsOf: (t - 1).String()})
	switch {
	case err == nil:
		from = at.Version
	case alcove.CodeOf(err) != alcove.NotFound && alcove.CodeOf(err) != alcove.InvalidArgument: // before all that is kept
		return out, err
	}
	now, err := c.VersionAt(alcove.VersionAtRequest{AsOf: "now"})
	if err != nil {
		return out, err
	}
	if out.Queued, out.Truncated, err = s.count(c, from); err != nil {
		return out, err
	}
	cancel(c, s.Job)
	s.Replayed, s.Watermark, s.Within, s.Attempts, s.LastError = max(s.Replayed, min(s.Watermark, now.Version)), from, "", 0, ""
	return out, s.next(c, id.Key, 0, 0)
}

// count counts the events of the subscription behind a watermark.
func (s *subscription) count(c *alcove.Call, after uint64) (n int, more bool, err error) {
	r := alcove.FeedReadRequest{After: after, Namespaces: []string{"*"}, Kinds: s.Events, Agents: s.Agents, Limit: 1000}
	for range mostCounted {
		page, err := c.FeedRead(r)
		if err != nil {
			return n, false, err
		}
		for i := range page.Notices {
			if s.wants(&page.Notices[i]) {
				n++
			}
		}
		if r.After = page.Watermark; !page.More {
			return n, false, nil
		}
	}
	return n, true, nil
}
