package hook

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/alcove-memory/alcove/host/regular"
)

// Journal keeps, in a directory, what sessions were told, when hooks ran, and which transcripts are being written. It holds digests, times
// and paths, no text. What it cannot read it takes as absent: then a memory may be told twice.
type Journal struct {
	Dir   string
	Clock func() time.Time
	// Patience is how long a hook waits for others that change the journal, before it changes it nevertheless; 200 ms.
	Patience time.Duration
}

const (
	longestJournal = 1 << 20 // bytes of a file
	mostTold       = 2000    // memories of a session that are kept
	keptFor        = 30 * 24 * time.Hour
)

// Run is what a journal tells of a hook.
type Run struct {
	Client    Client    `json:"client"`
	Event     Event     `json:"event"`
	Runs      int       `json:"runs"`
	Answers   int       `json:"answers"` // runs that told something
	Last      time.Time `json:"last"`
	Errors    int       `json:"errors"`
	LastError string    `json:"last_error,omitempty"`
	Failed    time.Time `json:"failed,omitzero"` // when the last error was
}

func (j *Journal) path(kind string, parts ...string) string {
	return filepath.Join(j.Dir, kind+"-"+digest(strings.Join(parts, "\x00"))+".json")
}

// digest names what must not be kept itself.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:12])
}

// delivered is what a session was told, and what was answered lately.
type delivered struct {
	Since    time.Time            `json:"since,omitzero"`     // when the client was last here before the session began
	IDs      []string             `json:"ids,omitempty"`      // digests of memories
	Answered map[string]time.Time `json:"answered,omitempty"` // by digests of events
}

// answerWindow is for how long an event that another hook reports is the same one. Clients have hooks of several files, and some run those
// of Claude Code beside their own.
const answerWindow = 10 * time.Second

// Delivered returns the digests of what a session was told.
func (j *Journal) Delivered(session string) map[string]bool {
	var t delivered
	_ = j.read(j.path("session", session), &t)
	ids := map[string]bool{}
	for _, id := range t.IDs {
		ids[id] = true
	}
	return ids
}

// Delivery is what a session is about to be told.
type Delivery struct {
	Session string    // empty: nothing is noted
	Event   string    // tells events apart
	IDs     []string  // of memories
	Anew    bool      // what the session was told before is gone
	Since   time.Time // of what happened it is told, if it is told anew
}

// Record notes what a session is told. It reports false if that is not to be told, since another hook has just answered the event.
func (j *Journal) Record(t Delivery) (may bool, err error) {
	if t.Session == "" || len(t.IDs) == 0 && !t.Anew {
		return true, nil
	}
	may, now := true, j.Clock()
	err = j.change(t.Session, func(known *delivered) { may = known.record(t, now) })
	return may, err
}

func (t *delivered) record(next Delivery, now time.Time) bool {
	maps.DeleteFunc(t.Answered, func(_ string, at time.Time) bool { return now.Sub(at).Abs() >= answerWindow })
	id := digest(next.Event)
	if _, answered := t.Answered[id]; answered {
		return false
	}
	if next.Anew {
		t.IDs, t.Since = nil, next.Since
	}
	if len(next.IDs) == 0 {
		return true
	}
	if t.Answered == nil {
		t.Answered = map[string]time.Time{}
	}
	t.Answered[id] = now
	for _, id := range next.IDs {
		t.IDs = append(t.IDs, digest(id))
	}
	t.IDs = t.IDs[max(0, len(t.IDs)-mostTold):]
	return true
}

// change changes what is noted of a session.
func (j *Journal) change(session string, do func(*delivered)) error {
	return j.locked(func() error {
		var t delivered
		path := j.path("session", session)
		_ = j.read(path, &t)
		do(&t)
		return j.write(path, t)
	})
}

// Patience with other hooks: what they hold longer is changed nevertheless.
const (
	usualPatience = 200 * time.Millisecond
	lockPause     = 2 * time.Millisecond
)

// locked does something while no other hook does.
func (j *Journal) locked(do func() error) error {
	if err := os.MkdirAll(j.Dir, 0o700); err != nil {
		return fmt.Errorf("note a hook's run: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), cmp.Or(j.Patience, usualPatience))
	defer cancel()
	lock := flock.New(filepath.Join(j.Dir, "lock"), flock.SetPermissions(0o600))
	_, _ = lock.TryLockContext(ctx, lockPause)
	return errors.Join(do(), lock.Close())
}

// Forget forgets what a session was told, and sessions that have ended long ago.
func (j *Journal) Forget(session string) {
	old := j.Clock().Add(-keptFor)
	paths := append(j.files("session"), j.files("open")...)
	for _, path := range paths {
		info, err := os.Stat(path)
		if path == j.path("session", session) || err == nil && info.ModTime().Before(old) {
			_ = os.Remove(path) // an old session may be told twice
		}
	}
}

// since returns the moment since when a session was told what happened; zero: it was told nothing.
func (j *Journal) since(session string) time.Time {
	var t delivered
	if session != "" {
		_ = j.read(j.path("session", session), &t)
	}
	return t.Since
}

// LastSeen returns when a client last ran a hook in a namespace; zero: never.
func (j *Journal) LastSeen(c Client, namespace string) (at time.Time) {
	_ = j.read(j.path("seen", string(c), namespace), &at)
	return at
}

// Note notes a run of a hook: whether it told something, and its error.
func (j *Journal) Note(m Message, namespace string, told bool, failed error) error {
	now := j.Clock()
	return j.locked(func() error {
		run := Run{Client: m.Client, Event: m.Event}
		path := j.path("run", string(m.Client), string(m.Event))
		_ = j.read(path, &run)
		run.Runs++
		run.Last = now
		if told {
			run.Answers++
		}
		if failed != nil {
			run.Errors, run.LastError, run.Failed = run.Errors+1, failed.Error(), now
		}
		err := j.write(path, run)
		if failed != nil { // it has not seen what changed
			return err
		}
		return errors.Join(err, j.write(j.path("seen", string(m.Client), namespace), now))
	})
}

// Runs returns what is known of all hooks, by client and event.
func (j *Journal) Runs() (all []Run) {
	for _, path := range j.files("run") {
		var run Run
		if j.read(path, &run) == nil {
			all = append(all, run)
		}
	}
	slices.SortFunc(all, func(a, b Run) int {
		return strings.Compare(string(a.Client)+"\x00"+string(a.Event), string(b.Client)+"\x00"+string(b.Event))
	})
	return all
}

// open is a transcript that is being written, or was when its client was killed.
type open struct {
	Client     Client `json:"client"`
	Transcript string `json:"transcript"`
	Read       string `json:"read,omitempty"` // its stamp when all of it had been read
}

// mostOpen is how many transcripts are looked at.
const mostOpen = 200

// Begin notes that a client writes a transcript.
func (j *Journal) Begin(c Client, transcript string) error {
	path := j.path("open", string(c), transcript)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	return j.write(path, open{Client: c, Transcript: transcript})
}

// Read notes that all of a transcript was read that it had when it had a stamp.
func (j *Journal) Read(c Client, transcript, stamp string) error {
	return j.write(j.path("open", string(c), transcript), open{c, transcript, stamp})
}

// End notes that a transcript will not be written any more.
func (j *Journal) End(c Client, transcript string) {
	_ = os.Remove(j.path("open", string(c), transcript)) // one that is left is looked at again, and has nothing new
}

// unread returns a client's transcripts that were written since they were read.
func (j *Journal) unread(c Client) (transcripts []string) {
	paths := j.files("open")
	for _, path := range paths[:min(len(paths), mostOpen)] {
		var o open
		if j.read(path, &o) == nil && o.Client == c && stampOf(o.Transcript) != o.Read {
			transcripts = append(transcripts, o.Transcript)
		}
	}
	return transcripts
}

// files are the journal's files of a kind.
func (j *Journal) files(kind string) (paths []string) {
	entries, _ := os.ReadDir(j.Dir) // without a folder there are none
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), kind+"-") {
			paths = append(paths, filepath.Join(j.Dir, e.Name()))
		}
	}
	return paths
}

func (j *Journal) read(path string, to any) error {
	data, err := regular.Read(path, longestJournal)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, to)
}

// write writes a file in place, without a sync: one that a crash or another hook left half-written reads as absent.
func (j *Journal) write(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("note a hook's run: %w", err)
	}
	if err := os.MkdirAll(j.Dir, 0o700); err != nil {
		return fmt.Errorf("note a hook's run: %w", err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return fmt.Errorf("note a hook's run: %w", err)
	}
	return nil
}
