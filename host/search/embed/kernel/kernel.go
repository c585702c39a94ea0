// Package kernel runs the arithmetic of a transformer in a WebAssembly module, which has SIMD instructions, gives the same results on
// every processor, and reaches nothing but its own memory.
package kernel

import (
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

//go:embed kernel.wasm
var module []byte

const (
	page    = 64 << 10
	base    = 2 * page // the module's stack and data lie below
	aligned = 16
	// Widest is the largest number of inputs of a layer.
	Widest = 4096
	// a call does at most so many multiplications, which take about a millisecond
	atOnce = 4 << 20
)

// ErrMemory says that a model needs more memory than it may have.
var ErrMemory = errors.New("the memory of a model is limited")

// Kernel is an instance of the module. One goroutine may use it at a time.
type Kernel struct {
	runtime wazero.Runtime
	memory  api.Memory
	next    uint32
	calls   map[string]api.Function
}

// Address is a place in the memory of a Kernel.
type Address uint32

// New makes a Kernel with room for so many bytes.
func New(ctx context.Context, bytes, most int) (*Kernel, error) {
	pages := uint64(base+bytes)/page + 1
	if bytes < 0 || bytes > most || pages > 65536 {
		return nil, fmt.Errorf("%w: it needs %d bytes, and may have %d", ErrMemory, bytes, most)
	}
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(uint32(pages)).WithCoreFeatures(api.CoreFeaturesV2)
	k := &Kernel{runtime: wazero.NewRuntimeWithConfig(ctx, config), next: base, calls: map[string]api.Function{}}
	instance, err := k.runtime.Instantiate(ctx, module)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the kernel: %w", err), k.Close(ctx))
	}
	k.memory = instance.Memory()
	if _, ok := k.memory.Grow(uint32(pages) - k.memory.Size()/page); !ok {
		return nil, errors.Join(fmt.Errorf("%w: %d bytes were refused", ErrMemory, bytes), k.Close(ctx))
	}
	for _, name := range []string{"quantise", "linear", "attention", "normalise", "gelu", "pool"} {
		k.calls[name] = instance.ExportedFunction(name)
	}
	return k, nil
}

// Close frees the module's code and memory.
func (k *Kernel) Close(ctx context.Context) error { return k.runtime.Close(ctx) }

// Size is what a block of bytes takes of the room.
func Size(bytes int) int { return (bytes + aligned - 1) / aligned * aligned }

// Reserve returns a place for bytes. It panics where New was given too few.
func (k *Kernel) Reserve(bytes int) Address {
	at := k.next
	if k.next += uint32(Size(bytes)); k.next > k.memory.Size() {
		panic("kernel: more is reserved than New was told")
	}
	return Address(at)
}

// Put copies bytes to a new place.
func (k *Kernel) Put(data []byte) Address {
	at := k.Reserve(len(data))
	k.memory.Write(uint32(at), data)
	return at
}

// PutFloats copies numbers to a new place.
func (k *Kernel) PutFloats(list []float32) Address {
	at := k.Reserve(4 * len(list))
	k.SetFloats(at, list)
	return at
}

// SetFloats copies numbers to a place.
func (k *Kernel) SetFloats(at Address, list []float32) {
	into, _ := k.memory.Read(uint32(at), uint32(4*len(list)))
	for i, x := range list {
		binary.LittleEndian.PutUint32(into[4*i:], math.Float32bits(x))
	}
}

// Floats copies numbers from a place.
func (k *Kernel) Floats(at Address, count int) []float32 {
	from, _ := k.memory.Read(uint32(at), uint32(4*count))
	list := make([]float32, count)
	for i := range list {
		list[i] = math.Float32frombits(binary.LittleEndian.Uint32(from[4*i:]))
	}
	return list
}

func (k *Kernel) call(ctx context.Context, name string, parameters ...uint64) error {
	if _, err := k.calls[name].Call(ctx, parameters...); err != nil {
		return fmt.Errorf("kernel: %s: %w", name, err)
	}
	return ctx.Err()
}

// Layer is a linear layer: weights of eight bits, row by row, with a scale and a bias for each output.
type Layer struct {
	Inputs, Outputs       int // multiples of eight
	Weights, Scales, Bias Address
}

// Scratch is room for quantised inputs.
type Scratch struct{ Values, Scales Address }

// Apply computes a layer for rows, a multiple of four.
func (k *Kernel) Apply(ctx context.Context, l Layer, x, y Address, s Scratch, rows int) error {
	// so that the sum of all products fits 32 bits
	top := min(8191, float32((1<<31-1)/(128*l.Inputs)-1))
	for from, most := 0, max(1, atOnce/8/l.Inputs); from < rows; from += most {
		n := min(most, rows-from)
		err := k.call(ctx, "quantise", uint64(x)+uint64(4*from*l.Inputs), uint64(s.Values)+uint64(2*from*l.Inputs), uint64(s.Scales)+uint64(4*from),
			uint64(n), uint64(l.Inputs), api.EncodeF32(top))
		if err != nil {
			return err
		}
	}
	for from, most := 0, max(2, atOnce/(rows*l.Inputs)/2*2); from < l.Outputs; from += most {
		err := k.call(ctx, "linear", uint64(s.Values), uint64(s.Scales), uint64(l.Weights), uint64(l.Scales), uint64(l.Bias), uint64(y),
			uint64(rows), uint64(l.Inputs), uint64(l.Outputs), uint64(from), uint64(min(from+most, l.Outputs)))
		if err != nil {
			return err
		}
	}
	return nil
}

// Attend lets rows attend to one another. qkv has queries, keys and values of each row; weights is room for a number a row.
func (k *Kernel) Attend(ctx context.Context, qkv, out, weights Address, rows, hidden, heads int) error {
	size := hidden / heads
	most := max(1, atOnce/8/(rows*size))
	for head := range heads {
		for from := 0; from < rows; from += most {
			err := k.call(ctx, "attention", uint64(qkv), uint64(out), uint64(weights), uint64(rows), uint64(hidden), uint64(head), uint64(size),
				uint64(from), uint64(min(from+most, rows)))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Norm is the normalisation of a row.
type Norm struct {
	Gain, Shift Address
	Epsilon     float32
}

// Normalise adds more to x, and normalises the rows of x.
func (k *Kernel) Normalise(ctx context.Context, n Norm, x, more Address, rows, width int) error {
	return k.call(ctx, "normalise", uint64(x), uint64(more), uint64(n.Gain), uint64(n.Shift), uint64(rows), uint64(width), api.EncodeF32(n.Epsilon))
}

// Gelu applies the activation function to count numbers.
func (k *Kernel) Gelu(ctx context.Context, x Address, count int) error {
	for most, from := atOnce/128, 0; from < count; from += most {
		if err := k.call(ctx, "gelu", uint64(x)+uint64(4*from), uint64(min(most, count-from))); err != nil {
			return err
		}
	}
	return nil
}

// Pool sets out to the mean of rows, of length 1.
func (k *Kernel) Pool(ctx context.Context, x, out Address, rows, width int) error {
	return k.call(ctx, "pool", uint64(x), uint64(out), uint64(rows), uint64(width))
}
