package bridge

import (
	"bytes"
	"encoding/json"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
)

// SessionState is where a session is: what its calls mean when they do not say. Empty fields are as the session
// began.
type SessionState struct {
	Branch    string   `json:"branch"`
	Namespace string   `json:"namespace"`
	Families  []string `json:"families"` // that are loaded; nil: as the session began
	Project   *string  `json:"-"`        // of the client's folder; nil: as the session began
}

const (
	bridgeMember = "alcove/bridge"  // of initialize's _meta: asks for the session's state
	stateMember  = "alcove/session" // of an answer's _meta: the session's state, after a call that changed it
)

// sessionState is a state as an owner tells it.
type sessionState struct {
	SessionState
	Changes int // of the session so far: answers may come in another order
}

// takeState returns an answer without the state of the session that the owner put in it, and that state; nil: there is none.
func takeState(m jsonrpc.Message) (line []byte, place *sessionState) {
	if !bytes.Contains(m.Line, []byte(`"`+stateMember+`"`)) { // most answers, some of which are long
		return m.Line, nil
	}
	meta := m.Field(m.Result, "_meta")
	if json.Unmarshal(m.Field(meta, stateMember).Of(m.Line), &place) != nil || place == nil {
		return m.Line, nil
	}
	members := 0
	jsonrpc.Members(m.Line, meta.From, func(string, jsonrpc.Span) { members++ })
	if members > 1 {
		return jsonrpc.Without(m.Line, meta, stateMember), place
	}
	return jsonrpc.Without(m.Line, m.Result, "_meta"), place
}
