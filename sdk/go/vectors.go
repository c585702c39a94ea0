package alcove

import "math"

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
	data, ok := fromBase64(out.Packed)
	if !ok || len(data) != 4*out.Dimensions*len(r.Texts) {
		return nil, "", Errorf(Internal, "read vectors: %d texts have %d bytes of %d dimensions, in base64: %v", len(r.Texts), len(data), out.Dimensions, ok)
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
		b := data[4*i:][:4]
		bits := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
		v[i], some = math.Float32frombits(bits), some|bits
	}
	if some == 0 {
		return nil
	}
	return v
}

// fromBase64 decodes padded base64 of the standard alphabet. That of encoding/base64 would link reflection into every guest.
func fromBase64(text string) (data []byte, ok bool) {
	if len(text)%4 != 0 {
		return nil, false
	}
	for padding := 0; padding < 2 && len(text) > 0 && text[len(text)-1] == '='; padding++ {
		text = text[:len(text)-1]
	}
	data = make([]byte, 0, len(text)*3/4)
	bits, have := uint32(0), 0
	for i := range len(text) {
		six, known := sixBits(text[i])
		if !known {
			return nil, false
		}
		if bits, have = bits<<6|six, have+6; have >= 8 {
			have -= 8
			data = append(data, byte(bits>>have))
		}
	}
	return data, true
}

// sixBits is what a character of base64 stands for.
func sixBits(c byte) (six uint32, known bool) {
	switch {
	case c >= 'A' && c <= 'Z':
		return uint32(c - 'A'), true
	case c >= 'a' && c <= 'z':
		return uint32(c-'a') + 26, true
	case c >= '0' && c <= '9':
		return uint32(c-'0') + 52, true
	case c == '+':
		return 62, true
	case c == '/':
		return 63, true
	}
	return 0, false
}
