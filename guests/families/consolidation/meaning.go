package consolidation

import (
	"github.com/alcove-memory/alcove/guests/families/consolidation/compare"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

const mostEmbedded = 256 // texts of one request

// meanings are what a text, others and their words mean. Without an embedder there are none, and words alone are compared.
func meanings(c *alcove.Call, by *compare.Comparer, text string, others []string) (compare.Vectors, error) {
	r := by.NewReader()
	list, seen := []string{}, map[string]bool{}
	add := func(text string) {
		if !seen[text] && text != "" {
			seen[text] = true
			list = append(list, text)
		}
	}
	for _, text := range append([]string{text}, others...) {
		add(text)
		for _, w := range r.Words(r.Read(text)) {
			add(w)
		}
	}
	return embed(c, list)
}

// embed makes vectors of texts.
func embed(c *alcove.Call, list []string) (compare.Vectors, error) {
	means := compare.Vectors{}
	for len(list) > 0 {
		part := list[:min(len(list), mostEmbedded)]
		list = list[len(part):]
		vectors, _, err := c.Vectors(alcove.EmbedTextsRequest{Texts: part})
		switch alcove.CodeOf(err) {
		case "":
		case alcove.Unavailable, alcove.Denied:
			return nil, nil
		default:
			return nil, err
		}
		for i, v := range vectors {
			means[part[i]] = v
		}
	}
	return means, nil
}
