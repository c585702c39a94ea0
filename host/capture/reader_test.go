package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory/importer"
)

// A transcript is appended to, cut, replaced and rotated, with half lines and calls whose outcomes come later, while collectors are killed
// between a store and its cursor. Whatever was complete at a pass is stored once, with its last outcome.
func FuzzEveryCompleteTurnIsStoredOnce(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, []byte("aaaapaaaahpaaaatpaamaarpacpcokpaaawp"))
	}
	f.Add(uint64(1), []byte("cpop"))
	f.Add(uint64(2), []byte("hphpap"))
	f.Fuzz(func(t *testing.T, seed uint64, steps []byte) {
		m := newModel(t, seed)
		for _, step := range steps[:min(len(steps), 200)] {
			m.step(step)
		}
		m.finish()
	})
}

// model is a transcript, and what has to be stored of it.
type model struct {
	t        *testing.T
	random   *rand.Rand
	dir      string
	path     string
	file     []byte // the transcript's content
	half     []byte // the rest of its last line
	halfKey  string // of the turn that the rest completes
	next     int
	open     []string          // calls without an outcome
	visible  map[string]string // turns that are complete in the file, by key: their values
	expected map[string]string // turns that a pass had to store
	ended    map[string]bool   // calls that had an outcome
	sink     *memorySink
}

func newModel(t *testing.T, seed uint64) *model {
	dir := t.TempDir()
	return &model{
		t: t, random: rand.New(rand.NewPCG(seed, 1)), dir: dir, path: filepath.Join(dir, "projects", "p", "s.jsonl"),
		visible: map[string]string{}, expected: map[string]string{}, ended: map[string]bool{}, sink: &memorySink{},
	}
}

func (m *model) step(step byte) {
	switch step {
	case 'a':
		m.turn(false)
	case 'h':
		m.turn(true)
	case 'c':
		m.call()
	case 'o':
		m.outcome()
	case 'w': // the rest of a half line is written
		m.write(nil)
	case 't': // cut at a line's end
		m.cut()
	case 'r': // replaced by another conversation
		m.file, m.half, m.halfKey, m.open, m.visible = nil, nil, "", nil, map[string]string{}
		m.turn(false)
		m.turn(false)
	case 'm': // rotated
		m.rotate()
	case 'k':
		m.pass(true)
	case 'p':
		m.pass(false)
	}
}

func (m *model) turn(isHalf bool) {
	m.next++
	id := fmt.Sprintf("u%d", m.next)
	text := fmt.Sprintf("turn %d %d", m.next, m.random.IntN(1000))
	line := fmt.Appendf(nil, `{"type":"user","sessionId":"s","uuid":%q,"message":{"content":%q}}`, id, text)
	m.append(line, isHalf, "claude-code/s/"+id, string(encode(text)))
}

func (m *model) call() {
	m.next++
	id := fmt.Sprintf("t%d", m.next)
	const form = `{"type":"assistant","sessionId":"s","uuid":"a%d","message":{"content":[` +
		`{"type":"tool_use","id":%q,"name":"Bash","input":{"command":"run %d"}}]}}`
	line := fmt.Appendf(nil, form, m.next, id, m.next)
	m.append(line, false, "claude-code/s/"+id, string(encode(fmt.Sprintf("Bash: run %d", m.next))))
	m.open = append(m.open, id)
}

func (m *model) outcome() {
	if len(m.open) == 0 {
		return
	}
	at := m.random.IntN(len(m.open))
	id := m.open[at]
	m.open = append(m.open[:at:at], m.open[at+1:]...)
	m.write(nil)
	m.file = fmt.Appendf(m.file, `{"type":"user","sessionId":"s","message":{"content":[{"type":"tool_result","tool_use_id":%q}]}}`+"\n", id)
	if key := "claude-code/s/" + id; m.visible[key] != "" {
		m.ended[key] = true
		m.visible[key] = string(encode(fmt.Sprintf("Bash: run %s (ok)", id[1:])))
	}
}

// append adds a line, or half of it.
func (m *model) append(line []byte, isHalf bool, key, value string) {
	m.write(nil)
	line = append(line, '\n')
	if !isHalf {
		m.file = append(m.file, line...)
		m.visible[key] = value
		return
	}
	at := 1 + m.random.IntN(len(line)-1)
	m.file, m.half, m.halfKey = append(m.file, line[:at]...), line[at:], key+" "+value
	if at == len(line)-1 { // only its break is missing
		m.visible[key] = value
	}
}

// write writes the rest of a half line.
func (m *model) write(rest []byte) {
	if m.half == nil {
		return
	}
	var key, value string
	if _, err := fmt.Sscanf(m.halfKey, "%s", &key); err != nil {
		m.t.Fatal(err)
	}
	value = m.halfKey[len(key)+1:]
	m.visible[key] = value
	m.file, m.half = append(append(m.file, m.half...), rest...), nil
}

// cut removes the last lines, as a client does that rewinds. What was stored of them stays.
func (m *model) cut() {
	m.write(nil)
	lines := bytes.SplitAfter(m.file, []byte("\n"))
	m.file = bytes.Join(lines[:m.random.IntN(len(lines))], nil)
	kept := map[string]string{}
	for key, value := range m.visible {
		name := key[len("claude-code/s/"):]
		if !bytes.Contains(m.file, fmt.Appendf(nil, `"uuid":%q`, name)) && !bytes.Contains(m.file, fmt.Appendf(nil, `"id":%q`, name)) {
			continue
		}
		if name[0] == 't' && !bytes.Contains(m.file, fmt.Appendf(nil, `"tool_use_id":%q`, name)) {
			value = string(encode(fmt.Sprintf("Bash: run %s", name[1:])))
		}
		kept[key] = value
	}
	m.visible, m.open = kept, nil
}

// rotate moves the transcript aside, where it is found too, and begins another.
func (m *model) rotate() {
	m.write(nil)
	m.save()
	for key, value := range m.visible {
		m.expected[key] = value
	}
	if err := os.Rename(m.path, filepath.Join(filepath.Dir(m.path), fmt.Sprintf("old%d.jsonl", m.next))); err != nil {
		m.t.Fatal(err)
	}
	m.file, m.open, m.visible = nil, nil, map[string]string{}
	m.turn(false)
}

func (m *model) save() {
	if err := os.MkdirAll(filepath.Dir(m.path), 0o700); err != nil {
		m.t.Fatal(err)
	}
	// A write in place, as of a client that appends, or a new file, as of one that replaces.
	if m.random.IntN(2) == 0 {
		_ = os.Remove(m.path)
	}
	if err := os.WriteFile(m.path, m.file, 0o600); err != nil {
		m.t.Fatal(err)
	}
}

var errKilled = errors.New("killed")

// pass collects in a new process. One that is killed has stored, or not, and has saved no cursor.
func (m *model) pass(isKilled bool) {
	m.save()
	c := m.collector()
	if isKilled {
		c.DryRun = m.random.IntN(2) == 0 // stored, but the cursor was not saved
		if !c.DryRun {
			m.sink.fail = func() error { return errKilled }
		}
	}
	err := c.Collect(m.t.Context())
	if m.sink.fail = nil; err != nil && !errors.Is(err, errKilled) {
		m.t.Fatal(err)
	}
	if isKilled && !c.DryRun {
		return // it stored nothing
	}
	for key, value := range m.visible {
		m.expected[key] = value
	}
	m.check()
}

func (m *model) collector() *Collector {
	c := &Collector{Root: m.dir, Sink: m.sink, Cursors: &Cursors{Dir: filepath.Join(m.dir, "cursors")}, Namespace: "n"}
	c.Source, _ = SourceOf(ClaudeCode)
	return c
}

func (m *model) check() {
	m.t.Helper()
	for key, want := range m.expected {
		got := string(m.sink.stored["n "+key].Value)
		if m.ended[key] && got == strings.TrimSuffix(want, `"`)+` (ok)"` {
			continue // an outcome that was cut away may stay known
		}
		if got != want {
			m.t.Fatalf("%s: got %s, want %s", key, got, want)
		}
	}
}

// finish passes once more, after which nothing is new: neither from the cursors, nor from the beginning.
func (m *model) finish() {
	m.write(nil)
	m.pass(false)
	before := m.sink.changes
	m.pass(false)
	if got := m.sink.changes; got != before {
		m.t.Errorf("another pass: got %d changes, want none", got-before)
	}
}

// What a transcript has, read in one pass, is what is stored when it is read while it grows.
func TestReadingInPartsGivesWhatReadingAtOnceDoes(t *testing.T) {
	for name, client := range fixtures(t) {
		s, _ := SourceOf(client)
		if s.lines == nil {
			continue
		}
		files, err := s.Files(t.Context(), filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			whole, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), filepath.Base(file))
			write(t, path, string(whole))
			want, _ := memoriesOf(t, s, path)

			sink := &memorySink{}
			cursors := &Cursors{Dir: t.TempDir()}
			for at := 0; at <= len(whole); at += 151 {
				write(t, path, string(whole[:at]))
				collectOnce(t, s, path, sink, cursors)
			}
			write(t, path, string(whole))
			collectOnce(t, s, path, sink, cursors)
			if len(sink.stored) != len(want) {
				t.Errorf("%s: got %d turns, want %d", file, len(sink.stored), len(want))
			}
			for _, m := range want {
				if got := sink.stored[m.Namespace+" "+m.Key]; string(asJSON(got)) != string(asJSON(m)) {
					t.Errorf("%s: got %s, want %s", m.Key, asJSON(got), asJSON(m))
				}
			}
		}
	}
}

func collectOnce(t *testing.T, s Source, path string, sink Sink, cursors *Cursors) {
	t.Helper()
	c := Collector{Root: path, Sink: sink, Cursors: cursors}
	c.Source = s
	if err := c.Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestACursorReadsOnFromWhereItIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	write(t, path, "")
	s, _ := SourceOf(ClaudeCode)
	r := Reader{Source: s}
	var at Cursor
	for i := range 5 {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(f, `{"type":"user","sessionId":"s","uuid":"%d","message":{"content":"x"}}`+"\n", i); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		var got []Turn
		err = r.Read(t.Context(), path, at, func(turns []Turn, next Cursor) error {
			got, at = append(got, turns...), next
			return nil
		})
		if err != nil || len(got) != 1 || got[0].Seq != int64(i) {
			t.Errorf("pass %d: got %v, %v, want the turn that is new", i, got, err)
		}
	}
}

func TestACallThatWaitsHasNothingGivenTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	call := `{"type":"assistant","sessionId":"s","uuid":"a","message":{"content":[` +
		`{"type":"tool_use","id":"t","name":"Bash","input":{"command":"sleep 1"}}]}}` + "\n"
	said := `{"type":"user","sessionId":"s","uuid":"u","message":{"content":"Hello"}}` + "\n"
	end := `{"type":"user","sessionId":"s","uuid":"b","message":{"content":[{"type":"tool_result","tool_use_id":"t"}]}}` + "\n"
	s, _ := SourceOf(ClaudeCode)
	r := Reader{Source: s}
	var at Cursor
	for i, pass := range []struct {
		content string
		want    []string
	}{
		{call + said, []string{"Hello", "Bash: sleep 1"}},
		{call + said, nil},
		{call + said + said[:20], nil},
		{call + said + end, []string{"Bash: sleep 1 (ok)"}},
		{call + said + end, nil},
	} {
		write(t, path, pass.content)
		var got []string
		err := r.Read(t.Context(), path, at, func(turns []Turn, next Cursor) error {
			for _, turn := range turns {
				got = append(got, turn.Text)
			}
			at = next
			return nil
		})
		if err != nil || fmt.Sprint(got) != fmt.Sprint(pass.want) {
			t.Errorf("pass %d: got %q, %v, want %q", i, got, err, pass.want)
		}
	}
}

func TestADamagedCursorIsAtTheBeginning(t *testing.T) {
	c := Cursors{Dir: t.TempDir()}
	if err := c.Save("a", Cursor{Offset: 7}); err != nil {
		t.Fatal(err)
	}
	if at, err := c.Load("a"); err != nil || at.Offset != 7 {
		t.Errorf("got %v, %v, want the offset 7", at, err)
	}
	for _, damage := range []string{"", "{", `{"offset":"7"}`, string(make([]byte, longestCursor+1))} {
		write(t, c.path("a"), damage)
		if at, err := c.Load("a"); err != nil || at != (Cursor{}) {
			t.Errorf("%.10q: got %v, %v, want the beginning", damage, at, err)
		}
	}
	if other, err := (Cursors{Dir: c.Dir, Target: "b"}).Load("a"); err != nil || other != (Cursor{}) {
		t.Errorf("another target: got %v, %v, want the beginning", other, err)
	}
}

func TestFollowGoesOnAfterAFailedPass(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	write(t, path, `{"type":"user","sessionId":"s","uuid":"1","message":{"content":"x"}}`+"\n")
	ctx, stop := context.WithCancel(t.Context())
	sink, failures := &memorySink{}, 0
	sink.fail = func() error {
		if failures < 2 {
			return errKilled
		}
		defer stop()
		return nil
	}
	c := Collector{Root: path, Sink: sink, Cursors: &Cursors{Dir: t.TempDir()}, Clock: func() time.Time { return time.Now().Add(time.Hour) }}
	c.Source, _ = SourceOf(ClaudeCode)
	err := c.Follow(ctx, time.Millisecond, func(err error) error {
		failures++
		if !errors.Is(err, errKilled) {
			t.Errorf("got %v, want the sink's error", err)
		}
		return nil
	})
	if err != nil || failures != 2 || len(sink.stored) != 1 {
		t.Errorf("got %v, %d failures, %d turns, want 2 and 1", err, failures, len(sink.stored))
	}
}

// fuzzWhole feeds bytes to a source as a transcript of a name.
func fuzzWhole(f *testing.F, client Client, name string, glob string) {
	files, err := filepath.Glob(filepath.Join("testdata", glob))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	if len(files) == 0 {
		f.Fatalf("got no fixture %s, want one", glob)
	}
	s, _ := SourceOf(client)
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), name)
		write(t, path, string(content))
		r := Reader{Source: s, Wrong: func(err *importer.InputError) error {
			if err.Path != path {
				t.Errorf("got an error of %q, want it to name %q", err.Path, path)
			}
			return nil
		}}
		var first, second []string
		for _, list := range []*[]string{&first, &second} {
			err := r.Read(t.Context(), path, Cursor{}, func(turns []Turn, _ Cursor) error {
				for _, turn := range turns {
					for _, m := range turn.memories("n") {
						*list = append(*list, string(asJSON(m)))
						if len(m.Key) > 1<<10 || len(m.Value) > 1<<20 || m.Value[0] != '"' {
							t.Errorf("got the memory %.200q, want one that can be stored", m.Key)
						}
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if fmt.Sprint(first) != fmt.Sprint(second) {
			t.Errorf("got %v and then %v, want the same", first, second)
		}
	})
}

func FuzzClaude(f *testing.F) { fuzzWhole(f, ClaudeCode, "s.jsonl", "claude-*/*.jsonl") }

func FuzzCodex(f *testing.F) { fuzzWhole(f, Codex, "rollout-s.jsonl", "codex-*/*.jsonl") }

func FuzzGemini(f *testing.F) {
	fuzzWhole(f, Gemini, "session-s.json", "gemini-*/*/*/chats/*")
}

func FuzzGeminiLog(f *testing.F) { fuzzWhole(f, Gemini, "logs.json", "gemini-log/*/*") }

func FuzzOpenCode(f *testing.F) { fuzzWhole(f, OpenCode, "s.json", "opencode-export/*") }

func TestRandomSequencesAreStoredOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	sequences := 400
	if testing.Short() {
		sequences = 20
	}
	for seed := range sequences {
		steps := make([]byte, 30)
		for i := range steps {
			steps[i] = "aaaahhcccoootrmwkkppp"[random.IntN(21)]
		}
		t.Run(fmt.Sprintf("%d %s", seed, steps), func(t *testing.T) {
			m := newModel(t, uint64(seed))
			for _, step := range steps {
				m.step(step)
			}
			m.finish()
		})
	}
}
