package embed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"

	"github.com/alcove-memory/alcove/host/regular"
)

// Model is a model2vec model: token vectors with a tokenizer. A text's vector is the mean of its tokens' vectors. It is
// safe for concurrent use.
type Model struct {
	tokenizer  *tokenizer
	vectors    tensor
	weights    *tensor // by token; nil: all 1
	mapping    *tensor // from tokens to rows; nil: the identity
	dimensions int
	normalize  bool
}

// longestText bounds the embedded tokens of a text.
const longestText = 4096

// OpenModel reads model.safetensors, tokenizer.json and an optional config.json from a folder.
func OpenModel(dir string) (*Model, error) {
	m, err := openModel(dir)
	if err != nil {
		return nil, fmt.Errorf("open the model in %s: %w", dir, err)
	}
	return m, nil
}

func openModel(dir string) (*Model, error) {
	weights, err := readBounded(filepath.Join(dir, "model.safetensors"), largestModel)
	if err != nil {
		return nil, err
	}
	description, err := readBounded(filepath.Join(dir, "tokenizer.json"), largestTokenizer)
	if err != nil {
		return nil, err
	}
	settings, err := readBounded(filepath.Join(dir, "config.json"), 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		settings, err = []byte("{}"), nil
	}
	if err != nil {
		return nil, err
	}
	return newModel(weights, description, settings)
}

func readBounded(path string, most int64) ([]byte, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > most {
		return nil, fmt.Errorf("%s has %d bytes, and may have %d", path, info.Size(), most)
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return data, nil
}

func newModel(weights, description, settings []byte) (*Model, error) {
	var config struct {
		Normalize *bool `json:"normalize"`
	}
	if err := json.Unmarshal(settings, &config); err != nil {
		return nil, fmt.Errorf("read config.json: %w", err)
	}
	list, err := tensors(weights)
	if err != nil {
		return nil, fmt.Errorf("read model.safetensors: %w", err)
	}
	m := &Model{normalize: config.Normalize == nil || *config.Normalize}
	if err := m.setTensors(list); err != nil {
		return nil, fmt.Errorf("read model.safetensors: %w", err)
	}
	if m.tokenizer, err = newTokenizer(description); err != nil {
		return nil, fmt.Errorf("read tokenizer.json: %w", err)
	}
	return m, nil
}

// setTensors sets the model's tensors.
func (m *Model) setTensors(list map[string]tensor) error {
	vectors, ok := list["embeddings"]
	if !ok {
		vectors, ok = list["embedding.weight"]
	}
	if !ok || len(vectors.shape) != 2 {
		return errors.New(`there is no table "embeddings"`)
	}
	if m.dimensions = vectors.shape[1]; m.dimensions < 1 || m.dimensions > MaxDimensions {
		return fmt.Errorf("its vectors have %d dimensions: they go from 1 to %d", m.dimensions, MaxDimensions)
	}
	m.vectors = vectors
	for name, into := range map[string]**tensor{"weights": &m.weights, "mapping": &m.mapping} {
		t, ok := list[name]
		if !ok {
			continue
		}
		if len(t.shape) != 1 {
			return fmt.Errorf("%q is not a list", name)
		}
		*into = &t
	}
	return nil
}

// Words returns the words that are tokens of their own, sorted.
func (m *Model) Words() []string { return m.tokenizer.words }

// Row returns the weight of a token, and its vector before it is weighed. ok is false if the model has none, or one whose
// elements are not of eight bits.
func (m *Model) Row(token int) (weight float32, vector []int8, ok bool) {
	at, weight := m.row(token)
	if at < 0 || m.vectors.kind != "I8" {
		return 0, nil, false
	}
	vector = make([]int8, m.dimensions)
	for i := range vector {
		vector[i] = int8(m.vectors.at(at*m.dimensions + i))
	}
	return weight, vector, true
}

// Name implements Embedder.
func (m *Model) Name() string { return string(Static) }

// Dimensions implements Embedder.
func (m *Model) Dimensions() int { return m.dimensions }

// Embed implements Embedder. A text without any known token gets nil.
func (m *Model) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		vectors[i] = m.Vector(text)
	}
	return vectors, nil
}

// Vector returns the embedding of a text; nil if the model knows none of its tokens.
func (m *Model) Vector(text string) []float32 {
	sum, n := make([]float64, m.dimensions), 0
	for _, token := range m.tokenizer.tokens(text, longestText) {
		if m.add(sum, token) {
			n++
		}
	}
	length := 0.0
	for i := range sum {
		sum[i] /= float64(max(n, 1))
		length += sum[i] * sum[i]
	}
	length = math.Sqrt(length)
	if n == 0 || length < 1e-12 || math.IsNaN(length) || math.IsInf(length, 0) {
		return nil
	}
	if !m.normalize {
		length = 1
	}
	v := make([]float32, m.dimensions)
	for i := range v {
		v[i] = float32(sum[i] / length)
	}
	return v
}

// add adds a token's weighted vector to sum. It reports whether the token has one.
func (m *Model) add(sum []float64, token int) bool {
	row, weight := m.row(token)
	if row < 0 {
		return false
	}
	for i := range sum {
		sum[i] += float64(weight) * float64(m.vectors.at(row*m.dimensions+i))
	}
	return true
}

// row returns the row and the weight of a token; −1: it has none.
func (m *Model) row(token int) (row int, weight float32) {
	row, weight = token, 1
	if m.mapping != nil {
		if token >= m.mapping.shape[0] {
			return -1, 0
		}
		row = int(m.mapping.at(token))
	}
	if m.weights != nil && token < m.weights.shape[0] {
		weight = m.weights.at(token)
	}
	if row >= m.vectors.shape[0] {
		return -1, 0
	}
	return max(row, -1), weight
}
