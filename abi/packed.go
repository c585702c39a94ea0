package abi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Scoring is a request of KindScore. Its layout, little-endian: u32 n, u32 f, u32 j, j bytes of JSON, zeros up to a
// multiple of 4, then f columns of n float32.
type Scoring struct {
	Params     []byte // the JSON of ScoreParams
	Candidates int
	Columns    [][]float32 // one for each feature of the manifest, each with a value for each candidate; NaN is missing
}

// scoreHead is the length of n, f and j.
const scoreHead = 12

// AppendScoring appends the request to dst.
func AppendScoring(dst []byte, s Scoring) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(s.Candidates))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s.Columns)))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s.Params)))
	dst = append(dst, s.Params...)
	dst = append(dst, make([]byte, padding(len(s.Params)))...)
	for _, column := range s.Columns {
		dst = appendFloats(dst, column[:s.Candidates])
	}
	return dst
}

// ParseScoring reads a request. What it answers shares no memory with data.
func ParseScoring(data []byte) (Scoring, error) {
	if len(data) < scoreHead {
		return Scoring{}, fmt.Errorf("a score request has %d bytes; its head has %d", len(data), scoreHead)
	}
	n, f, j := uint64(u32(data)), uint64(u32(data[4:])), uint64(u32(data[8:]))
	columns := scoreHead + j + uint64(padding(int(j)))
	// n and f are below 2^32, so n*f fits; 4*n*f may not, hence the division.
	if rest := uint64(len(data)) - columns; columns > uint64(len(data)) || rest%4 != 0 || n*f != rest/4 {
		return Scoring{}, fmt.Errorf("a score request of %d bytes does not hold %d candidates, %d features and %d bytes of JSON", len(data), n, f, j)
	}
	if f == 0 && n > 0 {
		return Scoring{}, errors.New("a score request has candidates and no features")
	}
	s := Scoring{Params: append([]byte(nil), data[scoreHead:scoreHead+j]...), Candidates: int(n)}
	for i := range f {
		s.Columns = append(s.Columns, floats(data[columns+4*n*i:], int(n)))
	}
	return s, nil
}

// AppendScores appends the result of KindScore to dst.
func AppendScores(dst []byte, scores []float32) []byte { return appendFloats(dst, scores) }

// ParseScores reads the result of KindScore for n candidates. A score that is not finite makes all of it an error: the
// host then ranks by itself.
func ParseScores(data []byte, n int) ([]float32, error) {
	if err := checkScores(data, n); err != nil {
		return nil, err
	}
	return floats(data, n), nil
}

func checkScores(data []byte, n int) error {
	if len(data) != 4*n {
		return fmt.Errorf("the scores have %d bytes; %d candidates need %d", len(data), n, 4*n)
	}
	return checkFinite("score", data)
}

// AppendVectors appends the result of KindEmbed to dst: u32 n, u32 d, then n vectors of d float32, little-endian.
func AppendVectors(dst []byte, dimensions int, vectors [][]float32) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(vectors)))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(dimensions))
	for _, v := range vectors {
		dst = appendFloats(dst, v[:dimensions])
	}
	return dst
}

// ParseVectors reads the result of KindEmbed for n texts by a guest whose manifest says how many dimensions there are.
func ParseVectors(data []byte, n, dimensions int) ([][]float32, error) {
	if err := checkVectors(data, n, dimensions); err != nil {
		return nil, err
	}
	vectors := make([][]float32, n)
	for i := range vectors {
		vectors[i] = floats(data[vectorHead+4*dimensions*i:], dimensions)
	}
	return vectors, nil
}

// vectorHead is the length of n and d.
const vectorHead = 8

func checkVectors(data []byte, n, dimensions int) error {
	if len(data) < vectorHead {
		return fmt.Errorf("the vectors have %d bytes; their head has %d", len(data), vectorHead)
	}
	if gotN, gotD := u32(data), u32(data[4:]); uint64(gotN) != uint64(n) || uint64(gotD) != uint64(dimensions) {
		return fmt.Errorf("there are %d vectors of %d dimensions; asked for were %d of %d", gotN, gotD, n, dimensions)
	}
	if want := vectorHead + 4*n*dimensions; len(data) != want {
		return fmt.Errorf("the vectors have %d bytes; %d of %d dimensions have %d", len(data), n, dimensions, want)
	}
	return checkFinite("vector", data[vectorHead:])
}

func padding(n int) int { return -n & 3 }

func u32(data []byte) uint32 { return binary.LittleEndian.Uint32(data) }

func appendFloats(dst []byte, values []float32) []byte {
	for _, v := range values {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
	}
	return dst
}

func floats(data []byte, n int) []float32 {
	values := make([]float32, n)
	for i := range values {
		values[i] = math.Float32frombits(u32(data[4*i:]))
	}
	return values
}

func checkFinite(what string, data []byte) error {
	const exponent = 0x7f800000 // all ones: infinite, or not a number
	for i := 0; i+4 <= len(data); i += 4 {
		if u32(data[i:])&exponent == exponent {
			return fmt.Errorf("%s: value %d is not finite", what, i/4)
		}
	}
	return nil
}
