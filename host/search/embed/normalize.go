package embed

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// deepest bounds the nesting of normalizers and pre-tokenizers.
const deepest = 8

// pattern is a literal text, or a regular expression; only runs of white space are supported.
type pattern struct {
	String *string
	Regex  *string
}

// step is the configuration of a normalizer or pre-tokenizer.
type step struct {
	Type        string            `json:"type"`
	Normalizers []json.RawMessage `json:"normalizers"`
	Splitters   []json.RawMessage `json:"pretokenizers"`

	Lowercase    *bool   `json:"lowercase"`
	StripAccents *bool   `json:"strip_accents"`
	CleanText    *bool   `json:"clean_text"`
	Chinese      *bool   `json:"handle_chinese_chars"`
	Left         *bool   `json:"strip_left"`
	Right        *bool   `json:"strip_right"`
	Prepend      string  `json:"prepend"`
	Pattern      pattern `json:"pattern"`
	Content      string  `json:"content"`
	Behavior     string  `json:"behavior"`
	Replacement  string  `json:"replacement"`
	Scheme       string  `json:"prepend_scheme"`
	AddPrefix    *bool   `json:"add_prefix_space"`
	Each         bool    `json:"individual_digits"`
}

func readStep(raw json.RawMessage, depth int) (step, error) {
	var s step
	if depth > deepest {
		return s, errors.New("its steps are nested too deeply")
	}
	if len(raw) == 0 || string(raw) == "null" {
		return s, nil
	}
	err := json.Unmarshal(raw, &s)
	return s, err
}

func isTrue(b *bool) bool { return b == nil || *b }

// normalizer returns the function of a normalizer's configuration.
func normalizer(raw json.RawMessage, depth int) (func(string) string, error) {
	s, err := readStep(raw, depth)
	if err != nil {
		return nil, fmt.Errorf("read its normalizer: %w", err)
	}
	switch s.Type {
	case "":
		return func(t string) string { return t }, nil
	case "Sequence":
		return normalizers(s.Normalizers, depth)
	case "BertNormalizer":
		return s.bert(), nil
	case "Lowercase":
		return strings.ToLower, nil
	case "NFC":
		return norm.NFC.String, nil
	case "NFD":
		return norm.NFD.String, nil
	case "NFKC", "Precompiled", "Nmt": // the precompiled map is NFKC with more white space
		return norm.NFKC.String, nil
	case "NFKD":
		return norm.NFKD.String, nil
	case "StripAccents":
		return withoutAccents, nil
	case "Strip":
		return s.strip, nil
	case "Prepend":
		return func(t string) string {
			if t == "" {
				return ""
			}
			return s.Prepend + t
		}, nil
	case "Replace":
		return s.replace()
	}
	return nil, fmt.Errorf("its normalizer %.40q is not understood", s.Type)
}

func normalizers(list []json.RawMessage, depth int) (func(string) string, error) {
	var all []func(string) string
	for _, raw := range list {
		f, err := normalizer(raw, depth+1)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return func(t string) string {
		for _, f := range all {
			t = f(t)
		}
		return t
	}, nil
}

func (s step) strip(t string) string {
	if isTrue(s.Left) {
		t = strings.TrimLeftFunc(t, unicode.IsSpace)
	}
	if isTrue(s.Right) {
		t = strings.TrimRightFunc(t, unicode.IsSpace)
	}
	return t
}

func (s step) replace() (func(string) string, error) {
	switch {
	case s.Pattern.String != nil && *s.Pattern.String != "":
		return func(t string) string { return strings.ReplaceAll(t, *s.Pattern.String, s.Content) }, nil
	case s.Pattern.Regex != nil && (*s.Pattern.Regex == `\s+` || *s.Pattern.Regex == ` {2,}`):
		return func(t string) string { return strings.Join(strings.Fields(t), s.Content) }, nil
	}
	return nil, errors.New("its normalizer replaces what is not understood")
}

// bert returns BERT's basic normalizer.
func (s step) bert() func(string) string {
	clean, chinese, lower := isTrue(s.CleanText), isTrue(s.Chinese), isTrue(s.Lowercase)
	accents := s.StripAccents == nil && lower || s.StripAccents != nil && *s.StripAccents
	return func(t string) string {
		var b strings.Builder
		for _, r := range t {
			switch {
			case clean && (r == 0 || r == 0xFFFD || unicode.IsControl(r) && !unicode.IsSpace(r)):
			case clean && unicode.IsSpace(r):
				b.WriteByte(' ')
			case chinese && unicode.Is(unicode.Han, r):
				b.WriteByte(' ')
				b.WriteRune(r)
				b.WriteByte(' ')
			default:
				b.WriteRune(r)
			}
		}
		t = b.String()
		if accents {
			t = withoutAccents(norm.NFD.String(t))
		}
		if lower {
			t = strings.ToLower(t)
		}
		return t
	}
}

func withoutAccents(t string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, t)
}

// preTokenizer returns the function of a pre-tokenizer's configuration.
func preTokenizer(raw json.RawMessage, depth int) (func(string) []string, error) {
	s, err := readStep(raw, depth)
	if err != nil {
		return nil, fmt.Errorf("read its pre-tokenizer: %w", err)
	}
	switch s.Type {
	case "":
		return func(t string) []string { return []string{t} }, nil
	case "Sequence":
		return preTokenizers(s.Splitters, depth)
	case "BertPreTokenizer":
		return func(t string) []string { return splitRunes(t, punctuation, true) }, nil
	case "Whitespace": // \w+|[^\w\s]+
		return func(t string) []string { return splitRunes(t, notWord, false) }, nil
	case "WhitespaceSplit":
		return strings.Fields, nil
	case "Punctuation":
		return func(t string) []string { return splitKeeping(t, punctuation) }, nil
	case "Digits":
		return func(t string) []string { return splitDigits(t, s.Each) }, nil
	case "Metaspace":
		return s.metaspace(), nil
	}
	return nil, fmt.Errorf("its pre-tokenizer %.40q is not understood", s.Type)
}

func preTokenizers(list []json.RawMessage, depth int) (func(string) []string, error) {
	var all []func(string) []string
	for _, raw := range list {
		f, err := preTokenizer(raw, depth+1)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return func(t string) []string {
		words := []string{t}
		for _, f := range all {
			var next []string
			for _, w := range words {
				next = append(next, f(w)...)
			}
			words = next
		}
		return words
	}, nil
}

// metaspace replaces spaces by a mark that begins words.
func (s step) metaspace() func(string) []string {
	mark := s.Replacement
	if mark == "" {
		mark = "▁"
	}
	first := s.Scheme != "never" && (s.Scheme != "" || isTrue(s.AddPrefix))
	return func(t string) []string {
		t = strings.ReplaceAll(t, " ", mark)
		if t != "" && first && !strings.HasPrefix(t, mark) {
			t = mark + t
		}
		var words []string
		for t != "" {
			next := strings.Index(t[1:], mark)
			if next < 0 {
				return append(words, t)
			}
			words, t = append(words, t[:next+1]), t[next+1:]
		}
		return words
	}
}

func punctuation(r rune) bool {
	return r >= 33 && r <= 47 || r >= 58 && r <= 64 || r >= 91 && r <= 96 || r >= 123 && r <= 126 || unicode.IsPunct(r)
}

func notWord(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) && r != '_'
}

// splitRunes splits at white space, which is dropped, and between characters of a class and others; with alone, each
// character of the class is a word.
func splitRunes(t string, class func(rune) bool, alone bool) []string {
	var words []string
	from, was := -1, false // the word's offset, and whether it is of the class
	for at, r := range t {
		is := class(r)
		space := unicode.IsSpace(r)
		if from >= 0 && (space || is != was || is && alone) {
			words, from = append(words, t[from:at]), -1
		}
		if !space && from < 0 {
			from, was = at, is
		}
	}
	if from >= 0 {
		words = append(words, t[from:])
	}
	return words
}

// splitKeeping splits out each character of a class and keeps everything else.
func splitKeeping(t string, class func(rune) bool) []string {
	var words []string
	from := 0
	for at, r := range t {
		if !class(r) {
			continue
		}
		if from < at {
			words = append(words, t[from:at])
		}
		from = at + len(string(r))
		words = append(words, t[at:from])
	}
	if from < len(t) {
		words = append(words, t[from:])
	}
	return words
}

// splitDigits separates digits from everything else, and with each, from one another.
func splitDigits(t string, each bool) []string {
	if each {
		return splitKeeping(t, unicode.IsNumber)
	}
	var words []string
	from, was := 0, false
	for at, r := range t {
		if is := unicode.IsNumber(r); at > 0 && is != was {
			words, from = append(words, t[from:at]), at
		}
		was = unicode.IsNumber(r)
	}
	if from < len(t) {
		words = append(words, t[from:])
	}
	return words
}
