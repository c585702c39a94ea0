package bolt_test

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// TestEveryByteOfABucketsHeaderThatFlipsIsRepaired flips the names of buckets, where they are said to be, what their records add
// up to, and what is behind that.
func TestEveryByteOfABucketsHeaderThatFlipsIsRepaired(t *testing.T) {
	if testing.Short() {
		t.Skip("it examines and repairs on one goroutine: the tests without -short run it")
	}
	t.Parallel()
	const apart = 11
	f := newFlips(t)
	for _, name := range []string{"trim", "log", "counters", "counted", "entries", "values", "points", "purged", "requests", "request-ages", "time", "branches", "overlays", "meta", "blobs"} {
		places := 0
		for rest := f.whole; places < 2; {
			_, behind, found := bytes.Cut(rest, []byte(name))
			if rest = behind; !found || len(rest) < 50 {
				break
			}
			if binary.LittleEndian.Uint64(rest) > 1000 {
				continue // a page, or 0, stands behind the name of a bucket
			}
			at := len(f.whole) - len(rest)
			places++
			for k := -len(name) + places; k < 48; k += apart {
				f.flip(at+k, 1<<(places+k&3))
			}
		}
	}
	t.Logf("%d flips found and repaired, %d of them at a loss, %d harmless", f.found, f.lossy, f.harmless)
}
