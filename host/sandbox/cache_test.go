package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/must"
)

// otherCode is a module whose code is not that of acts.wat.
func otherCode(t testing.TB) []byte {
	t.Helper()
	module, err := Pack(smallest(func(m *wasm.Module) { m.Codes[0].Body = []byte{0x41, 0x01, 0x0b} }), []byte(smallManifest))
	must.Do(t, err)
	return module
}

// fill admits modules, so that the cache has them.
func fill(t testing.TB, config Config, modules ...[]byte) {
	t.Helper()
	s, err := New(config)
	must.Do(t, err)
	for _, m := range modules {
		_, err := s.Admit(context.Background(), m, Options{})
		must.Do(t, err)
	}
	must.Do(t, s.Close())
}

// fromCache reports whether a module is admitted although its bytes cannot be read and the compiler is missing.
func fromCache(t testing.TB, config Config, module []byte) bool {
	t.Helper()
	config.Compiler.Path = filepath.Join(t.TempDir(), "no compiler")
	s, err := New(config)
	must.Do(t, err)
	manifest, err := ManifestBytes(module)
	must.Do(t, err)
	unread := errors.New("its bytes are needed")
	m, err := s.AdmitSource(context.Background(), Source{hexDigest(module), manifest, func() (Binary, error) { return Binary{}, unread }}, Options{})
	if err != nil && !errors.Is(err, unread) {
		t.Errorf("it is not read anew: %v", err)
	}
	if err == nil {
		if r := ask(t, m, "c"); r.Class != abi.ClassOK && r.Class != abi.ClassAnswer && r.Class != abi.ClassError {
			t.Errorf("class %s, %v, want %s, %s or %s", r.Class, r.Error, abi.ClassOK, abi.ClassAnswer, abi.ClassError)
		}
	}
	must.Do(t, s.Close())
	return err == nil
}

func entries(t testing.TB, config Config, kind string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(config.Cache.Dir, kind, "*"))
	must.Do(t, err)
	return files
}

// onlyEntry is the one file of a kind.
func onlyEntry(t testing.TB, config Config, kind string) string {
	t.Helper()
	files := entries(t, config, kind)
	if len(files) != 1 {
		t.Fatalf("%s has %q", kind, files)
	}
	return files[0]
}

func TestForgedEntriesAreCompiledAgain(t *testing.T) {
	config := testConfig(t)
	module := packedAs(t, "notes", "")
	fill(t, config, module)
	for _, kind := range []string{dirCode, dirAdmitted} {
		path := onlyEntry(t, config, kind)
		good, err := os.ReadFile(path)
		must.Do(t, err)
		for name, bad := range map[string][]byte{
			"empty": {}, "shorter than a MAC": good[:20], "one byte less": good[:len(good)-1], "one byte more": append(bytes.Clone(good), 0),
			"its first half": good[:len(good)/2], "without a MAC": good[:len(good)-32], "twice": append(bytes.Clone(good), good...),
		} {
			must.Do(t, os.WriteFile(path, bad, 0o600))
			if fromCache(t, config, module) {
				t.Errorf("%s: %s ran", kind, name)
			}
			if left, err := os.ReadFile(path); err == nil && bytes.Equal(left, bad) {
				t.Errorf("%s: %s is still there", kind, name)
			}
		}
		for at := 0; at < len(good); at += max(1, len(good)/97) {
			bad := bytes.Clone(good)
			bad[at] ^= 1 << (at % 8)
			must.Do(t, os.WriteFile(path, bad, 0o600))
			if fromCache(t, config, module) {
				t.Errorf("%s: it ran with byte %d changed", kind, at)
			}
		}
		must.Do(t, os.WriteFile(path, good, 0o600))
		if !fromCache(t, config, module) {
			t.Errorf("%s: as it was, it is not used", kind)
		}
	}
}

func TestEntriesOfTwoModulesCannotBeExchanged(t *testing.T) {
	for _, kind := range []string{dirCode, dirAdmitted} {
		config := testConfig(t)
		a, b := packedAs(t, "notes", ""), otherCode(t)
		fill(t, config, a, b)
		files := entries(t, config, kind)
		if len(files) != 2 {
			t.Fatalf("%s has %q", kind, files)
		}
		must.Do(t, os.Rename(files[0], files[0]+"x"))
		must.Do(t, os.Rename(files[1], files[0]))
		must.Do(t, os.Rename(files[0]+"x", files[1]))
		for i, m := range [][]byte{a, b} {
			if fromCache(t, config, m) {
				t.Errorf("%s: module %d ran with the entry of the other", kind, i)
			}
		}
		fill(t, config, a, b)
		for i, m := range [][]byte{a, b} {
			if !fromCache(t, config, m) {
				t.Errorf("%s: module %d was not compiled again", kind, i)
			}
		}
	}
}

func TestEntriesOfAnotherKeyAreCompiledAgain(t *testing.T) {
	config := testConfig(t)
	config.Cache.Key = filepath.Join(t.TempDir(), "config", "key")
	module := packedAs(t, "notes", "")
	fill(t, config, module)
	foreign := config
	foreign.Cache.Key = filepath.Join(t.TempDir(), "key")
	if fromCache(t, foreign, module) {
		t.Error("an entry of another key ran")
	}
	fill(t, foreign, module)
	must.Do(t, os.Remove(foreign.Cache.Key)) // lost
	if fromCache(t, foreign, module) {
		t.Error("an entry ran whose key is lost")
	}
	fill(t, foreign, module)
	if !fromCache(t, foreign, module) {
		t.Error("with a new key nothing is kept")
	}
	if info, err := os.Stat(config.Cache.Key); err != nil || info.Mode().Perm() != 0o600 || info.Size() != keyBytes {
		t.Errorf("the key is %v, %v", info, err)
	}
}

// With another module's body a family would run that module's code.
func TestBodiesOfTwoModulesCannotBeExchanged(t *testing.T) {
	config := testConfig(t)
	a, b := packedAs(t, "notes", ""), otherCode(t)
	fill(t, config, a, b)
	files := entries(t, config, dirBodies)
	if len(files) != 2 {
		t.Fatalf("there are %q", files)
	}
	must.Do(t, errors.Join(os.Rename(files[0], files[0]+"x"), os.Rename(files[1], files[0]), os.Rename(files[0]+"x", files[1])))
	for _, path := range entries(t, config, dirAdmitted) {
		must.Do(t, os.Remove(path))
	}
	m, err := newSandbox(t, config).Admit(t.Context(), a, Options{})
	must.Do(t, err)
	if r := ask(t, m, "c"); string(r.Output) != "1121" {
		t.Errorf("it answers %q", r.Output)
	}
}

// Without the key, entries that another user forged under the right names are rejected.
func TestAForgedEntryIsNotRun(t *testing.T) {
	config := testConfig(t)
	module := packedAs(t, "notes", "")
	fill(t, config, module)
	forger := &cache{dir: config.Cache.Dir, key: make([]byte, keyBytes), most: defaultCacheBytes}
	for _, kind := range []string{dirCode, dirAdmitted} {
		path := onlyEntry(t, config, kind)
		good, err := os.ReadFile(path)
		must.Do(t, err)
		must.Do(t, forger.put(kind, filepath.Base(path), func(w io.Writer) error {
			_, err := w.Write(good[:len(good)-32])
			return err
		}))
		if fromCache(t, config, module) {
			t.Errorf("a forged entry of %s was used", kind)
		}
		must.Do(t, os.WriteFile(path, good, 0o600))
	}
}

func TestAnEntryOfAnotherKindIsNotAuthentic(t *testing.T) {
	config := testConfig(t)
	fill(t, config, packedAs(t, "notes", ""))
	key, err := readKey(config.Cache.Dir + ".key")
	must.Do(t, err)
	c := &cache{dir: config.Cache.Dir, key: key, most: defaultCacheBytes}
	from := onlyEntry(t, config, dirAdmitted)
	data, err := os.ReadFile(from)
	must.Do(t, err)
	must.Do(t, os.WriteFile(c.path(dirCode, filepath.Base(from)), data, 0o600))
	err = c.get(dirCode, filepath.Base(from), func(r io.Reader, _ int64) error { _, err := io.Copy(io.Discard, r); return err })
	if !errors.Is(err, errNoEntry) {
		t.Errorf("get of an entry of another kind: %v, want errNoEntry", err)
	}
}

func TestACacheThatOthersCanWriteIsNotUsed(t *testing.T) {
	module := packedAs(t, "notes", "")
	for name, c := range map[string]struct {
		spoil func(t *testing.T, dir string)
		says  string
	}{
		"the group can enter": {func(t *testing.T, dir string) { must.Do(t, errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o750))) }, "chmod 700"},
		"all can write":       {func(t *testing.T, dir string) { must.Do(t, errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o777))) }, "chmod 700"},
		"all can write entries": {func(t *testing.T, dir string) {
			must.Do(t, errors.Join(os.MkdirAll(filepath.Join(dir, dirCode), 0o700), os.Chmod(filepath.Join(dir, dirCode), 0o777)))
		}, "chmod 700"},
		"it is a link":               {func(t *testing.T, dir string) { must.Do(t, os.Symlink(t.TempDir(), dir)) }, "not a directory"},
		"it is a file":               {func(t *testing.T, dir string) { must.Do(t, os.WriteFile(dir, nil, 0o600)) }, "not a directory"},
		"all can write far above it": {func(t *testing.T, dir string) { must.Do(t, os.Chmod(filepath.Dir(filepath.Dir(dir)), 0o777)) }, "chmod go-w"},
		"the key is a link": {func(t *testing.T, dir string) {
			must.Do(t, os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), dir+".key"))
		}, "not a regular file"},
		"the key is a directory": {func(t *testing.T, dir string) { must.Do(t, os.Mkdir(dir+".key", 0o700)) }, "not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			var said bytes.Buffer
			config := testConfig(t)
			config.Log = slog.New(slog.NewTextHandler(&said, nil))
			config.Cache.Dir = filepath.Join(t.TempDir(), "far above", "above", "cache")
			must.Do(t, os.MkdirAll(filepath.Dir(config.Cache.Dir), 0o700))
			c.spoil(t, config.Cache.Dir)
			fill(t, config, module)
			if !strings.Contains(said.String(), "going on without a cache") || !strings.Contains(said.String(), c.says) {
				t.Errorf("it says %q, want %q", &said, c.says)
			}
			if fromCache(t, config, module) {
				t.Error("something was kept")
			}
		})
	}
}

func TestAKeyThatOthersCanReadIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	key, err := readKey(path)
	must.Do(t, err)
	again, err := readKey(path)
	must.Do(t, err)
	if !bytes.Equal(key, again) || len(key) != keyBytes {
		t.Errorf("the key is %x, then %x", key, again)
	}
	for name, spoil := range map[string]func() error{
		"readable": func() error { return os.Chmod(path, 0o644) },
		"cut off":  func() error { return os.Truncate(path, 7) },
		"empty":    func() error { return os.Truncate(path, 0) },
		"longer":   func() error { return os.WriteFile(path, make([]byte, 100), 0o600) },
	} {
		must.Do(t, spoil())
		fresh, err := readKey(path)
		must.Do(t, err)
		if bytes.Equal(fresh, key) || len(fresh) != keyBytes {
			t.Errorf("%s: the key is %x after %x", name, fresh, key)
		}
		key = fresh
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestConcurrentProcessesCreateOneKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	var all sync.WaitGroup
	keys := make([][]byte, 16)
	for i := range keys {
		all.Go(func() {
			key, err := readKey(path)
			if err != nil {
				t.Error(err)
			}
			keys[i] = key
		})
	}
	all.Wait()
	for _, key := range keys {
		if !bytes.Equal(key, keys[0]) {
			t.Errorf("%x and %x", key, keys[0])
		}
	}
}

func TestOnlyRegularFilesOfTheUserAreUsed(t *testing.T) {
	module := packedAs(t, "notes", "")
	for name, spoil := range map[string]func(t *testing.T, path string){
		"a link to a good one": func(t *testing.T, path string) {
			elsewhere := filepath.Join(t.TempDir(), "entry")
			data, err := os.ReadFile(path)
			must.Do(t, errors.Join(err, os.WriteFile(elsewhere, data, 0o600), os.Remove(path), os.Symlink(elsewhere, path)))
		},
		"a directory":  func(t *testing.T, path string) { must.Do(t, errors.Join(os.Remove(path), os.Mkdir(path, 0o700))) },
		"all write it": func(t *testing.T, path string) { must.Do(t, os.Chmod(path, 0o666)) },
	} {
		for _, kind := range []string{dirCode, dirAdmitted} {
			config := testConfig(t)
			fill(t, config, module)
			spoil(t, onlyEntry(t, config, kind))
			if fromCache(t, config, module) {
				t.Errorf("%s: %s is used", kind, name)
			}
		}
	}
}

func TestTheCacheStaysWithinItsLimit(t *testing.T) {
	config := testConfig(t)
	old, other, used := packedAs(t, "notes", ""), otherCode(t), packedAs(t, "used", "")
	fill(t, config, old, other)
	for _, path := range slices.Concat(entries(t, config, dirCode), entries(t, config, dirBodies), entries(t, config, dirAdmitted)) {
		long := time.Now().Add(-48 * time.Hour)
		must.Do(t, os.Chtimes(path, long, long))
	}
	fill(t, config, used) // which renews the use of the first code
	config.Cache.Bytes = 0
	for _, path := range slices.Concat(entries(t, config, dirCode), entries(t, config, dirBodies), entries(t, config, dirAdmitted)) {
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) < time.Hour {
			config.Cache.Bytes += info.Size()
		}
	}
	fill(t, config)
	if !fromCache(t, config, used) {
		t.Error("what was used last is gone")
	}
	if fromCache(t, config, other) || fromCache(t, config, old) {
		t.Error("what was used longest ago is still there")
	}
	config.Cache.Bytes = 1
	fill(t, config, old)
	if files := slices.Concat(entries(t, config, dirCode), entries(t, config, dirBodies), entries(t, config, dirAdmitted)); len(files) > 0 {
		t.Errorf("in a cache of one byte are %q", files)
	}
}

func TestAnEvictedModuleInUseKeepsRunning(t *testing.T) {
	config := testConfig(t)
	s := newSandbox(t, config)
	m, err := s.Admit(t.Context(), packedAs(t, "notes", ""), Options{})
	must.Do(t, err)
	tiny := config
	tiny.Cache.Bytes = 1
	fill(t, tiny, otherCode(t))
	if n := len(entries(t, config, dirCode)); n > 0 {
		t.Fatalf("%d entries are left", n)
	}
	if r := ask(t, m, "c"); string(r.Output) != "1121" {
		t.Errorf("the evicted module: class %s, output %s, %v, want 1121", r.Class, r.Output, r.Error)
	}
	n, err := s.Admit(t.Context(), packedAs(t, "more", ""), Options{})
	must.Do(t, err)
	if r := ask(t, n, "c"); string(r.Output) != "1121" {
		t.Errorf("another module: class %s, output %s, %v, want 1121", r.Class, r.Output, r.Error)
	}
}

// asAdmitter makes the test binary admit a module from a cache repeatedly, while other processes evict it.
const asAdmitter = "ALCOVE_TEST_ADMITTER"

func admitter() int {
	dir := os.Getenv(asAdmitter)
	module, err := os.ReadFile(filepath.Join(dir, "module.wasm"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	os.Unsetenv(asAdmitter)
	program, _ := os.Executable()
	for i := range 12 {
		bytes := int64(0)
		if i%3 == 2 {
			bytes = 1 // evicts everything
		}
		s, err := New(Config{Cache: Cache{Dir: filepath.Join(dir, "cache"), Bytes: bytes}, Compiler: Compiler{Path: program, Args: []string{"-test.run=none"}, Env: []string{asCompiler + "=1"}}})
		if err == nil {
			var m *Module
			if m, err = s.Admit(context.Background(), module, Options{}); err == nil {
				var r *Result
				if r, err = m.Call(context.Background(), Request{Kind: abi.KindTool, Payload: []byte("c")}); err == nil && string(r.Output) != "1121" {
					err = fmt.Errorf("it answers %q: %v", r.Output, r.Error)
				}
			}
			err = errors.Join(err, s.Close())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return 0
}

func TestProcessesShareTheCacheWhileItIsEvicted(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "module.wasm"), packedAs(t, "notes", ""), 0o600))
	program, err := os.Executable()
	must.Do(t, err)
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			c := exec.Command(program, "-test.run=none")
			c.Env = append(os.Environ(), asAdmitter+"="+dir)
			if said, err := c.CombinedOutput(); err != nil {
				t.Errorf("a process that admits modules: %v\n%s", err, said)
			}
		})
	}
	all.Wait()
	if left, _ := filepath.Glob(filepath.Join(dir, "cache", dirWork, "*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "cache", "*", ".*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// A cleaner of temporary files may remove what a server made weeks ago, and others may then take its name.
func TestARemovedWorkspaceIsRecreated(t *testing.T) {
	config := testConfig(t)
	config.Cache, config.Scratch = Cache{}, []string{t.TempDir()}
	s := newSandbox(t, config)
	must.Do(t, os.RemoveAll(s.work.dir))
	if _, err := s.Admit(t.Context(), packedAs(t, "notes", ""), Options{}); err != nil {
		t.Error(err)
	}
	must.Do(t, os.RemoveAll(s.work.dir))
	must.Do(t, os.Mkdir(s.work.dir, 0o700))
	must.Do(t, os.Chmod(s.work.dir, 0o777))
	var failed *CompileError
	if _, err := s.Admit(t.Context(), otherCode(t), Options{}); !errors.As(err, &failed) || !strings.Contains(err.Error(), "chmod 700") {
		t.Errorf("Admit: %v, want a CompileError that says chmod 700", err)
	}
}

func TestAScratchDirectoryThatOthersCanWriteIsNotUsed(t *testing.T) {
	open, safe := filepath.Join(t.TempDir(), "open"), t.TempDir()
	must.Do(t, errors.Join(os.Mkdir(open, 0o700), os.Chmod(open, 0o777)))
	config := testConfig(t)
	config.Cache, config.Scratch = Cache{}, []string{open, safe}
	s := newSandbox(t, config)
	if filepath.Dir(s.work.dir) != safe {
		t.Errorf("it works in %s", s.work.dir)
	}
	config.Scratch = []string{open}
	if _, err := New(config); err == nil {
		t.Error("it works where others can exchange what it made")
	}
	if left, _ := filepath.Glob(filepath.Join(open, "*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestTheUsageOfACacheIsReportedWithoutChangingIt(t *testing.T) {
	config := testConfig(t)
	if u, err := CacheUse(config.Cache); err != nil || u.Modules != 0 || u.Bytes != 0 || u.Most != defaultCacheBytes {
		t.Errorf("of one that is not there: %+v, %v", u, err)
	}
	if _, err := os.Lstat(config.Cache.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it was made: %v", err)
	}
	fill(t, config, packedAs(t, "notes", ""), packedAs(t, "more", ""), otherCode(t))
	if u, err := CacheUse(config.Cache); err != nil || u.Modules != 2 || u.Bytes == 0 {
		t.Errorf("with two modules: %+v, %v", u, err)
	}
	must.Do(t, os.Chmod(config.Cache.Dir, 0o755))
	if _, err := CacheUse(config.Cache); err == nil || !strings.Contains(err.Error(), "chmod 700") {
		t.Errorf("of one that others can enter: %v", err)
	}
}
