package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/jsontext"
	"github.com/alcove-memory/alcove/host/memory"
)

// MaxAnswer is how many characters of JSON the list in an answer may have. Longer ones are of no use to a model whose
// context they fill.
const MaxAnswer = 50_000

// Answer is what a tool answers: an object that fits its Output to programs, and something plainer to models.
type Answer struct {
	Structured any
	Plain      any      // nil: null
	Value      any      // the answer as any JSON value; nil: Structured
	Notes      []string // what the caller should know beside it
	HasNotes   bool     // Structured has a member with them, too
	Failed     bool     // it tells of an error
	Version    uint64   // of the commit that has what the call wrote, where the tool says so
	Proposal   string   // the branch that has what the call proposes; empty: none
	Family     string   // that answered; empty: a core tool did
}

// NotesOf is a list of one note, or of none when it is empty.
func NotesOf(note string) []string {
	if note == "" {
		return nil
	}
	return []string{note}
}

// Note is the notes as one text.
func (a Answer) Note() string {
	separator := " "
	if a.Family != "" {
		separator = "\n"
	}
	return strings.TrimSpace(strings.Join(a.Notes, separator))
}

// Result is what the tool of a family answered.
type Result struct {
	Output   json.RawMessage // any JSON value
	Version  uint64          // of the commit that has what it wrote; 0: it wrote nothing
	Proposal string          // the branch that has what it proposes; empty: none
	Notes    []string        // what the caller should know beside
}

// Answer is a result as the answer of a tool. What is structured must be an object.
func (s Spec) Answer(r Result) Answer {
	output := r.Output
	if len(output) == 0 {
		output = json.RawMessage("null")
	}
	a := Answer{Structured: output, Plain: output, Value: output, Notes: notesOf(r), Version: r.Version, Proposal: r.Proposal, Family: s.Family}
	if output[0] != '{' || len(s.Output) > 0 && !saysObject(s.Output) {
		a.Structured = map[string]json.RawMessage{"result": output}
	}
	return a
}

// notesOf are a result's notes, with one that explains the proposal.
func notesOf(r Result) []string {
	notes := slices.Clone(r.Notes)
	if told := func(note string) bool { return strings.Contains(note, r.Proposal) }; r.Proposal != "" && !slices.ContainsFunc(notes, told) {
		notes = append(notes, fmt.Sprintf("Nothing is changed yet: what it proposes is on the branch %q. memory_branch action=diff compare=%q shows it, "+
			"action=merge source=%q accepts it, action=delete name=%q drops it.", r.Proposal, r.Proposal, r.Proposal, r.Proposal))
	}
	return notes
}

// Failure is an error as its caller sees it.
type Failure struct {
	Code      memory.Code    `json:"code"`
	Message   string         `json:"message"`
	Retryable bool           `json:"retryable"`
	Details   map[string]any `json:"details,omitempty"`
}

// FailureOf is an error for its caller. One that is the server's fault says nothing of the inside.
func FailureOf(err error) Failure {
	var known *memory.Error
	if !errors.As(err, &known) || known.Code == memory.Internal {
		return Failure{Code: memory.Internal, Message: "the server failed to do this; its log says why. Trying once more is harmless, and if that fails too, tell the user"}
	}
	return Failure{known.Code, known.Message, known.Retryable, known.Details}
}

// Encode writes JSON as people read it: < is <.
func Encode(v any) ([]byte, error) { return jsontext.Encode(v) }
