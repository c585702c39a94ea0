package developer

import alcove "github.com/alcove-memory/alcove/sdk/go"

// Events appends to the immutable log, and reads it.
//
// append takes event, its name, and data. get takes a sequence number, list those after one, of one name if event is given; count counts.
//
//alcove:tool memory_events mixed
//alcove:title The event log
//alcove:description The immutable event log: append, get, list, count.
//alcove:alias strata_event_append action=append
//alcove:alias strata_event_get action=get
//alcove:alias strata_event_list action=list
//alcove:alias strata_event_len action=count
type Events struct {
	Action   string     `alcove:"required,enum=append|get|list|count"`
	Event    string     `alcove:"alias=event_type"`
	Data     alcove.Raw `alcove:"alias=payload"`
	Sequence uint64
	After    uint64 `alcove:"alias=after_sequence"`
	Limit    int    `alcove:"advanced,default=100,min=1,max=1000"`
}

// eventAnswer is what memory_events answers.
type eventAnswer struct {
	Sequence  uint64     `json:",omitzero"`
	Event     string     `json:",omitzero"`
	Data      alcove.Raw `json:",omitzero"`
	Agent     string     `json:",omitzero"`
	Timestamp string     `json:",omitzero"`
	Found     *bool      `json:",omitzero"`
	Events    []logged   `json:",omitzero"` // The oldest first.
	Next      uint64     `json:",omitzero"` // after of the next page.
	Truncated bool       `json:",omitzero"`
	Count     *int       `json:",omitzero"`
}

type logged struct {
	Sequence  uint64
	Event     string
	Data      alcove.Raw
	Agent     string `json:",omitzero"`
	Timestamp string
}

// Call does what the action says.
func (in Events) Call(c *alcove.Call) (out eventAnswer, err error) {
	switch in.Action {
	case "append":
		if err := need("append", "event", in.Event != ""); err != nil {
			return out, err
		}
		done, err := c.LogAppend(alcove.LogAppendRequest{Event: in.Event, Data: in.Data, Sequence: true})
		out.Sequence, out.Event, out.Timestamp = done.Sequence, in.Event, c.Now
		return out, err
	case get:
		if err := need(get, "sequence, from 1", in.Sequence > 0); err != nil {
			return out, err
		}
		found, err := c.LogRead(alcove.LogReadRequest{From: in.Sequence, Limit: 1})
		out.Found = new(len(found.Events) > 0 && found.Events[0].Sequence == in.Sequence)
		if *out.Found {
			e := &found.Events[0]
			out.Sequence, out.Event, out.Data, out.Agent, out.Timestamp = e.Sequence, e.Event, e.Data, e.Agent, e.Timestamp
		}
		return out, err
	case list:
		return in.list(c)
	}
	now, err := c.StatusGet(alcove.StatusGetRequest{})
	out.Count = now.Events
	return out, err
}

// pages is how many pages of the log one call reads.
const pages = 50

func (in Events) list(c *alcove.Call) (out eventAnswer, err error) {
	out.Events, out.Next = []logged{}, in.After
	for range pages {
		found, err := c.LogRead(alcove.LogReadRequest{From: out.Next + 1, Limit: 1000})
		if err != nil {
			return out, err
		}
		for i := range found.Events {
			e := &found.Events[i]
			if len(out.Events) == in.Limit {
				out.Truncated = true
				return out, nil
			}
			if out.Next = e.Sequence; in.Event == "" || in.Event == e.Event {
				out.Events = append(out.Events, logged{e.Sequence, e.Event, e.Data, e.Agent, e.Timestamp})
			}
		}
		if len(found.Events) < 1000 {
			return out, nil
		}
	}
	out.Truncated = true
	return out, nil
}
