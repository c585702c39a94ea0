package embed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"sync"

	"github.com/alcove-memory/alcove/host/search/embed/kernel"
)

// Limits of a transformer.
const (
	longestInput = 256 // tokens of a text, with the marks around it; the rest is left out
	mostLayers   = 24
	largestTable = 1 << 30 // bytes of token vectors
	largestRoom  = 1 << 30 // bytes of weights and of what is computed
)

// bertConfig is the config.json of a transformer.
type bertConfig struct {
	Type       string  `json:"model_type"`
	Hidden     int     `json:"hidden_size"`
	Layers     int     `json:"num_hidden_layers"`
	Heads      int     `json:"num_attention_heads"`
	Inner      int     `json:"intermediate_size"`
	Positions  int     `json:"max_position_embeddings"`
	Activation string  `json:"hidden_act"`
	Position   string  `json:"position_embedding_type"`
	Epsilon    float64 `json:"layer_norm_eps"`
}

func (c bertConfig) check() error {
	switch {
	case c.Type != "bert":
		return fmt.Errorf("a model of type %.40q: only bert is understood", c.Type)
	case c.Hidden < 8 || c.Hidden > 1024 || c.Hidden%8 != 0:
		return fmt.Errorf("hidden_size %d: it is a multiple of 8 up to 1024", c.Hidden)
	case c.Layers < 1 || c.Layers > mostLayers:
		return fmt.Errorf("num_hidden_layers %d: they go from 1 to %d", c.Layers, mostLayers)
	case c.Heads < 1 || c.Hidden%c.Heads != 0 || c.Hidden/c.Heads%4 != 0:
		return fmt.Errorf("num_attention_heads %d: each has a multiple of 4 of the %d numbers", c.Heads, c.Hidden)
	case c.Inner < 8 || c.Inner > kernel.Widest || c.Inner%8 != 0:
		return fmt.Errorf("intermediate_size %d: it is a multiple of 8 up to %d", c.Inner, kernel.Widest)
	case c.Positions < 8 || c.Positions > 1<<16:
		return fmt.Errorf("max_position_embeddings %d: they go from 8 to 65536", c.Positions)
	case c.Activation != "gelu":
		return fmt.Errorf("hidden_act %.40q: only gelu is understood", c.Activation)
	case c.Position != "" && c.Position != "absolute":
		return fmt.Errorf("position_embedding_type %.40q: only absolute is understood", c.Position)
	case !(c.Epsilon > 0 && c.Epsilon < 1):
		return fmt.Errorf("layer_norm_eps %g: it is between 0 and 1", c.Epsilon)
	}
	return nil
}

// longest is the number of tokens of a text, a multiple of four.
func (c bertConfig) longest() int { return min(c.Positions, longestInput) / 4 * 4 }

// Transformer is a model of BERT's kind. It is safe for concurrent use: texts wait for one another.
type Transformer struct {
	config    bertConfig
	tokenizer *tokenizer
	first     bool        // a text's vector is that of its first token, not the mean of all
	words     quantised   // by token
	places    [][]float32 // by position, with what is the same for all tokens
	kernel    *kernel.Kernel
	begin     kernel.Norm // of the sum of words and places
	layers    []bertLayer
	room      bertRoom
	mu        sync.Mutex // held for one text
}

type bertLayer struct {
	attention, output, up, down kernel.Layer
	middle, end                 kernel.Norm
}

// bertRoom is where a text is computed.
type bertRoom struct {
	x, y, wide, weights, out kernel.Address
	scratch                  kernel.Scratch
}

// quantised is a matrix of eight-bit numbers with a scale for each row.
type quantised struct {
	values []byte
	scales []float32
	width  int
}

// isTransformer reports whether a config.json is of one.
func isTransformer(settings []byte) bool {
	var c struct {
		Layers int `json:"num_hidden_layers"`
	}
	return json.Unmarshal(settings, &c) == nil && c.Layers > 0
}

// openTransformer reads model.safetensors, or what Quantise made of it, tokenizer.json, config.json and how vectors are pooled.
func openTransformer(dir string) (*Transformer, error) {
	settings, err := readBounded(filepath.Join(dir, "config.json"), 1<<20)
	if err != nil {
		return nil, err
	}
	description, err := readBounded(filepath.Join(dir, "tokenizer.json"), largestTokenizer)
	if err != nil {
		return nil, err
	}
	weights, err := readBounded(filepath.Join(dir, QuantisedFile), largestModel)
	if errors.Is(err, fs.ErrNotExist) {
		weights, err = readBounded(filepath.Join(dir, "model.safetensors"), largestModel)
	}
	if err != nil {
		return nil, err
	}
	first, err := poolsFirst(dir)
	if err != nil {
		return nil, err
	}
	return newTransformer(weights, description, settings, first)
}

// PoolingFile says how the vectors of tokens are pooled, as sentence-transformers writes it. Without it, they are by the mean.
const PoolingFile = "1_Pooling/config.json"

// poolsFirst reports whether the first token's vector is that of a text.
func poolsFirst(dir string) (bool, error) {
	var p struct {
		First bool `json:"pooling_mode_cls_token"`
		Mean  bool `json:"pooling_mode_mean_tokens"`
	}
	raw, err := readBounded(filepath.Join(dir, filepath.FromSlash(PoolingFile)), 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &p)
	}
	if err == nil && p.First == p.Mean {
		err = errors.New("vectors are pooled by the mean or by the first token: one of pooling_mode_mean_tokens and pooling_mode_cls_token is true")
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", PoolingFile, err)
	}
	return p.First, nil
}

func newTransformer(weights, description, settings []byte, first bool) (*Transformer, error) {
	t := &Transformer{first: first}
	if err := json.Unmarshal(settings, &t.config); err != nil {
		return nil, fmt.Errorf("read config.json: %w", err)
	}
	if err := t.config.check(); err != nil {
		return nil, fmt.Errorf("read config.json: %w", err)
	}
	var err error
	if t.tokenizer, err = newTokenizer(description); err == nil {
		err = t.tokenizer.mark(description)
	}
	if err != nil {
		return nil, fmt.Errorf("read tokenizer.json: %w", err)
	}
	list, err := tensors(weights)
	if err == nil {
		err = t.load(list)
	}
	if err != nil {
		return nil, fmt.Errorf("read model.safetensors: %w", err)
	}
	return t, nil
}

// load puts the weights into a kernel.
func (t *Transformer) load(list map[string]tensor) (err error) {
	w := bertWeights{list: list, config: t.config}
	if t.words, err = w.matrix(wordTable, -1, t.config.Hidden); err != nil {
		return err
	}
	if len(t.words.values) > largestTable {
		return fmt.Errorf("its token vectors have %d bytes, and may have %d", len(t.words.values), largestTable)
	}
	if t.places, err = w.places(); err != nil {
		return err
	}
	if t.kernel, err = kernel.New(context.Background(), t.config.size(), largestRoom); err != nil {
		return err
	}
	w.kernel = t.kernel
	t.begin = w.norm("embeddings.LayerNorm")
	for i := range t.config.Layers {
		t.layers = append(t.layers, w.layer(fmt.Sprintf("encoder.layer.%d.", i)))
	}
	if w.err != nil {
		return errors.Join(w.err, t.kernel.Close(context.Background()))
	}
	t.reserve()
	return nil
}

// size is the room that a model takes in a kernel.
func (c bertConfig) size() int {
	row, n := c.Hidden, c.longest()
	layer := 4*row*row + 2*row*c.Inner + 4*(9*row+2*c.Inner+6*row+row)
	room := n * (4*(2*row+max(3*row, c.Inner)+2) + 2*max(row, c.Inner))
	return c.Layers*(layer+32*kernel.Size(1)) + room + 16*row + 64*kernel.Size(1)
}

func (t *Transformer) reserve() {
	c, n := t.config, t.config.longest()
	k := t.kernel
	t.room = bertRoom{
		x: k.Reserve(4 * n * c.Hidden), y: k.Reserve(4 * n * c.Hidden), wide: k.Reserve(4 * n * max(3*c.Hidden, c.Inner)),
		weights: k.Reserve(4 * n), out: k.Reserve(4 * c.Hidden),
		scratch: kernel.Scratch{Values: k.Reserve(2 * n * max(c.Hidden, c.Inner)), Scales: k.Reserve(4 * n)},
	}
}

// Name implements Embedder.
func (t *Transformer) Name() string { return string(Installed) }

// Dimensions implements Embedder.
func (t *Transformer) Dimensions() int { return t.config.Hidden }

// Embed implements Embedder. A text without any token gets nil.
func (t *Transformer) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		v, err := t.vector(ctx, t.tokenizer.marked(text, t.config.longest()))
		if err != nil {
			return nil, err
		}
		vectors[i] = v
	}
	return vectors, nil
}

// vector computes the vector of tokens.
func (t *Transformer) vector(ctx context.Context, tokens []int) ([]float32, error) {
	if len(tokens) == 0 {
		return nil, ctx.Err()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	rows := (len(tokens) + 3) / 4 * 4
	input := make([]float32, rows*t.config.Hidden) // zeros beyond the tokens
	for i, token := range tokens {
		if token >= len(t.words.scales) {
			return nil, fmt.Errorf("the tokenizer has a token %d, and the model %d: %w", token, len(t.words.scales), ErrRefused)
		}
		t.words.addRow(input[i*t.config.Hidden:], token, t.places[i])
	}
	t.kernel.SetFloats(t.room.x, input)
	t.kernel.SetFloats(t.room.y, make([]float32, len(input)))
	if err := t.forward(ctx, len(tokens), rows); err != nil {
		return nil, err
	}
	v := t.kernel.Floats(t.room.out, t.config.Hidden)
	for _, x := range v {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return nil, fmt.Errorf("the model computes no finite vector: %w", ErrRefused)
		}
	}
	return v, nil
}

// forward computes a vector from the input. rows is the number of tokens, rounded up.
func (t *Transformer) forward(ctx context.Context, tokens, rows int) error {
	k, c, r := t.kernel, t.config, t.room
	if err := k.Normalise(ctx, t.begin, r.x, r.y, tokens, c.Hidden); err != nil {
		return err
	}
	for _, l := range t.layers {
		for _, step := range []func() error{
			func() error { return k.Apply(ctx, l.attention, r.x, r.wide, r.scratch, rows) },
			func() error { return k.Attend(ctx, r.wide, r.y, r.weights, tokens, c.Hidden, c.Heads) },
			func() error { return k.Apply(ctx, l.output, r.y, r.wide, r.scratch, rows) },
			func() error { return k.Normalise(ctx, l.middle, r.x, r.wide, tokens, c.Hidden) },
			func() error { return k.Apply(ctx, l.up, r.x, r.wide, r.scratch, rows) },
			func() error { return k.Gelu(ctx, r.wide, tokens*c.Inner) },
			func() error { return k.Apply(ctx, l.down, r.wide, r.y, r.scratch, rows) },
			func() error { return k.Normalise(ctx, l.end, r.x, r.y, tokens, c.Hidden) },
		} {
			if err := step(); err != nil {
				return err
			}
		}
	}
	pooled := tokens
	if t.first {
		pooled = 1
	}
	return k.Pool(ctx, r.x, r.out, pooled, c.Hidden)
}

// addRow sets into to a row and more. Without the conversions some processors would round once instead of twice.
func (q quantised) addRow(into []float32, row int, more []float32) {
	for i, x := range q.values[row*q.width : (row+1)*q.width] {
		into[i] = float32(float32(int8(x))*q.scales[row]) + more[i]
	}
}

const (
	wordTable     = "embeddings.word_embeddings"
	positionTable = "embeddings.position_embeddings"
	typeTable     = "embeddings.token_type_embeddings"
)

// bertWeights reads tensors into a kernel, until the first error.
type bertWeights struct {
	list   map[string]tensor
	config bertConfig
	kernel *kernel.Kernel
	err    error
}

// find returns a tensor with a shape; rows −1: any number.
func (w *bertWeights) find(name string, shape ...int) (tensor, error) {
	t, ok := w.list[name]
	if !ok {
		t, ok = w.list["bert."+name]
	}
	if !ok {
		return t, fmt.Errorf("it has no tensor %s", name)
	}
	fits := len(t.shape) == len(shape) && t.width() > 0
	for i := range shape {
		fits = fits && (t.shape[i] == shape[i] || shape[i] < 0 && t.shape[i] > 0)
	}
	if !fits {
		return t, fmt.Errorf("its tensor %s is %v of %s, not %v", name, t.shape, t.kind, shape)
	}
	return t, nil
}

// matrix reads the weights of a layer, or quantises them.
func (w *bertWeights) matrix(name string, rows, width int) (quantised, error) {
	t, err := w.find(name+".weight", rows, width)
	if err != nil {
		return quantised{}, err
	}
	if t.kind != "I8" {
		return t.quantise()
	}
	scales, err := w.vector(name+".scale", t.shape[0])
	return quantised{t.data, scales, width}, err
}

// quantise scales each row to whole numbers up to 127.
func (t tensor) quantise() (quantised, error) {
	q := quantised{make([]byte, t.shape[0]*t.shape[1]), make([]float32, t.shape[0]), t.shape[1]}
	for r := range t.shape[0] {
		most := float32(0)
		for i := range q.width {
			x := t.at(r*q.width + i)
			if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
				return q, errors.New("it has a weight that is not a finite number")
			}
			most = max(most, x, -x)
		}
		if most == 0 {
			continue
		}
		q.scales[r] = most / 127
		for i := range q.width {
			q.values[r*q.width+i] = byte(int8(math.RoundToEven(float64(t.at(r*q.width+i)) * 127 / float64(most))))
		}
	}
	return q, nil
}

func (w *bertWeights) vector(name string, size int) ([]float32, error) {
	t, err := w.find(name, size)
	if err != nil {
		return nil, err
	}
	return t.floats(), nil
}

func (t tensor) floats() []float32 {
	list := make([]float32, len(t.data)/t.width())
	for i := range list {
		list[i] = t.at(i)
	}
	return list
}

// places are the vectors of positions, each with that of the first type of tokens, the only one in use.
func (w *bertWeights) places() ([][]float32, error) {
	positions, err := w.find(positionTable+".weight", w.config.Positions, w.config.Hidden)
	if err != nil {
		return nil, err
	}
	types, err := w.find(typeTable+".weight", -1, w.config.Hidden)
	if err != nil {
		return nil, err
	}
	list := make([][]float32, w.config.longest())
	for i := range list {
		list[i] = make([]float32, w.config.Hidden)
		for j := range list[i] {
			list[i][j] = positions.at(i*w.config.Hidden+j) + types.at(j)
		}
	}
	return list, nil
}

func (w *bertWeights) norm(name string) kernel.Norm {
	gain, err := w.vector(name+".weight", w.config.Hidden)
	w.err = errors.Join(w.err, err)
	shift, err := w.vector(name+".bias", w.config.Hidden)
	if w.err = errors.Join(w.err, err); w.err != nil {
		return kernel.Norm{}
	}
	return kernel.Norm{Gain: w.kernel.PutFloats(gain), Shift: w.kernel.PutFloats(shift), Epsilon: float32(w.config.Epsilon)}
}

// linear reads a layer, or several with the same inputs as one.
func (w *bertWeights) linear(inputs, outputs int, names ...string) kernel.Layer {
	var values []byte
	var scales, bias []float32
	for _, name := range names {
		q, err := w.matrix(name, outputs, inputs)
		b, more := w.vector(name+".bias", outputs)
		if w.err = errors.Join(w.err, err, more); w.err != nil {
			return kernel.Layer{}
		}
		values, scales, bias = append(values, q.values...), append(scales, q.scales...), append(bias, b...)
	}
	return kernel.Layer{
		Inputs: inputs, Outputs: outputs * len(names),
		Weights: w.kernel.Put(values), Scales: w.kernel.PutFloats(scales), Bias: w.kernel.PutFloats(bias),
	}
}

func (w *bertWeights) layer(prefix string) bertLayer {
	h, inner, self := w.config.Hidden, w.config.Inner, prefix+"attention.self."
	if w.err != nil {
		return bertLayer{}
	}
	return bertLayer{
		attention: w.linear(h, h, self+"query", self+"key", self+"value"), output: w.linear(h, h, prefix+"attention.output.dense"),
		middle: w.norm(prefix + "attention.output.LayerNorm"),
		up:     w.linear(h, inner, prefix+"intermediate.dense"), down: w.linear(inner, h, prefix+"output.dense"),
		end: w.norm(prefix + "output.LayerNorm"),
	}
}
