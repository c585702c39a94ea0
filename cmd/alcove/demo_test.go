package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

func TestTheDemoTakesAFreePortIfTheUsualOneIsTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	usual := l.Addr().String()
	if got := freeAddress(usual); got != "127.0.0.1:0" {
		t.Errorf("beside a program that has %s: got %s, want any free port", usual, got)
	}
	l.Close()
	if got := freeAddress(usual); got != usual {
		t.Errorf("when nobody has %s: got %s, want the same", usual, got)
	}
}

// TestTheDemoFindsItsAnswersAndLosesNothing runs it as a new user would, with the kill of its server.
func TestTheDemoFindsItsAnswersAndLosesNothing(t *testing.T) {
	t.Parallel()
	out := runInShell(t, readmeHome(t), "alcove demo --json")
	var r demoReport
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("alcove demo --json printed %q, want a report: %v", out, err)
	}
	for _, q := range r.Questions {
		if q.Got != q.Want {
			t.Errorf("%s got %q, want %q", q.Query, q.Got, q.Want)
		}
	}
	if len(r.Questions) != 5 {
		t.Errorf("got %d questions, want 5", len(r.Questions))
	}
	if k := r.Kill; k.Killed == 0 || k.Next == 0 || k.Next == k.Killed || k.Acknowledged < 9 || len(k.Lost) != 0 {
		t.Errorf("got %+v, want another process and nothing lost of 9 memories or more", k)
	}
}

func TestTheDemoLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	env := readmeHome(t)
	temporary := t.TempDir()
	runInShell(t, append(env, "TMPDIR="+temporary), "alcove demo --json")
	left, err := os.ReadDir(temporary)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		if strings.HasPrefix(e.Name(), "alcove-demo-") {
			t.Errorf("got %s left behind, want nothing", e.Name())
		}
	}
}

func TestTheDemoKeepsAwayFromAMemory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "alcove.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := checkEmpty(dir); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("got %v, want an error that says that the directory is not empty", err)
	}
	if err := checkEmpty(filepath.Join(dir, "new")); err != nil {
		t.Errorf("for a new directory: got %v", err)
	}
}

func TestADemoThatLostSomethingFails(t *testing.T) {
	t.Parallel()
	r := demoReport{Kill: demoKill{Acknowledged: 2, Lost: []string{"deploy/day"}}}
	if err := r.loss(); err == nil || !strings.Contains(err.Error(), "deploy/day") {
		t.Errorf("got %v, want an error that names deploy/day", err)
	}
}

// TestTheDemoServesOn has it print how a client connects, and serve until it is interrupted.
func TestTheDemoServesOn(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted there")
	}
	cmd := exec.Command("alcove", "demo", "--serve", "--listen", "127.0.0.1:0")
	cmd.Env = readmeHome(t)
	for _, v := range cmd.Env {
		if path, found := strings.CutPrefix(v, "PATH="); found {
			cmd.Path = filepath.Join(filepath.SplitList(path)[0], "alcove")
		}
	}
	out, err := cmd.StdoutPipe()
	if err := errors.Join(err, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	var printed strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan() && !strings.Contains(lines.Text(), "Ctrl-C"); {
		printed.WriteString(lines.Text() + "\n")
	}
	if err := errors.Join(cmd.Process.Signal(os.Interrupt), cmd.Wait()); err != nil {
		t.Errorf("alcove demo --serve ended with %v, want success after an interrupt", err)
	}
	for _, want := range []string{`claude mcp add alcove`, `claude mcp add --scope user --transport http alcove http://127\.0\.0\.1:\d+/mcp --header .Authorization: Bearer [A-Za-z0-9_-]{43}`} {
		if !regexp.MustCompile(want).MatchString(printed.String()) {
			t.Errorf("it printed no %s:\n%s", want, &printed)
		}
	}
}
