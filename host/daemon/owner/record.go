package owner

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/alcove-memory/alcove/host/durable"
)

// Record describes the owner in the data directory, for people and for clients that look for a socket elsewhere. Only the
// lock decides who the owner is.
type Record struct {
	PID    int    `json:"pid"`
	Socket string `json:"socket"`                 // absolute
	Admin  string `json:"admin_socket,omitempty"` // absolute
	HTTP   string `json:"http,omitempty"`         // address; empty: no HTTP
	TLS    bool   `json:"tls,omitempty"`          // HTTP is served over TLS
	Path   string `json:"path,omitempty"`         // what paths begin with, as /s/work for the space work of another directory's server
	// Operators is the address where operators of other machines are served; empty: they are not.
	Operators string    `json:"operators,omitempty"`
	Version   string    `json:"version"`
	Started   time.Time `json:"started"`
}

// URL returns where the server answers HTTP, or "" without HTTP. The paths of the API follow it.
func (r Record) URL() string {
	switch {
	case r.HTTP == "":
		return ""
	case r.TLS:
		return "https://" + r.HTTP + r.Path
	}
	return "http://" + r.HTTP + r.Path
}

func (r Record) socket() string { return r.Socket }

func (r Record) admin() string { return r.Admin }

// of reports whether both records are of the same owner.
func (r Record) of(other Record) bool { return r.PID == other.PID && r.Started.Equal(other.Started) }

// recordLimit bounds a record, in bytes.
const recordLimit = 64 << 10

// ReadRecord reads the record of the owner, or of the last one if it was killed.
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

// parseRecord decodes a record. A PID below 1 is refused: signals would go to process groups.
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

// WriteRecord replaces the record atomically, or removes it on failure: the last owner's is obsolete. Only the lock's holder may
// call it.
func WriteRecord(dir string, r Record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write the owner's record: %w", err)
	}
	if err := durable.WriteFile(RecordPath(dir), append(data, '\n'), 0o600); err != nil {
		os.Remove(RecordPath(dir))
		return fmt.Errorf("write the owner's record: %w", err)
	}
	return nil
}

// KeepRecord rewrites the record if it is missing or another owner's. Only the lock's holder may call it.
func KeepRecord(dir string, r Record) error {
	if now, err := ReadRecord(dir); err == nil && now.of(r) && now.Socket == r.Socket && now.Admin == r.Admin && now.URL() == r.URL() {
		return nil
	}
	return WriteRecord(dir, r)
}

// RemoveRecord removes the record if it is that of this owner: the directory may be another's by now.
func RemoveRecord(dir string, r Record) error {
	if now, err := ReadRecord(dir); err != nil || !now.of(r) {
		return err
	}
	return os.Remove(RecordPath(dir))
}
