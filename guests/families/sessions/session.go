package sessions

import (
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// sessions are the sessions of agents.
var sessions = alcove.Records[session]{Name: "session", Indexes: [][]string{{"agentId", "status", "start"}, {"host"}}}

// The ids of records begin with these.
const (
	prefixSession      = "ses:"
	prefixConversation = "cnv:"
	prefixHandoff      = "hnd:"
	prefixCheckpoint   = "chk:"
)

// The statuses of sessions.
const (
	open      = "open"
	closed    = "closed"    // by memory_close_session
	abandoned = "abandoned" // its client went away, or did nothing
)

// session is what an agent works on from a start to an end.
//
//alcove:camel
type session struct {
	AgentID       string
	Host          string // the client's session at the server; empty: it has none
	Status        string
	Start         alcove.Time
	Last          alcove.Time // a tool of the family was called in it
	Ended         alcove.Time `json:"ended,omitzero"`
	Context       string      `json:"contextSummary,omitzero"`
	Parent        string      `json:"parent,omitzero"`
	Summary       string      `json:"summary,omitzero"`
	SummaryFactID alcove.ID   `json:"summaryFactId,omitzero"`
	alcove.Lifecycle
}

// at is where an id is: in its namespace, or the call's.
func at(c *alcove.Call, id alcove.ID) alcove.ID {
	if id.Namespace == "" {
		id.Namespace = c.Namespace
	}
	return id
}

// getSession returns a session. An archived one is not there.
func getSession(c *alcove.Call, id alcove.ID) (session, alcove.ID, error) {
	id = at(c, id)
	s, ok, err := sessions.In(id.Namespace).Get(c, id.Key)
	if err == nil && (!ok || s.Archived()) {
		err = alcove.Errorf(alcove.NotFound, "there is no session %q in %s", id.Key, id.Namespace)
	}
	return s, id, err
}

// acting returns the agent that a call is about: the caller, or another in whose name it may act.
func acting(c *alcove.Call, agent string) (string, error) {
	if agent == "" || agent == c.Caller {
		return c.Caller, nil
	}
	can, err := c.CallerCan(alcove.CallerCanRequest{Action: "act_as"})
	if err != nil {
		return "", err
	}
	if !can.Allowed {
		return "", alcove.Errorf(alcove.Denied, "you are %q and may not act as %q: leave agentId out, or ask the memory's owner for the right act_as", c.Caller, agent)
	}
	return agent, nil
}

// mostOpen is how many open sessions of an agent are looked at.
const mostOpen = 100

// openSession returns the caller's newest open session over the connection of the call; over none, the newest without one. The key is
// empty when there is none.
func openSession(c *alcove.Call) (key string, s session, host string, err error) {
	who, err := c.CallerGet()
	if err != nil {
		return "", s, "", err
	}
	list, err := c.RecordList(alcove.RecordListRequest{Collection: sessions.Name, Filters: []alcove.RecordFilter{equal("agentId", c.Caller), equal("status", open)},
		Order: "start", Descending: true, Limit: mostOpen})
	if err != nil {
		return "", s, "", err
	}
	for i := range list.Records {
		item, err := sessions.Item(&list.Records[i])
		if err == nil && item.Value.Host == who.Session && !item.Value.Archived() {
			return item.Key, item.Value, who.Session, nil
		}
	}
	return "", session{}, who.Session, nil
}

// equal is the condition that a field of a record is a text.
func equal(field, text string) alcove.RecordFilter {
	return alcove.RecordFilter{Field: field, Op: "eq", Value: alcove.JSON(text)}
}

// begin stores a new session of the caller, and has it end when nothing happens in it.
func begin(c *alcove.Call, cfg Config, s session) (alcove.ID, error) {
	id := c.ID(c.NewID(prefixSession))
	s.AgentID, s.Status, s.Start, s.Last = c.Caller, open, c.Time(), c.Time()
	if err := sessions.Put(c, id.Key, s); err != nil {
		return id, err
	}
	if err := watch(c, cfg, id.Key, s.Host, 0); err != nil {
		return id, err
	}
	return id, emit(c, "session_started", changes{SessionID: id})
}

// touch notes that something happened in the caller's open session, and returns its key; one begins where there is none.
func touch(c *alcove.Call, cfg Config) (string, error) {
	key, s, host, err := openSession(c)
	if err != nil {
		return "", err
	}
	if key == "" {
		id, err := begin(c, cfg, session{Host: host})
		return id.Key, err
	}
	s.Last = c.Time()
	return key, sessions.Put(c, key, s)
}

// changes are what events tell beside agent and scope.
//
//alcove:camel
//alcove:json
type changes struct {
	SessionID    alcove.ID `json:"sessionId,omitzero"`
	HandoffID    alcove.ID `json:"handoffId,omitzero"`
	CheckpointID alcove.ID `json:"checkpointId,omitzero"`
	ToAgent      string    `json:"toAgent,omitzero"`
	Status       string    `json:"status,omitzero"`
}

//alcove:camel
//alcove:json
type event struct {
	AgentID string
	ScopeID string
	Changes changes
}

func emit(c *alcove.Call, kind string, what changes) error {
	return c.FeedEmit(alcove.FeedEmitRequest{Kind: kind, Payload: alcove.JSON(event{c.Caller, c.Namespace, what})})
}
