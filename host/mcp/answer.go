package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"github.com/alcove-memory/alcove/host/memory"
)

// answer is what a tool says: to programs, an object that fits its output schema, and to models, something
// plainer.
type answer struct {
	structured any
	plain      any           // as JSON; nil: null
	note       string        // what was left out and how to get it, for models; structured has it too
	failed     bool          // it tells of an error
	family     *FamilyResult // that it was made of; nil: a core tool answered
}

// result is an answer as the protocol has it.
func (a answer) result() (*protocol.CallToolResult, error) {
	structured, err := encode(a.structured)
	if err != nil {
		return nil, fmt.Errorf("encode the structured result: %w", err)
	}
	plain, err := encode(a.plain)
	if err != nil {
		return nil, fmt.Errorf("encode the result: %w", err)
	}
	text, cut := clipJSON(plain)
	content := []protocol.Content{protocol.NewTextContent(text)}
	for _, note := range []string{cut, a.note} {
		if note != "" {
			content = append(content, protocol.NewTextContent(note))
		}
	}
	return &protocol.CallToolResult{Content: content, StructuredContent: json.RawMessage(structured), IsError: a.failed, Result: protocol.Result{Meta: a.meta()}}, nil
}

// notes are what is said beside the answer, one by one.
func (a answer) notes() []string {
	if a.family != nil {
		return notesOf(*a.family)
	}
	if a.note == "" {
		return nil
	}
	return []string{a.note}
}

// meta is what programs may want to know beside a family's answer.
func (a answer) meta() *protocol.Meta {
	members := map[string]any{}
	if a.family != nil && a.family.Version != 0 {
		members[versionMeta] = a.family.Version
	}
	if a.family != nil && a.family.Proposal != "" {
		members[proposalMeta] = a.family.Proposal
	}
	if a.family != nil && len(a.notes()) > 0 {
		members[notesMeta] = a.notes()
	}
	if len(members) == 0 {
		return nil
	}
	return protocol.NewMetaFromMap(members)
}

const (
	versionMeta  = "alcove/version"  // in _meta of a result: of the commit that has what the call wrote
	proposalMeta = "alcove/proposal" // and the branch that has what it proposes
	notesMeta    = "alcove/notes"    // what the caller should know beside; answers of core tools have a member of their own for it
)

// maxText is how many bytes of an answer models are shown that no tool of ours has cut to size.
const maxText = 4 * maxAnswer

// clipJSON is an answer as models are shown it, and what to tell them when that is not all of it.
func clipJSON(plain []byte) (text, note string) {
	if len(plain) <= maxText {
		return string(plain), ""
	}
	runes := []rune(string(plain[:maxText]))
	return string(runes[:min(len(runes), maxAnswer)]), fmt.Sprintf(
		"The answer is %d bytes long. Its first %d characters are shown: ask for less at once. Programs find all of it in structuredContent.", len(plain), maxAnswer)
}

// failure is an error as its caller sees it.
type failure struct {
	Code      memory.Code    `json:"code"`
	Message   string         `json:"message"`
	Retryable bool           `json:"retryable"`
	Details   map[string]any `json:"details,omitempty"`
}

// failureOf tells a caller of an error, and whether it is the server's fault; then it says nothing of the inside.
func failureOf(err error) (f failure, internal bool) {
	var known *memory.Error
	if !errors.As(err, &known) || known.Code == memory.Internal {
		return failure{Code: memory.Internal, Message: "the server failed to do this; its log says why. Trying once more is harmless, and if that fails too, tell the user"}, true
	}
	return failure{known.Code, known.Message, known.Retryable, known.Details}, false
}

func (f failure) result() *protocol.CallToolResult {
	text, err := encode(f)
	if err != nil { // details that are no JSON
		f.Details = nil
		text, _ = encode(f)
	}
	return &protocol.CallToolResult{Content: []protocol.Content{protocol.NewTextContent(string(text))}, IsError: true}
}

// encode writes JSON as people read it: < is <.
func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// stampOrNothing is the instant as answers have it; empty for the zero time.
func stampOrNothing(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return memory.FormatTime(t)
}

// particulars are what is known of a memory beside its value, as far as there is anything to say.
type particulars struct {
	Tags       []string                   `json:"tags,omitempty"`
	Type       string                     `json:"type,omitempty"`
	Importance *float64                   `json:"importance,omitempty"`
	Metadata   map[string]json.RawMessage `json:"metadata,omitempty"`
	Agent      string                     `json:"agent,omitempty"`
	State      memory.State               `json:"state,omitempty"` // unless it is active
	Supersedes []string                   `json:"supersedes,omitempty"`
	Links      []string                   `json:"links,omitempty"`
	Expires    string                     `json:"expires_at,omitempty"`
}

func particularsOf(m memory.Memory) particulars {
	p := particulars{
		Tags: m.Tags, Type: m.Type, Importance: m.Importance, Metadata: m.Metadata, Agent: m.Agent, State: m.State,
		Supersedes: m.Supersedes, Links: m.Links, Expires: stampOrNothing(m.ExpiresAt),
	}
	if p.State == memory.Active {
		p.State = ""
	}
	return p
}

// fewer drops those particulars that may be large.
func (p *particulars) fewer() {
	*p = particulars{Type: p.Type, Importance: p.Importance, Agent: p.Agent, State: p.State, Expires: p.Expires}
}
