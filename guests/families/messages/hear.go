package messages

import (
	"cmp"
	"slices"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Hear returns the messages of others since the last that the caller heard, the oldest first.
//
// Without last_heard it goes on where the agent's last call without it ended, so nothing comes twice. With last_heard, as an answer had it, it
// goes on from there: the same one gets the same messages again, and 0 gets all that are kept. messages_lost says that there were messages
// after it which are no longer kept.
//
//alcove:description Messages since the last you heard.
//alcove:title Hear messages
//alcove:tool mixed
type Hear struct {
	LastHeard *uint64 `alcove:"alias=since|cursor"`
	Limit     int     `alcove:"default=10,min=1,max=100"`
}

type hearing struct {
	Messages      []heardMessage
	LastHeard     uint64
	MoreAvailable bool
	MessagesLost  bool
}

type heardMessage struct {
	MessageID  string
	Sequence   uint64
	From       string
	Name       string `json:"name,omitzero"`
	Content    string
	Recipients []string `json:"recipients,omitzero"` // Absent: all.
	At         alcove.Time
}

// Call returns the messages of the room and those to the caller.
func (in Hear) Call(c *alcove.Call, cfg Config) (out hearing, err error) {
	own, err := open(c, ofAgent(c.Caller))
	if err != nil {
		return out, err
	}
	out.LastHeard = own.Heard
	if in.LastHeard != nil || c.Caller == "" {
		out.LastHeard = *cmp.Or(in.LastHeard, new(uint64))
	}
	if err := in.hearAll(c, cfg, &out); err != nil {
		return out, err
	}
	if in.LastHeard == nil {
		if err := own.heardUpTo(c, out.LastHeard); err != nil {
			return out, err
		}
	}
	return out, out.name(c)
}

// hearAll adds the messages after last_heard, and moves that.
func (in Hear) hearAll(c *alcove.Call, cfg Config, out *hearing) error {
	var all []alcove.Item[message]
	var upTo uint64
	for _, name := range in.logs(c) {
		h, lost, err := in.hear(c, cfg, name, out.LastHeard)
		if err != nil {
			return err
		}
		all, upTo = append(all, h.list...), max(upTo, h.upTo)
		out.MoreAvailable = out.MoreAvailable || h.more
		out.MessagesLost = out.MessagesLost || lost && out.LastHeard > 0
	}
	slices.SortStableFunc(all, func(a, b alcove.Item[message]) int { return cmp.Compare(a.Version, b.Version) })
	if n := in.cut(all); n < len(all) {
		all, out.MoreAvailable = all[:n], true
	}
	for i := range all {
		m := &all[i].Value
		out.Messages = append(out.Messages, heardMessage{m.ID, all[i].Version, m.From, "", m.Content, m.Recipients, m.At})
	}
	switch {
	case !out.MoreAvailable:
		out.LastHeard = max(out.LastHeard, upTo)
	case len(all) > 0:
		out.LastHeard = all[len(all)-1].Version
	}
	return nil
}

func (in Hear) logs(c *alcove.Call) []string {
	if c.Caller == "" {
		return []string{ofRoom}
	}
	return []string{ofRoom, ofAgent(c.Caller)}
}

// hear reads a log after a version.
func (in Hear) hear(c *alcove.Call, cfg Config, name string, after uint64) (h heard, lost bool, err error) {
	l, err := open(c, name)
	if err != nil {
		return h, false, err
	}
	from, lost, err := l.after(c, after, c.Time().Add(-cfg.ttl()))
	if err != nil {
		return h, false, err
	}
	h, err = l.read(c, from, in.Limit)
	return h, lost, err
}

// cut is how many messages the answer has: those of one version are not parted.
func (in Hear) cut(all []alcove.Item[message]) int {
	n := min(in.Limit, len(all))
	for n > 0 && n < len(all) && all[n].Version == all[n-1].Version {
		n++
	}
	return n
}

// name fills in the names under which the senders are registered.
func (out *hearing) name(c *alcove.Call) error {
	var senders []string
	for _, m := range out.Messages {
		senders = append(senders, m.From)
	}
	known, err := profiles(c, senders)
	for i := range out.Messages {
		out.Messages[i].Name = known[out.Messages[i].From].Name
	}
	return err
}
