package capture

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/memory/importer"
	"github.com/alcove-memory/alcove/host/memory/portable"
	"github.com/alcove-memory/alcove/host/memory/record"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// memoriesOf collects the transcripts at a path from the beginning.
func memoriesOf(t *testing.T, s Source, path string) (list []portable.Memory, wrong []string) {
	t.Helper()
	sink := &memorySink{}
	c := Collector{Root: path, Sink: sink}
	c.Source = s
	c.Wrong = func(err *importer.InputError) error {
		wrong = append(wrong, err.Error())
		return nil
	}
	if err := c.Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	return sink.list(), wrong
}

// memorySink is a store of memories by namespace and key.
type memorySink struct {
	stored  map[string]portable.Memory
	order   []string
	changes int // memories that were new or not equal to those before
	fail    func() error
}

func (s *memorySink) Store(_ context.Context, memories []portable.Memory) error {
	if s.fail != nil {
		if err := s.fail(); err != nil {
			return err
		}
	}
	for _, m := range memories {
		name := m.Namespace + " " + m.Key
		was, known := s.stored[name]
		if !known {
			s.order = append(s.order, name)
		}
		if known && string(asJSON(was)) == string(asJSON(m)) {
			continue
		}
		s.changes++
		s.stored = noted(s.stored, name, m)
	}
	return nil
}

func (s *memorySink) list() (list []portable.Memory) {
	for _, name := range s.order {
		list = append(list, s.stored[name])
	}
	return list
}

func asJSON(v any) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// fixtures are the folders of testdata, with the client that each is of.
func fixtures(t testing.TB) map[string]Client {
	entries, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]Client{}
	for _, e := range entries {
		if e.IsDir() && e.Name() != "fuzz" {
			client, _, _ := strings.Cut(e.Name(), "-")
			if client == "claude" {
				client = string(ClaudeCode)
			}
			all[e.Name()] = Client(client)
		}
	}
	return all
}

func TestTranscriptsBecomeTheTurnsOfConversations(t *testing.T) {
	for name, client := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("testdata", name)
			s, ok, err := Detect(dir)
			if err != nil || !ok || s.Client != client {
				t.Fatalf("Detect: got %q, %v, %v, want %q", s.Client, ok, err, client)
			}
			list, wrong := memoriesOf(t, s, dir)
			var got bytes.Buffer
			for _, m := range list {
				if turn := record.Turn(m.Metadata); turn == nil && len(list) > 0 {
					t.Errorf("%s is no turn of a conversation, want one", m.Key)
				}
				got.Write(asJSON(m))
			}
			for _, w := range wrong {
				_, _ = fmt.Fprintln(&got, filepath.ToSlash(w))
			}
			compare(t, dir+".golden", got.Bytes())
		})
	}
}

func compare(t *testing.T, golden string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(golden, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", golden, got, want)
	}
}

func TestNoFixtureLeavesWhatIsPrivate(t *testing.T) {
	for name, client := range fixtures(t) {
		s, _ := SourceOf(client)
		list, _ := memoriesOf(t, s, filepath.Join("testdata", name))
		for _, secret := range []string{"4711", "hidden", "All of this", "doctor", "Monday", "secret"} {
			if bytes.Contains(asJSON(list), []byte(secret)) {
				t.Errorf("%s: got %q in what is kept, want it left out", name, secret)
			}
		}
	}
}

func TestFilesOfOtherKindsAreNoTranscripts(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"memory.jsonl":       `{"type":"entity","name":"a","entityType":"b","observations":[]}` + "\n",
		"memories.jsonl":     `{"alcove":"memories","format":1}` + "\n",
		"conversations.json": `[{"title":"a","create_time":1,"mapping":{}}]`,
		"claude.json":        `[{"uuid":"a","name":"b","chat_messages":[]}]`,
		"mem0.json":          `{"results":[{"id":"a","memory":"b"}]}`,
		"empty.jsonl":        "",
		"note.md":            "# A note",
	} {
		path := filepath.Join(dir, name)
		write(t, path, content)
		if s, ok, err := Detect(path); ok || err != nil {
			t.Errorf("Detect(%s): got %q, %v, %v, want none", name, s.Client, ok, err)
		}
	}
	if s, ok, err := Detect(dir); ok || err != nil {
		t.Errorf("Detect of the folder: got %q, %v, %v, want none", s.Client, ok, err)
	}
	write(t, filepath.Join(dir, "session.jsonl"), `{"parentUuid":null,"type":"user"}`+"\n")
	if s, ok, err := Detect(dir); ok || err != nil {
		t.Errorf("Detect of a folder of notes with a transcript: got %q, %v, %v, want none", s.Client, ok, err)
	}
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestLongTurnsAreSplitAndTheLongestCut(t *testing.T) {
	long := strings.Repeat("é", longestPiece) // two bytes each
	list := Turn{Client: Codex, Session: "s", ID: "i", Text: "x" + long}.memories("n")
	if len(list) != 3 || list[1].Key != "codex/s/i/part 2" {
		t.Fatalf("got %d memories, want 3", len(list))
	}
	whole := ""
	for _, m := range list {
		var text string
		if err := json.Unmarshal(m.Value, &text); err != nil {
			t.Fatal(err)
		}
		whole += text
	}
	if whole != "x"+long {
		t.Errorf("got %d bytes, want the whole text of %d", len(whole), len(long)+1)
	}
	all := pieces(strings.Repeat("a", longestTurn+5))
	if last := all[len(all)-1]; !strings.HasSuffix(last, "\n[5 more bytes were cut]") {
		t.Errorf("got the end %q, want the number of bytes that were cut", last[len(last)-40:])
	}
	for i, p := range all {
		if encoded := encode(strings.Repeat("\x01", longestPiece)); len(p) > longestPiece+100 || len(encoded) > 1<<20 {
			t.Errorf("piece %d: got %d bytes, want one that fits a memory", i, len(p))
		}
	}
}

func TestIdsThatAreNoNamesAreReplaced(t *testing.T) {
	for _, id := range []string{"../../etc/passwd", "a\x00b", strings.Repeat("x", longestID+1), "a\xffb", "", "a\nb"} {
		if got := named(id); len(got) != 32 || strings.ContainsAny(got, "/.") {
			t.Errorf("named(%q): got %q, want a hash", id, got)
		}
	}
	if got := named("u-1"); got != "u-1" {
		t.Errorf("got %q, want u-1", got)
	}
}

// Each limit names the file and line that exceeds it, and what is readable beside is kept.
func TestLimitsNameFileAndLine(t *testing.T) {
	claude, _ := SourceOf(ClaudeCode)
	gemini, _ := SourceOf(Gemini)
	open, _ := SourceOf(OpenCode)
	line := func(text string) string {
		return fmt.Sprintf(`{"type":"user","sessionId":"s","uuid":"%s","message":{"content":%s}}`, hash(text), text) + "\n"
	}
	good := line(`"fine"`)
	nested := strings.Repeat("[", 600) + strings.Repeat("]", 600)
	for _, c := range []struct {
		source              Source
		name, content, says string
		kept                int
	}{
		{claude, "deep.jsonl", good + line(nested) + line(`"last"`), "deep.jsonl, line 2: more than 512 nested", 2},
		{claude, "values.jsonl", good + line("["+strings.Repeat("1,", 500_000)+"1]"), "values.jsonl, line 2: more than 500000 values", 1},
		{claude, "line.jsonl", good + line(`"`+strings.Repeat("x", longestLine)+`"`) + line(`"last"`),
			"line.jsonl, line 2: more than 67108864 bytes in a line", 2},
		{claude, "broken.jsonl", good + "{\n\n" + line(`"last"`), "broken.jsonl, line 2: unexpected end", 2},
		{claude, "torn.jsonl", good + `{"type":"user","mess` + line(`"last"`), "torn.jsonl, line 2: invalid character", 2},
		{gemini, "session-a.jsonl", `{"sessionId":"s","projectHash":"h"}` + "\n{]\n" + `{"id":"1","type":"user","content":"fine"}` + "\n",
			"session-a.jsonl, line 2: invalid character", 1},
		{gemini, "session-b.jsonl", strings.Repeat(" ", longestWhole+1), "session-b.jsonl: more than 67108864 bytes in a chat", 0},
		{open, "export.json", `{"info":{"id":"ses_1"},"messages":[` + strings.Repeat(" ", longestWhole) + `]}`,
			"export.json: more than 67108864 bytes in a session", 0},
		{open, "half.json", `{"info":{"id":"ses_1"},"messages":[`, "half.json: unexpected end", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.name)
			write(t, path, c.content)
			list, wrong := memoriesOf(t, c.source, path)
			if len(list) != c.kept || len(wrong) != 1 || !strings.Contains(wrong[0], c.says) {
				t.Errorf("got %d turns and %.200q, want %d and %q", len(list), wrong, c.kept, c.says)
			}
		})
	}
}

func TestACallWaitsForItsOutcomeOnlySoLong(t *testing.T) {
	s, _ := SourceOf(ClaudeCode)
	call := `{"type":"assistant","sessionId":"s","uuid":"a","message":{"content":[` +
		`{"type":"tool_use","id":"t","name":"Bash","input":{"command":"sleep 1"}}]}}` + "\n"
	end := `{"type":"user","sessionId":"s","uuid":"b","message":{"content":[{"type":"tool_result","tool_use_id":"t"}]}}` + "\n"
	for lines, want := range map[int]string{10: "Bash: sleep 1 (ok)", pendingLines + 1: "Bash: sleep 1"} {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		write(t, path, call+strings.Repeat("{}\n", lines)+end)
		list, _ := memoriesOf(t, s, path)
		if len(list) != 1 || string(list[0].Value) != string(encode(want)) {
			t.Errorf("after %d lines: got %s, want %q", lines, asJSON(list), want)
		}
	}
}

func TestAFolderHasALimitOfTranscripts(t *testing.T) {
	dir := t.TempDir()
	for i := range 4 {
		write(t, filepath.Join(dir, fmt.Sprintf("%d.jsonl", i)), "")
	}
	s, _ := SourceOf(ClaudeCode)
	if files, err := s.filesIn(t.Context(), dir, 4); err != nil || len(files) != 4 {
		t.Errorf("got %q, %v, want four files", files, err)
	}
	if _, err := s.filesIn(t.Context(), dir, 3); err == nil || !strings.Contains(err.Error(), dir+": more than 3 transcripts in a folder") {
		t.Errorf("got %v, want an error that names the folder and its limit", err)
	}
}

func TestAChatHasALimitOfMessages(t *testing.T) {
	if testing.Short() {
		t.Skip("it has a million messages")
	}
	path := filepath.Join(t.TempDir(), "session-a.jsonl")
	var lines strings.Builder
	for i := range mostTurns + 1 {
		_, _ = fmt.Fprintf(&lines, `{"id":"%d","type":"user"}`+"\n", i)
	}
	write(t, path, lines.String())
	_, wrong := memoriesOf(t, must(SourceOf(Gemini)), path)
	if want := fmt.Sprintf("line %d: more than %d messages in a chat", mostTurns+1, mostTurns); len(wrong) != 1 || !strings.Contains(wrong[0], want) {
		t.Errorf("got %q, want %q", wrong, want)
	}
}

func TestOtherThanRegularFilesAreLeft(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "s.jsonl")
	write(t, outside, `{"type":"user","sessionId":"s","uuid":"a","message":{"content":"x"}}`+"\n")
	if err := os.Symlink(outside, filepath.Join(dir, "link.jsonl")); err != nil {
		t.Skip(err)
	}
	s, _ := SourceOf(ClaudeCode)
	files, err := s.Files(t.Context(), dir)
	if err != nil || len(files) != 0 {
		t.Errorf("got %q, %v, want no file", files, err)
	}
}

func TestAnErrorEndsReadWhenNothingIsSkipped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	write(t, path, "{\n")
	s, _ := SourceOf(ClaudeCode)
	r := Reader{Source: s}
	err := r.Read(t.Context(), path, Cursor{}, func([]Turn, Cursor) error { return nil })
	if placed := new(importer.InputError); !errors.As(err, &placed) || placed.Location != "line 1" {
		t.Errorf("got %v, want an error of line 1", err)
	}
}

func TestAChatWhoseFolderIsUnknownHasNoNamespace(t *testing.T) {
	list, _ := memoriesOf(t, must(SourceOf(Gemini)), "testdata/gemini-log")
	if i := slices.IndexFunc(list, func(m portable.Memory) bool { return m.Namespace != "" }); i >= 0 {
		t.Errorf("got the namespace %q, want none where no folder is known", list[i].Namespace)
	}
}

func must[T any](v T, ok bool) T {
	if !ok {
		panic("it is not there")
	}
	return v
}
