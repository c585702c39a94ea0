package core

import (
	"strings"
	"testing"
)

func TestADryRunOfEveryToolThatWritesWritesNothing(t *testing.T) {
	u := newUser(t)
	u.must("memory_store", `{"key":"k","value":1}`)
	u.must("memory_branch", `{"action":"fork","name":"side"}`)
	u.must("memory_store", `{"key":"k","value":2,"branch":"side"}`)
	before := u.version()
	for _, c := range [][3]string{
		{"memory_store", `{"key":"k","value":3,"dry_run":true}`, `"store":[{"key":"k","replaces_version":`},
		{"memory_store", `{"items":[{"value":3},{"key":"new","value":4}],"DryRun":"true"}`, `{"key":"derived from the value"},{"key":"new"}`},
		{"memory_forget", `{"key":["k","none"],"dry_run":true}`, `"forget":["k"]`},
		{"memory_forget", `{"key":"k","archive":true,"dry_run":true}`, `"forget":["k"]`},
		{"memory_log", `{"event":"e","data":1,"dry_run":true}`, `"event":"e"`},
		{"memory_branch", `{"action":"create","name":"b","dry_run":true}`, `"action":"create"`},
		{"memory_branch", `{"action":"fork","name":"b","dry_run":true}`, `"action":"fork"`},
		{"memory_branch", `{"action":"delete","name":"side","dry_run":true}`, `"action":"delete"`},
		{"memory_branch", `{"action":"merge","source":"side","dry_run":true}`, `"preview":true`},
		{"memory_branch", `{"action":"switch","name":"side","dry_run":true}`, `"action":"switch"`},
		{"memory_operation", `{"method":"memory_store","params":{"key":"k","value":3},"dry_run":true}`, `"dry_run":true`},
		{"memory_operation", `{"method":"memory_store","params":{"key":"k","value":3,"dry_run":true}}`, `"replaces_version"`},
	} {
		if got, _ := u.must(c[0], c[1]); !strings.Contains(got, c[2]) {
			t.Errorf("%s %s is answered with %s", c[0], c[1], got)
		}
	}
	if now := u.version(); now != before {
		t.Errorf("version %d became %d", before, now)
	}
	if branch, _ := u.session.At(); branch != "default" {
		t.Errorf("the session moved to %s", branch)
	}
}

func TestADryRunFailsAsTheCallWould(t *testing.T) {
	u := newUser(t)
	u.must("memory_store", `{"key":"k","value":1}`)
	long := strings.Repeat("x", 2000)
	for _, c := range [][2]string{
		{"memory_store", `{"key":"` + long + `","value":1}`}, {"memory_store", `{"key":"k","value":1,"type":"` + long + `"}`}, {"memory_store", `{"key":"k","value":1,"if_version":0}`},
		{"memory_store", `{"key":"k","value":1,"branch":"none"}`}, {"memory_store", `{"key":"k","value":1,"namespace":"no name"}`}, {"memory_log", `{"event":"` + long + `","data":1}`},
		{"memory_log", `{"event":"e","data":1,"branch":"none"}`}, {"memory_forget", `{"key":"` + long + `"}`}, {"memory_branch", `{"action":"fork","name":"default"}`},
		{"memory_branch", `{"action":"fork","name":"b","source":"none"}`}, {"memory_branch", `{"action":"create","name":"no name"}`}, {"memory_branch", `{"action":"delete","name":"none"}`},
		{"memory_branch", `{"action":"delete"}`},
	} {
		dry := strings.Replace(c[1], "{", `{"dry_run":true,`, 1)
		if u.refused(c[0], dry) == "" || u.refused(c[0], c[1]) == "" {
			t.Errorf("%s %.60s", c[0], c[1])
		}
	}
}
