package sites_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/testing/must"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

// inHome is a memory of the site's keeper; nil: there is none.
func inHome(t *testing.T, s *alcovetest.Space, key string) *alcove.Memory {
	t.Helper()
	before := s.Namespace
	s.Namespace = "site/anwe-sh/ora"
	m := s.Memory(key)
	s.Namespace = before
	return m
}

type synced struct{ Uploaded, Downloaded, Conflicts int }

// told is a memory as a site has it.
type told struct {
	ID         string  `json:"id"`
	Content    string  `json:"content,omitempty"`
	Type       string  `json:"type,omitempty"`
	Importance float64 `json:"importance,omitempty"`
	UpdatedAt  string  `json:"updated_at,omitempty"`
	Deleted    bool    `json:"deleted,omitempty"`
}

// remembering has the site keep memories, and tell those that changed since.
func (f *fake) remembering() (there map[string]told) {
	there = map[string]told{}
	f.answer = func(p post) (int, string) {
		var q struct {
			Since    string
			Memories []told
		}
		must.Do(f.t, json.Unmarshal(p.Data, &q))
		out := []told{}
		for _, m := range q.Memories {
			there[m.ID] = m
		}
		for _, m := range there {
			if m.UpdatedAt >= q.Since {
				out = append(out, m)
			}
		}
		slices.SortFunc(out, func(a, b told) int { return strings.Compare(a.ID, b.ID) })
		data, err := json.Marshal(map[string]any{"success": true, "data": map[string]any{"memories": out}})
		must.Do(f.t, err)
		return 200, string(data)
	}
	return there
}

func TestMemoriesAreExchangedAndTheNewerWins(t *testing.T) {
	s, f := open(t)
	connect(t, s)
	there := f.remembering()
	sync := func(want synced) {
		t.Helper()
		if got := call[synced](t, s, "ora.site.sync", args{"slug": "anwe-sh"}); got != want {
			t.Errorf("synchronized %+v, want %+v", got, want)
		}
		s.Now = s.Now.Add(time.Minute)
	}
	at := func() string { return s.Now.UTC().Format(time.RFC3339) }
	ours := strings.TrimPrefix(call[struct{ ID string }](t, s, "anwe-sh.memory.store", args{"content": "Ours", "importance": 7}).ID, "site/anwe-sh/ora#")
	there["r1"] = told{ID: "r1", Content: "Theirs", Type: "preference", Importance: 9, UpdatedAt: at()}
	there["../../x y"] = told{ID: "../../x y", Content: "Odd", UpdatedAt: at()}
	sync(synced{1, 1, 0})
	if got := there[ours]; got.Content != "Ours" || got.Importance != 7 || got.Type != "fact" {
		t.Errorf("the site has %+v", got)
	}
	sync(synced{})
	if got := call[memories](t, s, "anwe-sh.memory.recall", nil); got.Count != 2 || got.Memories[0].Content != "Theirs" || got.Memories[0].Importance != 9 {
		t.Errorf("here are %+v", got)
	}
	sync(synced{}) // a recall changes nothing that is exchanged

	// Both change both: once they later, once we later.
	there[ours] = told{ID: ours, Content: "Theirs first", Type: "fact", Importance: 7, UpdatedAt: at()}
	s.Now = s.Now.Add(time.Minute)
	for _, id := range []string{ours, "r1"} {
		call[any](t, s, "anwe-sh.memory.update", args{"id": id, "content": "Ours then"})
	}
	s.Now = s.Now.Add(time.Minute)
	there["r1"] = told{ID: "r1", Content: "Theirs last", Type: "preference", Importance: 9, UpdatedAt: at()}
	sync(synced{1, 1, 2})
	if there[ours].Content != "Ours then" || inHome(t, s, "r1").Text() != "Theirs last" {
		t.Errorf("the site has %+v, here is %s", there[ours], inHome(t, s, "r1").Value)
	}
	// A clock that runs ahead does not win for ever.
	there["r1"] = told{ID: "r1", Content: "From the future", Type: "preference", Importance: 9, UpdatedAt: "2999-01-01T00:00:00Z"}
	sync(synced{0, 1, 0})
	call[any](t, s, "anwe-sh.memory.update", args{"id": "r1", "content": "Ours at last"})
	sync(synced{1, 0, 0})
	// What one side forgets, the other forgets.
	call[any](t, s, "anwe-sh.memory.forget", args{"id": ours})
	there["r1"] = told{ID: "r1", Deleted: true, UpdatedAt: "2999-01-01T00:00:01Z"}
	sync(synced{1, 1, 0})
	if !there[ours].Deleted || inHome(t, s, "r1") != nil {
		t.Errorf("the site has %+v, here is %+v", there[ours], inHome(t, s, "r1"))
	}
	sync(synced{})
	f.answer = func(post) (int, string) { return 200, `{"success":false,"error":{"code":"NOT_FOUND"}}` }
	sync(synced{})
}

// A job exchanges memories when it is due, notes what the site changed, and withdraws the tools of sites that the operator removed.
func TestAJobLooksAfterSites(t *testing.T) {
	s, f := open(t)
	connect(t, s)
	there := f.remembering()
	there["r1"] = told{ID: "r1", Content: "Theirs", UpdatedAt: "2026-06-01T12:00:00Z"}
	f.schema = strings.Replace(blog, "Invite a user", "Invite everybody", 1)
	status := func() (out struct {
		LastSyncAt string `json:"last_sync_at"`
		LastError  string `json:"last_error"`
		Status     string
		Pending    []struct{ Description string }
	}) {
		must.Do(t, s.Tool("memory_site_status", args{"slug": "anwe-sh"}, &out))
		return out
	}
	must.Do(t, s.Job("sync_sites", nil, nil))
	if got := status(); got.LastSyncAt != "2026-06-01T12:00:00Z" || len(got.Pending) != 1 || got.Pending[0].Description != "[anwe-sh] Invite everybody" {
		t.Errorf("memory_site_status = %+v, want it synchronized at noon with one action pending", got)
	}
	if inHome(t, s, "r1") == nil {
		t.Error("it did not fetch")
	}
	asked := len(f.posts)
	s.Now = s.Now.Add(14 * time.Minute)
	must.Do(t, s.Job("sync_sites", nil, nil))
	if len(f.posts) != asked {
		t.Error("it was not due")
	}
	s.Now = s.Now.Add(time.Minute)
	f.down = alcove.Errorf(alcove.Unavailable, "the endpoint cannot be reached")
	must.Do(t, s.Job("sync_sites", nil, nil))
	if got := status(); !strings.Contains(got.LastError, "cannot be reached") || got.LastSyncAt != "2026-06-01T12:00:00Z" {
		t.Errorf("memory_site_status = %+v, want the error, and the time of the last success", got)
	}
	s.Grant("http", "site/lekhika-com")
	must.Do(t, s.Job("sync_sites", nil, nil))
	if len(s.Published()) != 0 {
		t.Errorf("left %q", published(s))
	}
	s.Grant("http", "site/anwe-sh", "site/lekhika-com")
	if got := status(); got.Status != "disconnected" {
		t.Errorf("memory_site_status = %+v, want it disconnected", got)
	}
}

func TestTheStatusShowsTheFailureOfACallThatFailed(t *testing.T) {
	s, f := open(t)
	shows := func(want string) {
		t.Helper()
		if got := call[struct {
			LastError string `json:"last_error"`
		}](t, s, "memory_site_status", args{"slug": "anwe-sh"}); got.LastError != want {
			t.Errorf("memory_site_status has the last_error %q, want %q", got.LastError, want)
		}
	}
	fails := func(tool string, arguments args) {
		t.Helper()
		if err := s.Tool(tool, arguments, nil); err == nil {
			t.Errorf("%s %v succeeds, want the failure of the site", tool, arguments)
		}
	}
	f.down = alcove.Errorf(alcove.Unavailable, "the endpoint cannot be reached")
	fails("memory_site_connect", args{"slug": "anwe-sh"})
	shows("unavailable: the endpoint cannot be reached")
	f.down = nil
	connect(t, s)
	shows("")
	f.answer = func(post) (int, string) { return 503, "<html>" }
	fails("anwe-sh.posts.list", args{})
	shows("unavailable: [anwe-sh] the site answered with the status 503")
	f.answer = func(post) (int, string) { return 422, "<html>" }
	fails("anwe-sh.posts.list", args{})
	shows("unavailable: [anwe-sh] the site answered with the status 503") // what a caller got wrong is no failure of the site
	f.answer = nil
	call[any](t, s, "memory_site_refresh", args{"slug": "anwe-sh"})
	shows("")
	f.down = alcove.Errorf(alcove.Timeout, "the endpoint took too long")
	fails("memory_site_sync", args{"slug": "anwe-sh"})
	shows("timeout: the endpoint took too long")
	s.DryRun, f.down = true, alcove.Errorf(alcove.Unavailable, "the endpoint is gone")
	fails("memory_site_sync", args{"slug": "anwe-sh"})
	s.DryRun = false
	shows("timeout: the endpoint took too long")
}

func TestManyMemoriesAreSentInParts(t *testing.T) {
	s, f := open(t)
	connect(t, s)
	there := f.remembering()
	for n := range 450 {
		there[fmt.Sprintf("r%03d", n)] = told{ID: fmt.Sprintf("r%03d", n), Content: fmt.Sprint("Memory ", n), UpdatedAt: "2026-06-01T11:00:00Z"}
	}
	if got := call[synced](t, s, "memory_site_sync", args{"slug": "anwe-sh"}); got != (synced{0, 450, 0}) {
		t.Errorf("memory_site_sync = %+v, want 450 downloaded", got)
	}
	clear(there)
	s.Namespace = "site/anwe-sh/ora"
	var changed []alcove.Memory
	for n := range 450 {
		changed = append(changed, alcove.Memory{Key: fmt.Sprintf("r%03d", n), Value: alcove.JSON("Changed"), Type: "fact", Importance: new(.5)})
	}
	s.Put(changed...)
	if got := call[synced](t, s, "memory_site_sync", args{"slug": "anwe-sh"}); got != (synced{450, 0, 0}) || len(there) != 450 || len(f.posts) != 2+3 {
		t.Errorf("%+v, %d there, after %d requests", got, len(there), len(f.posts))
	}
}
