package messages

import (
	"slices"
	"strconv"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// inbox are notifications.
var inbox = alcove.Records[notification]{
	Name: "notification", Per: "space", Expires: "30d", Unversioned: true, Private: true, Indexes: [][]string{{"agentId", "unread", "at"}, {"agentId", "at"}},
}

// notification is a note for one agent.
//
//alcove:camel
type notification struct {
	AgentID   string
	Title     string
	Payload   alcove.Raw `json:"payload,omitzero"`
	Priority  int
	FactID    alcove.ID `json:"factId,omitzero"`
	Reason    string    `json:"reason,omitzero"`
	From      string    `json:"from,omitzero"` // absent: a family
	At        alcove.Time
	Unread    bool
	ReadAt    alcove.Time `json:"read_at,omitzero"`
	ExpiresAt string      `json:"expires_at,omitzero"`
}

// Notify leaves a notification for agents.
//
// They are registered in the namespace, members of its scope, or connected, and may read it.
//
//alcove:description Leave a notification for an agent.
//alcove:title Notify an agent
type Notify struct {
	TargetAgentID []string   `alcove:"required,many,min=1,max=100,items.min=1,items.max=128,alias=agentId|to"`
	Title         string     `alcove:"required,min=1,max=200"`
	Payload       alcove.Raw `alcove:"required,alias=message|content"`
	Priority      int        `alcove:"default=5,min=1,max=10"`
	FactID        alcove.ID  `alcove:"name=factId"`
	ExpiresAt     string     // An instant, a date, or a span as in 3d.
	Reason        string     `alcove:"max=200"`
	Namespace     string     `alcove:"max=128,alias=scopeId"`
}

//alcove:camel
type notified struct {
	NotificationID  alcove.ID   // The first.
	NotificationIDs []alcove.ID `json:"notificationIds,omitzero"` // With several agents, all.
}

const longestPayload = 32 << 10

// Call leaves it.
func (in Notify) Call(c *alcove.Call, cfg Config) (out notified, err error) {
	if len(in.Payload) > longestPayload {
		return out, alcove.Errorf(alcove.Exhausted, "the payload has %d bytes: at most %d are allowed", len(in.Payload), longestPayload)
	}
	if in.Namespace == "" {
		in.Namespace = c.Namespace
	}
	expires := in.ExpiresAt
	if expires == "" {
		expires = "in " + strconv.Itoa(cfg.NotificationTTLDays) + "d"
	}
	var ids []alcove.ID
	for _, agent := range slices.Compact(slices.Sorted(slices.Values(in.TargetAgentID))) {
		if err := in.check(c, cfg, agent); err != nil {
			return out, err
		}
		id := alcove.ID{Namespace: in.Namespace, Key: c.NewID("ntf:")}
		n := notification{AgentID: agent, Title: in.Title, Payload: in.Payload, Priority: in.Priority, FactID: in.FactID, Reason: in.Reason, From: c.Caller,
			At: c.Time(), Unread: true, ExpiresAt: in.ExpiresAt}
		item := alcove.RecordItem{Key: id.Key, Value: alcove.JSON(n), ExpiresAt: &expires}
		if _, err := c.RecordPut(alcove.RecordPutRequest{Collection: inbox.Name, Namespace: id.Namespace, Items: []alcove.RecordItem{item}}); err != nil {
			return out, err
		}
		if err := announce(c, "notification_created", id, &n); err != nil {
			return out, err
		}
		ids = append(ids, id)
	}
	if out.NotificationID = ids[0]; len(ids) > 1 {
		out.NotificationIDs = ids
	}
	return out, nil
}

// check returns an error for an agent that cannot be reached, or that has too many notifications.
func (in Notify) check(c *alcove.Call, cfg Config, agent string) error {
	if err := reachable(c, in.Namespace, agent); err != nil {
		return err
	}
	waiting, err := unread(c, in.Namespace, agent)
	if err == nil && waiting >= cfg.InboxMaxNotifications {
		err = alcove.Errorf(alcove.Exhausted, "agent %s has %d unread notifications in %s, which is the limit, inbox_max_notifications", agent, waiting, in.Namespace)
	}
	return err
}

// notificationEvent is the payload of events about notifications.
//
//alcove:camel
//alcove:json
type notificationEvent struct {
	NotificationID alcove.ID
	AgentID        string // who is notified
	ScopeID        string
	FactID         alcove.ID `json:"factId,omitzero"`
	From           string    `json:"from,omitzero"`
	Title          string
	Priority       int
}

func announce(c *alcove.Call, kind string, id alcove.ID, n *notification) error {
	e := notificationEvent{id, n.AgentID, id.Namespace, n.FactID, n.From, n.Title, n.Priority}
	return c.FeedEmit(alcove.FeedEmitRequest{Kind: kind, Payload: alcove.JSON(e), Namespace: id.Namespace, Recipients: []string{n.AgentID}, Per: "space"})
}
