package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	x25519 "filippo.io/age"

	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
)

// follower is a server that follows the bucket of an uploader.
type follower struct {
	tenant
	of   uploader
	args []string
	run  *exec.Cmd
	said *bytes.Buffer
}

// follow starts a server that follows the bucket at an endpoint.
func (u uploader) follow(endpoint string, args ...string) *follower {
	u.t.Helper()
	f := &follower{tenant: tenant{u.t, dataDir(u.t)}, of: u, args: append([]string{"serve", "--listen", "off", "--follow", u.place(), "--follow-every", "1s", "--endpoint", endpoint, "--path-style"}, args...)}
	f.start()
	f.ready()
	return f
}

func (f *follower) start() {
	f.t.Helper()
	f.run, f.said = program(f.t, f.dir, f.args...), &bytes.Buffer{}
	f.run.Env = append(f.run.Env, "AWS_ACCESS_KEY_ID="+f.of.server.ID, "AWS_SECRET_ACCESS_KEY="+f.of.server.Secret)
	f.run.Stderr = f.said
	must.Do(f.t, f.run.Start())
	run := f.run
	f.t.Cleanup(func() {
		_ = run.Process.Kill() // it may have ended
		_ = run.Wait()
		if f.t.Failed() {
			f.t.Logf("the follower said %s", f.said)
		}
	})
}

func (f *follower) ready() {
	f.t.Helper()
	await.That(f.t, "the follower serves", func() bool { return program(f.t, f.dir, "doctor", "--ready").Run() == nil })
}

func (f *follower) kill() {
	f.t.Helper()
	must.Do(f.t, f.run.Process.Kill())
	_ = f.run.Wait() // it was killed
}

// has waits until a memory is there with a text.
func (f *follower) has(key, text string) {
	f.t.Helper()
	await.That(f.t, "the follower has "+text, func() bool {
		out, err := program(f.t, f.dir, "recall", key).Output()
		return err == nil && strings.Contains(string(out), text)
	})
}

// everything is what a command prints, its errors too.
func (f *follower) everything(args ...string) (string, error) {
	c := program(f.t, f.dir, args...)
	c.Stderr = nil
	out, err := c.CombinedOutput()
	return string(out), err
}

// following is what the status says of it.
func (f *follower) following() string {
	f.t.Helper()
	var s struct{ Following string }
	must.Do(f.t, json.Unmarshal([]byte(f.says("status", "--json")), &s))
	return s.Following
}

// refuses waits until the follower says why it does not take what is in the bucket.
func (f *follower) refuses(text string) {
	f.t.Helper()
	await.That(f.t, "the follower says: "+text, func() bool { return strings.Contains(f.following(), text) })
	if out, err := program(f.t, f.dir, "doctor").Output(); err == nil || !strings.Contains(string(out), text) {
		f.t.Errorf("alcove doctor: %v, %s, want that it needs attention and says %q", err, out, text)
	}
}

func TestAServerFollowsABucketAndCanTakeItsPlace(t *testing.T) {
	t.Parallel()
	u := newUploader(t)
	u.says("store", "plan", "walnut")
	u.says("store", "old", "elm")
	var first struct{ Version uint64 }
	must.Do(t, json.Unmarshal([]byte(u.says("recall", "plan", "--json")), &first))
	u.bucket(u.dir, "backup", u.place())
	f := u.follow(u.server.URL)
	f.has("plan", "walnut")
	u.says("store", "plan", "chestnut")
	u.says("forget", "old")
	u.says("branch", "fork", "try")
	u.says("store", "new", "ash", "--branch", "try")
	u.bucket(u.dir, "backup", u.place(), "--incremental")
	f.has("plan", "chestnut")
	for _, c := range []struct {
		want string
		args []string
	}{
		{"chestnut", []string{"search", "chestnut"}}, {"walnut", []string{"history", "plan"}}, {"plan", []string{"list"}},
		{"ash", []string{"recall", "new", "--branch", "try"}}, {"ash", []string{"search", "ash", "--branch", "try"}}, {"walnut", []string{"recall", "plan", "--as-of", fmt.Sprint("v", first.Version)}},
	} {
		if said := f.says(c.args...); !strings.Contains(said, c.want) {
			t.Errorf("alcove %s of a follower says %s, want %s", strings.Join(c.args, " "), said, c.want)
		}
	}
	if said := f.says("list"); strings.Contains(said, "old") {
		t.Errorf("a follower lists %s, want nothing of what was forgotten", said)
	}
	for _, args := range [][]string{{"store", "x", "y"}, {"forget", "plan"}, {"branch", "fork", "b"}, {"log", "append", "x"}} {
		out, err := f.everything(args...)
		if err == nil || !strings.Contains(out, "follows "+u.place()) || !strings.Contains(out, "alcove follow promote") {
			t.Errorf("alcove %s of a follower: %v, %s, want an error that says what it follows and what to do", strings.Join(args, " "), err, out)
		}
	}
	u.says("store", "plan", "hazelnut")
	u.bucket(u.dir, "backup", u.place(), "--keep", "1") // it begins again
	f.has("plan", "hazelnut")
	if said := f.says("search", "hazelnut"); !strings.Contains(said, "plan") {
		t.Errorf("a search after another chain began says %s, want plan", said)
	}
	if said := f.says("doctor"); !strings.Contains(said, "follows "+u.place()) {
		t.Errorf("alcove doctor says %s, want what is followed", said)
	}
	f.kill()
	if out, err := f.everything("recall", "plan"); err == nil || !strings.Contains(out, "--follow") {
		t.Errorf("a server without --follow: %v, %s, want that it is refused", err, out)
	}
	if said := f.says("follow", "promote"); !strings.Contains(said, u.place()) {
		t.Errorf("alcove follow promote says %s, want what was followed", said)
	}
	f.says("store", "plan", "beech")
	if said := f.says("recall", "plan"); !strings.Contains(said, "beech") {
		t.Errorf("a promoted memory recalls %s, want beech", said)
	}
	f.says("verify")
}

func TestAFollowerOpensEncryptedBackups(t *testing.T) {
	t.Parallel()
	u := newUploader(t)
	identity := must.Get(x25519.GenerateX25519Identity())
	key := filepath.Join(t.TempDir(), "key.txt")
	must.Do(t, os.WriteFile(key, []byte(identity.String()+"\n"), 0o600))
	u.says("store", "plan", "walnut")
	u.bucket(u.dir, "backup", u.place(), "--recipient", identity.Recipient().String())
	f := u.follow(u.server.URL, "--identity-file", key)
	u.says("store", "plan", "chestnut")
	u.bucket(u.dir, "backup", u.place(), "--incremental", "--recipient", identity.Recipient().String())
	f.has("plan", "chestnut")
}

func TestAFollowerThatIsKilledAtAnyMomentGoesOn(t *testing.T) {
	t.Parallel()
	u := newUploader(t)
	u.says("store", "plan", "state 0")
	u.bucket(u.dir, "backup", u.place())
	var requests atomic.Int64
	kill := make(chan struct{}, 1)
	var at atomic.Int64
	between := u.server.Proxy(t, func(http.ResponseWriter, *http.Request) bool {
		if requests.Add(1) == at.Load() {
			kill <- struct{}{}
		}
		return false
	}, nil)
	f := u.follow(between.URL)
	for round := range 6 {
		want := fmt.Sprintf("state %d", round+1)
		u.says("store", "plan", want)
		args := []string{"backup", u.place()}
		if round%3 != 2 {
			args = append(args, "--incremental")
		}
		at.Store(requests.Load() + int64(round) + 1)
		u.bucket(u.dir, args...)
		await.Value(t, "a request at which it is killed", kill)
		f.kill()
		f.start()
		f.ready()
		f.has("plan", want)
		if said := f.says("search", "state"); !strings.Contains(said, want) {
			t.Errorf("after a kill a search says %s, want %s", said, want)
		}
		if got := strings.Count(f.says("history", "plan"), "state "); got != round+2 {
			t.Errorf("after a kill the history has %d versions, want %d", got, round+2)
		}
	}
	f.says("verify")
}

func TestAFollowerServesTheLastGoodStateWhileTheBucketIsNotAsItShouldBe(t *testing.T) {
	t.Parallel()
	u := newUploader(t)
	u.says("store", "plan", "walnut")
	u.bucket(u.dir, "backup", u.place())
	var cut atomic.Bool
	between := u.server.Proxy(t, func(http.ResponseWriter, *http.Request) bool {
		if cut.Load() {
			panic(http.ErrAbortHandler)
		}
		return false
	}, nil)
	f := u.follow(between.URL)
	f.has("plan", "walnut")

	cut.Store(true)
	f.refuses("list what is there")
	u.says("store", "plan", "chestnut")
	u.bucket(u.dir, "backup", u.place(), "--incremental")
	if said := f.says("recall", "plan"); !strings.Contains(said, "walnut") {
		t.Errorf("without the network a follower recalls %s, want walnut", said)
	}
	cut.Store(false)
	f.has("plan", "chestnut")

	folder := filepath.Join(u.server.Dir, "laptop")
	chain := must.Get(filepath.Glob(filepath.Join(folder, "*")))[0]
	earlier := must.Get(os.ReadFile(filepath.Join(chain, "backup.json")))
	u.says("store", "plan", "hazelnut")
	u.bucket(u.dir, "backup", u.place(), "--incremental")
	f.has("plan", "hazelnut")
	later := must.Get(os.ReadFile(filepath.Join(chain, "backup.json")))
	must.Do(t, os.WriteFile(filepath.Join(chain, "backup.json"), earlier, 0o600))
	f.refuses("the bucket went back")
	must.Do(t, os.WriteFile(filepath.Join(chain, "backup.json"), later, 0o600))
	await.That(t, "the bucket is followed again", func() bool { return !strings.Contains(f.following(), "went back") })

	f.kill()
	u.says("store", "plan", "beech")
	u.bucket(u.dir, "backup", u.place(), "--incremental")
	part := newestPart(t, chain)
	whole := must.Get(os.ReadFile(part))
	for name, changed := range map[string][]byte{"cut short": whole[:len(whole)-1], "of another content": bytes.Replace(whole, []byte("beech"), []byte("birch"), 1)} {
		must.Do(t, os.WriteFile(part, changed, 0o600))
		f.start()
		f.ready()
		await.That(t, "a part that was "+name+" is refused", func() bool { return strings.Contains(f.following(), "changed") })
		if said := f.says("recall", "plan"); !strings.Contains(said, "hazelnut") {
			t.Errorf("with a part %s a follower recalls %s, want hazelnut", name, said)
		}
		f.kill()
	}
	must.Do(t, os.WriteFile(part, whole, 0o600))
	f.start()
	f.ready()
	f.has("plan", "beech")

	other := uploader{tenant{t, dataDir(t)}, u.server, t.TempDir()}
	other.says("store", "plan", "of another memory")
	must.Do(t, os.Rename(chain, filepath.Join(t.TempDir(), "aside")))
	other.bucket(other.dir, "backup", u.place())
	f.refuses("the backup of another memory")
	if said := f.says("recall", "plan"); !strings.Contains(said, "beech") {
		t.Errorf("with the backup of another memory in the bucket a follower recalls %s, want beech", said)
	}
}

// newestPart is the file of the last part of a chain.
func newestPart(t *testing.T, chain string) string {
	t.Helper()
	var m struct{ Parts []struct{ File string } }
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join(chain, "backup.json"))), &m))
	return filepath.Join(chain, m.Parts[len(m.Parts)-1].File)
}
