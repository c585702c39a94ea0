package alcove_test

import (
	"fmt"
	"maps"
	"testing"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// page is a record with a codec as alcove family gen writes it.
type page struct {
	Title string
	alcove.Lifecycle
}

func (p page) EncodeJSON(w *scan.Writer) {
	w.Open()
	w.Key("title")
	w.Text(p.Title)
	w.Key("state")
	w.Text(p.State)
	w.Key("archivedAt")
	w.Text(p.ArchivedAt)
	w.Close()
}

func (p *page) DecodeJSON(s *scan.Scanner) {
	for key := range s.Fields() {
		switch key {
		case "title":
			p.Title = s.String()
		case "state":
			p.State = s.String()
		case "archivedAt":
			p.ArchivedAt = s.String()
		default:
			s.Skip()
		}
	}
}

// inHost runs a handler as a tool in the host.
func inHost(t *testing.T, handle func(*alcove.Call)) *alcovetest.Space {
	t.Helper()
	f := alcove.New()
	f.HandleTool("run", func(c *alcove.Call, _ alcove.Raw) (alcove.Raw, error) {
		handle(c)
		return alcove.Raw("{}"), nil
	})
	s := alcovetest.New(t, f, manifest(`, "collections": [{"name": "pages", "searchable": ["title"]}, {"name": "steps"}]`, "run"))
	s.PutRecord("pages", "odd", []int{1})
	if err := s.Tool("run", struct{}{}, nil); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRecordsOfATypeInTheHost(t *testing.T) {
	pages, steps := alcove.Records[page]{Name: "pages"}, alcove.Records[page]{Name: "steps"}
	s := inHost(t, func(c *alcove.Call) {
		many := map[string]page{}
		for i := range 1200 {
			many[fmt.Sprintf("p%04d", i)] = page{Title: fmt.Sprint("page ", i)}
		}
		must(t, pages.PutAll(c, maps.All(many)))
		if v, ok, err := pages.Get(c, "p0007"); err != nil || !ok || v.Title != "page 7" {
			t.Errorf("got %+v (%v)", v, err)
		}
		if _, ok, err := pages.Get(c, "gone"); err != nil || ok {
			t.Errorf("what there is not: %v (%v)", ok, err)
		}
		count, unreadable := 0, 0
		for item, err := range pages.All(c, "") {
			if err != nil {
				unreadable++
				continue
			}
			if item.Namespace != "default" || item.Value.Title == "" {
				t.Errorf("All gives %+v, want a page with a title in namespace default", item)
			}
			count++
		}
		if count != 1200 || unreadable != 1 {
			t.Errorf("%d records, and %d that cannot be read", count, unreadable)
		}
		first, err := pages.List(c, "p", "", 1000)
		must(t, err)
		second, err := pages.List(c, "p", first.Next, 1000)
		if err != nil || len(first.Items) != 1000 || len(second.Items) != 200 || second.Next != "" {
			t.Errorf("pages of %d and %d (%v)", len(first.Items), len(second.Items), err)
		}
		sequences, err := steps.Append(c, page{Title: "a"}, page{Title: "b"})
		if err != nil || fmt.Sprint(sequences) != "[1 2]" {
			t.Errorf("appended as %v (%v)", sequences, err)
		}
	})
	if s.Record("pages", "p1199") == nil || s.Record("steps", "00000000000000000002") == nil {
		t.Error("they were not kept")
	}
}

func TestRecordsAreRemovedSoftlyOrForGood(t *testing.T) {
	pages := alcove.Records[page]{Name: "pages"}
	s := inHost(t, func(c *alcove.Call) {
		must(t, pages.PutAll(c, maps.All(map[string]page{"soft": {Title: "a"}, "hard": {Title: "b"}})))
		for key, how := range map[string]alcove.Removal{"soft": alcove.Soft, "hard": alcove.Hard} {
			if out, err := pages.Remove(c, key, how); err != nil || !out.Success || out.EntityID.String() != "default#"+key {
				t.Errorf("Remove(%q) = %+v (%v), want success for default#%s", key, out, err, key)
			}
		}
		if v, ok, err := pages.Get(c, "soft"); err != nil || !ok || !v.Archived() || v.ArchivedAt != c.Now {
			t.Errorf("archived is %+v (%v)", v, err)
		}
		if _, err := pages.Remove(c, "hard", alcove.Soft); alcove.CodeOf(err) != alcove.NotFound {
			t.Errorf("what is gone: %v", err)
		}
	})
	if s.Record("pages", "soft") == nil || s.Record("pages", "hard") != nil {
		t.Error("the wrong one is gone")
	}
}

func TestMemoriesAreFoundByTheirIDs(t *testing.T) {
	inHost(t, func(c *alcove.Call) {
		id, err := c.Store("green").Key("tea").In("work").Type("fact").Importance(.5).Put()
		must(t, err)
		if _, err := c.Store("odd").Key("work#odd").Put(); err != nil {
			t.Error(err)
		}
		for text, want := range map[string]string{"work#tea": "green", "work#odd": "odd", id.String(): "green"} {
			if m, err := c.Memory(alcove.ParseID(text)); err != nil || m.Text() != want {
				t.Errorf("Memory(%s) = %+v (%v), want the text %s", text, m, err, want)
			}
		}
		if _, err := c.Memory(alcove.ParseID("work#gone")); alcove.CodeOf(err) != alcove.NotFound {
			t.Errorf("what there is not: %v", err)
		}
		m, err := c.Memory(id)
		must(t, err)
		must(t, m.Edit(c).Importance(alcove.Clear[float64]()).Type(alcove.Some("plan")).Tags(alcove.Some([]string{"a"})).Apply())
		if m, err = c.Memory(id); err != nil || m.Importance != nil || m.Type != "plan" || len(m.Tags) != 1 {
			t.Errorf("edited it is %+v (%v)", m, err)
		}
		if err := c.Edit(c.ID("gone")).Type(alcove.Some("x")).Apply(); alcove.CodeOf(err) != alcove.NotFound {
			t.Errorf("what there is not cannot be edited: %v", err)
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
