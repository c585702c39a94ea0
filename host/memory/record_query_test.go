package memory

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory/purge"
	"github.com/alcove-memory/alcove/host/memory/query"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

func tasksCollection() Collection {
	return Collection{Name: "fam/tasks", Indexes: []query.Index{{{Path: "owner", Type: query.String}, {Path: "due", Type: query.Time}}, {{Path: "rank", Type: query.Number}}}}
}

func keepIn(t testing.TB, st *Stage, c Collection, key, value string) {
	t.Helper()
	if err := st.Keep(t.Context(), c, "", RecordItem{Key: key, Value: json.RawMessage(value)}); err != nil {
		t.Fatal(err)
	}
}

func queried(t testing.TB, st *Stage, c Collection, q query.Query) string {
	t.Helper()
	page, err := st.QueryRecords(t.Context(), c, "", q)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, r := range page.Records {
		keys = append(keys, r.Key)
	}
	return strings.Join(keys, " ")
}

func byOwner(owner string) query.Query {
	return query.Query{Filters: []query.Filter{{Field: "owner", Op: query.Equal, Value: json.RawMessage(fmt.Sprintf("%q", owner))}}}
}

func TestAPurgeErasesWhatIndexesHaveOfARecord(t *testing.T) {
	dir := t.TempDir()
	s, closeSpace := openSpace(t, dir, time.Now)
	c := tasksCollection()
	s.DeclareIndexes(c)
	st := stage(t, s, "")
	keepIn(t, st, c, "a", `{"owner":"hunter2-hunter2"}`)
	keepIn(t, st, c, "b", `{"owner":"bob"}`)
	stageCommit(t, st, Commit{})
	fork(t, s, "", "try")
	st = stage(t, s, "try")
	keepIn(t, st, c, "a", `{"owner":"eve"}`) // the deletion of the old entry has the old value too
	stageCommit(t, st, Commit{})
	if !bytesIn(t, dir, "hunter2-hunter2") {
		t.Fatal("the value is not in the file: the test shows nothing")
	}
	if _, err := s.Purge(t.Context(), purge.Request{Collection: c.Name, Key: "a"}); err != nil {
		t.Fatal(err)
	}
	settled(t, s)
	if got := queried(t, stage(t, s, ""), c, byOwner("bob")); got != "b" {
		t.Errorf("after the purge bob has %q", got)
	}
	if got := queried(t, stage(t, s, ""), c, byOwner("hunter2-hunter2")); got != "" {
		t.Errorf("after the purge the owner has %q", got)
	}
	closeSpace()
	if bytesIn(t, dir, "hunter2-hunter2") {
		t.Error("the value is still in the file")
	}
}

// bytesIn reports whether the files of a directory have some bytes.
func bytesIn(t testing.TB, dir, text string) (found bool) {
	t.Helper()
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		found = found || bytes.Contains(data, []byte(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestWritersBesideAChangeOfIndexesLeaveNoRecordWithoutItsEntry(t *testing.T) {
	s := testSpace(t)
	c := tasksCollection()
	st := stage(t, s, "")
	for i := range 300 {
		keepIn(t, st, c, fmt.Sprintf("old%d", i), `{"owner":"ann","rank":1}`)
	}
	stageCommit(t, st, Commit{})
	var wait sync.WaitGroup
	for w := range 4 {
		wait.Go(func() {
			for i := range 40 {
				st, err := s.Stage(context.Background(), "", "guest")
				if err == nil {
					err = st.Keep(context.Background(), c, "", RecordItem{Key: fmt.Sprintf("new%d-%d", w, i), Value: json.RawMessage(`{"owner":"ann","rank":2}`)})
				}
				if err == nil && i%3 == 0 {
					_, err = st.DeleteRecords(context.Background(), c, "", []string{fmt.Sprintf("old%d", w*40+i)})
				}
				if err == nil {
					_, err = st.Commit(context.Background(), Commit{})
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range 6 {
		changed := c
		changed.Indexes = c.Indexes[:1+i%2]
		if i == 5 {
			changed = c
		}
		s.DeclareIndexes(changed)
		if err := s.indexes.KeepDeclared(t.Context(), c.Name); err != nil {
			t.Fatal(err)
		}
	}
	wait.Wait()
	settled(t, s)
	st = stage(t, s, "")
	for _, order := range []string{"owner", "rank"} {
		page, err := st.QueryRecords(t.Context(), c, "", query.Query{Order: order, Count: true, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		list, _, err := st.ListRecords(t.Context(), c, "", "", "", 0)
		if err != nil {
			t.Fatal(err)
		}
		if page.Total != len(list) {
			t.Errorf("the index of %s has %d records of %d", order, page.Total, len(list))
		}
	}
}

func TestDroppedIndexesLeaveNothingBehind(t *testing.T) {
	s := testSpace(t)
	c := tasksCollection()
	s.DeclareIndexes(c)
	st := stage(t, s, "")
	keepIn(t, st, c, "a", `{"owner":"ann"}`)
	stageCommit(t, st, Commit{})
	b := s.catalogue.Named(Default).ID
	was := s.indexes.Shadows(b)
	c.Indexes = nil
	s.DeclareIndexes(c)
	settled(t, s)
	for _, index := range was {
		left, _, err := s.engine.Versions(t.Context(), store.Lineage{{Branch: index, At: store.Latest}}, store.Range{}, "", 1)
		if err != nil || len(left) > 0 {
			t.Errorf("index %d has %v, %v", index, left, err)
		}
	}
	if len(was) != 2 || len(s.indexes.Shadows(b)) != 0 {
		t.Errorf("kept were %v, and are %v", was, s.indexes.Shadows(b))
	}
}

func TestLimitsOfQueriesNameThem(t *testing.T) {
	s := testSpace(t)
	c := tasksCollection()
	st := stage(t, s, "")
	many := make([]query.Filter, 17)
	values := "[" + strings.Repeat("1,", 100) + "1]"
	for name, q := range map[string]query.Query{
		"17 filters: at most 16":    {Filters: many},
		"at most 100 values":        {Filters: []query.Filter{{Field: "rank", Op: query.In, Value: json.RawMessage(values)}}},
		"at most 8192 are":          {Order: "rank", After: strings.Repeat("a", 8193)},
		`is not one of eq, in`:      {Filters: []query.Filter{{Field: "rank", Op: "like", Value: json.RawMessage(`1`)}}},
		"needs a field of type":     {Filters: []query.Filter{{Field: "rank", Op: query.Prefix, Value: json.RawMessage(`1`)}}},
		`"indexes": [["colour"]]`:   {Filters: []query.Filter{{Field: "colour", Op: query.Equal, Value: json.RawMessage(`1`)}}},
		`"indexes": [["due:time"]]`: {Filters: []query.Filter{{Field: "due", Op: query.Equal, Value: json.RawMessage(`"2026-01-01T00:00:00Z"`)}}},
		"needs a time":              {Filters: []query.Filter{{Field: "due", Op: query.Equal, Value: json.RawMessage(`"soon"`)}}},
	} {
		var e *Error
		if _, err := st.QueryRecords(t.Context(), c, "", q); !errors.As(err, &e) || e.Code != InvalidArgument || !strings.Contains(e.Message, name) {
			t.Errorf("%+v: %v; want %s", q, err, name)
		}
	}
	long, err := json.Marshal(map[string]string{"owner": strings.Repeat("x", 1025)})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Keep(t.Context(), c, "", RecordItem{Key: "a", Value: long}); err == nil || !strings.Contains(err.Error(), "field owner is indexed and has 1025 bytes: at most 1024") {
		t.Errorf("a long field: %v", err)
	}
}

func TestAnIndexThatIsNotBuiltYetSaysSoBeyondWhatIsScanned(t *testing.T) {
	if testing.Short() {
		t.Skip("it works through much data on one goroutine: the tests without -short run it")
	}
	s := testSpace(t)
	c := tasksCollection()
	for range (mostExamined + 999) / 1000 {
		st := stage(t, s, "")
		for i := range 1001 {
			keepIn(t, st, c, fmt.Sprint(st.Version(), "-", i), `{"rank":1}`)
		}
		stageCommit(t, st, Commit{})
	}
	old := stage(t, s, "")
	var e *Error
	if _, err := old.QueryRecords(t.Context(), c, "", query.Query{Order: "rank"}); !errors.As(err, &e) || e.Code != Unavailable || !e.Retryable {
		t.Errorf("before the index is built: %v", err)
	}
	s.DeclareIndexes(c)
	if err := s.indexes.KeepDeclared(t.Context(), c.Name); err != nil {
		t.Fatal(err)
	}
	settled(t, s)
	page, err := stage(t, s, "").QueryRecords(t.Context(), c, "", query.Query{Order: "rank", Count: true, Limit: 3})
	if err != nil || len(page.Records) != 3 || page.Total <= mostExamined {
		t.Errorf("once it is built: %d records of %d, %v", len(page.Records), page.Total, err)
	}
	past, err := s.owner("").StageAt(t.Context(), "", AsOf{Version: old.Version()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := past.QueryRecords(t.Context(), c, "", query.Query{Order: "rank"}); !errors.As(err, &e) || e.Code != Exhausted {
		t.Errorf("before there was an index: %v", err)
	}
}

func TestAnUnversionedRecordIsTheSameOnEveryBranchAndHasNoPast(t *testing.T) {
	s := testSpace(t)
	c := Collection{Name: "fam/cache", PerSpace: true, Unversioned: true}
	fork(t, s, "", "try")
	st := stage(t, s, "")
	keepIn(t, st, c, "k", `1`)
	first := stageCommit(t, st, Commit{})
	st = stage(t, s, "try")
	keepIn(t, st, c, "k", `2`)
	stageCommit(t, st, Commit{})
	for _, branch := range []string{"", "try"} {
		got, err := stage(t, s, branch).Records(t.Context(), c, "", []string{"k"})
		if err != nil || got[0] == nil || string(got[0].Value) != "2" {
			t.Errorf("branch %q has %v, %v", branch, got[0], err)
		}
	}
	if _, _, err := stage(t, s, "").RecordHistory(t.Context(), c, "", "k", 0, 0); err == nil {
		t.Error("it has a history")
	}
	past, err := s.owner("").StageAt(t.Context(), "", AsOf{Version: first.Version})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := past.Records(t.Context(), c, "", []string{"k"}); err == nil || !strings.Contains(err.Error(), "only the newest version") {
		t.Errorf("in the past: %v", err)
	}
}

func TestTheHistoryOfARecordIsPaged(t *testing.T) {
	s := testSpace(t)
	c := Collection{Name: "fam/notes"}
	for i := range 5 {
		st := stage(t, s, "")
		keepIn(t, st, c, "k", fmt.Sprint(i))
		stageCommit(t, st, Commit{})
	}
	st := stage(t, s, "")
	if _, err := st.DeleteRecords(t.Context(), c, "", []string{"k"}); err != nil {
		t.Fatal(err)
	}
	stageCommit(t, st, Commit{})
	var got []string
	for before, first := uint64(0), true; first || before != 0; first = false {
		versions, next, err := stage(t, s, "").RecordHistory(t.Context(), c, "", "k", before, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range versions {
			got = append(got, fmt.Sprintf("%s%t", v.Value, v.Deleted))
		}
		before = next
	}
	if want := "true 4false 3false 2false 1false 0false"; strings.Join(got, " ") != want {
		t.Errorf("the history is %s", strings.Join(got, " "))
	}
}

func FuzzCursorsOfQueries(f *testing.F) {
	c := tasksCollection()
	q := query.Query{Order: "owner"}
	p, err := c.queried().Plan("default", q)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(p.Cursor(c.Indexes[0].Name("k", query.ValuesOf(&record.Record{Value: json.RawMessage(`{"owner":"ann","due":"2026-01-01T00:00:00Z"}`)}))))
	f.Add(p.Cursor(""))
	f.Add(p.Cursor("\x02\x00\xff"))
	f.Add("!")
	f.Fuzz(func(t *testing.T, after string) {
		q.After = after
		p, err := c.queried().Plan("default", q)
		if err != nil {
			t.Fatal(err)
		}
		name, err := p.Position()
		if err != nil || after == "" {
			return
		}
		if back := p.Cursor(name); back != after {
			t.Errorf("%q is at %q, which is %q", after, name, back)
		}
		p.AdmitsName(name)
		if key, ok := p.Index.CutKey(name); ok && !strings.HasSuffix(name, key) {
			t.Errorf("%q has the key %q", name, key)
		}
	})
}

func FuzzIndexedValuesSortAsTheyDo(f *testing.F) {
	f.Add(`"a"`, `"a\u0000"`)
	f.Add(`-0`, `1e308`)
	f.Add(`"2026-01-01T00:00:00Z"`, `"2026-01-01T01:00:00+02:00"`)
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, field := range indexedFields[:4] {
			x, okX := field.Append(nil, json.RawMessage(a))
			y, okY := field.Append(nil, json.RawMessage(b))
			var va, vb any
			if !okX || !okY || json.Unmarshal([]byte(a), &va) != nil || json.Unmarshal([]byte(b), &vb) != nil {
				continue
			}
			want := naiveCompare(typedAs(va, field.Path), typedAs(vb, field.Path))
			got := bytes.Compare(x, y)
			if field.Type == query.Time && got == 0 {
				continue // to the microsecond
			}
			if got != want {
				t.Errorf("%s: %s and %s compare as %d, encoded as %d", field.Type, a, b, want, got)
			}
			if value, rest, ok := field.Cut(string(x) + "rest"); !ok || value != string(x) || rest != "rest" {
				t.Errorf("%s: %q is cut into %q and %q", field.Type, x, value, rest)
			}
		}
	})
}

func TestExpiredRecordsOfAllBranchesAreSweptADayLater(t *testing.T) {
	began := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	var passed atomic.Int64
	s, closeSpace := openSpace(t, t.TempDir(), func() time.Time { return began.Add(time.Duration(passed.Load())) })
	defer closeSpace()
	c := tasksCollection()
	c.PerSpace, c.Unversioned = true, true
	s.DeclareIndexes(c)
	until := began.Add(time.Hour)
	st := stage(t, s, "")
	keepIn(t, st, c, "stays", `{"owner":"ann"}`)
	if err := st.Keep(t.Context(), c, "", RecordItem{Key: "goes", Value: json.RawMessage(`{"owner":"ann"}`), ExpiresAt: &until}); err != nil {
		t.Fatal(err)
	}
	stageCommit(t, st, Commit{})
	settled(t, s)
	for _, at := range []struct {
		after time.Duration
		want  string
	}{{2 * time.Hour, "goes stays"}, {26 * time.Hour, "stays"}} {
		after := at.after
		passed.Store(int64(after))
		if _, err := s.Retain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := queried(t, stage(t, s, "").Expired(), c, byOwner("ann")); got != at.want {
			t.Errorf("after %v there are %q", after, got)
		}
		if got := queried(t, stage(t, s, ""), c, byOwner("ann")); got != "stays" {
			t.Errorf("after %v %q have not expired", after, got)
		}
	}
	if use, err := s.UseOf(t.Context(), "fam"); err != nil || use.Records != 1 {
		t.Errorf("the use is %+v, %v", use, err)
	}
}
