// Package vectors reads the test vectors of the ABI.
//
// The vectors themselves are the JSON files beside it, for every language.
package vectors

import (
	"bytes"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/abi"
)

//go:embed *.json
var files embed.FS

// Octets are bytes, which are written as pairs of hexadecimal digits with blanks between.
type Octets []byte

// UnmarshalJSON reads them.
func (o *Octets) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	*o = b
	return err
}

// Pieces are bytes, each piece with its meaning.
type Pieces []struct {
	Hex   Octets
	Means string
}

// Joined are all of them.
func (p Pieces) Joined() []byte {
	var all []byte
	for _, piece := range p {
		all = append(all, piece.Hex...)
	}
	return all
}

// ScoreRequest is a case of score-request.json.
type ScoreRequest struct {
	Name    string
	Bytes   Pieces
	Params  string
	Columns [][]string // values in decimal
	Fails   string
}

// ScoreResult is a case of score-result.json.
type ScoreResult struct {
	Name       string
	Candidates int
	Bytes      Pieces
	Scores     []string // in decimal
	Fails      abi.Class
}

// EmbedResult is a case of embed-result.json.
type EmbedResult struct {
	Name       string
	Texts      int
	Dimensions int
	Bytes      Pieces
	Vectors    [][]string // values in decimal
	Fails      abi.Class
}

// JSONResult is a case of json-result.json.
type JSONResult struct {
	Name  string
	Kind  KindName
	Bytes Pieces
	Fails abi.Class
}

// StoreResult is a case of store-result.json.
type StoreResult struct {
	Name    string
	Entries int
	Bytes   Pieces
	Changes []bool  // whether each entry changes; empty: none does
	Refuse  *string // why nothing may be stored; nil: it may
	Propose *string // why it is to be proposed; nil: it is not
	Fails   string
}

// ErrorBody is a case of error.json.
type ErrorBody struct {
	Name      string
	Bytes     Pieces
	Code      abi.Code
	Message   string
	Retryable bool
	Fails     abi.Class
}

// Exchange is a case of exchange.json: what guest and host do, call by call.
type Exchange struct {
	Name    string
	Kind    KindName
	Request Octets
	Steps   []Step
	Status  abi.Status
	Class   abi.Class
	Result  Octets
	Log     []string
	Limits  map[string]int64
	During  string // initialize: the steps are done before there is a request
	After   Octets // initialize: what alcove_handle then writes
}

// Step is one thing that a guest does: read, write, call or grow.
type Step struct {
	Do        string
	Channel   uint32
	Ptr       uint32
	Cap       uint32
	Len       *uint32 // nil: that of Hex
	Hex       Octets  // what is at Ptr, for read: afterwards
	Op        string
	OpPtr     uint32    `json:"op_ptr"`
	OpLen     *uint32   `json:"op_len"` // nil: that of Op
	Host      *Octets   // what the operation answers
	HostLong  *Octets   `json:"host_long"`  // what it answers, although that is too long
	HostError *Octets   `json:"host_error"` // the error that it answers
	Code      abi.Code  // of an error that the host makes by itself; the length is then not fixed
	Pages     uint32    // grow
	Returns   int64     // as a signed number
	Stops     abi.Class // not empty: it does not return
}

// Length is the length that the step gives for Hex.
func (s Step) Length() uint32 { return either(s.Len, s.Hex) }

// OpLength is the length that the step gives for Op.
func (s Step) OpLength() uint32 { return either(s.OpLen, []byte(s.Op)) }

func either(length *uint32, data []byte) uint32 {
	if length != nil {
		return *length
	}
	return uint32(len(data))
}

// Operation is a case of operations.json: an operation, and what the host answers.
type Operation struct {
	Name     string          `json:"name"`
	Before   []Ask           `json:"before,omitempty"` // each committed by a call of its own
	Within   []Ask           `json:"within,omitempty"` // earlier in the same call
	Op       abi.Op          `json:"op"`
	Request  json.RawMessage `json:"request"`
	Response json.RawMessage `json:"response,omitempty"`
	Error    *abi.Error      `json:"error,omitempty"` // instead of a response
}

// Message is a case of messages.json: what a guest is sent, and what it answers.
type Message struct {
	Name    string          `json:"name"`
	Kind    KindName        `json:"kind"`
	Request json.RawMessage `json:"request"`           // of score: the JSON in it
	Columns [][]string      `json:"columns,omitempty"` // of score: values in decimal
	Result  json.RawMessage `json:"result,omitempty"`  // nil: it is empty
	Scores  []string        `json:"scores,omitempty"`  // of score, instead of a result
	Vectors [][]string      `json:"vectors,omitempty"` // of embed, instead of a result
	Error   *abi.Error      `json:"error,omitempty"`   // instead of a result
}

// Ask is an operation that succeeds.
type Ask struct {
	Op      abi.Op          `json:"op"`
	Request json.RawMessage `json:"request"`
}

// Family is the manifest of the family that the cases of operations.json and messages.json are of.
func Family() ([]byte, error) { return files.ReadFile("family.json") }

// Output returns the bytes that the guest answers with, and its status.
func (m Message) Output() ([]byte, abi.Status, error) {
	switch {
	case m.Error != nil:
		body, err := json.Marshal(m.Error)
		return body, abi.StatusError, err
	case m.Scores != nil:
		scores, err := floats(m.Scores)
		return abi.AppendScores(nil, scores), abi.StatusOK, err
	case m.Vectors != nil:
		vectors, err := columns(m.Vectors)
		return abi.AppendVectors(nil, len(m.Vectors[0]), vectors), abi.StatusOK, err
	}
	return m.Result, abi.StatusOK, nil
}

// Input returns the bytes that the guest is sent.
func (m Message) Input() ([]byte, error) {
	if m.Kind.Kind() != abi.KindScore {
		return m.Request, nil
	}
	features, err := columns(m.Columns)
	if err != nil || len(features) == 0 {
		return nil, fmt.Errorf("read the columns of %s: %w", m.Name, err)
	}
	return abi.AppendScoring(nil, abi.Scoring{Params: m.Request, Candidates: len(features[0]), Columns: features}), nil
}

// columns reads lists of values in decimal.
func columns(texts [][]string) ([][]float32, error) {
	all := make([][]float32, len(texts))
	for i, list := range texts {
		var err error
		if all[i], err = floats(list); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func floats(texts []string) ([]float32, error) {
	values := make([]float32, len(texts))
	for i, text := range texts {
		v, err := strconv.ParseFloat(text, 32)
		if err != nil {
			return nil, fmt.Errorf("value %d: %w", i, err)
		}
		values[i] = float32(v)
	}
	return values, nil
}

// KindName is the name of a kind of requests.
type KindName string

// Kind is the kind of that name; 0 if there is none.
func (n KindName) Kind() abi.Kind {
	switch n {
	case "tool":
		return abi.KindTool
	case "hook":
		return abi.KindHook
	case "score":
		return abi.KindScore
	case "embed":
		return abi.KindEmbed
	}
	return 0
}

// Read reads all cases of a file. A field that T does not have is an error.
func Read[T ScoreRequest | ScoreResult | EmbedResult | JSONResult | StoreResult | ErrorBody | Exchange | Operation | Message](file string) ([]T, error) {
	data, err := files.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all struct {
		About string
		Cases []T
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&all); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return all.Cases, nil
}
