package core

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/testspace"
	"github.com/alcove-memory/alcove/host/tool"
)

// noon is when everything happens.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// user calls tools without a protocol.
type user struct {
	t       *testing.T
	space   *memory.Space
	tools   *tool.Dispatcher
	session *tool.Session
	caller  memory.Caller
}

func newUser(t *testing.T) *user { return newUserWith(t, nil) }

func newUserWith(t *testing.T, hooks memory.Hooks) *user {
	t.Helper()
	clock := func() time.Time { return noon }
	space := testspace.Open(t, testspace.Options{Clock: clock, Hooks: func() memory.Hooks { return hooks }, IsPrivate: func(collection string) bool { return collection != "kv/values" }})
	all := tool.NewRegistry(nil)
	if err := all.Add(Specs(Options{Space: space, Version: "1"})...); err != nil {
		t.Fatal(err)
	}
	return &user{t, space, tool.NewDispatcher(all, tool.Options{Clock: clock}), tool.NewSession(tool.SessionOptions{}), memory.Caller{Agent: "tester", Rights: memory.FullRights()}}
}

// call gives what a tool answers programs, as JSON, and its notes as one text.
func (u *user) call(name, arguments string) (answer, note string, err error) {
	u.t.Helper()
	a, err := u.tools.Dispatch(u.t.Context(), tool.Request{Tool: name, Arguments: json.RawMessage(arguments), Caller: u.caller, Session: u.session, Detail: tool.Full})
	if err != nil {
		return "", "", err
	}
	encoded, err := tool.Encode(a.Structured)
	if err != nil {
		u.t.Fatal(err)
	}
	return string(encoded), a.Note(), nil
}

// must is call for what should go well.
func (u *user) must(name, arguments string) (answer, note string) {
	u.t.Helper()
	answer, note, err := u.call(name, arguments)
	if err != nil {
		u.t.Fatalf("call %s with %s: %v", name, arguments, err)
	}
	return answer, note
}

// refused is call for what should not; it gives the error's text.
func (u *user) refused(name, arguments string) string {
	u.t.Helper()
	answer, _, err := u.call(name, arguments)
	if err == nil {
		u.t.Fatalf("%s %s is answered with %s", name, arguments, answer)
	}
	return err.Error()
}

// keys are those of a search's results.
func (u *user) keys(arguments string) string {
	u.t.Helper()
	answer, _ := u.must("memory_search", arguments)
	var found struct {
		Results []struct{ Namespace, Key string }
	}
	if err := json.Unmarshal([]byte(answer), &found); err != nil {
		u.t.Fatal(err)
	}
	var keys []string
	for _, r := range found.Results {
		keys = append(keys, r.Namespace+"#"+r.Key)
	}
	return strings.Join(keys, " ")
}

// version is the newest version of the space.
func (u *user) version() uint64 {
	u.t.Helper()
	s, err := u.space.As(u.caller).Status(u.t.Context(), memory.Location{})
	if err != nil {
		u.t.Fatal(err)
	}
	return s.Version
}
