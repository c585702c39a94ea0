//go:build guests

// Package console drives the console in a real browser, on servers of every kind.
package console

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/nodejs"
	"github.com/alcove-memory/alcove/host/testing/server"
)

func TestMain(m *testing.M) { os.Exit(server.Main(m, server.Child{})) }

// given is what scenarios are told of a server.
type given struct {
	Address string            `json:"address"`
	Browser string            `json:"browser"`
	Admin   string            `json:"admin,omitempty"` // the socket that issues tickets; empty: the login is by key
	Key     string            `json:"key,omitempty"`
	Keys    map[string]string `json:"keys,omitempty"`    // secrets by the names of agents
	Control string            `json:"control,omitempty"` // where the test takes orders: POST /restart
	Facts   any               `json:"facts,omitempty"`
}

func TestSessions(t *testing.T) {
	s := started(t)
	g := asOperator(t, s)
	g.Keys = map[string]string{"ann": s.Issue("ann", server.EveryRight, "work").Secret}
	scenarios(t, "session", g)
}

func TestScreensWithoutMemories(t *testing.T) {
	scenarios(t, "screens", asOperator(t, started(t)))
}

func TestScreensOfAKey(t *testing.T) {
	s := filled(t)
	scenarios(t, "screens", given{Address: s.URL(), Browser: browser(t), Key: s.Issue("ann", server.EveryRight, "work").Secret})
}

func TestScreensWithMemories(t *testing.T) {
	scenarios(t, "screens", asOperator(t, filled(t)))
}

func TestFamilies(t *testing.T) {
	s := started(t)
	if _, err := operator.Call(t.Context(), s.Acts, operator.SetPosture, operator.PostureRequest{Posture: operator.Personal}); err != nil {
		t.Fatal(err)
	}
	scenarios(t, "families", asOperator(t, s))
}

func TestOperators(t *testing.T) {
	s := filled(t)
	g := asOperator(t, s)
	g.Keys = map[string]string{"reader": s.Issue("reader", []operator.Right{"read"}, "work").Secret}
	scenarios(t, "operator", g)
}

func TestWhatOperatorsKeep(t *testing.T) {
	g := asOperator(t, filled(t))
	g.Facts = map[string]string{"embedder": embedder(t)}
	scenarios(t, "keeping", g)
}

// embedder is the address of a server that speaks as Ollama does, and has vectors of three dimensions.
func embedder(t *testing.T) string {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/embed", func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer := struct {
			Embeddings [][]float32 `json:"embeddings"`
		}{}
		for _, text := range asked.Input {
			answer.Embeddings = append(answer.Embeddings, []float32{1, float32(len(text)%7) / 7, float32(len(text)%5) / 5})
		}
		json.NewEncoder(w).Encode(answer) // a client that left needs none
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

func TestCheckpointsAndRooms(t *testing.T) {
	s := started(t)
	ann, bob := s.Issue("ann", server.EveryRight, "work"), s.Issue("bob", server.EveryRight, "work")
	a, b := s.Agent(ann, owner.Hello{}), s.Agent(bob, owner.Hello{})
	for key, text := range map[string]string{"plan": "three cranes", "pier": "a pier of wood", "buoy": "the buoy is red"} {
		a.Ask("memory_store", map[string]any{"key": key, "value": text, "type": "decision", "tags": []string{"harbour"}, "importance": .9}, nil)
	}
	a.Ask("memory_save_checkpoint", map[string]any{"name": "before the storm", "summary": "All is moored."}, nil)
	b.Ask("memory_store", map[string]any{"key": "plan", "value": "four cranes", "type": "decision"}, nil)
	b.Ask("memory_forget", map[string]any{"key": "buoy"}, nil)
	a.Ask("memory_say", map[string]any{"message": "The storm is near."}, nil)
	b.Ask("memory_say", map[string]any{"message": "I see to the ropes."}, nil)
	g := asOperator(t, s)
	g.Keys = map[string]string{"bob": bob.Secret, "reader": s.Issue("reader", []operator.Right{"read", "family:*"}, "work").Secret}
	scenarios(t, "work", g)
}

func TestALockedServer(t *testing.T) {
	s := started(t)
	if _, err := operator.Query(t.Context(), s.Acts, operator.LockDirectory); err != nil {
		t.Fatal(err)
	}
	scenarios(t, "locked", asOperator(t, s))
}

// started is a server with the families that the program carries.
func started(t testing.TB) *server.Server {
	t.Helper()
	nodejs.Install(t, "console")
	return server.Carrying(t, host.Options{})
}

// asOperator is what the scenarios of an operator are told.
func asOperator(t testing.TB, s *server.Server) given {
	t.Helper()
	return given{Address: s.URL(), Browser: browser(t), Admin: s.At.Admin}
}

// filled is a server with what two agents stored.
func filled(t *testing.T) *server.Server {
	t.Helper()
	s := started(t)
	for _, agent := range []string{"ann", "bob"} {
		a := s.Agent(s.Issue(agent, server.EveryRight, "work"), owner.Hello{})
		for i := range 30 {
			a.Ask("memory_store", map[string]any{"key": fmt.Sprintf("%s/note/%d", agent, i), "value": fmt.Sprintf("%s notes that step %d of the harbour plan is done", agent, i),
				"tags": []string{"harbour", agent}, "type": "observation"}, nil)
		}
		a.Ask("memory_store", map[string]any{"key": "plan", "value": map[string]any{"owner": agent, "steps": []string{"survey", "dredge", "build"}}, "type": "decision", "importance": .9}, nil)
	}
	return s
}

// scenarios runs those of a file, and returns what they print.
func scenarios(t testing.TB, file string, g given) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		nodejs.Lacking(t, "the browser is driven by Node.js: %v", err)
	}
	facts, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
	defer cancel()
	c := exec.CommandContext(ctx, node, "run.mjs", file)
	c.Env = append(os.Environ(), "CONSOLE="+string(facts))
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("the scenarios of %s: %v\n%s", file, err, out)
	} else {
		t.Logf("%s", out)
	}
	return string(out)
}

// browser is the browser of this machine.
func browser(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	nodejs.Lacking(t, "there is no Chromium, which opens the console: apt-get install chromium")
	return ""
}
