package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// Operation is what a server is asked to do: a call of a tool, or a batch, and what is to be done then.
type Operation struct {
	Method string // the name of a tool, in any spelling
	Params any    // its arguments, encoded as a JSON object; nil: none

	Batch []Operation // operations that run in parallel, in place of Method and Params
	Then  []Operation // what runs afterwards, step by step; their Params may have References

	Namespace string        // empty: the client's
	Branch    string        // empty: the client's
	DryRun    bool          // nothing is written
	Timeout   time.Duration // of all steps; 0: until the context's deadline
	// RequestID makes a repetition harmless: the same caller with the same id writes nothing again for a day. Only the
	// outermost operation has one; empty: a random one.
	RequestID string
}

// Reference stands for a part of an earlier result in the Params of Then.
type Reference struct {
	Path string `json:"$result"`        // a JSON Pointer; * is each element of a list; empty: the whole result
	Step int    `json:"step,omitempty"` // 1 is the first step; 0: the previous one
}

// Result refers to a part of the previous result.
func Result(path string) Reference { return Reference{Path: path} }

// Answer is the answer to an operation. Result may be a part of what was asked if Err is set.
type Answer struct {
	Method   string          `json:"method"` // of the last step; empty: a batch
	Result   json.RawMessage `json:"result"`
	Err      *Error          `json:"error"`
	Steps    []Answer        `json:"steps"` // of a chain, those before the last
	Metadata Metadata        `json:"metadata"`
}

// Metadata is what is known of an operation beside its result.
type Metadata struct {
	RequestID string    `json:"request_id"`
	Timestamp time.Time `json:"timestamp"`
	Duration  float64   `json:"duration_ms"`
	DryRun    bool      `json:"dry_run"`
	Version   uint64    `json:"version"`  // with the writes, if the tool reports it
	Proposal  string    `json:"proposal"` // the branch with what the call proposes; empty: none
	Notes     []string  `json:"notes"`
}

// Decode decodes the result, or returns the answer's error.
func (a Answer) Decode(v any) error {
	if a.Err != nil {
		return a.Err
	}
	if err := json.Unmarshal(a.Result, v); err != nil {
		return fmt.Errorf("decode the result of %s: %w", a.Method, err)
	}
	return nil
}

// Items decodes the result of a batch: an answer for each of its operations.
func (a Answer) Items() ([]Answer, error) {
	var items []Answer
	if len(a.Result) == 0 {
		return nil, a.failed()
	}
	if err := json.Unmarshal(a.Result, &items); err != nil {
		return nil, fmt.Errorf("decode the result of a batch: %w", err)
	}
	for i := range items {
		items[i].normal()
	}
	return items, a.failed()
}

// failed returns the error, nil if there is none.
func (a Answer) failed() error {
	if a.Err == nil {
		return nil
	}
	return a.Err
}

// normal gives errors the usual form.
func (a *Answer) normal() {
	if a.Err != nil {
		a.Err.normal()
	}
	for i := range a.Steps {
		a.Steps[i].normal()
	}
}

// encodedOperation is an operation as it is sent.
type encodedOperation struct {
	Method   string             `json:"method,omitempty"`
	Params   any                `json:"params,omitempty"`
	Batch    []encodedOperation `json:"batch,omitempty"`
	Then     []encodedOperation `json:"then,omitempty"`
	Options  *encodedOptions    `json:"options,omitempty"`
	Metadata *encodedRequest    `json:"metadata,omitempty"`
}

type encodedOptions struct {
	Namespace string `json:"namespace,omitempty"`
	Branch    string `json:"branch,omitempty"`
	DryRun    bool   `json:"dry_run,omitempty"`
	Timeout   int64  `json:"timeout_ms,omitempty"`
}

type encodedRequest struct {
	ID string `json:"request_id"`
}

// encode returns an operation as JSON, in one line.
func (o Operation) encode() ([]byte, error) {
	e := o.encoded()
	e.Metadata = &encodedRequest{o.RequestID}
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(e); err != nil {
		return nil, fmt.Errorf("encode the operation: %w", err)
	}
	return bytes.TrimSuffix(line.Bytes(), []byte("\n")), nil
}

func (o Operation) encoded() encodedOperation {
	e := encodedOperation{Method: o.Method, Params: o.Params}
	given := encodedOptions{o.Namespace, o.Branch, o.DryRun, o.Timeout.Milliseconds()}
	if given != (encodedOptions{}) {
		e.Options = &given
	}
	for _, item := range o.Batch {
		e.Batch = append(e.Batch, item.encoded())
	}
	for _, next := range o.Then {
		e.Then = append(e.Then, next.encoded())
	}
	return e
}
