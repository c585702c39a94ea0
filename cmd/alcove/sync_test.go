//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// offline is a machine with a memory of its own, and a file with a key of the team's server.
func (s *team) offline() (m machine, hub []string) {
	s.t.Helper()
	secret, _ := s.key("--agent", "ann", "--namespaces", "*", "--rights", "read,write,family:*")
	m = s.machine("")
	m.env = strings.Split(strings.Join(m.env[:5], "\n")+"\nALCOVE_DATA="+filepath.Join(m.home, "memory")+"\nALCOVE_LISTEN=off", "\n")
	file := filepath.Join(m.home, "hub.key")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		s.t.Fatalf("write a key: %v", err)
	}
	s.t.Cleanup(func() { m.program("stop").Run() }) //nolint:errcheck // it may not run
	return m, []string{"https://" + s.near(), "--key-file", file, "--ca-file", s.files.Cert}
}

// chain is the id of the one log that a machine has from another.
func (m machine) chain(t *testing.T) string {
	t.Helper()
	text, err := m.program("log", "--chains", "--json").Output()
	var list struct{ Results []struct{ Chain string } }
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil || len(list.Results) != 1 {
		t.Fatalf("the logs of others are %s, %v, want one", text, err)
	}
	return list.Results[0].Chain
}

func TestTwoMachinesHaveTheSameMemoryByAServer(t *testing.T) {
	t.Parallel()
	s := newTeam(t)
	ann, hub := s.offline()
	ann.runs(0, "stored tea", "store", "tea", "oolong")
	ann.runs(0, "stored plan", "store", "plan", "under the bridge", "--namespace", "project/secret")
	ann.runs(3, "there is none yet", "sync")
	ann.runs(0, "alcove sync hub", append([]string{"remote", "add", "hub", "--never", "project/secret"}, hub...)...)
	ann.runs(0, "never project/secret", "remote", "list")
	ann.runs(0, "to pull 0, to push 1", "remote", "status")
	ann.runs(0, "logged deployed", "log", "deployed", "1.4", "--agent", "ann")
	ann.runs(0, "thm:", "call", "memory_create_theme", `{"name": "bridges", "description": "what crosses rivers"}`)
	ann.runs(0, "pushed 1 memory\n  and 1 record of families\n", "sync")

	bob, hub := s.offline()
	bob.runs(0, "pulled 1 memory", append([]string{"clone"}, hub...)...)
	bob.runs(2, "is not empty", append([]string{"clone"}, hub...)...)
	bob.runs(0, "what crosses rivers", "call", "memory_search_themes", `{"query": "bridges"}`)
	bob.runs(0, "1 event from", "log", "--chains")
	bob.runs(0, ", whole", "log", "--chains")
	bob.runs(0, "there is nothing to list", "log", "--list")
	bob.runs(3, "it has those of ", "log", "--chain", "nowhere")
	bob.runs(0, "#1 deployed", "log", "--chain", bob.chain(t), "--agent", "ann")
	bob.runs(0, "there is nothing to list", "log", "--chain", bob.chain(t), "--agent", "bob")
	bob.runs(0, "oolong", "recall", "tea")
	bob.runs(3, "there is no memory", "recall", "plan", "--namespace", "project/secret")
	bob.runs(0, "stored tea", "store", "tea", "assam")
	bob.runs(0, "pushed 1 memory", "push", "origin")
	ann.runs(0, "stored tea", "store", "tea", "darjeeling")
	ann.runs(0, "pulled 1 memory, 1 changed on both sides\n  default#tea  kept ours\npushed 1 memory\n", "sync", "hub")
	bob.runs(0, `"taken": 1`, "pull", "--json")
	bob.runs(0, "darjeeling", "recall", "tea")
	bob.runs(2, "is not one of newest", "pull", "--strategy", "luck")
	bob.runs(0, "", "remote", "remove", "origin")
	bob.runs(3, "there is no remote", "pull", "origin")

	carol, hub := s.offline()
	carol.runs(0, "older versions", append([]string{"clone", "--history", "all"}, hub...)...)
	carol.runs(0, "history all", "remote", "list")
	carol.runs(0, "oolong", "history", "tea")
	carol.runs(0, " from ", "history", "tea")
	carol.runs(0, `"elsewhere"`, "history", "tea", "--json")
	carol.runs(0, "", "remote", "set", "origin", "--history", "newest")
	carol.runs(2, "say what to change", "remote", "set", "origin")
	carol.runs(2, "is not one of all, newest", "remote", "set", "origin", "--history", "luck")
	carol.runs(3, "there is no remote", "remote", "set", "hub", "--history", "all")
}
