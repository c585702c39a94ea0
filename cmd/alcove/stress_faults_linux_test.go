package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/testing/await"
	guests "github.com/alcove-memory/alcove/host/testing/hostile"
	"github.com/alcove-memory/alcove/host/testing/stress"
)

// under has a shell run a command after a setting of its own, such as ulimit -n 64.
func under(setting string) func(*exec.Cmd) {
	return func(c *exec.Cmd) {
		c.Args = append([]string{"sh", "-c", setting + ` && exec "$0" "$@"`, c.Path}, c.Args[1:]...)
		c.Path = "/bin/sh"
	}
}

// TestCallersWaitForAnOwnerThatIsStopped stops the owner while clients come and call.
func TestCallersWaitForAnOwnerThatIsStopped(t *testing.T) {
	load := stress.FromEnvironment(t)
	s := startServer(t, dataDir(t), nil)
	before, err := s.connect("socket")
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close()
	if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	const callers = 8
	var calling sync.WaitGroup
	calling.Go(func() {
		if _, err := before.Call(context.Background(), "memory_store", map[string]any{"key": "before", "value": 1}); err != nil {
			t.Errorf("who was connected before: %v", err)
		}
	})
	for n := range callers {
		calling.Go(func() {
			if _, err := s.run("store", fmt.Sprint("k", n), fmt.Sprint(n)); err != nil {
				t.Error(err)
			}
		})
	}
	time.Sleep(min(max(load.Lasting, time.Second), 20*time.Second)) // less than callers wait for an owner
	if err := s.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	calling.Wait()
	for n := range callers {
		if r, err := before.Call(context.Background(), "memory_recall", map[string]any{"key": fmt.Sprint("k", n)}); err != nil || !strings.Contains(string(r.Structured), fmt.Sprintf(`"value":%d`, n)) {
			t.Errorf("k%d is %s, %v", n, r.Structured, err)
		}
	}
	if r, err := owner.ReadRecord(s.dir); err != nil || r.PID != s.PID {
		t.Errorf("the owner is %+v, and not process %d: %v", r, s.PID, err)
	}
}

// TestASecondOwnerIsRefusedByTheDatabaseWhereTheLockIsDeleted deletes the lock and the sockets under a server that is stopped, as it would
// soon make them again.
func TestASecondOwnerIsRefusedByTheDatabaseWhereTheLockIsDeleted(t *testing.T) {
	s := startServer(t, dataDir(t), nil)
	session, err := s.connect("socket")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	store := func(key string) {
		t.Helper()
		if _, err := session.Call(context.Background(), "memory_store", map[string]any{"key": key, "value": key}); err != nil {
			t.Error(err)
		}
	}
	signal := func(which os.Signal) {
		t.Helper()
		if err := s.cmd.Process.Signal(which); err != nil {
			t.Fatal(err)
		}
	}
	store("before")
	signal(syscall.SIGSTOP)
	for _, name := range []string{"owner.lock", "owner.json", "alcove.sock", "admin.sock"} {
		if err := os.Remove(filepath.Join(s.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	second := program(t, s.dir, "serve", "--listen", "off")
	out, err := combined(second)
	signal(syscall.SIGCONT)
	if err == nil || !strings.Contains(out, "another process") {
		t.Errorf("a second owner ended with %v: %s", err, out)
	}
	store("after")
	for _, key := range []string{"before", "after"} {
		if r, err := session.Call(context.Background(), "memory_recall", map[string]any{"key": key}); err != nil || !strings.Contains(string(r.Structured), `"found":true`) {
			t.Errorf("%s is %s, %v", key, r.Structured, err)
		}
	}
}

// useful does what a server is there for.
func (s *testServer) useful() {
	s.t.Helper()
	s.mustRun("store", "k", "a text that can be found")
	s.mustRun("recall", "k")
	if out := s.mustRun("search", "which text"); !strings.Contains(out, "can be found") {
		s.t.Errorf("searched %s", out)
	}
	s.mustRun("backup", filepath.Join(s.t.TempDir(), "backup"))
	s.mustRun("verify")
}

func TestAServerWorksWithFewDescriptorsAndLittleAddressSpace(t *testing.T) {
	for _, setting := range []string{"ulimit -n 64", "ulimit -n 24", "ulimit -v 4194304"} {
		t.Run(setting, func(t *testing.T) {
			if strings.Contains(setting, "-v") && underRace {
				t.Skip("the race detector itself takes more address space than that")
			}
			s := startServer(t, dataDir(t), under(setting))
			s.useful()
			s.mustNotHavePanicked()
		})
	}
}

// TestAServerThatCannotStartSaysWhy allows it fewer descriptors than it needs.
func TestAServerThatCannotStartSaysWhy(t *testing.T) {
	cmd := program(t, dataDir(t), "serve", "--listen", "127.0.0.1:0")
	under("ulimit -n 8")(cmd)
	out, err := combined(cmd)
	if err == nil || !strings.Contains(out, "alcove: ") || !strings.Contains(out, "too many open files") || crashed.MatchString(out) {
		t.Errorf("it ended with %v: %s", err, out)
	}
}

// TestEveryFileIsItsUsersAloneWhateverTheUmask runs everything that writes files under umask 000.
func TestEveryFileIsItsUsersAloneWhateverTheUmask(t *testing.T) {
	old := syscall.Umask(0) // for the processes that the test starts
	defer syscall.Umask(old)
	dir := dataDir(t)
	place := filepath.Dir(dir)
	if err := os.Chmod(place, 0o700); err != nil {
		t.Fatal(err)
	}
	c := newClient(t, dir) // starts an owner on demand, which logs to a file
	c.call("memory_store", map[string]any{"key": "k", "value": strings.Repeat("long ", 50_000)}, nil)
	s := &testServer{t: t, dir: dir}
	s.install(guests.Burdens()[5])
	c.begin("tools/call", toolCall("memory_operation", map[string]any{"method": guests.Burdens()[5].Tool}))
	c.finish()
	s.mustRun("branch", "fork", "f")
	s.mustRun("branch", "switch", "f")
	await.That(t, "a blob is written, which a backup has", func() bool {
		blobs, err := filepath.Glob(filepath.Join(dir, "blobs", "*"))
		return err == nil && len(blobs) > 0
	})
	s.mustRun("backup", filepath.Join(place, "backups"))
	s.mustRun("backup", filepath.Join(place, "backups"), "--incremental")
	s.mustRun("backup", filepath.Join(place, "single.alcove"))
	s.mustRun("export", filepath.Join(place, "export.jsonl"))
	s.mustRun("embedder", "set", "mine", "--kind", "given", "--dimensions", "3")
	s.mustRun("compact")
	s.mustRun("restore", filepath.Join(place, "backups"), "--data", filepath.Join(place, "restored"))
	files := 0
	err := filepath.WalkDir(place, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if files++; info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s", strings.TrimPrefix(path, place), info.Mode())
		}
		return nil
	})
	if err != nil || files < 15 {
		t.Errorf("%d files: %v", files, err)
	}
}

// TestAnEndpointsKeyIsInNoLogFileOrAnswer has an endpoint say back what it was sent.
func TestAnEndpointsKeyIsInNoLogFileOrAnswer(t *testing.T) {
	const key = "sk-very-private-key"
	asked := make(chan string, 100)
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case asked <- r.Header.Get("Authorization"):
		default:
		}
		w.WriteHeader(http.StatusForbidden)
		json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": "you sent " + fmt.Sprint(r.Header)}})
	}))
	defer endpoint.Close()
	s := startServer(t, dataDir(t), func(c *exec.Cmd) { c.Env = append(c.Env, "MODEL_KEY="+key) })
	var said bytes.Buffer
	run := func(args ...string) {
		out, err := s.run(args...) // some fail: what matters is what they say
		fmt.Fprintln(&said, out, err)
	}
	run("embedder", "set", "hosted", "--kind", "openai", "--url", endpoint.URL+"/v1", "--model", "m", "--key-env", "MODEL_KEY", "--dimensions", "3")
	run("store", "k", "a text to be embedded")
	run("search", "text")
	if got := await.Value(t, "the endpoint is asked", asked); got != "Bearer "+key {
		t.Errorf("the endpoint was sent %q", got)
	}
	run("embedder", "set", "other", "--kind", "openai", "--url", endpoint.URL+"/v1", "--model", "m", "--key-env", "MODEL_KEY") // asks it at once
	run("embedder", "show", "--json")
	run("embedder", "regenerate", "hosted")
	run("endpoint", "add", "model", endpoint.URL+"/v1", "--kind", "openai", "--model", "m", "--key-env", "MODEL_KEY")
	run("endpoint", "list", "--json")
	run("doctor")
	run("status", "--json")
	run("export", filepath.Join(s.dir, "export.jsonl"))
	for _, url := range []string{"http://user:" + key + "@127.0.0.1:1/v1", strings.Replace(endpoint.URL, "http://", "http://:"+key+"@", 1)} {
		if out, err := s.run("embedder", "set", "secret", "--kind", "openai", "--url", url, "--model", "m"); err == nil || strings.Contains(strings.ReplaceAll(err.Error(), url, ""), key) {
			t.Errorf("an address with a password was taken: %s %v", out, err)
		}
	}
	s.stop()
	if strings.Contains(said.String(), key) {
		t.Errorf("the key is in an answer: %s", said.String())
	}
	if strings.Contains(s.log.String(), key) {
		t.Errorf("the key is in the log: %s", s.log)
	}
	for path, data := range filesIn(t, s.dir) {
		if bytes.Contains(data, []byte(key)) {
			t.Errorf("the key is in %s", path)
		}
	}
}

// combined runs a command that ends by itself, and gives all that it said.
func combined(cmd *exec.Cmd) (string, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return "", err
	}
	hangs := time.AfterFunc(stopWithin, func() { cmd.Process.Kill() })
	defer hangs.Stop()
	err := cmd.Wait()
	return out.String(), err
}
