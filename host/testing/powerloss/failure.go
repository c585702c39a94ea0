package powerloss

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Failure is the moment at which the power failed.
type Failure struct {
	Said  []byte // what the process had written to its standard output
	Calls int    // how many calls had begun or ended
	How   string // what became of what was not synced

	disk *disk
	rand *rand.Rand
	how  style
}

// style is how a disk treats what is on its way when the power fails.
type style struct {
	name string
	keep func(r *rand.Rand) func(at int64) bool // of one write: which of its bytes arrive
	move func(r *rand.Rand, n int) []bool       // of n changes of a directory: which happened
}

const sector = 512 // bytes that arrive together

func styles() []style {
	none := func(r *rand.Rand) func(int64) bool { return func(int64) bool { return false } }
	all := func(r *rand.Rand) func(int64) bool { return everything }
	some := func(r *rand.Rand) func(int64) bool {
		if r.IntN(2) == 0 {
			return none(r)
		}
		return everything
	}
	torn := func(unit int64) func(r *rand.Rand) func(int64) bool {
		return func(r *rand.Rand) func(int64) bool {
			seed, share := r.Uint64(), r.Uint64()
			return func(at int64) bool { return mix(seed^uint64(at/unit)) <= share }
		}
	}
	return []style{
		{"nothing of it arrived", none, inOrder},
		{"all of it arrived", all, inOrder},
		{"some writes arrived", some, inOrder},
		{"sectors of some writes arrived", torn(sector), inOrder},
		{"sectors of some writes arrived, and directories changed in any order", torn(sector), inAnyOrder},
		{"bytes of some writes arrived", torn(1), inAnyOrder},
	}
}

// mix scatters a number (the finaliser of SplitMix64).
func mix(n uint64) uint64 {
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

// inOrder: as with a journal, a change happened only if those before it did.
func inOrder(r *rand.Rand, n int) []bool {
	happened := make([]bool, n)
	for i := range r.IntN(n + 1) {
		happened[i] = true
	}
	return happened
}

func inAnyOrder(r *rand.Rand, n int) []bool {
	happened := make([]bool, n)
	for i := range happened {
		happened[i] = r.IntN(2) == 0
	}
	return happened
}

// Failures lets the power fail at n moments, and calls check with each. The disk ignores syncs of the files and
// directories, named from the root on ("" is the root), for which lie is true; nil: of none. Half of the moments are
// those at which the process had just said something, because what was said must hold.
func (t *Trace) Failures(r *rand.Rand, n int, lie func(name string) bool, check func(f *Failure) error) error {
	places, ways, round := t.places(r, n), styles(), 0
	return t.replay(newDisk(t.root, lie), func(d *disk, i int) error {
		for ; round < len(places) && places[round] == i; round++ {
			if err := t.fail(d, r, i, ways[round%len(ways)], check); err != nil {
				return err
			}
		}
		return nil
	})
}

// Every lets the power fail at every moment since the process had said something, n times at each.
func (t *Trace) Every(r *rand.Rand, since string, n int, check func(f *Failure) error) error {
	ways, round := styles(), 0
	return t.replay(newDisk(t.root, nil), func(d *disk, i int) error {
		if !bytes.Contains(d.said, []byte(since)) {
			return nil
		}
		for range n {
			if err := t.fail(d, r, i, ways[round%len(ways)], check); err != nil {
				return err
			}
			round++
		}
		return nil
	})
}

// replay applies the recording to a disk, and calls at before each mark.
func (t *Trace) replay(d *disk, at func(d *disk, i int) error) error {
	for i, m := range t.marks {
		if err := at(d, i); err != nil {
			return err
		}
		if err := d.apply(m); err != nil {
			return fmt.Errorf("call %d of the recording: %w", i, err)
		}
	}
	return nil
}

func (t *Trace) fail(d *disk, r *rand.Rand, i int, how style, check func(f *Failure) error) error {
	f := &Failure{Said: slices.Clone(d.said), Calls: i, How: how.name, disk: d, rand: r, how: how}
	if err := check(f); err != nil {
		return fmt.Errorf("power failed at %d of %d, %s: %w", i, len(t.marks), f.How, err)
	}
	return nil
}

// places chooses moments, in order.
func (t *Trace) places(r *rand.Rand, n int) []int {
	var spoken []int
	for i, m := range t.marks {
		if fd, _, err := m.call.file(0); err == nil && fd == standardOutput && m.call.name == "write" {
			spoken = append(spoken, i)
		}
	}
	places := make([]int, n)
	for i := range places {
		places[i] = r.IntN(len(t.marks))
		if i%2 == 0 && len(spoken) > 0 {
			places[i] = min(spoken[r.IntN(len(spoken))]+1, len(t.marks)-1)
		}
	}
	slices.Sort(places)
	return places
}

// Leave writes what is left of the root directory into another one. Each call may leave something else.
func (f *Failure) Leave(dir string) error { return f.leaveDir(f.disk.root, dir) }

func (f *Failure) leaveDir(n *node, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("leave what a power failure left: %w", err)
	}
	names := n.copyOf()
	for i, happened := range f.how.move(f.rand, len(n.moves)) {
		if happened {
			n.moves[i].apply(names)
		}
	}
	for name, child := range names {
		path := filepath.Join(dir, name)
		if child.names != nil {
			if err := f.leaveDir(child, path); err != nil {
				return err
			}
			continue
		}
		if err := os.WriteFile(path, f.content(child), 0o600); err != nil {
			return fmt.Errorf("leave what a power failure left: %w", err)
		}
	}
	return nil
}

func (f *Failure) content(n *node) []byte {
	content := slices.Clone(n.safe)
	for _, made := range n.pending {
		content = made.apply(content, f.how.keep(f.rand))
	}
	return content
}

// Calls is how many calls the recording has.
func (t *Trace) Calls() int { return len(t.marks) / 2 }

// Failed is how many calls were made to fail.
func (t *Trace) Failed() (n int) {
	for _, m := range t.marks {
		if m.end && strings.HasSuffix(m.call.result, "(INJECTED)") {
			n++
		}
	}
	return n
}
