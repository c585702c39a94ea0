package events

import (
	"github.com/alcove-memory/alcove/guests/lib/moment"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

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
