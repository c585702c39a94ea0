package events

import alcove "github.com/alcove-memory/alcove/sdk/go"

// ListSubscriptions lists the subscriptions of the namespace that the caller may see.
//
// These are its own, and those of agents in whose name it may act. state is running; failing, if the endpoint did not accept the next event;
// or stopped, if nothing was sent or looked for since more than ten minutes after it was due: memory_subscription_replay starts it again.
//
//alcove:title List subscriptions
//alcove:description Webhooks and subscriptions that are set up, as far as you may see them.
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
