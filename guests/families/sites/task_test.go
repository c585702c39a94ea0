package sites_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/testing/must"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

type spawned struct {
	AgentSlug, Namespace, ExpiresAt, Key, Agent string
	Tools                                       []string
}

type ended struct {
	Extracted   int
	BackupUntil string
}

func spawn(t *testing.T, s *alcovetest.Space, more args) spawned {
	t.Helper()
	given := args{"siteSlug": "anwe-sh", "taskDescription": "Write a post about tea.", "agentType": "writer"}
	for name, v := range more {
		given[name] = v
	}
	return call[spawned](t, s, "ora.agent.spawn", given)
}

// as has a temporary agent call.
func as(s *alcovetest.Space, agent spawned, do func()) {
	s.Caller, s.Write, s.Read = agent.Agent, []string{agent.Namespace}, []string{}
	do()
	s.Caller, s.Write, s.Read = "tester", nil, nil
}

func TestATaskLeavesWhatMattersAndItsBackupEnds(t *testing.T) {
	s, f := open(t)
	connect(t, s)
	agent := spawn(t, s, args{"expiresInMinutes": 60})
	slug := fmt.Sprintf("task-%d", s.Now.Unix())
	if agent.AgentSlug != slug || agent.Namespace != "site/anwe-sh/"+slug || agent.Agent != "tester/anwe-sh."+slug || agent.Key == "" || len(agent.Tools) != 7 || agent.ExpiresAt != "2026-06-01T13:00:00Z" {
		t.Errorf("spawned %+v", agent)
	}
	var first string
	as(s, agent, func() {
		first = call[struct{ ID string }](t, s, "anwe-sh.memory.store", args{"content": "The owner wants tea posts weekly", "importance": 8}).ID
		call[any](t, s, "anwe-sh.memory.store", args{"content": "The button is blue", "importance": 5})
		call[any](t, s, "anwe-sh.posts.publish", args{"id": "1"})
		refused(t, s, alcove.NotFound, "memory_site_status", args{"slug": "anwe-sh"})
		refused(t, s, alcove.NotFound, "memory_agent_complete", args{"siteSlug": "anwe-sh", "agentSlug": slug})
		refused(t, s, alcove.NotFound, "memory_agent_spawn", args{"siteSlug": "anwe-sh", "taskDescription": "More", "agentType": "custom"})
	})
	if !strings.HasPrefix(first, agent.Namespace+"#") {
		t.Errorf("it stored %s", first)
	}
	status := func() (list []string) {
		for _, a := range call[struct {
			Agents []struct{ AgentSlug, Status string }
		}](t, s, "ora.site.status", args{"slug": "anwe-sh"}).Agents {
			list = append(list, a.AgentSlug+" "+a.Status)
		}
		return list
	}
	if got := status(); !slices.Equal(got, []string{slug + " active"}) {
		t.Errorf("agents %q", got)
	}
	s.Now = s.Now.Add(time.Minute)
	var out [2]ended
	for i := range out {
		out[i] = call[ended](t, s, "ora.agent.complete", args{"siteSlug": "anwe-sh", "agentSlug": slug, "output": "A post."})
	}
	if out[0] != out[1] || out[0].Extracted != 1 || out[0].BackupUntil != "2026-06-08T12:01:00Z" || len(f.revoked) != 1 {
		t.Errorf("completed %+v, revoked %q", out, f.revoked)
	}
	kept := call[memories](t, s, "anwe-sh.memory.recall", nil)
	if kept.Count != 1 || kept.Memories[0].Importance != 8 || kept.Memories[0].Content != "The owner wants tea posts weekly" {
		t.Errorf("kept %+v", kept)
	}
	as(s, agent, func() {
		refused(t, s, alcove.Denied, "anwe-sh.memory.store", args{"content": "After the end"})
		refused(t, s, alcove.Denied, "anwe-sh.posts.publish", args{"id": "1"})
	})
	if got := status(); !slices.Equal(got, []string{slug + " completed"}) {
		t.Errorf("agents %q", got)
	}
	s.Namespace = agent.Namespace
	s.Now = s.Now.Add(6 * 24 * time.Hour)
	must.Do(t, s.Job("end_tasks", nil, nil))
	archived := s.Memories()
	if len(archived) != 2 {
		t.Errorf("on day 6 there are %d", len(archived))
	}
	for _, m := range archived {
		if m.State != "archived" || !strings.Contains(string(m.Metadata["lifecycle"]), "the task completed") {
			t.Errorf("%s is %s, %s", m.Key, m.State, m.Metadata)
		}
	}
	s.Now = s.Now.Add(2 * 24 * time.Hour)
	must.Do(t, s.Job("end_tasks", nil, nil))
	if left := s.Memories(); len(left) != 0 {
		t.Errorf("on day 8 there are %d", len(left))
	}
	s.Namespace = "default"
	if got := call[ended](t, s, "memory_agent_complete", args{"siteSlug": "anwe-sh", "agentSlug": slug}); got != out[0] {
		t.Errorf("completed after all %+v", got)
	}
}

func TestWhatIsRestoredFromABackupStays(t *testing.T) {
	s, _ := open(t)
	connect(t, s)
	agent := spawn(t, s, nil)
	as(s, agent, func() {
		call[any](t, s, "anwe-sh.memory.store", args{"content": "One"})
		call[any](t, s, "anwe-sh.memory.store", args{"content": "Two"})
	})
	call[ended](t, s, "memory_agent_complete", args{"siteSlug": "anwe-sh", "agentSlug": agent.AgentSlug, "extractMemories": false})
	s.Namespace = agent.Namespace
	for _, m := range s.Memories() {
		if m.Text() == "One" {
			m.State, m.Timestamp, m.Counters = "active", "", nil
			s.Put(*m)
		}
	}
	s.Now = s.Now.Add(8 * 24 * time.Hour)
	must.Do(t, s.Job("end_tasks", nil, nil))
	for _, m := range s.Memories() {
		if m.Text() != "One" {
			t.Errorf("left: %s", m.Text())
		}
	}
	if len(s.Memories()) != 1 {
		t.Errorf("left: %d", len(s.Memories()))
	}
}

func TestATaskThatExpiresHasFailed(t *testing.T) {
	s, _ := open(t)
	connect(t, s)
	agent := spawn(t, s, args{"expiresInMinutes": 10})
	as(s, agent, func() { call[any](t, s, "anwe-sh.memory.store", args{"content": "Important", "importance": 10}) })
	s.Now = s.Now.Add(10 * time.Minute)
	as(s, agent, func() { refused(t, s, alcove.Denied, "anwe-sh.memory.store", args{"content": "Too late"}) })
	must.Do(t, s.Job("end_tasks", nil, nil))
	got := call[struct {
		Agents []struct{ Status, BackupUntil string }
	}](t, s, "memory_site_status", args{"slug": "anwe-sh"}).Agents
	if len(got) != 1 || got[0].Status != "failed" || got[0].BackupUntil != "2026-06-08T12:10:00Z" {
		t.Errorf("agents = %+v, want one failed, kept for a week", got)
	}
	if out := call[ended](t, s, "memory_agent_complete", args{"siteSlug": "anwe-sh", "agentSlug": agent.AgentSlug}); out.Extracted != 0 {
		t.Errorf("completed after it failed: %+v", out)
	}
}

func TestTheNumberOfAgentsHasALimit(t *testing.T) {
	s, _ := open(t)
	connect(t, s)
	s.Config = map[string]any{"spawn_max": 3}
	slugs := map[string]bool{}
	for range 3 {
		slugs[spawn(t, s, args{"expiresInMinutes": 5}).AgentSlug] = true
	}
	more := args{"siteSlug": "anwe-sh", "taskDescription": "One more", "agentType": "custom"}
	if said := refused(t, s, alcove.Exhausted, "memory_agent_spawn", more); len(slugs) != 3 || !strings.Contains(said, "spawn_max") {
		t.Errorf("spawned %v, then refused with %q, want 3 and spawn_max named", slugs, said)
	}
	s.Now = s.Now.Add(5 * time.Minute)
	slugs[spawn(t, s, nil).AgentSlug] = true
	for _, wrong := range []args{{"agentType": "poet"}, {"expiresInMinutes": 0}, {"expiresInMinutes": 43_201}, {"taskDescription": ""}, {"siteSlug": "lekhika-com"}} {
		for name, v := range more {
			if wrong[name] == nil {
				wrong[name] = v
			}
		}
		refused(t, s, alcove.InvalidArgument, "memory_agent_spawn", wrong)
	}
	agent := spawn(t, s, nil)
	call[ended](t, s, "memory_agent_complete", args{"siteSlug": "anwe-sh", "agentSlug": agent.AgentSlug, "deleteImmediately": true})
	refused(t, s, alcove.NotFound, "memory_agent_complete", args{"siteSlug": "anwe-sh", "agentSlug": "self"})
	refused(t, s, alcove.NotFound, "memory_agent_complete", args{"siteSlug": "anwe-sh", "agentSlug": "task-1"})
}
