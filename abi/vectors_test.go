package abi_test

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/abi/vectors"
)

// cases reads the vectors of a file.
func cases[T vectors.ScoreRequest | vectors.ScoreResult | vectors.EmbedResult | vectors.JSONResult | vectors.StoreResult | vectors.ErrorBody | vectors.Exchange | vectors.Message](t *testing.T, file string) []T {
	t.Helper()
	all, err := vectors.Read[T](file)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatalf("%s has no cases", file)
	}
	return all
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
func failure(t *testing.T, err error, fails abi.Class) (ok bool) {
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
	for _, v := range cases[vectors.ScoreRequest](t, "score-request.json") {
		t.Run(v.Name, func(t *testing.T) {
			data := v.Bytes.Joined()
			s, err := abi.ParseScoring(data)
			if !failure(t, err, abi.Class(v.Fails)) {
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
	for _, v := range cases[vectors.ScoreResult](t, "score-result.json") {
		t.Run(v.Name, func(t *testing.T) {
			data := v.Bytes.Joined()
			scores, err := abi.ParseScores(data, v.Candidates)
			if !failure(t, err, abi.Class(v.Fails)) {
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
	for _, v := range cases[vectors.EmbedResult](t, "embed-result.json") {
		t.Run(v.Name, func(t *testing.T) {
			data := v.Bytes.Joined()
			got, err := abi.ParseVectors(data, v.Texts, v.Dimensions)
			if !failure(t, err, abi.Class(v.Fails)) {
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
	for _, v := range cases[vectors.ErrorBody](t, "error.json") {
		t.Run(v.Name, func(t *testing.T) {
			e, err := abi.ParseError(v.Bytes.Joined())
			if !failure(t, err, abi.Class(v.Fails)) {
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
	for _, v := range cases[vectors.JSONResult](t, "json-result.json") {
		t.Run(v.Name, func(t *testing.T) {
			failure(t, abi.CheckResult(v.Kind.Kind(), nil, v.Bytes.Joined()), v.Fails)
		})
	}
}

func TestResultsOfTheStoreHookAreReadAsTheVectorsSay(t *testing.T) {
	for _, v := range cases[vectors.StoreResult](t, "store-result.json") {
		t.Run(v.Name, func(t *testing.T) {
			r, err := abi.ParseStoreResult(v.Bytes.Joined(), v.Entries)
			if !failure(t, err, abi.Class(v.Fails)) {
				return
			}
			if (r.Refuse == nil) != (v.Refuse == nil) || r.Refuse != nil && *r.Refuse != *v.Refuse {
				t.Errorf("it refuses with %v, want %v", r.Refuse, v.Refuse)
			}
			if (r.Propose == nil) != (v.Propose == nil) || r.Propose != nil && *r.Propose != *v.Propose {
				t.Errorf("it proposes with %v, want %v", r.Propose, v.Propose)
			}
			var changes []bool
			for _, c := range r.Entries {
				changes = append(changes, c != nil)
			}
			if !slices.Equal(changes, v.Changes) {
				t.Errorf("it changes %v, want %v", changes, v.Changes)
			}
		})
	}
}

func TestMessagesAreReadAndWrittenAsTheVectorsSay(t *testing.T) {
	seen := map[any]bool{}
	for _, v := range cases[vectors.Message](t, "messages.json") {
		t.Run(v.Name, func(t *testing.T) {
			var request any
			switch v.Kind.Kind() {
			case abi.KindTool:
				request = &abi.ToolRequest{}
			case abi.KindHook:
				request = &abi.HookRequest{}
			case abi.KindScore:
				request = &abi.ScoreParams{}
			case abi.KindEmbed:
				request = &abi.EmbedRequest{}
			}
			sameAgain(t, v.Request, request)
			seen[v.Kind.Kind()] = true
			output, status, err := v.Output()
			if err != nil {
				t.Fatal(err)
			}
			if status == abi.StatusError {
				if e, err := abi.ParseError(output); err != nil || e.Error() != v.Error.Error() {
					t.Errorf("the error is read as %v, %v", e, err)
				}
				sameAgain(t, output, &abi.Error{})
				seen[status] = true
				return
			}
			input, err := v.Input()
			if err != nil {
				t.Fatal(err)
			}
			if err := abi.CheckResult(v.Kind.Kind(), input, output); err != nil {
				t.Error(err)
			}
			if r, ok := request.(*abi.HookRequest); ok {
				seen[r.Hook] = true
				if r.Hook == abi.HookStore {
					if _, err := abi.ParseStoreResult(output, len(r.Entries)); err != nil {
						t.Error(err)
					}
					sameAgain(t, output, &abi.StoreResult{})
				}
			}
		})
	}
	for _, each := range []any{abi.KindTool, abi.KindHook, abi.KindScore, abi.KindEmbed, abi.HookStore, abi.HookStored, abi.HookJob, abi.StatusError} {
		if !seen[each] {
			t.Errorf("no vector shows %T %v", each, each)
		}
	}
}

// sameAgain reads a message and writes it as it was. Every field has to be known.
func sameAgain(t *testing.T, data []byte, into any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("read %s: %v", data, err)
	}
	if again, err := json.Marshal(into); err != nil || !bytes.Equal(again, data) {
		t.Errorf("%s is written as %s, %v", data, again, err)
	}
}

func FuzzParseStoreResult(f *testing.F) {
	f.Add([]byte(`{"refuse":"no"}`), 1)
	f.Add([]byte(`{"entries":[null,{"tags":["a"]}]}`), 2)
	f.Fuzz(func(t *testing.T, data []byte, entries int) {
		r, err := abi.ParseStoreResult(data, entries)
		if err != nil && (r.Refuse != nil || r.Propose != nil || r.Entries != nil) || r.Refuse != nil && (r.Entries != nil || r.Propose != nil) {
			t.Fatalf("%s is read as %+v, %v", data, r, err)
		}
	})
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
