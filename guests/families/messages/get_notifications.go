package messages

import (
	"cmp"
	"slices"

	"github.com/alcove-memory/alcove/guests/lib/identity"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// GetNotifications lists the caller's notifications in the namespace and in scopes that it may read, the newest first.
//
// unread counts all that are not marked as read. Listing marks none: memory_mark_notifications_read does.
//
//alcove:description Your notifications.
//alcove:title Notifications
//alcove:tool read-only
//alcove:alias memory_inbox
type GetNotifications struct {
	AgentID    string `alcove:"name=agentId,max=128"` // Default: the caller.
	UnreadOnly bool   `alcove:"default=true"`
	Limit      int    `alcove:"default=20,min=1,max=500"`
}

type notifications struct {
	Notifications []shown
	Unread        int // How many there are in all.
}

//alcove:camel
type shown struct {
	NotificationID alcove.ID
	Title          string
	Payload        alcove.Raw
	Priority       int
	FactID         alcove.ID   `json:"factId,omitzero"`
	Reason         string      `json:"reason,omitzero"`
	From           string      `json:"from,omitzero"`
	At             alcove.Time `json:"at"`
	ReadAt         alcove.Time `json:"read_at,omitzero"`
	ExpiresAt      string      `json:"expires_at,omitzero"`
}

// Call lists them.
func (in GetNotifications) Call(c *alcove.Call) (out notifications, err error) {
	agent, err := identity.Acting(c, in.AgentID)
	if err != nil {
		return out, err
	}
	namespaces, err := inboxes(c)
	if err != nil {
		return out, err
	}
	for _, namespace := range namespaces {
		r := alcove.RecordListRequest{Collection: inbox.Name, Namespace: namespace, Limit: in.Limit, Order: "at", Descending: true, Filters: []alcove.RecordFilter{{Field: "agentId", Op: "eq", Value: alcove.JSON(agent)}}}
		if in.UnreadOnly {
			r.Filters = append(r.Filters, alcove.RecordFilter{Field: "unread", Op: "eq", Value: alcove.JSON(true)})
		}
		page, err := c.RecordList(r)
		if err != nil {
			return out, err
		}
		for i := range page.Records {
			item, err := inbox.Item(&page.Records[i])
			if err != nil {
				c.Log("%v", err)
				continue
			}
			n := &item.Value
			out.Notifications = append(out.Notifications, shown{item.ID, n.Title, n.Payload, n.Priority, n.FactID, n.Reason, n.From, n.At, n.ReadAt, n.ExpiresAt})
		}
		waiting, err := unread(c, namespace, agent)
		if err != nil {
			return out, err
		}
		out.Unread += waiting
	}
	slices.SortFunc(out.Notifications, func(a, b shown) int {
		return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(b.NotificationID.Key, a.NotificationID.Key))
	})
	out.Notifications = out.Notifications[:min(len(out.Notifications), in.Limit)]
	return out, nil
}

// mostScopes is in how many scopes notifications are looked for.
const mostScopes = 200

// inboxes are the namespaces in which the caller may have notifications.
func inboxes(c *alcove.Call) ([]string, error) {
	list := []string{c.Namespace}
	page, err := c.ScopeList(alcove.ScopeListRequest{Limit: mostScopes})
	for i := range page.Scopes {
		if page.Scopes[i].Namespace != c.Namespace {
			list = append(list, page.Scopes[i].Namespace)
		}
	}
	return list, err
}

// unread is how many unread notifications an agent has in a namespace.
func unread(c *alcove.Call, namespace, agent string) (int, error) {
	out, err := c.RecordList(alcove.RecordListRequest{Collection: inbox.Name, Namespace: namespace, Limit: 1, Count: true, Filters: []alcove.RecordFilter{
		{Field: "agentId", Op: "eq", Value: alcove.JSON(agent)}, {Field: "unread", Op: "eq", Value: alcove.JSON(true)},
	}})
	if err != nil || out.Total == nil {
		return 0, err
	}
	return *out.Total, nil
}
