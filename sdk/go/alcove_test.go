package alcove

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/abi/vectors"
)

// script is a host of the other side of the imports: it answers each operation with the next of its answers.
type script struct {
	request, response []byte
	answers           []string // error bodies begin with "-"
	asked             []string
	result            []byte
	lines             []string
	piece             int // bytes that one read gives at most; 0: all
}

func (s *script) read(channel int32, to []byte) int {
	from := &s.request
	if channel == readResponse {
		from = &s.response
	}
	if s.piece > 0 && len(to) > s.piece {
		to = to[:s.piece]
	}
	n := copy(to, *from)
	*from = (*from)[n:]
	return n
}

func (s *script) write(channel int32, data []byte) {
	if channel == writeLog {
		s.lines = append(s.lines, string(data))
		return
	}
	s.result = append(s.result, data...)
}

func (s *script) call(op Op, request []byte) int {
	s.asked = append(s.asked, string(op)+string(request))
	answer, failed := strings.CutPrefix(s.answers[0], "-")
	s.answers, s.response = s.answers[1:], []byte(answer)
	if failed {
		return -len(answer)
	}
	return len(answer)
}

// serves runs one request and gives status and result.
func (s *script) serves(f *Family, kind Kind, request string) (int32, string) {
	s.request, s.result = []byte(request), nil
	status := f.serve(s, kind, len(request))
	return status, string(s.result)
}

type note struct {
	Key string `json:"key"`
}

type value struct {
	Value Raw `json:"value"`
}

// handleTool adds a tool whose types encoding/json reads and writes.
func handleTool[In, Out any](f *Family, name string, handle func(*Call, In) (Out, error)) {
	f.HandleTool(name, byJSON(handle))
}

func handleJob[In, Out any](f *Family, name string, handle func(*Call, In) (Out, error)) {
	f.HandleJob(name, byJSON(handle))
}

func byJSON[In, Out any](handle func(*Call, In) (Out, error)) Handler {
	return func(c *Call, arguments Raw) (Raw, error) {
		var in In
		if len(arguments) > 0 {
			if err := json.Unmarshal(arguments, &in); err != nil {
				return nil, Errorf(InvalidArgument, "read the arguments: %v", err)
			}
		}
		out, err := handle(c, in)
		if err != nil {
			return nil, err
		}
		return json.Marshal(out)
	}
}

// finder is a family that looks a memory up.
func finder() *Family {
	f := New()
	handleTool(f, "find", func(c *Call, in note) (value, error) {
		c.Log("looking for %s", in.Key)
		found, err := c.MemoryGet(MemoryGetRequest{Keys: []string{in.Key}})
		if err != nil {
			return value{}, err
		}
		return value{found.Memories[0].Value}, nil
	})
	return f
}

func TestAToolAsksTheHostAndAnswers(t *testing.T) {
	for _, piece := range []int{0, 1, 7} {
		s := &script{piece: piece, answers: []string{`{"memories":[{"key":"tea","value":"green"}]}`}}
		status, result := s.serves(finder(), KindTool, `{"tool":"find","arguments":{"key":"tea"},"config":{},"context":{"namespace":"n"}}`)
		if status != statusOK || result != `{"value":"green"}` {
			t.Errorf("in pieces of %d: status %d, result %s, want the value green", piece, status, result)
		}
		if !slices.Equal(s.asked, []string{`memory.get{"keys":["tea"]}`}) || !slices.Equal(s.lines, []string{"looking for tea"}) {
			t.Errorf("asked %q, logged %q", s.asked, s.lines)
		}
	}
}

func TestAnErrorOfTheHostIsPassedOn(t *testing.T) {
	s := &script{answers: []string{`-{"code":"denied","message":"not granted","retryable":false}`}}
	status, result := s.serves(finder(), KindTool, `{"tool":"find","arguments":{"key":"tea"}}`)
	if status != statusError || result != `{"code":"denied","message":"not granted","retryable":false}` {
		t.Errorf("status %d, result %s, want the host's error", status, result)
	}
}

func TestALongMessageIsCutBetweenCharacters(t *testing.T) {
	f := New()
	long := strings.Repeat("é", 100_000)
	handleTool(f, "fail", func(*Call, struct{}) (value, error) { return value{}, Errorf(NotFound, "no %s", long) })
	_, result := (&script{}).serves(f, KindTool, `{"tool":"fail","arguments":{}}`)
	var e Error
	if err := json.Unmarshal([]byte(result), &e); err != nil || e.Code != NotFound || e.Message != "no é"+long[:1994]+"…" {
		t.Errorf("%d bytes: %.200s", len(result), result)
	}
}

func TestWhatCannotBeServedIsAnError(t *testing.T) {
	f := finder()
	handleTool(f, "fail", func(*Call, struct{}) (value, error) { return value{}, errors.New("no luck") })
	for request, code := range map[string]Code{
		`{"tool":"other","arguments":{}}`:         NotFound,
		`{"tool":"find","arguments":{"key":[1]}}`: InvalidArgument,
		`{"tool":`:                       InvalidArgument,
		`{"hook":"store","entries":[]}`:  NotFound,
		`{"tool":"fail","arguments":{}}`: Internal,
	} {
		status, result := (&script{}).serves(f, KindTool, request)
		var e Error
		if err := json.Unmarshal([]byte(result), &e); err != nil || status != statusError || e.Code != code || e.Message == "" {
			t.Errorf("%s: status %d, result %s, want an error with code %s", request, status, result, code)
		}
	}
	for _, kind := range []Kind{0, KindScore, KindEmbed, 9} {
		if status, _ := (&script{}).serves(f, kind, "{}"); status != statusError {
			t.Errorf("kind %d: status %d", kind, status)
		}
	}
}

func TestAStoreHookAnswersWithChangesOrNothing(t *testing.T) {
	f := New()
	f.OnStore(func(_ *Call, entries []Entry) ([]*Change, error) {
		switch entries[0].Key {
		case "secret":
			return nil, fmt.Errorf("look at it: %w", Refuse(`"secrets" are not stored`))
		case "denied":
			return nil, Errorf(Denied, "memory.read was not granted")
		}
		if len(entries[0].Tags) > 0 {
			return nil, nil
		}
		return []*Change{{Tags: []string{"new"}}}, nil
	})
	for request, want := range map[string]string{
		`{"hook":"store","entries":[{"key":"a","value":1}]}`:              `{"entries":[{"tags":["new"]}]}`,
		`{"hook":"store","entries":[{"key":"a","value":1,"tags":["x"]}]}`: ``,
		`{"hook":"store","entries":[{"key":"secret","value":1}]}`:         `{"refuse":"\"secrets\" are not stored"}`,
		`{"hook":"store","entries":[{"key":"denied","value":1}]}`:         `{"code":"denied","message":"memory.read was not granted","retryable":false}`,
	} {
		if _, result := (&script{}).serves(f, KindHook, request); result != want {
			t.Errorf("%s: result %s, want %s", request, result, want)
		}
	}
}

func TestARefusalOfAToolIsAnErrorWithTheCodeDenied(t *testing.T) {
	f := New()
	handleTool(f, "no", func(*Call, struct{}) (value, error) { return value{}, Refuse("not today") })
	status, result := (&script{}).serves(f, KindTool, `{"tool":"no","arguments":{}}`)
	if status != statusError || result != `{"code":"denied","message":"not today","retryable":false}` {
		t.Errorf("status %d, result %s, want an error with code denied", status, result)
	}
}

func TestAJobHasAPayloadOrNone(t *testing.T) {
	f := New()
	handleJob(f, "tidy", func(_ *Call, in note) (note, error) { return in, nil })
	for request, want := range map[string]string{
		`{"hook":"job","job":"tidy","payload":{"key":"a"}}`: `{"key":"a"}`,
		`{"hook":"job","job":"tidy"}`:                       `{"key":""}`,
	} {
		if _, result := (&script{}).serves(f, KindHook, request); result != want {
			t.Errorf("%s: result %s, want %s", request, result, want)
		}
	}
}

func TestScoreRequestsAreReadAsTheVectorsSay(t *testing.T) {
	cases, err := vectors.Read[vectors.ScoreRequest]("score-request.json")
	if err != nil || len(cases) == 0 {
		t.Fatalf("read %d score requests (%v), want some", len(cases), err)
	}
	for _, v := range cases {
		params, r, err := parseScoring(v.Bytes.Joined())
		if (err != nil) != (v.Fails != "") {
			t.Errorf("%s: parseScoring: %v, want an error: %t", v.Name, err, v.Fails != "")
		}
		if err == nil && (string(params) != v.Params || len(r.Columns) != len(v.Columns)) {
			t.Errorf("%s: read as %q and %d columns", v.Name, params, len(r.Columns))
		}
	}
}

func FuzzScoreRequests(f *testing.F) {
	cases, err := vectors.Read[vectors.ScoreRequest]("score-request.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, v := range cases {
		f.Add(v.Bytes.Joined())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		want, wantErr := abi.ParseScoring(data)
		_, got, err := parseScoring(data)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("the SDK says %v, the host %v", err, wantErr)
		}
		if err == nil && (len(got.Scores) != want.Candidates || len(got.Columns) != len(want.Columns)) {
			t.Fatalf("%d candidates and %d columns", len(got.Scores), len(got.Columns))
		}
	})
}

func TestARankHookSeesColumnsAndAnswersScores(t *testing.T) {
	f := New()
	f.OnRank(func(r *Ranking) error {
		var config struct{ Weight float32 }
		if err := json.Unmarshal(r.Config, &config); err != nil || r.Query != "green" {
			t.Errorf("query %q, %v", r.Query, err)
		}
		for i := range r.Scores {
			r.Scores[i] = config.Weight * r.Columns[0][i]
		}
		return nil
	})
	request := abi.AppendScoring(nil, abi.Scoring{Params: []byte(`{"config":{"weight":2},"query":"green"}`), Candidates: 2, Columns: [][]float32{{1, 0.5}, {0, float32(math.NaN())}}})
	result, err := f.Handle(nil, KindScore, request)
	if err != nil {
		t.Fatal(err)
	}
	if scores, err := abi.ParseScores(result, 2); err != nil || !slices.Equal(scores, []float32{2, 1}) {
		t.Errorf("the scores are %v (%v)", scores, err)
	}
}

func TestAnEmbedHookAnswersVectors(t *testing.T) {
	f := New()
	f.OnEmbed(func(in *Texts) ([][]float32, error) {
		vectors := make([][]float32, len(in.Texts))
		for i, text := range in.Texts {
			vectors[i] = []float32{float32(len(text)), 1}
		}
		return vectors, nil
	})
	result, err := f.Handle(nil, KindEmbed, []byte(`{"texts":["a","bcd"],"purpose":"query","config":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	if vectors, err := abi.ParseVectors(result, 2, 2); err != nil || vectors[1][0] != 3 {
		t.Errorf("the vectors are %v (%v)", vectors, err)
	}
}

func TestAPanicIsAnErrorWithItsTextAndPlace(t *testing.T) {
	var missing map[string]int
	var none *Memory
	for name, c := range map[string]struct {
		handle func()
		says   string
	}{
		"a runtime error": {func() { missing["a"] = 1 }, "panic: assignment to entry in nil map (alcove_test.go:"},
		"a nil pointer":   {func() { none.Key = "a" }, "panic: runtime error: invalid memory address or nil pointer dereference (alcove_test.go:"},
		"an error":        {func() { panic(Errorf(NotFound, "no tea")) }, "panic: not_found: no tea (alcove_test.go:"},
		"text":            {func() { panic("no luck") }, "panic: no luck (alcove_test.go:"},
		"a number":        {func() { panic(7) }, "panic: 7 (alcove_test.go:"},
	} {
		f := New()
		f.HandleTool("fail", func(*Call, Raw) (Raw, error) {
			c.handle()
			return nil, nil
		})
		s := &script{}
		status, result := s.serves(f, KindTool, `{"tool":"fail","arguments":{}}`)
		var e Error
		if err := json.Unmarshal([]byte(result), &e); err != nil || status != statusError || e.Code != Internal || !strings.HasPrefix(e.Message, c.says) {
			t.Errorf("%s: status %d, result %s, want an internal error that begins with %q", name, status, result, c.says)
		}
		if len(s.lines) == 0 || !strings.Contains(s.lines[0], "TestAPanic") {
			t.Errorf("%s: the log has %q", name, s.lines)
		}
	}
}

func TestTheServedFamilyIsTheOneThatIsServed(t *testing.T) {
	f := New()
	Serve(f)
	if served != f {
		t.Error("another family is served")
	}
}

func TestTheConstantsAreThoseOfTheABI(t *testing.T) {
	if Version != abi.Version || KindScore != Kind(abi.KindScore) || string(OpMemoryGet) != string(abi.OpMemoryGet) {
		t.Error("the constants of the SDK are not those of the ABI")
	}
	for _, code := range abi.Codes() {
		if Code(code).Retryable() != code.Retryable() {
			t.Errorf("%s is retryable on one side only", code)
		}
	}
}
