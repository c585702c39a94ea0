//go:build guests

package families_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/guests"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/host/testing/testclock"
	"github.com/alcove-memory/alcove/registry"
	"github.com/alcove-memory/alcove/sdk/client"
)

// writeCall is a call of a tool that may write, in a namespace of its own, and what becomes of it: "applies", "proposes", or the text of an
// error.
type writeCall struct {
	toolCall
	Before, Late   []toolCall // calls that it needs: those before a rule is set, and those after
	Hours          int        // that pass after these
	Careful, Ruled string     // in the posture careful, and where each change waits for approval, too
}

// toolCall is a call by an agent, ann unless it says another.
type toolCall struct {
	As, Tool  string
	Arguments map[string]any
}

// writeCalls reads testdata/writes.jsonl.
func writeCalls(t *testing.T) (calls []writeCall) {
	t.Helper()
	file, err := os.Open("testdata/writes.jsonl")
	must.Do(t, err)
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var c writeCall
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("read %s: %v", lines.Bytes(), err)
		}
		calls = append(calls, c)
	}
	return calls
}

// writer makes the calls of one row, each agent in a session of its own.
type writer struct {
	fresh
	namespace string
	ids       rowIDs
	sessions  map[string]*client.Session
}

func (f fresh) grant(family string, g registry.Grant) {
	f.T.Helper()
	r := operator.GrantRequest{Family: family, Capabilities: g.Capabilities, Hooks: g.Hooks}
	_, err := operator.Call(f.T.Context(), f.Acts, operator.GrantFamily, r)
	must.Do(f.T, err)
}

func (w *writer) as(agent string) *client.Session {
	w.T.Helper()
	if agent == "" {
		agent = "ann"
	}
	if w.sessions[agent] == nil {
		c, err := w.Connect(owner.Hello{Agent: agent, Namespace: w.namespace})
		must.Do(w.T, err)
		w.sessions[agent] = c
	}
	return w.sessions[agent]
}

func (w *writer) call(c toolCall) (client.ToolResult, error) {
	w.T.Helper()
	arguments, _ := w.ids.in(c.Arguments).(map[string]any)
	return w.as(c.As).Call(w.T.Context(), c.Tool, arguments)
}

// prepare makes calls whose ids later ones use. None of them fails.
func (w *writer) prepare(calls []toolCall) {
	w.T.Helper()
	for _, c := range calls {
		r, err := w.call(c)
		if err != nil {
			w.T.Fatalf("%s: prepare with %s: %v", w.namespace, c.Tool, err)
		}
		w.ids.keep(r.Text)
		var more struct {
			ID, Proposal string
			Pending      []struct{ ID string }
		}
		if json.NewDecoder(strings.NewReader(r.Text)).Decode(&more) != nil {
			continue
		}
		if more.ID != "" {
			w.ids["@id"] = more.ID
		}
		if more.Proposal != "" {
			w.ids["@proposal"] = more.Proposal
		}
		if len(more.Pending) > 0 {
			w.ids["@pending"] = more.Pending[0].ID
		}
	}
}

// jobOf is the job that a call started; empty: none.
func jobOf(r client.ToolResult) string {
	var started struct{ Job string }
	_ = json.Unmarshal(r.Structured, &started) // other answers have none
	return started.Job
}

// settle waits for a job, unless it is empty.
func (w *writer) settle(job string) {
	w.T.Helper()
	if job == "" {
		return
	}
	await.That(w.T, "the job "+job+" is done", func() bool {
		text := server.AnswerText(w.as(""), "memory_retag", map[string]any{"job": job})
		return strings.Contains(strings.ReplaceAll(text, " ", ""), `"state":"done"`)
	})
}

// rule has each change of the row's namespace wait until another agent approves it.
func (w *writer) rule() {
	w.T.Helper()
	rule := map[string]any{"write": "approve", "promote": "approve", "delete": "approve", "approver": map[string]any{"consensus": 1}}
	w.prepare([]toolCall{
		{"ruler", "memory_store", map[string]any{"key": "rule", "value": "Another looks at each change."}},
		{"ruler", "memory_namespace_set_standard", map[string]any{"namespace": w.namespace, "id": "rule", "governance": rule}},
	})
}

// concerns are the namespaces that the row's call may change: background jobs go on with those of earlier rows.
func (w *writer) concerns() []string { return []string{w.namespace, "team"} }

// all is the memory with the records of every family.
func (w *writer) all() *memory.Access {
	return server.Owner(w.Host, "").Showing(func(string) bool { return true })
}

// proposals are the branches that propose something for the row, with the version of each that more calls may add to.
func (w *writer) proposals() map[string]uint64 {
	w.T.Helper()
	found, access := map[string]uint64{}, w.all()
	branches, err := access.Branches(w.T.Context())
	must.Do(w.T, err)
	for _, b := range branches {
		if !strings.HasPrefix(b.Name, memory.Proposals) {
			continue
		}
		q := memory.DiffQuery{Source: b.Name, Target: memory.Default, SourceOnly: true, Namespaces: w.concerns()}
		d, err := access.Diff(w.T.Context(), q)
		must.Do(w.T, err)
		if len(d.Differences) > 0 {
			found[b.Name] = d.Seen
		}
	}
	return found
}

func (w *writer) isMemory(d memory.Difference) bool {
	return d.Collection == "" && d.Namespace == w.namespace
}

// check makes the row's call, and compares what it answers with what became of its changes. In a held namespace each change waits.
func (w *writer) check(c toolCall, want string, held bool) {
	w.T.Helper()
	access, pin := w.all(), "before/"+w.namespace
	_, err := access.Pin(w.T.Context(), memory.Default, pin, memory.AsOf{}, memory.Write{})
	must.Do(w.T, err)
	before := w.proposals()
	r, failed := w.call(c)
	job := jobOf(r)
	defer w.settle(job)
	var grown []string
	for name, seen := range w.proposals() {
		if job != "" {
			break // what its job proposes may be there already, and is not the call's
		}
		if was, there := before[name]; !there || was != seen {
			grown = append(grown, name)
		}
	}
	changed, err := access.Diff(w.T.Context(), memory.DiffQuery{Source: memory.Default, Target: pin, Namespaces: w.concerns()})
	must.Do(w.T, err)
	switch {
	case failed != nil:
		if !strings.Contains(failed.Error(), want) || len(grown) > 0 || len(changed.Differences) > 0 {
			w.T.Errorf("%s %v: got the error %v, want %s", c.Tool, c.Arguments, failed, want)
		}
	case len(grown) == 0:
		if want != "applies" || saysProposed(r, "") {
			w.T.Errorf("%s %v: got %s, and nothing was proposed, want %s", c.Tool, c.Arguments, r.Text, want)
		}
		if held && c.Tool != "memory_pending_approve" && slices.ContainsFunc(changed.Differences, w.isMemory) {
			w.T.Errorf("%s %v: got %s, and a memory changed where each change waits: %+v", c.Tool, c.Arguments, r.Text, changed.Differences)
		}
	case want != "proposes" || len(grown) > 1 || !saysProposed(r, grown[0]):
		w.T.Errorf("%s %v: got %s, structured %s, with changes on %v; want %s", c.Tool, c.Arguments, r.Text, r.Structured, grown, want)
	case len(changed.Differences) > 0:
		w.T.Errorf("%s %v: proposed, and %+v is on the main branch", c.Tool, c.Arguments, changed.Differences[0])
	}
}

// saysProposed reports whether an answer says, to the model and to the program, that nothing was applied, and where it is; an empty branch
// stands for any.
func saysProposed(r client.ToolResult, branch string) bool {
	for _, text := range []string{r.Text, string(r.Structured)} {
		var said struct {
			Applied  *bool
			Proposal string
		}
		if json.NewDecoder(strings.NewReader(text)).Decode(&said) != nil || said.Applied == nil || *said.Applied {
			return false
		}
		if said.Proposal == "" || branch != "" && said.Proposal != branch {
			return false
		}
	}
	return true
}

// TestEveryToolThatWritesSaysWhatItOnlyProposed makes the calls of testdata/writes.jsonl: at least one of each tool that may write, of each
// built-in family.
func TestEveryToolThatWritesSaysWhatItOnlyProposed(t *testing.T) {
	calls := writeCalls(t)
	for _, g := range guests.All() {
		m, err := abi.ParseManifest([]byte(g.Manifest))
		must.Do(t, err)
		for _, tool := range m.Tools {
			reads := tool.Annotations.ReadOnly != nil && *tool.Annotations.ReadOnly
			if !reads && !slices.ContainsFunc(calls, func(c writeCall) bool { return c.Tool == tool.Name }) {
				t.Errorf("testdata/writes.jsonl has no call of %s, a tool of %s that may write", tool.Name, m.Name)
			}
		}
	}
	for _, ruled := range []bool{false, true} {
		t.Run(fmt.Sprintf("ruled=%t", ruled), func(t *testing.T) {
			now := testclock.At(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
			f := startFresh(t, registry.Careful, now)
			hook := operator.EndpointRequest{Name: "hook", Endpoint: &operator.Endpoint{Kind: "http", URL: "http://127.0.0.1:1"}}
			must.Do(t, operator.Command(t.Context(), f.Acts, operator.SetEndpoint, hook))
			f.grant("events", registry.Grant{Capabilities: []registry.Capability{{Name: abi.CanHTTP, Scope: []string{"hook"}}}})
			if ruled {
				f.grant("governance", registry.Grant{
					Capabilities: []registry.Capability{{Name: abi.CanRecordsRead, Scope: []string{"developer", "graph"}}},
					Hooks:        map[abi.Hook]registry.On{abi.HookStore: {OnFailure: abi.OnFailureRefuse}},
				})
			}
			for i, c := range writeCalls(t) {
				w := &writer{f, fmt.Sprintf("team/row%d", i), rowIDs{}, map[string]*client.Session{}}
				w.ids["@namespace"] = w.namespace
				w.prepare(c.Before)
				want := c.Careful
				if ruled {
					w.rule()
					want = c.Ruled
				}
				w.prepare(c.Late)
				now.Add(time.Duration(c.Hours) * time.Hour)
				w.check(c.toolCall, want, ruled)
				for _, session := range w.sessions {
					session.Close()
				}
			}
		})
	}
}
