package record

import (
	"crypto/sha256"
	"encoding/json"
	"strings"

	"github.com/alcove-memory/alcove/host/store"
)

// Note records the author of a commit. The engine keeps it with the commit.
type Note struct {
	Branch  store.BranchID `json:"b"`
	Name    string         `json:"n"` // of the branch, for after its deletion
	Agent   string         `json:"a,omitempty"`
	Client  string         `json:"p,omitempty"`
	Session string         `json:"s,omitempty"`
	Family  string         `json:"f,omitempty"`
	Call    string         `json:"c,omitempty"`

	Generation int             `json:"g,omitempty"` // as memory.Caller has it
	Account    json.RawMessage `json:"x,omitempty"`
}

// noteText bounds a field of a note, in bytes: a whole note stays below store.NoteLimit, however many are escaped.
const noteText = 800

// Encode writes the note, with NoteField of its texts.
func (n Note) Encode() ([]byte, error) {
	for _, text := range []*string{&n.Name, &n.Agent, &n.Client, &n.Session, &n.Family, &n.Call} {
		*text = NoteField(*text)
	}
	return json.Marshal(n)
}

// NoteField returns a text as a note has it. A longer one is cut and ends in its digest, so that a search by the whole text finds it.
func NoteField(text string) string {
	if len(text) <= noteText {
		return text
	}
	return strings.ToValidUTF8(text[:noteText-2*sha256.Size-3], "") + "…" + Digest([]byte(text))
}

// DecodeNote reads a note; ok is false if it is none.
func DecodeNote(data []byte) (n Note, ok bool) {
	return n, json.Unmarshal(data, &n) == nil
}
