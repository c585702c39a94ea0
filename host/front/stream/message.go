package stream

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/front/connection"
	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/feed"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/request"
)

const (
	longestID   = 128 // bytes of an id
	mostNames   = 64  // namespaces, kinds or agents of a subscription
	longestName = 256 // bytes of each
	mostVersion = 1 << 53
)

// Types of messages. A client's message with a method or a batch and without a type is an operation.
const (
	typeSubscribe   = "subscribe"
	typeUnsubscribe = "unsubscribe"
	typeAck         = "ack"
	typeOperation   = "operation"
	typeSay         = "say" // an operation: {"type": "say", "message": TEXT} calls say with the other members
)

// clientMessage is a client's message.
type clientMessage struct {
	kind    string
	id      json.RawMessage            // nil: none
	members map[string]json.RawMessage // the others
}

// parse reads a client's message. The result has the id even if there is an error, if it was understood.
func parse(data []byte) (m clientMessage, err error) {
	if m.members, err = request.Members(data); err != nil {
		return m, tool.Invalid(nil, "a message must be a JSON object: %v", err)
	}
	raw := m.members["id"]
	delete(m.members, "id")
	switch {
	case len(raw) > longestID:
		return m, tool.Invalid(nil, "the id of a message has %d bytes: at most %d are allowed", len(raw), longestID)
	case jsonrpc.Plain(raw):
		m.id = raw
	case len(raw) > 0 && string(raw) != "null":
		return m, tool.Invalid(nil, "the id of a message must be a text or a number, got %s", tool.Clip(string(raw), 60))
	}
	m.kind = typeOperation
	if raw, ok := m.members["type"]; ok {
		delete(m.members, "type")
		if json.Unmarshal(raw, &m.kind) != nil {
			return m, tool.Invalid(nil, "the type of a message must be a text, got %s", tool.Clip(string(raw), 60))
		}
	}
	return m, nil
}

// spellings of the members of a subscription, with case, _ and - ignored.
func spellings() map[string]string {
	return map[string]string{
		"namespaces": "namespaces", "namespace": "namespaces", "scopes": "namespaces", "scope": "namespaces", "scopeids": "namespaces", "scopeid": "namespaces",
		"kinds": "kinds", "kind": "kinds", "eventtypes": "kinds", "eventtype": "kinds", "types": "kinds",
		"agents": "agents", "agent": "agents", "agentids": "agents", "agentid": "agents",
		"branch": "branch", "watermark": "watermark", "lastwatermark": "watermark", "after": "watermark",
	}
}

// subscribeRequest is what a client subscribes to.
type subscribeRequest struct {
	query feed.Query
	now   bool // from now on: there is no watermark
}

// subscription reads a message of type subscribe.
func (m clientMessage) subscription() (a subscribeRequest, err error) {
	a.now = true
	given := map[string]json.RawMessage{}
	for name, raw := range m.members {
		member, known := spellings()[strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))]
		if !known {
			return a, tool.Invalid(nil, "a subscription has no member %q: it has id, namespaces, kinds, agents, branch and watermark", tool.Clip(name, 60))
		}
		if given[member] != nil {
			return a, tool.Invalid(nil, "%s is given twice", member)
		}
		if string(raw) != "null" {
			given[member] = raw
		}
	}
	for name, list := range map[string]*[]string{"namespaces": &a.query.Namespaces, "kinds": &a.query.Kinds, "agents": &a.query.Agents} {
		if *list, err = names(name, given[name]); err != nil {
			return a, err
		}
	}
	if err := memory.CheckAsked(a.query.Namespaces); err != nil {
		return a, err
	}
	if raw := given["branch"]; raw != nil && json.Unmarshal(raw, &a.query.Branch) != nil {
		return a, tool.Invalid(nil, "branch must be a text, got %s", tool.Clip(string(raw), 60))
	}
	if raw := given["watermark"]; raw != nil {
		a.now = false
		if a.query.After, err = watermark(raw); err != nil {
			return a, err
		}
	}
	return a, nil
}

// names reads a list of names, or one.
func names(member string, raw json.RawMessage) (list []string, err error) {
	if raw == nil {
		return nil, nil
	}
	var one string
	if json.Unmarshal(raw, &one) == nil {
		list = []string{one}
	} else if json.Unmarshal(raw, &list) != nil {
		return nil, tool.Invalid(nil, "%s must be a list of texts, got %s", member, tool.Clip(string(raw), 60))
	}
	if len(list) > mostNames {
		return nil, tool.Invalid(nil, "%s has %d names: at most %d are allowed", member, len(list), mostNames)
	}
	if i := slices.IndexFunc(list, func(name string) bool { return name == "" || len(name) > longestName }); i >= 0 {
		return nil, tool.Invalid(nil, "%s has a name of %d bytes: 1 to %d are allowed", member, len(list[i]), longestName)
	}
	if len(list) == 0 {
		return nil, nil
	}
	return list, nil
}

// watermark reads a watermark, as a number or the text of one.
func watermark(raw json.RawMessage) (uint64, error) {
	text := strings.Trim(string(raw), `"`)
	var after uint64
	if json.Unmarshal([]byte(text), &after) != nil || after > mostVersion {
		return 0, tool.Invalid(nil, "watermark must be the number that an event had, got %s", tool.Clip(string(raw), 60))
	}
	return after, nil
}

// operation returns the operation that a message is.
func (m clientMessage) operation() (json.RawMessage, error) {
	if m.members["method"] == nil && m.members["batch"] == nil && m.members["operation"] == nil {
		return nil, tool.Invalid(nil, "a message has type subscribe, unsubscribe or ack; or it is an operation, with method and params, or batch")
	}
	return tool.Encode(m.members)
}

// body returns the operation that a message of type operation or say is.
func (m clientMessage) body() (json.RawMessage, error) {
	if m.kind == typeSay {
		return m.saying()
	}
	return m.operation()
}

// saying returns the operation that a message of type say is.
func (m clientMessage) saying() (json.RawMessage, error) {
	return tool.Encode(map[string]any{"method": typeSay, "params": m.members})
}

// message is a message to the client.
type message struct {
	Type         string          `json:"type"` // subscribed, unsubscribed, event, message, missed, watermark, error
	ID           json.RawMessage `json:"id,omitempty"`
	Subscription json.RawMessage `json:"subscription,omitempty"`
	Watermark    *uint64         `json:"watermark,omitempty"`
	From         any             `json:"from,omitempty"` // who said something; or a watermark: what is missed came after it
	*event
	*roomMessage
	*origin
	*gap
	Error   *tool.Failure `json:"error,omitempty"`
	Message string        `json:"message,omitempty"`
}

// event is a notice. Its watermark is one to subscribe from after it was handled: that of its commit with the commit's last event, one
// before it with the others, so that a client that is interrupted in a commit gets all of it again.
type event struct {
	Kind    feed.Kind `json:"kind"`
	Payload any       `json:"payload"`
	Agent   string    `json:"agent"`
}

// origin is where and when a notice was made.
type origin struct {
	Namespace string `json:"namespace"`
	Timestamp string `json:"timestamp"`
	Version   uint64 `json:"version"` // of its commit
}

// roomMessage is what somebody said in the room of a namespace. Its watermark is as that of an event.
type roomMessage struct {
	Content    string   `json:"content"`
	MessageID  string   `json:"message_id,omitempty"`
	Recipients []string `json:"recipients,omitempty"` // absent: all
	Truncated  bool     `json:"truncated,omitempty"`  // memory_hear has all of it
}

// kindMessage is the kind of notices that are pushed as messages.
const kindMessage = "message"

// saidOf reads what a notice says, and who said it, as the server knows; nil: it is no message.
func saidOf(n feed.Notice) (from string, heard *roomMessage) {
	if n.Kind != kindMessage {
		return "", nil
	}
	var payload struct {
		From, Content string
		ID            string `json:"message_id"`
		Truncated     bool
	}
	if json.Unmarshal(n.Payload, &payload) != nil || payload.Content == "" {
		return "", nil
	}
	return cmp.Or(n.Agent, payload.From), &roomMessage{payload.Content, payload.ID, n.To, payload.Truncated}
}

// gap tells of events that are no longer kept.
type gap struct {
	To uint64 `json:"to"` // a watermark: it came at most here, from where events follow
}

func failureOf(err error) *tool.Failure {
	f := connection.Failure(tool.FailureOf(err))
	return &f
}

// answer adds a message's type and id to the answer of an operation, which is an object.
func answer(id json.RawMessage, answered any) ([]byte, error) {
	body, err := tool.Encode(answered)
	if err != nil {
		return nil, fmt.Errorf("encode the answer of an operation: %w", err)
	}
	if id == nil {
		id = json.RawMessage("null")
	}
	return slices.Concat([]byte(`{"type":"answer","id":`), id, []byte(","), body[1:]), nil
}
