package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/sdk/client"
)

// hunter is in what clients store. The terms of a search index have it as it is.
const hunter = "hunter2hunter2hunter2hunter2"

// inClear is stored before there is a redactor: wherever it is found, the secret would be found, too.
const inClear = "plainplainplainplain"

// tokenOf is a word that redactors know as a secret.
func tokenOf(client, n int) string { return fmt.Sprintf("sk-%s-%d-%d", hunter, client, n) }

// shapes are the ways in which clients store: each gives the tool and its arguments for a key and a token.
var shapes = []struct {
	name string
	call func(key, token string) (tool string, arguments map[string]any)
}{
	{"text", func(key, token string) (string, map[string]any) {
		return "memory_store", map[string]any{"key": key, "value": "the token is " + token + "."}
	}},
	{"object", func(key, token string) (string, map[string]any) {
		return "memory_store", map[string]any{"key": key, "value": map[string]any{"in": []any{map[string]any{token: token}}}}
	}},
	{"tags", func(key, token string) (string, map[string]any) {
		return "memory_store", map[string]any{"key": key, "value": "tagged", "tags": []string{"a", token}}
	}},
	{"metadata", func(key, token string) (string, map[string]any) {
		return "memory_store", map[string]any{"key": key, "value": "with metadata", "metadata": map[string]any{"note": token}}
	}},
	{"items", func(key, token string) (string, map[string]any) {
		return "memory_store", map[string]any{"items": []any{map[string]any{"key": key, "value": token}, map[string]any{"key": key + " again", "value": "and " + token}}}
	}},
	{"branch", func(key, token string) (string, map[string]any) {
		return "memory_store", map[string]any{"key": key, "value": token, "branch": "aside", "namespace": "other"}
	}},
	{"operation", func(key, token string) (string, map[string]any) {
		return "memory_operation", map[string]any{"method": "store", "params": map[string]any{"key": key, "value": token}, "metadata": map[string]any{"request_id": key}}
	}},
	{"version", func(key, token string) (string, map[string]any) { // of one memory, again and again
		return "memory_store", map[string]any{"key": "version " + token[strings.LastIndex(token, "-"):], "value": token}
	}},
	{"look", func(key, token string) (string, map[string]any) { // for which later versions need a capability
		return "memory_store", map[string]any{"key": key, "value": token}
	}},
	{"panic", func(key, token string) (string, map[string]any) { // about which later versions panic
		return "memory_store", map[string]any{"key": key, "value": token}
	}},
	{"links", func(key, token string) (string, map[string]any) { // which no hook can change
		return "memory_store", map[string]any{"key": key, "value": "linked", "links": []string{token}}
	}},
	{"supersedes", func(key, token string) (string, map[string]any) {
		return "memory_store", map[string]any{"key": key, "value": "newer", "supersedes": token}
	}},
	{"key", func(key, token string) (string, map[string]any) {
		return "memory_store", map[string]any{"key": token, "value": "a secret key"}
	}},
	{"resolution", func(key, token string) (string, map[string]any) { // of what the branches apart and default have differently
		return "memory_branch", map[string]any{"action": "merge", "source": "apart", "target": unmerged(key),
			"resolutions": []any{map[string]any{"key": "before", "take": "value", "value": token}}}
	}},
}

// unmerged is the branch, one for each client, that a resolution is merged into.
func unmerged(key string) string { return key[:strings.LastIndex(key, "-")] }

// storer is a client that stores without pause.
type storer struct {
	number int
	server *testServer
	acked  []atomic.Int64 // of each shape
	failed []atomic.Int64
	keys   []string // acknowledged; read after the end
	last   atomic.Pointer[string]
}

// run stores until stop is closed. A client whose connection was lost connects anew.
func (c *storer) run(stop <-chan struct{}) {
	var s *client.Session
	defer func() {
		if s != nil {
			s.Close()
		}
	}()
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		if s == nil {
			var err error
			if s, err = c.server.session(c.server.bridge); err != nil {
				c.tell(err)
				s = nil
				continue
			}
		}
		if !c.store(s, n) {
			s.Close()
			s = nil
		}
	}
}

// store reports whether the connection is there still.
func (c *storer) store(s *client.Session, n int) bool {
	shape := n % len(shapes)
	key := fmt.Sprintf("%s-%d-%d", shapes[shape].name, c.number, n)
	if shapes[shape].name == "resolution" { // there is nothing to resolve after the first merge: the branch is forked anew
		for _, arguments := range []map[string]any{{"action": "delete", "name": unmerged(key), "force": true}, {"action": "fork", "source": "default", "name": unmerged(key)}} {
			s.Call(context.Background(), "memory_branch", arguments) //nolint:errcheck // the merge fails then
		}
	}
	tool, arguments := shapes[shape].call(key, tokenOf(c.number, n))
	_, err := s.Call(context.Background(), tool, arguments)
	if err == nil {
		c.keys = append(c.keys, key)
		c.acked[shape].Add(1)
		return true
	}
	c.tell(err)
	c.failed[shape].Add(1)
	var known *client.Error
	return errors.As(err, &known)
}

func (c *storer) tell(err error) {
	text := err.Error()
	c.last.Store(&text)
}

// crowd is clients that store at once.
type crowd struct {
	t    *testing.T
	all  []*storer
	stop func()
}

func startCrowd(s *testServer, clients int) *crowd {
	all, stop, running := &crowd{t: s.t}, make(chan struct{}), &sync.WaitGroup{}
	for i := range clients {
		c := &storer{number: i, server: s, acked: make([]atomic.Int64, len(shapes)), failed: make([]atomic.Int64, len(shapes))}
		all.all = append(all.all, c)
		running.Go(func() { c.run(stop) })
	}
	all.stop = sync.OnceFunc(func() {
		close(stop)
		running.Wait()
	})
	s.t.Cleanup(all.stop)
	return all
}

// counts are how many stores of each shape were acknowledged, and failed.
func (all *crowd) counts() (acked, failed map[string]int64) {
	acked, failed = map[string]int64{}, map[string]int64{}
	for _, c := range all.all {
		for i, s := range shapes {
			acked[s.name] += c.acked[i].Load()
			failed[s.name] += c.failed[i].Load()
		}
	}
	return acked, failed
}

// calls is how many stores ended, one way or the other.
func (c *storer) calls() (n int64) {
	for i := range shapes {
		n += c.acked[i].Load() + c.failed[i].Load()
	}
	return n
}

// mustGoOn waits until each client stored in all ways once more, and returns how many stores of each shape were acknowledged
// meanwhile, and failed. A store that was under way at the beginning is left out.
func (all *crowd) mustGoOn(what string) (acked, failed map[string]int64) {
	all.t.Helper()
	all.mustCall(1, what)
	acked, failed = all.counts()
	all.mustCall(int64(len(shapes)), what)
	acked1, failed1 := all.counts()
	for _, s := range shapes {
		acked[s.name] = acked1[s.name] - acked[s.name]
		failed[s.name] = failed1[s.name] - failed[s.name]
	}
	all.t.Logf("%s: acknowledged %v", what, acked)
	return acked, failed
}

// mustCall waits until each client made n calls more.
func (all *crowd) mustCall(n int64, what string) {
	all.t.Helper()
	targets := make([]int64, len(all.all))
	for i, c := range all.all {
		targets[i] = c.calls() + n
	}
	for i, c := range all.all {
		await.That(all.t, fmt.Sprintf("client %d stores on, after: %s", c.number, what), func() bool { return c.calls() >= targets[i] })
	}
}

// mustStore expects some stores of these shapes to be acknowledged, and no others.
func (all *crowd) mustStore(what string, names ...string) {
	all.t.Helper()
	acked, _ := all.mustGoOn(what)
	for _, s := range shapes {
		wanted := strings.Contains(" "+strings.Join(names, " ")+" ", " "+s.name+" ")
		if stored := acked[s.name] > 0; stored != wanted {
			all.t.Errorf("%s: %d stores of %s were acknowledged; one client was told last: %s", what, acked[s.name], s.name, *all.all[0].last.Load())
		}
	}
}

// readsMemory is what the second version needs, and the first does not ask for.
var readsMemory = abi.Request{Name: abi.CanMemoryRead, Scope: []string{"*"}, Reason: "to look memories up"}

// redactorModules packs the versions of the family redactor: in long runs, where its compiler is installed, the example as
// 1.0.0, and otherwise the code of the later one, 2.0.0. Version 3.0.0 always traps.
func redactorModules(t *testing.T) (one, two, broken string, example bool) {
	t.Helper()
	dir := t.TempDir()
	manifest, err := os.ReadFile("../../guests/examples/redactor/manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	pack := func(raw []byte, version string, asks ...abi.Request) string {
		var m map[string]any
		if err := json.Unmarshal(manifest, &m); err != nil {
			t.Fatal(err)
		}
		if m["version"] = version; len(asks) > 0 {
			m["capabilities"] = asks
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		packed, err := sandbox.Pack(raw, text)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, version+".wasm")
		if err := os.WriteFile(path, packed, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-buildmode=c-shared", "-ldflags=-s -w", "-o", filepath.Join(dir, "go.raw"), "./testdata/redactor")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	later := built(t, build, filepath.Join(dir, "go.raw"))
	if os.Getenv("ALCOVE_STRESS") == "" {
		t.Log("the first version is the later one's code, too: ALCOVE_STRESS=1m takes the example in Rust, whose build takes half a minute of processor time")
		return pack(later, "1.0.0"), pack(later, "2.0.0", readsMemory), pack(trapping(), "3.0.0"), false
	}
	rust := exec.Command("sh", "../../sdk/compilers.sh", "rust", "../../guests/examples/redactor/build.sh")
	rust.Env = append(os.Environ(), "OUT="+filepath.Join(dir, "rust.raw"))
	first := built(t, rust, filepath.Join(dir, "rust.raw"))
	if example = first != nil; !example {
		first = later
	}
	return pack(first, "1.0.0"), pack(later, "2.0.0", readsMemory), pack(trapping(), "3.0.0"), example
}

// built runs a build command and returns its output file; nil, with the reason in the log, if its compiler is not installed.
func built(t *testing.T, build *exec.Cmd, out string) []byte {
	t.Helper()
	said, err := build.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 77 {
		t.Logf("not built: %s", bytes.TrimSpace(said))
		return nil
	}
	if err != nil {
		t.Fatalf("run %s: %v\n%s", build, err, said)
	}
	raw, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// filesWith returns the files below a directory that have a text.
func filesWith(t *testing.T, dir, text string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(text)) {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Whatever an operator does with a redactor, and however its server ends, no store of eight clients is acknowledged whose secret is
// anywhere afterwards. It takes seconds because it compiles, kills servers, and every store waits for the disk.
func TestNoStoreIsAcknowledgedWhoseSecretWasNotRedacted(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds guests and kills servers, which takes a while")
	}
	t.Parallel()
	s := &testServer{t: t, dir: dataDir(t)}
	one, two, broken, example := redactorModules(t)
	s.mustRun("store", "before", "it was "+inClear)
	s.mustRun("branch", "fork", "aside")
	s.mustRun("branch", "create", "apart")
	s.mustRun("store", "before", "it was another", "--branch", "apart")
	s.mustRun("family", "install", one)
	s.mustRun("family", "grant", "redactor", "--all", "--hook", "store")

	all := startCrowd(s, 8)
	plain := []string{"text", "object", "tags", "metadata", "items", "branch", "operation", "version", "resolution"}
	first, second := append([]string{"look", "panic"}, plain...), append([]string{"look"}, plain...)
	if !example {
		first = plain // the later version, whose manifest asks for nothing
	}
	kill := func() { killOwner(t, s.dir) }
	all.mustStore("the first version", first...)
	s.mustRun("family", "update", "redactor", two)
	all.mustStore("an update, which nobody approved yet", first...)
	kill()
	all.mustStore("a killed server, after the update", first...)
	s.mustRun("family", "grant", "redactor", "--hook", "store")
	all.mustStore("the second version, which lacks a capability", plain...)
	s.mustRun("family", "grant", "redactor", "memory.read")
	all.mustStore("the second version", second...)
	s.mustRun("family", "update", "redactor", broken)
	all.mustStore("an update that would trap", second...)
	s.mustRun("family", "grant", "redactor", "--hook", "store")
	all.mustStore("a version that traps")
	kill()
	all.mustStore("a killed server, with the version that traps")
	s.mustRun("family", "rollback", "redactor")
	all.mustStore("a rollback", second...)
	s.mustRun("family", "install", one)
	all.mustStore("an older version over a newer one", second...)
	kill()
	all.mustStore("a killed server, after the installation", second...)
	s.mustRun("family", "grant", "redactor", "--hook", "store")
	all.mustStore("the older version", first...)
	for range 10 { // between versions that were both approved
		s.mustRun("family", "rollback", "redactor")
	}
	all.mustStore("many rollbacks", first...)
	all.stop()
	mustBeClean(t, s, all)
}

// mustBeClean looks for secrets in all that can be read: exports, searches, the feed, files and backups.
func mustBeClean(t *testing.T, s *testServer, all *crowd) {
	t.Helper()
	acked := 0
	exported := s.mustRun("export")
	for _, c := range all.all {
		acked += len(c.keys)
		for _, key := range c.keys {
			if !strings.Contains(exported, `"`+key+`"`) && !strings.HasPrefix(key, "version") && !strings.HasPrefix(key, "resolution") {
				t.Errorf("the store of %s was acknowledged, and is not exported", key)
			}
		}
	}
	t.Logf("%d stores were acknowledged", acked)
	read := map[string]string{"the export": exported}
	for _, branch := range []string{"default", "aside"} {
		for name, word := range map[string]string{"the secret": hunter, "what is in clear": inClear} {
			read["a search for "+name+" on "+branch] = s.mustRun("search", word, "--branch", branch)
		}
	}
	c := newClient(t, s.dir)
	read["histories"] = string(c.ask("tools/call", toolCall("memory_history", map[string]any{"key": "version -7"})))
	read["the feed"] = string(c.ask("tools/call", toolCall("memory_poll_events", map[string]any{"since": 0})))
	backup := filepath.Join(t.TempDir(), "backup")
	s.mustRun("backup", backup)
	read["a restored backup"] = restoredExport(t, backup)
	for what, text := range read {
		if strings.Contains(text, hunter) {
			t.Errorf("the secret is in %s: %.2000s", what, around(text, hunter))
		}
	}
	for what, text := range map[string]string{"the export": read["the export"], "a restored backup": read["a restored backup"], "a search": read["a search for what is in clear on default"]} {
		if !strings.Contains(text, inClear) {
			t.Errorf("%s does not show what was stored in clear: %.2000s", what, text)
		}
	}
	stopOwner(t, s.dir)
	if len(filesWith(t, s.dir, inClear)) == 0 {
		t.Error("no file has what was stored in clear")
	}
	if leaks := filesWith(t, filepath.Dir(s.dir), hunter); len(leaks) > 0 {
		t.Errorf("the secret is in %v", leaks)
	}
}

func restoredExport(t *testing.T, backup string) string {
	t.Helper()
	other := &testServer{t: t, dir: dataDir(t)}
	other.mustRun("restore", backup)
	return other.mustRun("export")
}

// around is what stands before and after a text.
func around(all, text string) string {
	at := strings.Index(all, text)
	return all[max(0, at-300):min(len(all), at+300)]
}
