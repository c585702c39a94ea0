package messages

import alcove "github.com/alcove-memory/alcove/sdk/go"

// ReadRoom reads what was said to all in the room of the namespace, by the caller too, the oldest first.
//
// Nobody has heard it by that. total counts the messages that are kept; before, as an answer had it, goes on with older ones.
//
//alcove:description What was said in the room, by you too.
//alcove:title Read the room
//alcove:tool read-only
type ReadRoom struct {
	Before uint64
	Limit  int `alcove:"default=20,min=1,max=100"`
}

type reading struct {
	Messages []heardMessage
	Total    int
	Before   uint64 `json:"before,omitzero"` // Absent: there are no older ones.
}

// Call reads the newest messages before a number.
func (in ReadRoom) Call(c *alcove.Call, cfg Config) (out reading, err error) {
	l, err := open(c, ofRoom)
	if err != nil {
		return out, err
	}
	first, _, err := l.after(c, 0, c.Time().Add(-cfg.ttl()))
	if err != nil {
		return out, err
	}
	to := l.Next
	if in.Before > 0 {
		to = min(to, in.Before)
	}
	from := first
	if to > first+uint64(in.Limit) {
		from = to - uint64(in.Limit)
	}
	var keys []string
	for n := from; n < to; n++ {
		keys = append(keys, l.key(n))
	}
	if out.Total = int(l.Next - first); from > first {
		out.Before = from
	}
	if len(keys) == 0 {
		return out, nil
	}
	found, err := said.GetAll(c, keys)
	if err != nil {
		return out, err
	}
	heard := hearing{}
	for _, item := range found {
		if item != nil {
			m := &item.Value
			heard.Messages = append(heard.Messages, heardMessage{m.ID, item.Version, m.From, "", m.Content, m.Recipients, m.At})
		}
	}
	err = heard.name(c)
	out.Messages = heard.Messages
	return out, err
}
