package vector

import "golang.org/x/sys/cpu"

//go:noescape
func dotFloatsAVX2(query, rows *float32, n, stride int, out *float32)

//go:noescape
func dotPairsAVX2(query, rows *float32, pairs, stride int, out *float32)

//go:noescape
func dotCodesAVX2(query *int8, codes *uint8, n, stride int, out *int32)

//go:noescape
func differAVX2(query, bits *uint64, n, words int, out *uint64)

// fastest returns the kernels for this processor.
func fastest() kernels {
	if !cpu.X86.HasAVX2 {
		return portable()
	}
	return kernels{
		dotFloats: func(query, rows []float32, out []float32) {
			checkRows(len(rows), len(query), len(out), floatBlock)
			if pairs := len(out) / 2; pairs > 0 {
				dotPairsAVX2(&query[0], &rows[0], pairs, len(query), &out[0])
			}
			if last := len(out) - 1; last%2 == 0 {
				dotFloatsAVX2(&query[0], &rows[last*len(query)], 1, len(query), &out[last])
			}
		},
		dotCodes: func(query []int8, codes []uint8, out []int32) {
			checkRows(len(codes), len(query), len(out), codeBlock)
			dotCodesAVX2(&query[0], &codes[0], len(out), len(query), &out[0])
		},
		differ: func(query, bits []uint64, out []uint64) {
			checkRows(len(bits), len(query), len(out), 1)
			differAVX2(&query[0], &bits[0], len(out)/bitGroup, len(query), &out[0])
		},
	}
}
