package memory

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory/portable"
)

func TestAPreviewOfAnImportCountsAndWritesNothing(t *testing.T) {
	s := testSpace(t)
	ctx := t.Context()
	value := json.RawMessage(`"a"`)
	if _, err := s.Store(ctx, Location{}, []Item{{Key: "kept", Value: value}}, Write{}); err != nil {
		t.Fatal(err)
	}
	list := []portable.Memory{{Key: "kept", Value: value}, {Key: "new", Value: value}, {Key: "other", Namespace: "n", Value: value}}
	want := Imported{Stored: 2, Unchanged: 1}
	if got, err := s.Import(ctx, "", list, Write{DryRun: true}); err != nil || got != want {
		t.Errorf("the preview is %+v (%v), not %+v", got, err, want)
	}
	if m, err := s.Recall(ctx, Location{}, "new", AsOf{}); m != nil || err != nil {
		t.Errorf("the preview stored %v (%v)", m, err)
	}
	if got, err := s.Import(ctx, "", list, Write{}); err != nil || got != want {
		t.Errorf("the import did %+v (%v), not %+v", got, err, want)
	}
	if got, err := s.Import(ctx, "", list, Write{DryRun: true}); err != nil || got != (Imported{Unchanged: 3}) {
		t.Errorf("a second preview is %+v (%v)", got, err)
	}
}

func TestAnImportedMemoryWasCreatedWhenItsOriginSays(t *testing.T) {
	s, ctx := testSpace(t), t.Context()
	june, future := time.Date(2025, 6, 10, 9, 0, 0, 0, time.UTC), s.clock().Add(time.Hour)
	put(t, s, "", "mine", "tea since today")
	list := []portable.Memory{
		{Key: "old", Value: json.RawMessage(`"tea in June"`), Created: &june},
		{Key: "odd", Value: json.RawMessage(`"tea tomorrow"`), Created: &future},
	}
	if got, err := s.Import(ctx, "", list, Write{}); err != nil || got != (Imported{Stored: 2}) {
		t.Fatalf("the import did %+v (%v)", got, err)
	}
	found := func(q Search) string {
		t.Helper()
		f, err := s.Search(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, h := range f.Hits {
			keys = append(keys, h.Key)
		}
		return strings.Join(keys, " ")
	}
	until, recent := june.AddDate(0, 1, 0), s.clock().Add(-time.Hour)
	for _, c := range []struct {
		q    Search
		want string
	}{
		{Search{Text: "tea", Since: june, Until: until}, "old"},
		{Search{Order: ByKey, Since: june, Until: until}, "old"},
		{Search{Order: ByKey, Until: until}, "old"},
		{Search{Order: ByKey, Until: june}, ""},
		{Search{Order: ByKey, Since: recent}, "mine odd old"}, // it came today
		{Search{Order: ByOldest}, "old mine odd"},
	} {
		if got := found(c.q); got != c.want {
			t.Errorf("found %q, not %q, with %+v", got, c.want, c.q)
		}
	}
	put(t, s, "", "old", "tea in June, edited")
	if m, err := s.Recall(ctx, Location{}, "old", AsOf{}); err != nil || !m.Created.Equal(june) {
		t.Errorf("after an edit it is %+v (%v), want the creation in June", m, err)
	}
	if got := found(Search{Order: ByKey, Since: recent}); got != "mine odd old" {
		t.Errorf("recently written are %q, want the edited one too", got)
	}
}

func TestAnImportAgainChangesOnlyTheDateThatWasUnknown(t *testing.T) {
	s, ctx := testSpace(t), t.Context()
	june := time.Date(2025, 6, 10, 9, 0, 0, 0, time.UTC)
	m := portable.Memory{Key: "k", Value: json.RawMessage(`"tea"`)}
	for i, c := range []struct {
		created *time.Time
		want    Imported
	}{{nil, Imported{Stored: 1}}, {&june, Imported{Stored: 1}}, {&june, Imported{Unchanged: 1}}, {nil, Imported{Unchanged: 1}}} {
		m.Created = c.created
		if got, err := s.Import(ctx, "", []portable.Memory{m}, Write{}); err != nil || got != c.want {
			t.Errorf("import %d did %+v (%v), not %+v", i+1, got, err, c.want)
		}
	}
	if m, err := s.Recall(ctx, Location{}, "k", AsOf{}); err != nil || !m.Created.Equal(june) {
		t.Errorf("it is %+v (%v), want the creation in June", m, err)
	}
}

func TestExportedMemoriesKeepWhenTheyWereCreated(t *testing.T) {
	from, to, ctx := testSpace(t), testSpace(t), t.Context()
	put(t, from, "", "k", "first")
	put(t, from, "", "k", "second")
	before, err := from.Recall(ctx, Location{}, "k", AsOf{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := from.WriteMemories(ctx, Selection{}, &out); err != nil {
		t.Fatal(err)
	}
	var m portable.Memory
	if err := json.Unmarshal(bytes.Split(out.Bytes(), []byte("\n"))[1], &m); err != nil {
		t.Fatal(err)
	}
	if _, err := to.Import(ctx, "", []portable.Memory{m}, Write{}); err != nil {
		t.Fatal(err)
	}
	after, err := to.Recall(ctx, Location{}, "k", AsOf{})
	if err != nil || !after.Created.Equal(before.Created) || before.Created.Equal(before.Timestamp) {
		t.Errorf("it was created at %s (%v), want %s, before its version of %s", after.Created, err, before.Created, before.Timestamp)
	}
}
