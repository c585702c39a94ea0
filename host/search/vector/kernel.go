package vector

import (
	"fmt"
	"math/bits"
	"unsafe"
)

// Rows are padded to whole blocks.
const (
	floatBlock = 16 // float32 elements
	codeBlock  = 64 // codes
	partBlock  = 16 // elements of Integers
	bitGroup   = 8  // rows with interleaved words of bits
)

// kernels compute a number for each of many rows. All implementations return identical bits.
type kernels struct {
	// dotFloats computes dot products of a query with consecutive rows. len(query) is a multiple of floatBlock.
	dotFloats func(query, rows, out []float32)
	// dotCodes computes dot products with codes from 0 to 127. The query's elements range from −127 to 127, so that pairs
	// of products fit in 16 bits. len(query) is a multiple of codeBlock.
	dotCodes func(query []int8, codes []uint8, out []int32)
	// dotIntegers computes dot products with rows of small integers, anywhere in memory. len(query) is a multiple of partBlock, the rows have as
	// many elements, and no sum leaves the range of an int32.
	dotIntegers func(query []int16, rows []*int8, out []int32)
	// differ computes Hamming distances, and tells which of them are below a bound, a bit each. Rows are interleaved in groups of bitGroup: the
	// first word of each, then the second word of each. len(out) is a multiple of bitGroup, and len(under) is that of the groups.
	differ func(query, bits []uint64, below uint64, out []uint64, under []uint8)
}

// checkRows panics if a kernel would read or write out of bounds. A row takes so many of what there is.
func checkRows(have, stride, n, block, each int) {
	if stride == 0 || n == 0 || stride%block != 0 || have < n*each {
		panic(fmt.Sprintf("vector: %d rows of %d do not fit %d elements", n, stride, have))
	}
}

func portable() kernels {
	return kernels{dotFloats: dotFloats, dotCodes: dotCodes, dotIntegers: dotIntegers, differ: differ}
}

func dotFloats(query, rows, out []float32) {
	checkRows(len(rows), len(query), len(out), floatBlock, len(query))
	for i := range out {
		row := rows[i*len(query) : (i+1)*len(query)]
		var sums [floatBlock]float32
		for lane := 0; lane < floatBlock; lane += 4 { // four of the lanes at a time stay in registers
			var a, b, c, d float32
			for at := lane; at < len(row); at += floatBlock {
				x, y := (*[4]float32)(row[at:]), (*[4]float32)(query[at:])
				// The conversions prevent fused multiply-add, which rounds differently.
				a += float32(x[0] * y[0])
				b += float32(x[1] * y[1])
				c += float32(x[2] * y[2])
				d += float32(x[3] * y[3])
			}
			sums[lane], sums[lane+1], sums[lane+2], sums[lane+3] = a, b, c, d
		}
		out[i] = sum16(&sums)
	}
}

// sum16 sums pairwise by halves, in the order of the vector kernels.
func sum16(s *[floatBlock]float32) float32 {
	for width := floatBlock / 2; width > 0; width /= 2 {
		for i := range width {
			s[i] += s[i+width]
		}
	}
	return s[0]
}

func dotCodes(query []int8, codes []uint8, out []int32) {
	checkRows(len(codes), len(query), len(out), codeBlock, len(query))
	for i := range out {
		row := codes[i*len(query) : (i+1)*len(query)]
		var a, b, c, d int32 // four accumulators for instruction-level parallelism
		for at := 0; at < len(row); at += codeBlock {
			x, y := (*[codeBlock]uint8)(row[at:]), (*[codeBlock]int8)(query[at:])
			for j := 0; j < codeBlock; j += 4 {
				a += int32(x[j]) * int32(y[j])
				b += int32(x[j+1]) * int32(y[j+1])
				c += int32(x[j+2]) * int32(y[j+2])
				d += int32(x[j+3]) * int32(y[j+3])
			}
		}
		out[i] = a + b + c + d
	}
}

func dotIntegers(query []int16, rows []*int8, out []int32) {
	checkRows(len(rows), len(query), len(out), partBlock, 1)
	for i, first := range rows[:len(out)] {
		sum := int32(0)
		for j, x := range unsafe.Slice(first, len(query)) {
			sum += int32(x) * int32(query[j])
		}
		out[i] = sum
	}
}

func differ(query, rows []uint64, below uint64, out []uint64, under []uint8) {
	checkRows(len(rows), len(query), len(out), 1, len(query))
	checkRows(len(under)*bitGroup, bitGroup, len(out)/bitGroup, bitGroup, bitGroup)
	for i := 0; i < len(out); i += bitGroup {
		group, sums := rows[i*len(query):], (*[bitGroup]uint64)(out[i:])
		*sums = [bitGroup]uint64{}
		for j, q := range query {
			words := (*[bitGroup]uint64)(group[j*bitGroup:])
			for row, w := range words {
				sums[row] += uint64(bits.OnesCount64(w ^ q))
			}
		}
		set := uint8(0)
		for row, sum := range sums {
			if sum < below {
				set |= 1 << row
			}
		}
		under[i/bitGroup] = set
	}
}
