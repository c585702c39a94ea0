package sandbox

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/alcove-memory/alcove/host/testing/must"
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
	must.Do(t, err)
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
			must.Do(t, l.snapshot())
			data = l.Reallocate(size)
			want := bytes.Clone(data)
			for round := range 60 {
				scribble(random, data, 1<<(round%12))
				if bytes.Equal(data, want) {
					t.Fatal("nothing was written")
				}
				must.Do(t, l.restore())
				if !bytes.Equal(data, want) {
					t.Fatalf("round %d: the memory is not as it was", round)
				}
				if l.releaseMemory(); round%3 == 0 && !bytes.Equal(data, want) {
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
			must.Do(t, l.snapshot())
			grown := l.Reallocate(4 * wasmPage)
			if len(grown) != 4*wasmPage || grown[17] != 5 || grown[wasmPage] != 0 {
				t.Errorf("%d bytes", len(grown))
			}
			if l.Reallocate(5*wasmPage) != nil || l.size != 4*wasmPage {
				t.Errorf("it grew beyond its limit, to %d", l.size)
			}
		})
	}
}

func TestMemoryThatGrewGetsItsSizeAndContentBack(t *testing.T) {
	for name, b := range backings(t, 9*wasmPage) {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			l := newLinear(9*wasmPage, b)
			scribble(random, l.Reallocate(2*wasmPage), 20)
			must.Do(t, l.snapshot())
			want := bytes.Clone(l.Reallocate(2 * wasmPage))
			for _, pages := range []uint64{2, 3, 9, 2, 9, 4} {
				grown := l.Reallocate(pages * wasmPage)
				if beyond := grown[2*wasmPage:]; !bytes.Equal(beyond, make([]byte, len(beyond))) {
					t.Fatalf("grown to %d pages, it has something in them", pages)
				}
				for range 100 {
					scribble(random, grown, 1)
				}
				if !l.shrink(growing{linear: l}) || l.size != 2*wasmPage {
					t.Fatalf("after %d pages, it has %d bytes", pages, l.size)
				}
				must.Do(t, l.restore())
				if got := l.Reallocate(2 * wasmPage); !bytes.Equal(got, want) || cap(got) != len(got) {
					t.Fatalf("after %d pages, it is not as it was", pages)
				}
			}
		})
	}
}

func TestMemoryThatGrewByVeryMuchDoesNotShrink(t *testing.T) {
	const most = mostShrunk / wasmPage
	for name, b := range backings(t, (most+3)*wasmPage) {
		t.Run(name, func(t *testing.T) {
			l := newLinear((most+3)*wasmPage, b)
			l.Reallocate(2 * wasmPage)
			must.Do(t, l.snapshot())
			for _, pages := range []uint64{most + 2, most + 3} {
				want := pages == most+2
				l.Reallocate(pages * wasmPage)
				if l.shrink(growing{linear: l}) != want || (l.size == 2*wasmPage) != want {
					t.Errorf("of %d pages, %d bytes are left", pages, l.size)
				}
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
			must.Do(t, l.snapshot())
			must.Do(t, l.restore())
		})
	}
}

func BenchmarkRestore(b *testing.B) {
	for _, c := range []struct{ pages, written int }{{1, 4}, {2, 6}, {17, 10}, {52, 100}} {
		for name, backing := range backings(b, uint64(c.pages*wasmPage)) {
			b.Run(fmt.Sprintf("%dKiB/%s", c.pages*64, name), func(b *testing.B) {
				l := newLinear(uint64(c.pages*wasmPage), backing)
				scribble(rand.New(rand.NewPCG(1, 2)), l.Reallocate(uint64(c.pages*wasmPage)), 1000)
				must.Do(b, l.snapshot())
				data := l.Reallocate(l.size)
				for b.Loop() {
					for i := range c.written {
						data[i*4096%len(data)]++
					}
					must.Do(b, l.restore())
				}
			})
		}
	}
}
