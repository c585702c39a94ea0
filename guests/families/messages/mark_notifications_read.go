package messages

import alcove "github.com/alcove-memory/alcove/sdk/go"

// MarkNotificationsRead marks the caller's notifications as read.
//
// updated counts those that were unread. If one is not the caller's, none is marked.
//
//alcove:description Mark notifications as read.
//alcove:title Mark notifications as read
//alcove:tool idempotent
type MarkNotificationsRead struct {
	NotificationIDs []alcove.ID `alcove:"name=notificationIds,required,many,min=1,max=500,alias=id|ids|notificationId"`
}

type marked struct{ Updated int }

// Call marks them.
func (in MarkNotificationsRead) Call(c *alcove.Call) (out marked, err error) {
	for _, id := range in.NotificationIDs {
		if id.Namespace == "" {
			id.Namespace = c.Namespace
		}
		n, ok, err := inbox.In(id.Namespace).Get(c, id.Key)
		if err == nil && !ok || alcove.CodeOf(err) == alcove.Denied {
			ok, err = false, nil
		}
		if err == nil && (!ok || n.AgentID != c.Caller) {
			err = alcove.Errorf(alcove.NotFound, "you have no notification %s", id)
		}
		if err != nil {
			return out, err
		}
		if !n.Unread {
			continue
		}
		n.Unread, n.ReadAt = false, c.Time()
		if err := keep(c, id, &n); err != nil {
			return out, err
		}
		if err := announce(c, "notification_read", id, &n); err != nil {
			return out, err
		}
		out.Updated++
	}
	return out, nil
}

// keep stages a changed notification, which expires as before.
func keep(c *alcove.Call, id alcove.ID, n *notification) error {
	before, err := c.RecordGet(alcove.RecordGetRequest{Collection: inbox.Name, Namespace: id.Namespace, Keys: []string{id.Key}})
	if err != nil {
		return err
	}
	item := alcove.RecordItem{Key: id.Key, Value: alcove.JSON(*n)}
	if r := before.Records[0]; r != nil && r.ExpiresAt != "" {
		item.ExpiresAt = &r.ExpiresAt
	}
	_, err = c.RecordPut(alcove.RecordPutRequest{Collection: inbox.Name, Namespace: id.Namespace, Items: []alcove.RecordItem{item}})
	return err
}
