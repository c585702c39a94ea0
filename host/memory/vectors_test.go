package memory

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alcove-memory/alcove/host/memory/portable"
	"github.com/alcove-memory/alcove/host/memory/purge"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/search/semantic"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/testing/await"
)

// keptVectors is a keeper as a space knows it.
type keptVectors struct{ *semantic.Keeper }

func (k keptVectors) Embedders() []Embedder {
	var list []Embedder
	for _, s := range k.Status() {
		list = append(list, Embedder(s))
	}
	return list
}

// kinds is an embedder that knows of animals and of tools.
type kinds struct {
	mu     sync.Mutex
	broken error
}

func (k *kinds) Embed(_ context.Context, texts []string) ([][]float32, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.broken != nil {
		return nil, k.broken
	}
	var vectors [][]float32
	for _, text := range texts {
		v := []float32{.1, .1, .1}
		for i, words := range []string{"cat dog beast", "hammer saw implement"} {
			for _, word := range strings.Fields(words) {
				if strings.Contains(text, word) {
					v[i]++
				}
			}
		}
		vectors = append(vectors, v)
	}
	return vectors, nil
}

func (k *kinds) breaks(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.broken = err
}

// withEmbedders opens a space with embedders; without any when there are none.
func withEmbedders(t *testing.T, dir string, settings ...semantic.Settings) (*Space, *semantic.Keeper) {
	t.Helper()
	engine, err := bolt.Open(t.Context(), dir, bolt.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	keeper := semantic.New(semantic.Options{Blobs: engine, FlushAfter: time.Millisecond, Retry: time.Millisecond})
	for _, s := range settings {
		if err := keeper.Set(s); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(t.Context(), Options{Engine: engine, Index: search.New(search.Options{Semantic: keeper}), Vectors: keptVectors{keeper}, QuestionTime: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	keeper.Start(s)
	t.Cleanup(func() {
		for _, err := range []error{keeper.Close(), s.Close(context.Background()), engine.Check(context.Background()), engine.Close()} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	return s, keeper
}

func ofKinds(k *kinds) semantic.Settings {
	return semantic.Settings{Name: "kinds", Identity: "1", Dimensions: 3, Embedder: k}
}

// embedded waits until nothing waits for a vector.
func embedded(t *testing.T, s *Space) {
	t.Helper()
	await.That(t, "all is embedded", func() bool {
		st, err := s.Status(t.Context(), Location{})
		if err != nil {
			t.Fatal(err)
		}
		return st.Searchable && !slices.ContainsFunc(st.Embedders, func(e Embedder) bool { return e.Waiting > 0 })
	})
}

func keysFound(t *testing.T, s *Space, q Search) []string {
	t.Helper()
	found, err := s.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, h := range found.Hits {
		keys = append(keys, h.Key)
	}
	return keys
}

func TestMeaningFindsWhatWordsDoNot(t *testing.T) {
	s, _ := withEmbedders(t, t.TempDir(), ofKinds(&kinds{}))
	put(t, s, "", "pet", "a dog with a long tail")
	put(t, s, "", "box", "a hammer and a saw")
	embedded(t, s)
	for mode, want := range map[Mode][]string{"": {"pet", "box"}, Hybrid: {"pet", "box"}, Semantic: {"pet", "box"}, Lexical: nil} {
		if got := keysFound(t, s, Search{Text: "which beast?", Mode: mode}); !slices.Equal(got, want) {
			t.Errorf("mode %q: %v, want %v", mode, got, want)
		}
	}
}

func TestRecordsAreFoundByMeaningInNamespacesThatMayBeRead(t *testing.T) {
	s, _ := withEmbedders(t, t.TempDir(), ofKinds(&kinds{}))
	pages := Collection{Name: "fam/pages", Fields: []string{"text"}}
	shared := Collection{Name: "fam/shared", Fields: []string{"text"}, PerSpace: true, Unversioned: true}
	st := stage(t, s, "")
	for _, c := range []Collection{pages, shared} {
		for namespace, text := range map[string]string{"open": "a dog with a long tail", "closed": "a cat"} {
			if err := st.Keep(t.Context(), c, namespace, RecordItem{Key: "pet", Value: json.RawMessage(`{"text":"` + text + `"}`)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := st.Keep(t.Context(), c, "open", RecordItem{Key: "box", Value: json.RawMessage(`{"text":"a hammer"}`)}); err != nil {
			t.Fatal(err)
		}
	}
	stageCommit(t, st, Commit{})
	embedded(t, s)
	narrow, err := s.As(Caller{Rights: RightsTo([]string{"open"}, nil)}).Stage(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []Collection{pages, shared} {
		for mode, want := range map[Mode]string{Semantic: "open#pet open#box", Hybrid: "open#pet open#box", Lexical: ""} {
			hits, total, err := narrow.SearchRecords(t.Context(), c, Search{Text: "which beast?", Mode: mode})
			var got []string
			for _, h := range hits {
				got = append(got, h.Namespace+"#"+h.Key)
			}
			if err != nil || strings.Join(got, " ") != want || total != len(got) {
				t.Errorf("%s, mode %s: found %q of %d, %v", c.Name, mode, got, total, err)
			}
		}
	}
	hits, _, err := narrow.SearchRecords(t.Context(), pages, Search{Text: "which?", Mode: Semantic, Vector: []float32{0, 1, 0}, K: 1})
	if err != nil || len(hits) != 1 || hits[0].Key != "box" {
		t.Errorf("by a vector: %+v, %v", hits, err)
	}
}

func TestAnExplanationSaysHowMuchMeaningCounted(t *testing.T) {
	s, _ := withEmbedders(t, t.TempDir(), ofKinds(&kinds{}))
	put(t, s, "", "pet", "a dog with a long tail")
	embedded(t, s)
	for mode, want := range map[Mode]float64{Hybrid: .5, Semantic: 1, Lexical: 0} {
		found, err := s.Search(t.Context(), Search{Text: "a dog", Mode: mode, Explain: true, Features: true})
		if err != nil || len(found.Hits) != 1 || found.Hits[0].SemanticWeight != want {
			t.Errorf("%s search = %+v, %v, want 1 hit of semantic weight %v", mode, found.Hits, err, want)
		}
		if _, there := found.Hits[0].Features["semantic"]; there != (mode != Lexical) {
			t.Errorf("%s search has features %v, want semantic among them: %t", mode, found.Hits[0].Features, mode != Lexical)
		}
	}
}

func TestMeaningIsThatOfTheBranchAndMomentAskedFor(t *testing.T) {
	s, _ := withEmbedders(t, t.TempDir(), ofKinds(&kinds{}))
	first := put(t, s, "", "thing", "a dog")
	if _, err := s.Fork(t.Context(), "", "side", AsOf{}, Write{}); err != nil {
		t.Fatal(err)
	}
	put(t, s, "side", "thing", "a hammer")
	put(t, s, "", "other", "a saw")
	embedded(t, s)
	at := AsOf{Version: first.Version}
	for name, c := range map[string]struct {
		q    Search
		want []string
	}{
		"the branch":  {Search{Text: "implement", Branch: "side", Mode: Semantic}, []string{"thing"}},
		"the default": {Search{Text: "implement", Mode: Semantic}, []string{"other", "thing"}},
		"the past":    {Search{Text: "implement", Mode: Semantic, AsOf: at}, []string{"thing"}},
	} {
		if got := keysFound(t, s, c.q); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestFiltersApplyBeforeTheNearestAreTaken(t *testing.T) {
	s, _ := withEmbedders(t, t.TempDir(), ofKinds(&kinds{}))
	var items []Item
	for i := range 500 {
		items = append(items, Item{Key: string(rune('a'+i%26)) + strings.Repeat("x", i/26), Value: json.RawMessage(`"a cat and a dog"`)})
	}
	items = append(items, Item{Key: "tagged", Value: json.RawMessage(`"a hammer"`), Tags: []string{"far"}})
	if _, err := s.Store(t.Context(), Location{}, items, Write{}); err != nil {
		t.Fatal(err)
	}
	embedded(t, s)
	if got := keysFound(t, s, Search{Text: "beast", Mode: Semantic, K: 1, Tags: []string{"far"}}); !slices.Equal(got, []string{"tagged"}) {
		t.Errorf("found %q, want tagged", got)
	}
}

func TestWhenTheEmbedderFailsWordsDecideAndANoteSaysSo(t *testing.T) {
	k := &kinds{broken: errors.New("no route")}
	s, _ := withEmbedders(t, t.TempDir(), ofKinds(k))
	put(t, s, "", "pet", "a dog") // is acknowledged all the same
	found, err := s.Search(t.Context(), Search{Text: "dog"})
	if err != nil || len(found.Hits) != 1 || len(found.Notes) != 1 || !strings.Contains(found.Notes[0], "no route") {
		t.Errorf("Search = %+v, %v, want 1 hit, and a note of the failure", found, err)
	}
	_, err = s.Search(t.Context(), Search{Text: "dog", Mode: Semantic})
	var failure *Error
	if !errors.As(err, &failure) || failure.Code != Unavailable || !failure.Retryable {
		t.Errorf("a semantic search: %v, want it unavailable, to be tried again", err)
	}
	k.breaks(nil)
	embedded(t, s)
	if found, err := s.Search(t.Context(), Search{Text: "beast"}); err != nil || len(found.Hits) != 1 || len(found.Notes) != 0 {
		t.Errorf("Search = %+v, %v, want 1 hit and no note", found, err)
	}
}

// silent is an embedder that never answers.
type silent struct{ asked atomic.Int64 }

func (s *silent) Embed(ctx context.Context, _ []string) ([][]float32, error) {
	s.asked.Add(1)
	<-ctx.Done()
	return nil, ctx.Err()
}

// Time passes in it only while all wait, so that a search has its whole time on a busy machine too.
func TestAnEmbedderThatNeverAnswersHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &silent{}
		s, _ := withEmbedders(t, t.TempDir(), semantic.Settings{Name: "silent", Identity: "1", Dimensions: 3, Embedder: e})
		put(t, s, "", "pet", "a dog")
		await.That(t, "it is asked", func() bool { return e.asked.Load() > 0 })
		put(t, s, "", "other", "another dog") // while the first is being embedded
		if got := keysFound(t, s, Search{Text: "dog", Mode: Lexical}); len(got) != 2 || e.asked.Load() != 1 {
			t.Errorf("%v, and it was asked %d times", got, e.asked.Load())
		}
		found, err := s.Search(t.Context(), Search{Text: "dog"}) // one that waited for the embedder would never end
		if err != nil || len(found.Hits) != 2 || len(found.Notes) != 1 || found.Partial {
			t.Errorf("Search = %+v, %v, want 2 hits and a note, and not partial", found, err)
		}
		found, err = searchWithin(t, s, 4*time.Millisecond, Search{Text: "dog"})
		if err != nil || len(found.Hits) != 2 || len(found.Notes) != 1 || !found.Partial {
			t.Errorf("before a deadline: %+v, %v", found, err)
		}
	})
}

func searchWithin(t *testing.T, s *Space, limit time.Duration, q Search) (Found, error) {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	return s.Search(ctx, q)
}

// slowRank ranks until it is told to stop.
func slowRank(ctx context.Context, _ Ranking) ([]float32, bool, error) {
	<-ctx.Done()
	return nil, false, ctx.Err()
}

func TestASearchAnswersBeforeItsDeadlineInTheServersOwnOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testSpace(t)
		put(t, s, "", "pet", "a dog")
		s.SetHooks(hooks{depth: 10, rank: slowRank})
		found, err := searchWithin(t, s, 4*time.Millisecond, Search{Text: "dog"})
		if err != nil || len(found.Hits) != 1 || len(found.Notes) != 1 || !found.Partial {
			t.Errorf("Search = %+v, %v, want 1 hit and a note, and partial", found, err)
		}
	})
}

func TestVectorsComeWithMemoriesAndQuestions(t *testing.T) {
	dir := t.TempDir()
	s, _ := withEmbedders(t, dir, semantic.Settings{Name: "mine", Identity: "1", Dimensions: 2})
	items := []Item{
		{Key: "east", Value: json.RawMessage(`"x"`), Vector: Vector{Values: []float32{1, 0}}},
		{Key: "north", Value: json.RawMessage(`"x"`), Vector: Vector{Embedder: "mine", Values: []float32{0, 1}}},
	}
	if _, err := s.Store(t.Context(), Location{}, items, Write{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SetState(t.Context(), Location{}, []string{"east"}, Archived, Write{}); err != nil {
		t.Fatal(err)
	}
	embedded(t, s)
	q := Search{Text: "anything", Mode: Semantic, Vector: []float32{.9, .2}, States: []State{Active, Archived}}
	if got := keysFound(t, s, q); !slices.Equal(got, []string{"east", "north"}) {
		t.Errorf("found %q, want east, then north", got)
	}
	for _, wrong := range []Search{{Text: "x", Vector: []float32{1}}, {Text: "x", Vector: []float32{0, 0}}, {Text: "x", Embedder: "other", Vector: []float32{1, 0}}} {
		var failure *Error
		if _, err := s.Search(t.Context(), wrong); !errors.As(err, &failure) || failure.Code != InvalidArgument {
			t.Errorf("Search(%+v): %v, want an invalid argument", wrong, err)
		}
	}
	huge := Item{Key: "huge", Value: json.RawMessage(`1`), Vector: Vector{Values: make([]float32, largestVector+1)}}
	if _, err := s.Store(t.Context(), Location{}, []Item{huge}, Write{}); err == nil || !strings.Contains(err.Error(), "8192") {
		t.Errorf("Store of a long vector: %v, want an error that names 8192", err)
	}
}

func TestWithoutAnEmbedderOnlyWordsCanBeAskedFor(t *testing.T) {
	s := testSpace(t)
	put(t, s, "", "pet", "a dog")
	if got := keysFound(t, s, Search{Text: "dog", Mode: Hybrid}); !slices.Equal(got, []string{"pet"}) {
		t.Errorf("found %q, want pet", got)
	}
	var failure *Error
	if _, err := s.Search(t.Context(), Search{Text: "dog", Mode: Semantic}); !errors.As(err, &failure) || failure.Code != InvalidArgument {
		t.Errorf("a semantic search: %v, want an invalid argument", err)
	}
}

func TestAPurgeLeavesNoVectorInAnyFile(t *testing.T) {
	s, _ := withEmbedders(t, t.TempDir(), ofKinds(&kinds{}))
	put(t, s, "", "secret", "a dog")
	put(t, s, "", "other", "a hammer")
	embedded(t, s)
	files := func() (rows int64) {
		list, err := s.engine.Blobs(t.Context(), "vectors/")
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range list {
			rows += (b.Size - 24) / (32 + 4 + 3)
		}
		return rows
	}
	await.That(t, "two vectors are kept", func() bool { return files() == 2 })
	if _, err := s.Purge(t.Context(), purge.Request{Key: "secret"}); err != nil {
		t.Fatal(err)
	}
	if n := files(); n != 1 {
		t.Errorf("%d vectors are kept", n)
	}
	embedded(t, s)
	if got := keysFound(t, s, Search{Text: "beast", Mode: Semantic}); !slices.Equal(got, []string{"other"}) {
		t.Errorf("found %q, want other", got)
	}
}

func TestDocumentsAreReadAtTheirVersionEvenBelowWhatIsKept(t *testing.T) {
	s := testSpace(t)
	old := put(t, s, "", "a", "first")
	put(t, s, "", "b", "one")
	changed := put(t, s, "", "b", "two")
	if _, err := s.Trim(t.Context(), "", AsOf{}); err != nil {
		t.Fatal(err)
	}
	b, err := s.branch(Default)
	if err != nil {
		t.Fatal(err)
	}
	ref := func(key string, version uint64) search.Ref {
		return search.Ref{Branch: store.BranchID(b.ID), Version: version, Namespace: Default, Collection: memories, Key: key}
	}
	docs, err := s.Documents(t.Context(), []search.Ref{ref("a", old.Version), ref("b", changed.Version-1), ref("b", changed.Version), ref("none", 1)})
	if err != nil {
		t.Fatal(err)
	}
	if docs[0].Deleted || docs[0].Text[0] != "first" || !docs[1].Deleted || docs[2].Text[0] != "two" || !docs[3].Deleted {
		t.Errorf("documents %+v, want first, none, two, none", docs)
	}
}

func TestVectorsThatMemoriesCameWithAreWrittenOutAndReadAgain(t *testing.T) {
	from, to := testSpace(t), testSpace(t)
	it := Item{Key: "east", Value: json.RawMessage(`"x"`), Vector: Vector{Embedder: "mine", Values: []float32{1, -.25}}}
	if _, err := from.Store(t.Context(), Location{}, []Item{it}, Write{}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := from.WriteMemories(t.Context(), Selection{}, &out); err != nil {
		t.Fatal(err)
	}
	var line portable.Memory
	if err := json.Unmarshal(bytes.Split(out.Bytes(), []byte("\n"))[1], &line); err != nil {
		t.Fatal(err)
	}
	if _, err := to.Import(t.Context(), "", []portable.Memory{line}, Write{}); err != nil {
		t.Fatal(err)
	}
	m, err := to.Recall(t.Context(), Location{}, "east", AsOf{})
	if err != nil || m == nil || m.Vector.Embedder != "mine" || !slices.Equal(m.Vector.Values, it.Vector.Values) {
		t.Errorf("Recall(east) = %+v, %v, want the vector of mine", m, err)
	}
}

// redactor is a hook that takes digits out of what is stored.
type redactor struct{}

func (redactor) Storing(_ context.Context, s Storing) (Decision, error) {
	for i := range s.Items {
		s.Items[i].Value = json.RawMessage(strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return 'x'
			}
			return r
		}, string(s.Items[i].Value)))
	}
	return Decision{Items: s.Items}, nil
}

func (redactor) Asks(Change, string) bool                      { return false }
func (redactor) Ranker(context.Context, Ranking) (Ranker, int) { return nil, 0 }

func TestAVectorGoesWhenAHookChangesWhatItIsOf(t *testing.T) {
	s, _ := withEmbedders(t, t.TempDir(), semantic.Settings{Name: "mine", Identity: "1", Dimensions: 2})
	s.SetHooks(redactor{})
	vector := Vector{Values: []float32{1, 0}}
	items := []Item{{Key: "secret", Value: json.RawMessage(`"pin 1234"`), Vector: vector}, {Key: "plain", Value: json.RawMessage(`"nothing"`), Vector: vector}}
	if _, err := s.Store(t.Context(), Location{}, items, Write{}); err != nil {
		t.Fatal(err)
	}
	embedded(t, s)
	if got := keysFound(t, s, Search{Text: "pin", Mode: Semantic, Vector: []float32{1, 0}}); !slices.Equal(got, []string{"plain"}) {
		t.Errorf("found %q, want plain", got)
	}
}
