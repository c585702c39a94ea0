package requestlog

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/host/internal/jsontext"
	"github.com/alcove-memory/alcove/host/operator/segments"
)

// Entry is a call of a tool that has ended. Calls in operations have an entry each.
type Entry struct {
	Time      time.Time `json:"time"`
	Agent     string    `json:"agent,omitempty"`
	Key       string    `json:"key,omitempty"` // the id of the caller's API key
	Client    string    `json:"client,omitempty"`
	Family    string    `json:"family,omitempty"` // of the tool; empty: a core tool
	Tool      string    `json:"tool"`             // as it was called
	Branch    string    `json:"branch"`           // unless the arguments name others
	Namespace string    `json:"namespace"`

	Arguments json.RawMessage `json:"arguments,omitempty"`
	Withheld  string          `json:"withheld,omitempty"` // why there are no arguments
	RequestID string          `json:"request_id,omitempty"`
	DryRun    bool            `json:"dry_run,omitempty"`

	Outcome string  `json:"outcome"`          // Succeeded, or the code of an error
	Result  string  `json:"result,omitempty"` // the Digest of the result of a tool that only reads
	Took    float64 `json:"ms"`
}

// Succeeded is the outcome of a call without an error.
const Succeeded = "ok"

// Digest identifies a result, however it is written.
func Digest(result []byte) string {
	canonical, err := jsontext.Canonical(result)
	if err != nil {
		canonical = result
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:8])
}

// text returns the entry as a line. Arguments that are too long are withheld.
func (e Entry) text() ([]byte, error) {
	if len(e.Arguments) > longestArguments {
		e.Withheld, e.Arguments = fmt.Sprintf("they have %d bytes, and the log keeps %d", len(e.Arguments), longestArguments), nil
	}
	line, err := jsontext.Encode(e)
	return append(bytes.TrimSuffix(line, []byte("\n")), '\n'), err
}

// Read reads the entries in a file, oldest first. A line that was cut off by a crash is left out.
func Read(path string) ([]Entry, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the request log: %w", err)
	}
	defer f.Close()
	return readFrom(f, path)
}

func readFrom(r io.Reader, name string) (list []Entry, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestLine)
	for number := 1; lines.Scan(); number++ {
		var e Entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil || e.Tool == "" || e.Time.IsZero() {
			if !json.Valid(lines.Bytes()) {
				continue
			}
			return nil, fmt.Errorf("line %d of %s is not an entry of a request log", number, name)
		}
		list = append(list, e)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the request log %s: %w", name, err)
	}
	return list, nil
}

// ReadSince reads the entries in a log's folder from an instant on, oldest first.
func ReadSince(dir string, since time.Time) (all []Entry, err error) {
	var unread error
	err = segments.Folder{Dir: dir}.Each(func(path string, r io.Reader) error {
		list, err := readFrom(r, path)
		all, unread = append(all, slices.DeleteFunc(list, func(e Entry) bool { return e.Time.Before(since) })...), err
		return err
	})
	switch {
	case unread != nil:
		return nil, unread
	case err != nil:
		return nil, fmt.Errorf("read the request log: %w", err)
	}
	return all, nil
}
