// Package httpsessions keeps the state of HTTP sessions in a file, for the next server of a data directory.
//
// The file has a line for each change: the newest line of a session says what it is at. It is written without waiting for the disk:
// it outlasts a killed process, and a power failure costs sessions, not memories.
package httpsessions

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/regular"
)

const (
	longestState = 32 << 10 // bytes
	longestFile  = 64 << 20 // bytes
	spareLines   = 1000     // beyond one for each session, before the file is rewritten
)

// Options configures Open. Path and Clock are required.
type Options struct {
	Path   string
	Clock  func() time.Time
	Logger *slog.Logger // nil: discards
	// Sessions and Bytes of states are how much is kept; beyond, the sessions that were used last the longest ago are forgotten. 0: 10,000
	// and 16 MiB.
	Sessions, Bytes int
	Lifetime        time.Duration // of a session after its last change; 0: 25 hours
	// Changed is called after the file has changed, and must not block; nil: it is not.
	Changed func()
}

// File keeps sessions. Its methods may be called concurrently.
type File struct {
	o Options

	mu    sync.Mutex
	byID  map[string]*session // by the digest of its id
	bytes int                 // of states
	file  *os.File            // nil: closed
	lines int                 // in the file
	ill   bool                // a write failed: the file is to be rewritten
}

// session is a line. Without a state it says that the session has ended.
type session struct {
	ID    string          `json:"id"`            // the digest of what its client presents, which readers of the file thus cannot
	Key   string          `json:"key,omitempty"` // the id of the API key that it belongs to
	At    time.Time       `json:"at"`
	State json.RawMessage `json:"state,omitempty"`
}

// Open reads the sessions that earlier servers kept. Damaged lines are skipped: their sessions are forgotten.
func Open(o Options) (*File, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Sessions, o.Bytes, o.Lifetime = cmp.Or(o.Sessions, 10_000), cmp.Or(o.Bytes, 16<<20), cmp.Or(o.Lifetime, 25*time.Hour)
	f := &File{o: o, byID: map[string]*session{}}
	if err := f.read(); err != nil {
		return nil, fmt.Errorf("read the HTTP sessions of earlier servers: %w", err)
	}
	if err := f.rewrite(); err != nil {
		return nil, fmt.Errorf("keep HTTP sessions: %w", err)
	}
	return f, nil
}

func (f *File) read() error {
	text, err := regular.Read(f.o.Path, longestFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, regular.ErrTooLong):
		f.o.Logger.Warn("the HTTP sessions of earlier servers are forgotten", "error", err)
		return nil
	case err != nil:
		return err
	}
	damaged := 0
	for line := range bytes.Lines(text) {
		if !f.apply(line) {
			damaged++
		}
	}
	if damaged > 0 {
		f.o.Logger.Warn("some HTTP sessions of earlier servers are forgotten: their lines are damaged", "path", f.o.Path, "lines", damaged)
	}
	return nil
}

// apply takes over a line of the file.
func (f *File) apply(line []byte) (whole bool) {
	s, whole := parse(line)
	if !whole {
		return false
	}
	f.forget(s.ID)
	if s.State != nil && !f.over(s) {
		f.remember(s)
	}
	return true
}

var table = crc32.MakeTable(crc32.Castagnoli)

// text returns a session as a line, which begins with its checksum.
func (s *session) text() ([]byte, error) {
	body, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "%08x %s\n", crc32.Checksum(body, table), body), nil
}

// parse is the inverse of text. It does not accept a line that was cut.
func parse(line []byte) (s *session, whole bool) {
	sum, body, _ := bytes.Cut(line, []byte{' '})
	body, ended := bytes.CutSuffix(body, []byte{'\n'})
	if !ended || string(sum) != fmt.Sprintf("%08x", crc32.Checksum(body, table)) {
		return nil, false
	}
	s = &session{}
	if json.Unmarshal(body, s) != nil || s.ID == "" || len(s.State) > longestState {
		return nil, false
	}
	return s, true
}

func digest(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

// Put keeps what a session of an API key is at, instead of what it was at. The key is empty for the owner of the data directory.
func (f *File) Put(id, key string, state []byte) {
	s := &session{ID: digest(id), Key: key, At: f.o.Clock().UTC(), State: state}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forget(s.ID)
	if len(state) > longestState || !json.Valid(state) {
		f.o.Logger.Warn("an HTTP session is not kept for the next server", "bytes", len(state), "limit", longestState)
		s.State = nil
	} else {
		f.remember(s)
	}
	f.write(s)
}

// Get returns what a session is at, and the API key that it belongs to.
func (f *File) Get(id string) (key string, state []byte, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.byID[digest(id)]
	if s == nil || f.over(s) {
		return "", nil, false
	}
	return s.Key, s.State, true
}

// Delete forgets a session.
func (f *File) Delete(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.end(digest(id))
}

// DeleteOf forgets the sessions of an API key.
func (f *File) DeleteOf(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, s := range f.byID {
		if s.Key == key {
			f.end(id)
		}
	}
}

// Close closes the file.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return nil
	}
	defer func() { f.file = nil }()
	return f.file.Close()
}

func (f *File) over(s *session) bool { return f.o.Clock().Sub(s.At) > f.o.Lifetime }

// end forgets a session, here and in the file. The caller holds mu.
func (f *File) end(id string) {
	if f.byID[id] == nil {
		return
	}
	f.forget(id)
	f.write(&session{ID: id, At: f.o.Clock().UTC()})
}

func (f *File) forget(id string) {
	if s := f.byID[id]; s != nil {
		f.bytes -= len(s.State)
		delete(f.byID, id)
	}
}

// remember adds a session, and forgets the oldest ones beyond the limits.
func (f *File) remember(s *session) {
	f.byID[s.ID] = s
	f.bytes += len(s.State)
	for len(f.byID) > 1 && (len(f.byID) > f.o.Sessions || f.bytes > f.o.Bytes) {
		f.forget(f.oldest(s))
	}
}

// oldest returns the session that was used last the longest ago, but for one.
func (f *File) oldest(spared *session) (id string) {
	var oldest *session
	for _, s := range f.byID {
		if s != spared && (oldest == nil || s.At.Before(oldest.At)) {
			oldest = s
		}
	}
	return oldest.ID
}

// write adds a line. After a failure the next line rewrites the file. The caller holds mu.
func (f *File) write(s *session) {
	if f.file == nil {
		return
	}
	err := f.writeLine(s)
	if err != nil && !f.ill {
		f.o.Logger.Warn("HTTP sessions are not kept for the next server", "path", f.o.Path, "error", err)
	}
	f.ill = err != nil
	if f.o.Changed != nil {
		f.o.Changed()
	}
}

func (f *File) writeLine(s *session) error {
	if f.ill || f.lines > 2*len(f.byID)+spareLines {
		return f.rewrite()
	}
	line, err := s.text()
	if err != nil {
		return err
	}
	f.lines++
	_, err = f.file.Write(line)
	return err
}

// rewrite replaces the file by one with a line for each session.
func (f *File) rewrite() error {
	var text bytes.Buffer
	for id, s := range f.byID {
		if f.over(s) {
			f.forget(id)
			continue
		}
		line, err := s.text()
		if err != nil {
			return err
		}
		text.Write(line)
	}
	if err := durable.WriteFile(f.o.Path, text.Bytes(), 0o600); err != nil {
		return err
	}
	file, err := os.OpenFile(f.o.Path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	if f.file != nil {
		f.file.Close() // what it had is in the new file
	}
	f.file, f.lines = file, len(f.byID)
	return nil
}
