package core

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/request"
)

func FuzzArguments(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `[1]`, `"{}"`, `{"a":1,"a":2}`, `{"key":"k","value":1e400}`, `{"items":[{"value":null}],"tags":"[\"a\"]"}`,
		`{"k":"10","offset":1.0,"importance":"0.5","archive":"true","metadata":"{\"a\":1}"}`, `{"as_of":"v12","since":1700000000,"expires":"2h"}`,
		`{"resolutions":[{"key":"k","take":"value"}],"action":"merge"}`, `{"a":` + strings.Repeat("[", 600), "{\"a\":\"\xff\"}", `{"value":"\ud800"}`, `{"tags":"[}","items":"[,"}`,
	} {
		f.Add([]byte(seed))
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	all := tool.NewRegistry(nil)
	if err := all.Add(Specs(Options{})...); err != nil {
		f.Fatal(err)
	}
	named := func(name string) *tool.Tool {
		found, _ := all.Find(name)
		return found
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		fuzzed(t, named("memory_store"), raw, now, func(_ *call, a *request.Arguments, r storeRequest) {
			for _, i := range append(r.Items, batchItem{r.item}) {
				if m := i.memory(); m.Value != nil && !json.Valid(m.Value) || m.Value == nil && a.Err() == nil && !r.batch(a) {
					t.Errorf("an item has the value %q", m.Value)
				}
			}
		})
		fuzzed(t, named("memory_search"), raw, now, func(c *call, a *request.Arguments, r searchRequest) {
			q, _, _ := c.search(r)
			if a.Err() == nil && (q.K < 1 || q.K > memory.MostHits || q.Offset < 0 || q.Text == "" && q.Order == "" && q.Vector == nil) {
				t.Errorf("a search became %+v", q)
			}
		})
		fuzzed(t, named("memory_branch"), raw, now, func(c *call, _ *request.Arguments, r branchRequest) { c.branchCall(r).request.resolved() })
	})
}

// fuzzed reads the arguments of a call, and checks what was read, and the error.
func fuzzed[R any](t *testing.T, of *tool.Tool, raw []byte, now time.Time, check func(*call, *request.Arguments, R)) {
	prepared, err := of.Prepare(raw)
	if err != nil {
		return
	}
	a := prepared.Arguments
	c := &call{Call: &tool.Call{Tool: of, Arguments: a, Now: now, Session: tool.NewSession(tool.SessionOptions{})}, kit: &kit{}}
	r := request.Declare[R]().Read(a, now)
	check(c, a, r)
	if err := a.Err(); err != nil && (err.Error() == "" || len(err.Error()) > 4000) {
		t.Errorf("the error has %d bytes", len(err.Error()))
	}
}

func FuzzIntent(f *testing.F) {
	for _, seed := range []string{"tag my memories", "", "…", strings.Repeat("word ", 100), "a-b_c.d", "\xff"} {
		f.Add(seed)
	}
	all := tool.NewRegistry(families{{Name: "auto-tag", Description: "Tags memories by what they are about."}, {Name: "site", Docs: "Keeps what is known about a web site."}})
	f.Fuzz(func(t *testing.T, intent string) {
		list := newIntents(all.Snapshot(), nil).suggest(all.Snapshot().Sets, intent)
		for i, s := range list {
			if !(s.score > 0) || len(s.matched) == 0 || s.part <= 0 || s.part > 1 || i > 0 && list[i-1].score < s.score {
				t.Errorf("%q suggests %+v", intent, list)
			}
		}
		if chosen := best(list); chosen != nil && chosen.family != list[0].family {
			t.Errorf("%q chooses another than the first", intent)
		}
	})
}

// families is a source whose families never change.
type families []tool.Family

func (f families) Families() []tool.Family            { return f }
func (f families) Changed() <-chan struct{}           { return nil }
func (f families) Load(context.Context, string) error { return nil }
