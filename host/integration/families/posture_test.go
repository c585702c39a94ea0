//go:build guests

package families_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/host/testing/testclock"
	"github.com/alcove-memory/alcove/registry"
	"github.com/alcove-memory/alcove/sdk/client"
)

// fresh is a client of a server in a new directory with a posture, where no operator granted anything.
type fresh struct {
	*server.Server
	c *client.Session
}

func startFresh(t testing.TB, posture registry.Posture, clock *testclock.Clock) fresh {
	t.Helper()
	o := host.Options{Posture: posture}
	if clock != nil {
		o.Clock = clock.Now
	}
	s := server.Carrying(t, o)
	c, err := s.Connect(owner.Hello{Agent: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	return fresh{s, c}
}

// done calls a tool, whose answer has a text in it and is no error and no proposal.
func (f fresh) done(want, tool string, arguments map[string]any) string {
	f.T.Helper()
	text := server.AnswerText(f.c, tool, arguments)
	if strings.HasPrefix(text, "error: ") || strings.Contains(text, `"applied":false`) || !strings.Contains(text, want) {
		f.T.Errorf("%s %v: got %s, want it done, with %q", tool, arguments, text, want)
	}
	return text
}

func (f fresh) fact(content string, more map[string]any) string {
	f.T.Helper()
	arguments := map[string]any{"content": content}
	for name, v := range more {
		arguments[name] = v
	}
	return server.Answered[struct{ FactID string }](f.T, f.c, "memory_store_fact", arguments).FactID
}

func TestInANewDirectoryToolsDoWhatTheySayWithoutAGrant(t *testing.T) {
	f := startFresh(t, registry.Personal, nil)
	ids := []string{f.fact("The outbox has 3 workers", nil), f.fact("Three workers serve the outbox", nil), f.fact("Lunch is at noon", nil), f.fact("The old gate is closed", nil)}
	f.done("", "memory_mark_facts_merged", map[string]any{"sourceFactIds": ids[1:2], "targetFactId": ids[0]})
	f.done("", "memory_archive_fact", map[string]any{"factId": ids[2]})
	f.done(`"archived":1`, "memory_forget_matching", map[string]any{"pattern": "*gate*", "dry_run": false})
	if list := f.done("Lunch", "memory_archive_list", nil); !strings.Contains(list, "gate") {
		t.Errorf("archived are %s, want the gate, too", list)
	}
	f.done("", "memory_migration_report", nil)
	f.done(`"queued":0`, "memory_regenerate_vectors", nil) // the built-in embedder has none to make again
	if text := f.done("export", "memory_vault_sync", nil); !strings.Contains(text, "outbox") {
		t.Errorf("memory_vault_sync without a directory: got %.200s, want the files in the answer", text)
	}
	vault := t.TempDir()
	if _, err := operator.Call(t.Context(), f.Acts, operator.SetRoot, operator.RootRequest{Name: "vault", Root: &operator.Root{Dir: vault}}); err != nil {
		t.Fatal(err)
	}
	f.done("export", "memory_vault_sync", nil)
	f.done("export", "memory_vault_sync", map[string]any{"direction": "export"})
}

func TestInANewDirectoryFactsAreEnriched(t *testing.T) {
	f := startFresh(t, registry.Personal, nil)
	if text := server.AnswerText(f.c, "memory_store", map[string]any{"key": "rule", "type": "decision", "value": "We never deploy on Fridays"}); strings.HasPrefix(text, "error") {
		t.Fatalf("store a decision: got %s, want no error", text)
	}
	await.That(t, "the fact is classified", func() bool {
		text := strings.ReplaceAll(server.AnswerText(f.c, "memory_get_enrichment_status", map[string]any{"factId": "rule"}), " ", "")
		return strings.Contains(text, `"step":"classification","state":"done"`)
	})
}

func TestInANewDirectoryTheDailyJobForgets(t *testing.T) {
	now := testclock.At(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
	f := startFresh(t, registry.Personal, now)
	old := f.fact("Limit is 20", map[string]any{"importance": 0.1})
	f.fact("Limit is 40", map[string]any{"supersedes": old, "importance": 0.9})
	now.Add(400 * 24 * time.Hour)
	if _, err := operator.Call(t.Context(), f.Acts, operator.RunFamilyJob, operator.FamilyJobName{Family: "lifecycle", Job: "decay"}); err != nil {
		t.Fatal(err)
	}
	await.That(t, "the superseded fact is archived", func() bool {
		return strings.Contains(server.AnswerText(f.c, "memory_archive_list", nil), "Limit is 20")
	})
}

func TestCarefulFamiliesSayThatTheyOnlyProposed(t *testing.T) {
	f := startFresh(t, registry.Careful, nil)
	id := f.fact("Lunch is at noon", nil)
	r, err := f.c.Call(t.Context(), "memory_archive_fact", map[string]any{"factId": id})
	if err != nil {
		t.Fatal(err)
	}
	for form, text := range map[string]string{"text": r.Text, "structured": string(r.Structured)} {
		if !strings.Contains(text, `"applied":false`) || !strings.Contains(text, `"proposal":"proposals/lifecycle/`) {
			t.Errorf("%s is %s, want that nothing was applied, and the branch", form, text)
		}
	}
	if text := server.AnswerText(f.c, "memory_regenerate_vectors", nil); !strings.Contains(text, "embed.rebuild") {
		t.Errorf("careful: got %s, want a refusal that names embed.rebuild", text)
	}
}

func TestCarefulFamiliesSayThatAHookIsOff(t *testing.T) {
	f := startFresh(t, registry.Careful, nil)
	f.done("", "memory_store", map[string]any{"key": "rule", "value": "Changes wait for a person"})
	for tool, c := range map[string]struct {
		arguments map[string]any
		says      []string
	}{
		"memory_namespace_set_standard": {map[string]any{"namespace": "default", "id": "rule", "governance": map[string]any{"write": "approve"}},
			[]string{`"enforced":false`, "alcove family grant governance records.read --hook store,stored"}},
		"memory_verify":          {map[string]any{"id": "rule"}, []string{`"verified":false`, "alcove family grant governance --hook stored"}},
		"memory_explain_ranking": {map[string]any{"query": "changes"}, []string{"alcove family grant ranking --hook rank"}},
		"memory_rank_feedback":   {map[string]any{"query": "changes", "useful": []string{"rule"}}, []string{"alcove family grant ranking --hook rank"}},
	} {
		r, err := f.c.Call(t.Context(), tool, c.arguments)
		if err != nil {
			t.Fatal(err)
		}
		for form, text := range map[string]string{"text": r.Text, "structured": string(r.Structured)} {
			for _, want := range c.says {
				if !strings.Contains(text, want) {
					t.Errorf("%s: the %s is %s, want it with %s", tool, form, text, want)
				}
			}
		}
	}
}

// proposed calls a tool whose writes are held back, and returns their branch.
func (f fresh) proposed(tool string, arguments map[string]any) string {
	f.T.Helper()
	r, err := f.c.Call(f.T.Context(), tool, arguments)
	if err != nil {
		f.T.Fatal(err)
	}
	var answer struct{ Proposal string }
	if err := json.Unmarshal(r.Structured, &answer); err != nil || answer.Proposal == "" {
		f.T.Fatalf("%s %v: got %s, want the branch of a proposal (%v)", tool, arguments, r.Structured, err)
	}
	return answer.Proposal
}

// TestAPersonMergesTheProposalsThatWereSeen has two calls gather on one branch, of which a merge takes what its author was shown, and no more.
func TestAPersonMergesTheProposalsThatWereSeen(t *testing.T) {
	f := startFresh(t, registry.Careful, nil)
	var branch string
	propose := func(content string) string {
		id := f.fact(content, nil)
		on := f.proposed("memory_archive_fact", map[string]any{"factId": id})
		if branch != "" && on != branch {
			t.Errorf("%s: proposed on %q, want it beside the other on %q", content, on, branch)
		}
		branch = on
		return id
	}
	lunch, gate := propose("Lunch is at noon"), propose("The gate is closed")
	merge := func(seen uint64) string {
		arguments := map[string]any{"action": "merge", "source": branch, "target": "default"}
		if seen > 0 {
			arguments["seen"] = seen
		}
		return server.AnswerText(f.c, "memory_branch", arguments)
	}
	diff := func() uint64 {
		return server.Answered[struct{ Seen uint64 }](t, f.c, "memory_branch", map[string]any{"action": "diff", "name": "default", "compare": branch}).Seen
	}
	if text := merge(0); !strings.HasPrefix(text, "error: ") || !strings.Contains(text, "seen") {
		t.Errorf("a merge of what several calls proposed, without seen: got %s, want an error that names seen", text)
	}
	seen := diff()
	tower := propose("The tower is open")
	if text := merge(seen); !strings.HasPrefix(text, "error: ") {
		t.Errorf("a merge behind a further proposal: got %s, want an error", text)
	}
	for _, id := range []string{lunch, gate, tower} {
		if text := server.AnswerText(f.c, "memory_recall", map[string]any{"key": id}); strings.Contains(text, "archived") {
			t.Errorf("before the merge %s is %s, want it active", id, text)
		}
	}
	if text := merge(diff()); !strings.Contains(text, `"merged":true`) {
		t.Errorf("a merge of what was seen: got %s, want it merged", text)
	}
	list := server.AnswerText(f.c, "memory_archive_list", nil)
	for _, content := range []string{"Lunch", "gate", "tower"} {
		if !strings.Contains(list, content) {
			t.Errorf("archived are %s, want %s among them", list, content)
		}
	}
	if next := f.proposed("memory_archive_fact", map[string]any{"factId": f.fact("The well is deep", nil)}); next == branch {
		t.Errorf("behind the merge the family proposes on %q, want a new branch", next)
	}
}

func TestInANewDirectoryARuleHoldsAndSaysWhatItHeldBack(t *testing.T) {
	f := startFresh(t, registry.Personal, nil)
	f.done("", "memory_store", map[string]any{"key": "rule", "value": "Changes wait for a person"})
	if text := server.AnswerText(f.c, "memory_verify", map[string]any{"id": "rule"}); !strings.Contains(text, "nothing was checked") || !strings.Contains(text, "seal_always") {
		t.Errorf("verify without a rule: got %s, want that nothing was checked, and why", text)
	}
	f.done("", "memory_namespace_set_standard", map[string]any{"namespace": "default", "id": "rule", "governance": map[string]any{"write": "approve", "delete": "approve"}})
	for tool, arguments := range map[string]map[string]any{"memory_forget": {"key": "rule"}, "memory_store": {"key": "other", "value": 1}} {
		r, err := f.c.Call(t.Context(), tool, arguments)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(r.Structured); !strings.Contains(got, `"applied":false`) || !strings.Contains(got, `"proposal":"proposals/governance/`) || strings.Contains(got, `"deleted":true`) {
			t.Errorf("%s: got %s, want that nothing was applied, and the branch", tool, got)
		}
	}
	f.done("Changes wait", "memory_recall", map[string]any{"key": "rule"})
}

func TestInANewDirectoryATypedMemoryHasOneVersion(t *testing.T) {
	f := startFresh(t, registry.Personal, nil)
	var version uint64
	await.That(t, "facts is loaded", func() bool {
		version = server.Answered[struct{ Version uint64 }](t, f.c, "memory_store", map[string]any{"key": "warm", "type": "decision", "value": "We use Go"}).Version
		return strings.Contains(server.AnswerText(f.c, "memory_recall", map[string]any{"key": "warm"}), "observationTier")
	})
	version = server.Answered[struct{ Version uint64 }](t, f.c, "memory_store", map[string]any{"key": "rule", "type": "decision", "value": "We never deploy on Fridays"}).Version
	for i := range 3 {
		version = server.Answered[struct{ Version uint64 }](t, f.c, "memory_store", map[string]any{"key": "rule", "type": "decision", "value": i, "if_version": version}).Version
	}
}
