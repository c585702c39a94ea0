package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/host/internal/jsontext"
	"github.com/alcove-memory/alcove/host/memory"
)

// MaxAnswer bounds the list in an answer, in characters of JSON. A longer one would fill a model's context to no use.
const MaxAnswer = 50_000

// Answer is a tool's answer: an object that fits its Output, for programs, and a plainer form for models.
type Answer struct {
	Structured any
	Plain      any             // nil: null
	Value      any             // the answer as any JSON value; nil: Structured
	Notes      []string        // remarks for the caller
	HasNotes   bool            // Structured also has a member with the notes
	Failed     bool            // it describes an error
	Partial    bool            // something was left out, as Notes say, because the call's time would have ended before
	Version    uint64          // of the call's commit, if the tool reports it
	Proposal   string          // the branch with the call's proposal; empty: none
	Family     string          // the family that answered; empty: a core tool
	Content    json.RawMessage // what people and models are shown in place of Plain: a list of abi.Content; nil: Plain
}

// NotesOf returns a list of one note, or nil if it is empty.
func NotesOf(note string) []string {
	if note == "" {
		return nil
	}
	return []string{note}
}

// Note returns the notes as one text.
func (a Answer) Note() string {
	separator := " "
	if a.Family != "" {
		separator = "\n"
	}
	return strings.TrimSpace(strings.Join(a.Notes, separator))
}

// Result is the result of a family's tool.
type Result struct {
	Output   json.RawMessage // any JSON value
	Version  uint64          // of its commit; 0: it wrote nothing
	Proposal string          // the branch with its proposal; empty: none
	Notes    []string        // remarks for the caller
}

// Answer returns a result as the tool's answer. Structured is always an object.
func (s Spec) Answer(r Result) Answer {
	output := r.Output
	if len(output) == 0 {
		output = json.RawMessage("null")
	}
	if output[0] == '{' && s.Family != "" {
		output = identified(output)
	}
	if output[0] == '{' && r.Proposal != "" {
		output = unapplied(output, r.Proposal)
	}
	a := Answer{Structured: output, Plain: output, Value: output, Notes: notesOf(r), Version: r.Version, Proposal: r.Proposal, Family: s.Family}
	if s.Content && output[0] == '{' {
		for name, value := range jsontext.Members(output) {
			if string(name) == `"content"` {
				a.Content = value
			}
		}
	}
	if output[0] != '{' || len(s.Output) > 0 && !saysObject(s.Output) {
		a.Structured = wrapped(output, r.Proposal)
	}
	return a
}

// Structured returns the JSON Schema of Answer.Structured, which is an object even where Output is not; nil: unknown.
func (s Spec) Structured() json.RawMessage {
	if len(s.Output) == 0 || saysObject(s.Output) {
		return s.Output
	}
	return json.RawMessage(`{"type":"object","properties":{"result":` + string(s.Output) + `},"required":["result"]}`)
}

// wrapped returns a result that is no object as one.
func wrapped(output json.RawMessage, proposal string) any {
	object := json.RawMessage(`{"result":` + string(output) + `}`)
	if proposal != "" && output[0] != '{' {
		object = unapplied(object, proposal)
	}
	return object
}

// notesOf returns a result's notes, with one that explains the proposal.
func notesOf(r Result) []string {
	notes := slices.Clone(r.Notes)
	if told := func(note string) bool { return strings.Contains(note, r.Proposal) }; r.Proposal != "" && !slices.ContainsFunc(notes, told) {
		notes = append(notes, fmt.Sprintf("Nothing is changed yet: what it proposes is on the branch %q. memory_branch action=diff compare=%q shows it, "+
			"action=merge source=%q accepts it, action=delete name=%q force=true drops it.", r.Proposal, r.Proposal, r.Proposal, r.Proposal))
	}
	return notes
}

// Failure is an error as shown to the caller.
type Failure struct {
	Code      memory.Code    `json:"code"`
	Message   string         `json:"message"`
	Retryable bool           `json:"retryable"`
	Details   map[string]any `json:"details,omitempty"`
}

// FailureOf returns an error as shown to the caller. A fault of the server reveals no internals.
func FailureOf(err error) Failure {
	var known *memory.Error
	if !errors.As(err, &known) || known.Code == memory.Internal {
		return Failure{Code: memory.Internal, Message: "the server failed to do this; its log says why. Trying once more is harmless, and if that fails too, tell the user"}
	}
	return Failure{known.Code, known.Message, known.Retryable, known.Details}
}

// RetryAfter returns when to repeat a call that exceeded a limit, in whole seconds, as the HTTP header has it.
func RetryAfter(err error) string {
	ms, _ := FailureOf(err).Details["retry_after_ms"].(int64)
	return strconv.FormatInt(max(1, (ms+999)/1000), 10)
}

// Encoded is a value that Encode has encoded already, such as the list of an answer that was measured.
type Encoded []byte

// MarshalJSON implements json.Marshaler.
func (e Encoded) MarshalJSON() ([]byte, error) { return e, nil }

// Encode returns JSON without HTML escapes: < stays <. It returns what is Encoded as it is.
func Encode(v any) ([]byte, error) {
	if encoded, ok := v.(Encoded); ok {
		return encoded, nil
	}
	return jsontext.Encode(v)
}

// Append is Encode for what is not Encoded, and appends to bytes.
func Append(to []byte, v any) ([]byte, error) { return jsontext.Append(to, v) }

// held returns the answer of a tool whose write a hook sent to a branch of proposals.
func (a Answer) held(branch string) Answer {
	object, err := json.Marshal(a.Structured)
	if err != nil || len(object) == 0 || object[0] != '{' {
		return a // the note says so
	}
	object = unapplied(object, branch)
	a.Structured, a.Plain, a.Value, a.Proposal = json.RawMessage(object), json.RawMessage(object), json.RawMessage(object), branch
	return a
}
