package bolt_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// contents is all that an engine says: each line is a thing that is true of the space.
func (s *stage) contents(e *bolt.Engine) map[string]bool {
	s.t.Helper()
	said := map[string]bool{}
	err := e.Dump(s.t.Context(), 0, s.head(e), func(p store.Piece) error {
		switch {
		case p.Point != nil:
			said[fmt.Sprintf("point %d %s", p.Point.Version, p.Point.Time)] = true
			if p.Note != nil {
				said[fmt.Sprintf("note %d %s", p.Point.Version, p.Note)] = true
			}
		case p.Branch != nil:
			said[fmt.Sprintf("branch %d from %d, and %v", p.Branch.ID, p.Branch.Floor.Version, p.Branch.Pins)] = true
		case p.Entry != nil:
			said[fmt.Sprintf("entry %d %s at version %d %t %s", p.Entry.Branch, p.Entry.Key, p.Entry.Version, p.Entry.Deleted, p.Entry.Value)] = true
		case p.Counter != nil:
			said[fmt.Sprintf("counter %d %s at version %d %s", p.Counter.Branch, p.Counter.Key, p.Counter.Version, p.Counter.Value)] = true
		}
		return nil
	})
	s.ok(err)
	for i := range 60 {
		done, found, err := e.Requested(s.t.Context(), store.Request{Caller: "c", ID: fmt.Sprint("r", i), Digest: [32]byte{1}})
		s.ok(err)
		if found {
			said[fmt.Sprintf("request r%d %d", i, done.Version)] = true
		}
	}
	increment, _ := pieces(s.t.(*testing.T), e, s.head(e))
	for _, p := range increment {
		if p.Entry != nil {
			said[fmt.Sprintf("purged %d %s at version %d", p.Entry.Branch, p.Entry.Key, p.Entry.Version)] = true
		}
	}
	return said
}

// lacks are what is not said any more; untrue, what is said and was not.
func lacks(before, after map[string]bool) (missing, untrue []string) {
	for line := range before {
		if !after[line] {
			missing = append(missing, line)
		}
	}
	for line := range after {
		if !before[line] {
			untrue = append(untrue, line)
		}
	}
	return missing, untrue
}

// flips is a store whose bytes are flipped, and what it says when it is whole.
type flips struct {
	*stage
	whole []byte
	says  map[string]bool

	found, mended, harmless, lossy int
}

func newFlips(t *testing.T) *flips { return flipsOf(small(t)) }

func flipsOf(s *stage) *flips {
	f := &flips{stage: s}
	var err error
	f.whole, err = os.ReadFile(filepath.Join(f.dir, "alcove.db"))
	f.ok(err)
	e := f.open(f.dir, bolt.Options{})
	f.says = f.contents(e)
	f.ok(e.Close())
	f.whole = f.whole[:used(f.whole)]
	return f
}

// used is how many bytes of a file may be of a page.
func used(data []byte) int {
	for n := len(data); n > 0; n -= 4096 {
		if !bytes.Equal(data[n-4096:n], make([]byte, 4096)) {
			return n
		}
	}
	return 0
}

// flip changes a byte, and opens and repairs what is left.
func (f *flips) flip(at int, by byte) {
	f.t.Helper()
	dir := f.t.TempDir()
	path := filepath.Join(dir, "alcove.db")
	f.ok(os.CopyFS(filepath.Join(dir, "blobs"), os.DirFS(filepath.Join(f.dir, "blobs"))))
	damaged := bytes.Clone(f.whole)
	damaged[at] ^= by
	f.ok(os.WriteFile(path, damaged, 0o600))
	faults, err := driver.Examine(dir)
	f.ok(err)
	e, err := bolt.Open(f.t.Context(), dir, bolt.Options{MapSize: 1 << 20})
	if err == nil {
		f.mustSayAll(e, at, len(faults) > 0)
		return
	}
	if !errors.Is(err, store.ErrDamaged) || len(faults) == 0 {
		f.t.Fatalf("byte %d: %v, found: %v", at, err, faults)
	}
	f.found++
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, damaged) {
		f.t.Errorf("byte %d: what was not opened was changed (%v)", at, err)
	}
	f.repair(dir, at)
}

// mustSayAll is for a store that opens: there is nothing that it does not say.
func (f *flips) mustSayAll(e *bolt.Engine, at int, found bool) {
	f.t.Helper()
	defer e.Close()
	if f.harmless++; found {
		f.harmless--
		f.mended++
	}
	if err := e.Check(f.t.Context()); err != nil {
		f.t.Errorf("byte %d: it opens, and the check says: %v", at, err)
	}
	if missing, untrue := lacks(f.says, f.contents(e)); len(missing)+len(untrue) > 0 {
		f.t.Errorf("byte %d: it opens, and says %.200q, and not %.200q", at, untrue, missing)
	}
}

// repair makes sure that one thing at most is lost, that it is named, and that nothing untrue is said.
func (f *flips) repair(dir string, at int) {
	f.t.Helper()
	r, err := driver.Repair(f.t.Context(), dir, store.Repair{Now: time.Now()})
	if err != nil {
		f.t.Errorf("byte %d: %v", at, err)
		return
	}
	e := f.open(dir, bolt.Options{})
	defer e.Close()
	if err := e.Check(f.t.Context()); err != nil {
		f.t.Errorf("byte %d: after the repair: %v", at, err)
	}
	missing, untrue := lacks(f.says, f.contents(e))
	missing = slices.DeleteFunc(missing, func(line string) bool { // an entry that is lost is not in increments either
		purged, is := strings.CutPrefix(line, "purged ")
		return is && slices.ContainsFunc(missing, func(other string) bool { return strings.HasPrefix(other, "entry "+purged+" ") })
	})
	if len(missing) > 0 {
		f.lossy++
	}
	if len(missing) > 1 || len(untrue) > 0 {
		f.t.Errorf("byte %d: after the repair of %.300q it says %.200q and not %d things, as %.300q", at, r.Faults, untrue, len(missing), missing)
	}
	if len(missing) == 1 && !named(r.Aside, missing[0]) {
		f.t.Errorf("byte %d: %.100q is lost, and the report has %.300v", at, missing[0], r.Aside)
	}
}

// named reports whether a report names what is lost: exactly, or as it stands in the file.
func named(aside []store.Aside, line string) bool {
	if !strings.HasPrefix(line, "entry ") {
		return len(aside) > 0
	}
	return slices.ContainsFunc(aside, func(a store.Aside) bool {
		name := fmt.Sprintf("entry %d %s ", a.Branch, a.Key)
		if len(line) >= len(name) && differ(line[:len(name)], name) <= 1 {
			return true
		}
		_, key, _ := strings.Cut(line, `"`) // where the damaged key is none
		key, _, _ = strings.Cut(key, `"`)
		return strings.HasPrefix(a.Key, "record ") && strings.Contains(a.Key, key) || strings.Contains(a.Key, `"`+key+`" at version `)
	})
}

// differ counts the bytes that two names of the same length do not share.
func differ(a, b string) (n int) {
	for i := range len(a) {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

// TestEveryByteThatFlipsIsFoundAndRepairedOrHarmless flips bytes all over a file, the two first pages included.
// ALCOVE_FLIP_STEP says how far apart they are.
func TestEveryByteThatFlipsIsFoundAndRepairedOrHarmless(t *testing.T) {
	if testing.Short() {
		t.Skip("it examines and repairs on one goroutine: the tests without -short run it")
	}
	t.Parallel()
	f := newFlips(t)
	step, err := strconv.Atoi(os.Getenv("ALCOVE_FLIP_STEP"))
	if err != nil {
		step = 1201 // and more of the two first pages, below
	}
	for at := 0; at < len(f.whole); at += step {
		f.flip(at, byte(1<<(at%8)))
	}
	for at := 0; at < 80 && step > 16; at += 8 {
		f.flip(at, 0x41)
		f.flip(4096+at, 0x41)
	}
	t.Logf("of %d bytes, %d apart: %d flips found and repaired, %d of them at a loss, %d mended when it was opened, %d harmless",
		len(f.whole), step, f.found, f.lossy, f.mended, f.harmless)
	if f.found < f.harmless/2 || f.mended < 10 {
		t.Error("too few are found for the test to mean anything")
	}
}

// TestPagesThatAreGoneAreRepairedWithWhatIsLeft zeroes pages one by one. What they had is lost, and named where a change log
// knows it; of what was trimmed, and where the log is gone too, the branch is.
func TestPagesThatAreGoneAreRepairedWithWhatIsLeft(t *testing.T) {
	t.Parallel()
	f := newFlips(t)
	for page := 0; page < len(f.whole)/4096; page += pace() {
		dir := t.TempDir()
		f.ok(os.CopyFS(filepath.Join(dir, "blobs"), os.DirFS(filepath.Join(f.dir, "blobs"))))
		damaged := bytes.Clone(f.whole)
		clear(damaged[page*4096 : page*4096+4096])
		f.ok(os.WriteFile(filepath.Join(dir, "alcove.db"), damaged, 0o600))
		e, err := bolt.Open(t.Context(), dir, bolt.Options{MapSize: 1 << 20})
		if err == nil {
			f.mustSayAll(e, page*4096, true)
			continue
		}
		if !errors.Is(err, store.ErrDamaged) {
			t.Errorf("page %d: %v", page, err)
		}
		r, err := driver.Repair(t.Context(), dir, store.Repair{Now: time.Now()})
		if err != nil {
			t.Errorf("page %d: %v", page, err)
			continue
		}
		f.mustBeTrue(dir, page, r)
	}
	t.Logf("of %d things in %d pages, each gone once, %d were lost and %d found where nothing led to them", len(f.says), len(f.whole)/4096, f.lossy, f.mended)
}

// mustBeTrue makes sure that a repaired store says nothing untrue, and names what entries it lacks.
func (f *flips) mustBeTrue(dir string, page int, r store.Repaired) {
	f.t.Helper()
	e := f.open(dir, bolt.Options{})
	defer e.Close()
	if err := e.Check(f.t.Context()); err != nil {
		f.t.Errorf("page %d: after the repair: %v", page, err)
	}
	missing, untrue := lacks(f.says, f.contents(e))
	for _, line := range untrue {
		if !strings.HasPrefix(line, "point") && !strings.HasPrefix(line, "branch") { // instants that nobody knows any more
			f.t.Errorf("page %d: it says %.200q", page, line)
		}
	}
	f.lossy, f.mended = f.lossy+len(missing), f.mended+r.Rescued
	faults := strings.Join(r.Faults, "\n") + "\n"
	for _, line := range missing {
		var branch int
		if n, _ := fmt.Sscanf(line, "entry %d", &branch); n == 0 || named(r.Aside, line) {
			continue
		}
		if !strings.Contains(faults, fmt.Sprintf("branch %d", branch)) && !strings.Contains(faults, "the bucket branches, has") {
			f.t.Errorf("page %d: %.100q is lost, and neither it nor its branch is named:\n%s", page, line, faults)
		}
	}
}

// pace is how far apart pages are that are damaged.
func pace() int {
	if testing.Short() {
		return 5
	}
	return 1
}
