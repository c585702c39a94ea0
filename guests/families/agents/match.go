package agents

import (
	"math"
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// vectors are texts as a model sees them.
type vectors struct {
	model string
	of    [][]float32
}

const mostEmbedded = 256 // texts of one request

// embed makes vectors of texts. Without an embedder there are none.
func embed(c *alcove.Call, purpose string, texts []string) (v vectors, err error) {
	for len(texts) > 0 {
		part := texts[:min(len(texts), mostEmbedded)]
		texts = texts[len(part):]
		out, err := c.EmbedTexts(alcove.EmbedTextsRequest{Texts: part, Purpose: purpose})
		switch alcove.CodeOf(err) {
		case "":
		case alcove.Unavailable, alcove.Denied:
			return vectors{}, nil
		default:
			return vectors{}, err
		}
		v.model, v.of = out.Model, append(v.of, out.Vectors...)
	}
	return v, nil
}

// cosine is the likeness of two vectors; 0 unless both have a direction.
func cosine(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	var dot, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return dot / math.Sqrt(aa*bb)
}

// needed are the terms of texts that say what is needed or can be done: without words that say little.
func needed(c *alcove.Call, texts []string) ([]map[string]bool, error) {
	little := map[string]bool{}
	for _, stop := range words.Stops() {
		little[stop] = true
	}
	short := make([]string, len(texts))
	for i, text := range texts {
		var kept []string
		for _, w := range words.Split(text) {
			if !little[w.Lower] {
				kept = append(kept, w.Lower)
			}
		}
		short[i] = strings.Join(kept, " ")
	}
	return terms(c, short)
}

// terms are the terms of texts, each once.
func terms(c *alcove.Call, texts []string) (sets []map[string]bool, err error) {
	for len(texts) > 0 {
		part := texts[:min(len(texts), mostEmbedded)]
		texts = texts[len(part):]
		out, err := c.TextAnalyze(alcove.TextAnalyzeRequest{Texts: part})
		if err != nil {
			return nil, err
		}
		for _, list := range out.Terms {
			set := make(map[string]bool, len(list))
			for _, term := range list {
				set[term] = true
			}
			sets = append(sets, set)
		}
	}
	return sets, nil
}

// share is how much of some terms is among others.
func share(of, among map[string]bool) float64 {
	if len(of) == 0 {
		return 0
	}
	n := 0
	for term := range of {
		if among[term] {
			n++
		}
	}
	return float64(n) / float64(len(of))
}
