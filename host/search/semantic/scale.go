package semantic

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"math"
	"strings"

	"github.com/alcove-memory/alcove/host/search"
)

// Scale says what the cosines of a model mean: models differ in them, and in some no two texts have less than .7.
type Scale struct {
	Unrelated float64 `json:"unrelated"` // the mean of questions and texts about something else
	Alike     float64 `json:"alike"`     // the mean of questions and the texts that answer them in other words
}

// leastContrast is the difference of the two means below which a model is taken not to tell them apart.
const leastContrast = .02

// Discriminates reports whether the scores of answers and of other texts are apart.
func (s Scale) Discriminates() bool { return s.Alike-s.Unrelated >= leastContrast }

// Fit is a Fusion of a model with this scale that treats its scores as f treats those of a model with the scale of f.
func (s Scale) Fit(f *search.Fusion, of Scale) *search.Fusion {
	fitted := *f
	unit := (s.Alike - s.Unrelated) / (of.Alike - of.Unrelated)
	fitted.Zero = s.Unrelated - of.Unrelated*unit
	fitted.One = fitted.Zero + unit
	return &fitted
}

//go:embed probes.txt
var probeText string

// probe is a question, and a text that answers it in other words.
type probe struct{ question, answer string }

func probes() []probe {
	var list []probe
	for line := range strings.Lines(probeText) {
		if question, answer, found := strings.Cut(strings.TrimSpace(line), " | "); found {
			list = append(list, probe{question, answer})
		}
	}
	return list
}

// MeasureScale has an embedder embed questions and texts of this package. Vectors must be of cosines.
func MeasureScale(ctx context.Context, s Settings) (Scale, error) {
	list := probes()
	questions, answers := make([]string, len(list)), make([]string, len(list))
	for i, p := range list {
		questions[i], answers[i] = s.Question+p.question, s.Prefix+p.answer
	}
	asked, err := embedAll(ctx, s.asker(), questions, s.Batch)
	if err != nil {
		return Scale{}, err
	}
	told, err := embedAll(ctx, s.Embedder, answers, s.Batch)
	if err != nil {
		return Scale{}, err
	}
	var sum Scale
	alike, unrelated := 0, 0
	for i, q := range asked {
		for j, a := range told {
			c, known := cosine(q, a)
			switch {
			case !known: // a text of words that the model lacks
			case i == j:
				sum.Alike += c
				alike++
			default:
				sum.Unrelated += c
				unrelated++
			}
		}
	}
	if alike == 0 || unrelated == 0 {
		return Scale{}, fmt.Errorf("measure the scale of embedder %s: it knows none of %d texts", s.Name, len(list))
	}
	return Scale{Unrelated: sum.Unrelated / float64(unrelated), Alike: sum.Alike / float64(alike)}, nil
}

func embedAll(ctx context.Context, e Embedder, texts []string, batch int) ([][]float32, error) {
	var vectors [][]float32
	for len(texts) > 0 {
		n := min(len(texts), cmp.Or(batch, defaultBatch))
		made, err := e.Embed(ctx, texts[:n])
		if err == nil && len(made) != n {
			err = fmt.Errorf("%d vectors came for %d texts", len(made), n)
		}
		if err != nil {
			return nil, fmt.Errorf("measure the scale of an embedder: %w", err)
		}
		vectors, texts = append(vectors, made...), texts[n:]
	}
	return vectors, nil
}

// cosine reports false for vectors without a direction.
func cosine(a, b []float32) (c float64, known bool) {
	if len(a) != len(b) {
		return 0, false
	}
	var ab, aa, bb float64
	for i := range a {
		ab, aa, bb = ab+float64(a[i])*float64(b[i]), aa+float64(a[i])*float64(a[i]), bb+float64(b[i])*float64(b[i])
	}
	c = ab / math.Sqrt(aa*bb)
	return c, !math.IsNaN(c) && !math.IsInf(c, 0)
}
