package alcove

import "math"

// Ranking is a search whose candidates are to be scored.
type Ranking struct {
	*Call
	Query   string      // the question
	Instant string      // when the search looks, RFC 3339; with as_of it is earlier than Now
	Columns [][]float32 // one for each feature of the manifest, in its order; NaN is missing
	Scores  []float32   // one for each candidate: the handler fills them in; higher is better
}

// Texts are to be turned into vectors.
type Texts struct {
	*Call
	Texts   []string
	Purpose string // document or query
}

// scoreHead is the length of n, f and j.
const scoreHead = 12

// parseScoring reads u32 n, f and j, j bytes of JSON padded to 4, and f columns of n float32.
func parseScoring(data []byte) (params []byte, r *Ranking, err error) {
	if len(data) < scoreHead {
		return nil, nil, Errorf(InvalidArgument, "a score request has %d bytes; its head has %d", len(data), scoreHead)
	}
	n, f, j := uint64(u32(data)), uint64(u32(data[4:])), uint64(u32(data[8:]))
	at := scoreHead + j + (-j & 3)
	// n and f are below 2^32, so n*f fits; 4*n*f may not, hence the division.
	if at > uint64(len(data)) || (uint64(len(data))-at)%4 != 0 || n*f != (uint64(len(data))-at)/4 || f == 0 && n > 0 {
		return nil, nil, Errorf(InvalidArgument, "a score request of %d bytes does not hold %d candidates, %d features and %d bytes of JSON", len(data), n, f, j)
	}
	r = &Ranking{Scores: make([]float32, n), Columns: make([][]float32, f)}
	all := make([]float32, n*f)
	for i := range all {
		all[i] = math.Float32frombits(u32(data[at+4*uint64(i):]))
	}
	for i := range r.Columns {
		r.Columns[i] = all[uint64(i)*n : uint64(i+1)*n]
	}
	return data[scoreHead : scoreHead+j], r, nil
}

// appendVectors appends u32 n, u32 d, then n vectors of d float32.
func appendVectors(dst []byte, vectors [][]float32) []byte {
	d := 0
	if len(vectors) > 0 {
		d = len(vectors[0])
	}
	dst = appendU32(dst, uint32(len(vectors)))
	dst = appendU32(dst, uint32(d))
	for _, v := range vectors {
		dst = appendFloats(dst, v)
	}
	return dst
}

func appendFloats(dst []byte, values []float32) []byte {
	for _, v := range values {
		dst = appendU32(dst, math.Float32bits(v))
	}
	return dst
}

func u32(data []byte) uint32 {
	return uint32(data[0]) | uint32(data[1])<<8 | uint32(data[2])<<16 | uint32(data[3])<<24
}

func appendU32(dst []byte, v uint32) []byte {
	return append(dst, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
}

// Expect is an error unless there are so many columns.
func (r *Ranking) Expect(columns int) error {
	if len(r.Columns) != columns {
		return Errorf(InvalidArgument, "there are %d columns; the manifest asks for %d", len(r.Columns), columns)
	}
	return nil
}
