package operator_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/admin"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// door is all acts of a server behind their one door, with nothing done behind it.
func door(t *testing.T, as operator.Role, record operator.Recorder) (*admin.Server, *int) {
	t.Helper()
	h := server.Open(t, host.Options{})
	done := 0
	var bindings []operator.Binding
	for _, name := range h.Operator().Names() {
		bindings = append(bindings, operator.Act[json.RawMessage, operator.None](name).By(func(context.Context, json.RawMessage) (operator.None, error) {
			done++
			return operator.None{}, nil
		}))
	}
	s := operator.NewServer(bindings, operator.ServerOptions{Logger: slog.New(slog.DiscardHandler), Record: record})
	s.As = func(r *http.Request) (context.Context, error) {
		return operator.By(r.Context(), operator.Person{Name: "ann", UID: -1, Role: as}), nil
	}
	return s, &done
}

func TestEachActIsClassedAndEachRolePassesTheDoorForItsActsAlone(t *testing.T) {
	rank := map[operator.Role]int{operator.Viewer: 1, operator.Approver: 2, operator.Admin: 3}
	for role, may := range rank {
		s, done := door(t, role, nil)
		for _, act := range s.Names() {
			needs, classed := operator.ClassOf(act)
			if !classed {
				t.Errorf("the act %s has no class: say in ClassOf which role it takes", act)
				continue
			}
			switch act {
			case string(operator.CallTool):
				needs = operator.Admin // of a tool that decides nothing
			case string(operator.TrustKeys):
				needs = operator.Viewer // of a list of the keys
			}
			*done = 0
			w := httptest.NewRecorder()
			s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/"+act, strings.NewReader("{}")))
			if passed, want := *done == 1, may >= rank[needs]; passed != want {
				t.Errorf("as %s the act %s is done: %t, want %t, because it takes %s (%s)", role, act, passed, want, needs, w.Body)
			}
			if *done == 0 && !bytes.Contains(w.Body.Bytes(), []byte("takes the role "+string(needs))) {
				t.Errorf("as %s the act %s is answered %s, want the role that it takes", role, act, w.Body)
			}
		}
	}
}

func TestWhatIsNoRoleMayDoNothing(t *testing.T) {
	s, done := door(t, "root", nil)
	for _, act := range s.Names() {
		s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/"+act, strings.NewReader("{}")))
	}
	if *done != 0 {
		t.Errorf("%d acts were done in a role that there is not", *done)
	}
}

func TestAnApproverDecidesByToolsAndCallsNoOthers(t *testing.T) {
	for tool, want := range map[string]operator.Role{"memory_pending_approve": operator.Approver, "memory_pending_list": operator.Approver, "memory_store": operator.Admin, "notes_pending_x": operator.Admin} {
		request, err := json.Marshal(operator.ToolCall{Tool: tool})
		if err != nil {
			t.Fatal(err)
		}
		if got := operator.Needs(string(operator.CallTool), request); got != want {
			t.Errorf("the tool %s takes %s, want %s", tool, got, want)
		}
	}
	if got := operator.Needs("an-act-of-tomorrow", nil); got != operator.Admin {
		t.Errorf("an act without a class takes %s, want admin", got)
	}
}

// recorder keeps what is recorded.
type recorder struct{ began, refused []operator.Action }

func (r *recorder) Began(d operator.Action) func(error) {
	r.began = append(r.began, d)
	return func(error) {}
}

func (r *recorder) Refused(d operator.Action, _ string) { r.refused = append(r.refused, d) }

func TestTheDoorRecordsWhatIsDoneAndRefusedAndNoLooks(t *testing.T) {
	r := &recorder{}
	s, _ := door(t, operator.Approver, r)
	looks := 0
	for _, act := range s.Names() {
		if operator.Needs(act, json.RawMessage("{}")) == operator.Viewer {
			looks++
		}
		s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/"+act, strings.NewReader("{}")))
	}
	if got, want := len(r.began)+len(r.refused), len(s.Names())-looks; got != want || len(r.refused) == 0 || len(r.began) == 0 {
		t.Errorf("%d actions and %d refusals are recorded, want %d together", len(r.began), len(r.refused), want)
	}
	for _, d := range r.began {
		if d.Person.Name != "ann" {
			t.Errorf("the action %s is recorded of %s, want ann", d.Act, d.Person)
		}
	}
}
