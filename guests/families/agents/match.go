package agents

import (
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// mostTexts is how many texts one request for their terms has.
const mostTexts = 256

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
		part := texts[:min(len(texts), mostTexts)]
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
