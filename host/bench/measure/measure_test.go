package measure

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// shelf is a memory that finds what has a word in common, in the order of keys.
type shelf struct {
	kept     map[string]map[string]string
	metadata map[string]any
	most     int // hits in one answer; 0: as many as asked for
	asked    []map[string]any
}

func (s *shelf) call(tool string, arguments any) (json.RawMessage, error) {
	raw, err := json.Marshal(arguments)
	if err != nil {
		return nil, err
	}
	var a struct {
		Items []struct {
			Key, Value string
			Metadata   any
		}
		Namespace, Query string
		K, Offset        int
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, err
	}
	if tool == "memory_store" {
		for _, item := range a.Items {
			if s.kept[a.Namespace] == nil {
				s.kept[a.Namespace] = map[string]string{}
			}
			s.kept[a.Namespace][item.Key] = item.Value
			s.metadata[item.Key] = item.Metadata
		}
		return json.RawMessage(`{}`), nil
	}
	s.asked = append(s.asked, arguments.(map[string]any))
	var keys []string
	for key, text := range s.kept[a.Namespace] {
		if slices.ContainsFunc(strings.Fields(a.Query), func(w string) bool { return strings.Contains(text, w) }) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	total := len(keys)
	keys = keys[min(a.Offset, total):]
	keys = keys[:min(a.K, len(keys))]
	if s.most > 0 {
		keys = keys[:min(s.most, len(keys))]
	}
	results := []map[string]string{}
	for _, key := range keys {
		results = append(results, map[string]string{"key": key})
	}
	return json.Marshal(map[string]any{"results": results, "total": total})
}

func newShelf() *shelf {
	return &shelf{kept: map[string]map[string]string{}, metadata: map[string]any{}}
}

func documents(t *testing.T, text string) []Document {
	t.Helper()
	list, err := ReadDocuments(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func questions(t *testing.T, text string) []Question {
	t.Helper()
	list, err := ReadQuestions(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func run(t *testing.T, r Recall, s *shelf) Report {
	t.Helper()
	r.Now = time.Now
	report, err := r.Run(t.Context(), s.call)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

const twoTalks = `{"id":"a1","text":"the red cat","meta":{"conv":"a","seq":1}}
{"id":"a2","text":"the blue dog","meta":{"conv":"a","seq":2}}

{"id":"b1","text":"the red fox","meta":{"conv":"b/b","seq":1}}
`

func TestAQuestionIsAskedOfItsOwnGroup(t *testing.T) {
	s := newShelf()
	report := run(t, Recall{Documents: documents(t, twoTalks), Group: "meta.conv",
		Questions: questions(t, `{"id":"q","text":"red","relevant":{"b1":1},"meta":{"conv":"b/b"}}`)}, s)
	if got := report.Questions[0].Hits; !slices.Equal(got, []string{"b1"}) || report.Metrics.MRR != 1 {
		t.Errorf("found %v, %+v", got, report.Metrics)
	}
	if s.kept["a"] == nil {
		t.Errorf("the namespaces are %v", s.kept)
	}
}

func TestFieldsOfDocumentsAreTheirMetadata(t *testing.T) {
	s := newShelf()
	run(t, Recall{Documents: documents(t, twoTalks)}, s)
	if got := fmt.Sprint(s.metadata["a2"]); got != "map[conv:a seq:2]" {
		t.Errorf("the metadata of a2 is %s", got)
	}
}

func TestAnAnswerThatLeavesHitsOutIsReadOn(t *testing.T) {
	s := newShelf()
	s.most = 1
	report := run(t, Recall{Documents: documents(t, twoTalks), Questions: questions(t, `{"id":"q","text":"the","relevant":{"b1":1}}`)}, s)
	if got := report.Questions[0].Hits; !slices.Equal(got, []string{"a1", "a2", "b1"}) {
		t.Errorf("found %v", got)
	}
	if len(s.asked) != 3 {
		t.Errorf("%d calls: %v", len(s.asked), s.asked)
	}
}

func TestMetricsByCategoryAreThoseOfTheirQuestions(t *testing.T) {
	report := run(t, Recall{Documents: documents(t, twoTalks), Questions: questions(t, `{"id":"q1","text":"red","relevant":{"b1":1},"meta":{"category":1}}
{"id":"q2","text":"dog","relevant":{"a2":1},"meta":{"category":1}}
{"id":"q3","text":"zebra","relevant":{"a2":1},"meta":{"category":"far"}}
{"id":"q4","text":"dog","relevant":{},"meta":{"category":2}}`)}, newShelf())
	if got := report.ByCategory["1"]; got.Questions != 2 || got.MRR != .75 {
		t.Errorf("category 1: %+v", got)
	}
	if got := report.ByCategory["far"]; got.Questions != 1 || got.Recall10 != 0 {
		t.Errorf("category far: %+v", got)
	}
	if report.Metrics.Questions != 3 || report.Metrics.MRR != .5 || report.Unjudged != 1 {
		t.Errorf("all: %+v, %d unjudged", report.Metrics, report.Unjudged)
	}
}

func TestMetricsOfAnOrderWorkedOutByHand(t *testing.T) {
	hits := []string{"x", "b", "y", "a", "z", "w", "c"}
	m := of(hits, map[string]float64{"a": 3, "b": 1, "c": 2, "d": 0})
	want := (1/math.Log2(3) + 3/math.Log2(5) + 2/math.Log2(8)) / (3 + 2/math.Log2(3) + 1/math.Log2(4))
	if m.Recall5 != 2./3 || m.Recall10 != 1 || m.MRR != .5 || math.Abs(m.NDCG10-want) > 1e-12 {
		t.Errorf("%+v, nDCG should be %g", m, want)
	}
}

func TestLatenciesAreOrderedInMilliseconds(t *testing.T) {
	var times []time.Duration
	for i := 100; i > 0; i-- {
		times = append(times, time.Duration(i)*time.Millisecond)
	}
	if got, want := latencyOf(times), (Latency{50.5, 51, 91, 100, 100}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestWrongLinesAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		`{"text":"x"}`:                     "line 1",
		"{\"id\":\"a\"}\n{\"id\":\"a\"}":   `line 2: there is a document "a"`,
		"{\"id\":\"a\"}\nnonsense":         "line 2",
		strings.Repeat("x", longestLine+1): "longer than",
	} {
		if _, err := ReadDocuments(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
	if _, err := ReadQuestions(strings.NewReader(`{"id":"q","text":" "}`)); err == nil {
		t.Error("a question without text passes")
	}
}

func TestAMemoryThatFailsEndsTheMeasurement(t *testing.T) {
	broken := errors.New("broken")
	fail := func(string, any) (json.RawMessage, error) { return nil, broken }
	if _, err := (Recall{Documents: documents(t, twoTalks), Now: time.Now}).Run(t.Context(), fail); !errors.Is(err, broken) {
		t.Errorf("recall: %v", err)
	}
}

func TestTheSameSeedMakesTheSameTexts(t *testing.T) {
	a, b := NewTexts(5), NewTexts(5)
	if x, y := a.Text(20, 80), b.Text(20, 80); x != y || len(strings.Fields(x)) < 20 {
		t.Errorf("%q and %q", x, y)
	}
}

func FuzzReadDocuments(f *testing.F) {
	f.Add([]byte(twoTalks))
	f.Add([]byte(`{"id":"x","text":"y","meta":{"a":{"b":[1]}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := ReadDocuments(strings.NewReader(string(data)))
		if err != nil {
			return
		}
		for _, d := range list {
			if in := namespace(field(d.Meta, "meta.a.b")); in == "" || len(in) > longestNamespace {
				t.Errorf("namespace %q", in)
			}
		}
	})
}
