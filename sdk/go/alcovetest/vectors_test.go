package alcovetest_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/abi/vectors"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
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
	alcove.Tool(f, "sample_run", func(c *alcove.Call, _ struct{}) (struct{}, error) {
		for _, a := range asks {
			if got.err = c.Ask(alcove.Op(a.Op), a.Request, &got.response); got.err != nil {
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
