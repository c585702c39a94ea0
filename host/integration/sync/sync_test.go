package sync_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/store/datadir"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/host/testing/testcert"
)

// laptop is a memory that synchronises with a hub.
func laptop(t *testing.T, hub *server.Server, key operator.IssuedKey, edit func(*operator.Remote)) *server.Server {
	t.Helper()
	l := server.Start(t, host.Options{})
	file := filepath.Join(t.TempDir(), "hub.key")
	must.Do(t, os.WriteFile(file, []byte(key.Secret+"\n"), 0o600))
	r := operator.Remote{Name: "hub", URL: hub.URL(), KeyFile: file}
	if edit != nil {
		edit(&r)
	}
	must.Do(t, operator.Command(t.Context(), l.Acts, operator.AddRemote, r))
	return l
}

func exchanged(s *server.Server, r operator.RemoteRequest) (operator.RemoteDone, error) {
	return operator.Call(s.T.Context(), s.Acts, operator.SyncRemote, r)
}

func mustExchange(s *server.Server, r operator.RemoteRequest) operator.RemoteDone {
	s.T.Helper()
	done, err := exchanged(s, r)
	if err != nil {
		s.T.Fatalf("exchange %+v: %v", r, err)
	}
	return done
}

var both = operator.RemoteRequest{Pull: true, Push: true}

// has lists the memories of a server, as namespace/key=value.
func has(s *server.Server) string {
	s.T.Helper()
	owner := s.Memory().As(memory.Caller{Rights: memory.FullRights()})
	var list []string
	for _, namespace := range []string{"home", "team/a", "team/b"} {
		found, _, err := owner.List(s.T.Context(), memory.Location{Namespace: namespace}, "", "", memory.AsOf{}, 0)
		if err != nil {
			s.T.Fatalf("list %s: %v", namespace, err)
		}
		for _, m := range found {
			list = append(list, namespace+"/"+m.Key+"="+string(m.Value))
		}
	}
	return strings.Join(list, " ")
}

func mustHave(s *server.Server, want string) {
	s.T.Helper()
	if got := has(s); got != want {
		s.T.Errorf("the memory has\n%s\nwant\n%s", got, want)
	}
}

const teas = `home/k="tea at home" team/a/k="tea of the team" team/b/k="tea of others"`

func TestALaptopAndAServerSynchroniseOverTLS(t *testing.T) {
	t.Parallel()
	files, _ := testcert.Write(t, t.TempDir(), "localhost")
	hub := server.StartOn(t, host.Options{}, host.Listen{HTTP: "127.0.0.1:0", TLSCert: files.Cert, TLSKey: files.Key})
	hub.Put("home", "k", "tea at home")
	key := hub.Issue("ann", server.ReadWrite, "*")
	l := laptop(t, hub, key, func(r *operator.Remote) {
		r.URL, r.CAFile = "https://"+hub.At.HTTP, files.Cert
	})
	l.Put("team/a", "k", "tea of the team")
	done := mustExchange(l, both)
	if done.Pulled.Taken != 1 || done.Pushed.Taken != 1 {
		t.Errorf("an exchange pulled %d and pushed %d memories, want 1 and 1", done.Pulled.Taken, done.Pushed.Taken)
	}
	for _, s := range []*server.Server{l, hub} {
		mustHave(s, `home/k="tea at home" team/a/k="tea of the team"`)
	}
	if done = mustExchange(l, both); done.Pulled.Taken+done.Pushed.Taken != 0 {
		t.Errorf("a second exchange moved %+v and %+v, want nothing", done.Pulled, done.Pushed)
	}
	stranger := laptop(t, hub, key, func(r *operator.Remote) { r.URL = "https://" + hub.At.HTTP })
	if _, err := exchanged(stranger, both); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a server whose certificate is not trusted is answered with %v, want an error of the certificate", err)
	}
}

func TestAKeyMovesOnlyWhatItMayReadAndWrite(t *testing.T) {
	t.Parallel()
	hub := server.Teas(t)
	reader := laptop(t, hub, hub.Issue("bob", []operator.Right{"read"}, "team/*"), nil)
	mustExchange(reader, operator.RemoteRequest{Pull: true})
	mustHave(reader, `team/a/k="tea of the team" team/b/k="tea of others"`)
	reader.Put("team/a", "mine", "a reader's tea")
	if _, err := exchanged(reader, operator.RemoteRequest{Push: true}); err == nil || !strings.Contains(err.Error(), "may write nothing") {
		t.Errorf("a push with a key that reads is answered with %v, want that it may write nothing", err)
	}
	mustHave(hub, teas)

	writer := laptop(t, hub, hub.Issue("cy", server.ReadWrite, "team/a"), nil)
	writer.Put("team/a", "mine", "a writer's tea")
	writer.Put("team/b", "mine", "stays")
	writer.Put("home", "mine", "stays")
	mustExchange(writer, both)
	mustHave(hub, `home/k="tea at home" team/a/k="tea of the team" team/a/mine="a writer's tea" team/b/k="tea of others"`)
	if _, err := exchanged(writer, operator.RemoteRequest{Push: true, Namespaces: []string{"home"}}); err == nil || !strings.Contains(err.Error(), "may not write") {
		t.Errorf("a push of a namespace without the right is answered with %v, want that the key may not write it", err)
	}
}

func TestARevokedKeyExchangesNothing(t *testing.T) {
	t.Parallel()
	hub := server.Teas(t)
	key := hub.Issue("ann", server.ReadWrite, "*")
	l := laptop(t, hub, key, nil)
	mustExchange(l, both)
	if _, err := operator.Call(t.Context(), hub.Acts, operator.RevokeKey, operator.KeyID{ID: key.ID}); err != nil {
		t.Fatalf("revoke a key: %v", err)
	}
	hub.Put("home", "k", "later tea")
	for _, r := range []operator.RemoteRequest{{Pull: true}, {Push: true}} {
		if _, err := exchanged(l, r); err == nil || !strings.Contains(err.Error(), "revoked") {
			t.Errorf("%+v with a revoked key is answered with %v, want that it was revoked", r, err)
		}
	}
	mustHave(l, teas)
}

func TestAReadOnlyServerGivesAndTakesNothing(t *testing.T) {
	t.Parallel()
	hub := server.Teas(t)
	l := laptop(t, hub, hub.Issue("ann", server.ReadWrite, "*"), nil)
	hub.Restart(func(o *host.Options) { o.ReadOnly = true })
	must.Do(t, operator.Command(t.Context(), l.Acts, operator.RemoveRemote, operator.RemoteName{Name: "hub"}))
	l.Put("home", "mine", "a laptop's tea")
	file := filepath.Join(t.TempDir(), "key")
	must.Do(t, os.WriteFile(file, []byte(hub.Token()), 0o600))
	must.Do(t, operator.Command(t.Context(), l.Acts, operator.AddRemote, operator.Remote{Name: "hub", URL: hub.URL(), KeyFile: file}))
	mustExchange(l, operator.RemoteRequest{Pull: true})
	mustHave(l, `home/k="tea at home" home/mine="a laptop's tea" team/a/k="tea of the team" team/b/k="tea of others"`)
	if _, err := exchanged(l, operator.RemoteRequest{Push: true}); err == nil || !strings.Contains(err.Error(), "may write nothing") {
		t.Errorf("a push to a read-only server is answered with %v, want that nothing may be written", err)
	}
	mustHave(hub, teas)
}

func TestALockedServerTakesMemoriesAlone(t *testing.T) {
	t.Parallel()
	hub := server.Teas(t)
	l := laptop(t, hub, hub.Issue("ann", server.ReadWrite, "*"), nil)
	if _, err := operator.Query(t.Context(), hub.Acts, operator.LockDirectory); err != nil {
		t.Fatalf("lock the directory: %v", err)
	}
	before, err := os.ReadFile(filepath.Join(hub.Dir, "alcove.lock"))
	must.Do(t, err)
	l.Put("home", "mine", "a laptop's tea")
	mustExchange(l, both)
	mustHave(hub, `home/k="tea at home" home/mine="a laptop's tea" team/a/k="tea of the team" team/b/k="tea of others"`)
	after, err := os.ReadFile(filepath.Join(hub.Dir, "alcove.lock"))
	if err != nil || string(after) != string(before) {
		t.Errorf("the lock file became %s, %v, want it as it was", after, err)
	}
}

func TestARemoteIsKeptWithoutItsKey(t *testing.T) {
	t.Parallel()
	hub := server.Teas(t)
	key := hub.Issue("ann", server.ReadWrite, "*")
	l := laptop(t, hub, key, nil)
	data, err := os.ReadFile(filepath.Join(l.Dir, "remotes.json"))
	if err != nil || strings.Contains(string(data), key.Secret) || !strings.Contains(string(data), hub.URL()) {
		t.Errorf("remotes.json has %s, %v, want the address and no key", data, err)
	}
	for _, c := range []struct {
		remote operator.Remote
		says   string
	}{
		{operator.Remote{Name: "hub", URL: hub.URL()}, "there is a remote"},
		{operator.Remote{Name: "../hub", URL: hub.URL()}, "the name of a remote"},
		{operator.Remote{Name: "b", URL: "file:///etc"}, "is not the URL of a server"},
		{operator.Remote{Name: "b", URL: "https://ann@hub"}, "has no user"},
		{operator.Remote{Name: "b", URL: "https://hub/" + strings.Repeat("x", 3000)}, "at most 2048"},
		{operator.Remote{Name: "b", URL: hub.URL(), KeyFile: "relative"}, "is not absolute"},
		{operator.Remote{Name: "b", URL: hub.URL(), Strategy: "luck"}, "is not one of newest"},
		{operator.Remote{Name: "b", URL: "http://hub.example", KeyFile: keyFile(t)}, "would show the key"},
	} {
		if err := operator.Command(t.Context(), l.Acts, operator.AddRemote, c.remote); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("adding %+v is answered with %v, want %q", c.remote, err, c.says)
		}
	}
}

func keyFile(t *testing.T) string {
	file := filepath.Join(t.TempDir(), "key")
	must.Do(t, os.WriteFile(file, []byte("secret"), 0o600))
	return file
}

func TestTheStatusCountsWhatDiffers(t *testing.T) {
	t.Parallel()
	hub := server.Teas(t)
	l := laptop(t, hub, hub.Issue("ann", server.ReadWrite, "*"), nil)
	mustExchange(l, both)
	l.Put("home", "mine", "one")
	mustExchange(l, both)
	status, err := operator.Call(t.Context(), l.Acts, operator.GetRemoteStatus, operator.RemoteRequest{})
	if err != nil || status.ToPull != 0 || status.ToPush != 0 || status.Error != "" {
		t.Errorf("the status is %+v, %v, want nothing to pull or push", status, err)
	}
	if status, err = operator.Call(t.Context(), l.Acts, operator.GetRemoteStatus, operator.RemoteRequest{Branch: "idea"}); err != nil || !strings.Contains(status.Error, `no branch "idea"`) {
		t.Errorf("the status of a branch that is missing is %+v, %v, want that there is none", status, err)
	}
	hub.Put("home", "k", "newer tea")
	if status, err = operator.Call(t.Context(), l.Acts, operator.GetRemoteStatus, operator.RemoteRequest{}); err != nil || status.ToPull != 1 {
		t.Errorf("the status is %+v, %v, want one to pull", status, err)
	}
}

func TestARestoredCopyIsToldApartFromItsOriginal(t *testing.T) {
	t.Parallel()
	hub := server.Teas(t)
	key := hub.Issue("ann", server.ReadWrite, "*")
	l := laptop(t, hub, key, nil)
	mustExchange(l, both)
	safe := filepath.Join(t.TempDir(), "safe.alcove")
	file, err := os.Create(safe)
	must.Do(t, err)
	must.Do(t, operator.Receive(t.Context(), l.Acts, operator.Backup, operator.BackupRequest{}, file))
	must.Do(t, file.Close())
	l.Put("home", "mine", "after the backup")
	mustExchange(l, both)
	l.Stop()

	dir := filepath.Join(t.TempDir(), "restored")
	if _, err := space.Directory(dir).Restore(t.Context(), safe, datadir.RestoreOptions{}); err != nil {
		t.Fatalf("restore: %v", err)
	}
	restored := server.Start(t, host.Options{Dir: dir})
	restored.Put("home", "mine", "by the restored one")
	restored.Put("home", "other", "by the restored one")
	name := filepath.Join(t.TempDir(), "key")
	must.Do(t, os.WriteFile(name, []byte(key.Secret), 0o600))
	must.Do(t, operator.Command(t.Context(), restored.Acts, operator.AddRemote, operator.Remote{Name: "hub", URL: hub.URL(), KeyFile: name}))
	if done := mustExchange(restored, both); len(done.Pulled.Conflicts) != 1 {
		t.Errorf("what the restored copy wrote has %v, want one conflict with what its original had sent", done.Pulled.Conflicts)
	}
	for _, s := range []*server.Server{restored, hub} {
		mustHave(s, `home/k="tea at home" home/mine="by the restored one" home/other="by the restored one" team/a/k="tea of the team" team/b/k="tea of others"`)
	}
}

func TestPlainCopiesOfADirectoryThatBothWriteLoseNothing(t *testing.T) {
	t.Parallel()
	hub := server.Teas(t)
	key := hub.Issue("ann", server.ReadWrite, "*")
	l := laptop(t, hub, key, nil)
	mustExchange(l, both)
	l.Stop()
	dir := filepath.Join(t.TempDir(), "copied")
	must.Do(t, os.CopyFS(dir, os.DirFS(l.Dir)))
	copied := server.Start(t, host.Options{Dir: dir})
	l.Restart()
	for i := range 3 { // both number them alike
		l.Put("home", "mine"+strconv.Itoa(i), "by the original")
		copied.Put("home", "other"+strconv.Itoa(i), "by the copy")
	}
	for range 2 {
		mustExchange(l, both)
		mustExchange(copied, both)
	}
	want := `home/k="tea at home" home/mine0="by the original" home/mine1="by the original" home/mine2="by the original"` +
		` home/other0="by the copy" home/other1="by the copy" home/other2="by the copy" team/a/k="tea of the team" team/b/k="tea of others"`
	for _, s := range []*server.Server{l, copied, hub} {
		mustHave(s, want)
	}
}

func TestAWatchExchangesWhatEitherSideWrites(t *testing.T) {
	t.Parallel()
	hub := server.Teas(t)
	l := laptop(t, hub, hub.Issue("ann", server.ReadWrite, "*"), nil)
	in, out := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		out.CloseWithError(operator.Receive(ctx, l.Acts, operator.WatchRemote, both, out))
	}()
	lines := bufio.NewScanner(in)
	next := func() (done operator.RemoteDone) {
		if !lines.Scan() {
			t.Fatalf("the watch ended with %v, want a line", lines.Err())
		}
		if err := json.Unmarshal(lines.Bytes(), &done); err != nil || done.Error != "" {
			t.Fatalf("the watch says %s, %v, want an exchange", lines.Bytes(), err)
		}
		return done
	}
	if done := next(); done.Pulled.Taken != 3 {
		t.Errorf("the first exchange pulled %d, want 3", done.Pulled.Taken)
	}
	l.Put("home", "mine", "a laptop's tea")
	if done := next(); done.Pushed.Taken != 1 {
		t.Errorf("after a store here %d were pushed, want 1", done.Pushed.Taken)
	}
	hub.Put("home", "theirs", "a hub's tea")
	if done := next(); done.Pulled.Taken != 1 {
		t.Errorf("after a store there %d were pulled, want 1", done.Pulled.Taken)
	}
	cancel()
	in.Close()
	<-ended
}

func TestTheLimitsOfAKeyHoldForExchanges(t *testing.T) {
	t.Parallel()
	hub := server.Teas(t)
	slow, err := operator.Call(t.Context(), hub.Acts, operator.CreateKey, operator.KeyRequest{Agent: "ann", Namespaces: []string{"*"}, Rights: server.ReadWrite,
		Limits: operator.KeyLimits{CallsPerSecond: 2, Burst: 1}})
	must.Do(t, err)
	l := laptop(t, hub, slow, nil)
	l.Put("home", "mine", "a laptop's tea")
	mustExchange(l, both) // waits as long as the server says
	mustHave(hub, `home/k="tea at home" home/mine="a laptop's tea" team/a/k="tea of the team" team/b/k="tea of others"`)

	small, err := operator.Call(t.Context(), hub.Acts, operator.CreateKey, operator.KeyRequest{Agent: "bob", Namespaces: []string{"*"}, Rights: server.ReadWrite,
		Limits: operator.KeyLimits{BodyBytes: 1024}})
	must.Do(t, err)
	l = laptop(t, hub, small, nil)
	random, noise := rand.New(rand.NewPCG(1, 2)), ""
	for range 200 {
		noise += strconv.FormatUint(random.Uint64(), 36)
	}
	l.Put("home", "long", noise)
	if _, err := exchanged(l, operator.RemoteRequest{Push: true}); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("a push of more than the key may send at once is answered with %v, want that it is too large", err)
	}
}
