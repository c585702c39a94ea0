package sessions

import alcove "github.com/alcove-memory/alcove/sdk/go"

// Idle abandons a session in which nothing happened for session_idle_minutes. memory_session_start queues it.
//
//alcove:job idle
//alcove:description Ends a session without activity
type Idle struct {
	Session string
	Calls   int // that the client had made when the job was queued
}

type idled struct {
	Abandoned bool
}

// Run looks at the session, and later again while something happens in it.
func (j Idle) Run(c *alcove.Call, cfg Config) (out idled, err error) {
	s, ok, err := sessions.Get(c, j.Session)
	if err != nil || !ok || s.Status != open || s.Archived() {
		return out, err
	}
	calls, err := callsOf(c, s.AgentID, s.Host)
	if err != nil {
		return out, err
	}
	if calls > j.Calls || c.Time().Sub(s.Last) < idle(cfg) {
		return out, watch(c, cfg, j.Session, s.Host, calls)
	}
	return idled{true}, abandon(c, j.Session, s)
}

func idle(cfg Config) alcove.Duration { return alcove.Duration(cfg.IdleMinutes) * 60 * alcove.Second }

// watch queues the job for a session. With a full queue the session stays open until its client goes away.
func watch(c *alcove.Call, cfg Config, key, host string, calls int) error {
	if calls == 0 {
		var err error
		if calls, err = callsOf(c, c.Caller, host); err != nil {
			return err
		}
	}
	_, err := c.Enqueue(Idle{key, calls}, idle(cfg))
	if alcove.CodeOf(err) == alcove.Exhausted {
		c.Log("the session %s is not ended when nothing happens in it: %v", key, err)
		return nil
	}
	return err
}

// callsOf counts the calls that a client made over a connection that is open; 0 if it is not.
func callsOf(c *alcove.Call, agent, host string) (int, error) {
	if host == "" {
		return 0, nil
	}
	list, err := c.SessionList(alcove.SessionListRequest{Agent: agent, Limit: 1000})
	if err != nil {
		return 0, err
	}
	for _, s := range list.Sessions {
		if s.Session == host {
			return s.Calls, nil
		}
	}
	return 0, nil
}

// abandon ends a session that nobody closed.
func abandon(c *alcove.Call, key string, s session) error {
	s.Status, s.Ended = abandoned, c.Time()
	if err := sessions.Put(c, key, s); err != nil {
		return err
	}
	return emit(c, "session_ended", changes{SessionID: c.ID(key), Status: abandoned})
}

// Hooks are what happens when clients go away.
type Hooks struct{}

// Ended abandons the sessions of a client that went away.
func (Hooks) Ended(c *alcove.Call, gone alcove.Session) error {
	r := alcove.RecordListRequest{Collection: sessions.Name, Filters: []alcove.RecordFilter{equal("host", gone.Session)}}
	for record, err := range c.Records(r) {
		if err != nil {
			return err
		}
		item, err := sessions.Item(record)
		if err != nil || item.Value.Status != open || item.Value.AgentID != gone.Agent || item.Value.Archived() {
			continue
		}
		if err := abandon(c, item.Key, item.Value); err != nil {
			return err
		}
	}
	return nil
}
