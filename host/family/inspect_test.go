package family

import (
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/testing/await"
)

// passes counts how often modules were hashed, by their digests.
type passes struct {
	mu sync.Mutex
	of map[string]int
}

func (p *passes) hash(data []byte) sandbox.Binary {
	b := sandbox.Hash(data)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil {
		p.of = map[string]int{}
	}
	p.of[b.Digest()]++
	return b
}

func (p *passes) want(t testing.TB, when string, want map[string]int) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !maps.Equal(p.of, want) {
		t.Errorf("%s: hashed were %v, not %v", when, p.of, want)
	}
}

// counted opens an approved directory, in a locked server that counts.
func (a approval) counted(t *testing.T, p *passes) *world {
	t.Helper()
	return openIn(t, a.dir, func(o *Options) { o.Locked, o.modules.Hash = true, p.hash })
}

// compiled has the approved module compiled, so that its code is in the cache.
func (a approval) compiled(t *testing.T) approval {
	t.Helper()
	t.Run("compilation", func(t *testing.T) {
		if got := openIn(t, a.dir, nil).says("notes_do"); got != "1" {
			t.Fatalf("it says %s", got)
		}
	})
	return a
}

// again loads a family once more and returns the answer of its tool.
func (w *world) again(name string) string {
	w.t.Helper()
	if err := w.catalogue.Known(name).Unload(); err != nil {
		w.t.Fatal(err)
	}
	return w.says(name + "_do")
}

func (a approval) path() string {
	return filepath.Join(a.dir, modules.Folder, a.digest()+modules.Extension)
}

func TestASignedModuleIsHashedOnceAProcess(t *testing.T) {
	a := approve(t).compiled(t)
	p := &passes{}
	w := a.counted(t, p)
	p.want(t, "at the start", map[string]int{a.digest(): 1})
	for range 3 {
		if got := w.again("notes"); got != "1" {
			t.Errorf("it says %s", got)
		}
		w.catalogue.Scan()
	}
	p.want(t, "after three loads", map[string]int{a.digest(): 1})
}

func TestAnInstallationHashesWhatItReceivesAndWhatItWrote(t *testing.T) {
	approve(t).compiled(t) // the same bytes, in another directory
	p := &passes{}
	w := open(t, func(o *Options) { o.modules.Hash = p.hash })
	m, s := notesOf("1.1.0", `1`)
	module := signedBy(t, pack(t, m, s), 1)
	for range 2 {
		if _, err := w.InstallFrom(Installation{Module: module}); err != nil {
			t.Fatal(err)
		}
		if got := w.again("notes"); got != "1" {
			t.Errorf("it says %s", got)
		}
	}
	p.want(t, "after a second installation, which wrote nothing", map[string]int{modules.Digest(module): 3})
}

func TestAFileThatIsReplacedByTheSameBytesIsHashedAgainAndRuns(t *testing.T) {
	a := approve(t).compiled(t)
	p := &passes{}
	w := a.counted(t, p)
	module := []byte(read(t, a.path()))
	a.replace(module)
	for range 2 {
		if got := w.again("notes"); got != "1" {
			t.Errorf("it says %s", got)
		}
	}
	p.want(t, "after it was replaced", map[string]int{a.digest(): 2})
}

// TestAModuleThatIsSwappedBetweenLoadsIsRefused swaps a module under a locked server, and puts it back.
func TestAModuleThatIsSwappedBetweenLoadsIsRefused(t *testing.T) {
	a := approve(t).compiled(t)
	p := &passes{}
	w := a.counted(t, p)
	m, s := notesOf("1.1.0", `2`)
	good, other := []byte(read(t, a.path())), signedBy(t, pack(t, m, s), 1)
	a.replace(other)
	for range 2 {
		if got := w.again("notes"); !strings.Contains(got, "its SHA-256 is "+modules.Digest(other)+", not "+modules.Digest(good)) {
			t.Errorf("the other module in its place: %s", got)
		}
	}
	p.want(t, "after two refusals", map[string]int{modules.Digest(good): 1, modules.Digest(other): 1})
	a.replace(good)
	if got := w.again("notes"); got != "1" {
		t.Errorf("it was put back: %s", got)
	}
}

// rewriteInPlace changes a byte of a file, whose size, inode and time of modification stay.
func rewriteInPlace(t *testing.T, path string) (before, after os.FileInfo) {
	t.Helper()
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	data := []byte(read(t, path))
	data[len(data)-3] ^= 1
	await.That(t, "the clock of the file system goes on", func() bool { // it ticks every few milliseconds
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, before.ModTime()); err != nil {
			t.Fatal(err)
		}
		if after, err = os.Stat(path); err != nil {
			t.Fatal(err)
		}
		return modules.ChangedAt(after).IsZero() || !modules.ChangedAt(after).Equal(modules.ChangedAt(before))
	})
	if !after.ModTime().Equal(before.ModTime()) || after.Size() != before.Size() || !os.SameFile(before, after) {
		t.Fatalf("the file differs: %v, %v", before, after)
	}
	return before, after
}

func TestARewriteWithTheSameSizeAndTimeIsNoticedAtTheNextLoad(t *testing.T) {
	a := approve(t).compiled(t)
	w := a.counted(t, &passes{})
	_, after := rewriteInPlace(t, a.path())
	if modules.ChangedAt(after).IsZero() {
		t.Skip("this system does not tell when a file was changed")
	}
	if got := w.again("notes"); !strings.Contains(got, "its SHA-256 is ") {
		t.Errorf("it says %s", got)
	}
}

// TestARewriteThatNothingTellsNeverRuns makes a rewritten file count as unchanged, as on a system without times of change: the approved
// code runs on, and once the bytes are needed they are refused.
func TestARewriteThatNothingTellsNeverRuns(t *testing.T) {
	a := approve(t)
	cache := filepath.Join(t.TempDir(), "cache")
	box, err := sandbox.New(sandbox.Config{Cache: sandbox.Cache{Dir: cache}})
	if err != nil {
		t.Fatal(err)
	}
	w := openIn(t, a.dir, func(o *Options) {
		o.Locked, o.Sandbox = true, box
		o.modules.ChangedAt = func(os.FileInfo) time.Time { return time.Time{} }
	})
	if got := w.says("notes_do"); got != "1" {
		t.Fatalf("it says %s", got)
	}
	rewriteInPlace(t, a.path())
	if got := w.again("notes"); got != "1" {
		t.Errorf("from the cache: %s", got)
	}
	for _, kind := range []string{"admitted", "bodies", "code"} {
		if err := os.RemoveAll(filepath.Join(cache, kind)); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.again("notes"); !strings.Contains(got, "its SHA-256 is ") {
		t.Errorf("without the cache: %s", got)
	}
	if got := w.again("notes"); !strings.Contains(got, "its SHA-256 is ") {
		t.Errorf("once it was seen: %s", got)
	}
}

// TestTwoVersionsThatLoadOneFileAtOnceHashItOnce loads a family and the version of it that serves a hook, which have the same file.
func TestTwoVersionsThatLoadOneFileAtOnceHashItOnce(t *testing.T) {
	a := approve(t).compiled(t)
	p := &passes{}
	w := a.counted(t, p)
	a.replace([]byte(read(t, a.path())))
	x := w.catalogue.Known("notes")
	kept := *x.Version
	kept.Source = grants.Approved
	guard := catalogue.NewFamily(&kept, w.modules.ApprovedOrigin(x.Digest))
	var all sync.WaitGroup
	for _, x := range []*catalogue.Family{x, guard, x, guard} {
		all.Go(func() {
			m, err := w.catalogue.Admit(t.Context(), x)
			if err != nil {
				t.Error(err)
				return
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	p.want(t, "after four loads at once", map[string]int{a.digest(): 2})
}

func TestWhatIsKnownOfAModuleRetainsNoneOfItsBytes(t *testing.T) {
	m, s := notesOf("1.1.0", `1`)
	module := signedBy(t, pack(t, m, s), 1)
	seen := modules.Examine(module, nil, sandbox.Hash)
	before, err := seen.Signed(nil)
	if err != nil || before.None() {
		t.Fatalf("signed: %v, want a signature", err)
	}
	section := string(seen.Section)
	clear(module)
	after, err := seen.Signed(nil)
	if err != nil || after.None() || string(seen.Section) != section {
		t.Errorf("it was in the module's memory: %v", err)
	}
}

// BenchmarkVerification compares the verification of a module of 8 MB with SHA-256 of its bytes in memory, in turns: what the first look
// at its file costs, unsigned and signed, and what each later load does. The times are the fastest by the wall clock, as a busy machine adds
// to all others.
func BenchmarkVerification(b *testing.B) {
	const size = 8 << 20
	m := aFamily("notes")
	m.Version = "1.1.0"
	unsigned := padded(pack(b, m, script{says: `1`}), size)
	for name, keys := range map[string][]byte{"unsigned": nil, "signed": {1}} {
		module := signedBy(b, unsigned, keys...)
		path := putModule(b, b.TempDir(), module)
		b.Run("once/"+name, func(b *testing.B) { benchmarkFirstLook(b, path, module) })
	}
	b.Run("load", func(b *testing.B) { benchmarkLaterLoad(b, unsigned) })
}

// padded appends a custom section of random bytes to a module.
func padded(module []byte, size int) []byte {
	content := append([]byte{3, 'p', 'a', 'd'}, make([]byte, size)...)
	random := rand.NewChaCha8([32]byte{})
	random.Read(content[4:])
	out := binary.AppendUvarint(append(module, 0), uint64(len(content)))
	return append(out, content...)
}

func benchmarkFirstLook(b *testing.B, path string, module []byte) {
	looked, hashed := time.Hour, time.Hour
	for b.Loop() {
		began := time.Now()
		seen, err := modules.New(modules.Options{}).Inspect(path, nil)
		looked = min(looked, time.Since(began))
		if err != nil || seen.Fault != nil {
			b.Fatalf("inspect: %v, fault %v", err, seen.Fault)
		}
		began = time.Now()
		again := sandbox.Hash(module)
		hashed = min(hashed, time.Since(began))
		if again.Digest() != seen.Digest {
			b.Fatal("it has another digest")
		}
	}
	megabytes := float64(len(module)) / 1e6
	b.ReportMetric(looked.Seconds()*1e3/megabytes, "ms/MB")
	b.ReportMetric(hashed.Seconds()*1e3/megabytes, "sha256-ms/MB")
	b.ReportMetric(looked.Seconds()/hashed.Seconds(), "of-sha256")
}

// benchmarkLaterLoad loads a family again and again. Its code stays in memory, as another load of it is kept.
func benchmarkLaterLoad(b *testing.B, module []byte) {
	w := open(b, nil)
	if _, err := w.Install(module); err != nil {
		b.Fatal(err)
	}
	x := w.catalogue.Known("notes")
	kept, err := w.catalogue.Admit(b.Context(), x)
	if err != nil {
		b.Fatal(err)
	}
	defer kept.Close()
	verified, loaded := time.Hour, time.Hour
	for b.Loop() {
		began := time.Now()
		if digest, err := x.Origin.Digest(); err != nil || digest != x.Digest {
			b.Fatalf("digest = %s, %v, want %s", digest, err, x.Digest)
		}
		verified = min(verified, time.Since(began))
		began = time.Now()
		m, err := w.catalogue.Admit(b.Context(), x)
		if err != nil {
			b.Fatal(err)
		}
		loaded = min(loaded, time.Since(began))
		if err := m.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(verified.Seconds()*1e3, "verified-ms/load")
	b.ReportMetric(loaded.Seconds()*1e3, "whole-ms/load")
}
