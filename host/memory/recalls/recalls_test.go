package recalls

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/testclock"
	"github.com/alcove-memory/alcove/host/testing/testspace"
)

var ann = memory.Caller{Agent: "ann", Key: "k1", Rights: memory.RightsTo([]string{"team"}, []string{"team", "ann"})}

func open(t *testing.T) (*memory.Space, *testclock.Clock) {
	t.Helper()
	clock := testclock.At(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
	return testspace.Open(t, testspace.Options{Clock: clock.Now}), clock
}

func TestARecallIsReadByWhoMadeIt(t *testing.T) {
	space, clock := open(t)
	k := New(Options{Space: space})
	id, err := k.Record(t.Context(), ann, Recall{Branch: "default", Query: "tea", Facts: []Fact{{"team", "a#b"}, {"ann", "c"}}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := k.Get(t.Context(), ann, id)
	if err != nil || r == nil || r.ID != id || r.Query != "tea" || r.Agent != "ann" || r.Facts[0].ID() != "team#a#b" || !r.ExpiresAt.Equal(clock.Now().Add(Kept*24*time.Hour)) {
		t.Fatalf("kept is %+v, %v", r, err)
	}
	own := memory.Caller{Rights: memory.FullRights()}
	for name, who := range map[string]memory.Caller{
		"another agent":                     {Agent: "bob", Key: "k2", Rights: ann.Rights.LimitedTo(nil)},
		"her name, no key":                  {Agent: "ann", Rights: ann.Rights.LimitedTo(nil)},
		"her name, other key":               {Agent: "ann", Key: "k2", Rights: ann.Rights.LimitedTo(nil)},
		"fewer namespaces":                  {Agent: "ann", Key: "k1", Rights: memory.RightsTo([]string{"team"}, nil)},
		"no rights":                         {Agent: "ann", Key: "k1"},
		"one who acts as others, elsewhere": {Agent: "bob", Rights: memory.RightsTo([]string{"team"}, nil)},
	} {
		if r, err := k.Get(t.Context(), who, id); r != nil || err != nil {
			t.Errorf("%s reads %+v, %v", name, r, err)
		}
	}
	for name, who := range map[string]memory.Caller{"the owner": own, "one who acts as others": {Agent: "bob", Rights: ann.Rights}} {
		if r, err := k.Get(t.Context(), who, id); r == nil || err != nil {
			t.Errorf("%s reads %+v, %v, want the recall", name, r, err)
		}
	}
	for _, unknown := range []string{"", "rec:", "rec:" + strings.Repeat("0", 26), strings.ToLower(id), id + "0", strings.Repeat("r", 1<<20)} {
		if r, err := k.Get(t.Context(), own, unknown); r != nil || err != nil {
			t.Errorf("Get(%.40q) = %+v, %v, want none", unknown, r, err)
		}
	}
	if r, err := k.Get(t.Context(), own, "rec:\x00"); r != nil || err == nil {
		t.Errorf("an id with a NUL character: got %+v and %v, want a refusal", r, err)
	}
	clock.Set(clock.Now().Add(Kept*24*time.Hour + time.Second))
	if r, err := k.Get(t.Context(), own, id); r != nil || err != nil {
		t.Errorf("after %d days: %+v, %v", Kept, r, err)
	}
}

func TestTheOldestRecallsMakeRoom(t *testing.T) {
	space, clock := open(t)
	k := New(Options{Space: space, Quota: memory.Quota{Records: 5}})
	var ids []string
	for range 9 {
		clock.Set(clock.Now().Add(time.Second))
		id, err := k.Record(t.Context(), ann, Recall{Query: "tea"})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if !slices.IsSorted(ids) {
		t.Errorf("ids are not in the order of time: %v", ids)
	}
	var left []string
	for _, id := range ids {
		if r, err := k.Get(t.Context(), ann, id); err != nil {
			t.Fatal(err)
		} else if r != nil {
			left = append(left, id)
		}
	}
	if len(left) != 5 || !slices.Equal(left, ids[len(ids)-len(left):]) {
		t.Errorf("left are %d of %d", len(left), len(ids))
	}
}

func TestTheNewestRecallsThatFoundAMemoryAreListed(t *testing.T) {
	space, clock := open(t)
	k := New(Options{Space: space})
	tea := Fact{"team", "tea"}
	for _, r := range []struct {
		who    memory.Caller
		recall Recall
	}{
		{ann, Recall{Branch: "default", Query: "first", Facts: []Fact{tea}}},
		{ann, Recall{Branch: "default", Query: "another", Facts: []Fact{{"team", "coffee"}}}},
		{ann, Recall{Branch: "side", Query: "elsewhere", Facts: []Fact{tea}}},
		{ann, Recall{Branch: "default", Query: "with hers", Facts: []Fact{tea, {"ann", "c"}}}},
		{memory.Caller{Agent: "bob", Rights: memory.FullRights()}, Recall{Branch: "default", Query: "his", Facts: []Fact{tea}}},
	} {
		if _, err := k.Record(t.Context(), r.who, r.recall); err != nil {
			t.Fatal(err)
		}
		clock.Set(clock.Now().Add(time.Second))
	}
	for name, c := range map[string]struct {
		who  memory.Caller
		most int
		want string
	}{
		"the owner":        {memory.Caller{Rights: memory.FullRights()}, 9, "his, with hers, first"},
		"the newest":       {memory.Caller{Rights: memory.FullRights()}, 1, "his"},
		"who made some":    {memory.Caller{Agent: "ann", Key: "k1", Rights: ann.Rights.LimitedTo(nil)}, 9, "with hers, first"},
		"fewer namespaces": {memory.Caller{Agent: "ann", Key: "k1", Rights: memory.RightsTo([]string{"team"}, nil).LimitedTo(nil)}, 9, "first"},
		"another":          {memory.Caller{Agent: "eve", Rights: ann.Rights.LimitedTo(nil)}, 9, ""},
	} {
		list, err := k.Finding(t.Context(), c.who, "default", tea, c.most)
		var queries []string
		for _, r := range list {
			queries = append(queries, r.Query)
		}
		if got := strings.Join(queries, ", "); got != c.want || err != nil {
			t.Errorf("%s: the recalls are %q, %v; want %q", name, got, err, c.want)
		}
	}
}
