package sandbox

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

const wasmPage = 64 << 10

// backings are the implementations of a memory on this system, by name.
func backings(t testing.TB, limit uint64) map[string]backing {
	t.Helper()
	all := map[string]backing{"heap": &heap{}}
	p := newPages()
	if p == nil {
		t.Log("memories are on the Go heap here")
		return all
	}
	b, err := p.backing(limit, &original{})
	must(t, err)
	t.Cleanup(func() { b.free(); p.close() })
	all["pages"] = b
	return all
}

func TestMemoryIsRestoredToItsSnapshot(t *testing.T) {
	const size = 40 * wasmPage
	for name, b := range backings(t, size) {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			l := newLinear(size, b)
			data := l.Reallocate(size)
			scribble(random, data, 200)
			must(t, l.snapshot())
			data = l.Reallocate(size)
			want := bytes.Clone(data)
			for round := range 60 {
				scribble(random, data, 1<<(round%12))
				if bytes.Equal(data, want) {
					t.Fatal("nothing was written")
				}
				must(t, l.restore())
				if !bytes.Equal(data, want) {
					t.Fatalf("round %d: the memory is not as it was", round)
				}
				if l.cool(); round%3 == 0 && !bytes.Equal(data, want) {
					t.Fatalf("round %d: the memory is not as it was after it was cold", round)
				}
			}
		})
	}
}

// scribble writes n short runs of bytes anywhere.
func scribble(random *rand.Rand, data []byte, n int) {
	for range n {
		at := random.IntN(len(data))
		for i := at; i < min(at+1+random.IntN(300), len(data)); i++ {
			data[i] += byte(1 + random.IntN(255))
		}
	}
}

func TestMemoryGrowsToItsLimitAndKeepsItsContent(t *testing.T) {
	for name, b := range backings(t, 4*wasmPage) {
		t.Run(name, func(t *testing.T) {
			l := newLinear(4*wasmPage, b)
			data := l.Reallocate(wasmPage)
			data[17] = 5
			must(t, l.snapshot())
			if l.grew() {
				t.Error("it has not grown yet")
			}
			grown := l.Reallocate(4 * wasmPage)
			if len(grown) != 4*wasmPage || grown[17] != 5 || grown[wasmPage] != 0 || !l.grew() {
				t.Errorf("%d bytes; grew: %v", len(grown), l.grew())
			}
			if l.Reallocate(5*wasmPage) != nil || l.size != 4*wasmPage {
				t.Errorf("it grew beyond its limit, to %d", l.size)
			}
		})
	}
}

func TestMemoryMayBeEmpty(t *testing.T) {
	for name, b := range backings(t, 0) {
		t.Run(name, func(t *testing.T) {
			l := newLinear(0, b)
			if data := l.Reallocate(0); data == nil || len(data) != 0 {
				t.Errorf("an empty memory has %d bytes (nil: %v)", len(data), data == nil)
			}
			must(t, l.snapshot())
			must(t, l.restore())
		})
	}
}

func BenchmarkRestore(b *testing.B) {
	for _, c := range []struct{ pages, written int }{{1, 4}, {2, 6}, {17, 10}, {52, 100}} {
		for name, backing := range backings(b, uint64(c.pages*wasmPage)) {
			b.Run(fmt.Sprintf("%dKiB/%s", c.pages*64, name), func(b *testing.B) {
				l := newLinear(uint64(c.pages*wasmPage), backing)
				scribble(rand.New(rand.NewPCG(1, 2)), l.Reallocate(uint64(c.pages*wasmPage)), 1000)
				must(b, l.snapshot())
				data := l.Reallocate(l.size)
				for b.Loop() {
					for i := range c.written {
						data[i*4096%len(data)]++
					}
					must(b, l.restore())
				}
			})
		}
	}
}
