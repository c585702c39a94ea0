package meter

import (
	"cmp"
	"slices"

	"github.com/alcove-memory/alcove/host/sandbox/wasm"
)

// gap is the longest run of zeros, in bytes, worth storing to save a data segment.
const gap = 64

// joinData joins adjacent data segments. Go's linker leaves out every short run of zeros, so a Go guest has some ten
// thousand segments, each of which costs time at every load and instantiation. Joining preserves behavior if no
// instruction names a segment, none overlap, and memory is initially zero: then their order does not matter either.
func (w *rewriter) joinData() {
	if w.drops || len(w.inits) > 0 || w.from.Imported(wasm.KindMemory) > 0 {
		return
	}
	segments, ok := locate(w.from.Data)
	if !ok {
		return
	}
	var joined []wasm.Data
	end := uint64(0)
	for _, s := range segments {
		if len(joined) == 0 || s.at-end > gap {
			joined = append(joined, s.Data)
			joined[len(joined)-1].Bytes = append([]byte(nil), s.Bytes...)
		} else {
			last := &joined[len(joined)-1]
			last.Bytes = append(append(last.Bytes, make([]byte, s.at-end)...), s.Bytes...)
		}
		end = s.at + uint64(len(s.Bytes))
	}
	w.module.Data = joined
	if w.module.DataCount != nil {
		count := uint32(len(joined))
		w.module.DataCount = &count
	}
}

// placedSegment is a segment and its address.
type placedSegment struct {
	wasm.Data
	at uint64
}

// locate sorts segments by address. It returns false if an address is not constant, or two segments overlap.
func locate(segments []wasm.Data) ([]placedSegment, bool) {
	sorted := make([]placedSegment, len(segments))
	for i, s := range segments {
		at, ok := offset(s)
		if !ok {
			return nil, false
		}
		sorted[i] = placedSegment{s, at}
	}
	slices.SortStableFunc(sorted, func(a, b placedSegment) int { return cmp.Compare(a.at, b.at) })
	for i := 1; i < len(sorted); i++ {
		if before := sorted[i-1]; sorted[i].at < before.at+uint64(len(before.Bytes)) {
			return nil, false
		}
	}
	return sorted, true
}

// offset returns the address of an active segment, if it is a constant.
func offset(s wasm.Data) (uint64, bool) {
	code := wasm.Code{Body: s.At.Bytes}
	r := code.Instructions(0)
	var in wasm.Instr
	if s.Mode != wasm.Active || r.Next(&in) != nil || in.Op != wasm.OpI32Const {
		return 0, false
	}
	return uint64(uint32(in.Value)), true
}
