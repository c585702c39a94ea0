package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What a conversation says that nothing may keep: a token, a password after its name, a URL's, one in a command, and private text. Each has letters that
// nothing else has.
var kept4711 = map[string]string{
	"token": "ghp_" + "zq9K2mXv7LpR4tYw8NcB" + "6dHs3JfQ1gTe5UaZ", "password": "zebra" + "quartz8812", "URL's password": "nimbus" + "Falcon7731",
	"command's password": "walrus" + "Topaz5529", "private text": "my-private-" + "xylophone-wish",
}

// transcript is a session of Claude Code that says all of them.
func transcript(session string) string {
	var out strings.Builder
	line := func(role, id string, content any) {
		data, err := json.Marshal(map[string]any{"type": role, "sessionId": session, "uuid": id, "cwd": "/nowhere/app", "gitBranch": "main",
			"timestamp": "2026-01-02T10:00:00Z", "message": map[string]any{"role": role, "content": content}})
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&out, "%s\n", data)
	}
	line("user", session+"-u1", "inclear Push with "+kept4711["token"]+", please. <private>"+kept4711["private text"]+"</private>")
	line("assistant", session+"-a1", []any{
		map[string]any{"type": "text", "text": "The password is " + kept4711["password"] + "; I use postgres://app:" + kept4711["URL's password"] + "@db/x."},
		map[string]any{"type": "tool_use", "id": "t1", "name": "Bash", "input": map[string]any{"command": "PGPASSWORD=" + kept4711["command's password"] + " psql -h db"}},
	})
	line("user", session+"-u2", "Again: "+kept4711["password"]+" is the password. <private>"+kept4711["private text"])
	return out.String()
}

func writeTranscript(t *testing.T, session string) (home string) {
	t.Helper()
	home = t.TempDir()
	folder := filepath.Join(home, ".claude", "projects", "app")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, session+".jsonl"), []byte(transcript(session)), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

// mustHook tells the hook at the end of a session of a transcript.
func (s *testServer) mustHook(session, home string) {
	s.t.Helper()
	message, err := json.Marshal(map[string]any{"session_id": session, "cwd": "/nowhere/app", "hook_event_name": "SessionEnd",
		"transcript_path": filepath.Join(home, ".claude", "projects", "app", session+".jsonl")})
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := program(s.t, s.dir, "hook", "session-end", "--within", "5m", "--client", "claude-code", "--namespace", talks)
	cmd.Env, cmd.Stdin = append(cmd.Env, "HOME="+home), bytes.NewReader(message)
	if out, err := cmd.Output(); err != nil || len(out) > 0 {
		s.t.Errorf("the hook: got %q, %v, want nothing", out, err)
	}
}

const talks = "talks"

// mustHaveNone looks for secrets in what commands print and in the bytes of all files below a directory.
func (s *testServer) mustHaveNone(secrets map[string]string, read map[string]string) {
	s.t.Helper()
	for name, secret := range secrets {
		for what, text := range read {
			if strings.Contains(text, secret) {
				s.t.Errorf("%s has the %s: %s", what, name, around(text, secret))
			}
		}
		if leaks := filesWith(s.t, s.dir, secret); len(leaks) > 0 {
			s.t.Errorf("the %s is in %v", name, leaks)
		}
	}
}

// Whether the family is on or off, and whatever branches, merges and a second import do, nothing of it is in any file.
func TestNothingPrivateOfATranscriptIsKept(t *testing.T) {
	if testing.Short() && underRace {
		t.Skip("it runs many commands, which take a while")
	}
	t.Parallel()
	for _, is := range []string{"on", "off"} {
		t.Run(is, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, dataDir(t), func(c *exec.Cmd) { c.Env = append(c.Env, "ALCOVE_LOG_REQUESTS=1") })
			if is == "off" {
				s.mustRun("family", "revoke", "redaction", "store")
			}
			if out := s.mustRun("import", filepath.Join(writeTranscript(t, "s1"), ".claude"), "--namespace", talks); !strings.Contains(out, "4 memories stored") {
				t.Errorf("the import printed %q, want 4 memories stored", out)
			}
			s.mustRun("branch", "fork", "aside")
			again := filepath.Join(writeTranscript(t, "s2"), ".claude")
			s.mustRun("import", again, "--namespace", talks, "--branch", "aside")
			s.mustRun("import", again, "--namespace", talks, "--branch", "aside", "--again")
			s.mustHook("s3", writeTranscript(t, "s3"))
			s.mustRun("branch", "merge", "aside")
			s.mustRun("branch", "delete", "aside", "--force")
			s.mustRun("branch", "restore", "aside")
			backup := filepath.Join(t.TempDir(), "backup")
			s.mustRun("backup", backup)
			read := map[string]string{
				"the export": s.mustRun("export"), "the export of memories": s.mustRun("export", "--memories"), "the list": s.mustRun("list", "--namespace", talks),
				"a history": s.mustRun("history", "claude-code/s2/s2-u1", "--namespace", talks, "--json"), "the turns of a hook": s.mustRun("recall", "claude-code/s3/s3-u2", "--namespace", talks), "a search": s.mustRun("search", "password", "--namespace", talks),
				"the audit log": s.mustRun("audit", "--json"), "a restored backup": restoredExport(t, backup),
			}
			if !strings.Contains(read["the export"], "inclear") || !strings.Contains(read["the export"], "[redacted:github-token]") {
				t.Errorf("the export lacks what was in clear, or a mark: %.2000s", read["the export"])
			}
			s.stop()
			s.mustHaveNone(kept4711, read)
			for name, secret := range kept4711 {
				if leaks := filesWith(t, filepath.Dir(backup), secret); len(leaks) > 0 {
					t.Errorf("the %s is in the backup: %v", name, leaks)
				}
			}
			if len(filesWith(t, s.dir, "inclear")) == 0 {
				t.Error("no file has what was in clear, so the search for secrets shows nothing")
			}
			s.mustNotHavePanicked()
		})
	}
}

// doors are the ways to store a text, each with its arguments on the command line. What %s is is the text.
var doors = [][]string{
	{"call", "memory_store", `{"key":"a","value":"%s"}`},
	{"call", "memory_store", `{"key":"b","value":{"note":["%s"]}}`},
	{"call", "memory_store", `{"key":"c","value":"tea","metadata":{"note":"%s"}}`},
	{"call", "memory_store", `{"items":[{"key":"d","value":"%s"},{"key":"e","value":"tea","tags":["%s"]}]}`},
	{"call", "memory_store", `{"key":"f","value":"%s","branch":"aside"}`},
	{"call", "memory_operation", `{"method":"store","params":{"key":"g","value":"%s"}}`},
	{"call", "memory_operation", `{"batch":[{"method":"store","params":{"key":"h","value":"%s"}}]}`},
	{"call", "memory_remember", `{"content":"%s"}`},
	{"call", "memory_branch", `{"action":"merge","source":"apart","target":"default","resolutions":[{"key":"clash","take":"value","value":"%s"}]}`},
	{"store", "i", "%s"},
}

func TestAnExplicitStoreIsKeptAsItIsGivenUnlessAllIsRedacted(t *testing.T) {
	if testing.Short() && underRace {
		t.Skip("it runs many commands, which take a while")
	}
	t.Parallel()
	s := startServer(t, dataDir(t), nil)
	s.mustRun("store", "clash", "tea")
	s.mustRun("branch", "fork", "aside")
	s.mustRun("branch", "fork", "apart")
	s.mustRun("store", "clash", "coffee")
	s.mustRun("store", "clash", "milk", "--branch", "apart")
	through := func(secret string) {
		for _, door := range doors {
			args := append([]string{}, door...)
			args[len(args)-1] = strings.ReplaceAll(args[len(args)-1], "%s", "the password is "+secret)
			s.mustRun(args...)
		}
		file := filepath.Join(t.TempDir(), "memories.jsonl")
		for _, key := range []string{"j", "k"} {
			text := fmt.Sprintf("%s\n{\"namespace\":\"default\",\"key\":%q,\"value\":\"the password is %s\"}\n%s\n", `{"alcove":"memories","format":1}`, key, secret, `{"end":true,"memories":1}`)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			s.mustRun("import", file)
		}
	}
	const given, hidden = "walrus" + "Topaz5529", "zebra" + "Quartz8812"
	s.mustRun("call", "memory_store", `{"key":"captured","value":"the password is `+hidden+`","tags":["captured"]}`)
	through(given)
	if got := strings.Count(s.mustRun("export"), given); got < len(doors)+2 {
		t.Errorf("the export has what was given %d times, want %d at least: it is kept as it is given", got, len(doors)+2)
	}
	s.mustRun("branch", "delete", "apart", "--force")
	s.mustRun("branch", "fork", "apart")
	s.mustRun("store", "clash", "water")
	s.mustRun("store", "clash", "juice", "--branch", "apart")
	s.mustRun("family", "config", "redaction", "redact=all")
	through(hidden)
	s.mustRun("branch", "merge", "aside")
	backup := filepath.Join(t.TempDir(), "backup")
	s.mustRun("backup", backup)
	read := map[string]string{
		"the export": s.mustRun("export"), "the search": s.mustRun("search", "password"), "a restored backup": restoredExport(t, backup),
		"the feed": s.mustRun("call", "memory_poll_events", `{"since":0}`), "the audit log": s.mustRun("audit", "--json"),
	}
	if got := strings.Count(read["the export"], "[redacted:password]"); got < len(doors)+2 {
		t.Errorf("the export has %d marks, want %d at least", got, len(doors)+2)
	}
	s.stop()
	s.mustHaveNone(map[string]string{"password": hidden}, read)
	if leaks := filesWith(t, filepath.Dir(backup), hidden); len(leaks) > 0 {
		t.Errorf("the password is in the backup: %v", leaks)
	}
}

// The hook has a quarter of a second of processor time for each call, however many turns an import brings.
func TestAnImportOfManyTurnsPassesTheRedactor(t *testing.T) {
	if testing.Short() && underRace {
		t.Skip("it redacts in a guest, which the race detector slows down")
	}
	t.Parallel()
	s := startServer(t, dataDir(t), nil)
	var out strings.Builder
	for i := range 2000 {
		text := strings.Repeat("we moved the search index to its own package and asked whether the old one is read ", 5)
		fmt.Fprintf(&out, `{"type":"user","sessionId":"s","uuid":"u%d","cwd":"/nowhere/app","message":{"role":"user","content":%q}}`+"\n", i, text)
	}
	file := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(file, []byte(out.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := s.mustRun("import", file, "--format", "claude-code"); !strings.Contains(got, "2000 memories stored") {
		t.Errorf("the import printed %q, want 2000 memories stored", got)
	}
}
