package abi_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
)

// octets are bytes as vectors have them: pairs of hexadecimal digits with blanks between.
type octets []byte

func (o *octets) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	*o = b
	return err
}

// piece is some bytes, and what they mean.
type piece struct {
	Hex   octets `json:"hex"`
	Means string `json:"means"`
}

func joined(pieces []piece) []byte {
	var all []byte
	for _, p := range pieces {
		all = append(all, p.Hex...)
	}
	return all
}

// vectors reads the cases of a file of vectors; a field that the test does not know fails.
func vectors[T any](t *testing.T, file string) []T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("vectors", file))
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var all struct {
		About string `json:"about"`
		Cases []T    `json:"cases"`
	}
	if err := decoder.Decode(&all); err != nil {
		t.Fatalf("read %s: %v", file, err)
	}
	if len(all.Cases) == 0 {
		t.Fatalf("%s has no cases", file)
	}
	return all.Cases
}

// decimal writes values as vectors have them.
func decimal(values []float32) []string {
	texts := []string{}
	for _, v := range values {
		texts = append(texts, strconv.FormatFloat(float64(v), 'g', -1, 32))
	}
	return texts
}

func sameFloats(got []float32, want []string) bool {
	is, err1 := json.Marshal(decimal(got))
	should, err2 := json.Marshal(want)
	return err1 == nil && err2 == nil && string(is) == string(should)
}

// failure compares what happened with what should: err with the class that is expected, or none.
func failure(t *testing.T, err error, fails string) (ok bool) {
	t.Helper()
	switch {
	case err == nil && fails != "":
		t.Errorf("it is accepted; it should fail as %s", fails)
	case err != nil && fails == "":
		t.Errorf("it fails: %v", err)
	}
	return err == nil && fails == ""
}

func TestScoreRequestsAreReadAsTheVectorsSay(t *testing.T) {
	type vector struct {
		Name    string
		Bytes   []piece
		Params  string
		Columns [][]string
		Fails   string
	}
	for _, v := range vectors[vector](t, "score-request.json") {
		t.Run(v.Name, func(t *testing.T) {
			data := joined(v.Bytes)
			s, err := abi.ParseScoring(data)
			if !failure(t, err, v.Fails) {
				return
			}
			if string(s.Params) != v.Params || len(s.Columns) != len(v.Columns) {
				t.Fatalf("read as %q and %d columns", s.Params, len(s.Columns))
			}
			for i, want := range v.Columns {
				if !sameFloats(s.Columns[i], want) {
					t.Errorf("column %d is %v, want %v", i, s.Columns[i], want)
				}
			}
			if again := abi.AppendScoring(nil, s); !bytes.Equal(again, data) {
				t.Errorf("written again: %x\nwant          %x", again, data)
			}
		})
	}
}

func TestScoresAreReadAsTheVectorsSay(t *testing.T) {
	type vector struct {
		Name       string
		Candidates int
		Bytes      []piece
		Scores     []string
		Fails      string
	}
	for _, v := range vectors[vector](t, "score-result.json") {
		t.Run(v.Name, func(t *testing.T) {
			data := joined(v.Bytes)
			scores, err := abi.ParseScores(data, v.Candidates)
			if !failure(t, err, v.Fails) {
				return
			}
			if !sameFloats(scores, v.Scores) {
				t.Errorf("read as %v, want %v", scores, v.Scores)
			}
			if again := abi.AppendScores(nil, scores); !bytes.Equal(again, data) {
				t.Errorf("written again: %x", again)
			}
		})
	}
}

func TestVectorsAreReadAsTheVectorsSay(t *testing.T) {
	type vector struct {
		Name       string
		Texts      int
		Dimensions int
		Bytes      []piece
		Vectors    [][]string
		Fails      string
	}
	for _, v := range vectors[vector](t, "embed-result.json") {
		t.Run(v.Name, func(t *testing.T) {
			data := joined(v.Bytes)
			got, err := abi.ParseVectors(data, v.Texts, v.Dimensions)
			if !failure(t, err, v.Fails) {
				return
			}
			for i, want := range v.Vectors {
				if !sameFloats(got[i], want) {
					t.Errorf("vector %d is %v, want %v", i, got[i], want)
				}
			}
			if again := abi.AppendVectors(nil, v.Dimensions, got); !bytes.Equal(again, data) {
				t.Errorf("written again: %x", again)
			}
		})
	}
}

func TestErrorBodiesAreReadAsTheVectorsSay(t *testing.T) {
	type vector struct {
		Name      string
		Bytes     []piece
		Code      abi.Code
		Message   string
		Retryable bool
		Fails     string
	}
	for _, v := range vectors[vector](t, "error.json") {
		t.Run(v.Name, func(t *testing.T) {
			e, err := abi.ParseError(joined(v.Bytes))
			if !failure(t, err, v.Fails) {
				return
			}
			if e.Code != v.Code || e.Message != v.Message || e.Retryable != v.Retryable {
				t.Errorf("read as %+v", e)
			}
		})
	}
}

func TestAnErrorBodyThatIsTooLongIsRefused(t *testing.T) {
	body := `{"code":"internal","message":"` + strings.Repeat("x", int(abi.DefaultLimits().ErrorBytes)) + `"}`
	if _, err := abi.ParseError([]byte(body)); err == nil || !strings.Contains(err.Error(), abi.LimitErrorBytes) {
		t.Errorf("the error is %v", err)
	}
}

func TestResultsInJSONAreCheckedAsTheVectorsSay(t *testing.T) {
	type vector struct {
		Name  string
		Kind  string
		Bytes []piece
		Fails string
	}
	for _, v := range vectors[vector](t, "json-result.json") {
		t.Run(v.Name, func(t *testing.T) {
			failure(t, abi.CheckResult(kindNamed(t, v.Kind), nil, joined(v.Bytes)), v.Fails)
		})
	}
}

func kindNamed(t *testing.T, name string) abi.Kind {
	t.Helper()
	kinds := map[string]abi.Kind{"tool": abi.KindTool, "hook": abi.KindHook, "score": abi.KindScore, "embed": abi.KindEmbed}
	kind, ok := kinds[name]
	if !ok {
		t.Fatalf("there is no kind %q", name)
	}
	return kind
}

func FuzzParseScoring(f *testing.F) {
	f.Add(abi.AppendScoring(nil, abi.Scoring{Params: []byte("{}"), Candidates: 2, Columns: [][]float32{{1, float32(math.NaN())}}}))
	f.Add([]byte{0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := abi.ParseScoring(data)
		if err != nil {
			return
		}
		again, err := abi.ParseScoring(abi.AppendScoring(nil, s))
		if err != nil || again.Candidates != s.Candidates || len(again.Columns) != len(s.Columns) {
			t.Fatalf("%+v was read, and written and read again %+v, %v", s, again, err)
		}
	})
}

func FuzzResults(f *testing.F) {
	f.Add(uint32(abi.KindEmbed), []byte(`{"texts":["a"]}`), []byte{1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0})
	f.Add(uint32(abi.KindScore), []byte{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, []byte{0, 0, 0, 0})
	f.Add(uint32(abi.KindTool), []byte(`{}`), []byte(`{}`))
	f.Fuzz(func(t *testing.T, kind uint32, request, result []byte) {
		if abi.CheckResult(abi.Kind(kind), request, result) == nil && (kind < 1 || kind > 4) {
			t.Fatalf("a result of kind %d is accepted", kind)
		}
	})
}
