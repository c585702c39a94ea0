package sandbox

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/alcove-memory/alcove/host/testing/must"
)

// started is a memory with a snapshot, and what it held then.
type started struct {
	*linear
	data, want []byte
}

// startedFrom is a memory of so many bytes, with a snapshot beside the original.
func startedFrom(t testing.TB, p *pages, first *original, size uint64, write func([]byte)) started {
	t.Helper()
	b, err := p.backing(size+wasmPage, first)
	must.Do(t, err)
	l := newLinear(size+wasmPage, b)
	write(l.Reallocate(size))
	want := bytes.Clone(l.Reallocate(size))
	must.Do(t, l.snapshot())
	return started{l, l.Reallocate(size), want}
}

// sharedBytes is how many bytes of a memory are mapped from the original.
func sharedBytes(t testing.TB, m *mapping) (sum uint64) {
	t.Helper()
	var first unix.Stat_t
	must.Do(t, unix.Fstat(m.original.fd, &first))
	base := uint64(uintptr(m.base))
	eachMapping(t, func(from, to uint64, _ string, inode uint64) {
		if inode == first.Ino && from >= base && to <= base+m.kept {
			sum += to - from
		}
	})
	return sum
}

// eachMapping calls do for the mappings of the process: their addresses, their rights as "rw-p", and the inode of their file.
func eachMapping(t testing.TB, do func(from, to uint64, rights string, inode uint64)) {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	must.Do(t, err)
	for line := range strings.Lines(string(maps)) {
		var from, to, offset, inode uint64
		var rights, device string
		if _, err := fmt.Sscanf(line, "%x-%x %s %x %s %d", &from, &to, &rights, &offset, &device, &inode); err != nil {
			t.Fatal(err)
		}
		do(from, to, rights, inode)
	}
}

func TestInstancesShareThePagesWithWhichTheyStart(t *testing.T) {
	p := newPages()
	if p == nil {
		t.Skip("memories are on the Go heap here")
	}
	defer p.close()
	const whole, size = 44 * wasmPage, 8 * wasmPage
	var all []started
	common := func(data []byte) {
		if len(all) == 0 {
			scribble(rand.New(rand.NewPCG(1, 2)), data[:whole/2], 1000)
		} else {
			copy(data, all[0].want)
		}
	}
	var first original
	defer first.free()
	for _, c := range []struct {
		what  string
		size  uint64
		write func([]byte)
		least uint64 // bytes that are shared
		most  uint64
	}{
		{"the first", whole, common, whole, whole},
		{"the same", size, common, size, size},
		{"one page differs", size, func(data []byte) { common(data); data[9*p.size] ^= 1 }, size - p.size, size - p.size},
		{"some pages differ", size, func(data []byte) { common(data); scribble(rand.New(rand.NewPCG(3, 4)), data, 3) }, size / 4, size - p.size},
		{"each second page differs", size, func(data []byte) { common(data); everyPage(data, 2*p.size) }, 0, p.size},
		{"too many extents differ", whole, func(data []byte) { common(data); everyPage(data, (nearPages+2)*p.size) }, 0, 0},
		{"nothing in it", size, func([]byte) {}, 0, size - p.size},
		{"larger", whole + 3*wasmPage/2, func(data []byte) { common(data); data[len(data)-1] = 1 }, whole, whole},
	} {
		s := startedFrom(t, p, &first, c.size, c.write)
		if !bytes.Equal(s.data, s.want) {
			t.Fatalf("%s: the snapshot changed it", c.what)
		}
		if got := sharedBytes(t, s.backing.(*mapping)); got < c.least || got > c.most {
			t.Errorf("%s: %d bytes are shared, not %d to %d", c.what, got, c.least, c.most)
		}
		all = append(all, s)
	}
	random := rand.New(rand.NewPCG(5, 6))
	for round := range 8 {
		for n, s := range all {
			scribble(random, s.data, 1<<round)
			for other, o := range all { // only what was written changed
				if other > n && !bytes.Equal(o.data, o.want) {
					t.Fatalf("round %d: what was written to memory %d is in %d", round, n, other)
				}
			}
		}
		for n, s := range all {
			must.Do(t, s.restore())
			if !bytes.Equal(s.data, s.want) {
				t.Fatalf("round %d: memory %d is not as it was", round, n)
			}
		}
		if round == 4 { // the others do without it
			all[0].Free()
			all = all[1:]
			first.free()
		}
	}
	for _, s := range all {
		s.Free()
	}
}

func everyPage(data []byte, stride uint64) {
	for at := uint64(0); at < uint64(len(data)); at += stride {
		data[at] ^= 0x55
	}
}

// writable is how many bytes of a memory are mapped and can be written.
func writable(t testing.TB, m *mapping) (sum uint64) {
	t.Helper()
	base := uint64(uintptr(m.base))
	eachMapping(t, func(from, to uint64, rights string, _ uint64) {
		if from, to = max(from, base), min(to, base+m.reserved); from < to && rights[1] == 'w' {
			sum += to - from
		}
	})
	return sum
}

func TestWhatAMemoryGrewByCannotBeWrittenAfterwards(t *testing.T) {
	p := newPages()
	if p == nil {
		t.Skip("memories are on the Go heap here")
	}
	defer p.close()
	var first original
	defer first.free()
	b, err := p.backing(9*wasmPage, &first)
	must.Do(t, err)
	defer b.free()
	l := newLinear(9*wasmPage, b)
	l.Reallocate(2 * wasmPage)
	must.Do(t, l.snapshot())
	for range 3 {
		for _, pages := range []uint64{7, 9} {
			l.Reallocate(pages * wasmPage)
			if got := writable(t, b.(*mapping)); got != pages*wasmPage {
				t.Errorf("%d bytes can be written, not %d pages", got, pages)
			}
		}
		if !l.shrink(growing{linear: l}) || writable(t, b.(*mapping)) != 2*wasmPage {
			t.Errorf("%d bytes can be written, not 2 pages", writable(t, b.(*mapping)))
		}
	}
}

func TestAMemoryThatGrewKeepsFewPagesOfItsOwn(t *testing.T) {
	p := newPages()
	if p == nil {
		t.Skip("memories are on the Go heap here")
	}
	defer p.close()
	var first original
	defer first.free()
	size := 2 * tooManyGrown * p.size
	s := startedFrom(t, p, &first, size, func([]byte) {})
	defer s.Free()
	for _, c := range []struct {
		grows         bool
		written, kept uint64
	}{{false, tooManyGrown + 1, tooManyGrown + 1}, {true, tooManyGrown + 1, 0}, {true, tooManyGrown, tooManyGrown}, {false, tooManyGrown + 1, tooManyGrown + 1}} {
		if c.grows {
			s.Reallocate(size + wasmPage)
		}
		everyPage(s.data[:c.written*p.size], p.size)
		if !s.shrink(growing{linear: s.linear}) {
			t.Fatal("it keeps what it grew by")
		}
		must.Do(t, s.restore())
		own, err := s.backing.(*mapping).written(func(uint64, uint64) {})
		must.Do(t, err)
		if uint64(own) != c.kept || !bytes.Equal(s.data, s.want) {
			t.Errorf("%+v: it has %d pages of its own", c, own)
		}
	}
}

// privatePages is how many pages of an idle instance are its own.
func privatePages(t testing.TB, i *instance) int {
	t.Helper()
	n, err := i.memory.backing.(*mapping).written(func(uint64, uint64) {})
	must.Do(t, err)
	return n
}

func TestIdleInstancesThatAreNotUsedReturnTheirMemory(t *testing.T) {
	s := newSandbox(t, testConfig(t))
	if s.pages == nil {
		t.Skip("memories are on the Go heap here")
	}
	var modules []*Module
	for n := range maxWarm + 3 {
		m, err := s.Admit(t.Context(), packedAs(t, fmt.Sprintf("family-%d", n), ""), Options{})
		must.Do(t, err)
		modules = append(modules, m)
	}
	for range 2 {
		for n, m := range modules {
			if r := ask(t, m, "c"); string(r.Output) != "1121" {
				t.Fatalf("module %d: class %s, output %s, %v, want 1121", n, r.Class, r.Output, r.Error)
			}
		}
	}
	n := 0
	for i := s.pool.last; i != nil; i, n = i.before, n+1 {
		if warm := privatePages(t, i) > 0; warm != (n < maxWarm) {
			t.Errorf("the instance used %d calls ago has memory of its own: %v", n+1, warm)
		}
	}
	if n != len(modules) {
		t.Errorf("%d instances are idle, not %d", n, len(modules))
	}
}

func TestAScanFindsThePagesThatTheMapShows(t *testing.T) {
	p := newPages()
	if p == nil {
		t.Skip("memories are on the Go heap here")
	}
	defer p.close()
	if !p.scans {
		t.Skip("the kernel is older than Linux 6.7: it does not scan page maps")
	}
	const size = 40 * wasmPage
	random := rand.New(rand.NewPCG(3, 4))
	for _, writes := range []int{0, 1, 30, 400, 5000} {
		m := startedFrom(t, p, &original{}, size, func(data []byte) { scribble(random, data, 200) })
		scribble(random, m.data, writes)
		var got, want []extent
		b := m.backing.(*mapping)
		scanned, err := onNewStack(func() (int, error) {
			return b.scan(func(from, to uint64) {
				growStack(1000)
				got = appendExtent(got, from, to)
			})
		})
		must.Do(t, err)
		read, err := b.readMap(func(from, to uint64) { want = appendExtent(want, from, to) })
		must.Do(t, err)
		if scanned != read || !slices.Equal(got, want) {
			t.Errorf("after %d writes, the scan found %d pages in %d extents, want %d in %d", writes, scanned, len(got), read, len(want))
		}
		b.free()
	}
}

// onNewStack calls f on a stack that is still small.
func onNewStack(f func() (int, error)) (n int, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		n, err = f()
	}()
	<-done
	return n, err
}

// growStack uses more of the stack than a goroutine begins with, which moves it.
func growStack(depth int) byte {
	var frame [64]byte
	if depth > 0 {
		frame[depth%len(frame)] = growStack(depth - 1)
	}
	return frame[depth%len(frame)]
}

// appendExtent appends an extent, joined with the last one if that ends where it begins.
func appendExtent(all []extent, from, to uint64) []extent {
	if n := len(all); n > 0 && all[n-1].to == from {
		all[n-1].to = to
		return all
	}
	return append(all, extent{from, to})
}
