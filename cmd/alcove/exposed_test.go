//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/testing/await"
)

func TestADirectoryThatEveryUserCanChangeIsRefused(t *testing.T) {
	t.Parallel()
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
			{"verify"}, {"repair"}, {"restore", backup}, {"demo", "--data", dir}, {"doctor"}} {
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
		u.t.Fatalf("alcove %s: %v\n%s", strings.Join(args, " "), err, out)
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
				t.Errorf("alcove %s: %v\n%s", args[0], err, out)
			}
		}
		if out := u.mustRun(dir, "status"); !strings.Contains(out, "read only      true") || !strings.Contains(out, "ok") {
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
		await.That(t, "it is left to an owner that writes", func() bool { return gone(reader) })
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
	await.That(t, "the owner ends", func() bool { return gone(pid) && owner.CheckFree(dir) == nil })
}
