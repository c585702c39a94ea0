package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// fakeVariable makes the test's program a server: honest, or one that loses or refuses every third store.
const fakeVariable = "ALCOVE_COMPARE_FAKE"

func TestMain(m *testing.M) {
	if kind := os.Getenv(fakeVariable); kind != "" {
		fake(kind)
		return
	}
	os.Exit(m.Run())
}

// fake keeps memories as lines of a file, and finds those that contain a query.
func fake(kind string) {
	file := filepath.Join(os.Getenv("FAKE_DIR"), "memories")
	stores := 0
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var m struct {
			ID     int
			Method string
			Params struct {
				Name      string
				Arguments struct{ Key, Text, Query string }
			}
		}
		if err := json.Unmarshal(in.Bytes(), &m); err != nil {
			panic(err)
		}
		args, text, failed := m.Params.Arguments, "", false
		switch {
		case m.Method == "notifications/initialized":
			continue
		case m.Params.Name == "store":
			stores++
			every := stores%3 == 0
			failed = every && kind == "refusing"
			if !every || kind == "honest" {
				f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
				if err != nil {
					panic(err)
				}
				fmt.Fprintln(f, args.Key, args.Text)
				f.Close()
			}
		case m.Params.Name == "search":
			data, _ := os.ReadFile(file) // without one there is nothing
			for line := range strings.Lines(string(data)) {
				if strings.Contains(line, args.Query) {
					text += line
				}
			}
		}
		fmt.Println("a line that is not a message")
		answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": map[string]any{
			"serverInfo": map[string]any{"version": "7"}, "tools": []any{map[string]any{"name": "store"}},
			"isError": failed, "content": []any{map[string]any{"type": "text", "text": text}},
		}})
		if err != nil {
			panic(err)
		}
		fmt.Println(string(answer))
	}
}

func fakePeer(t *testing.T, kind string) peer {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return peer{
		name: kind, line: []string{self},
		env:    func(dir string) []string { return []string{fakeVariable + "=" + kind, "FAKE_DIR=" + dir} },
		store:  func(key, text string) call { return call{"store", map[string]any{"key": key, "text": text}} },
		search: func(query string) call { return call{"search", map[string]any{"query": query}} },
	}
}

func measured(t *testing.T, all ...peer) []*result {
	t.Helper()
	dir, err := os.MkdirTemp("", "compare") // a short path, for sockets in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	b := bench{sizes: sizes{Starts: 1, Stores: 6, Pairs: 1, Together: 15, Kills: 1, Before: 9}, dir: dir, random: rand.New(rand.NewPCG(1, 1)), log: t.Logf}
	list, err := b.measure(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestWhatAServerLosesAndRefusesIsCounted(t *testing.T) {
	list := measured(t, fakePeer(t, "honest"), fakePeer(t, "losing"), fakePeer(t, "refusing"))
	for i, want := range []writes{{Acknowledged: 30}, {Acknowledged: 30, Lost: 10}, {Acknowledged: 20, Refused: 10}} {
		got := list[i].Together
		if got == nil || got.Acknowledged != want.Acknowledged || got.Lost != want.Lost || got.Refused != want.Refused {
			t.Errorf("%s: two processes got %+v, want %+v: %q", list[i].Name, got, want, list[i].Complaint)
		}
		if k := list[i].Killed; k == nil || (k.Lost > 0) != (list[i].Name == "losing") {
			t.Errorf("%s: killed got %+v, want losses of the losing one only", list[i].Name, k)
		}
	}
	honest := list[0]
	if honest.Version != "7" || honest.Tools != 1 || honest.Start == nil || honest.Store == nil || honest.Search == nil || honest.Found["phrase"] != 10 || honest.Found["other words"] != 0 {
		t.Errorf("got %+v, want all measures, phrases found, and nothing in other words", honest)
	}
}

func TestAServerThatEndsIsShownByDashes(t *testing.T) {
	p := fakePeer(t, "honest")
	p.line = []string{p.line[0], "-test.run=^$"}
	p.env = func(string) []string { return nil }
	list := measured(t, p)
	text, err := report{Servers: list}.markdown()
	if err != nil || len(list[0].Complaint) == 0 || !strings.Contains(text, "lost | – |") {
		t.Errorf("got %s, %v and complaints %q, want dashes and why", text, err, list[0].Complaint)
	}
}

func TestTheTableIsWrittenBetweenItsMarks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "README.md")
	r := report{Date: "1 May 2026", Machine: "a machine", Command: "make compare", Servers: []*result{{Name: "some", Version: "1", Killed: &writes{Acknowledged: 12345, Lost: 2}}}}
	below := strings.Repeat("below\n", 1000)
	for _, before := range []string{"", "an old table\n"} {
		if err := os.WriteFile(path, []byte("above\n"+begin+before+end+below), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := r.insert(path); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		got := string(data)
		if err != nil || !strings.HasPrefix(got, "above\n"+begin+"|  | some 1 |\n") || !strings.HasSuffix(got, end+below) || strings.Contains(got, "old") ||
			!strings.Contains(got, "2 of 12,345 |") || !strings.Contains(got, "1 May 2026 by `make compare` on a machine") {
			t.Errorf("got %s, %v, want the table between what stood around it", got, err)
		}
	}
	if err := os.WriteFile(path, []byte("no marks"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.insert(path); err == nil || !strings.Contains(err.Error(), "lacks the marks") {
		t.Errorf("without marks: got %v, want an error that names them", err)
	}
}

func TestEachQuestionHasOneAnswerAsItsKindSays(t *testing.T) {
	memories, questions, err := labelled()
	if err != nil || len(memories) != 60 || len(questions) != 60 {
		t.Fatalf("got %d memories and %d questions, %v, want 60 of each", len(memories), len(questions), err)
	}
	texts, of := map[string]string{}, map[string]int{}
	for _, m := range memories {
		texts[m.Key] = m.Text
		if len(found(m.Text)) > 0 || !slices.Equal(found("{"+m.Key+"}"), []string{m.Key}) {
			t.Errorf("%+v: got keys %q in the text, and %q for its key, want its key only", m, found(m.Text), found("{"+m.Key+"}"))
		}
	}
	for _, q := range questions {
		of[q.Kind]++
		text := strings.ToLower(texts[q.Answer])
		if whole := strings.Contains(text, strings.ToLower(q.Question)); text == "" || whole != (q.Kind == "phrase") {
			t.Errorf("%+v: got a phrase of the text %q: %t, want so for phrases only", q, text, whole)
		}
		for _, word := range strings.Fields(strings.ToLower(q.Question)) {
			if q.Kind == "words" && !strings.Contains(text, word) {
				t.Errorf("%+v: got no %q in %q, want each word", q, word, text)
			}
		}
	}
	for _, kind := range kinds() {
		if want := map[bool]int{false: 10, true: 30}[kind == "other words"]; of[kind] != want || labels()[kind] == "" {
			t.Errorf("%s: got %d questions and the label %q, want %d and a label", kind, of[kind], labels()[kind], want)
		}
	}
}

func TestAMessageThatIsTooLongEndsTheSession(t *testing.T) {
	s := &session{in: discarded{}, out: bufio.NewScanner(strings.NewReader(strings.Repeat("x", answerLimit+1) + "\n")), said: &tail{}, cmd: &exec.Cmd{}}
	s.out.Buffer(nil, answerLimit)
	if _, err := s.request("tools/list", nil); err == nil || !strings.Contains(err.Error(), "token too long") {
		t.Errorf("got %v, want an error that says so", err)
	}
}

func FuzzWhatAServerAnswers(f *testing.F) {
	f.Add([]byte(`{"id":1,"result":{"content":[{"text":"memory-1"}]}}`))
	f.Add([]byte(`{"id":1,"error":{"message":"no"}}`))
	f.Add([]byte("\n{\"id\":\"1\"}\n[]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &session{in: discarded{}, out: bufio.NewScanner(bytes.NewReader(data)), said: &tail{}, cmd: &exec.Cmd{}}
		text, err := s.call(call{"search", nil})
		if err != nil && text != "" {
			t.Errorf("got %q and %v, want one of them", text, err)
		}
		found(text)
	})
}

type discarded struct{}

func (discarded) Write(p []byte) (int, error) { return len(p), nil }
func (discarded) Close() error                { return nil }

// TestAlcoveBesideMCPsMemoryServer runs the real ones, briefly.
func TestAlcoveBesideMCPsMemoryServer(t *testing.T) {
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("real servers are tried without -short only, and on Unix")
	}
	program := filepath.Join(t.TempDir(), "alcove")
	if out, err := exec.Command("go", "build", "-tags=", "-o", program, "github.com/alcove-memory/alcove/cmd/alcove").CombinedOutput(); err != nil {
		t.Fatalf("build alcove: %v\n%s", err, out)
	}
	list, _, err := installed(program, packages(t), "Alcove,server-memory")
	if err != nil || len(list) != 2 {
		t.Fatalf("got %d servers, %v, want two", len(list), err)
	}
	results := measured(t, list...)
	for _, r := range results {
		if len(r.Complaint) > 0 || r.Found["phrase"] != 10 || r.Start == nil || r.Store == nil || r.Together == nil || r.Killed == nil {
			t.Errorf("got %+v, want every measure, and phrases found", r)
		}
	}
	if a := results[0]; a.Found["question"] != 10 || a.Together.Lost > 0 || a.Killed.Lost > 0 || a.Together.Refused > 0 {
		t.Errorf("Alcove: got %v found, %+v, %+v, want questions found and nothing lost", a.Found, a.Together, a.Killed)
	}
}

// packages is a folder with the servers of npm, kept among the user's caches. Those that must be compiled are left out.
func packages(t *testing.T) string {
	t.Helper()
	lock, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	caches, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	kept := filepath.Join(caches, "alcove-tests", fmt.Sprintf("compare-%x", sha256.Sum256(lock)))
	if _, err := os.Stat(filepath.Join(kept, "node_modules", ".package-lock.json")); err == nil {
		return kept
	}
	if err := os.MkdirAll(kept, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"package.json", "package-lock.json", ".npmrc"} {
		data, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(kept, name), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command("npm", "ci", "--omit=optional")
	c.Dir = kept
	if out, err := c.CombinedOutput(); err != nil {
		t.Skipf("npm does not fetch the other servers: %v\n%s", err, out)
	}
	return kept
}
