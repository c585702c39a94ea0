package alcovetest_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/abi/vectors"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
	"github.com/alcove-memory/alcove/sdk/go/reflected"
)

// lacking is why the host in memory answers otherwise: to a whole operation, which is then unavailable, or to one vector of it.
func lacking() map[string]string {
	outside, past, branches := "reaches outside", "reads what was committed in the past", "there is one branch"
	return map[string]string{
		"record.search": "ranks by statistics of words", "log.read": past, "feed.read": past,
		"branch.list": branches, "branch.diff": branches, "branch.fork": branches, "branch.merge": branches, "branch.delete": branches,
		"job.status": "jobs run when the test says so", "job.cancel": "jobs run when the test says so",
		"embed.texts": outside, "llm.complete": outside, "http.fetch": outside,
		"tools.list": "there is one family", "tools.call": "there is one family", "tools.publish": "the manifest has all tools", "tools.withdraw": "the manifest has all tools",

		"memory.get a namespace beyond the grant":           "nothing is denied",
		"memory.search hits with features":                  "the columns of the rank hook come with the ranking of a real host",
		"job.enqueue one job more than the quota":           "there are no quotas",
		"config.set a value that its schema does not allow": "settings are not checked by their schemas",
		"text.analyze terms":                                "words are not reduced to their stems",
	}
}

// answered is what the host in memory answers to a vector.
type answered struct {
	response json.RawMessage
	err      error
}

// answer runs a vector: what is before it in calls of their own, what is within in the same call.
func answer(t *testing.T, manifest []byte, v vectors.Operation) (got answered) {
	t.Helper()
	var asks []vectors.Ask
	f := alcove.New()
	reflected.Tool(f, "sample_run", func(c *alcove.Call, _ struct{}) (struct{}, error) {
		for _, a := range asks {
			if got.err = reflected.Ask(c, alcove.Op(a.Op), a.Request, &got.response); got.err != nil {
				return struct{}{}, got.err
			}
		}
		return struct{}{}, nil
	})
	s := alcovetest.New(t, f, manifest)
	s.Now, s.Caller = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), "ann"
	for _, a := range v.Before {
		asks = []vectors.Ask{a}
		s.Tool("sample_run", struct{}{}, nil)
	}
	asks = append(v.Within, vectors.Ask{Op: v.Op, Request: v.Request})
	s.Tool("sample_run", struct{}{}, nil)
	return got
}

// same compares an answer with that of a vector. Of hits neither scores nor snippets are compared, of errors only the code.
func same(t *testing.T, v vectors.Operation, got answered) bool {
	t.Helper()
	if v.Error != nil || got.err != nil {
		return v.Error != nil && got.err != nil && alcove.CodeOf(got.err) == alcove.Code(v.Error.Code)
	}
	return reflect.DeepEqual(plain(t, got.response), plain(t, v.Response))
}

func plain(t *testing.T, data []byte) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	hits, _ := v["hits"].([]any)
	for _, hit := range hits {
		delete(hit.(map[string]any), "score")
		delete(hit.(map[string]any), "snippet")
	}
	return v
}

func TestTheHostInMemoryAnswersAsTheVectorsSay(t *testing.T) {
	cases, err := vectors.Read[vectors.Operation]("operations.json")
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := vectors.Family()
	if err != nil {
		t.Fatal(err)
	}
	lacks, shown := lacking(), map[abi.Op]bool{}
	for _, v := range cases {
		name := string(v.Op) + " " + v.Name
		t.Run(name, func(t *testing.T) {
			got := answer(t, manifest, v)
			ok := same(t, v, got)
			shown[v.Op] = shown[v.Op] || ok && v.Response != nil
			switch {
			case lacks[name] != "" && ok:
				t.Error("it answers as the vector says: take it off the list")
			case lacks[name] == "" && lacks[string(v.Op)] != "" && v.Response != nil && alcove.CodeOf(got.err) != alcove.Unavailable:
				t.Errorf("it answers %s, %v: take the operation off the list", got.response, got.err)
			case lacks[name] == "" && lacks[string(v.Op)] == "" && !ok:
				t.Errorf("it answers %s, %v; the vector says %s, %v", got.response, got.err, v.Response, v.Error)
			}
		})
		delete(lacks, name)
	}
	for op := range abi.Ops() {
		if shown[op] == (lacks[string(op)] != "") {
			t.Errorf("%s: a vector shows its answer, or the list says why not; not both, and not neither", op)
		}
		delete(lacks, string(op))
	}
	for name := range lacks {
		t.Errorf("%s: no vector has that name", name)
	}
}

// replay is a guest that keeps what it is sent and answers as a vector says.
type replay struct {
	vector vectors.Message
	sent   []byte
}

func (r *replay) Handle(_ alcove.Host, _ alcove.Kind, request []byte) ([]byte, error) {
	r.sent = request
	output, status, err := r.vector.Output()
	if status == abi.StatusError {
		e := r.vector.Error
		err = &alcove.Error{Code: alcove.Code(e.Code), Message: e.Message, Retryable: e.Retryable, Details: e.Details}
	}
	return output, err
}

func TestTheHostInMemorySendsAsTheVectorsSay(t *testing.T) {
	cases, err := vectors.Read[vectors.Message]("messages.json")
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := vectors.Family()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range cases {
		t.Run(v.Name, func(t *testing.T) {
			guest := &replay{vector: v}
			s := alcovetest.New(t, guest, manifest)
			s.Now, s.Caller = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), "ann"
			got := send(t, s, v)
			want, err := v.Input()
			if err != nil {
				t.Fatal(err)
			}
			if string(guest.sent) != string(want) {
				t.Errorf("it sends\n%s\nthe vector says\n%s", guest.sent, want)
			}
			if is, should := fmt.Sprint(got), outcome(t, v); is != should {
				t.Errorf("its caller sees %s, want %s", is, should)
			}
		})
	}
}

// send has the host in memory send the request of a vector, and returns the result or the error.
func send(t *testing.T, s *alcovetest.Space, v vectors.Message) any {
	t.Helper()
	var r struct {
		Tool, Hook, Job, Query, Purpose string
		Arguments, Payload              json.RawMessage
		Entries                         []alcove.Entry
		Texts                           []string
	}
	if err := json.Unmarshal(v.Request, &r); err != nil {
		t.Fatal(err)
	}
	var result json.RawMessage
	var got any
	var err error
	switch {
	case r.Tool != "":
		err = s.Tool(r.Tool, r.Arguments, &result)
		got = string(result)
	case r.Hook == "store":
		var changes []*alcove.Change
		changes, err = s.Store(r.Entries...)
		text, _ := json.Marshal(map[string]any{"entries": changes})
		got = string(text)
	case r.Hook == "stored":
		err = s.Stored(r.Entries...)
		got = ""
	case r.Hook == "job":
		s.Queue = []alcovetest.Job{{ID: "20260102030405.000-r1", Name: r.Job, Payload: r.Payload}}
		err = s.RunJobs()
		got = string(v.Result) // RunJobs drops results
	case r.Query != "":
		got, err = s.Rank(r.Query, scores(t, v.Columns)...)
	default:
		got, err = s.Embed(r.Purpose, r.Texts...)
	}
	if err != nil {
		return err
	}
	return got
}

// outcome is what the caller of a request sees.
func outcome(t *testing.T, v vectors.Message) string {
	t.Helper()
	switch {
	case v.Error != nil:
		return v.Error.Error()
	case v.Scores != nil:
		return fmt.Sprint(scores(t, [][]string{v.Scores})[0])
	case v.Vectors != nil:
		return fmt.Sprint(scores(t, v.Vectors))
	}
	if refuse, ok := plain(t, orEmpty(v.Result))["refuse"]; ok {
		return fmt.Sprint(alcove.Refuse(refuse.(string)))
	}
	return string(v.Result)
}

func orEmpty(result json.RawMessage) json.RawMessage {
	if len(result) == 0 {
		return json.RawMessage("{}")
	}
	return result
}

// scores reads values in decimal.
func scores(t *testing.T, texts [][]string) (all [][]float32) {
	t.Helper()
	for _, list := range texts {
		var values []float32
		for _, text := range list {
			v, err := strconv.ParseFloat(text, 32)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, float32(v))
		}
		all = append(all, values)
	}
	return all
}
