package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/testing/await"
)

// tenant runs commands on spaces, with the data directory of a server.
type tenant struct {
	t   *testing.T
	dir string
}

// says returns what a command prints.
func (u tenant) says(args ...string) string {
	u.t.Helper()
	out, err := program(u.t, u.dir, args...).Output()
	if err != nil {
		u.t.Fatalf("alcove %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// fails returns the exit code of a command that has to fail.
func (u tenant) fails(args ...string) int {
	u.t.Helper()
	out, err := program(u.t, u.dir, args...).Output()
	failed, ok := err.(*exec.ExitError)
	if !ok {
		u.t.Fatalf("alcove %s: got %v and %s, want a failure", strings.Join(args, " "), err, out)
	}
	return failed.ExitCode()
}

// The whole life of a space with the server of all, from creation to restoration.
func TestTheLifeOfASpace(t *testing.T) {
	t.Parallel()
	u := tenant{t, dataDir(t)}
	u.says("space", "create", "work")
	if code := u.fails("space", "create", "work"); code != exitCodes()["conflict"] {
		t.Errorf("create a space again: exit code %d, want that of a conflict", code)
	}
	if code := u.fails("--space", "home", "status"); code != exitCodes()["not_found"] {
		t.Errorf("use a space that is not there: exit code %d, want that of not_found", code)
	}
	u.says("store", "plan", "of the server")
	u.says("--space", "work", "store", "plan", "of work")
	process := strings.TrimSpace(field(u.says("status"), "process"))
	if at := field(u.says("--space", "work", "status"), "process"); at == "" || strings.Split(at, ",")[0] != strings.Split(process, ",")[0] {
		t.Errorf("the space is served by %q, the server's own memory by %q, want the same process", at, process)
	}
	if said := u.says("recall", "plan"); !strings.Contains(said, "of the server") {
		t.Errorf("recall in the server's own memory: got %s, want its own", said)
	}
	u.says("space", "rename", "work", "job")
	if said := u.says("--space", "job", "recall", "plan"); !strings.Contains(said, "of work") {
		t.Errorf("recall in the renamed space: got %s, want what was stored before", said)
	}
	u.says("--space", "job", "stop")
	if owner.CheckFree(filepath.Join(u.dir, "spaces", "job")) != nil || owner.CheckFree(u.dir) == nil {
		t.Error("alcove --space job stop: want the space closed, and its server running")
	}
	u.says("space", "delete", "job")
	if code := u.fails("--space", "job", "recall", "plan"); code != exitCodes()["not_found"] {
		t.Errorf("recall in a deleted space: exit code %d, want that of not_found", code)
	}
	if said := u.says("space", "list", "--deleted"); !strings.HasPrefix(said, "job ") {
		t.Errorf("list deleted spaces: got %q, want job", said)
	}
	u.says("space", "restore", "job", "--as", "work")
	if said := u.says("--space", "work", "recall", "plan"); !strings.Contains(said, "of work") {
		t.Errorf("recall in the restored space: got %s, want what was stored before", said)
	}
	u.says("stop")
	await.That(t, "the space is closed with its server", func() bool { return owner.CheckFree(filepath.Join(u.dir, "spaces", "work")) == nil })
}

// field is what a printed status says of something.
func field(status, name string) string {
	for line := range strings.Lines(status) {
		if rest, found := strings.CutPrefix(line, name); found {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// Without a server of all spaces, a command starts one for the space alone.
func TestASpaceIsServedAlone(t *testing.T) {
	t.Parallel()
	u := tenant{t, dataDir(t)}
	u.says("space", "create", "work")
	t.Cleanup(func() { stopOwner(t, filepath.Join(u.dir, "spaces", "work")) })
	u.says("--space", "work", "store", "plan", "of work")
	if owner.CheckFree(u.dir) != nil {
		t.Error("the server's own data directory is open, want only the space")
	}
	if said := u.says("space", "list"); !strings.Contains(said, "open in process") {
		t.Errorf("list spaces: got %q, want that work is open", said)
	}
	u.says("--space", "work", "stop")
	u.says("status") // starts the server of all
	if said := u.says("--space", "work", "recall", "plan"); !strings.Contains(said, "of work") {
		t.Errorf("recall through the server of all: got %s, want what was stored before", said)
	}
}
