package mcp

import (
	"encoding/json"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"github.com/alcove-memory/alcove/host/internal/profile"
	"github.com/alcove-memory/alcove/host/memory"
)

// A client cuts what is too long, and some show the beginning alone. Both in characters.
const (
	longestInstructions = 1500
	longestOpening      = 300
)

// toldSessions are sessions whose models are told different things.
func toldSessions() map[string]Session {
	team, all := []string{"team"}, []string{memory.AllNamespaces}
	return map[string]Session{
		"the owner":                {Rights: memory.FullRights()},
		"the profile operation":    {Rights: memory.FullRights(), Profile: profile.Operation},
		"the profile full":         {Rights: memory.FullRights(), Profile: profile.Full},
		"the profile deferred":     {Rights: memory.FullRights(), Profile: profile.Deferred},
		"a key for one namespace":  {Rights: memory.RightsTo(team, team)},
		"a read-only key":          {Rights: memory.RightsTo(all, nil)},
		"a read-only operation":    {Rights: memory.RightsTo(all, nil), Profile: profile.Operation},
		"a key without branches":   {Rights: memory.RightsTo(team, team).LimitedTo(nil)},
		"a session in a project":   {Rights: memory.FullRights(), Project: "project/" + strings.Repeat("n", 120)},
		"a key without any rights": {},
	}
}

func TestInstructionsAreTrueForTheSession(t *testing.T) {
	named := regexp.MustCompile(`memory_[a-z_]+`)
	for _, families := range []bool{true, false} {
		s := newServer(t, Options{})
		if families {
			s = newServer(t, Options{}, newFake())
		}
		for name, session := range toldSessions() {
			text := s.instructions(session)
			reads, writes := session.Rights.ReadsAnything(), !session.Rights.WritesNothing()
			if n := utf8.RuneCountInString(text); n > longestInstructions {
				t.Errorf("%s: got %d characters, want at most %d", name, n, longestInstructions)
			}
			if got := strings.Contains(text, "memory_store"); got != writes {
				t.Errorf("%s: got memory_store %t, want %t, as it may write: %s", name, got, writes, text)
			}
			if got := strings.Contains(text, "memory_search"); got != reads {
				t.Errorf("%s: got memory_search %t, want %t, as it may read: %s", name, got, reads, text)
			}
			if got := strings.Contains(text, "memory_load_family") || strings.Contains(text, "memory_capabilities"); got != (families && reads) {
				t.Errorf("%s: got families %t, want %t: %s", name, got, !got, text)
			}
			offered := s.offer(session, Session{Rights: session.Rights}.begin(manyCalls), false) // the profile operation calls them all
			for _, each := range named.FindAllString(text, -1) {
				if !slices.ContainsFunc(offered, func(t protocol.Tool) bool { return t.Name == each }) {
					t.Errorf("%s: got %s, want tools of its list: %s", name, each, text)
				}
			}
		}
	}
}

func TestInstructionsBeginWithAWholeThought(t *testing.T) {
	s := newServer(t, Options{}, newFake())
	for name, session := range toldSessions() {
		text := s.instructions(session)
		opening := text[:min(len(text), longestOpening)]
		end := strings.LastIndex(opening, ".") + 1
		if text == "" && !session.Rights.ReadsAnything() {
			continue
		}
		if end == 0 || !utf8.ValidString(opening) {
			t.Fatalf("%s: got no sentence in %q", name, opening)
		}
		for _, tool := range []string{"memory_search", "memory_store"} {
			if strings.Contains(text, tool) && !strings.Contains(opening[:end], tool) {
				t.Errorf("%s: got %q, want %s in the sentences of the first %d characters", name, opening[:end], tool, longestOpening)
			}
		}
	}
}

// TestASessionIsToldItsInstructions asks over HTTP and over a connection, in both eras of the protocol.
func TestASessionIsToldItsInstructions(t *testing.T) {
	const begin = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
		`"clientInfo":{"name":"t","version":"1"}}}`
	const discover = `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + modernMeta + `}}`
	s := newServer(t, Options{}, newFake())
	for name, session := range toldSessions() {
		h := httptest.NewServer(as(session, s.Handler()))
		_, early := post(t, h.URL, begin, nil)
		_, modern := post(t, h.URL, discover, modernHeaders("server/discover", ""))
		for _, answer := range []string{early, modern} {
			if got, want := instructionsIn(t, answer), s.instructions(session); got != want {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
		}
		h.Close()
	}
	readOnly := newServer(t, Options{ReadOnly: true})
	got := instructionsIn(t, connect(t, readOnly, owner()).request("server/discover", `{`+modernMeta+`}`))
	if got == "" || strings.Contains(got, "memory_store") {
		t.Errorf("a read-only server: got %q, want instructions without memory_store", got)
	}
}

func instructionsIn(t *testing.T, answer string) string {
	t.Helper()
	var result struct {
		Result struct {
			Instructions string `json:"instructions"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(answer), &result); err != nil {
		t.Fatalf("initialize: got %s, want a result: %v", answer, err)
	}
	return result.Result.Instructions
}
