// Package jsonrpc parses JSON-RPC messages, one a line, for the bridge and the server alike.
//
// Bridge and server must agree on a message's id and on whether it will be answered; otherwise one waits for an answer
// that the other never sends. So both use this parser: names of members are case-sensitive, as in JSON-RPC, a duplicate
// member is an error, and invalid messages go no further.
package jsonrpc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Codes of errors, as JSON-RPC defines them.
const (
	CodeParse         = -32700
	CodeInvalid       = -32600
	CodeInvalidParams = -32602
	// CodeServer is the code of the server's own errors.
	CodeServer = -32000
)

// Message is a JSON-RPC message with a parsed envelope. The rest stays as sent, so numbers of any size are preserved.
type Message struct {
	Line   []byte // without white space around it
	ID     Span   // zero: there is none
	Method string // empty: it is an answer
	Params Span   // an object; zero: there is none, or it is null
	Result Span   // of an answer
	Error  Span   // of an answer
}

// Fault is the error of an invalid message.
type Fault struct {
	Code int
	ID   []byte // to answer it with; nil: null
	Text string
}

func (f *Fault) Error() string { return f.Text }

// Parse parses a message. The caller answers an invalid one with the Fault.
func Parse(line []byte) (Message, *Fault) {
	m := Message{Line: bytes.TrimSpace(line)}
	switch {
	case !utf8.Valid(m.Line):
		return m, &Fault{CodeParse, FindID(m.Line), "the message is not valid UTF-8"}
	case !json.Valid(m.Line):
		return m, &Fault{CodeParse, FindID(m.Line), "the message is not valid JSON: send one JSON-RPC message a line"}
	case m.Line[0] != '{':
		return m, &Fault{CodeInvalid, nil, "the message is not a JSON object: send one JSON-RPC message at a time, no batches"}
	}
	found, twice, _ := m.envelope()
	if fault := m.check(found, twice); fault != nil {
		return m, fault
	}
	if text := m.checkParams(); text != "" {
		return m, &Fault{CodeInvalidParams, m.plainID(), text}
	}
	return m, nil
}

// Outline finds the envelope of a message from a peer that sends valid messages; false: it is none. It does not check what is in the envelope,
// which may be long.
func Outline(line []byte) (Message, bool) {
	m := Message{Line: bytes.TrimSpace(line)}
	found, twice, end := m.envelope()
	return m, end == len(m.Line) && m.check(found, twice) == nil
}

// Replace returns the message with other text at s, which is within one member of it or is one.
func (m *Message) Replace(s Span, text string) Message {
	changed, longer := *m, len(text)-(s.To-s.From)
	changed.Line = slices.Concat(m.Line[:s.From], []byte(text), m.Line[s.To:])
	for _, span := range []*Span{&changed.ID, &changed.Params, &changed.Result, &changed.Error} {
		if span.From >= s.To {
			span.From += longer
		}
		if span.To >= s.To {
			span.To += longer
		}
	}
	return changed
}

// envelope finds the members of the message, and where it ends; 0: it has no end.
func (m *Message) envelope() (found map[string]Span, twice []string, end int) {
	found, twice, end = m.membersTo(Span{0, len(m.Line)})
	m.ID, m.Result, m.Error = found["id"], found["result"], found["error"]
	m.Method = Text(found["method"].Of(m.Line))
	if params := found["params"]; string(params.Of(m.Line)) != "null" {
		m.Params = params
	}
	return found, twice, end
}

// check checks the envelope.
func (m *Message) check(found map[string]Span, twice []string) *Fault {
	named, answer := found["method"] != Span{}, m.Result != Span{} || m.Error != Span{}
	invalid := func(text string) *Fault { return &Fault{CodeInvalid, m.plainID(), text} }
	if slices.Contains(twice, "id") {
		m.ID = Span{}
	}
	switch id := m.ID.Of(m.Line); {
	case faulty("the message", found, twice) != "":
		return invalid(faulty("the message", found, twice))
	case len(id) > MaxID:
		return invalid(fmt.Sprintf("the id has %d bytes: at most %d are allowed", len(id), MaxID))
	case m.ID != Span{} && !Plain(id) && !(answer && !named && string(id) == "null"):
		return invalid("the id of a request must be text or a number")
	case Text(found["jsonrpc"].Of(m.Line)) != "2.0":
		return invalid(`jsonrpc must be "2.0"`)
	case named && m.Method == "":
		return invalid("the method must be text, and not empty")
	case named && answer:
		return invalid("the message has a method and a result or an error: it is a request or an answer, not both")
	case !named && !answer:
		return invalid("the message has no method")
	}
	return nil
}

// checkParams checks what more than one reader reads of the parameters.
func (m *Message) checkParams() string {
	if m.Params == (Span{}) {
		return ""
	}
	if m.Line[m.Params.From] != '{' {
		return "params must be an object"
	}
	params, twice := m.members(m.Params)
	if text := faulty("params", params, twice); text != "" {
		return text
	}
	meta, twice := m.members(params["_meta"])
	return faulty("params._meta", meta, twice)
}

// faulty describes the fault in the members of an object; empty if there is none.
func faulty(object string, found map[string]Span, twice []string) string {
	switch {
	case len(twice) > 0:
		return object + " has the member " + quote(twice[0]) + " twice: send each member once"
	case len(found) > maxMembers:
		return tooMany(object)
	}
	return ""
}

func tooMany(object string) string {
	return fmt.Sprintf("%s has more than %d members, which is the limit", object, maxMembers)
}

// plainID is the id if it can be repeated in an answer, and nil otherwise.
func (m *Message) plainID() []byte {
	if id := m.ID.Of(m.Line); Plain(id) && len(id) <= MaxID {
		return id
	}
	return nil
}

// IsRequest reports whether the message is a request, to be answered.
func (m *Message) IsRequest() bool { return m.Method != "" && m.ID != Span{} }

// IsAnswer reports whether the message is a response.
func (m *Message) IsAnswer() bool { return m.Method == "" }

// Failed reports whether the message is an error response.
func (m *Message) Failed() bool { return m.Error != Span{} }

// RawID returns the id as sent; nil if there is none.
func (m *Message) RawID() []byte { return m.ID.Of(m.Line) }

// Key returns the canonical form of the message's id.
func (m *Message) Key() string { return Key(m.RawID()) }

// Field returns a member of the object at s; the zero Span if there is no such member or no object.
func (m *Message) Field(s Span, name string) (field Span) {
	if s == (Span{}) {
		return s
	}
	Members(m.Line, s.From, func(given string, value Span) {
		if given == name {
			field = value
		}
	})
	return field
}

// maxMembers is how many members an object may have that is read here. Each takes many times its bytes.
const maxMembers = 1000

// members finds the members of the object at s, one more than maxMembers at most, and names those that it has twice, of
// which the last is found. Where there is no object, there are no members.
func (m *Message) members(s Span) (found map[string]Span, twice []string) {
	found, twice, _ = m.membersTo(s)
	return found, twice
}

// membersTo is members, with where the object ends; 0: nowhere.
func (m *Message) membersTo(s Span) (found map[string]Span, twice []string, end int) {
	if s == (Span{}) || m.Line[s.From] != '{' {
		return nil, nil, 0
	}
	found = map[string]Span{}
	end, ok := Members(m.Line, s.From, func(name string, value Span) {
		_, again := found[name]
		switch {
		case again && len(twice) <= maxMembers:
			twice = append(twice, name)
		case !again && len(found) > maxMembers:
			return
		}
		found[name] = value
	})
	if !ok {
		end = 0
	}
	return found, twice, end
}

// quote is a name for an error, not too long.
func quote(name string) string { return strconv.Quote(name[:min(len(name), 64)]) }
