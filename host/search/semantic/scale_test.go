package semantic

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/search"
)

// paired gives the question and the answer of a probe the cosine alike, and any two other texts the cosine unrelated.
type paired struct {
	unrelated, alike float64
	batches          []int
	err              error
}

func (p *paired) Embed(_ context.Context, texts []string) ([][]float32, error) {
	p.batches = append(p.batches, len(texts))
	if p.err != nil {
		return nil, p.err
	}
	var vectors [][]float32
	list := probes()
	for _, text := range texts {
		v := make([]float32, 1+3*len(list))
		v[0] = float32(math.Sqrt(p.unrelated))
		rest := 1 - p.unrelated
		for i, probe := range list {
			own := 2
			switch {
			case strings.HasSuffix(text, probe.question):
				own = 1
			case !strings.HasSuffix(text, probe.answer):
				continue
			}
			shared := p.alike - p.unrelated
			v[1+3*i] = float32(math.Sqrt(shared))
			v[1+3*i+own] = float32(math.Sqrt(rest - shared))
		}
		vectors = append(vectors, v)
	}
	return vectors, nil
}

func TestTheScaleOfAModelIsMeasured(t *testing.T) {
	m := &paired{unrelated: .7, alike: .85}
	got, err := MeasureScale(t.Context(), Settings{Name: "narrow", Embedder: m, Batch: 10, Prefix: "passage: ", Question: "query: "})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(got.Unrelated-.7) > 1e-6 || math.Abs(got.Alike-.85) > 1e-6 {
		t.Errorf("got %+v, want .7 and .85", got)
	}
	for _, n := range m.batches {
		if n > 10 {
			t.Errorf("got a batch of %d texts, want 10 at most", n)
		}
	}
}

func TestAModelWithoutVectorsHasNoScale(t *testing.T) {
	broken := errors.New("no answer")
	if _, err := MeasureScale(t.Context(), Settings{Name: "m", Embedder: &paired{err: broken}}); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
	none := func(context.Context, []string) ([][]float32, error) { return nil, nil }
	if _, err := MeasureScale(t.Context(), Settings{Name: "m", Embedder: embedding(none)}); err == nil || !strings.Contains(err.Error(), "0 vectors came for") {
		t.Errorf("got %v, want an error that counts the vectors", err)
	}
	empty := func(_ context.Context, texts []string) ([][]float32, error) {
		return make([][]float32, len(texts)), nil
	}
	if _, err := MeasureScale(t.Context(), Settings{Name: "m", Embedder: embedding(empty)}); err == nil || !strings.Contains(err.Error(), "knows none") {
		t.Errorf("got %v, want an error that says that it knows none of the texts", err)
	}
	if (Scale{Unrelated: .5, Alike: .51}).Discriminates() || (Scale{}).Discriminates() {
		t.Error("a model that hardly tells texts apart tells them, want not")
	}
}

type embedding func(context.Context, []string) ([][]float32, error)

func (e embedding) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return e(ctx, texts)
}

func TestAFittedFusionTreatsUnrelatedAndAlikeTheSame(t *testing.T) {
	of, s := Scale{Unrelated: .05, Alike: .45}, Scale{Unrelated: .7, Alike: .8}
	f := s.Fit(&search.Fusion{Weight: 2, Full: 3, Floor: .2, Least: .4}, of)
	at := func(cosine float64) float64 { return (cosine - f.Zero) / (f.One - f.Zero) }
	for cosine, want := range map[float64]float64{.7: .05, .8: .45} {
		if got := at(cosine); math.Abs(got-want) > 1e-9 {
			t.Errorf("a cosine of %g is a similarity of %g, want %g", cosine, got, want)
		}
	}
	if f.Weight != 2 || f.Full != 3 || f.Floor != .2 || f.Least != .4 {
		t.Errorf("got %+v, want the other numbers as they were", f)
	}
}

func TestTheProbesAreQuestionsWithAnswersInOtherWords(t *testing.T) {
	a, err := search.NewAnalyser("english")
	if err != nil {
		t.Fatal(err)
	}
	list := probes()
	if len(list) < 20 {
		t.Fatalf("got %d probes, want 20 or more", len(list))
	}
	for _, p := range list {
		has := map[string]bool{}
		for _, term := range a.Terms(p.answer) {
			has[term] = true
		}
		for _, term := range a.Terms(p.question) {
			if has[term] && len(term) > 3 { // shorter ones say nothing, such as the
				t.Errorf("%q and %q share %q, want other words", p.question, p.answer, term)
			}
		}
	}
}
