package embed

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tensorOf describes numbers to be put into a file.
type tensorOf struct {
	kind  string
	shape []int
	data  []byte
}

func floats32(shape []int, v ...float32) tensorOf {
	t := tensorOf{"F32", shape, nil}
	for _, x := range v {
		t.data = binary.LittleEndian.AppendUint32(t.data, math.Float32bits(x))
	}
	return t
}

// safetensors writes a file.
func safetensors(t testing.TB, list map[string]tensorOf) []byte {
	t.Helper()
	header, data := map[string]any{"__metadata__": map[string]string{"made": "by a test"}}, []byte{}
	for name, x := range list {
		header[name] = map[string]any{"dtype": x.kind, "shape": x.shape, "data_offsets": []int{len(data), len(data) + len(x.data)}}
		data = append(data, x.data...)
	}
	raw, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(raw))), raw...), data...)
}

const bert = `{"normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true},
"pre_tokenizer":{"type":"BertPreTokenizer"},
"model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":100,
"vocab":{"[UNK]":0,"cat":1,"##s":2,"dog":3,"!":4,"un":5,"##happi":6,"##ness":7,"cafe":8,"猫":9}}}`

const unigramJSON = `{"normalizer":{"type":"Sequence","normalizers":[{"type":"Precompiled","precompiled_charsmap":"x"},{"type":"Replace","pattern":{"Regex":" {2,}"},"content":" "}]},
"pre_tokenizer":{"type":"Metaspace","replacement":"▁","prepend_scheme":"always"},
"model":{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["▁cat",-2],["▁c",-3],["at",-3],["s",-2.5],["▁dog",-4],["▁",-5],["d",-6],["o",-6],["g",-6]]}}`

func tokenizerOf(t testing.TB, description string) *tokenizer {
	t.Helper()
	k, err := newTokenizer([]byte(description))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestWordPiecesAreTheLongestThatFit(t *testing.T) {
	k := tokenizerOf(t, bert)
	for text, want := range map[string][]int{
		"Cats!":            {1, 2, 4},
		"UNHAPPINESS":      {5, 6, 7},
		"café  dog\tdogs":  {8, 3, 3, 2},
		"catx":             nil, // a word with an unknown piece is unknown as a whole
		"zebra cat":        {1},
		"猫猫cat":            {9, 9, 1},
		"":                 nil,
		"cat\x00s \uFFFD!": {1, 2, 4},
	} {
		if got := k.tokens(text, 100); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestUnigramTokensAreTheLikeliest(t *testing.T) {
	k := tokenizerOf(t, unigramJSON)
	for text, want := range map[string][]int{
		"cat":       {1},
		"cats":      {1, 4},
		"cat  dog":  {1, 5},
		"cat xs":    {1, 6, 4}, // x is unknown, and left out
		"ｃａｔ":       {1},       // wide letters are letters
		"":          nil,
		"dog\xffat": {5, 3},
	} {
		if got := k.tokens(text, 100); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestATextOfManyTokensIsCutOff(t *testing.T) {
	k := tokenizerOf(t, bert)
	if got := k.tokens(strings.Repeat("cats ", 1000), 7); len(got) != 7 {
		t.Errorf("%d tokens", len(got))
	}
	u := tokenizerOf(t, unigramJSON)
	if got := u.tokens(strings.Repeat("é", 200_000), longestText); len(got) > longestText {
		t.Errorf("%d tokens", len(got))
	}
}

func TestSplittersPartWhereTheySay(t *testing.T) {
	for description, want := range map[string]string{
		`{"type":"Whitespace"}`:                      "don|'|t|x_1|,.",
		`{"type":"WhitespaceSplit"}`:                 "don't|x_1,.",
		`{"type":"Punctuation"}`:                     "don|'|t x|_|1|,|.",
		`{"type":"Digits","individual_digits":true}`: "don't x_|1|,.",
		`{"type":"Digits"}`:                          "don't x_|1|,.",
		`{"type":"Sequence","pretokenizers":[{"type":"WhitespaceSplit"},{"type":"Punctuation"}]}`: "don|'|t|x|_|1|,|.",
		`null`: "don't x_1,.",
	} {
		split, err := preTokenizer(json.RawMessage(description), 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(split("don't x_1,."), "|"); got != want {
			t.Errorf("%s: %s, want %s", description, got, want)
		}
	}
}

func TestATokenizerThatIsNotUnderstoodSaysWhat(t *testing.T) {
	for description, want := range map[string]string{
		`[]`:                       "cannot unmarshal",
		`{"model":{"type":"BPE"}}`: `"BPE"`,
		`{"normalizer":{"type":"Magic"},"model":{"type":"WordPiece"}}`:                           `"Magic"`,
		`{"pre_tokenizer":{"type":"ByteLevel"},"model":{}}`:                                      `"ByteLevel"`,
		`{"model":{"type":"WordPiece","vocab":{}}}`:                                              "empty",
		`{"model":{"type":"WordPiece","vocab":{"a":-1}}}`:                                        "-1",
		`{"model":{"type":"Unigram","vocab":[["a","b"]]}}`:                                       "entry 0",
		`{"normalizer":{"type":"Replace","pattern":{"Regex":"[a-z]"}},"model":{}}`:               "replaces",
		strings.Repeat(`{"normalizer":{"type":"Sequence","normalizers":[`, 1) + nest(20) + `]}}`: "nested",
	} {
		if _, err := newTokenizer([]byte(description)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v, want %s", description, err, want)
		}
	}
}

func nest(depth int) string {
	if depth == 0 {
		return ""
	}
	return `{"type":"Sequence","normalizers":[` + nest(depth-1) + `]}`
}

// folder writes a model of four words in two dimensions.
func folder(t *testing.T, list map[string]tensorOf, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if list != nil {
		if err := os.WriteFile(filepath.Join(dir, "model.safetensors"), safetensors(t, list), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const four = `{"pre_tokenizer":{"type":"WhitespaceSplit"},"model":{"type":"WordLevel","unk_token":"?","vocab":{"?":0,"east":1,"north":2,"up":3}}}`

func fourVectors() tensorOf { return floats32([]int{4, 2}, 9, 9, 2, 0, 0, 4, -3, -4) }

func TestATextIsTheMeanOfItsWords(t *testing.T) {
	dir := folder(t, map[string]tensorOf{"embeddings": fourVectors()}, map[string]string{"tokenizer.json": four, "config.json": `{"normalize":false}`})
	m, err := OpenModel(dir)
	if err != nil {
		t.Fatal(err)
	}
	v, err := m.Embed(t.Context(), []string{"east north", "east nowhere", "nowhere"})
	if err != nil || m.Dimensions() != 2 {
		t.Fatalf("Embed: %v, with %d dimensions, want 2", err, m.Dimensions())
	}
	if !slices.Equal(v[0], []float32{1, 2}) || !slices.Equal(v[1], []float32{2, 0}) {
		t.Errorf("Embed = %v, want the means [1 2] and [2 0]", v)
	}
	if m.Vector("nowhere") != nil || v[2] != nil {
		t.Errorf("a text of unknown words: %v, %v", m.Vector("nowhere"), v[2])
	}
}

func TestVectorsAreNormalizedUnlessTheModelSaysOtherwise(t *testing.T) {
	e, err := Open(Config{Name: "mine", Kind: Static, Dimensions: 2,
		Path: folder(t, map[string]tensorOf{"embeddings": fourVectors()}, map[string]string{"tokenizer.json": four})}, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	v, err := e.Embed(t.Context(), []string{"up"})
	if err != nil || !slices.Equal(v[0], []float32{-.6, -.8}) || e.Name() != "mine" {
		t.Errorf("Embed of %s = %v, %v, want mine with [-.6 -.8]", e.Name(), v, err)
	}
}

func TestTokensHaveWeightsAndMayShareVectors(t *testing.T) {
	mapping := tensorOf{"I64", []int{4}, nil}
	for _, row := range []uint64{0, 1, 1, 0} {
		mapping.data = binary.LittleEndian.AppendUint64(mapping.data, row)
	}
	halves := tensorOf{"F16", []int{2, 2}, []byte{0x00, 0x3C, 0x00, 0xC0, 0x00, 0x40, 0x00, 0x00}} // 1 −2, 2 0
	dir := folder(t, map[string]tensorOf{"embeddings": halves, "mapping": mapping, "weights": floats32([]int{4}, 1, .5, 2, 1)},
		map[string]string{"tokenizer.json": four, "config.json": `{"normalize":false}`})
	m, err := OpenModel(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Vector("east north"); !slices.Equal(got, []float32{2.5, 0}) { // (.5·2 + 2·2)/2
		t.Errorf("Vector(\"east north\") = %v, want [2.5 0]", got)
	}
	if got := m.Vector("up"); !slices.Equal(got, []float32{1, -2}) {
		t.Errorf("Vector(\"up\") = %v, want [1 -2]", got)
	}
}

func TestNumbersOfSixteenBitsAreRead(t *testing.T) {
	for bits, want := range map[uint16]float32{0x3C00: 1, 0xC000: -2, 0x7BFF: 65504, 0x0001: 1. / (1 << 24), 0x8001: -1. / (1 << 24), 0x0400: 1. / (1 << 14), 0: 0} {
		if got := half(bits); got != want {
			t.Errorf("%#x: %g, want %g", bits, got, want)
		}
	}
	if !math.IsInf(float64(half(0x7C00)), 1) || !math.IsNaN(float64(half(0x7E00))) {
		t.Error("infinity, or what is not a number, is lost")
	}
}

func TestAModelThatIsDamagedOrMissingSaysSo(t *testing.T) {
	good := map[string]tensorOf{"embeddings": fourVectors()}
	for name, dir := range map[string]string{
		"no weights":   folder(t, nil, map[string]string{"tokenizer.json": four}),
		"no tokenizer": folder(t, good, nil),
		"no table":     folder(t, map[string]tensorOf{"other": fourVectors()}, map[string]string{"tokenizer.json": four}),
		"not a table":  folder(t, map[string]tensorOf{"embeddings": floats32([]int{2}, 1, 2)}, map[string]string{"tokenizer.json": four}),
		"short":        folder(t, nil, map[string]string{"tokenizer.json": four, "model.safetensors": "123"}),
		"long header":  folder(t, nil, map[string]string{"tokenizer.json": four, "model.safetensors": "\xff\xff\xff\xff\xff\xff\xff\xff"}),
		"settings":     folder(t, good, map[string]string{"tokenizer.json": four, "config.json": "["}),
		"nowhere":      filepath.Join(t.TempDir(), "nowhere"),
	} {
		if _, err := OpenModel(dir); err == nil {
			t.Errorf("%s: it opens", name)
		}
	}
}

func TestATensorThatLiesOutsideOfItsFileIsRefused(t *testing.T) {
	for _, description := range []string{
		`{"dtype":"F32","shape":[2],"data_offsets":[0,800]}`, `{"dtype":"F32","shape":[2],"data_offsets":[8,0]}`, `{"dtype":"F32","shape":[3],"data_offsets":[0,8]}`,
		`{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}`, `{"dtype":"Q4","shape":[2],"data_offsets":[0,8]}`, `{"dtype":"F32","shape":[2],"data_offsets":[0]}`,
		`{"dtype":"F32","shape":[1099511627776,1099511627776,4],"data_offsets":[0,8]}`, `[]`,
	} {
		if _, err := cutTensor([]byte(description), make([]byte, 16)); err == nil {
			t.Errorf("%s is taken", description)
		}
	}
}

func FuzzTensors(f *testing.F) {
	f.Add(safetensors(f, map[string]tensorOf{"embeddings": fourVectors()}))
	f.Add([]byte("\x02\x00\x00\x00\x00\x00\x00\x00{}"))
	f.Fuzz(func(t *testing.T, file []byte) {
		list, err := tensors(file)
		if err != nil {
			return
		}
		for name, x := range list {
			if x.width() > 0 && len(x.data) >= x.width() {
				if last := len(x.data)/x.width() - 1; x.at(last) != x.at(last) && x.kind[0] == 'I' {
					t.Errorf("%s: %s is not a number", name, x.kind)
				}
			}
		}
	})
}

func FuzzTokenizer(f *testing.F) {
	f.Add(bert, "Unhappiness, cats & 猫!")
	f.Add(unigramJSON, "the cat sat")
	f.Add(four, "east \xff north")
	f.Fuzz(func(t *testing.T, description, text string) {
		k, err := newTokenizer([]byte(description))
		if err != nil {
			return
		}
		for _, token := range k.tokens(text, 64) {
			if token < 0 {
				t.Errorf("token %d", token)
			}
		}
	})
}
