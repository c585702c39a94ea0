package owner

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"
)

// Record is what an owner says of itself in the data directory. It is for people and for finding an
// owner with a socket elsewhere; the lock alone says who the owner is.
type Record struct {
	PID     int       `json:"pid"`
	Socket  string    `json:"socket"`
	HTTP    string    `json:"http,omitempty"` // address; empty when it does not listen on HTTP
	Version string    `json:"version"`
	Started time.Time `json:"started"`
}

// recordLimit is how long a record may be, in bytes.
const recordLimit = 64 << 10

// ReadRecord reads what the owner, or the last one if it was killed, said of itself.
func ReadRecord(dir string) (Record, error) {
	f, err := os.Open(RecordPath(dir))
	if err != nil {
		return Record{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, recordLimit))
	if err != nil {
		return Record{}, fmt.Errorf("read %s: %w", RecordPath(dir), err)
	}
	r, err := parseRecord(data)
	if err != nil {
		return Record{}, fmt.Errorf("read %s: %w", RecordPath(dir), err)
	}
	return r, nil
}

// parseRecord reads what a record holds. No process has a number below 1: some numbers mean groups of processes where
// signals are sent.
func parseRecord(data []byte) (Record, error) {
	var r Record
	if err := json.Unmarshal(data, &r); err != nil {
		return Record{}, err
	}
	if r.PID < 0 {
		return Record{}, fmt.Errorf("%d is not the number of a process", r.PID)
	}
	return r, nil
}

// WriteRecord replaces the record, whole. When it cannot, there is none: what the last owner said is not true any
// more. Only the lock's holder may do so.
func WriteRecord(dir string, r Record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write the owner's record: %w", err)
	}
	next := RecordPath(dir) + ".new"
	if err = os.WriteFile(next, append(data, '\n'), 0o600); err == nil {
		err = os.Rename(next, RecordPath(dir))
	}
	if err != nil {
		os.Remove(next)
		RemoveRecord(dir)
		return fmt.Errorf("write the owner's record: %w", err)
	}
	return nil
}

// RemoveRecord removes the record. Only the lock's holder may do so.
func RemoveRecord(dir string) error { return os.Remove(RecordPath(dir)) }
