package vector

import "golang.org/x/sys/cpu"

//go:noescape
func dotFloatsAVX2(query, rows *float32, n, stride int, out *float32)

//go:noescape
func dotPairsAVX2(query, rows *float32, pairs, stride int, out *float32)

//go:noescape
func dotCodesAVX2(query *int8, codes *uint8, n, stride int, out *int32)

//go:noescape
func dotIntegersAVX2(query *int16, rows **int8, n, stride int, out *int32)

//go:noescape
func differAVX2(query, bits *uint64, n, words int, below uint64, out *uint64, under *uint8)

//go:noescape
func differAVX512(query, bits *uint64, n, words int, below uint64, out *uint64, under *uint8)

// fastest returns the kernels for this processor.
func fastest() kernels {
	if !cpu.X86.HasAVX2 {
		return portable()
	}
	return kernels{
		dotFloats: func(query, rows []float32, out []float32) {
			checkRows(len(rows), len(query), len(out), floatBlock, len(query))
			if pairs := len(out) / 2; pairs > 0 {
				dotPairsAVX2(&query[0], &rows[0], pairs, len(query), &out[0])
			}
			if last := len(out) - 1; last%2 == 0 {
				dotFloatsAVX2(&query[0], &rows[last*len(query)], 1, len(query), &out[last])
			}
		},
		dotCodes: func(query []int8, codes []uint8, out []int32) {
			checkRows(len(codes), len(query), len(out), codeBlock, len(query))
			dotCodesAVX2(&query[0], &codes[0], len(out), len(query), &out[0])
		},
		dotIntegers: func(query []int16, rows []*int8, out []int32) {
			checkRows(len(rows), len(query), len(out), partBlock, 1)
			dotIntegersAVX2(&query[0], &rows[0], len(out), len(query), &out[0])
		},
		differ: differing(fastestDiffer()),
	}
}

// fastestDiffer returns the kernel of bits for a processor with AVX2.
func fastestDiffer() func(query, bits *uint64, n, words int, below uint64, out *uint64, under *uint8) {
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VPOPCNTDQ {
		return differAVX512
	}
	return differAVX2
}

// differing checks what a kernel of bits is called with.
func differing(kernel func(query, bits *uint64, n, words int, below uint64, out *uint64, under *uint8)) func(query, bits []uint64, below uint64, out []uint64, under []uint8) {
	return func(query, bits []uint64, below uint64, out []uint64, under []uint8) {
		checkRows(len(bits), len(query), len(out), 1, len(query))
		checkRows(len(under)*bitGroup, bitGroup, len(out)/bitGroup, bitGroup, bitGroup)
		kernel(&query[0], &bits[0], len(out)/bitGroup, len(query), below, &out[0], &under[0])
	}
}
