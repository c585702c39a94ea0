package events

import alcove "github.com/alcove-memory/alcove/sdk/go"

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
