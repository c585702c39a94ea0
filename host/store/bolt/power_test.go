package bolt_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/testing/powerloss"
	"github.com/alcove-memory/alcove/host/testing/stress"
)

// The test binary is also the process whose power fails, and the one that looks at what is left: what a broken disk
// leaves may kill the latter.
const (
	powerWork  = "ALCOVE_TEST_POWER_WORK"  // the directory to work in
	powerFails = "ALCOVE_TEST_POWER_FAILS" // "yes": calls fail, so go on after errors
	powerSync  = "ALCOVE_TEST_POWER_SYNC"  // "no": without syncing the database
	powerCheck = "ALCOVE_TEST_POWER_CHECK" // the directory to look at; standard input has what was said
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(powerWork) != "":
		os.Exit(report(powerWorkload(os.Getenv(powerWork), os.Getenv(powerSync) == "no")))
	case os.Getenv(killedWork) != "":
		os.Exit(report(workUntilKilled(os.Getenv(killedWork))))
	case os.Getenv(powerCheck) != "":
		os.Exit(report(checkPower(os.Getenv(powerCheck), os.Stdin)))
	}
	os.Exit(runTests(m))
}

func report(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

const (
	powerWriters = 3
	powerPuts    = 25  // of each writer, in each of two lives of the engine
	powerRounds  = 40  // unless ALCOVE_POWER_ROUNDS says otherwise
	lyingRounds  = 120 // at most, until a lie of the disk is noticed

	keptBranch      store.BranchID = 1 // everything acknowledged on it must be there
	trimmedBranch   store.BranchID = 2 // its newest must be
	reclaimedBranch store.BranchID = 3 // it may go
)

// said tells the world, in one write. Calls that are made to fail may be this one: what was begun must be heard of all the same,
// or it is taken for something that nobody wrote.
func said(format string, args ...any) {
	for range 100 {
		if _, err := fmt.Fprintf(os.Stdout, format+"\n", args...); err == nil {
			return
		}
	}
}

// powerValue is what is written under a key, at times more than a page.
func powerValue(name string) []byte {
	sum := sha256.Sum256([]byte(name))
	return bytes.Repeat([]byte(hex.EncodeToString(sum[:])), 1+int(sum[0])%100)
}

// powerWorkload works in a directory, and says what it begins and what was acknowledged.
func powerWorkload(dir string, noSync bool) error {
	for life := range 2 {
		e, err := bolt.Open(context.Background(), dir, bolt.ExamineAfter(bolt.Options{MapSize: 1 << 16, NoSync: noSync}, time.Millisecond))
		for attempt := 0; err != nil && failing() && attempt < 100; attempt++ {
			e, err = bolt.Open(context.Background(), dir, bolt.Options{MapSize: 1 << 16})
		}
		if err != nil && failing() && life > 0 {
			return nil // it cannot be opened for writing any more
		}
		if err != nil {
			return err
		}
		var writers sync.WaitGroup
		var mu sync.Mutex
		for w := range powerWriters {
			writers.Go(func() {
				if putErr := powerWriter(e, life, w); putErr != nil {
					mu.Lock()
					defer mu.Unlock()
					err = errors.Join(err, putErr)
				}
			})
		}
		chores := powerChores(e, life)
		writers.Wait()
		if failing() {
			chores = nil
			err = errors.Join(err, e.Check(context.Background()))
		}
		end := e.Close
		if life == 0 { // the server is killed, and its machine goes on
			end = func() error { return bolt.Abandon(e) }
		}
		if err := errors.Join(err, chores, end()); err != nil {
			return err
		}
	}
	return nil
}

// failing reports whether calls of this process are made to fail, so that errors are no surprise.
func failing() bool { return os.Getenv(powerFails) == "yes" }

func powerWriter(e *bolt.Engine, life, writer int) error {
	for i := range powerPuts {
		name := fmt.Sprintf("%d/%d/%d", life, writer, i)
		done, err := e.Commit(context.Background(), powerBatch(name))
		if err != nil && failing() {
			said("refused %s %q", name, err)
			continue
		}
		if err != nil {
			return err
		}
		said("put %s %d", name, done.Version)
	}
	return nil
}

func powerBatch(name string) (b store.Batch) {
	for _, branch := range []store.BranchID{keptBranch, trimmedBranch, reclaimedBranch} {
		b.Writes = append(b.Writes,
			store.Write{Branch: branch, Key: stageKey(name), Value: powerValue(name)},
			store.Write{Branch: branch, Key: stageKey("shared"), Value: []byte(name)})
	}
	b.Note = []byte("of " + name)
	return b
}

// powerChores does what takes several steps, while the writers write.
func powerChores(e *bolt.Engine, life int) error {
	ctx := context.Background()
	for i := range 6 {
		name, content := fmt.Sprintf("blob%d", i%2), strings.Repeat(fmt.Sprint("content", life, i), 1000)
		said("blob-begun %s %x", name, sha256.Sum256([]byte(content)))
		blob, err := e.PutBlob(ctx, name, strings.NewReader(content))
		if err != nil {
			return err
		}
		said("blob %s %s", name, blob.Digest)
	}
	head, err := e.Head(ctx)
	if err != nil {
		return err
	}
	deep := store.Lineage{{Branch: trimmedBranch, At: head.Version}}
	for i := range 20 {
		deep = deep.Fork(store.BranchID(100 + 100*life + i)).At(head.Version + uint64(i))
	}
	said("reclaim-begun")
	_, compactErr := e.Compact(ctx)
	return errors.Join(
		e.Consolidate(ctx, deep),
		e.Trim(ctx, trimmedBranch, head.Version, []uint64{head.Version - 1}),
		e.Reclaim(ctx, reclaimedBranch),
		e.DropBlob(ctx, "blob1"),
		powerPurge(e, life),
		compactErr,
	)
}

// powerPurge stores something that nobody may see, and purges it.
func powerPurge(e *bolt.Engine, life int) error {
	secret := stageKey(fmt.Sprint("secret", life))
	if _, err := e.Commit(context.Background(), store.Batch{Writes: []store.Write{{Branch: keptBranch, Key: secret, Value: powerSecret(life)}}}); err != nil {
		return err
	}
	_, err := e.Purge(context.Background(), secret, func(store.Entry) ([]byte, bool) { return []byte("gone"), true })
	if err == nil {
		said("purged %d", life)
	}
	return err
}

func powerSecret(life int) []byte { return fmt.Appendf(nil, "SECRET NUMBER %d", life) }

// told is what the process had said.
type told struct {
	puts       map[string]uint64   // versions by name
	newest     uint64              // of them
	blobs      map[string][]string // digests that a name may have: the acknowledged one, and those begun since
	acked      map[string]bool     // names of blobs that must be there
	reclaiming bool
	refused    int
	purged     []int // lives
}

func hear(r io.Reader) (told, error) {
	t := told{puts: map[string]uint64{}, blobs: map[string][]string{}, acked: map[string]bool{}}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		var name, digest string
		var version uint64
		word, rest, _ := strings.Cut(lines.Text(), " ")
		var err error
		switch word {
		case "put":
			_, err = fmt.Sscan(rest, &name, &version)
			t.puts[name], t.newest = version, max(t.newest, version)
		case "blob-begun":
			_, err = fmt.Sscan(rest, &name, &digest)
			t.blobs[name] = append(t.blobs[name], digest)
		case "blob":
			_, err = fmt.Sscan(rest, &name, &digest)
			t.blobs[name], t.acked[name] = []string{digest}, true
		case "reclaim-begun":
			t.reclaiming = true
		case "purged":
			var life int
			_, err = fmt.Sscan(rest, &life)
			t.purged = append(t.purged, life)
		case "refused":
			t.refused++
		default:
			err = errors.New("unknown word")
		}
		if err != nil {
			return t, fmt.Errorf("hear %q: %w", lines.Text(), err)
		}
	}
	return t, lines.Err()
}

// checkPower opens what a power failure left, and makes sure that all that was acknowledged is there.
func checkPower(dir string, r io.Reader) error {
	heard, err := hear(r)
	if err != nil {
		return err
	}
	if err := heard.checkPurged(dir); err != nil {
		return err
	}
	e, err := bolt.Open(context.Background(), dir, bolt.Options{MapSize: 1 << 16})
	if err != nil {
		return err
	}
	err = errors.Join(heard.check(e), e.Check(context.Background()), probePower(e))
	return errors.Join(err, e.Close())
}

func (t told) check(e *bolt.Engine) error {
	var faults []error
	for name, version := range t.puts {
		at := store.Lineage{{Branch: keptBranch, At: version}}
		found, err := e.GetAt(context.Background(), at, []store.Key{stageKey(name), stageKey("shared")})
		switch {
		case err != nil:
			faults = append(faults, err)
		case found[0].Version != version || !bytes.Equal(found[0].Value, powerValue(name)):
			faults = append(faults, fmt.Errorf("lost: %s, acknowledged at version %d, is at %d", name, version, found[0].Version))
		case string(found[1].Value) != name:
			faults = append(faults, fmt.Errorf("lost: the other half of %s at version %d", name, version))
		}
	}
	faults = append(faults, t.checkNewest(e, trimmedBranch))
	if !t.reclaiming {
		faults = append(faults, t.checkNewest(e, reclaimedBranch))
	}
	for name := range t.acked {
		faults = append(faults, t.checkBlob(e, name))
	}
	return errors.Join(faults...)
}

// checkPurged makes sure that no file has a byte of what was purged.
func (t told) checkPurged(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		for _, life := range t.purged {
			if bytes.Contains(content, powerSecret(life)) {
				return fmt.Errorf("purged, and still in %s: %s", path, powerSecret(life))
			}
		}
		return err
	})
}

func (t told) checkNewest(e *bolt.Engine, branch store.BranchID) error {
	if t.newest == 0 {
		return nil
	}
	found, err := e.GetAt(context.Background(), store.Lineage{{Branch: branch, At: store.Latest}}, []store.Key{stageKey("shared")})
	if err == nil && found[0].Version < t.newest {
		err = fmt.Errorf("lost: branch %d is at version %d, acknowledged at %d", branch, found[0].Version, t.newest)
	}
	return err
}

func (t told) checkBlob(e *bolt.Engine, name string) error {
	if t.reclaiming && name == "blob1" {
		return nil // it may have been dropped
	}
	r, err := e.GetBlob(context.Background(), name)
	if err != nil {
		return fmt.Errorf("lost: %w", err)
	}
	h := sha256.New()
	_, err = io.Copy(h, io.NewSectionReader(r, 0, r.Size()))
	if digest := hex.EncodeToString(h.Sum(nil)); !strings.Contains(strings.Join(t.blobs[name], " "), digest) {
		err = errors.Join(err, fmt.Errorf("lost: %s has the digest %s, not one of %s", name, digest, t.blobs[name]))
	}
	return errors.Join(err, r.Close())
}

// probePower makes sure that work can go on.
func probePower(e *bolt.Engine) error {
	_, err := e.Commit(context.Background(), store.Batch{Writes: []store.Write{{Branch: keptBranch, Key: stageKey("probe"), Value: []byte("on")}}})
	return err
}

// recordPower records the workload, some calls of which may be made to fail.
func recordPower(t *testing.T, failing []string, environment ...string) *powerloss.Trace {
	t.Helper()
	if testing.Short() {
		t.Skip("what is traced is another process, which the race detector does not see: it runs in the long form")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	trace, err := powerloss.Record(t.Context(), powerloss.Command{Root: dir, Program: program, Failing: failing, Environment: append(environment, powerWork+"="+dir)})
	if errors.Is(err, powerloss.ErrUnavailable) && os.Getenv("CI") != "true" {
		t.Skipf("%v (with CI=true this fails)", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// lookAt looks at what a power failure left, in a process of its own.
func lookAt(t *testing.T, f *powerloss.Failure) error {
	t.Helper()
	dir := t.TempDir()
	defer os.RemoveAll(dir)
	if err := f.Leave(dir); err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	whole := f.Said[:bytes.LastIndexByte(f.Said, '\n')+1]
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), powerCheck+"="+dir)
	cmd.Stdin = bytes.NewReader(whole)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %.600s", err, out)
	}
	return nil
}

func rounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("ALCOVE_POWER_ROUNDS")
	if text == "" {
		return powerRounds
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("ALCOVE_POWER_ROUNDS: %v", err)
	}
	return n
}

func TestAPowerFailureLosesNothingThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	trace, n := recordPower(t, nil), rounds(t)
	seed := rand.Uint64()
	heard := 0
	err := trace.Failures(rand.New(rand.NewPCG(seed, 1)), n, nil, func(f *powerloss.Failure) error {
		heard = max(heard, bytes.Count(f.Said, []byte("\nput ")))
		return lookAt(t, f)
	})
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	if heard < powerWriters*powerPuts {
		t.Errorf("only %d writes were acknowledged", heard)
	}
	t.Logf("%d power failures among %d calls and up to %d acknowledged writes; none lost", n, trace.Calls(), heard)
}

// TestThePowerFailureTestNoticesDisksThatLie is what shows that the test can fail: with each kind of sync left out.
func TestThePowerFailureTestNoticesDisksThatLie(t *testing.T) {
	t.Parallel()
	honest, without := recordPower(t, nil), recordPower(t, nil, powerSync+"=no")
	for name, c := range map[string]struct {
		trace *powerloss.Trace
		lie   func(name string) bool
	}{
		"the engine does not sync its database":   {without, nil},
		"the disk ignores syncs of the database":  {honest, func(name string) bool { return strings.HasPrefix(name, "alcove.db") }},
		"the disk ignores syncs of blobs":         {honest, func(name string) bool { return filepath.Dir(name) == "blobs" }},
		"the disk ignores syncs of blobs' names":  {honest, func(name string) bool { return name == "blobs" }},
		"the disk ignores syncs of the directory": {honest, func(name string) bool { return name == "" }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := c.trace.Failures(rand.New(rand.NewPCG(1, 1)), lyingRounds, c.lie, func(f *powerloss.Failure) error { return lookAt(t, f) })
			if found == nil {
				t.Fatalf("%d power failures lost nothing, though they must have", lyingRounds)
			}
			t.Logf("noticed: %.300v", found)
		})
	}
}

// TestAFailingDiskLosesNothingThatWasAcknowledged makes calls of a real process fail now and then: writes are refused,
// the process goes on, and then its power fails too. Each day three ways to fail have their turn.
func TestAFailingDiskLosesNothingThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	ways := map[string][]string{
		"syncs fail":                {"fdatasync:error=EIO:when=5+11"},
		"many syncs fail":           {"fdatasync:error=EIO:when=4+6"},
		"syncs fail for ever":       {"fdatasync:error=EIO:when=8+1"},
		"writes fail":               {"pwrite64:error=EIO:when=20+37"},
		"there is no space":         {"pwrite64:error=ENOSPC:when=10+23", "write:error=ENOSPC:when=40+50"},
		"files and names fail":      {"fsync:error=EIO:when=2+5", "renameat:error=EIO:when=2+3"},
		"nothing works for a while": {"pwrite64,fdatasync,fsync,ftruncate:error=EROFS:when=60..90"},
	}
	for _, name := range stress.Pick(t, 3, slices.Sorted(maps.Keys(ways))) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			trace := recordPower(t, ways[name], powerFails+"=yes")
			var last []byte
			err := trace.Failures(rand.New(rand.NewPCG(rand.Uint64(), 1)), max(rounds(t)/4, 1), nil, func(f *powerloss.Failure) error {
				last = f.Said
				return lookAt(t, f)
			})
			if err != nil {
				t.Fatal(err)
			}
			heard, err := hear(bytes.NewReader(last[:bytes.LastIndexByte(last, '\n')+1]))
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d calls failed, %d writes were acknowledged and %d refused", trace.Failed(), len(heard.puts), heard.refused)
			if len(heard.puts) == 0 || trace.Failed() == 0 {
				t.Error("writes and failures are needed")
			}
		})
	}
}
