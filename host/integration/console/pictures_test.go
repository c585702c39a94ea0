//go:build guests

package console

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// TestPictures takes the pictures of the documentation, as make console-pictures asks for.
func TestPictures(t *testing.T) {
	dir := os.Getenv("ALCOVE_PICTURES")
	if dir == "" {
		t.Skip("pictures are taken where ALCOVE_PICTURES names a folder for them")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := started(t)
	project(t, s)
	g := asOperator(t, s)
	g.Facts = map[string]string{"dir": dir}
	scenarios(t, "pictures", g)
}

// project is what agents know of a small project.
func project(t *testing.T, s *server.Server) {
	t.Helper()
	ann := s.Agent(s.Issue("ann", server.EveryRight, "*"), owner.Hello{})
	bob := s.Agent(s.Issue("bob", server.EveryRight, "*"), owner.Hello{})
	for i, m := range []map[string]any{
		{"key": "deploy/when", "value": "We deploy on Tuesdays, once the smoke tests have passed", "type": "procedure", "tags": []string{"deploy"}},
		{"key": "deploy/rollback", "value": "A rollback is `make rollback`; it takes four minutes", "type": "procedure", "tags": []string{"deploy"}},
		{"key": "db/engine", "value": map[string]any{"engine": "PostgreSQL 15", "because": "row level security for each tenant"}, "type": "decision", "tags": []string{"database"}, "importance": .9},
		{"key": "db/pool", "value": "The pool of connections has 20; more made the primary slower", "type": "learning", "tags": []string{"database", "performance"}},
		{"key": "people/ada", "value": "Ada owns billing, and reads pull requests in the morning", "type": "observation", "tags": []string{"people"}},
		{"key": "people/grace", "value": "Grace is on call in December", "type": "observation", "tags": []string{"people"}},
		{"key": "style/errors", "value": "Errors say what was attempted, and what to do next", "type": "preference", "tags": []string{"style"}},
		{"key": "incident/0412", "value": "The queue was full because a consumer had no timeout; every client has one now", "type": "learning", "tags": []string{"incident"}, "importance": .8},
		{"key": "deploy/when", "value": "We deploy on Wednesdays, once the smoke tests have passed", "type": "procedure", "tags": []string{"deploy"}},
		{"key": "api/limits", "value": "The API takes 50 requests a second for each key", "type": "decision", "tags": []string{"api"}},
	} {
		agent := ann
		if i%3 == 2 {
			agent = bob
		}
		agent.Ask("memory_store", m, nil)
	}
	ann.Ask("memory_branch", map[string]any{"action": "fork", "name": "try/sqlite"}, nil)
	ann.Ask("memory_store", map[string]any{"key": "db/engine", "value": map[string]any{"engine": "SQLite", "because": "one file, one machine"}, "type": "decision", "branch": "try/sqlite"}, nil)
	bob.Ask("memory_branch", map[string]any{"action": "fork", "name": "review/limits"}, nil)
	bob.Ask("memory_store", map[string]any{"key": "api/limits", "value": "The API takes 80 requests a second for each key", "type": "decision", "branch": "review/limits"}, nil)
	ann.Ask("memory_branch", map[string]any{"action": "merge", "source": "review/limits"}, nil)
	names := map[string]string{"billing": "project", "app": "project", "ada": "person", "grace": "person", "postgres": "tool", "queue": "tool", "acme": "company", "tenants": "concept"}
	for id, kind := range names {
		ann.Ask("memory_link_entity", map[string]any{"entityId": id, "name": id, "type": kind}, nil)
	}
	for _, l := range [][3]string{
		{"ada", "billing", "works_with"}, {"grace", "app", "works_with"}, {"app", "postgres", "depends_on"}, {"app", "queue", "depends_on"}, {"billing", "app", "part_of"},
		{"app", "acme", "part_of"}, {"db/engine", "postgres", "related_to"}, {"incident/0412", "queue", "related_to"}, {"tenants", "postgres", "depends_on"}, {"people/ada", "ada", "related_to"},
	} {
		ann.Ask("memory_link", map[string]any{"source_id": l[0], "target_id": l[1], "relation": l[2]}, nil)
	}
	for i, said := range [][2]string{
		{"user", "The nightly job fails since yesterday. Can you find out why?"}, {"assistant", "I look at the log of the last run."}, {"tool", "Bash: journalctl -u nightly --since yesterday (ok)"},
		{"assistant", "The job waits for a connection until its deadline: the pool has 20 connections, and the report holds 18 of them."}, {"user", "Then let the report use the replica."},
		{"tool", "Edit: reports/config.yaml"}, {"assistant", "Done: the report reads from the replica now. I keep that the pool must not grow beyond 20."},
	} {
		at := []string{"10:00:00", "10:00:08", "10:00:15", "10:00:31", "10:02:10", "10:02:40", "10:02:55"}[i]
		turn(t, s, "claude-code/s1/m"+string(rune('0'+i)), said[1], map[string]any{"client": "claude-code", "session": "s1", "seq": i, "speaker": said[0], "ts": "2026-11-02T" + at + "Z", "folder": "/home/ann/app", "git_branch": "main"})
	}
	ann.Ask("memory_save_checkpoint", map[string]any{"name": "before the release", "summary": "The report reads from the replica; the pool stays at 20.", "namespace": "project/acme/app"}, nil)
	ann.Ask("memory_save_checkpoint", map[string]any{"name": "billing is moved"}, nil)
	ann.Ask("memory_say", map[string]any{"message": "I take the nightly job; please leave reports/config.yaml alone until noon."}, nil)
	ann.Ask("memory_store", map[string]any{"key": "deploy/when", "value": "We deploy on Thursdays, once the smoke tests have passed", "type": "procedure", "tags": []string{"deploy"}}, nil)
	bob.Ask("memory_say", map[string]any{"message": "Fine. I look at the invoices meanwhile, and tell you when the replica is back."}, nil)
	ann.Ask("memory_say", map[string]any{"message": "The job runs again: it reads from the replica."}, nil)
}
