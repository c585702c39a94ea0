package meter_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/alcove-memory/alcove/host/sandbox/meter"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
)

// filled is a module with data segments at the given addresses, and one function.
func filled(code []byte, segments ...wasm.Data) []byte {
	count := uint32(len(segments))
	return wasm.Encode(&wasm.Module{
		Types: []wasm.FuncType{{}}, Functions: []uint32{0}, Memories: []wasm.Range{{Min: 1}},
		Exports:   []wasm.Export{{Name: "memory", Kind: wasm.KindMemory}},
		DataCount: &count, Codes: []wasm.Code{{Body: append(code, byte(wasm.OpEnd))}}, Data: segments,
	})
}

func segment(at int64, text string) wasm.Data {
	place := append(wasm.AppendS64([]byte{byte(wasm.OpI32Const)}, at), byte(wasm.OpEnd))
	return wasm.Data{At: wasm.Expr{Bytes: place}, Bytes: []byte(text)}
}

func TestNeighbouringSegmentsAreMergedAndFillMemoryAsBefore(t *testing.T) {
	drop := []byte{0xfc, 9, 0}
	for name, c := range map[string]struct {
		module []byte
		want   int
	}{
		"close":                      {filled(nil, segment(8, "one"), segment(11, "two"), segment(30, "three")), 1},
		"far":                        {filled(nil, segment(8, "one"), segment(400, "two")), 2},
		"close, far, close":          {filled(nil, segment(8, "one"), segment(20, "two"), segment(400, "three"), segment(410, "four")), 2},
		"one over another":           {filled(nil, segment(8, "one"), segment(9, "two")), 2},
		"backwards":                  {filled(nil, segment(30, "one"), segment(8, "two")), 1},
		"one between two others":     {filled(nil, segment(10, "x"), segment(8, "a"), segment(12, "b")), 1},
		"one beyond the end":         {filled(nil, segment(8, "a"), segment(65536, "b"), segment(20, "c")), 2},
		"empty ones":                 {filled(nil, segment(8, ""), segment(9, "")), 1},
		"named by an instruction":    {filled(drop, segment(8, "one"), segment(12, "two")), 2},
		"passive":                    {filled(nil, segment(8, "one"), wasm.Data{Mode: wasm.Passive, Bytes: []byte("two")}), 2},
		"up to the end of memory":    {filled(nil, segment(65530, "ab"), segment(65534, "cd")), 1},
		"in the upper half, as Go's": {filled(nil, segment(-100, "ab"), segment(-90, "cd")), 1},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := wasm.Parse(c.module, wasm.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			out, _, err := meter.Rewrite(v, meter.Options{})
			if err != nil {
				t.Fatal(err)
			}
			again, err := wasm.Parse(out, wasm.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if n := len(again.Data); n != c.want {
				t.Errorf("%d segments, want %d", n, c.want)
			}
			if before, after := memoryOf(t, c.module), memoryOf(t, out); !bytes.Equal(before, after) {
				t.Error("memory begins with other bytes")
			}
		})
	}
}

// memoryOf returns the initial memory of a module; nil if it cannot start.
func memoryOf(t *testing.T, module []byte) []byte {
	t.Helper()
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	_, err := r.NewHostModuleBuilder(meter.TickModule).NewFunctionBuilder().WithFunc(func() {}).Export(meter.TickName).Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	m, err := r.InstantiateWithConfig(ctx, module, wazero.NewModuleConfig().WithStartFunctions())
	if err != nil {
		return nil
	}
	memory, _ := m.Memory().Read(0, m.Memory().Size())
	return bytes.Clone(memory)
}
