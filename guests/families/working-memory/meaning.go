package workingmemory

import (
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/meaning"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// unrelated are texts about different things. How near they are to one another is how near any two texts are, which differs by model.
func unrelated() []string {
	return []string{"The train leaves at noon.", "The soup needs more salt.", "The server answers slowly.", "They painted the wall green."}
}

// nearTo is how near the meaning of a text is to the texts before, on a scale on which unrelated texts have 0.
type nearTo struct {
	nearest float64 // to the nearest of them
	last    float64
	whole   float64 // to all together
}

// nearness is how near the meaning of a text is to the texts before; usualNear without an embedder.
func nearness(c *alcove.Call, before []string, next string) (near nearTo, err error) {
	texts := append([]string{next, strings.Join(before, " ")}, before...)
	out, err := meaning.Embed(c, "document", append(texts, unrelated()...))
	if err != nil {
		return near, err
	}
	if out.Of == nil {
		return nearTo{usualNear, usualNear, usualNear}, nil
	}
	asked, whole, each, others := out.Of[0], out.Of[1], out.Of[2:len(texts)], out.Of[len(texts):]
	usual := max(0, likeness(others))
	scaled := func(v []float32) float64 { return (meaning.Cosine(asked, v) - usual) / (1 - usual) }
	near = nearTo{nearest: scaled(each[0]), last: scaled(each[len(each)-1]), whole: scaled(whole)}
	for _, v := range each {
		near.nearest = max(near.nearest, scaled(v))
	}
	return near, nil
}

// likeness is the mean cosine of the pairs of vectors; less than 1.
func likeness(vectors [][]float32) float64 {
	sum, of := 0., 0.
	for i, v := range vectors {
		for _, w := range vectors[:i] {
			sum, of = sum+meaning.Cosine(v, w), of+1
		}
	}
	return min(sum/of, .99)
}

// remembered are how many texts a new one is compared with, and how much of each, in bytes.
const (
	remembered     = 4
	mostRemembered = 1000
)

// recall is the texts that a new one is compared with, newest last.
func (f *focus) recall() []string {
	if len(f.Recent) == 0 && f.Content != "" {
		return []string{f.Content}
	}
	return f.Recent
}

// remember adds a text to those that the next is compared with.
func (f *focus) remember(text string) {
	f.Recent = append(f.Recent, text)
	f.Recent = slices.Clone(f.Recent[max(0, len(f.Recent)-remembered):])
}
