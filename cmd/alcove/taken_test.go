//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/testing/await"
)

// try calls a tool, and tells what it was refused with; empty: it was not.
func (c *mcpClient) try(tool string, arguments map[string]any) (refused string) {
	c.t.Helper()
	var answer struct {
		IsError bool
		Content []struct{ Text string }
	}
	if err := json.Unmarshal(c.ask("tools/call", toolCall(tool, arguments)), &answer); err != nil || len(answer.Content) == 0 {
		c.t.Fatalf("answered with %+v, %v", answer, err)
	}
	if !answer.IsError {
		return ""
	}
	return answer.Content[0].Text
}

func (c *mcpClient) store(key string) {
	c.t.Helper()
	c.call("memory_store", map[string]any{"key": key, "value": key}, nil)
}

func (c *mcpClient) health() string {
	c.t.Helper()
	var s struct{ Health string }
	c.call("memory_status", nil, &s)
	return s.Health
}

// leave ends the client as its user would.
func (c *mcpClient) leave() {
	c.t.Helper()
	c.in.Close()
	if err := c.cmd.Wait(); err != nil {
		c.t.Errorf("the client ended with %v", err)
	}
}

// ownerPID is the process that answers on the socket of a directory; 0 for none.
func ownerPID(t *testing.T, dir string) int {
	t.Helper()
	conn, err := owner.Dial(t.Context(), owner.Options{Dir: dir})
	if err != nil {
		return 0
	}
	defer conn.Close()
	return conn.Welcome.PID
}

// gone reports whether there is no such process. One that nobody waited for counts as gone.
func gone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(stat), ") Z ")
}

// run runs a command of the program to its end.
func run(t *testing.T, dir string, args ...string) (out string, err error) {
	t.Helper()
	cmd := program(t, dir, args...)
	cmd.Stderr = nil
	raw, err := cmd.CombinedOutput()
	return string(raw), err
}

func mustRun(t *testing.T, dir string, args ...string) (out string) {
	t.Helper()
	out, err := run(t, dir, args...)
	if err != nil {
		t.Fatalf("alcove %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func remove(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnOwnerMakesAgainWhatItIsFoundBy(t *testing.T) {
	dir := dataDir(t)
	c := newClient(t, dir)
	c.store("k")
	pid := ownerPID(t, dir)
	socket, admin := filepath.Join(dir, "alcove.sock"), filepath.Join(dir, "admin.sock")
	for _, lost := range [][]string{{socket}, {admin}, {owner.RecordPath(dir)}, {owner.LockPath(dir)},
		{socket, admin, owner.RecordPath(dir), owner.LockPath(dir)}} {
		remove(t, lost...)
		mustRun(t, dir, "backup", filepath.Join(t.TempDir(), "backup"))
		if got := newClient(t, dir).recall("k"); got != `"k"` {
			t.Errorf("without %s a new client recalls %s", lost, got)
		}
		await.That(t, "everything is there again", func() bool {
			for _, path := range lost {
				if _, err := os.Lstat(path); err != nil {
					return false
				}
			}
			return true
		})
		if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the socket: %v (%v)", info, err)
		}
		await.That(t, "the lock is held", func() bool { return owner.CheckFree(dir) != nil })
		if out, err := run(t, dir, "doctor"); err != nil {
			t.Errorf("the doctor without %s: %v\n%s", lost, err, out)
		}
	}
	c.store("after")
	if now := ownerPID(t, dir); now != pid {
		t.Errorf("process %d became process %d", pid, now)
	}
}

// longDir is a data directory whose name is too long for a socket.
func longDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), strings.Repeat("long-name/", 15), "data")
	t.Cleanup(func() { stopOwner(t, dir) })
	return dir
}

// shortTemp is a directory with a name that is short enough for sockets.
func shortTemp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "alc")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestAnOwnerWhoseRuntimeDirectoryIsEmptiedIsFoundAgain(t *testing.T) {
	runtime, temp := filepath.Join(shortTemp(t), "run"), shortTemp(t)
	if err := os.Mkdir(runtime, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	t.Setenv("TMPDIR", temp)
	dir := longDir(t)
	c := newClient(t, dir)
	c.store("k")
	pid := ownerPID(t, dir)
	for _, emptied := range []string{filepath.Join(runtime, "alcove"), runtime} { // as at logout
		remove(t, emptied)
		if got := newClient(t, dir).recall("k"); got != `"k"` {
			t.Errorf("without %s a new client recalls %s", emptied, got)
		}
		mustRun(t, dir, "backup", filepath.Join(t.TempDir(), "backup"))
		if now := ownerPID(t, dir); now != pid {
			t.Errorf("process %d became process %d", pid, now)
		}
		record, err := owner.ReadRecord(dir)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(filepath.Dir(record.Socket)); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("the directory of the socket: %v (%v)", info, err)
		}
	}
	c.store("after")
}

func TestOperatorsFindTheOwnerFromAnyEnvironment(t *testing.T) {
	runtime := shortTemp(t)
	dir := longDir(t)
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	newClient(t, dir).store("k")
	link := filepath.Join(shortTemp(t), "d")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ dir, runtime, temp string }{
		"without a runtime directory":    {dir, "", "/tmp"},
		"with another runtime directory": {dir, shortTemp(t), "/tmp"},
		"with another temporary one":     {dir, "", shortTemp(t)},
		"by a link":                      {link, runtime, "/tmp"},
		"by a link, without a directory": {link, "", shortTemp(t)},
		"by a name with a detour in it":  {dir + "/../data", "", shortTemp(t)},
	} {
		t.Setenv("XDG_RUNTIME_DIR", c.runtime)
		t.Setenv("TMPDIR", c.temp)
		for _, args := range [][]string{{"backup", filepath.Join(t.TempDir(), "backup")}, {"verify"}, {"retention", "show"}, {"recall", "k"}, {"durability"}} {
			if out, err := run(t, c.dir, args...); err != nil {
				t.Errorf("alcove %s %s: %v\n%s", args[0], name, err, out)
			}
		}
	}
}

func TestOperatorsFindAnOwnerThatWasStartedByALink(t *testing.T) {
	dir := longDir(t)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(shortTemp(t), "d")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	newClient(t, link).store("k")
	mustRun(t, dir, "verify")
	mustRun(t, dir, "backup", filepath.Join(t.TempDir(), "backup"))
}

func TestAWriteIsRefusedWhenTheDatabaseWasReplaced(t *testing.T) {
	dir := dataDir(t)
	db := filepath.Join(dir, "alcove.db")
	c := newClient(t, dir)
	c.store("older")
	older := filepath.Join(t.TempDir(), "older.db")
	data, err := os.ReadFile(db)
	if err == nil {
		err = os.WriteFile(older, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	c.store("newer")
	pid := ownerPID(t, dir)
	if err := os.Rename(older, db); err != nil {
		t.Fatal(err)
	}
	refused := c.try("memory_store", map[string]any{"key": "lost", "value": 1})
	if !strings.Contains(refused, db) || !strings.Contains(refused, "taken the place") || !strings.Contains(refused, "alcove doctor") {
		t.Errorf("refused with %q", refused)
	}
	if refused := c.try("memory_log", map[string]any{"event": "lost", "data": 1}); !strings.Contains(refused, db) {
		t.Errorf("a log is refused with %q", refused)
	}
	if got := c.recall("newer"); got != `"newer"` {
		t.Errorf("recalled %s", got)
	}
	if h := c.health(); !strings.Contains(h, "refuses writes") {
		t.Errorf("health is %q", h)
	}
	if out := mustRun(t, dir, "status"); !strings.Contains(out, "refuses writes") {
		t.Errorf("the status is\n%s", out)
	}
	out, err := run(t, dir, "doctor")
	_, store, _ := strings.Cut(out, "BAD  store")
	store, _, _ = strings.Cut(store, "\n")
	if err == nil || !strings.Contains(store, "alcove stop --data "+dir) || strings.Contains(store, "alcove serve") {
		t.Errorf("the doctor says %v\n%s", err, out)
	}
	saved := filepath.Join(t.TempDir(), "saved")
	mustRun(t, dir, "backup", saved)
	await.That(t, "the log says it", func() bool { return timesLogged(t, dir, "writes are refused") > 0 })
	c.leave()
	await.That(t, "the owner leaves by itself", func() bool { return gone(pid) })
	if n := timesLogged(t, dir, "writes are refused"); n != 1 {
		t.Errorf("the log says it %d times", n)
	}
	next := newClient(t, dir)
	if got := next.recall("older"); got != `"older"` {
		t.Errorf("the next client recalls %s", got)
	}
	next.store("again")
	restored := dataDir(t)
	mustRun(t, restored, "restore", saved)
	if got := newClient(t, restored).recall("newer"); got != `"newer"` {
		t.Errorf("what was saved has %s", got)
	}
}

// timesLogged counts the lines of a directory's log that have a text.
func timesLogged(t *testing.T, dir, text string) int {
	t.Helper()
	log, err := os.ReadFile(owner.LogPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(log), text)
}

func TestADatabaseThatWasMovedAwayAndBackIsWrittenAgain(t *testing.T) {
	dir := dataDir(t)
	db := filepath.Join(dir, "alcove.db")
	c := newClient(t, dir)
	c.store("before")
	if err := os.Rename(db, db+".away"); err != nil {
		t.Fatal(err)
	}
	if refused := c.try("memory_store", map[string]any{"key": "lost", "value": 1}); !strings.Contains(refused, db+" is gone") {
		t.Errorf("refused with %q", refused)
	}
	if err := os.Rename(db+".away", db); err != nil {
		t.Fatal(err)
	}
	c.store("after")
	if h := c.health(); h != "ok" && h != "indexing" {
		t.Errorf("health is %q", h)
	}
}

func TestADirectoryWithoutItsDatabaseIsNotStartedEmpty(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	db := filepath.Join(dir, "alcove.db")
	c := newClient(t, dir)
	c.store("k")
	backup := filepath.Join(t.TempDir(), "backup")
	mustRun(t, dir, "backup", backup)
	pid := ownerPID(t, dir)
	if err := os.Rename(db, db+".away"); err != nil {
		t.Fatal(err)
	}
	c.leave()
	await.That(t, "the owner leaves by itself", func() bool { return gone(pid) })
	for _, args := range [][]string{{"recall", "k"}, {"doctor"}, {"serve", "--listen", "off", "--idle", "1ms"}} {
		if out, err := run(t, dir, args...); err == nil || !strings.Contains(out, db+" is gone") || !strings.Contains(out, "alcove restore") {
			t.Errorf("alcove %s: %v, %s, want the error that the database is gone, and alcove restore", args[0], err, out)
		}
	}
	if _, err := os.Stat(db); err == nil {
		t.Error("a database was made")
	}
	mustRun(t, dir, "restore", backup)
	if got := newClient(t, dir).recall("k"); got != `"k"` {
		t.Errorf("restored, %s is recalled", got)
	}
	stopOwner(t, dir)
	if err := os.Rename(db+".away", db); err != nil {
		t.Fatal(err)
	}
	if got := newClient(t, dir).recall("k"); got != `"k"` {
		t.Errorf("put back, %s is recalled", got)
	}
	stopOwner(t, dir)
	remove(t, db, filepath.Join(dir, "blobs"))
	if out := mustRun(t, dir, "status", "--json"); !strings.Contains(out, `"keys": 0`) {
		t.Errorf("begun anew, the status is\n%s", out)
	}
}

func TestAnOwnerOfADeletedDirectoryLeavesTheNextOneAlone(t *testing.T) {
	dir := dataDir(t)
	first := newClient(t, dir)
	first.store("k")
	pid := ownerPID(t, dir)
	remove(t, dir)
	if refused := first.try("memory_store", map[string]any{"key": "lost", "value": 1}); !strings.Contains(refused, "is gone") {
		t.Errorf("refused with %q", refused)
	}
	second := newClient(t, dir)
	second.store("second's")
	next := ownerPID(t, dir)
	if next == pid || next == 0 {
		t.Fatalf("process %d answers, and the first was %d", next, pid)
	}
	if refused := first.try("memory_store", map[string]any{"key": "lost", "value": 1}); refused == "" {
		t.Error("a write was acknowledged into files that are deleted")
	}
	first.leave()
	await.That(t, "the first owner leaves by itself", func() bool { return gone(pid) })
	if now := ownerPID(t, dir); now != next {
		t.Errorf("process %d answers, and not %d", now, next)
	}
	if got := newClient(t, dir).recall("second's"); got != `"second's"` {
		t.Errorf("recalled %s", got)
	}
	mustRun(t, dir, "verify")
	if r, err := owner.ReadRecord(dir); err != nil || r.PID != next {
		t.Errorf("the record is %+v (%v)", r, err)
	}
}

// TestAnOwnerOfADirectoryThatWasMovedLeavesAtOnce moves the directory away while nobody is connected.
func TestAnOwnerOfADirectoryThatWasMovedLeavesAtOnce(t *testing.T) {
	dir := dataDir(t)
	mustRun(t, dir, "store", "k", "v")
	pid := ownerPID(t, dir)
	moved := dir + "-moved"
	t.Cleanup(func() { stopOwner(t, moved) })
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	await.That(t, "the owner leaves by itself", func() bool { return gone(pid) })
	if out := mustRun(t, moved, "recall", "k"); !strings.Contains(out, "v") {
		t.Errorf("where it was moved to, %s is recalled", out)
	}
}
