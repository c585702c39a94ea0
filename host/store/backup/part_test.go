package backup_test

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/backup"
)

// wholePart is a part with two small entries and two files.
func wholePart(t testing.TB) []byte {
	var out bytes.Buffer
	files := settings(file("families/a.wasm", "module"), file("alcove.lock", "grants"))
	if err := backup.Write(t.Context(), &out, twoEntries{}, backup.Base{}, files); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestNoChangedPartIsTaken(t *testing.T) {
	whole := wholePart(t)
	if p, err := backup.Parse(whole, 1<<20, nil, nil); err != nil || p.Pieces != 6 || p.Until != 2 || p.Bytes != int64(len(whole)) {
		t.Fatalf("it is not taken as it was written: %+v (%v)", p, err)
	}
	for at := range whole {
		changed := bytes.Clone(whole)
		changed[at] ^= byte(1 << rand.IntN(8))
		if _, err := backup.Parse(changed, 1<<20, nil, nil); err == nil {
			t.Errorf("a bit of byte %d of %d was changed, and nobody notices", at, len(whole))
		}
		if _, err := backup.Parse(whole[:at], 1<<20, nil, nil); err == nil {
			t.Errorf("the first %d bytes of %d are taken for all", at, len(whole))
		}
	}
	if _, err := backup.Parse(append(whole, 0), 1<<20, nil, nil); err == nil {
		t.Error("a byte behind the end is not noticed")
	}
}

// FuzzPart reads anything as a part: nothing panics, what is allocated is in proportion, and it does not matter in which pieces
// it comes.
func FuzzPart(f *testing.F) {
	whole := wholePart(f)
	f.Add(whole, 7)
	f.Add(whole[:len(whole)-3], 1)
	f.Add([]byte("alcove backup 4\n"), 4)
	f.Add(append([]byte("alcove backup 3\n"), 'h', 0, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0), 3)
	f.Fuzz(func(t *testing.T, content []byte, size int) {
		var runs [2][][]byte
		var parts [2]backup.Part
		var errs [2]error
		for i, size := range []int{1 << 20, 1 + int(uint(size)%100)} {
			spent := allocated(func() {
				backup.Parse(content, size, func(run []byte) error { return store.ReadRun(run, func(store.Piece) error { return nil }) }, nil)
			})
			if most := 16<<20 + 256*uint64(len(content)); spent > most {
				t.Errorf("%d bytes are allocated for %d", spent, len(content))
			}
			parts[i], errs[i] = backup.Parse(content, size, func(run []byte) error {
				runs[i] = append(runs[i], bytes.Clone(run))
				return store.ReadRun(run, func(store.Piece) error { return nil })
			}, func(digest string, data []byte) error {
				runs[i] = append(runs[i], append([]byte(digest), data...))
				return nil
			})
		}
		for _, f := range parts[0].Files {
			if !filepath.IsLocal(filepath.FromSlash(f.Name)) || strings.Contains(f.Name, "..") {
				t.Errorf("the file %q is outside of a data directory", f.Name)
			}
		}
		if (errs[0] == nil) != (errs[1] == nil) || !reflect.DeepEqual(parts[0], parts[1]) || !reflect.DeepEqual(runs[0], runs[1]) {
			t.Errorf("in one piece it is %+v (%v), in small ones %+v (%v)", parts[0], errs[0], parts[1], errs[1])
		}
	})
}

// allocated is how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
