package hook_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/capture"
	"github.com/alcove-memory/alcove/host/capture/hook"
	"github.com/alcove-memory/alcove/host/memory/portable"
)

// kept is a sink that has memories by key, and fails while broken is an error.
type kept struct {
	sync.Mutex
	values map[string]string
	stores int
	broken error
}

func (k *kept) Store(ctx context.Context, memories []portable.Memory) error {
	k.Lock()
	defer k.Unlock()
	if k.broken != nil {
		return k.broken
	}
	k.stores++
	for _, m := range memories {
		k.values[m.Key] = string(m.Value)
	}
	return ctx.Err()
}

// keys are those of the memories that were kept.
func (k *kept) keys() (keys []string) {
	for key := range k.values {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// keeping is a hook that keeps turns, and the folder of the transcripts.
type keeping struct {
	*testing.T
	hook.Hook
	sink   *kept
	folder string
}

func newKeeping(t *testing.T) *keeping {
	t.Helper()
	dir := t.TempDir()
	k := &keeping{T: t, sink: &kept{values: map[string]string{}}, folder: filepath.Join(dir, "projects")}
	if err := os.MkdirAll(filepath.Join(k.folder, "app"), 0o700); err != nil {
		t.Fatal(err)
	}
	k.Hook = hook.Hook{
		Journal: &hook.Journal{Dir: filepath.Join(dir, "hooks"), Clock: time.Now}, Clock: time.Now,
		Transcripts: &hook.Transcripts{
			Folders: func(hook.Client) []string { return []string{k.folder} },
			Sink:    k.sink, Cursors: &capture.Cursors{Dir: filepath.Join(dir, "transcripts")},
		},
	}
	return k
}

// say writes turns of the user to the end of a session's transcript, whose path it returns.
func (k *keeping) say(session string, ids ...string) string {
	k.Helper()
	path := filepath.Join(k.folder, "app", session+".jsonl")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		k.Fatal(err)
	}
	for _, id := range ids {
		fmt.Fprintf(f, `{"type":"user","sessionId":%q,"uuid":%q,"parentUuid":null,"cwd":"/nowhere/app","message":{"role":"user","content":"About %[2]s"}}`+"\n", session, id)
	}
	if err := f.Close(); err != nil {
		k.Fatal(err)
	}
	return path
}

// run answers an event about a transcript.
func (k *keeping) run(ctx context.Context, e hook.Event, transcript string) error {
	k.Helper()
	answer, err := k.Answer(ctx, hook.Message{Client: hook.ClaudeCode, Event: e, Session: "s", Transcript: transcript})
	if len(answer) > 0 {
		k.Errorf("%s is answered %q, want nothing", e, answer)
	}
	return err
}

func (k *keeping) want(keys ...string) {
	k.Helper()
	for i, key := range keys {
		keys[i] = "claude-code/" + key
	}
	if got := k.sink.keys(); !slices.Equal(got, keys) {
		k.Errorf("%v are kept, want %v", got, keys)
	}
}

func TestNewTurnsAreKeptAtEachEvent(t *testing.T) {
	k := newKeeping(t)
	for i, e := range []hook.Event{hook.Stop, hook.PreCompact, hook.Stop, hook.SessionEnd} {
		if err := k.run(t.Context(), e, k.say("s", fmt.Sprint(i))); err != nil {
			t.Fatalf("%s ends with %v, want nothing", e, err)
		}
		if k.sink.stores != i+1 {
			t.Errorf("after %d events there were %d stores, want one each", i+1, k.sink.stores)
		}
	}
	k.want("s/0", "s/1", "s/2", "s/3")
}

func TestPrivateTextAndSecretsAreNotKept(t *testing.T) {
	k := newKeeping(t)
	path := k.say("s", "1")
	line := `{"type":"user","sessionId":"s","uuid":"2","message":{"role":"user","content":"mine: <private>4711</private>, AKIAZ7QX3MPL2WNRT5VB"}}` + "\n"
	if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := k.run(t.Context(), hook.Stop, path); err != nil {
		t.Fatal(err)
	}
	if got := k.sink.values["claude-code/s/2"]; strings.Contains(got, "4711") || strings.Contains(got, "AKIAZ7") || !strings.Contains(got, "mine") {
		t.Errorf("%s is kept, want it without what is private and secret", got)
	}
}

// TestASessionThatWasKilledIsKeptByTheNext notes a transcript when its session begins.
func TestASessionThatWasKilledIsKeptByTheNext(t *testing.T) {
	k := newKeeping(t)
	killed := k.say("killed", "1")
	m := hook.Message{Client: hook.ClaudeCode, Event: hook.UserPrompt, Session: "killed", Transcript: killed, Prompt: "hi"}
	if _, err := k.Answer(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if err := k.run(t.Context(), hook.Stop, k.say("next", "1")); err != nil {
		t.Fatal(err)
	}
	k.want("killed/1", "next/1")
}

func TestWhatAFailedServerDidNotKeepIsKeptByTheNextSession(t *testing.T) {
	k := newKeeping(t)
	k.sink.broken = errors.New("no space left on device")
	if err := k.run(t.Context(), hook.SessionEnd, k.say("first", "1")); err == nil || !strings.Contains(err.Error(), "keep the turns of") {
		t.Errorf("a store that fails ends with %v, want an error that names the transcript", err)
	}
	k.sink.broken = nil
	if err := k.run(t.Context(), hook.Stop, k.say("next", "1")); err != nil {
		t.Fatal(err)
	}
	k.want("first/1", "next/1")
}

func TestACaptureThatRunsOutOfTimeGoesOnAtTheNextEvent(t *testing.T) {
	k := newKeeping(t)
	var ids []string
	for i := range 1200 {
		ids = append(ids, fmt.Sprintf("%04d", i))
	}
	path := k.say("long", ids...)
	slow := &slowSink{kept: k.sink}
	k.Transcripts.Sink = slow
	for range 3 { // each stores a batch, and waits for the end of its time
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		slow.waits = ctx
		if err := k.run(ctx, hook.Stop, path); err != nil {
			t.Errorf("a capture without enough time ends with %v, want nothing", err)
		}
		cancel()
	}
	if got := len(k.sink.values); got != len(ids) {
		t.Errorf("%d turns are kept, want %d", got, len(ids))
	}
}

// slowSink stores one batch, and with the second waits for the end of the event.
type slowSink struct {
	*kept
	waits, waited context.Context
}

func (s *slowSink) Store(ctx context.Context, memories []portable.Memory) error {
	if s.waited == s.waits {
		<-ctx.Done()
		return ctx.Err()
	}
	s.waited = s.waits
	return s.kept.Store(ctx, memories)
}

func TestTwoHooksAtOnceKeepATurnOnce(t *testing.T) {
	k := newKeeping(t)
	path := k.say("s", "1", "2", "3")
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			if err := k.run(t.Context(), hook.Stop, path); err != nil {
				t.Errorf("one of eight hooks ends with %v, want nothing", err)
			}
		})
	}
	wait.Wait()
	k.want("s/1", "s/2", "s/3")
	if k.sink.stores != 1 {
		t.Errorf("eight hooks stored %d times, want once", k.sink.stores)
	}
}

func TestWhatIsNoTranscriptOfTheClientIsRefused(t *testing.T) {
	k := newKeeping(t)
	outside := filepath.Join(filepath.Dir(k.folder), "outside.jsonl")
	long := filepath.Join(k.folder, "app", "long.jsonl")
	for path, size := range map[string]int64{outside: 1, long: 1<<30 + 1} {
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, size)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		outside:                         "is not a transcript of claude-code in",
		"/etc/passwd":                   "is not a transcript of claude-code in",
		"app/s.jsonl":                   "is not a transcript of claude-code in",
		k.folder + "/app/../../outside": "is not a transcript of claude-code in",
		k.folder + "/app/s.txt":         "is not a transcript of claude-code in",
		k.folder + "/app/agent-1.jsonl": "is not a transcript of claude-code in",
		`\\server\share\s.jsonl`:        "is not a transcript of claude-code in",
		long:                            "it is left out",
	} {
		if err := k.run(t.Context(), hook.Stop, path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
	link, folder := filepath.Join(k.folder, "app", "link.jsonl"), filepath.Join(k.folder, "app", "folder.jsonl")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := k.run(t.Context(), hook.Stop, folder); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a folder: got %v, want it refused", err)
	}
	if err := os.Symlink(outside, link); err != nil {
		t.Skip("this user can make no symbolic links:", err)
	}
	if err := k.run(t.Context(), hook.Stop, link); err == nil || !strings.Contains(err.Error(), "leads out of the folder") {
		t.Errorf("a link out of the folder: got %v, want it refused", err)
	}
	if len(k.sink.values) > 0 {
		t.Errorf("%v are kept, want nothing", k.sink.keys())
	}
}

func TestAHookIsOfUseWhereItAnswersOrTheTranscriptIsRead(t *testing.T) {
	for c, want := range map[hook.Client]string{
		hook.ClaudeCode: "session-start user-prompt pre-compact stop session-end",
		hook.Codex:      "session-start user-prompt pre-compact stop session-end",
		hook.Gemini:     "session-start user-prompt pre-compact stop session-end",
		hook.VSCode:     "session-start user-prompt",
		hook.Cursor:     "session-start",
		"windsurf":      "",
	} {
		var got []string
		for _, e := range hook.EventNames() {
			if hook.Serves(c, hook.Event(e)) {
				got = append(got, e)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: hooks at %v are of use, want %s", c, got, want)
		}
	}
}
