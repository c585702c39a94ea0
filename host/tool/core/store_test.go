package core

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/memory"
)

func TestAStoreOnAKeyInUseSaysWhatItReplaced(t *testing.T) {
	u := newUser(t)
	store := func(arguments string) string {
		t.Helper()
		_, text, _ := u.lean("memory_store", arguments)
		return text
	}
	long := strings.Repeat("ten weeks ", 20)
	u.must("memory_store", `{"key":"other","value":1}`)
	for _, c := range []struct{ name, agent, arguments, want string }{
		{"a new key", "ann", `{"key":"deadline","value":"3 March"}`, `{"key":"deadline","version":3}`},
		{"the same again", "ben", `{"key":"deadline","value":"3 March"}`, `{"key":"deadline","version":3}`},
		{"of another agent", "ben", `{"key":"deadline","value":"9 April"}`, `{"key":"deadline","version":4,"replaced":{"version":3,"value":"3 March","agent":"ann"}}`},
		{"its own, with other tags", "ben", `{"key":"deadline","value":"9 April","tags":["x"]}`, `{"key":"deadline","version":5,"replaced":{"version":4}}`},
		{"with a long value", "ben", `{"key":"deadline","value":"` + long + `"}`, `{"key":"deadline","version":6,"replaced":{"version":5,"value":"9 April"}}`},
		{"a long value", "ben", `{"key":"deadline","value":{"a":"` + long + `"}}`, `{"key":"deadline","version":7,"replaced":{"version":6,"value":"ten weeks ten weeks ten weeks ten weeks ten weeks ten weeks ten weeks ten…"}}`},
		{"in a batch", "ben", `{"items":[{"key":"deadline","value":1},{"key":"new","value":2}]}`,
			`[{"key":"deadline","version":8,"replaced":{"version":7,"value":"{\"a\":\"ten weeks ten weeks ten weeks ten weeks ten weeks ten weeks ten weeks ten…"}},{"key":"new","version":8}]`},
	} {
		u.caller.Agent = c.agent
		if got := store(c.arguments); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
	u.must("memory_forget", `{"key":"deadline"}`)
	if got := store(`{"key":"deadline","value":1}`); got != `{"key":"deadline","version":10}` {
		t.Errorf("after it was forgotten, got %s", got)
	}
}

func TestOfTwoAgentsThatStoreAtOnceTheLaterIsToldWhatItReplaced(t *testing.T) {
	u := newUser(t)
	const agents = 16
	got := make(chan memory.Stored, agents)
	for i := range agents {
		go func() {
			caller := memory.Caller{Agent: fmt.Sprint("agent", i), Rights: memory.FullRights()}
			stored, err := u.space.As(caller).Store(t.Context(), memory.Location{}, []memory.Item{{Key: "k", Value: json.RawMessage(fmt.Sprint(i))}}, memory.Write{})
			if err != nil {
				t.Error(err)
				stored = []memory.Stored{{}}
			}
			got <- stored[0]
		}()
	}
	replaced := map[uint64]int{}
	for range agents {
		if s := <-got; s.Former != nil {
			replaced[s.Former.Version]++
		}
	}
	if len(replaced) != agents-1 {
		t.Errorf("%d versions were replaced, want each of %d once: %v", len(replaced), agents-1, replaced)
	}
}

func TestTagsOfABatchAreSplitToo(t *testing.T) {
	u := newUser(t)
	_, note := u.must("memory_store", `{"items":[{"key":"a","value":1,"tags":"person, user"},{"key":"b","value":2}],"tags":"all,some"}`)
	if want := `tags was taken as the list ["all","some"]: give a list. items[0].tags was taken as the list ["person","user"]: give a list.`; note != want {
		t.Errorf("noted %q, want %q", note, want)
	}
	for _, tags := range []string{`"user"`, `["some"]`, `"all, some"`} {
		if found, _ := u.must("memory_search", `{"tags":`+tags+`}`); !strings.Contains(found, `"total":1`) {
			t.Errorf("with the tags %s is found %s", tags, found)
		}
	}
	u.must("memory_operation", `{"method":"memory_store","key":"c","value":3,"metadata":{"source":"mail"}}`)
	if got, _ := u.must("memory_recall", `{"key":"c"}`); !strings.Contains(got, `"metadata":{"source":"mail"}`) {
		t.Errorf("stored by an operation is %s", got)
	}
}
