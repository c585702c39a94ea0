package embed

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/regular"
)

// QuantisedFile has the weights of a transformer in eight bits. It takes the place of its model.safetensors.
const QuantisedFile = "quantised.safetensors"

// IsFolder reports whether a folder has a model, without reading it.
func IsFolder(dir string) bool {
	f, err := regular.Open(filepath.Join(dir, "tokenizer.json"))
	return err == nil && f.Close() == nil
}

// OpenFolder opens the model in a folder: a static one, or a transformer.
func OpenFolder(dir string) (Embedder, error) {
	settings, err := readBounded(filepath.Join(dir, "config.json"), 1<<20)
	if err != nil || !isTransformer(settings) {
		return OpenModel(dir) // which needs no config.json
	}
	t, err := openTransformer(dir)
	if err != nil {
		return nil, fmt.Errorf("open the model in %s: %w", dir, err)
	}
	return t, nil
}

// Quantise writes the weights of the transformer in a folder in eight bits. isOne is false, and nothing is written, if there is another model.
func Quantise(dir string, out func(write func(io.Writer) error) error) (isOne bool, err error) {
	settings, err := readBounded(filepath.Join(dir, "config.json"), 1<<20)
	if err != nil || !isTransformer(settings) {
		return false, err
	}
	file, err := readBounded(filepath.Join(dir, "model.safetensors"), largestModel)
	if err != nil {
		return true, err
	}
	list, err := tensors(file)
	if err != nil {
		return true, fmt.Errorf("read model.safetensors: %w", err)
	}
	return true, out(func(w io.Writer) error { return writeQuantised(w, list) })
}

// keptWhole reports whether a tensor is small, and so kept as it is.
func keptWhole(name string, t tensor) bool {
	return len(t.shape) != 2 || t.kind == "I8" || !strings.HasSuffix(name, ".weight") ||
		strings.HasSuffix(name, positionTable+".weight") || strings.HasSuffix(name, typeTable+".weight")
}

func writeQuantised(w io.Writer, list map[string]tensor) error {
	type described struct {
		Kind    string `json:"dtype"`
		Shape   []int  `json:"shape"`
		Offsets [2]int `json:"data_offsets"`
	}
	header, at := map[string]described{}, 0
	place := func(name, kind string, shape []int, bytes int) {
		header[name] = described{kind, shape, [2]int{at, at + bytes}}
		at += bytes
	}
	names := slices.Sorted(maps.Keys(list))
	for _, name := range names {
		t := list[name]
		if keptWhole(name, t) {
			place(name, t.kind, t.shape, len(t.data))
			continue
		}
		place(name, "I8", t.shape, t.shape[0]*t.shape[1])
		place(scaleOf(name), "F32", t.shape[:1], 4*t.shape[0])
	}
	raw, err := json.Marshal(header)
	if err != nil {
		return err
	}
	if _, err := w.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(len(raw))), raw...)); err != nil {
		return err
	}
	for _, name := range names {
		if err := writeTensor(w, name, list[name]); err != nil {
			return fmt.Errorf("tensor %.80q: %w", name, err)
		}
	}
	return nil
}

func scaleOf(name string) string { return strings.TrimSuffix(name, ".weight") + ".scale" }

func writeTensor(w io.Writer, name string, t tensor) error {
	if keptWhole(name, t) {
		_, err := w.Write(t.data)
		return err
	}
	q, err := t.quantise()
	if err != nil {
		return err
	}
	scales := make([]byte, 0, 4*len(q.scales))
	for _, s := range q.scales {
		scales = binary.LittleEndian.AppendUint32(scales, math.Float32bits(s))
	}
	if _, err := w.Write(q.values); err != nil {
		return err
	}
	_, err = w.Write(scales)
	return err
}
