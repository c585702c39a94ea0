package messages

import (
	"strconv"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// said are messages, in logs: a log for the room, and one for each agent that got a direct message.
var said = alcove.Records[message]{Name: "message", Per: "space", Expires: "168h", Unversioned: true, Private: true}

// message is what somebody said. In a log of direct messages each recipient has a copy.
type message struct {
	ID         string
	From       string
	Content    string
	Recipients []string `json:"recipients,omitzero"` // none: all
	At         alcove.Time
}

// logs are the states of logs, by their names.
var logs = alcove.Records[state]{Name: "log", Per: "space", Unversioned: true, Private: true}

// state is the state of a log: its messages have the numbers from First to Next, without Next. Those that expired are missing.
type state struct {
	First, Next uint64
	Dropped     uint64 // the version of the newest message that made room for others
	Before      uint64 // the version of the message before the newest, when that was said
	Heard       uint64 `json:"heard,omitzero"` // of an agent's log: the version up to which the agent heard all logs
}

// log is a log of messages in the call's namespace. Messages have ascending numbers and versions: a call that adds one is repeated if
// another added one meanwhile.
type log struct {
	name string
	state
}

const digits = 20

// ofRoom is the name of the room's log. No agent's log has it.
const ofRoom = "0:"

// ofAgent is the name of an agent's log. The length keeps the keys of two logs apart, whatever the names.
func ofAgent(agent string) string { return strconv.Itoa(len(agent)) + ":" + agent }

func open(c *alcove.Call, name string) (*log, error) {
	l := &log{name: name}
	var err error
	l.state, _, err = logs.Get(c, name)
	return l, err
}

// key is the key of the message with a number.
func (l *log) key(n uint64) string {
	number := strconv.FormatUint(n, 10)
	for len(number) < digits {
		number = "0" + number
	}
	return l.name + "/" + number
}

// mostDropped is how many messages one that is added drops at most: more were too many only if the setting changed.
const mostDropped = 20

// add stages a message, and drops the oldest beyond most.
func (l *log) add(c *alcove.Call, m message, most int) error {
	if l.Next > l.First {
		before, err := l.one(c, l.Next-1)
		if err != nil {
			return err
		}
		if before != nil {
			l.Before = before.Version
		}
	}
	if err := said.Put(c, l.key(l.Next), m); err != nil {
		return err
	}
	l.Next++
	var old []string
	for n := l.First; l.Next-n > uint64(most) && len(old) < mostDropped; n++ {
		old = append(old, l.key(n))
	}
	if len(old) > 0 {
		found, err := said.GetAll(c, old)
		if err != nil {
			return err
		}
		for _, item := range found {
			if item != nil {
				l.Dropped = max(l.Dropped, item.Version)
			}
		}
		if _, err := said.Delete(c, old...); err != nil {
			return err
		}
		l.First += uint64(len(old))
	}
	return logs.Put(c, l.name, l.state)
}

// heardUpTo notes how far the agent of the log heard, where the caller may write.
func (l *log) heardUpTo(c *alcove.Call, version uint64) error {
	if c.Caller == "" || version == l.Heard {
		return nil
	}
	may, err := c.CallerCan(alcove.CallerCanRequest{Action: "write"})
	if err != nil || !may.Allowed {
		return err
	}
	l.Heard = version
	return logs.Put(c, l.name, l.state)
}

// one is the message with a number; nil if it has expired.
func (l *log) one(c *alcove.Call, n uint64) (*alcove.Item[message], error) {
	found, err := said.GetAll(c, []string{l.key(n)})
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// after is the number of the first message after a version that was said since an instant. lost: there was one after the version that
// is too old, or made room.
func (l *log) after(c *alcove.Call, version uint64, since alcove.Time) (first uint64, lost bool, err error) {
	from, to := l.First, l.Next
	for from < to {
		middle := from + (to-from)/2
		item, err := l.one(c, middle)
		if err != nil {
			return 0, false, err
		}
		if item != nil && item.Version > version && item.Value.At >= since {
			to = middle
		} else {
			from = middle + 1
		}
	}
	if from == l.First {
		return from, l.Dropped > version, nil
	}
	before, err := l.one(c, from-1)
	if before == nil {
		return from, l.Before > version, err
	}
	return from, before.Version > version, err
}

const chunk = 100

// heard are messages that an agent hears.
type heard struct {
	list []alcove.Item[message] // in the order in which they were said
	upTo uint64                 // the version up to which the log was read
	more bool                   // there are more
}

// read reads messages of others from a number on: most of them, and one more if there is one.
func (l *log) read(c *alcove.Call, from uint64, most int) (h heard, err error) {
	for from < l.Next {
		var keys []string
		for n := from; n < l.Next && len(keys) < chunk; n++ {
			keys = append(keys, l.key(n))
		}
		found, err := said.GetAll(c, keys)
		if err != nil {
			return h, err
		}
		for _, item := range found {
			switch {
			case item == nil:
				continue
			case item.Value.From != c.Caller:
				if len(h.list) == most {
					h.more = true
					return h, nil
				}
				h.list = append(h.list, *item)
			}
			h.upTo = item.Version
		}
		from += uint64(len(keys))
	}
	return h, nil
}
