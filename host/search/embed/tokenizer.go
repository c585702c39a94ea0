package embed

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// largestTokenizer bounds a tokenizer.json, in bytes.
const largestTokenizer = 256 << 20

// tokenizer implements the tokenizer.json of Hugging Face's tokenizers.
type tokenizer struct {
	normalize func(string) string
	split     func(string) []string
	cut       func(word string, into []int) []int // into tokens
	unknown   int                                 // the token for unknown text, which is dropped; −1: none
	words     []string                            // tokens that are whole words

	before, after []int // marks around each text, for transformers
	keeps         bool  // unknown text becomes the token for it
}

// mark reads the marks that are put around a text, and lets unknown text be a token.
func (t *tokenizer) mark(raw []byte) error {
	var d struct {
		Processor struct {
			Type   string
			Cls    []any `json:"cls"`
			Sep    []any `json:"sep"`
			Single []struct {
				Special *struct{ ID string } `json:"SpecialToken"`
			} `json:"single"`
			Tokens map[string]struct{ IDs []int } `json:"special_tokens"`
		} `json:"post_processor"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return fmt.Errorf("read its post-processor: %w", err)
	}
	switch p := d.Processor; p.Type {
	case "BertProcessing", "RobertaProcessing":
		t.before, t.after = numberOf(p.Cls), numberOf(p.Sep)
	case "TemplateProcessing":
		for _, piece := range p.Single {
			if piece.Special != nil && len(t.before) == 0 {
				t.before = p.Tokens[piece.Special.ID].IDs
			} else if piece.Special != nil {
				t.after = p.Tokens[piece.Special.ID].IDs
			}
		}
	}
	if len(t.before) != 1 || len(t.after) != 1 || t.before[0] < 0 || t.after[0] < 0 {
		return errors.New("its post-processor does not put one token before a text and one after it")
	}
	t.keeps = t.unknown >= 0
	return nil
}

// numberOf is the number of a token that is written with its name.
func numberOf(pair []any) []int {
	if len(pair) == 2 {
		if n, ok := pair[1].(float64); ok && n == float64(int(n)) {
			return []int{int(n)}
		}
	}
	return nil
}

// marked returns the tokens of a text with the marks around them, at most `most`; none if the text has none.
func (t *tokenizer) marked(text string, most int) []int {
	tokens := t.tokens(text, most-2)
	if len(tokens) == 0 {
		return nil
	}
	return slices.Concat(t.before, tokens, t.after)
}

// tokens returns the ids of a text's known tokens, at most `most`.
func (t *tokenizer) tokens(text string, most int) []int {
	if longest := 16 * most; len(text) > longest { // the rest cannot yield further tokens
		for longest > 0 && !utf8.RuneStart(text[longest]) {
			longest--
		}
		text = text[:longest]
	}
	var list []int
	for _, word := range t.split(t.normalize(text)) {
		from := len(list)
		list = t.cut(word, list)
		kept := from
		for _, token := range list[from:] {
			if token != t.unknown || t.keeps {
				list[kept] = token
				kept++
			}
		}
		if list = list[:kept]; len(list) >= most {
			return list[:most]
		}
	}
	return list
}

func newTokenizer(raw []byte) (*tokenizer, error) {
	var d struct {
		Normalizer   json.RawMessage `json:"normalizer"`
		PreTokenizer json.RawMessage `json:"pre_tokenizer"`
		Model        json.RawMessage `json:"model"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, err
	}
	t := &tokenizer{unknown: -1}
	var err error
	if t.normalize, err = normalizer(d.Normalizer, 0); err != nil {
		return nil, err
	}
	if t.split, err = preTokenizer(d.PreTokenizer, 0); err != nil {
		return nil, err
	}
	return t, t.model(d.Model)
}

func (t *tokenizer) model(raw json.RawMessage) error {
	var kind struct{ Type string }
	if err := json.Unmarshal(raw, &kind); err != nil {
		return fmt.Errorf("read its model: %w", err)
	}
	switch kind.Type {
	case "WordPiece":
		return t.wordPiece(raw)
	case "Unigram":
		return t.unigram(raw)
	case "WordLevel":
		return t.wordLevel(raw)
	}
	return fmt.Errorf("its model is of type %.40q: only WordPiece, Unigram and WordLevel are understood", kind.Type)
}

// checkVocabulary validates token ids.
func checkVocabulary(vocabulary map[string]int) error {
	if len(vocabulary) == 0 {
		return errors.New("its vocabulary is empty")
	}
	for token, number := range vocabulary {
		if number < 0 || number > 1<<30 {
			return fmt.Errorf("token %.40q has the number %d", token, number)
		}
	}
	return nil
}

func (t *tokenizer) wordLevel(raw json.RawMessage) error {
	var m struct {
		Vocabulary map[string]int `json:"vocab"`
		Unknown    string         `json:"unk_token"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return fmt.Errorf("read its model: %w", err)
	}
	if n, ok := m.Vocabulary[m.Unknown]; ok {
		t.unknown = n
	}
	t.cut = func(word string, into []int) []int {
		if n, ok := m.Vocabulary[word]; ok {
			into = append(into, n)
		}
		return into
	}
	t.words = wholeWords(maps.Keys(m.Vocabulary), "")
	return checkVocabulary(m.Vocabulary)
}

// wordPiece configures WordPiece, which splits off the longest token at the front of a word repeatedly.
func (t *tokenizer) wordPiece(raw json.RawMessage) error {
	var m struct {
		Vocabulary map[string]int `json:"vocab"`
		Unknown    string         `json:"unk_token"`
		Prefix     *string        `json:"continuing_subword_prefix"`
		Longest    int            `json:"max_input_chars_per_word"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return fmt.Errorf("read its model: %w", err)
	}
	prefix, longest := "##", 100
	if m.Prefix != nil {
		prefix = *m.Prefix
	}
	if m.Longest > 0 {
		longest = min(m.Longest, 1000)
	}
	if n, ok := m.Vocabulary[m.Unknown]; ok {
		t.unknown = n
	}
	t.cut = func(word string, into []int) []int {
		from := len(into)
		if utf8.RuneCountInString(word) > longest {
			return t.whole(into)
		}
		for at := 0; at < len(word); {
			token, size := longestPiece(m.Vocabulary, word[at:], prefix, at > 0)
			if size == 0 {
				return t.whole(into[:from])
			}
			into, at = append(into, token), at+size
		}
		return into
	}
	t.words = wholeWords(maps.Keys(m.Vocabulary), "")
	return checkVocabulary(m.Vocabulary)
}

// whole appends the token for a word that is unknown as a whole.
func (t *tokenizer) whole(into []int) []int {
	if t.keeps {
		return append(into, t.unknown)
	}
	return into
}

// wholeWords returns the tokens of letters alone after an optional mark, sorted.
func wholeWords(tokens iter.Seq[string], mark string) []string {
	var words []string
	for token := range tokens {
		word, marked := strings.CutPrefix(token, mark)
		if marked && len(word) > 2 && !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) {
			words = append(words, word)
		}
	}
	slices.Sort(words)
	return words
}

// longestPiece returns the longest token that a word begins with, and its length in bytes.
func longestPiece(vocabulary map[string]int, word, prefix string, inside bool) (token, size int) {
	for end := len(word); end > 0; {
		piece := word[:end]
		if inside {
			piece = prefix + piece
		}
		if n, ok := vocabulary[piece]; ok {
			return n, end
		}
		_, last := utf8.DecodeLastRuneInString(word[:end])
		end -= last
	}
	return 0, 0
}

// unigram configures Unigram, which splits a word into the tokens with the highest total log-probability.
func (t *tokenizer) unigram(raw json.RawMessage) error {
	var m struct {
		Vocabulary [][2]any `json:"vocab"`
		Unknown    *int     `json:"unk_id"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return fmt.Errorf("read its model: %w", err)
	}
	u := &unigram{pieces: map[string]piece{}}
	for i, entry := range m.Vocabulary {
		token, isText := entry[0].(string)
		score, isNumber := entry[1].(float64)
		if !isText || !isNumber {
			return fmt.Errorf("entry %d of its vocabulary is not a token with a score", i)
		}
		if _, twice := u.pieces[token]; token != "" && !twice {
			u.pieces[token] = piece{i, score}
			u.longest = max(u.longest, min(len(token), longestToken))
		}
		u.least = min(u.least, score)
	}
	if len(u.pieces) == 0 {
		return errors.New("its vocabulary is empty")
	}
	if m.Unknown != nil {
		t.unknown = *m.Unknown
	}
	u.unknown = t.unknown
	t.words = wholeWords(maps.Keys(u.pieces), "▁")
	t.cut = u.cut
	return nil
}

type piece struct {
	token int
	score float64
}

type unigram struct {
	pieces  map[string]piece
	longest int     // the longest token, in bytes
	least   float64 // the lowest score
	unknown int
}

const (
	longestToken   = 256 // bytes of a unigram token; longer ones are ignored
	longestWord    = 4096
	unknownPenalty = 10
)

// cut finds the best split with the Viterbi algorithm.
func (u *unigram) cut(word string, into []int) []int {
	if len(word) > longestWord {
		head := strings.ToValidUTF8(word[:longestWord], "")
		return u.cut(word[longestWord:], u.cut(head, into))
	}
	type step struct {
		from, token int
		score       float64
		reached     bool
	}
	steps := make([]step, len(word)+1)
	steps[0].reached = true
	for at := range word { // at the beginning of each character
		if !steps[at].reached {
			continue
		}
		try := func(end, token int, score float64) {
			if sum := steps[at].score + score; !steps[end].reached || sum > steps[end].score {
				steps[end] = step{at, token, sum, true}
			}
		}
		_, first := utf8.DecodeRuneInString(word[at:])
		known := false
		for end := at + first; end <= min(len(word), at+u.longest); {
			if p, ok := u.pieces[word[at:end]]; ok {
				try(end, p.token, p.score)
				known = known || end == at+first
			}
			if end == len(word) {
				break
			}
			_, size := utf8.DecodeRuneInString(word[end:])
			end += size
		}
		if !known {
			try(at+first, u.unknown, u.least-unknownPenalty)
		}
	}
	from := len(into)
	for end := len(word); end > 0; end = steps[end].from {
		if token := steps[end].token; token >= 0 {
			into = append(into, token)
		}
	}
	for i, j := from, len(into)-1; i < j; i, j = i+1, j-1 {
		into[i], into[j] = into[j], into[i]
	}
	return into
}
