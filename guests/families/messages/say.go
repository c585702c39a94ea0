package messages

import (
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Say says something to everyone in the namespace, or to some.
//
// Recipients are agents that memory_who_is_here or memory_list_agents knows; a message to an unknown one is refused. sequence is a last_heard
// from which memory_hear goes on.
//
//alcove:description Tell the other agents here something, all or some.
//alcove:title Say something
type Say struct {
	Message    string   `alcove:"required,min=1,max=65536,alias=content|text"`
	Recipients []string `alcove:"many,max=100,items.min=1,items.max=128,alias=to"` // Agents, alone to hear it. Default: all.
}

type spoken struct {
	MessageID string
	Sequence  uint64 `json:"sequence,omitzero" alcove:"committed"`
}

// everyone is the recipient that stands for all.
const everyone = "all"

// Call says it.
func (in Say) Call(c *alcove.Call, cfg Config) (out spoken, err error) {
	switch {
	case strings.TrimSpace(in.Message) == "":
		return out, alcove.Errorf(alcove.InvalidArgument, "the message is empty")
	case len(in.Message) > cfg.MessageMaxBytes:
		return out, alcove.Errorf(alcove.Exhausted, "the message has %d bytes: message_max_bytes allows %d", len(in.Message), cfg.MessageMaxBytes)
	}
	if err := keepPace(c, cfg); err != nil {
		return out, err
	}
	m := message{ID: c.NewID("msg:"), From: speaker(c), Content: in.Message, At: c.Time()}
	if len(in.Recipients) > 0 && !slices.Contains(in.Recipients, everyone) {
		m.Recipients = slices.Compact(slices.Sorted(slices.Values(in.Recipients)))
	}
	for _, agent := range m.Recipients {
		if err := reachable(c, c.Namespace, agent); err != nil {
			return out, err
		}
	}
	if err := m.deliver(c, cfg); err != nil {
		return out, err
	}
	out.MessageID = m.ID
	return out, m.announce(c)
}

// speaker is the name under which the caller speaks. Plain HTTP clients may have none of their own.
func speaker(c *alcove.Call) string {
	if c.Caller == "" {
		return "anonymous"
	}
	return c.Caller
}

// deliver adds the message to the logs of its recipients.
func (m *message) deliver(c *alcove.Call, cfg Config) error {
	names := []string{ofRoom}
	if m.Recipients != nil {
		names = nil
		for _, agent := range m.Recipients {
			names = append(names, ofAgent(agent))
		}
	}
	for _, name := range names {
		l, err := open(c, name)
		if err == nil {
			err = l.add(c, *m, cfg.RoomMaxMessages)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// feedMessage is the payload of the event message.
//
//alcove:json
type feedMessage struct {
	MessageID  string
	From       string
	Content    string
	Truncated  bool     `json:"truncated,omitzero"` // memory_hear has all of it
	Recipients []string `json:"recipients,omitzero"`
}

// longestInFeed is how much of a message its event has, in bytes: the payload of an event is bounded, and escapes count.
const longestInFeed = 24_000

func (m *message) announce(c *alcove.Call) error {
	p := feedMessage{MessageID: m.ID, From: m.From, Content: words.Cut(m.Content, longestInFeed), Recipients: m.Recipients}
	p.Truncated = len(p.Content) < len(m.Content)
	return c.FeedEmit(alcove.FeedEmitRequest{Kind: "message", Payload: alcove.JSON(p), Recipients: m.Recipients, Per: "space"})
}

// paces are when agents spoke in the last minute, by agent.
var paces = alcove.Records[pace]{Name: "pace", Per: "space", Expires: "1h", Unversioned: true, Private: true}

type pace struct{ At []alcove.Time }

// keepPace counts a message of the caller, and refuses it if there were too many in the last minute. Two calls at once cannot both take the
// last one: the later one is repeated.
func keepPace(c *alcove.Call, cfg Config) error {
	p, _, err := paces.Get(c, speaker(c))
	if err != nil {
		return err
	}
	now := c.Time()
	p.At = slices.DeleteFunc(p.At, func(at alcove.Time) bool { return now.Sub(at) >= alcove.Minute })
	if len(p.At) >= cfg.SayPerMinute {
		wait := alcove.Minute - now.Sub(slices.Min(p.At))
		e := alcove.Errorf(alcove.Exhausted, "%d messages in a minute are the limit, say_per_minute: wait %d seconds", cfg.SayPerMinute, int((wait+alcove.Second-1)/alcove.Second))
		e.Details = map[string]any{"limit": cfg.SayPerMinute, "retry_after_ms": int(wait / alcove.Millisecond)}
		return e
	}
	p.At = append(p.At, now)
	return paces.Put(c, speaker(c), p)
}
