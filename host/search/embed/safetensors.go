package embed

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// Limits of a model's files, in bytes.
const (
	largestModel  = 4 << 30
	largestHeader = 16 << 20
)

// tensor is an array of a safetensors file: eight bytes with the header's length, a JSON header, then the numbers.
type tensor struct {
	kind  string
	shape []int
	data  []byte // little-endian
}

// tensors parses a safetensors file. The tensors share its memory.
func tensors(file []byte) (map[string]tensor, error) {
	if len(file) < 8 {
		return nil, errors.New("it is too short to be safetensors")
	}
	length := binary.LittleEndian.Uint64(file)
	if length > largestHeader || length > uint64(len(file)-8) {
		return nil, fmt.Errorf("its header claims %d bytes", length)
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(file[8:8+length], &raw); err != nil {
		return nil, fmt.Errorf("read its header: %w", err)
	}
	data, list := file[8+length:], map[string]tensor{}
	for name, description := range raw {
		if name == "__metadata__" {
			continue
		}
		t, err := cutTensor(description, data)
		if err != nil {
			return nil, fmt.Errorf("tensor %.80q: %w", name, err)
		}
		list[name] = t
	}
	return list, nil
}

func cutTensor(description json.RawMessage, data []byte) (tensor, error) {
	var d struct {
		Kind    string   `json:"dtype"`
		Shape   []int    `json:"shape"`
		Offsets []uint64 `json:"data_offsets"`
	}
	if err := json.Unmarshal(description, &d); err != nil {
		return tensor{}, err
	}
	if len(d.Offsets) != 2 || d.Offsets[0] > d.Offsets[1] || d.Offsets[1] > uint64(len(data)) {
		return tensor{}, errors.New("it lies outside of the file")
	}
	count := 1
	for _, n := range d.Shape {
		if n < 0 || n > 1<<31 || count > 1<<40/max(n, 1) {
			return tensor{}, fmt.Errorf("a shape of %v", d.Shape)
		}
		count *= n
	}
	t := tensor{d.Kind, d.Shape, data[d.Offsets[0]:d.Offsets[1]]}
	if count*t.width() != len(t.data) {
		return tensor{}, fmt.Errorf("%v of %s do not fit %d bytes", d.Shape, d.Kind, len(t.data))
	}
	return t, nil
}

// width is an element's size in bytes; 0: unsupported.
func (t tensor) width() int {
	switch t.kind {
	case "F64", "I64":
		return 8
	case "F32", "I32":
		return 4
	case "F16", "BF16":
		return 2
	case "I8":
		return 1
	}
	return 0
}

// at returns element i.
func (t tensor) at(i int) float32 {
	switch t.kind {
	case "F64":
		return float32(math.Float64frombits(binary.LittleEndian.Uint64(t.data[8*i:])))
	case "I64":
		return float32(int64(binary.LittleEndian.Uint64(t.data[8*i:])))
	case "F32":
		return math.Float32frombits(binary.LittleEndian.Uint32(t.data[4*i:]))
	case "I32":
		return float32(int32(binary.LittleEndian.Uint32(t.data[4*i:])))
	case "F16":
		return half(binary.LittleEndian.Uint16(t.data[2*i:]))
	case "BF16":
		return math.Float32frombits(uint32(binary.LittleEndian.Uint16(t.data[2*i:])) << 16)
	}
	return float32(int8(t.data[i]))
}

// half decodes an IEEE 754 half-precision number.
func half(bits uint16) float32 {
	sign, exponent, fraction := uint32(bits>>15)<<31, uint32(bits>>10&31), uint32(bits&1023)
	switch exponent {
	case 0:
		v := float32(fraction) / (1 << 24)
		if sign != 0 {
			v = -v
		}
		return v
	case 31:
		return math.Float32frombits(sign | 0xFF<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}
