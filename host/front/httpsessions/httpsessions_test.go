package httpsessions

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// clock is a time that tests set.
type clock struct{ now time.Time }

func (c *clock) time() time.Time { return c.now }

func newClock() *clock { return &clock{time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func open(t testing.TB, o Options) *File {
	t.Helper()
	if o.Clock == nil {
		o.Clock = newClock().time
	}
	f, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() }) // without effect once a test has closed it
	return f
}

func (f *File) want(t testing.TB, id, wantKey, wantState string) {
	t.Helper()
	key, state, ok := f.Get(id)
	if ok != (wantState != "") || key != wantKey || string(state) != wantState {
		t.Errorf("session %s: got %q of key %q (%v), want %q of key %q", id, state, key, ok, wantState, wantKey)
	}
}

func TestTheNextServerFindsWhatTheLastWasKilledWith(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions")
	f := open(t, Options{Path: path}) // and never closed
	f.Put("a", "k1", []byte(`{"branch":"default"}`))
	f.Put("a", "k1", []byte(`{"branch":"idea"}`))
	f.Put("b", "", []byte(`{}`))
	f.Put("c", "k2", []byte(`{}`))
	f.Put("d", "k2", []byte(`{}`))
	f.Delete("b")
	f.DeleteOf("k2")
	for range 2 {
		f = open(t, Options{Path: path})
		f.want(t, "a", "k1", `{"branch":"idea"}`)
		for _, id := range []string{"b", "c", "d", "e", ""} {
			f.want(t, id, "", "")
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte(`"id":"a"`)) {
		t.Errorf("the file has the session's id itself: %s", text)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read it: %v, %v", info.Mode(), err)
	}
}

func TestASessionIsKeptForItsLifetime(t *testing.T) {
	path, c := filepath.Join(t.TempDir(), "sessions"), newClock()
	o := Options{Path: path, Clock: c.time, Lifetime: time.Hour}
	f := open(t, o)
	f.Put("a", "", []byte(`{}`))
	c.now = c.now.Add(time.Hour)
	open(t, o).want(t, "a", "", `{}`)
	c.now = c.now.Add(time.Second)
	f.want(t, "a", "", "")
	open(t, o).want(t, "a", "", "")
	if text, err := os.ReadFile(path); err != nil || len(text) > 0 {
		t.Errorf("the file has %s (%v), want nothing", text, err)
	}
}

func TestSessionsBeyondTheLimitsAreForgottenOldestFirst(t *testing.T) {
	long := `"` + strings.Repeat("x", 998) + `"`
	for name, o := range map[string]Options{"in number": {Sessions: 3}, "in bytes": {Bytes: 3000}} {
		c := newClock()
		o.Path, o.Clock = filepath.Join(t.TempDir(), "sessions"), c.time
		f := open(t, o)
		for i := range 5 {
			c.now = c.now.Add(time.Second)
			f.Put(fmt.Sprint(i), "", []byte(long))
			if i == 2 {
				c.now = c.now.Add(time.Second)
				f.Put("0", "", []byte(long)) // is used again
			}
		}
		for _, each := range []*File{f, open(t, o)} {
			for id, want := range map[string]string{"0": long, "1": "", "2": "", "3": long, "4": long} {
				if _, got, _ := each.Get(id); string(got) != want {
					t.Errorf("%s: session %s has %d bytes, want %d", name, id, len(got), len(want))
				}
			}
		}
	}
}

func TestAStateThatIsTooLongIsNotKept(t *testing.T) {
	var said bytes.Buffer
	f := open(t, Options{Path: filepath.Join(t.TempDir(), "sessions"), Logger: slog.New(slog.NewTextHandler(&said, nil))})
	f.Put("a", "", []byte(`{}`))
	f.Put("a", "", []byte(`"`+strings.Repeat("x", longestState)+`"`))
	f.want(t, "a", "", "")
	if !strings.Contains(said.String(), fmt.Sprint("limit=", longestState)) {
		t.Errorf("the log has %q, want the limit", said.String())
	}
}

func TestADamagedLineCostsItsSessionOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions")
	f := open(t, Options{Path: path})
	for _, id := range []string{"a", "b", "c"} {
		f.Put(id, "k", []byte(`{"branch":"`+id+`"}`))
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Replace(text, []byte(`"branch":"b"`), []byte(`"branch":"a"`), 1)
	cut := flipped[:len(flipped)-1]
	if err := os.WriteFile(path, cut, 0o600); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	f = open(t, Options{Path: path, Logger: slog.New(slog.NewTextHandler(&said, nil))})
	f.want(t, "a", "k", `{"branch":"a"}`)
	f.want(t, "b", "", "")
	f.want(t, "c", "", "")
	if !strings.Contains(said.String(), "lines=2") {
		t.Errorf("the log has %q, want 2 damaged lines", said.String())
	}
}

func TestTheFileStaysShort(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions")
	f := open(t, Options{Path: path})
	for i := range 5 * spareLines {
		f.Put("a", "", fmt.Appendf(nil, `{"n":%d}`, i))
	}
	text, err := os.ReadFile(path)
	if lines := bytes.Count(text, []byte{'\n'}); err != nil || lines > spareLines+10 {
		t.Errorf("the file has %d lines (%v), want at most %d", lines, err, spareLines+10)
	}
	open(t, Options{Path: path}).want(t, "a", "", fmt.Sprintf(`{"n":%d}`, 5*spareLines-1))
}

func TestAfterAFailedWriteTheFileIsWholeAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions")
	f := open(t, Options{Path: path})
	f.Put("a", "", []byte(`{"n":1}`))
	f.file.Close() // whatever is written to it fails
	f.Put("b", "", []byte(`{"n":2}`))
	f.Put("c", "", []byte(`{"n":3}`))
	f = open(t, Options{Path: path})
	f.want(t, "a", "", `{"n":1}`)
	f.want(t, "b", "", `{"n":2}`)
	f.want(t, "c", "", `{"n":3}`)
}

func FuzzAnyFileIsRead(f *testing.F) {
	whole, err := (&session{ID: "a", At: time.Unix(1, 0), State: []byte(`{}`)}).text()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add([]byte("00000000 {}\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "sessions")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		open(t, Options{Path: path}).Put("b", "", []byte(`{}`))
		open(t, Options{Path: path}).want(t, "b", "", `{}`)
	})
}
