// Package scale measures a memory server at growing sizes, through a client in a process of its own.
package scale

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// Most is the largest number of memories that is measured.
const Most = 10_000_000

// Bench says what to measure.
type Bench struct {
	Program  Program
	Dir      string // of the run: its data, backups and state
	Texts    Texts
	Seed     uint64
	Batch    int   // memories of a call, at most 1000; 0: 100
	Sizes    []int // ascending
	Resume   bool
	Calls    int                                         // of each kind; 0: 200
	Skip     []string                                    // of Parts
	Progress func(Progress)                              // may be nil
	Free     func(dir string) (uint64, error)            // bytes that may be written; nil: unknown
	Measured func(context.Context, *Size, *Server) error // measures more of a size, whose server runs; may be nil
}

// Parts are what can be left out.
func Parts() []string { return []string{"start", "calls", "backup", "verify", "conversations"} }

// Progress is how far a run is.
type Progress struct {
	Doing     string
	Done, All int           // of work, as the storing of a memory
	Left      time.Duration // estimated; 0: unknown
}

func (p Progress) String() string {
	line := fmt.Sprintf("%3d %%  %s", 100*p.Done/max(p.All, 1), p.Doing)
	if p.Left > 0 {
		line += fmt.Sprintf(", about %s left", p.Left.Round(time.Second))
	}
	return line
}

// The stores of a run.
const plain, turns = "plain", "turns"

// bytesOfAMemory is what a memory of the built-in texts takes on disk, with its index and backup; large rather than small.
const bytesOfAMemory = 2000

type run struct {
	Bench
	state   state
	began   time.Time
	done    int // work of this process
	earlier int // and of those before
	doing   string
}

// Check tells what is wrong with a bench, before anything is done.
func (b Bench) Check() error {
	if len(b.Sizes) == 0 || !slices.IsSorted(b.Sizes) || len(slices.Compact(slices.Clone(b.Sizes))) != len(b.Sizes) {
		return fmt.Errorf("the sizes %v do not grow: give each once, the smallest first", b.Sizes)
	}
	if first, last := b.Sizes[0], b.Sizes[len(b.Sizes)-1]; first < 1 || last > Most {
		return fmt.Errorf("sizes go from 1 to %s memories", Thousands(Most))
	} else if last > b.Texts.Most() {
		return fmt.Errorf("%s has %s texts: ask for at most so many", b.Texts.Name(), Thousands(b.Texts.Most()))
	}
	if b.Batch < 0 || b.Batch > block {
		return fmt.Errorf("a batch has %d memories: it has from 1 to %d", b.Batch, block)
	}
	for _, part := range b.Skip {
		if !slices.Contains(Parts(), part) {
			return fmt.Errorf("there is no part %q to skip: there are %v", part, Parts())
		}
	}
	return b.room()
}

// room refuses what would fill the disk.
func (b Bench) room() error {
	if b.Free == nil {
		return nil
	}
	free, err := b.Free(b.Dir)
	if err != nil {
		return fmt.Errorf("find the free space of %s: %w: choose another --dir", b.Dir, err)
	}
	if need := b.Sizes[len(b.Sizes)-1] * bytesOfAMemory * b.stores(); free < uint64(need) && !b.Resume {
		return fmt.Errorf("%s has %.1f GB free, and %s memories take up to %.1f GB: choose another --dir, a smaller --n, or --skip conversations",
			b.Dir, float64(free)/1e9, Thousands(b.Sizes[len(b.Sizes)-1]), float64(need)/1e9)
	}
	return nil
}

func (b Bench) stores() int {
	if b.skips("conversations") {
		return 1
	}
	return 2
}

func (b Bench) skips(part string) bool { return slices.Contains(b.Skip, part) }

// Run measures all sizes, in one store that grows. When it fails, what is done so far is kept for Resume.
func (b Bench) Run(ctx context.Context) (Report, error) {
	if b.Batch == 0 {
		b.Batch = 100
	}
	if b.Calls == 0 {
		b.Calls = 200
	}
	if err := b.Check(); err != nil {
		return Report{}, err
	}
	var err error
	if b.Dir, err = filepath.Abs(b.Dir); err != nil {
		return Report{}, err
	}
	r := &run{Bench: b, began: time.Now()}
	r.state, err = begin(b.Dir, state{Version: stateVersion, Texts: b.Texts.Name(), Seed: b.Seed, Batch: b.Batch, Stored: map[string]grown{}}, b.Resume)
	if err != nil {
		return Report{}, err
	}
	if err := r.state.save(b.Dir); err != nil { // a run goes on only where there is a state
		return Report{}, err
	}
	r.earlier = r.state.Stored[plain].Memories
	if !b.skips("conversations") {
		r.earlier += r.state.Stored[turns].Memories
	}
	report := Report{Version: ReportVersion, Machine: fmt.Sprintf("%s/%s with %d cores", runtime.GOOS, runtime.GOARCH, runtime.NumCPU()), Texts: b.Texts.Name(), Batch: b.Batch}
	for _, n := range b.Sizes {
		size, version, err := r.size(ctx, n)
		if err != nil {
			return report, err
		}
		report.Program = version
		report.Sizes = append(report.Sizes, size)
	}
	return report, nil
}

// size measures one size, unless an earlier process did.
func (r *run) size(ctx context.Context, n int) (size Size, version string, err error) {
	if i := slices.IndexFunc(r.state.Sizes, func(s Size) bool { return s.N == n }); i >= 0 {
		return r.state.Sizes[i], r.state.Program, nil
	}
	if have := r.state.Stored[plain].Memories; have > n {
		return size, "", fmt.Errorf("the store in %s has %s memories already, and %s were not measured: choose another --dir, or leave that size out", r.Dir, Thousands(have), Thousands(n))
	}
	s := NewServer(r.Program, filepath.Join(r.Dir, plain))
	defer func() { _, stopped := s.Stop(ctx); err = errors.Join(err, stopped) }()
	if _, err := s.Start(ctx); err != nil {
		return size, "", err
	}
	r.doing = "storing " + Thousands(n)
	if err := r.grow(ctx, plain, s, n, item); err != nil {
		return size, "", err
	}
	size = Size{N: n}
	if err := r.measure(ctx, s, &size); err != nil {
		return size, "", err
	}
	r.state.Program = s.session.Server().Version
	r.state.Sizes = append(r.state.Sizes, size)
	return size, r.state.Program, r.state.save(r.Dir)
}

// worked notes work, and tells how far the run is.
func (r *run) worked(n int) {
	r.done += n
	if r.Progress == nil {
		return
	}
	p := Progress{Doing: r.doing, Done: r.earlier + r.done, All: r.stores()*r.Sizes[len(r.Sizes)-1] + r.measuring()}
	if left := p.All - p.Done; r.done > 0 && left > 0 {
		p.Left = time.Duration(float64(time.Since(r.began)) / float64(r.done) * float64(left))
	}
	r.Progress(p)
}

// workOfParts is what the measures of a size take, beside storing one in five of its memories.
const workOfParts = 1000

func (r *run) measuring() int {
	all := 0
	for _, n := range r.Sizes {
		all += n/5 + workOfParts
	}
	return all
}
