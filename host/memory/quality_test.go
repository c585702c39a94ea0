package memory

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/alcove-memory/alcove/host/testing/must"
)

// judged is a document of a test collection, or one of its questions with the documents that answer it.
type judged struct {
	ID       string             `json:"id"`
	Text     string             `json:"text"`
	Relevant map[string]float64 `json:"relevant"`
	Meta     struct {
		Conversation string `json:"conv"`
		Category     int    `json:"category"`
	} `json:"-"`
	Metadata map[string]json.RawMessage `json:"meta"`
}

func readJudged(t *testing.T, path string) []judged {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	var list []judged
	for lines.Scan() {
		var j judged
		if err := json.Unmarshal(lines.Bytes(), &j); err != nil {
			t.Fatalf("%s, line %d: %v", path, len(list)+1, err)
		}
		if err := json.Unmarshal(must.Get(json.Marshal(j.Metadata)), &j.Meta); err != nil {
			t.Fatalf("%s, line %d: %v", path, len(list)+1, err)
		}
		list = append(list, j)
	}
	return list
}

// collection stores documents, a namespace per conversation, and tells which key is which document.
func collection(t *testing.T, docs []judged) (*Space, map[string]string) {
	t.Helper()
	s, ids := testSpace(t), map[string]string{}
	items := map[string][]Item{}
	for i, d := range docs {
		key, value := fmt.Sprintf("d%d", i), must.Get(json.Marshal(d.Text))
		ids[key] = d.ID
		namespace := cmp.Or(d.Meta.Conversation, Default)
		items[namespace] = append(items[namespace], Item{Key: key, Value: value, Metadata: d.Metadata})
	}
	for namespace, list := range items {
		for chunk := range slices.Chunk(list, 1000) {
			if _, err := s.Store(t.Context(), Location{Namespace: namespace}, chunk, Write{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s, ids
}

// topTen asks a question and names the ten best documents.
func topTen(t *testing.T, s *Space, ids map[string]string, q judged, expand bool) []string {
	t.Helper()
	found, err := s.Search(t.Context(), Search{Text: q.Text, Expand: expand, Namespaces: []string{cmp.Or(q.Meta.Conversation, Default)}})
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, h := range found.Hits {
		list = append(list, ids[h.Key])
	}
	return list
}

// ndcg is the discounted cumulative gain at ten over that of the best possible order (Järvelin and Kekäläinen, 2002,
// with the gain of a grade being the grade).
func ndcg(list []string, relevant map[string]float64) float64 {
	gain, ideal := 0.0, 0.0
	for i, id := range list {
		gain += relevant[id] / math.Log2(float64(i)+2)
	}
	var grades []float64
	for _, grade := range relevant {
		grades = append(grades, grade)
	}
	slices.Sort(grades)
	slices.Reverse(grades)
	for i, grade := range grades[:min(10, len(grades))] {
		ideal += grade / math.Log2(float64(i)+2)
	}
	return gain / ideal
}

// recall is the part of the relevant documents that was found.
func recall(list []string, relevant map[string]float64) float64 {
	hits := 0
	for _, id := range list {
		if relevant[id] > 0 {
			hits++
		}
	}
	return float64(hits) / float64(len(relevant))
}

func retrievalData(t *testing.T, name string) (docs, queries []judged) {
	t.Helper()
	dir := os.Getenv("ALCOVE_RETRIEVAL_DATA")
	if dir == "" {
		t.Skip("ALCOVE_RETRIEVAL_DATA names no folder with NAME.docs.jsonl and NAME.queries.jsonl: the collections may not be shipped")
	}
	return readJudged(t, filepath.Join(dir, name+".docs.jsonl")), readJudged(t, filepath.Join(dir, name+".queries.jsonl"))
}

func TestSearchRanksCranfieldBetterThanItsPeers(t *testing.T) {
	docs, queries := retrievalData(t, "cranfield")
	s, ids := collection(t, docs)
	total, expanded := 0.0, 0.0
	for _, q := range queries {
		total += ndcg(topTen(t, s, ids, q, false), q.Relevant)
		expanded += ndcg(topTen(t, s, ids, q, true), q.Relevant)
	}
	t.Logf("nDCG@10 %.3f over %d questions, expanded %.3f", total/float64(len(queries)), len(queries), expanded/float64(len(queries)))
	if total/float64(len(queries)) < .53 {
		t.Errorf("nDCG@10 is below .53")
	}
}

func TestSearchFindsTheTurnsOfLoCoMoThatAnswer(t *testing.T) {
	docs, queries := retrievalData(t, "locomo-dev")
	s, ids := collection(t, docs)
	total, expanded, n := 0.0, 0.0, 0
	for _, q := range queries {
		if q.Meta.Category < 1 || q.Meta.Category > 4 || len(q.Relevant) == 0 {
			continue
		}
		total += recall(topTen(t, s, ids, q, false), q.Relevant)
		expanded += recall(topTen(t, s, ids, q, true), q.Relevant)
		n++
	}
	t.Logf("Recall@10 %.3f over %d questions of categories 1 to 4, expanded %.3f", total/float64(n), n, expanded/float64(n))
	if total/float64(n) < .73 {
		t.Errorf("Recall@10 is below .73")
	}
}
