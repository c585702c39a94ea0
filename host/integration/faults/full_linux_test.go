package faults_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/sdk/client"
)

const smallDisk = 6 << 20 // bytes

// smallMount mounts a small disk.
func smallMount(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=700", smallDisk)); err != nil {
		lacking(t, "a small disk cannot be mounted here, which needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// lacking skips a test because this machine lacks something, but fails it in CI, which must have it.
func lacking(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format+" (with CI=true this fails)", args...)
}

// fill leaves a disk no space, but for what was freed again by deleting the file that it returns.
func fill(t *testing.T, dir string) (filler string) {
	t.Helper()
	filler = filepath.Join(dir, "filler")
	f, err := os.Create(filler)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for {
		if _, err := f.Write(make([]byte, 4096)); errors.Is(err, syscall.ENOSPC) {
			return filler
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// full is a server on a disk that fills up.
type full struct {
	*crash
	session *client.Session
	acked   map[string]uint64
}

func (f *full) connect() {
	f.t.Helper()
	session, err := server.Session(f.t.Context(), f.Dial)
	if err != nil {
		f.t.Fatal(err)
	}
	f.session = session
	f.t.Cleanup(func() { session.Close() })
}

// store keeps something, of a size in bytes, and notes it when it is acknowledged.
func (f *full) storeSized(key string, size int) error {
	r, err := f.session.Call(context.Background(), "memory_store", map[string]any{"key": key, "value": key + " findable " + strings.Repeat("x", size)})
	var receipt struct{ Version uint64 }
	if err = errors.Join(err, server.Decode(r, &receipt)); err == nil {
		f.acked[key] = receipt.Version
	}
	return err
}

// mustRead makes sure that all that was acknowledged can be read, and found.
func (f *full) mustRead() {
	f.t.Helper()
	for key, version := range f.acked {
		r, err := f.session.Call(context.Background(), "memory_recall", map[string]any{"key": key})
		var found struct{ Version uint64 }
		if err = errors.Join(err, server.Decode(r, &found)); err != nil || found.Version != version {
			f.t.Fatalf("%s, acknowledged at version %d, is recalled at %d: %v", key, version, found.Version, err)
		}
	}
	r, err := f.session.Call(context.Background(), "memory_search", map[string]any{"query": "findable", "k": 1})
	if err != nil || !strings.Contains(string(r.Structured), "findable") {
		f.t.Fatalf("searched: %s %v", r.Text, err)
	}
	for _, tool := range []string{"memory_status", "memory_history"} {
		if _, err := f.session.Call(context.Background(), tool, map[string]any{}); err != nil {
			f.t.Fatalf("call %s: %v", tool, err)
		}
	}
}

// mustRefuse makes sure that every way to write says what is wrong.
func (f *full) mustRefuse() {
	f.t.Helper()
	for tool, args := range map[string]any{
		"memory_store": map[string]any{"key": "refused", "value": strings.Repeat("y", 50_000)},
		"memory_log":   map[string]any{"event": "refused", "data": strings.Repeat("y", 50_000)},
	} {
		_, err := f.session.Call(context.Background(), tool, args)
		f.mustBeFull(tool, err)
	}
	var err error
	for i := 0; err == nil; i++ { // small writes find a page now and then
		_, err = f.session.Call(context.Background(), "memory_branch", map[string]any{"action": "fork", "name": fmt.Sprint("b", time.Now().UnixNano())})
	}
	f.mustBeFull("memory_branch", err)
}

func (f *full) mustBeFull(tool string, err error) {
	f.t.Helper()
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Code != client.Exhausted || !refused.Retryable || !strings.Contains(refused.Message, "disk of the server is full") {
		f.t.Errorf("%s on a full disk: %v", tool, err)
	}
}

func TestAFullDiskRefusesWritesKeepsReadingAndGoesOnWhenThereIsSpace(t *testing.T) {
	t.Parallel()
	f := &full{crash: newCrashIn(t, smallMount(t)), acked: map[string]uint64{}}
	f.connect()
	for i := range 20 {
		if err := f.storeSized(fmt.Sprint("k", i), 10_000); err != nil {
			t.Fatal(err)
		}
	}
	filler := fill(t, f.Dir)
	var err error
	for i := 20; err == nil; i++ { // pages that are free in the file can still be used
		err = f.storeSized(fmt.Sprint("k", i), 2_000)
	}
	f.mustRefuse()
	f.mustRead()
	f.restartFull()
	f.mustRead()
	f.mustRefuse()
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if err := f.storeSized(fmt.Sprint("later", i), 10_000); err != nil {
			t.Fatalf("with space again: %v", err)
		}
	}
	f.mustRead()
	f.checkAll()
}

// restartFull kills the server while the disk is full: the next one must serve what there is.
func (f *full) restartFull() {
	f.t.Helper()
	f.Gate.Lock()
	h, _ := f.Kill()
	err := h.Close()
	f.Gate.Unlock()
	if err != nil {
		f.t.Logf("closed with: %v", err) // counters may find no space
	}
}

// checkAll kills the server and makes sure that its store is whole.
func (f *full) checkAll() {
	f.t.Helper()
	f.Gate.Lock()
	defer f.Gate.Unlock()
	h, engine := f.Kill()
	if err := engine.Check(f.t.Context()); err != nil {
		f.t.Error(err)
	}
	for key, version := range f.acked {
		m, err := server.Owner(h, "").Recall(f.t.Context(), memory.Location{}, key, memory.AsOf{})
		if err != nil || m == nil || m.Version != version {
			f.t.Errorf("%s, acknowledged at version %d, is %v (%v)", key, version, m, err)
		}
	}
	if err := h.Close(); err != nil {
		f.t.Error(err)
	}
}

// TestADirectoryOnAReadOnlyDiskIsServedReadOnly starts the server on a disk that not even root can write to.
func TestADirectoryOnAReadOnlyDiskIsServedReadOnly(t *testing.T) {
	t.Parallel()
	dir := smallMount(t)
	f := &full{crash: newCrashIn(t, dir), acked: map[string]uint64{}}
	f.connect()
	if err := f.storeSized("k0", 10); err != nil {
		t.Fatal(err)
	}
	f.Gate.Lock()
	defer f.Gate.Unlock()
	h, _ := f.Kill()
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	remount := func(flags uintptr) {
		t.Helper()
		await.That(t, "the disk can be mounted anew", func() bool {
			return syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|flags, "") == nil
		})
	}
	remount(syscall.MS_RDONLY)
	h, err := host.Open(t.Context(), host.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if m, err := server.Owner(h, "").Recall(t.Context(), memory.Location{}, "k0", memory.AsOf{}); err != nil || m == nil || m.Version != f.acked["k0"] {
		t.Errorf("recalled %v (%v)", m, err)
	}
	_, err = server.Owner(h, "").Store(t.Context(), memory.Location{}, []memory.Item{{Key: "k1", Value: []byte("1")}}, memory.Write{})
	if refused := (*memory.Error)(nil); !errors.As(err, &refused) || refused.Code != memory.Unavailable {
		t.Errorf("stored on a read-only disk: %v", err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	_, err = host.Open(t.Context(), host.Options{Dir: filepath.Join(dir, "new")})
	if err == nil || !strings.Contains(err.Error(), "read-only file system") || !strings.Contains(err.Error(), "--data") {
		t.Errorf("made a directory on a read-only disk: %v", err)
	}
	remount(0)
	h, err = host.Open(t.Context(), host.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}

func TestACompactionOnAFullDiskLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := smallMount(t)
	engine, err := bolt.Open(t.Context(), dir, bolt.Options{MapSize: 1 << 24})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	filler := fill(t, dir)
	for _, room := range []int64{0, 8 << 10, 64 << 10} { // for no page, a few, and most of the copy
		if info, err := os.Stat(filler); err != nil || os.Truncate(filler, info.Size()-room) != nil {
			t.Fatalf("make room for %d bytes: %v", room, err)
		}
		_, err := engine.Compact(t.Context())
		names, globErr := filepath.Glob(filepath.Join(dir, "alcove.db.*"))
		names = slices.DeleteFunc(names, func(name string) bool { return name == layout.Running(dir) })
		if globErr != nil || len(names) != 0 {
			t.Errorf("with room for %d bytes, compaction (%v) leaves %q, want nothing", room, err, names)
		}
		if room == 0 && err == nil {
			t.Error("a full disk has room for a copy")
		}
	}
}
