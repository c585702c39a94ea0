package tokens

import (
	"bytes"
	"compress/gzip"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
)

var update = flag.Bool("update", false, "write the vocabulary")

func TestTheVocabularyIsThatOfItsName(t *testing.T) {
	ranks, err := loader.NewOfflineLoader().LoadTiktokenBpe("/cl100k_base.tiktoken")
	if err != nil {
		t.Fatal(err)
	}
	tokens := make([]string, len(ranks))
	for token, rank := range ranks {
		tokens[rank] = token
	}
	var plain bytes.Buffer
	for _, token := range tokens {
		plain.WriteByte(byte(len(token)))
		plain.WriteString(token)
	}
	if *update {
		var out bytes.Buffer
		z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := z.Write(plain.Bytes()); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("cl100k.gz", out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	is, err := unpack(packed)
	if err != nil || !bytes.Equal(is, plain.Bytes()) {
		t.Errorf("the vocabulary is another one: %d bytes, not %d: %v", len(is), plain.Len(), err)
	}
}

// reference splits into ids with another implementation.
func reference(t testing.TB) func(string) []int {
	t.Helper()
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	encoding, err := tiktoken.GetEncoding(Encoding)
	if err != nil {
		t.Fatal(err)
	}
	return func(text string) []int { return encoding.Encode(text, nil, nil) }
}

func load(t testing.TB) *Tokenizer {
	t.Helper()
	tokenizer, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return tokenizer
}

// samples are texts of all kinds.
func samples() []string {
	list := []string{"", " ", "a", "hello world", "Hello, World!", "I'll we've THEY'RE don't 'S 'x it's", "  two  blanks  ", "line\nline\r\n\r\n  next\n \n", "\t\ttabs\t",
		"1234567890 12 3.14159", "{\"key\": [1, 2.5, true, null], \"ü\": \"ß\"}", "日本語のテキストです。", "Привет, мир", "🙂👩‍👩‍👧‍👦 emoji 🇩🇪", "naïve café ﬁne", "मराठी भाषा",
		"<|endoftext|> is text", "x = y**2 + (a[i] << 3) // comment\n\t\treturn nil\n}", "\u00a0nbsp\u2003em\u3000ideographic", strings.Repeat("ab ", 100), strings.Repeat("z", 500), "e\u0301 combining", "٣٤٥ arabic digits ½ Ⅳ", "...!!!???\n\n\nnext"}
	for i := range 200 {
		list = append(list, strings.Repeat(list[i%20+2], i%3+1)+list[(i*7)%len(list)])
	}
	return list
}

func TestTextsHaveAsManyTokensAsElsewhere(t *testing.T) {
	ids, tokenizer := reference(t), load(t)
	for _, text := range samples() {
		if got, want := tokenizer.Count(text), len(ids(text)); got != want {
			t.Errorf("%.60q has %d tokens, not %d: %q", text, want, got, tokenizer.Split(text))
		}
		if joined := strings.Join(tokenizer.Split(text), ""); joined != text {
			t.Errorf("%.60q is put together again as %.60q", text, joined)
		}
	}
}

func TestTokensHaveTheIDsThatTheyHaveElsewhereAndAreReadBack(t *testing.T) {
	want, tokenizer := reference(t), load(t)
	for _, text := range samples() {
		var read strings.Builder
		for _, id := range tokenizer.IDs(text) {
			token, _ := tokenizer.Text(id)
			read.WriteString(token)
		}
		if got := tokenizer.IDs(text); !slices.Equal(got, want(text)) || read.String() != text {
			t.Errorf("%.60q has the ids %v, not %v, and is read back as %.60q", text, got, want(text), read.String())
		}
	}
	for _, id := range []int{-1, len(tokenizer.ends), 100257, 1 << 40} {
		if text, ok := tokenizer.Text(id); ok {
			t.Errorf("%d is %q", id, text)
		}
	}
}

func TestTheDocumentationHasAsManyTokensAsElsewhere(t *testing.T) {
	ids, tokenizer := reference(t), load(t)
	files := 0
	err := filepath.WalkDir(filepath.Join("..", "..", "..", "docs"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" || files == 6 {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		if got, want := tokenizer.Count(string(text)), len(ids(string(text))); got != want {
			t.Errorf("%s has %d tokens, not %d", path, want, got)
		}
		return nil
	})
	if err != nil || files == 0 {
		t.Errorf("%d files: %v", files, err)
	}
}

func TestALongWordTakesNoLongerThanItsShareOfALongText(t *testing.T) {
	tokenizer := load(t)
	for _, text := range []string{strings.Repeat("q", 1<<20), strings.Repeat("!?", 1<<19), strings.Repeat("é", 1<<19), strings.Repeat(" ", 1<<20)} {
		begin := time.Now()
		n := tokenizer.Count(text)
		if n == 0 || n > len(text) {
			t.Errorf("%.8q… has %d tokens", text, n)
		}
		t.Logf("%.8q…: %d tokens in %v", text, n, time.Since(begin))
	}
}

func FuzzSplit(f *testing.F) {
	for _, text := range samples() {
		f.Add(text)
	}
	tokenizer := load(f)
	f.Fuzz(func(t *testing.T, text string) {
		list := tokenizer.Split(text)
		if strings.Join(list, "") != text || len(list) != tokenizer.Count(text) || slices.Contains(list, "") {
			t.Errorf("%q is split into %q", text, list)
		}
		if !utf8.ValidString(text) {
			return
		}
		for _, token := range list {
			if _, ok := tokenizer.rank(token); !ok {
				t.Errorf("%q is not a token", token)
			}
		}
	})
}

func BenchmarkCount(b *testing.B) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "ARCHITECTURE.md"))
	if err != nil {
		b.Fatal(err)
	}
	tokenizer := load(b)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		tokenizer.Count(string(text))
	}
}
