//go:build unix

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// unread makes a command print to a pipe that nobody reads any more.
func unread(t *testing.T, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	t.Cleanup(func() { w.Close() })
	cmd.Stdout, cmd.Stderr = w, w
	return cmd
}

func TestOutputThatNobodyReadsDoesNotEndAnAct(t *testing.T) {
	dir := dataDir(t)
	mustRun(t, dir, "family", "install", packShout(t, dir))
	if err := unread(t, program(t, dir, "family", "grant", "shout", "memory.read=work", "--diff")).Run(); err != nil {
		t.Errorf("a grant whose output nobody reads: got %v, want success", err)
	}
	if out := mustRun(t, dir, "family", "info", "shout"); !strings.Contains(out, "granted     memory.read work") {
		t.Errorf("after that the family has %q, want the grant", out)
	}
	if err := unread(t, program(t, dir, "store", "tea", "oolong")).Run(); err != nil {
		t.Errorf("a store whose output nobody reads: got %v, want success", err)
	}
	if out := mustRun(t, dir, "recall", "tea"); out != "oolong\n" {
		t.Errorf("after that the memory is %q, want oolong", out)
	}
}

func TestWhatPrintsWithoutEndStopsWhenNobodyReadsIt(t *testing.T) {
	dir := dataDir(t)
	mustRun(t, dir, "family", "install", packShout(t, dir))
	mustRun(t, dir, "call", "shout_text", `{"text":"tea"}`)
	if err := unread(t, program(t, dir, "family", "logs", "shout", "--follow")).Run(); err != nil {
		t.Errorf("lines that are followed and that nobody reads: got %v, want success", err)
	}
	if err := unread(t, program(t, dir, "export")).Run(); err != nil {
		t.Errorf("an export that nobody reads: got %v, want success", err)
	}
}
