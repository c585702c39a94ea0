package alcovetest_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
	"github.com/alcove-memory/alcove/sdk/go/reflected"
)

const manifest = `{"tools":[{"name":"run"}],"config":[{"key":"volume","default":5}],"collections":[{"name":"notes"},{"name":"many"}]}`

// run runs a handler, as a tool, in a space with the memory tea, which has all fields.
func run(t *testing.T, handle func(*alcove.Call) error) (*alcovetest.Space, error) {
	t.Helper()
	f := alcove.New()
	reflected.Tool(f, "run", func(c *alcove.Call, _ struct{}) (struct{}, error) { return struct{}{}, handle(c) })
	s := alcovetest.New(t, f, []byte(manifest))
	s.Put(alcove.Memory{
		Key: "tea", Value: alcove.JSON("green tea"), Tags: []string{"drink", "hot"}, Type: "fact", Importance: new(.5), Metadata: alcove.Metadata{"note": alcove.JSON(1)},
		Supersedes: []string{"old"}, Links: []string{"cup"}, ExpiresAt: "2027-01-01T00:00:00Z",
	})
	s.PutRecord("notes", "a", "green tea")
	return s, s.Tool("run", struct{}{}, nil)
}

func TestEveryOperationReadsItsRequestStrictly(t *testing.T) {
	for op := range abi.Ops() {
		for _, own := range []bool{false, true} {
			f := alcove.New()
			reflected.Tool(f, "run", func(c *alcove.Call, _ struct{}) (struct{}, error) {
				return struct{}{}, reflected.Ask(c, alcove.Op(op), map[string]any{"misspelled": 1}, nil)
			})
			s := alcovetest.New(t, f, []byte(manifest))
			if own {
				s.Ops[alcove.Op(op)] = func([]byte) (any, error) { return struct{}{}, nil }
			}
			err := s.Tool("run", struct{}{}, nil)
			if alcove.CodeOf(err) != alcove.InvalidArgument || !strings.Contains(err.Error(), `"misspelled"`) {
				t.Errorf("%s: %v", op, err)
			}
		}
	}
}

func TestRequestsAreHeldToTheirBounds(t *testing.T) {
	_, err := run(t, func(c *alcove.Call) error {
		_, err := c.MemoryPatch(alcove.MemoryPatchRequest{Patches: []alcove.MemoryPatch{{Key: "tea"}, {Key: "tea", Clear: []string{"value"}}}})
		return err
	})
	if alcove.CodeOf(err) != alcove.InvalidArgument || !strings.Contains(err.Error(), `patches[1]: clear is "value"`) {
		t.Errorf("the error is %v", err)
	}
}

func TestAnOperationThatIsNotPartOfTheTestIsUnavailable(t *testing.T) {
	_, err := run(t, func(c *alcove.Call) error {
		_, err := c.HTTPFetch(alcove.HTTPFetchRequest{})
		return err
	})
	if alcove.CodeOf(err) != alcove.Unavailable {
		t.Errorf("the error is %v", err)
	}
	_, err = run(t, func(c *alcove.Call) error { return reflected.Ask(c, "memory.later", struct{}{}, nil) })
	if alcove.CodeOf(err) != alcove.NotFound {
		t.Errorf("an operation that there is not: %v", err)
	}
}

func TestPatches(t *testing.T) {
	for name, c := range map[string]struct {
		patch alcove.MemoryPatch
		want  string // the memory, without what stays
	}{
		"nothing":      {alcove.MemoryPatch{}, `tags=[drink hot] type=fact importance=0.5 metadata={"note":1} supersedes=[old] links=[cup] expires=2027-01-01T00:00:00Z`},
		"clear all":    {alcove.MemoryPatch{Clear: []string{"tags", "type", "importance", "metadata", "supersedes", "links", "expires_at"}}, `tags=[] type= importance=<nil> metadata={} supersedes=[] links=[] expires=`},
		"empty lists":  {alcove.MemoryPatch{Tags: []string{}, Supersedes: []string{}, Links: []string{}}, `tags=[] type=fact importance=0.5 metadata={"note":1} supersedes=[] links=[] expires=2027-01-01T00:00:00Z`},
		"zeros":        {alcove.MemoryPatch{Type: new(""), Importance: new(0.0), ExpiresAt: new("")}, `tags=[drink hot] type= importance=0 metadata={"note":1} supersedes=[old] links=[cup] expires=`},
		"clear, then":  {alcove.MemoryPatch{Clear: []string{"tags", "metadata"}, AddTags: []string{"cold"}, Metadata: alcove.Metadata{"b": alcove.JSON(2)}}, `tags=[cold] type=fact importance=0.5 metadata={"b":2} supersedes=[old] links=[cup] expires=2027-01-01T00:00:00Z`},
		"one metadata": {alcove.MemoryPatch{Metadata: alcove.Metadata{"note": nil, "c": alcove.JSON(3)}, RemoveTags: []string{"hot"}}, `tags=[drink] type=fact importance=0.5 metadata={"c":3} supersedes=[old] links=[cup] expires=2027-01-01T00:00:00Z`},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := run(t, func(call *alcove.Call) error {
				c.patch.Key = "tea"
				out, err := call.MemoryPatch(alcove.MemoryPatchRequest{Patches: []alcove.MemoryPatch{c.patch, {Key: "gone"}}})
				if out.Patched != 1 || !slices.Equal(out.Missing, []string{"gone"}) {
					t.Errorf("the response is %+v", out)
				}
				return err
			})
			m := s.Memory("tea")
			importance := "<nil>"
			if m.Importance != nil {
				importance = fmt.Sprint(*m.Importance)
			}
			metadata, _ := json.Marshal(m.Metadata)
			got := fmt.Sprintf("tags=%v type=%s importance=%s metadata=%s supersedes=%v links=%v expires=%s", m.Tags, m.Type, importance, metadata, m.Supersedes, m.Links, m.ExpiresAt)
			if err != nil || got != c.want || string(m.Value) != `"green tea"` {
				t.Errorf("%s (%v), want %s", got, err, c.want)
			}
		})
	}
}

func TestTouchesCountAsTheHostDoes(t *testing.T) {
	for name, c := range map[string]struct {
		touch    alcove.MemoryTouchRequest
		accesses int
		health   float64
	}{
		"an access":                {alcove.MemoryTouchRequest{}, 1, 0},
		"feedback":                 {alcove.MemoryTouchRequest{Health: .25}, 0, .25},
		"no access":                {alcove.MemoryTouchRequest{Accesses: new(0)}, 0, 0},
		"accesses and feedback":    {alcove.MemoryTouchRequest{Accesses: new(3), Health: -1}, 3, -1},
		"a memory that is missing": {alcove.MemoryTouchRequest{Keys: []string{"gone", "tea"}}, 1, 0},
	} {
		s, err := run(t, func(call *alcove.Call) error {
			if c.touch.Keys == nil {
				c.touch.Keys = []string{"tea"}
			}
			out, err := call.MemoryTouch(c.touch)
			if out.Touched != 1 {
				t.Errorf("%s: %d were touched", name, out.Touched)
			}
			return err
		})
		if got := s.Memory("tea").Counters; err != nil || got.Accesses != c.accesses || got.Health != c.health {
			t.Errorf("%s: %+v (%v)", name, got, err)
		}
	}
}

func TestReadingGivesPagesCountsAndVersions(t *testing.T) {
	_, err := run(t, func(c *alcove.Call) error {
		records, err := c.TextCount(alcove.TextCountRequest{Terms: []string{"tea"}, Collection: "notes"})
		if err != nil || records.Documents != 1 || records.Counts[0] != 1 {
			t.Errorf("in records %+v (%v)", records, err)
		}
		none, err := c.TextCount(alcove.TextCountRequest{Terms: []string{"tea"}, Namespaces: []string{"other"}})
		if err != nil || none.Documents != 0 {
			t.Errorf("in another namespace %+v (%v)", none, err)
		}
		first, err := c.MemoryHistory(alcove.MemoryHistoryRequest{Key: "tea"})
		if err != nil || len(first.Versions) != 1 || first.Next != 0 {
			t.Errorf("the history is %+v (%v)", first, err)
		}
		older, err := c.MemoryHistory(alcove.MemoryHistoryRequest{Key: "tea", Before: first.Versions[0].Version - 1})
		if err != nil || len(older.Versions) != 0 {
			t.Errorf("before it there is %+v (%v)", older, err)
		}
		found, err := c.MemorySearch(alcove.MemorySearchRequest{Query: "tea", Offset: 1})
		if err != nil || len(found.Hits) != 0 || found.Total != 1 {
			t.Errorf("behind the only hit there is %+v (%v)", found, err)
		}
		for i := range 250 {
			if err := reflected.PutRecords(c, "many", "", map[string]any{fmt.Sprintf("%03d", i): i}); err != nil {
				return err
			}
		}
		n := 0
		for r, err := range c.Records(alcove.RecordListRequest{Collection: "many"}) {
			if err != nil || r.Key != fmt.Sprintf("%03d", n) {
				return fmt.Errorf("record %d is %+v: %w", n, r, err)
			}
			n++
		}
		if n != 250 {
			t.Errorf("there are %d records", n)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestLinksAndDeletionsAreCounted(t *testing.T) {
	s, err := run(t, func(c *alcove.Call) error {
		if out, err := c.LinkAdd(alcove.LinkAddRequest{Key: "tea", To: []string{"cup", "pot"}}); err != nil || out.Added != 1 {
			t.Errorf("added %+v (%v)", out, err)
		}
		if out, err := c.LinkRemove(alcove.LinkRemoveRequest{Key: "tea", To: []string{"cup", "spoon"}}); err != nil || out.Removed != 1 {
			t.Errorf("removed %+v (%v)", out, err)
		}
		if _, err := c.LinkAdd(alcove.LinkAddRequest{Key: "gone", To: []string{"cup"}}); alcove.CodeOf(err) != alcove.NotFound {
			t.Errorf("a memory that is missing: %v", err)
		}
		if out, err := c.RecordDelete(alcove.RecordDeleteRequest{Collection: "notes", Keys: []string{"a", "b"}}); err != nil || out.Deleted != 1 {
			t.Errorf("deleted %+v (%v)", out, err)
		}
		return nil
	})
	if err != nil || !slices.Equal(s.Memory("tea").Links, []string{"pot"}) || s.Record("notes", "a") != nil {
		t.Errorf("links %q (%v)", s.Memory("tea").Links, err)
	}
}

func TestAConfigurationGoesBackToItsDefault(t *testing.T) {
	s, err := run(t, func(c *alcove.Call) error {
		if err := reflected.SetConfig(c, map[string]any{"volume": 7}); err != nil {
			return err
		}
		now, err := c.ConfigGet()
		if string(now.Config["volume"]) != "7" {
			t.Errorf("the configuration is %s", now.Config)
		}
		return err
	})
	if err != nil || s.Config["volume"] != 7.0 {
		t.Errorf("the configuration is %v (%v)", s.Config, err)
	}
	s, err = run(t, func(c *alcove.Call) error { return reflected.SetConfig(c, map[string]any{"volume": nil}) })
	if err != nil || s.Config["volume"] != 5.0 {
		t.Errorf("the default is %v (%v)", s.Config, err)
	}
	if _, err := run(t, func(c *alcove.Call) error { return reflected.SetConfig(c, map[string]any{"loudness": 1}) }); alcove.CodeOf(err) != alcove.NotFound {
		t.Errorf("the error is %v", err)
	}
}
