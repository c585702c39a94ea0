package alcove

import (
	"encoding/base64"
	"encoding/binary"
	"math"
)

// Vectors are the vectors of up to 256 texts, nil of a text without one, and the model that made them. It reads them faster than
// EmbedTexts.
func (c *Call) Vectors(r EmbedTextsRequest) (vectors [][]float32, model string, err error) {
	r.Packed = true
	out, err := c.EmbedTexts(r)
	if err != nil {
		return nil, "", err
	}
	if len(out.Vectors) == len(r.Texts) { // by a host that does not pack them
		return out.Vectors, out.Model, nil
	}
	data, err := base64.StdEncoding.DecodeString(out.Packed)
	if err != nil || len(data) != 4*out.Dimensions*len(r.Texts) {
		return nil, "", Errorf(Internal, "read vectors: %d texts have %d bytes of %d dimensions: %v", len(r.Texts), len(data), out.Dimensions, err)
	}
	vectors = make([][]float32, len(r.Texts))
	for i := range vectors {
		vectors[i] = unpacked(data[4*i*out.Dimensions:][:4*out.Dimensions])
	}
	return vectors, out.Model, nil
}

// unpacked is a vector; nil where all of it is zero.
func unpacked(data []byte) []float32 {
	v, some := make([]float32, len(data)/4), uint32(0)
	for i := range v {
		bits := binary.LittleEndian.Uint32(data[4*i:])
		v[i], some = math.Float32frombits(bits), some|bits
	}
	if some == 0 {
		return nil
	}
	return v
}
