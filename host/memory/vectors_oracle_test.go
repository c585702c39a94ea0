package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/alcove-memory/alcove/host/search/semantic"
)

// hashed is an embedder whose vectors have nothing to do with what texts say.
type hashed struct{}

func (hashed) Embed(_ context.Context, texts []string) ([][]float32, error) {
	var vectors [][]float32
	for _, text := range texts {
		h := fnv.New64a()
		h.Write([]byte(text))
		r := rand.New(rand.NewPCG(h.Sum64(), 1))
		v := make([]float32, 24)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		vectors = append(vectors, v)
	}
	return vectors, nil
}

func byHash() semantic.Settings {
	return semantic.Settings{Name: "hashed", Identity: "1", Dimensions: 24, Embedder: hashed{}, Costly: true}
}

// TestMeaningRanksAsIfTheViewWereAllThereIs writes, forgets, forks, archives and trims at random, and compares each
// search with that of a space that only ever held what the view sees.
func TestMeaningRanksAsIfTheViewWereAllThereIs(t *testing.T) {
	if testing.Short() {
		t.Skip("it works through much data on one goroutine: the tests without -short run it")
	}
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { compareMeaning(t, rand.New(rand.NewPCG(seed, 7))) })
	}
}

func compareMeaning(t *testing.T, r *rand.Rand) {
	s, _ := withEmbedders(t, t.TempDir(), byHash())
	branches, versions := []string{Default}, []uint64{}
	words := []string{"red", "blue", "cat", "dog", "tree", "stone"}
	for range 120 {
		branch, key := branches[r.IntN(len(branches))], fmt.Sprint("k", r.IntN(25))
		switch n := r.IntN(20); {
		case n < 14:
			text := fmt.Sprintf("%s %s %d", words[r.IntN(len(words))], words[r.IntN(len(words))], r.IntN(9))
			versions = append(versions, put(t, s, branch, key, text).Version)
		case n < 16:
			if _, err := s.Forget(t.Context(), Location{Branch: branch}, []string{key}, Write{}); err != nil {
				t.Fatal(err)
			}
		case n < 18:
			if _, err := s.SetState(t.Context(), Location{Branch: branch}, []string{key}, Archived, Write{}); err != nil {
				t.Fatal(err)
			}
		case len(branches) < 5:
			name := fmt.Sprint("b", len(branches))
			if _, err := s.Fork(t.Context(), branch, name, AsOf{}, Write{}); err != nil {
				t.Fatal(err)
			}
			branches = append(branches, name)
		}
	}
	embedded(t, s)
	compared := 0
	for i := range 12 {
		q := Search{Text: words[r.IntN(len(words))] + " 3", Branch: branches[r.IntN(len(branches))], Mode: []Mode{Hybrid, Semantic}[i%2], K: 1 + r.IntN(20)}
		if i%3 == 0 {
			q.AsOf = AsOf{Version: versions[r.IntN(len(versions))]}
		}
		got, want := scored(t, s, q), scored(t, onlyThat(t, s, q), Search{Text: q.Text, Mode: q.Mode, K: q.K})
		if !slices.EqualFunc(got, want, scoredHit.is) {
			t.Errorf("%+v: %v, want %v", q, got, want)
		}
		compared += len(got)
	}
	if compared < 20 {
		t.Errorf("only %d hits were compared", compared)
	}
}

// onlyThat is a space with nothing but what a search's view sees.
func onlyThat(t *testing.T, s *Space, q Search) *Space {
	t.Helper()
	alone, _ := withEmbedders(t, t.TempDir(), byHash())
	for i := range 25 {
		key := fmt.Sprint("k", i)
		m, err := s.Recall(t.Context(), Location{Branch: q.Branch}, key, q.AsOf)
		if isNotFound(err) || m == nil {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := alone.Store(t.Context(), Location{}, []Item{{Key: key, Value: json.RawMessage(m.Value), State: m.State}}, Write{}); err != nil {
			t.Fatal(err)
		}
	}
	embedded(t, alone)
	return alone
}

// scoredHit is a hit with its score.
type scoredHit struct {
	key   string
	score float64
}

// is reports whether two hits are the same but for what rounding to 32 bits changes.
func (h scoredHit) is(other scoredHit) bool {
	return h.key == other.key && math.Abs(h.score-other.score) < 1e-5
}

// scored are the keys and scores that a search finds; none on a branch that was not there yet.
func scored(t *testing.T, s *Space, q Search) []scoredHit {
	t.Helper()
	found, err := s.Search(t.Context(), q)
	if isNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	var list []scoredHit
	for _, h := range found.Hits {
		list = append(list, scoredHit{h.Key, h.Score})
	}
	return list
}

func isNotFound(err error) bool {
	var failure *Error
	return errors.As(err, &failure) && failure.Code == NotFound
}
