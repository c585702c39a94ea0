// Package portable is the format of exported memories: a line of JSON each, between a header and a trailer.
package portable

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Memory is a memory as a line of JSON.
type Memory struct {
	Namespace  string                     `json:"namespace"`
	Key        string                     `json:"key"`
	Value      json.RawMessage            `json:"value"`
	Tags       []string                   `json:"tags,omitempty"`
	Type       string                     `json:"type,omitempty"`
	Importance *float64                   `json:"importance,omitempty"`
	Metadata   map[string]json.RawMessage `json:"metadata,omitempty"`
	State      string                     `json:"state,omitempty"` // empty: active
	Supersedes []string                   `json:"supersedes,omitempty"`
	Links      []string                   `json:"links,omitempty"`
	ExpiresAt  *time.Time                 `json:"expires_at,omitempty"`
	Agent      string                     `json:"agent,omitempty"`
	Vector     []float32                  `json:"vector,omitempty"` // as it was stored
	VectorOf   string                     `json:"vector_of,omitempty"`
	Version    uint64                     `json:"version,omitempty"`
	Timestamp  *time.Time                 `json:"timestamp,omitempty"`
	Created    *time.Time                 `json:"created,omitempty"`
}

// header is the first line.
type header struct {
	Alcove string `json:"alcove"` // "memories"
	Format int    `json:"format"` // 1
}

// CheckHeader is an error unless a line is the header of the format.
func CheckHeader(line []byte) error {
	var h header
	if json.Unmarshal(line, &h) != nil || h != (header{"memories", 1}) {
		return errors.New("it is not the header of exported memories of format 1")
	}
	return nil
}

// trailer is the last line. It begins like no memory.
type trailer struct {
	End      bool `json:"end"`
	Memories int  `json:"memories"`
}

// CheckTrailer is an error unless a line is the trailer of so many memories.
func CheckTrailer(line []byte, memories int) error {
	var t trailer
	if err := json.Unmarshal(line, &t); err != nil || t.Memories != memories {
		return fmt.Errorf("the file has %d memories and should have %d", memories, t.Memories)
	}
	return nil
}

// Trailer is what the line of a trailer begins with.
const Trailer = `{"end":`

// Writer writes memories.
type Writer struct {
	out   *bufio.Writer
	lines *json.Encoder
	count int
}

// NewWriter writes the header. The caller closes the Writer.
func NewWriter(w io.Writer) (*Writer, error) {
	out := bufio.NewWriterSize(w, 256<<10)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	return &Writer{out: out, lines: lines}, lines.Encode(header{"memories", 1})
}

// Write writes a memory.
func (w *Writer) Write(m Memory) error {
	w.count++
	return w.lines.Encode(m)
}

// Close writes the trailer, without which a file counts as cut short. It does not close what is written to.
func (w *Writer) Close() error {
	return errors.Join(w.lines.Encode(trailer{true, w.count}), w.out.Flush())
}
