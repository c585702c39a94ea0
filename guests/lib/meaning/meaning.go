// Package meaning compares texts by the vectors that the server's embedder makes of them.
package meaning

import (
	"math"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Vectors are those of some texts, in their order, and the model that made them.
type Vectors struct {
	Model string
	Of    [][]float32
}

// mostEmbedded is how many texts one request may have.
const mostEmbedded = 256

// Embed makes vectors of texts, for the purpose document or query. Without an embedder, or without the right to ask it, there are none; and
// none where the model changed meanwhile, since vectors of two models cannot be compared.
func Embed(c *alcove.Call, purpose string, texts []string) (v Vectors, err error) {
	for len(texts) > 0 {
		part := texts[:min(len(texts), mostEmbedded)]
		texts = texts[len(part):]
		out, err := c.EmbedTexts(alcove.EmbedTextsRequest{Texts: part, Purpose: purpose})
		if code := alcove.CodeOf(err); code == alcove.Unavailable || code == alcove.Denied {
			return Vectors{}, nil
		}
		if err != nil {
			return Vectors{}, err
		}
		if len(out.Vectors) != len(part) || v.Of != nil && out.Model != v.Model {
			return Vectors{}, nil
		}
		v.Model, v.Of = out.Model, append(v.Of, out.Vectors...)
	}
	return v, nil
}

// Cosine is the likeness of two vectors; 0 unless both have a direction.
func Cosine(a, b []float32) float64 {
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
