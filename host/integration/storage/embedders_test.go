package storage_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/search/embed"
	"github.com/alcove-memory/alcove/host/search/wordvec"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/sdk/client"
)

// speaks is a server of embeddings: texts about animals lie in one direction, others in another.
type speaks struct {
	*httptest.Server
	mu    sync.Mutex
	texts int
	key   string // that must be presented
	down  bool
	of    func(text string) []float32 // nil: by animals
}

func newSpeaks(t *testing.T) *speaks {
	t.Helper()
	s := &speaks{}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *speaks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down || s.key != "" && r.Header.Get("Authorization") != "Bearer "+s.key {
		http.Error(w, "not for "+r.Header.Get("Authorization"), http.StatusUnauthorized)
		return
	}
	var request struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var data []map[string]any
	for i, text := range request.Input {
		v := []float32{0, 1, .1}
		if strings.Contains(text, "cat") || strings.Contains(text, "beast") {
			v = []float32{1, 0, .1}
		}
		if s.of != nil {
			v = s.of(text)
		}
		data = append(data, map[string]any{"index": i, "embedding": v})
	}
	s.texts += len(request.Input)
	json.NewEncoder(w).Encode(map[string]any{"data": data})
}

func (s *speaks) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.texts
}

func (s *speaks) config(name string) operator.EmbedderConfig {
	return operator.EmbedderConfig{Config: embed.Config{Name: name, Kind: embed.OpenAI, URL: s.URL, Model: "m"}}
}

// until waits for a state of the only embedder.
func until(t *testing.T, act operator.Server, so func(operator.EmbedderState) bool) operator.EmbedderState {
	t.Helper()
	var list []operator.EmbedderState
	await.That(t, "the only embedder gets there", func() bool {
		var err error
		if list, err = operator.Query(t.Context(), act, operator.ListEmbedders); err != nil {
			t.Fatal(err)
		}
		return len(list) == 1 && so(list[0])
	})
	return list[0]
}

func has(vectors int) func(operator.EmbedderState) bool {
	return func(s operator.EmbedderState) bool { return s.Vectors == vectors && s.Waiting == 0 && s.Making == 0 }
}

func TestWhatWasStoredBeforeThereWasAnEmbedderIsFoundByMeaning(t *testing.T) {
	t.Parallel()
	speaks := newSpeaks(t)
	h, act, _ := server.Run(t, host.Options{Dir: t.TempDir()})
	server.Remember(t, h, "a cat sleeps", "a car drives")
	set, err := operator.Call(t.Context(), act, operator.SetEmbedder, operator.EmbedderRequest{Config: speaks.config("s")})
	if err != nil || set.Dimensions != 3 {
		t.Fatalf("SetEmbedder = %+v, %v, want 3 dimensions", set, err)
	}
	server.Remember(t, h, "another cat")
	until(t, act, has(3))
	if got := server.Found(t, h, memory.Search{Text: "beast", Mode: memory.Semantic, K: 2}); got != "a cat sleeps, another cat" {
		t.Errorf("found %s", got)
	}
}

func TestEmbeddersOutliveTheServerAndAskNothingTwice(t *testing.T) {
	t.Parallel()
	speaks, dir := newSpeaks(t), t.TempDir()
	h, act, stop := server.Run(t, host.Options{Dir: dir})
	if _, err := operator.Call(t.Context(), act, operator.SetEmbedder, operator.EmbedderRequest{Config: speaks.config("s")}); err != nil {
		t.Fatal(err)
	}
	server.Remember(t, h, "a cat sleeps", "a car drives")
	until(t, act, has(2))
	stop()
	asked := speaks.asked()
	h, act, _ = server.Run(t, host.Options{Dir: dir})
	until(t, act, has(2))
	if got := server.Found(t, h, memory.Search{Text: "beast", Mode: memory.Semantic, K: 1}); got != "a cat sleeps" || speaks.asked() != asked+1 {
		t.Errorf("found %s; %d texts were embedded", got, speaks.asked()-asked)
	}
}

func TestVectorsAreMadeAnewWhileTheOldOnesServe(t *testing.T) {
	t.Parallel()
	speaks, dir := newSpeaks(t), t.TempDir()
	h, act, stop := server.Run(t, host.Options{Dir: dir})
	if _, err := operator.Call(t.Context(), act, operator.SetEmbedder, operator.EmbedderRequest{Config: speaks.config("s")}); err != nil {
		t.Fatal(err)
	}
	server.Remember(t, h, "a cat sleeps", "a car drives")
	until(t, act, has(2))
	server.Found(t, h, memory.Search{Text: "beast", Mode: memory.Semantic})
	speaks.mu.Lock()
	speaks.down = true
	speaks.mu.Unlock()
	if err := operator.Command(t.Context(), act, operator.RegenerateEmbedder, operator.EmbedderName{Name: "s"}); err != nil {
		t.Fatal(err)
	}
	s := until(t, act, func(s operator.EmbedderState) bool { return s.Error != "" })
	if s.Vectors != 2 || s.Waiting != 2 || s.Generation != 1 {
		t.Errorf("meanwhile: %+v", s)
	}
	speaks.mu.Lock()
	speaks.down = false
	speaks.mu.Unlock()
	stop() // and what was begun goes on
	h, act, _ = server.Run(t, host.Options{Dir: dir})
	until(t, act, has(2))
	if got := server.Found(t, h, memory.Search{Text: "beast", Mode: memory.Semantic, K: 1}); got != "a cat sleeps" {
		t.Errorf("found %s", got)
	}
	await.That(t, "the previous embedder is forgotten", func() bool {
		raw, err := os.ReadFile(filepath.Join(dir, "embedders.json"))
		return err == nil && !bytes.Contains(raw, []byte("previous"))
	})
}

func TestAKeyIsInNoLogNoFileAndNoAnswer(t *testing.T) {
	speaks, dir := newSpeaks(t), t.TempDir()
	speaks.key = "right"
	t.Setenv("ALCOVE_TEST_KEY", "sk-very-secret")
	var log lockedBuffer
	_, act, stop := server.Run(t, host.Options{Dir: dir, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	c := speaks.config("s")
	c.KeyEnv, c.Dimensions = "ALCOVE_TEST_KEY", 3
	if _, err := operator.Call(t.Context(), act, operator.SetEmbedder, operator.EmbedderRequest{Config: c}); err != nil {
		t.Fatal(err)
	}
	c.Dimensions = 0
	_, err := operator.Call(t.Context(), act, operator.SetEmbedder, operator.EmbedderRequest{Config: c})
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("SetEmbedder: %v, want an error without the secret", err)
	}
	list, err := operator.Query(t.Context(), act, operator.ListEmbedders)
	if err != nil || strings.Contains(fmt.Sprint(list), "secret") {
		t.Errorf("Embedders = %v, %v, want nothing of the secret", list, err)
	}
	stop()
	if strings.Contains(log.String(), "secret") || len(findBytes(t, dir, "sk-very-secret")) > 0 {
		t.Errorf("the key is in a file or in the log: %s", log.String())
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestAServerIsStartedWithAnEmbedder(t *testing.T) {
	t.Parallel()
	speaks := newSpeaks(t)
	c := speaks.config("served")
	h, act, _ := server.Run(t, host.Options{Dir: t.TempDir(), Embedder: &c})
	server.Remember(t, h, "a cat sleeps")
	until(t, act, func(s operator.EmbedderState) bool { return s.Vectors == 1 && s.Standard && s.Dimensions == 3 })
}

func TestCollectionsBehindTheGateAreSearchedByWordsUntilItOpens(t *testing.T) {
	t.Parallel()
	speaks := newSpeaks(t)
	h, act, _ := server.Run(t, host.Options{Dir: t.TempDir()})
	if _, err := operator.Call(t.Context(), act, operator.SetEmbedder, operator.EmbedderRequest{Config: speaks.config("s")}); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Owner(h, "").Append(t.Context(), memory.Location{}, "saw", json.RawMessage(`"a cat"`), memory.Write{}); err != nil {
		t.Fatal(err)
	}
	server.Remember(t, h, "a cat sleeps")
	until(t, act, has(1))
	if err := operator.Command(t.Context(), act, operator.ChooseEmbedder, operator.EmbedderChoice{Collections: map[string]float64{"_log": 1}}); err != nil {
		t.Fatal(err)
	}
	until(t, act, has(2))
}

func TestADamagedListOfEmbeddersIsNamedAtTheStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := server.Open(t, host.Options{Dir: dir}).Close(); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"{", `{"embedders":[{"name":"x","kind":"magic"}]}`, `{"unknown":1}`, `{} {}`, "{}\x00\x00"} {
		refusesEmbedders(t, dir, text)
	}
}

func TestATornListOfEmbeddersSaysWhatToDo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "embedders.json")
	h, act, stop := server.Run(t, host.Options{Dir: dir})
	if _, err := operator.Call(t.Context(), act, operator.SetEmbedder, operator.EmbedderRequest{Config: newSpeaks(t).config("letters")}); err != nil {
		t.Fatal(err)
	}
	server.Remember(t, h, "a memory")
	stop()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, cut := range []int{0, 1, len(whole) / 2, len(whole) - 2} {
		message := refusesEmbedders(t, dir, string(whole[:cut]))
		for _, want := range []string{"cut off", "alcove embedder set"} {
			if !strings.Contains(message, want) {
				t.Errorf("cut at byte %d: %q is not in %q", cut, want, message)
			}
		}
	}
	if err := os.Remove(path); err != nil { // as the error says
		t.Fatal(err)
	}
	server.Open(t, host.Options{Dir: dir}).Close()
}

func TestAnInterruptedWriteOfTheEmbeddersLeavesThoseBefore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, act, stop := server.Run(t, host.Options{Dir: dir})
	if _, err := operator.Call(t.Context(), act, operator.SetEmbedder, operator.EmbedderRequest{Config: newSpeaks(t).config("letters")}); err != nil {
		t.Fatal(err)
	}
	stop()
	if left, err := filepath.Glob(filepath.Join(dir, "*embedders.json?*")); err != nil || len(left) > 0 {
		t.Errorf("a write left %v (%v)", left, err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".embedders.json.1.partial"), []byte(`{"embed`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, act, stop = server.Run(t, host.Options{Dir: dir})
	defer stop()
	states, err := operator.Query(t.Context(), act, operator.ListEmbedders)
	if err != nil || len(states) != 1 || states[0].Name != "letters" {
		t.Errorf("there are %v (%v)", states, err)
	}
}

// refusesEmbedders makes sure that nothing opens a directory with such a list, and is what the error says.
func refusesEmbedders(t *testing.T, dir, text string) string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "embedders.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := host.Open(t.Context(), host.Options{Dir: dir})
	if err == nil {
		h.Close()
		t.Errorf("%q was read", text)
		return ""
	}
	if !strings.Contains(err.Error(), "embedders.json") {
		t.Errorf("Open with %q: %v, want an error that names embedders.json", text, err)
	}
	return err.Error()
}

func TestAFamilyThatDoesNotEmbedIsNoEmbedder(t *testing.T) {
	t.Parallel()
	_, act, _ := server.Run(t, host.Options{Dir: t.TempDir()})
	c := operator.EmbedderConfig{Config: embed.Config{Name: "guest", Kind: embed.Family, Family: "nobody"}}
	if _, err := operator.Call(t.Context(), act, operator.SetEmbedder, operator.EmbedderRequest{Config: c}); err == nil || !strings.Contains(err.Error(), "nobody does not embed") {
		t.Errorf("SetEmbedder: %v, want the error that nobody does not embed", err)
	}
	list, err := operator.Query(t.Context(), act, operator.ListEmbedders)
	if err != nil || len(list) != 1 || list[0].Name != "builtin" {
		t.Errorf("Embedders = %+v, %v, want the built-in one alone", list, err)
	}
}

func TestFamiliesGetVectorsOrAnErrorTheyCanHandle(t *testing.T) {
	t.Parallel()
	speaks := newSpeaks(t)
	k := server.Start(t, host.Options{})
	if _, err := operator.Call(t.Context(), k.Acts, operator.ChooseEmbedder, operator.EmbedderChoice{Standard: new(string)}); err != nil {
		t.Fatal(err)
	}
	k.Asking(abi.CanEmbed, map[string]string{
		"seeks": `embed.texts {"texts":["x"],"purpose":"query"}`, "keeps": `embed.texts {"texts":["a cat","a car"],"purpose":"document"}`,
	})
	c := server.Connected(t, k.Dir)
	var failure *client.Error
	if _, err := c.Call(t.Context(), "seeks_ask", nil); !errors.As(err, &failure) || failure.Code != client.Unavailable || failure.Retryable {
		t.Errorf("without an embedder: got %v, want an error that is not worth another try", err)
	}
	if _, err := operator.Call(t.Context(), k.Acts, operator.SetEmbedder, operator.EmbedderRequest{Config: speaks.config("s")}); err != nil {
		t.Fatal(err)
	}
	got := server.Answered[abi.EmbedTextsResponse](t, c, "keeps_ask", nil)
	if v := got.Vectors; got.Model != "s" || len(v) != 2 || v[0][0] != 1 || v[1][1] != 1 {
		t.Errorf("got %+v, want the two vectors of model s", got)
	}
	speaks.Close()
	if _, err := c.Call(t.Context(), "seeks_ask", nil); !errors.As(err, &failure) || !failure.Retryable {
		t.Errorf("with an embedder that is gone: got %v, want an error that is worth another try", err)
	}
}

func TestTheBuiltInEmbedderAnswersUntilAnotherIsComplete(t *testing.T) {
	t.Parallel()
	speaks, dir := newSpeaks(t), t.TempDir()
	h, act, stop := server.Run(t, host.Options{Dir: dir})
	server.Remember(t, h, "Rex wags his tail", "The hammer is in the shed")
	config := speaks.config("s")
	config.Dimensions = 3
	speaks.mu.Lock()
	speaks.down = true
	speaks.mu.Unlock()
	if _, err := operator.Call(t.Context(), act, operator.SetEmbedder, operator.EmbedderRequest{Config: config}); err != nil {
		t.Fatal(err)
	}
	answers := func(when string) {
		t.Helper()
		s := until(t, act, func(s operator.EmbedderState) bool { return s.Error != "" })
		if s.Until != "builtin" || !s.Standard || s.Vectors != 0 {
			t.Errorf("%s: %+v, want that builtin answers until s is complete", when, s)
		}
		if got := server.Found(t, h, memory.Search{Text: "dog", K: 1}); got != "Rex wags his tail" {
			t.Errorf("%s: found %q", when, got)
		}
	}
	answers("at first")
	stop()
	h, act, _ = server.Run(t, host.Options{Dir: dir})
	answers("after a restart")
	server.Remember(t, h, "the puppy barks at a cat")
	if got := server.Found(t, h, memory.Search{Text: "dog", K: 1}); got != "the puppy barks at a cat" && got != "Rex wags his tail" {
		t.Errorf("what was stored meanwhile: found %q", got)
	}
	speaks.mu.Lock()
	speaks.down = false
	speaks.mu.Unlock()
	if err := operator.Command(t.Context(), act, operator.RegenerateEmbedder, operator.EmbedderName{Name: "s"}); err != nil { // at once
		t.Fatal(err)
	}
	s := until(t, act, func(s operator.EmbedderState) bool { return has(3)(s) && s.Until == "" })
	if !s.Standard || s.Error != "" {
		t.Errorf("complete: %+v", s)
	}
	if got := server.Found(t, h, memory.Search{Text: "beast", Mode: memory.Semantic, K: 1}); got != "the puppy barks at a cat" {
		t.Errorf("when it is complete: found %q", got)
	}
	await.That(t, "the vectors of the former embedder are dropped", func() bool {
		_, err := server.Owner(h, "").Search(t.Context(), memory.Search{Text: "dog", Mode: memory.Semantic, Embedder: "builtin"})
		return err != nil
	})
}

// TestTheScaleOfAnEmbedderIsMeasuredOnce has a model in which no two texts are far from each other, as in many: the words of a question lead
// all the same, and what says it in other words follows.
func TestTheScaleOfAnEmbedderIsMeasuredOnce(t *testing.T) {
	t.Parallel()
	table, err := wordvec.Open()
	if err != nil {
		t.Fatal(err)
	}
	speaks := newSpeaks(t)
	speaks.of = func(text string) []float32 {
		v := make([]float32, wordvec.Dimensions)
		copy(v, table.Vector(text))
		for i := range v {
			v[i] += .15
		}
		return v
	}
	dir := t.TempDir()
	h, act, stop := server.Run(t, host.Options{Dir: dir})
	if _, err := operator.Call(t.Context(), act, operator.SetEmbedder, operator.EmbedderRequest{Config: speaks.config("narrow")}); err != nil {
		t.Fatal(err)
	}
	server.Remember(t, h, "we deploy on tuesdays", "the ship has two funnels", "ada paints with oil", "the cook bakes bread", "rain falls in november")
	state := until(t, act, has(5))
	if !state.Scale.Discriminates() || state.Scale.Unrelated < .5 {
		t.Errorf("got the scale %+v, want one of a narrow model", state.Scale)
	}
	if got := server.Found(t, h, memory.Search{Text: "when do we release software?", K: 1}); got != "we deploy on tuesdays" {
		t.Errorf("in other words: found %s", got)
	}
	if got := server.Found(t, h, memory.Search{Text: "funnels", K: 1}); got != "the ship has two funnels" {
		t.Errorf("by its word: found %s", got)
	}
	stop()
	asked := speaks.asked()
	_, act, _ = server.Run(t, host.Options{Dir: dir})
	if again := until(t, act, has(5)); again.Scale != state.Scale || speaks.asked() != asked {
		t.Errorf("after a restart: the scale %+v and %d texts embedded, want %+v and %d", again.Scale, speaks.asked(), state.Scale, asked)
	}
}
