//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/owner"
)

// eventually waits until something is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it never came to be that %s", what)
		}
	}
}

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
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
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
		eventually(t, "everything is there again", func() bool {
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
		eventually(t, "the lock is held", func() bool { return host.Owned(dir) != nil })
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
				t.Errorf("%s %s: %v\n%s", args[0], name, err, out)
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
	if err == nil || !strings.Contains(out, "BAD  store") || !strings.Contains(out, "kill "+strconv.Itoa(pid)) || strings.Contains(out, "alcove serve") {
		t.Errorf("the doctor says %v\n%s", err, out)
	}
	saved := filepath.Join(t.TempDir(), "saved")
	mustRun(t, dir, "backup", saved)
	eventually(t, "the log says it", func() bool { return timesLogged(t, dir, "nothing is written any more") > 0 })
	c.leave()
	eventually(t, "the owner leaves by itself", func() bool { return gone(pid) })
	if n := timesLogged(t, dir, "nothing is written any more"); n != 1 {
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
	eventually(t, "the owner leaves by itself", func() bool { return gone(pid) })
	for _, args := range [][]string{{"recall", "k"}, {"doctor"}, {"serve", "--listen", "off", "--idle", "1ms"}} {
		if out, err := run(t, dir, args...); err == nil || !strings.Contains(out, db+" is gone") || !strings.Contains(out, "alcove restore") {
			t.Errorf("%s: %v\n%s", args[0], err, out)
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
	eventually(t, "the first owner leaves by itself", func() bool { return gone(pid) })
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
	eventually(t, "the owner leaves by itself", func() bool { return gone(pid) })
	if out := mustRun(t, moved, "recall", "k"); !strings.Contains(out, "v") {
		t.Errorf("where it was moved to, %s is recalled", out)
	}
}

func TestADirectoryThatEveryUserCanChangeIsRefused(t *testing.T) {
	dir := dataDir(t)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	backup := filepath.Join(t.TempDir(), "backup")
	mustRun(t, dir, "store", "k", "v")
	mustRun(t, dir, "backup", backup)
	for _, mode := range []os.FileMode{0o777, 0o707, 0o777 | os.ModeSticky} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"recall", "k"}, {"store", "k", "v"}, {"mcp"}, {"serve", "--auto"}, {"serve", "--listen", "off"}, {"backup", backup},
			{"verify"}, {"repair"}, {"restore", backup}, {"demo", "--once", "--data", dir}, {"doctor"}} {
			for _, flag := range []string{"--json", "--shared-group"} {
				out, err := run(t, dir, append(args, flag)...)
				if err == nil || !strings.Contains(out, "chmod 700") {
					t.Errorf("%s %s with mode %v: %v\n%s", args[0], flag, mode, err, out)
				}
				var exit *exec.ExitError
				if args[0] != "doctor" && (!errors.As(err, &exit) || exit.ExitCode() != 4) {
					t.Errorf("%s %s with mode %v ended with %v", args[0], flag, mode, err)
				}
			}
		}
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	mustRun(t, dir, "recall", "k")
}

func TestADirectoryThatItsGroupCanChangeIsWarnedOfUnlessItIsMeantToBe(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		env  string
		warn bool
	}{
		"as it is":             {[]string{"store", "k", "v"}, "", true},
		"with the flag":        {[]string{"store", "k", "v", "--shared-group"}, "", false},
		"with the environment": {[]string{"store", "k", "v"}, "1", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("ALCOVE_SHARED_GROUP", c.env)
			dir := dataDir(t)
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(dir, 0o770); err != nil {
				t.Fatal(err)
			}
			out := mustRun(t, dir, c.args...)
			if warned := strings.Contains(out, "chmod g-w"); warned != c.warn {
				t.Errorf("the command says\n%s", out)
			}
			log, err := os.ReadFile(owner.LogPath(dir))
			if warned := strings.Contains(string(log), "chmod g-w"); err != nil || warned != c.warn {
				t.Errorf("the server says (%v)\n%s", err, log)
			}
			out, err = run(t, dir, append([]string{"doctor"}, c.args[3:]...)...)
			if bad := err != nil && strings.Contains(out, "chmod g-w"); bad != c.warn {
				t.Errorf("the doctor says %v\n%s", err, out)
			}
		})
	}
}

// plainUser runs the program as a user who is not root.
type plainUser struct {
	t       *testing.T
	program string
	base    string // a directory of that user
	id      uint32 // 0: the user of the test
}

func newPlainUser(t *testing.T) *plainUser {
	t.Helper()
	u := &plainUser{t: t, base: shortTemp(t)}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	u.program = self
	if os.Getuid() == 0 {
		u.id, u.program = 65534, filepath.Join(u.base, "alcove")
		data, err := os.ReadFile(self) // the test's own is in a directory that only root can enter
		if err == nil {
			err = errors.Join(os.WriteFile(u.program, data, 0o755), os.Chown(u.base, int(u.id), int(u.id)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return u
}

func (u *plainUser) run(dir string, args ...string) (string, error) {
	cmd := exec.Command(u.program, args...)
	cmd.Env = append(os.Environ(), asMain+"=1", "ALCOVE_DATA="+dir, "ALCOVE_LISTEN=off", "HOME="+u.base)
	cmd.Dir = u.base
	if u.id != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: u.id, Gid: u.id}}
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (u *plainUser) mustRun(dir string, args ...string) string {
	u.t.Helper()
	out, err := u.run(dir, args...)
	if err != nil {
		u.t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// pid is the process that the lock finding of the doctor, or the socket's, names.
func (u *plainUser) pid(dir string) int {
	out, _ := u.run(dir, "doctor")
	for _, line := range strings.Split(out, "\n") {
		if _, rest, found := strings.Cut(line, "process "); found && strings.Contains(line, "answers") {
			var pid int
			if json.Unmarshal([]byte(strings.Fields(rest)[0]), &pid) == nil {
				return pid
			}
		}
	}
	u.t.Fatalf("the doctor names no process:\n%s", out)
	return 0
}

func TestADirectoryThatCannotBeWrittenCanBeRead(t *testing.T) {
	for _, without := range [][]string{nil, {"token", "owner.lock", "owner.log"}} {
		u := newPlainUser(t)
		t.Setenv("XDG_RUNTIME_DIR", "")
		t.Setenv("TMPDIR", u.base)
		dir := filepath.Join(u.base, "data")
		u.mustRun(dir, "store", "k", "the quick brown fox")
		endOwner(t, u, dir)
		for _, name := range without {
			remove(t, filepath.Join(dir, name))
		}
		before := names(t, dir)
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"recall", "k"}, {"search", "fox"}, {"export", filepath.Join(u.base, "out.jsonl")}, {"history", "k"}} {
			if out, err := u.run(dir, args...); err != nil {
				t.Errorf("%s: %v\n%s", args[0], err, out)
			}
		}
		if out := u.mustRun(dir, "status"); !strings.Contains(out, "read only    true") || !strings.Contains(out, "ok") {
			t.Errorf("the status is\n%s", out)
		}
		if out, err := u.run(dir, "doctor"); err != nil || !strings.Contains(out, "served read-only") {
			t.Errorf("the doctor says %v\n%s", err, out)
		}
		if out, err := u.run(dir, "store", "k2", "v"); err == nil || !strings.Contains(out, "can only be read") {
			t.Errorf("stored: %v\n%s", err, out)
		}
		for _, args := range [][]string{{"compact"}, {"embedder", "remove", "x"}, {"purge", "k", "--yes"}} {
			if out, err := u.run(dir, args...); err == nil {
				t.Errorf("%s worked:\n%s", args[0], out)
			}
		}
		reader := u.pid(dir)
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if after := names(t, dir); after != before {
			t.Errorf("the directory had\n%s\nand has\n%s", before, after)
		}
		eventually(t, "it is left to an owner that writes", func() bool { return gone(reader) })
		u.mustRun(dir, "store", "k2", "v")
		endOwner(t, u, dir)
	}
}

// names lists a directory.
func names(t *testing.T, dir string) string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		list = append(list, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(list, "\n")
}

// TestAnotherUsersServerIsNotSpokenTo has a record lead to a server of another user, whose socket everybody can open.
func TestAnotherUsersServerIsNotSpokenTo(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can run the program as two users")
	}
	t.Setenv("XDG_RUNTIME_DIR", "")
	t.Setenv("TMPDIR", "/tmp")
	theirs, ours := newPlainUser(t), newPlainUser(t)
	ours.id--
	if err := os.Chown(ours.base, int(ours.id), int(ours.id)); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(ours.base, "data")
	ours.mustRun(dir, "store", "k", "ours")
	endOwner(t, ours, dir)
	theirDir := filepath.Join(theirs.base, "data")
	theirs.mustRun(theirDir, "store", "k", "theirs")
	defer endOwner(t, theirs, theirDir)
	record, err := owner.ReadRecord(theirDir)
	if err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{theirs.base: 0o755, theirDir: 0o755, record.Socket: 0o666, record.Admin: 0o666} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := owner.WriteRecord(dir, record); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(owner.RecordPath(dir), int(ours.id), int(ours.id)); err != nil {
		t.Fatal(err)
	}
	if out := ours.mustRun(dir, "recall", "k"); !strings.Contains(out, "ours") {
		t.Errorf("recalled %s", out)
	}
	ours.mustRun(dir, "verify")
	endOwner(t, ours, dir)
	if out, err := ours.run(theirDir, "recall", "k"); err == nil || !strings.Contains(out, "to whom it belongs") {
		t.Errorf("in another user's directory: %v\n%s", err, out)
	}
	if out, err := ours.run(theirDir, "recall", "k", "--shared-group"); err == nil || strings.Contains(out, "theirs") {
		t.Errorf("in another user's directory that is said to be shared: %v\n%s", err, out)
	}
}

// endOwner ends the owner of a directory, and waits for it.
func endOwner(t *testing.T, u *plainUser, dir string) {
	t.Helper()
	pid := u.pid(dir)
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the owner ends", func() bool { return gone(pid) && host.Owned(dir) == nil })
}
