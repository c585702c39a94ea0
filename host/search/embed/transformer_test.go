package embed

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/alcove-memory/alcove/host/search/embed/kernel"
)

// smallBERT describes the transformers of the tests.
func smallBERT() bertConfig {
	return bertConfig{Type: "bert", Hidden: 48, Layers: 3, Heads: 4, Inner: 96, Positions: 64, Activation: "gelu", Epsilon: 1e-12}
}

func configOf(c bertConfig) []byte {
	return fmt.Appendf(nil, `{"model_type":%q,"hidden_size":%d,"num_hidden_layers":%d,"num_attention_heads":%d,"intermediate_size":%d,
"max_position_embeddings":%d,"hidden_act":%q,"layer_norm_eps":%g}`, c.Type, c.Hidden, c.Layers, c.Heads, c.Inner, c.Positions, c.Activation, c.Epsilon)
}

// words are the vocabulary of the tests' tokenizer.
func words() []string {
	list := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "!", "##s", "##ing", "##ed", "un", "##happi", "##ness"}
	for _, a := range []string{"ba", "ce", "di", "fo", "gu"} {
		for _, b := range []string{"ra", "le", "ni", "to", "mu"} {
			list = append(list, a+b, "##"+a+b)
		}
	}
	return list
}

const processor = `"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"[CLS]","type_id":0}},{"Sequence":{"id":"A","type_id":0}},
{"SpecialToken":{"id":"[SEP]","type_id":0}}],"special_tokens":{"[CLS]":{"id":"[CLS]","ids":[2],"tokens":["[CLS]"]},"[SEP]":{"id":"[SEP]","ids":[3],"tokens":["[SEP]"]}}}`

func bertTokenizer() []byte {
	var vocabulary strings.Builder
	for i, w := range words() {
		fmt.Fprintf(&vocabulary, ",%q:%d", w, i)
	}
	return fmt.Appendf(nil, `{"normalizer":{"type":"BertNormalizer","lowercase":true},"pre_tokenizer":{"type":"BertPreTokenizer"},%s,
"model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","vocab":{%s}}}`, processor, vocabulary.String()[1:])
}

// randomBERT makes weights of a transformer.
func randomBERT(c bertConfig, seed uint64) map[string]tensorOf {
	r := rand.New(rand.NewPCG(seed, 1))
	list := map[string]tensorOf{}
	add := func(name string, mean, deviation float64, shape ...int) {
		n := 1
		for _, s := range shape {
			n *= s
		}
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(mean + deviation*r.NormFloat64())
		}
		list[name] = floats32(shape, v...)
	}
	linear := func(name string, outputs, inputs int) {
		add(name+".weight", 0, 1.5/math.Sqrt(float64(inputs)), outputs, inputs)
		add(name+".bias", 0, .1, outputs)
	}
	norm := func(name string) {
		add(name+".weight", 1, .2, c.Hidden)
		add(name+".bias", 0, .2, c.Hidden)
	}
	add(wordTable+".weight", 0, 1, len(words()), c.Hidden)
	add(positionTable+".weight", 0, .3, c.Positions, c.Hidden)
	add(typeTable+".weight", 0, .3, 2, c.Hidden)
	norm("embeddings.LayerNorm")
	for i := range c.Layers {
		p := fmt.Sprintf("encoder.layer.%d.", i)
		for _, name := range []string{"query", "key", "value"} {
			linear(p+"attention.self."+name, c.Hidden, c.Hidden)
		}
		linear(p+"attention.output.dense", c.Hidden, c.Hidden)
		norm(p + "attention.output.LayerNorm")
		linear(p+"intermediate.dense", c.Inner, c.Hidden)
		linear(p+"output.dense", c.Hidden, c.Inner)
		norm(p + "output.LayerNorm")
	}
	return list
}

// reference computes a vector plainly, with numbers of 64 bits.
type reference struct {
	c    bertConfig
	list map[string][]float32
}

func referenceOf(t *testing.T, c bertConfig, file []byte) reference {
	t.Helper()
	list, err := tensors(file)
	if err != nil {
		t.Fatal(err)
	}
	f := reference{c, map[string][]float32{}}
	for name, x := range list {
		f.list[name] = x.floats()
	}
	return f
}

func (f reference) at(name string, i int) float64 { return float64(f.list[name][i]) }

func (f reference) linear(name string, x [][]float64, outputs int) [][]float64 {
	y := make([][]float64, len(x))
	weights := f.list[name+".weight"]
	for m := range x {
		y[m] = make([]float64, outputs)
		for n := range y[m] {
			y[m][n] = f.at(name+".bias", n)
			for k, v := range x[m] {
				y[m][n] += v * float64(weights[n*len(x[m])+k])
			}
		}
	}
	return y
}

func (f reference) normalise(name string, x, more [][]float64) {
	for m := range x {
		mean, square := 0.0, 0.0
		for i := range x[m] {
			x[m][i] += more[m][i]
			mean += x[m][i] / float64(f.c.Hidden)
		}
		for _, v := range x[m] {
			square += (v - mean) * (v - mean) / float64(f.c.Hidden)
		}
		for i := range x[m] {
			x[m][i] = (x[m][i]-mean)/math.Sqrt(square+f.c.Epsilon)*f.at(name+".weight", i) + f.at(name+".bias", i)
		}
	}
}

func (f reference) attend(q, k, v [][]float64) [][]float64 {
	size := f.c.Hidden / f.c.Heads
	out := make([][]float64, len(q))
	for m := range q {
		out[m] = make([]float64, f.c.Hidden)
		for h := range f.c.Heads {
			weights, total := make([]float64, len(q)), 0.0
			for r := range k {
				for i := h * size; i < (h+1)*size; i++ {
					weights[r] += q[m][i] * k[r][i]
				}
				weights[r] = math.Exp(weights[r] / math.Sqrt(float64(size)))
				total += weights[r]
			}
			for r := range v {
				for i := h * size; i < (h+1)*size; i++ {
					out[m][i] += weights[r] / total * v[r][i]
				}
			}
		}
	}
	return out
}

func (f reference) vector(tokens []int, first bool) []float64 {
	x, zero := make([][]float64, len(tokens)), make([][]float64, len(tokens))
	for m, token := range tokens {
		x[m], zero[m] = make([]float64, f.c.Hidden), make([]float64, f.c.Hidden)
		for i := range x[m] {
			x[m][i] = f.at(wordTable+".weight", token*f.c.Hidden+i) + f.at(positionTable+".weight", m*f.c.Hidden+i) + f.at(typeTable+".weight", i)
		}
	}
	f.normalise("embeddings.LayerNorm", x, zero)
	for l := range f.c.Layers {
		p := fmt.Sprintf("encoder.layer.%d.", l)
		self := p + "attention.self."
		a := f.attend(f.linear(self+"query", x, f.c.Hidden), f.linear(self+"key", x, f.c.Hidden), f.linear(self+"value", x, f.c.Hidden))
		f.normalise(p+"attention.output.LayerNorm", x, f.linear(p+"attention.output.dense", a, f.c.Hidden))
		up := f.linear(p+"intermediate.dense", x, f.c.Inner)
		for m := range up {
			for i, v := range up[m] {
				up[m][i] = v * (1 + math.Erf(v/math.Sqrt2)) / 2
			}
		}
		f.normalise(p+"output.LayerNorm", x, f.linear(p+"output.dense", up, f.c.Hidden))
	}
	if first {
		x = x[:1]
	}
	sum := make([]float64, f.c.Hidden)
	for m := range x {
		for i, v := range x[m] {
			sum[i] += v
		}
	}
	return sum
}

// cosine is the similarity of two vectors; b nil: the length of a.
func cosine(a []float32, b []float64) float64 {
	if b == nil {
		return math.Sqrt(cosineSum(a))
	}
	ab, aa, bb := 0.0, 0.0, 0.0
	for i := range a {
		ab, aa, bb = ab+float64(a[i])*b[i], aa+float64(a[i])*float64(a[i]), bb+b[i]*b[i]
	}
	return ab / math.Sqrt(aa*bb)
}

func cosineSum(a []float32) (sum float64) {
	for _, x := range a {
		sum += float64(x) * float64(x)
	}
	return sum
}

// texts are made of the tests' words, from one to more than fit.
func texts(n int) []string {
	r := rand.New(rand.NewPCG(7, 7))
	list := make([]string, n)
	for i := range list {
		var text []string
		for range 1 + i%70 {
			text = append(text, strings.TrimPrefix(words()[4+r.IntN(len(words())-4)], "##"))
		}
		list[i] = strings.Join(text, " ")
	}
	return list
}

func TestATransformerComputesWhatAPlainOneDoes(t *testing.T) {
	for _, first := range []bool{false, true} {
		c := smallBERT()
		file := safetensors(t, randomBERT(c, 3))
		model, err := newTransformer(file, bertTokenizer(), configOf(c), first)
		if err != nil {
			t.Fatal(err)
		}
		plain := referenceOf(t, c, file)
		least := 1.0
		for _, text := range texts(70) {
			got, err := model.Embed(t.Context(), []string{text})
			if err != nil {
				t.Fatal(err)
			}
			tokens := model.tokenizer.marked(text, c.longest())
			near := cosine(got[0], plain.vector(tokens, first))
			if least = min(least, near); near < .99 {
				t.Errorf("%d tokens, first token %v: the cosine is %.5f, want .99", len(tokens), first, near)
			}
			if length := cosine(got[0], nil); math.Abs(length-1) > 1e-5 {
				t.Errorf("%d tokens: the vector has a length of %v, want 1", len(tokens), length)
			}
		}
		t.Logf("first token %v: least cosine %.5f", first, least)
	}
}

func TestVectorsOfATransformerDependOnNothingElse(t *testing.T) {
	c := smallBERT()
	model, err := newTransformer(safetensors(t, randomBERT(c, 3)), bertTokenizer(), configOf(c), false)
	if err != nil {
		t.Fatal(err)
	}
	list := texts(30)
	want, err := model.Embed(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for _, i := range rand.Perm(len(list)) {
				got, err := model.Embed(t.Context(), list[i:i+1])
				if err != nil || !slices.Equal(got[0], want[i]) {
					t.Errorf("%q differs in another order: %v", list[i], err)
				}
			}
		})
	}
	all.Wait()
	if got, err := model.Embed(t.Context(), []string{"", " \t"}); err != nil || got[0] != nil || got[1] != nil {
		t.Errorf("vectors of nothing: %v, %v, want none", got, err)
	}
}

func TestQuantisedWeightsGiveTheSameVectors(t *testing.T) {
	c, dir := smallBERT(), t.TempDir()
	for name, data := range map[string][]byte{"model.safetensors": safetensors(t, randomBERT(c, 5)), "tokenizer.json": bertTokenizer(), "config.json": configOf(c)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	isOne, err := Quantise(dir, func(write func(io.Writer) error) error {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, QuantisedFile), out.Bytes(), 0o600)
	})
	if err != nil || !isOne {
		t.Fatalf("Quantise = %v, %v", isOne, err)
	}
	if err := os.Remove(filepath.Join(dir, "model.safetensors")); err != nil {
		t.Fatal(err)
	}
	after, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts(20) {
		a, err := before.Embed(t.Context(), []string{text})
		b, err2 := after.Embed(t.Context(), []string{text})
		if err != nil || err2 != nil || !slices.Equal(a[0], b[0]) {
			t.Errorf("%q: %v and %v differ (%v, %v)", text, a, b, err, err2)
		}
	}
}

func TestMarksAreAroundATextAndUnknownWordsAreTokens(t *testing.T) {
	k := tokenizerOf(t, string(bertTokenizer()))
	if err := k.mark(bertTokenizer()); err != nil {
		t.Fatal(err)
	}
	number := map[string]int{}
	for i, w := range words() {
		number[w] = i
	}
	for text, want := range map[string]string{
		"unhappiness!":     "[CLS] un ##happi ##ness ! [SEP]",
		"Bara's zebra":     "[CLS] bara [UNK] [UNK] [UNK] [SEP]",
		"baracele":         "[CLS] bara ##cele [SEP]",
		"fotoing, dinied":  "[CLS] foto ##ing [UNK] dini ##ed [SEP]",
		"GUMU gumus":       "[CLS] gumu gumu ##s [SEP]",
		"bara bara bara !": "[CLS] bara bara bara ! [SEP]",
	} {
		var tokens []int
		for name := range strings.FieldsSeq(want) {
			tokens = append(tokens, number[name])
		}
		if got := k.marked(text, 100); !slices.Equal(got, tokens) {
			t.Errorf("%q: %v, want %v (%s)", text, got, tokens, want)
		}
	}
	if got := k.marked(strings.Repeat("bara ", 50), 8); len(got) != 8 || got[0] != 2 || got[7] != 3 {
		t.Errorf("a long text: %v, want 8 tokens with marks", got)
	}
	for _, other := range []string{`{"type":"BertProcessing","sep":["[SEP]",3],"cls":["[CLS]",2]}`, `{"type":"RobertaProcessing","sep":["</s>",3],"cls":["<s>",2]}`} {
		k := &tokenizer{}
		if err := k.mark([]byte(`{"post_processor":` + other + `}`)); err != nil || k.before[0] != 2 || k.after[0] != 3 {
			t.Errorf("%s: %v around, %v", other, k.before, err)
		}
	}
}

func TestTransformersOutsideTheLimitsAreRefused(t *testing.T) {
	valid := string(configOf(smallBERT()))
	weights := randomBERT(smallBERT(), 3)
	for _, c := range []struct{ from, to, want string }{
		{`"bert"`, `"gpt2"`, "gpt2"},
		{`"hidden_size":48`, `"hidden_size":2048`, "hidden_size 2048"},
		{`"hidden_size":48`, `"hidden_size":47`, "hidden_size 47"},
		{`"num_hidden_layers":3`, `"num_hidden_layers":25`, "num_hidden_layers 25"},
		{`"num_hidden_layers":3`, `"num_hidden_layers":4`, "encoder.layer.3."},
		{`"num_attention_heads":4`, `"num_attention_heads":7`, "num_attention_heads 7"},
		{`"intermediate_size":96`, `"intermediate_size":8192`, "intermediate_size 8192"},
		{`"intermediate_size":96`, `"intermediate_size":88`, "intermediate.dense"},
		{`"max_position_embeddings":64`, `"max_position_embeddings":1`, "max_position_embeddings 1"},
		{`"max_position_embeddings":64`, `"max_position_embeddings":72`, positionTable},
		{`"gelu"`, `"relu"`, "relu"},
		{`"layer_norm_eps":1e-12`, `"layer_norm_eps":0`, "layer_norm_eps 0"},
	} {
		_, err := newTransformer(safetensors(t, weights), bertTokenizer(), []byte(strings.Replace(valid, c.from, c.to, 1)), false)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.to, err, c.want)
		}
	}
	for name, marks := range map[string]string{"none": `{}`, "two": strings.Replace(`{`+processor+`}`, `"ids":[2]`, `"ids":[2,2]`, 1)} {
		k := &tokenizer{}
		if err := k.mark([]byte(marks)); err == nil {
			t.Errorf("a tokenizer with %s marks is understood", name)
		}
	}
	broken := randomBERT(smallBERT(), 3)
	nan := broken[wordTable+".weight"]
	binary.LittleEndian.PutUint32(nan.data, math.Float32bits(float32(math.NaN())))
	if _, err := newTransformer(safetensors(t, broken), bertTokenizer(), []byte(valid), false); err == nil || !strings.Contains(err.Error(), "not a finite number") {
		t.Errorf("a weight that is not a number: %v", err)
	}
	if _, err := kernel.New(t.Context(), 2000, 1000); !errors.Is(err, kernel.ErrMemory) || !strings.Contains(err.Error(), "may have 1000") {
		t.Errorf("too much memory: %v", err)
	}
}

func FuzzTransformer(f *testing.F) {
	c := smallBERT()
	file := safetensors(f, randomBERT(c, 3))
	length := 8 + int(binary.LittleEndian.Uint64(file))
	f.Add(configOf(c), bertTokenizer(), file[:length], "unhappiness bara")
	f.Fuzz(func(t *testing.T, settings, description, header []byte, text string) {
		if len(settings) > 1<<12 || len(description) > 1<<13 || len(text) > 1<<10 {
			t.Skip()
		}
		model, err := newTransformer(append(header, file[length:]...), description, settings, false)
		if err != nil {
			return
		}
		defer model.kernel.Close(t.Context())
		v, err := model.Embed(t.Context(), []string{text})
		if err == nil && v[0] != nil && len(v[0]) != model.Dimensions() {
			t.Errorf("%d dimensions, want %d", len(v[0]), model.Dimensions())
		}
	})
}

// BenchmarkMiniLM embeds a text of 30 tokens with a model of the size of all-MiniLM-L6-v2.
func BenchmarkMiniLM(b *testing.B) {
	c := bertConfig{Type: "bert", Hidden: 384, Layers: 6, Heads: 12, Inner: 1536, Positions: 512, Activation: "gelu", Epsilon: 1e-12}
	model, err := newTransformer(safetensors(b, randomBERT(c, 3)), bertTokenizer(), configOf(c), false)
	if err != nil {
		b.Fatal(err)
	}
	for _, tokens := range []int{30, 254} {
		text := strings.TrimSpace(strings.Repeat("bara ", tokens-2))
		b.Run(fmt.Sprintf("tokens=%d", tokens), func(b *testing.B) {
			for b.Loop() {
				if _, err := model.Embed(b.Context(), []string{text}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
