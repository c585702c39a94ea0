package meter

import "github.com/alcove-memory/alcove/host/sandbox/wasm"

// gap is how many zeros between two segments of data are worth one segment less, in bytes.
const gap = 64

// joinData joins segments of data that are close to each other. Go's linker leaves out every short run of zeros, so
// a guest in Go has some ten thousand segments, each of which costs at every load and for every instance. Nothing
// changes if no instruction names a segment, none is written over another, and memory begins as zeros.
func (w *rewriter) joinData() {
	if w.drops || len(w.inits) > 0 || w.from.Imported(wasm.KindMemory) > 0 {
		return
	}
	segments := w.from.Data
	ends := make([]uint64, len(segments))
	for i, s := range segments {
		at, ok := place(s)
		if !ok || i > 0 && at < ends[i-1] {
			return
		}
		ends[i] = at + uint64(len(s.Bytes))
	}
	var joined []wasm.Data
	for i, s := range segments {
		at, _ := place(s)
		if i == 0 || at-ends[i-1] > gap {
			s.Bytes = append([]byte(nil), s.Bytes...)
			joined = append(joined, s)
			continue
		}
		last := &joined[len(joined)-1]
		last.Bytes = append(append(last.Bytes, make([]byte, at-ends[i-1])...), s.Bytes...)
	}
	w.module.Data = joined
	if w.module.DataCount != nil {
		count := uint32(len(joined))
		w.module.DataCount = &count
	}
}

// place is where an active segment begins, if that is a constant.
func place(s wasm.Data) (uint64, bool) {
	code := wasm.Code{Body: s.At.Bytes}
	r := code.Instructions(0)
	var in wasm.Instr
	if s.Mode != wasm.Active || r.Next(&in) != nil || in.Op != wasm.OpI32Const {
		return 0, false
	}
	return uint64(uint32(in.Value)), true
}
