package sessions

import (
	"slices"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
)

func TestASessionIsKnownFromItsFirstCallToItsEnd(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	var began, ended []string
	s := New(Options{Clock: func() time.Time { return now },
		Began: func(s Session) { began = append(began, s.ID+" "+s.Caller.Agent) },
		Ended: func(s Session) { ended = append(ended, s.ID+" "+s.Caller.Agent) }})
	ann := memory.Caller{Agent: "ann", Session: "1", Rights: memory.FullRights()}
	guest := memory.Caller{Agent: "bob", Key: "k", Session: "1"} // who presents a key with one call
	s.Called(memory.Caller{Agent: "none"}, memory.Location{})
	s.Called(ann, memory.Location{Branch: "default", Namespace: "a"})
	now = now.Add(time.Second)
	s.Called(guest, memory.Location{})
	s.Called(ann, memory.Location{Branch: "draft", Namespace: "b"})
	list := s.List()
	if len(list) != 2 || list[0].Caller.Agent != "bob" || list[1].Calls != 2 || list[1].Branch != "draft" || list[1].Caller.Rights.ReadsAnything() {
		t.Errorf("open are %+v", list)
	}
	s.End("1")
	s.End("1")
	s.End("never called")
	if want := []string{"1 ann", "1 bob"}; !slices.Equal(began, want) || !slices.Equal(ended, want) || len(s.List()) != 0 {
		t.Errorf("began %q, ended %q, left %+v", began, ended, s.List())
	}
}
