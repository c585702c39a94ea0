// Package week_test runs a simulated week of clients' sessions, whose hooks tell what memory has and keep what is said.
package week_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/capture"
	"github.com/alcove-memory/alcove/host/capture/hook"
	"github.com/alcove-memory/alcove/host/daemon/bridge"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/memory/portable"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/admin"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/host/tool/tokens"
	"github.com/alcove-memory/alcove/sdk/client"
)

var update = flag.Bool("update", false, "write the golden anew")

const (
	projects = 5
	visits   = 8 // of each project
	within   = time.Minute
)

// Sessions in which something happens, by number.
const (
	serverKilled = 12 // before the agent has answered
	clientKilled = 17 // after the agent has answered, without a word to a hook
	hooksTwice   = 22 // each hook is in two files
	diskFull     = 25 // from the second prompt on
	compacted    = 7  // each seventh session
)

// together are two sessions of one project that run at once.
func together() []int { return []int{30, 35} }

// TestEveryTurnOfAWeekIsKeptOnce runs forty sessions of five projects in three clients. The golden has what each was told. Of what prompts
// were told it counts how much is what they ask for, by the labels of projects.txt.
func TestEveryTurnOfAWeekIsKeptOnce(t *testing.T) {
	w := newWeek(t)
	var running []*session
	for n := range projects * visits {
		s := w.newSession(n)
		if running = append(running, s); slices.Contains(together(), n) {
			continue
		}
		w.run(s)
	}
	var pair []*session
	for _, n := range together() {
		pair = append(pair, running[n])
	}
	w.run(pair...)
	if w.failed == 0 {
		t.Error("no hook failed on the full disk, want those that keep turns to")
	}
	w.keptOnce()
	w.golden()
	w.report()
}

// week is a home with clients and projects, the memory of its user, and what is expected of it.
type week struct {
	*testing.T
	home, clock string
	process     *server.Process
	fill        func() func() // the disk; nil: it cannot be filled
	full        bool          // it is, as far as the sink can tell
	now         time.Time
	messages    map[string]string // of clients, by client and event
	projects    []project
	tokens      *tokens.Tokenizer

	mu       sync.Mutex
	out      bytes.Buffer // for the golden
	want     map[string]map[string]int
	atStart  []int // tokens of each start of a session
	atPrompt []int // of each prompt
	longest  time.Duration
	failed   int // hooks, on the full disk
	told     int // memories at prompts
	relevant int // of these, what the prompt asks for
	known    int // prompts that ask for a memory that there is
	answered int // of these, whose session was told it, at its start or then
}

// project is a project of the data.
type project struct {
	name, folder, namespace string
	memories                []memory
	asides                  []string
}

// memory is a memory and the prompt that asks for it.
type memory struct{ key, kind, text, prompt string }

func newWeek(t *testing.T) *week {
	t.Helper()
	count, err := tokens.Load()
	if err != nil {
		t.Fatal(err)
	}
	w := &week{T: t, home: t.TempDir(), tokens: count, now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), want: map[string]map[string]int{}}
	w.clock = filepath.Join(w.home, "clock")
	w.tick(0)
	t.Setenv(clockFile, w.clock)
	t.Setenv(server.NoSync, "1")
	t.Setenv(server.Carried, "1")
	disk, fill := smallDisk(t)
	w.fill = fill
	w.process = server.NewProcess(t, filepath.Join(disk, "data"))
	w.readMessages()
	w.readProjects()
	return w
}

// tick puts the clock forward, for the server, too.
func (w *week) tick(d time.Duration) {
	w.now = w.now.Add(d)
	next := w.clock + ".next"
	w.write(next, w.now.Format(time.RFC3339))
	if err := os.Rename(next, w.clock); err != nil {
		w.Fatal(err)
	}
}

func (w *week) readMessages() {
	w.messages = map[string]string{}
	for line := range strings.Lines(w.read("messages.txt")) {
		if client, rest, ok := strings.Cut(strings.TrimSpace(line), " "); ok && client != "#" {
			event, form, _ := strings.Cut(rest, " ")
			w.messages[client+" "+event] = form
		}
	}
}

func (w *week) readProjects() {
	for line := range strings.Lines(w.read("projects.txt")) {
		what, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		last := len(w.projects) - 1
		switch what {
		case "project":
			folder := filepath.Join(w.home, "src", rest)
			if err := os.MkdirAll(filepath.Join(folder, ".git"), 0o700); err != nil {
				w.Fatal(err)
			}
			w.write(filepath.Join(folder, ".git", "config"), "[remote \"origin\"]\n\turl = https://example.org/acme/"+rest+".git\n")
			w.projects = append(w.projects, project{name: rest, folder: folder, namespace: "project/acme/" + rest})
		case "memory":
			name, text, _ := strings.Cut(rest, ": ")
			key, kind, _ := strings.Cut(name, " ")
			w.projects[last].memories = append(w.projects[last].memories, memory{key: key, kind: kind, text: text})
		case "prompt:":
			all := w.projects[last].memories
			all[len(all)-1].prompt = rest
		case "aside:":
			w.projects[last].asides = append(w.projects[last].asides, rest)
		}
	}
}

func (w *week) read(name string) string {
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		w.Fatal(err)
	}
	return string(data)
}

// wanted expects a text to be kept once more.
func (w *week) wanted(namespace, text string) {
	if w.want[namespace] == nil {
		w.want[namespace] = map[string]int{}
	}
	w.want[namespace][text]++
}

// session is a session of a client in a project.
type session struct {
	*week
	number  int
	client  hook.Client
	project project
	*transcript
	begins time.Time
	steps  []step
	known  map[string]bool // memories that the session was told
}

// step is a part of a session: what comes before a hook keeps turns, or that hook.
type step struct {
	do    func()
	keeps bool
}

func (w *week) newSession(n int) *session {
	visit := n / projects
	s := &session{
		week: w, number: n, project: w.projects[n%projects], known: map[string]bool{},
		client: []hook.Client{hook.ClaudeCode, hook.Codex, hook.Gemini}[(visit+n%projects)%3],
		begins: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC).AddDate(0, 0, n/6).Add(time.Duration(n%6) * 90 * time.Minute),
	}
	p := s.project
	s.then(s.begin)
	s.then(func() { s.store(p.memories[visit]) })
	s.exchange(p.asides[visit], "")
	if visit > 0 {
		s.exchange(p.memories[visit-1].prompt, p.memories[visit-1].key)
	}
	if n%compacted == compacted-1 {
		s.keep(hook.PreCompact)
		s.then(func() {
			s.week.compact(s.transcript)
			s.known = map[string]bool{}
			s.tell(hook.SessionStart, "", "compact", "")
		})
	}
	if visit > 2 {
		s.exchange(p.memories[visit-3].prompt, p.memories[visit-3].key)
	}
	if n == clientKilled {
		s.steps = s.steps[:len(s.steps)-1] // it ran no hook for its last answer
		return s
	}
	s.keep(hook.SessionEnd)
	return s
}

// fault breaks something before a step, if it is to be broken.
func (s *session) fault(i int, free func()) func() {
	const secondStop = 5 // the step
	if i != secondStop {
		return free
	}
	switch s.number {
	case serverKilled:
		h, _ := s.process.Kill()
		if err := h.Close(); err != nil {
			s.Errorf("close what the killed server left: %v", err)
		}
	case diskFull:
		if s.fill != nil {
			return s.fill()
		}
		s.full = true
		return func() { s.full = false }
	}
	return free
}

// tell runs the hook of an event that tells the agent something.
func (s *session) tell(e hook.Event, prompt, source, asked string) {
	answers := s.hook(e, prompt, source)
	answers = slices.DeleteFunc(answers, func(answer string) bool { return answer == "" })
	if len(answers) > 1 {
		s.Errorf("session %d is told at %s what follows %d times, want once:\n%s", s.number, e, len(answers), answers[0])
	}
	text := ""
	if len(answers) > 0 {
		var form struct {
			Output struct{ AdditionalContext string } `json:"hookSpecificOutput"`
		}
		if err := json.Unmarshal([]byte(answers[0]), &form); err != nil {
			s.Fatalf("%s answers %q, want JSON: %v", e, answers[0], err)
		}
		text = form.Output.AdditionalContext
	}
	s.printf("%s %s\n%s", e, prompt, text)
	if e == hook.SessionStart {
		s.atStart = append(s.atStart, s.tokens.Count(text))
	} else {
		s.atPrompt = append(s.atPrompt, s.tokens.Count(text))
	}
	s.judge(e, text, asked)
}

var keys = regexp.MustCompile(`(?m)^- \[(.+?)\]`)

// judge counts what is told by the label of the prompt.
func (s *session) judge(e hook.Event, text, asked string) {
	for _, found := range keys.FindAllStringSubmatch(text, -1) {
		key := found[1]
		if s.known[key] {
			s.Errorf("session %d is told %s again at %s, want once", s.number, key, e)
		}
		s.known[key] = true
		if e == hook.UserPrompt {
			s.told++
			if key == asked {
				s.relevant++
			}
		}
	}
	if asked != "" {
		s.week.known++
		if s.known[asked] {
			s.answered++
		}
	}
}

// notice runs the hook of an event that keeps turns.
func (s *session) notice(e hook.Event) {
	for _, answer := range s.hook(e, "", "") {
		if answer != "" {
			s.Errorf("session %d is told %q at %s, want nothing", s.number, answer, e)
		}
	}
}

// hook runs the hooks of an event, and returns their answers. The client may have none.
func (s *session) hook(e hook.Event, prompt, source string) []string {
	message := s.message(s.transcript, e, prompt, source)
	if message == "" {
		return nil
	}
	runs := 1
	if s.number == hooksTwice {
		runs = 2
	}
	answers := make([]string, runs)
	var wait sync.WaitGroup
	for i := range answers {
		wait.Go(func() { answers[i] = s.runHook(e, message) })
	}
	wait.Wait()
	return answers
}

// runHook does what alcove hook does.
func (s *session) runHook(e hook.Event, message string) string {
	began := time.Now()
	ctx, cancel := context.WithTimeout(s.Context(), within)
	defer cancel()
	m, err := hook.ReadMessage(strings.NewReader(message), s.client, e)
	if err != nil {
		s.Errorf("%s sends %s: %v", s.client, message, err)
		return ""
	}
	var asking *client.Session
	h := hook.Hook{
		Clock: func() time.Time { return s.now }, Journal: s.journal(),
		Ask: func(ctx context.Context, tool string, arguments any) (json.RawMessage, error) {
			if asking == nil {
				if asking, err = server.Session(ctx, s.process.Dial); err != nil {
					return nil, err
				}
			}
			r, err := asking.Call(ctx, tool, arguments)
			return r.Structured, err
		},
		Transcripts: &hook.Transcripts{
			Folders: func(hook.Client) []string {
				return []string{filepath.Join(s.home, map[hook.Client]string{
					hook.ClaudeCode: ".claude/projects", hook.Codex: ".codex/sessions", hook.Gemini: ".gemini/tmp"}[s.client])}
			},
			Sink: s.week, Cursors: &capture.Cursors{Dir: filepath.Join(s.process.Dir, "transcripts")},
		},
	}
	answer, err := h.Answer(ctx, m)
	noted := h.Note(m, len(answer) > 0, err)
	if asking != nil {
		asking.Close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.longest = max(s.longest, time.Since(began))
	switch err := errors.Join(err, noted); {
	case err != nil && s.number == diskFull:
		s.failed++
	case err != nil:
		s.Errorf("the hook %s of session %d ends with %v, want no error", e, s.number, err)
	}
	return string(answer)
}

func (w *week) journal() *hook.Journal {
	return &hook.Journal{Dir: filepath.Join(w.process.Dir, "hooks"), Clock: func() time.Time { return w.now }}
}

// Store implements capture.Sink as alcove import does.
func (w *week) Store(ctx context.Context, memories []portable.Memory) error {
	if w.full {
		return errors.New("no space left on device")
	}
	conn, err := w.process.Dial(ctx, bridge.SessionState{}) // starts the server
	if err != nil {
		return err
	}
	defer conn.Close()
	acts := admin.NewClient(func(ctx context.Context) (net.Conn, error) { return owner.DialOperator(ctx, w.process.Dir) })
	defer acts.Close()
	_, err = operator.Call(ctx, acts, operator.Import, operator.ImportRequest{Memories: memories})
	return err
}

// store stores a memory as the agent of a session.
func (s *session) store(m memory) {
	c, err := server.Session(s.Context(), s.process.Dial)
	if err != nil {
		s.Fatalf("connect session %d: %v", s.number, err)
	}
	defer c.Close()
	if _, err := c.Call(s.Context(), "memory_store", map[string]any{"key": m.key, "value": m.text, "type": m.kind, "namespace": s.project.namespace}); err != nil {
		s.Fatalf("store %s in session %d: %v", m.key, s.number, err)
	}
}

func (w *week) printf(format string, args ...any) { fmt.Fprintf(&w.out, format, args...) }

// keptOnce compares what is kept with what was said.
func (w *week) keptOnce() {
	c, err := server.Session(w.Context(), w.process.Dial)
	if err != nil {
		w.Fatalf("connect: %v", err)
	}
	defer c.Close()
	said, got := 0, map[string]map[string]int{}
	for after := ""; ; {
		arguments := map[string]any{"tags": []string{capture.Captured}, "order": "key", "k": 50, "fields": []string{"namespace"}}
		if after != "" {
			arguments["after"] = after
		}
		r, err := c.Call(w.Context(), "memory_search", arguments)
		var page struct {
			Results []struct{ Namespace, Value string }
			Next    string
		}
		if err = errors.Join(err, server.Decode(r, &page)); err != nil {
			w.Fatalf("list what is kept: %v", err)
		}
		for _, m := range page.Results {
			if got[m.Namespace] == nil {
				got[m.Namespace] = map[string]int{}
			}
			got[m.Namespace][m.Value]++
		}
		if after = page.Next; after == "" {
			break
		}
	}
	for _, p := range w.projects {
		for text, n := range w.want[p.namespace] {
			if said += n; got[p.namespace][text] != n {
				w.Errorf("%q is kept %d times in %s, want %d", text, got[p.namespace][text], p.namespace, n)
			}
		}
		for text, n := range got[p.namespace] {
			if w.want[p.namespace][text] == 0 {
				w.Errorf("%q is kept %d times in %s, and nobody said it", text, n, p.namespace)
			}
		}
		delete(got, p.namespace)
	}
	if len(got) > 0 {
		w.Errorf("turns are kept in other namespaces, too: %v", got)
	}
	w.Logf("%d turns of %d sessions are kept, each once", said, projects*visits)
}

func (w *week) golden() {
	const name = "testdata/week.golden"
	if *update {
		w.write(name, w.out.String())
	}
	if want := w.read("week.golden"); w.out.String() != want {
		w.Errorf("sessions are told other things than %s has; -update writes it:\n%s", name, w.out.String())
	}
}

// report prints what was measured.
func (w *week) report() {
	w.Logf("tokens (cl100k) at the start of a session: %s; at a prompt: %s", spread(w.atStart), spread(w.atPrompt))
	w.Logf("%d of %d memories told at prompts are what the prompt asks for; of %d prompts that ask for a memory, %d sessions were told it, at their start or then",
		w.relevant, w.told, w.known, w.answered)
	w.Logf("%d hooks failed on the full disk; the longest hook took %s", w.failed, w.longest.Round(time.Millisecond))
}

func spread(counts []int) string {
	slices.Sort(counts)
	at := func(share float64) int { return counts[int(share*float64(len(counts)-1))] }
	return fmt.Sprintf("p50 %d, p90 %d, max %d", at(.5), at(.9), at(1))
}

func (s *session) then(do func()) { s.steps = append(s.steps, step{do: do}) }

func (s *session) keep(e hook.Event) {
	s.steps = append(s.steps, step{func() { s.notice(e) }, true})
}

func (s *session) begin() {
	id := fmt.Sprintf("s%02d", s.number)
	s.transcript = s.newTranscript(s.client, id, s.project.folder)
	s.printf("== %s in %s, %s ==\n", s.client, s.project.name, id)
	s.tell(hook.SessionStart, "", "startup", "")
}

// exchange is a prompt, which may ask for a memory, a call and an answer.
func (s *session) exchange(prompt, asked string) {
	s.then(func() {
		s.tell(hook.UserPrompt, prompt, "", asked)
		s.say(s.transcript, s.project.namespace, "user", prompt)
		s.call(s.transcript, s.project.namespace, fmt.Sprintf("make check N=%d", s.number))
		s.say(s.transcript, s.project.namespace, "assistant", fmt.Sprintf("Done in session %d: %s", s.number, prompt))
	})
	s.keep(hook.Stop)
}

// run runs a session, or sessions at once: each in turn up to where its hook keeps turns, and then these hooks at the same time.
func (w *week) run(sessions ...*session) {
	w.tick(max(0, sessions[0].begins.Sub(w.now)))
	free := func() {} // the disk, after the sessions
	defer func() { free() }()
	for i := 0; ; i++ {
		var keeping sync.WaitGroup
		running := false
		for _, s := range sessions {
			if i >= len(s.steps) {
				continue
			}
			running = true
			w.tick(time.Minute)
			free = s.fault(i, free)
			if s.steps[i].keeps {
				keeping.Go(s.steps[i].do)
				continue
			}
			s.steps[i].do()
		}
		keeping.Wait()
		if !running {
			return
		}
	}
}
