package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	x25519 "filippo.io/age"

	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/objectserver"
)

// uploader backs up a directory into a bucket.
type uploader struct {
	tenant
	server *objectserver.Server
	cache  string
}

func newUploader(t *testing.T) uploader {
	t.Helper()
	return uploader{tenant{t, dataDir(t)}, objectserver.Start(t), t.TempDir()}
}

// command is one with the credentials in its environment.
func (u uploader) command(dir, endpoint string, args ...string) *exec.Cmd {
	u.t.Helper()
	c := program(u.t, dir, append(args, "--endpoint", endpoint, "--path-style")...)
	c.Env = append(c.Env, "XDG_CACHE_HOME="+u.cache, "AWS_ACCESS_KEY_ID="+u.server.ID, "AWS_SECRET_ACCESS_KEY="+u.server.Secret)
	return c
}

// bucket returns what a command about the bucket prints, its errors too.
func (u uploader) bucket(dir string, args ...string) string {
	u.t.Helper()
	c := u.command(dir, u.server.URL, args...)
	c.Stderr = nil
	out, err := c.CombinedOutput()
	if err != nil {
		u.t.Fatalf("alcove %s: %v: %s", strings.Join(args, " "), err, out)
	}
	if strings.Contains(string(out), u.server.Secret) {
		u.t.Errorf("alcove %s prints the secret: %s", strings.Join(args, " "), out)
	}
	return string(out)
}

func (u uploader) place() string { return "s3://" + u.server.Bucket + "/laptop" }

// recalls restores the backup into a directory, and returns a memory of it.
func (u uploader) recalls(key string, args ...string) string {
	u.t.Helper()
	dir := dataDir(u.t)
	u.bucket(dir, append([]string{"restore", u.place()}, args...)...)
	return tenant{u.t, dir}.says("recall", key)
}

func TestAMemoryIsBackedUpIntoABucketAndRestored(t *testing.T) {
	t.Parallel()
	u := newUploader(t)
	u.says("store", "plan", "walnut")
	u.bucket(u.dir, "backup", u.place())
	u.says("store", "plan", "chestnut")
	u.bucket(u.dir, "backup", u.place(), "--incremental")
	if said := u.bucket(u.dir, "backup", u.place(), "--incremental"); !strings.Contains(said, "nothing changed") {
		t.Errorf("an increment of no change says %s, want that nothing changed", said)
	}
	if said := u.bucket(u.dir, "backup", u.place(), "--list"); !strings.Contains(said, "2 parts") {
		t.Errorf("the list says %s, want one chain of 2 parts", said)
	}
	if said := u.recalls("plan"); !strings.Contains(said, "chestnut") {
		t.Errorf("restored %s, want chestnut", said)
	}
	identity := must.Get(x25519.GenerateX25519Identity())
	key := filepath.Join(t.TempDir(), "key.txt")
	must.Do(t, os.WriteFile(key, []byte(identity.String()+"\n"), 0o600))
	u.says("store", "plan", "hazelnut")
	if said := u.bucket(u.dir, "backup", u.place(), "--keep", "1", "--recipient", identity.Recipient().String()); !strings.Contains(said, "removed the chain") {
		t.Errorf("a full backup that keeps one chain says %s, want that it removed one", said)
	}
	if said := u.recalls("plan", "--identity-file", key); !strings.Contains(said, "hazelnut") {
		t.Errorf("restored %s, want hazelnut", said)
	}
	must.Do(t, filepath.WalkDir(u.server.Dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && strings.Contains(string(must.Get(os.ReadFile(path))), "nut") {
			t.Errorf("the server has a stored text in %s, want none", path)
		}
		return err
	}))
}

func TestAKilledUploadGoesOnWithTheNextBackup(t *testing.T) {
	t.Parallel()
	u := newUploader(t)
	u.says("store", "plan", "walnut")
	u.bucket(u.dir, "backup", u.place())
	u.importLarge()
	var once sync.Once
	var killed atomic.Bool
	var again, rest atomic.Int64
	third, hold := make(chan struct{}), make(chan struct{})
	between := u.server.Proxy(t, func(_ http.ResponseWriter, r *http.Request) bool {
		number := r.URL.Query().Get("partNumber")
		switch {
		case r.Method != http.MethodPut || number == "":
		case killed.Load() && (number == "1" || number == "2"):
			again.Add(1)
		case killed.Load():
			rest.Add(1)
		case number == "3":
			once.Do(func() { close(third) })
			<-hold
			return true
		}
		return false
	}, nil)
	c := u.command(u.dir, between.URL, "backup", u.place(), "--incremental")
	must.Do(t, c.Start())
	await.Value(t, "the third piece", third)
	must.Do(t, c.Process.Kill())
	_ = c.Wait() // it was killed
	killed.Store(true)
	close(hold)
	if said := u.recalls("plan"); !strings.Contains(said, "walnut") {
		t.Errorf("restored %s while an upload is not complete, want walnut", said)
	}
	u.says("store", "plan", "chestnut")
	must.Do(t, u.command(u.dir, between.URL, "backup", u.place(), "--incremental").Run())
	if again.Load() != 0 || rest.Load() == 0 {
		t.Errorf("after a kill the next backup sent %d pieces again, and %d others, want only those that were missing", again.Load(), rest.Load())
	}
	if said := u.recalls("plan"); !strings.Contains(said, "chestnut") {
		t.Errorf("restored %s, want chestnut", said)
	}
}

// importLarge stores what takes several pieces to upload.
func (u uploader) importLarge() {
	u.t.Helper()
	dir := u.t.TempDir()
	for i := range 24 {
		noise := make([]byte, 450_000)
		_, _ = rand.Read(noise)
		must.Do(u.t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("large-%d.md", i)), []byte(hex.EncodeToString(noise)+"\n"), 0o600))
	}
	u.says("import", dir, "--format", "markdown")
}

func TestBackupsAtAnIntervalGoOnUntilInterrupted(t *testing.T) {
	t.Parallel()
	u := newUploader(t)
	u.says("store", "plan", "walnut")
	c := u.command(u.dir, u.server.URL, "backup", u.place(), "--every", "10s")
	must.Do(t, c.Start())
	await.That(t, "a backup is in the bucket", func() bool {
		found, _ := filepath.Glob(filepath.Join(u.server.Dir, "laptop", "*", "backup.json"))
		return len(found) == 1
	})
	must.Do(t, c.Process.Signal(os.Interrupt))
	if err := c.Wait(); err != nil {
		t.Errorf("interrupted: %v, want exit code 0", err)
	}
	if said := u.recalls("plan"); !strings.Contains(said, "walnut") {
		t.Errorf("restored %s, want walnut", said)
	}
}

func TestFlagsOfBucketsAreRefusedForFilesAndCredentialsAreAskedFor(t *testing.T) {
	t.Parallel()
	u := tenant{t, dataDir(t)}
	for _, args := range [][]string{
		{"backup", filepath.Join(t.TempDir(), "b"), "--every", "1m"}, {"backup", "s3://bucket/x", "--every", "1s"}, {"backup", "s3://bucket/x", "--keep", "-1"},
		{"backup", "s3://bucket/../x"}, {"backup", "s3://bucket/x"}, {"restore", "s3://bucket/x", "--as-of", "never"}, {"restore", "s3://bucket/x"},
	} {
		c := program(t, u.dir, args...)
		c.Env = append(c.Env, "AWS_ACCESS_KEY_ID=", "AWS_SHARED_CREDENTIALS_FILE=")
		var failed *exec.ExitError
		if err := c.Run(); !asExit(err, &failed) || failed.ExitCode() != exitCodes()["invalid_argument"] {
			t.Errorf("alcove %s: %v, want the exit code of invalid_argument", strings.Join(args, " "), err)
		}
	}
}

func asExit(err error, to **exec.ExitError) (ok bool) {
	*to, ok = err.(*exec.ExitError)
	return ok
}

func TestAMachineThatIsLostLosesWhatWasStoredSinceTheLastIncrement(t *testing.T) {
	t.Parallel()
	u := newUploader(t)
	u.says("store", "plan", "walnut")
	c := u.command(u.dir, u.server.URL, "backup", u.place(), "--every", "10s")
	must.Do(t, c.Start())
	parts := func() string { return u.bucket(u.dir, "backup", u.place(), "--list") }
	await.That(t, "a backup is in the bucket", func() bool { return strings.Contains(parts(), " 1 part,") })
	u.says("store", "plan", "chestnut")
	await.That(t, "an increment is in the bucket", func() bool { return !strings.Contains(parts(), " 1 part,") })
	u.says("store", "plan", "hazelnut")
	must.Do(t, c.Process.Kill())
	_ = c.Wait() // it was killed
	killOwner(t, u.dir)
	if said := u.recalls("plan"); strings.Contains(said, "walnut") {
		t.Errorf("restored %s after a kill, want chestnut, which was stored before the last increment, or what came later", said)
	}
}
