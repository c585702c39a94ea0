package lifecycle

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
)

// world is a space that scenarios share: each has a namespace of its own.
type world struct {
	*testing.T
	*alcovetest.Space
}

func (w world) call(tool string, arguments map[string]any, result any) {
	w.T.Helper()
	if err := w.Space.Tool(tool, arguments, result); err != nil {
		w.T.Fatalf("call %s with %v: %v", tool, arguments, err)
	}
}

func (w world) fails(code alcove.Code, says, tool string, arguments map[string]any) {
	w.T.Helper()
	err := w.Space.Tool(tool, arguments, nil)
	if alcove.CodeOf(err) != code || !strings.Contains(err.Error(), says) {
		w.T.Errorf("%s %v: %v; want %s that says %q", tool, arguments, err, code, says)
	}
	if known := (*alcove.Error)(nil); errors.As(err, &known) && code == alcove.Conflict && known.Retryable {
		w.T.Errorf("%s %v: %v is retryable, and would be refused again", tool, arguments, err)
	}
}

// ago is an instant some days before the space's.
func (w world) ago(days float64) string {
	return w.Now.Add(-time.Duration(days * 24 * float64(time.Hour))).Format(time.RFC3339Nano)
}

func (w world) state(key string) string {
	w.T.Helper()
	m := w.Memory(key)
	if m == nil {
		return ""
	}
	return m.State
}

func (w world) job(name string) {
	w.T.Helper()
	if err := w.Space.Job(name, nil, nil); err != nil {
		w.T.Fatal(err)
	}
}

func (w world) finds(query string) (keys []string) {
	w.T.Helper()
	ids, err := w.Space.Search(query, 10)
	if err != nil {
		w.T.Fatal(err)
	}
	for _, id := range ids {
		keys = append(keys, id.Key)
	}
	slices.Sort(keys)
	return keys
}

func (w world) stale(more ...any) (out staleFacts) {
	w.T.Helper()
	arguments := map[string]any{}
	for i := 0; i < len(more); i += 2 {
		arguments[more[i].(string)] = more[i+1]
	}
	w.call("memory_list_stale_facts", arguments, &out)
	return out
}

func pinnedOf(m alcove.Memory) alcove.Memory {
	m.Key, m.Metadata = "pinned "+m.Key, alcove.Metadata{"pinned": alcove.Raw("true")}
	return m
}

func TestLifecycle(t *testing.T) {
	space := alcovetest.New(t, Family(), alcovetest.Manifest(t, "manifest.json"))
	for name, scenario := range map[string]func(world){
		"after 100 days an observation has relevance .366 and a decision .819": func(w world) {
			w.Put(alcove.Memory{Key: "o", Type: "observation", Value: alcove.JSON("o"), Timestamp: w.ago(100)}, alcove.Memory{Key: "d", Type: "decision", Value: alcove.JSON("d"), Timestamp: w.ago(100)})
			got := map[string]float64{}
			for _, f := range w.stale("maxImportance", 1).Facts {
				got[f.FactID.Key] = math.Round(f.Relevance*1000) / 1000
			}
			if got["o"] != .366 || got["d"] != .819 {
				t.Errorf("relevance after 100 days = %v, want .366 for o and .819 for d", got)
			}
		},
		"what is superseded, unread and unimportant is archived, its pinned twin is not, and it is restored": func(w world) {
			old := alcove.Memory{Key: "old", Value: alcove.JSON("the harbour opens at six"), Importance: new(.2), Timestamp: w.ago(40)}
			w.Put(old, pinnedOf(old), alcove.Memory{Key: "new", Value: alcove.JSON("it opens at seven"), Supersedes: []string{"old", "pinned old"}, Timestamp: w.ago(2)})
			w.job("decay")
			if w.state("old") != "archived" || w.state("pinned old") != "active" || w.state("new") != "active" || !slices.Equal(w.finds("harbour"), []string{"pinned old"}) {
				t.Fatalf("%s, %s, %s; found %q", w.state("old"), w.state("pinned old"), w.state("new"), w.finds("harbour"))
			}
			var list archivedItems
			w.call("memory_archive_list", nil, &list)
			if len(list.Items) != 1 || list.Items[0].Reason != "forgotten" || instant(list.Items[0].ArchivedAt) != alcove.Time(w.Now.UnixMicro()) {
				t.Errorf("memory_archive_list = %+v, want one forgotten now", list)
			}
			var out restored
			w.call("memory_archive_restore", map[string]any{"id": "old"}, &out)
			if out.ID.Key != "old" || len(w.finds("harbour")) != 2 {
				t.Errorf("%+v, found %q", out, w.finds("harbour"))
			}
			w.Now = w.Now.Add(29 * 24 * time.Hour)
			w.job("decay")
			if w.state("old") != "active" {
				t.Error("what was restored was archived within 30 days")
			}
			w.Now = w.Now.Add(2 * 24 * time.Hour)
			w.job("decay")
			if w.state("old") != "archived" {
				t.Error("what was restored is never archived again")
			}
		},
		"nothing is forgotten where auto_forget is off": func(w world) {
			w.Put(alcove.Memory{Key: "old", Value: alcove.JSON(1), Importance: new(.2), Timestamp: w.ago(400)}, alcove.Memory{Key: "new", Value: alcove.JSON(2), Supersedes: []string{"old"}})
			w.Config["auto_forget"] = false
			w.job("decay")
			w.Config["auto_forget"] = nil
			if w.state("old") != "active" {
				t.Error("it was archived")
			}
		},
		"stale memories are old, unimportant and unused, with reasons": func(w world) {
			var all []alcove.Memory
			for i, m := range []alcove.Memory{
				{Importance: new(.3), Timestamp: w.ago(91)}, {Importance: new(.31), Timestamp: w.ago(91)}, {Importance: new(.1), Timestamp: w.ago(90)},
				{Importance: new(.1), Timestamp: w.ago(200), Counters: &alcove.Counters{Accesses: 4}}, {Importance: new(.1), Timestamp: w.ago(200), Counters: &alcove.Counters{Accesses: 3, LastAccess: w.ago(1)}},
				{Importance: new(.1), Timestamp: w.ago(300), Metadata: alcove.Metadata{"session": alcove.Raw("1")}}, {Importance: new(.1), Timestamp: w.ago(300), Type: "steering_rule"},
			} {
				m.Key, m.Value = fmt.Sprint("m", i), alcove.JSON(i)
				all = append(all, m)
			}
			w.Put(all...)
			w.Put(alcove.Memory{Key: "new", Value: alcove.JSON(1), Supersedes: []string{"m0"}})
			out := w.stale()
			if len(out.Facts) != 2 || out.Facts[0].FactID.Key != "m0" || !slices.Equal(out.Facts[0].Reasons, []string{"superseded", "unread", "decayed"}) ||
				out.Facts[1].FactID.Key != "m4" || !slices.Equal(out.Facts[1].Reasons, []string{"unimportant"}) || out.Facts[1].Accesses != 3 || out.Truncated {
				t.Errorf("stale facts = %+v, want m0 superseded, unread and decayed, and m4 unimportant", out)
			}
			if got := w.stale("olderThanDays", 80, "maxAccess", 9, "max_importance", .5); len(got.Facts) != 5 {
				t.Errorf("stale facts within wider bounds = %+v, want 5", got)
			}
			page := w.stale("limit", 1)
			seen := len(page.Facts)
			for page.NextCursor != "" {
				page = w.stale("limit", 1, "cursor", page.NextCursor)
				seen += len(page.Facts)
			}
			if seen != 2 {
				t.Errorf("%d in pages", seen)
			}
			var alias staleFacts
			w.call("memory_find_stale", nil, &alias)
			if len(alias.Facts) != 2 {
				t.Errorf("memory_find_stale = %+v, want 2", alias)
			}
		},
		"merged memories link to the one that supersedes them": func(w world) {
			w.Put(alcove.Memory{Key: "a", Value: alcove.JSON("alpha gamma")}, alcove.Memory{Key: "b", Value: alcove.JSON("beta gamma")}, alcove.Memory{Key: "t", Value: alcove.JSON("gamma")})
			var out mergedFacts
			w.call("memory_mark_facts_merged", map[string]any{"sourceFactIds": []string{"a", "b"}, "targetFactId": "t"}, &out)
			if out.Merged != 2 || w.state("a") != "merged" || !slices.Equal(w.Memory("a").Links, []string{"t"}) || !slices.Equal(w.Memory("t").Supersedes, []string{"a", "b"}) || !slices.Equal(w.finds("gamma"), []string{"t"}) {
				t.Errorf("memory_mark_facts_merged = %+v and a is %+v, want 2 merged and linked with t", out, w.Memory("a"))
			}
			w.call("memory_mark_facts_merged", map[string]any{"sourceFactIds": "a", "targetFactId": "t"}, &out)
			if out.Merged != 0 {
				t.Errorf("again %d were merged", out.Merged)
			}
			w.fails(alcove.NotFound, "none", "memory_mark_facts_merged", map[string]any{"sourceFactIds": "none", "targetFactId": "t"})
			w.fails(alcove.InvalidArgument, "itself", "memory_mark_facts_merged", map[string]any{"sourceFactIds": "t", "targetFactId": "t"})
			w.fails(alcove.InvalidArgument, "stands for it", "memory_archive_restore", map[string]any{"id": "a"})
		},
		"pruned and archived memories leave search and are counted by reason": func(w world) {
			for _, k := range []string{"a", "b", "c"} {
				w.Put(alcove.Memory{Key: k, Value: alcove.JSON("delta " + k)})
			}
			var gone prunedFacts
			w.call("memory_mark_facts_pruned", map[string]any{"factIds": []string{"a"}, "reason": "noise"}, &gone)
			w.call("memory_archive_fact", map[string]any{"factId": "b", "reason": "done"}, nil)
			w.call("memory_archive_fact", map[string]any{"fact_id": "c"}, nil)
			var stats archiveStats
			w.call("memory_archive_stats", nil, &stats)
			if gone.Pruned != 1 || w.state("a") != "pruned" || stats.ByNamespace[w.Namespace] != 2 || stats.ByReason["done"] != 1 || stats.ByReason[unspecified] < 1 || w.finds("delta") != nil {
				t.Errorf("memory_mark_facts_pruned = %+v, memory_archive_stats = %+v, want 1 pruned, 2 archived by their reasons", gone, stats)
			}
			w.call("memory_archive_restore", map[string]any{"id": "a"}, nil)
			if w.state("a") != "active" {
				t.Error("what was pruned is not restored")
			}
			var list archivedItems
			w.call("memory_archive_list", map[string]any{"limit": 1}, &list)
			if len(list.Items) != 1 || !list.Truncated {
				t.Errorf("the first of the archived = %+v, want one, truncated", list)
			}
			w.fails(alcove.NotFound, "none", "memory_archive_fact", map[string]any{"factId": "none"})
			w.fails(alcove.NotFound, "none", "memory_mark_facts_pruned", map[string]any{"factIds": "none"})
		},
		"what matches is previewed, and archived only when asked": func(w world) {
			w.Put(
				alcove.Memory{Key: "tmp/1", Value: alcove.JSON("Draft of a letter"), Type: "note", Tags: []string{"draft"}, Timestamp: w.ago(10)},
				alcove.Memory{Key: "tmp/2", Value: alcove.JSON("draft two, by Ann"), Type: "note", Timestamp: w.ago(2)},
				alcove.Memory{Key: "kept", Value: alcove.JSON("draft three"), Metadata: alcove.Metadata{"pinned": alcove.Raw("true")}},
				alcove.Memory{Key: "other", Value: alcove.JSON("a letter")},
			)
			for _, c := range []struct {
				more map[string]any
				want int
			}{
				{map[string]any{"pattern": "draft"}, 2}, {map[string]any{"pattern": "DRAFT*ann"}, 1}, {map[string]any{"pattern": "tmp/"}, 2}, {map[string]any{"type": "note"}, 2},
				{map[string]any{"tags": "draft"}, 1}, {map[string]any{"olderThan": "5 days ago"}, 1}, {map[string]any{"pattern": "letter", "type": "note"}, 1},
			} {
				var out forgotten
				w.call("memory_forget_matching", c.more, &out)
				if out.Matched != c.want || out.Archived != 0 || len(out.Sample) != c.want {
					t.Errorf("%v: %+v; want %d", c.more, out, c.want)
				}
			}
			var out forgotten
			w.call("memory_forget_matching", map[string]any{"pattern": "draft", "dry_run": false}, &out)
			if out.Archived != 2 || w.state("tmp/1") != "archived" || w.state("kept") != "active" || w.state("other") != "active" {
				t.Errorf("memory_forget_matching = %+v, want the 2 drafts archived alone", out)
			}
			w.fails(alcove.InvalidArgument, "everything would match", "memory_forget_matching", map[string]any{"pattern": "*"})
		},
		"what has expired is archived, and what was used lives on": func(w world) {
			for _, k := range []string{"short", "used", "mid", "often", "dated", "pinned"} {
				m := alcove.Memory{Key: k, Value: alcove.JSON("epsilon " + k)}
				if k == "pinned" {
					m.Metadata = alcove.Metadata{"pinned": alcove.Raw("true")}
				}
				w.Put(m)
			}
			w.call("memory_set_ttl", map[string]any{"ids": []string{"short", "used", "pinned"}, "tier": "short"}, nil)
			w.call("memory_set_ttl", map[string]any{"ids": []string{"mid", "often"}, "tier": "mid"}, nil)
			var set updated
			w.call("memory_set_ttl", map[string]any{"ids": "dated", "expires_at": "in 1h"}, &set)
			if m := w.Memory("short"); set.Updated != 1 || m.ExpiresAt != w.Now.Add(6*time.Hour).Format(time.RFC3339) && !strings.HasPrefix(m.ExpiresAt, w.Now.Add(6*time.Hour).Format("2006-01-02T15:04:05")) {
				t.Errorf("memory_set_ttl = %+v and the memory is %+v, want 1 updated, and short to expire in 6 hours", set, m)
			}
			w.Now = w.Now.Add(5*time.Hour + 50*time.Minute)
			w.Touch(w.Now, 1, "used")
			w.Touch(w.Now, 5, "often")
			w.Now = w.Now.Add(20 * time.Minute)
			var out collected
			w.call("memory_gc", map[string]any{"dry_run": true}, &out)
			if out.Archived != 2 || out.Extended != 1 || out.Promoted != 2 || w.state("dated") != "" {
				t.Errorf("%+v; dated is %s", out, w.state("dated"))
			}
			w.job("gc")
			dated := w.Memory("dated")
			if dated == nil || dated.State != "archived" || dated.ExpiresAt != "" || len(dated.Metadata[expiredAt]) == 0 || w.state("short") != "archived" || w.state("used") != "active" || w.state("pinned") != "active" {
				t.Errorf("dated %+v, short %s, used %s", dated, w.state("short"), w.state("used"))
			}
			w.Now = w.Now.Add(8 * 24 * time.Hour)
			w.job("gc")
			if w.state("used") != "archived" || w.state("mid") != "archived" || w.state("often") != "active" || string(w.Memory("often").Metadata[tiered]) != `"long"` {
				t.Errorf("used %s, mid %s, often %+v", w.state("used"), w.state("mid"), w.Memory("often"))
			}
			w.call("memory_archive_restore", map[string]any{"id": "mid"}, nil)
			w.Now = w.Now.Add(8 * 24 * time.Hour)
			w.job("gc")
			if w.state("mid") != "active" {
				t.Error("what was restored expired again")
			}
			w.fails(alcove.InvalidArgument, "either tier or expires_at", "memory_set_ttl", map[string]any{"ids": "mid"})
			w.fails(alcove.NotFound, "none", "memory_set_ttl", map[string]any{"ids": "none", "tier": "mid"})
		},
		"a promoted memory is kept for good, or copied above": func(w world) {
			w.Put(alcove.Memory{Key: "m", Value: alcove.JSON("zeta"), Type: "decision", Tags: []string{"x"}, Importance: new(.4)})
			w.call("memory_set_ttl", map[string]any{"ids": "m", "tier": "short"}, nil)
			var out promoted
			w.call("memory_promote", map[string]any{"id": "m"}, &out)
			if m := w.Memory("m"); m.ExpiresAt != "" || !pinned(m) || out.Link != nil || out.ID.Key != "m" {
				t.Errorf("memory_promote = %+v and the memory is %+v, want it pinned, without an expiry", out, m)
			}
			below := w.Namespace
			w.Namespace += "/team/ann"
			w.Put(alcove.Memory{Key: "d", Value: alcove.JSON("eta"), Type: "decision", Tags: []string{"x"}, Importance: new(.4), Metadata: alcove.Metadata{"confidence": alcove.Raw("1")}})
			w.call("memory_promote", map[string]any{"id": "d", "to_namespace": below + "/team"}, &out)
			w.call("memory_promote", map[string]any{"id": "d", "to_namespace": below + "/team"}, &out)
			if out.ID.String() != below+"/team#d" || out.Link == nil || out.Link.Relation != "derived_from" || out.Link.To.String() != below+"/team/ann#d" {
				t.Errorf("memory_promote = %+v, want a copy above, derived from the one below", out)
			}
			w.fails(alcove.InvalidArgument, "not above", "memory_promote", map[string]any{"id": "d", "to_namespace": below + "/tea"})
			w.Namespace = below + "/team"
			if m := w.Memory("d"); m.Type != "decision" || *m.Importance != .4 || !slices.Equal(m.Links, []string{below + "/team/ann#d"}) || string(m.Metadata["confidence"]) != "1" {
				t.Errorf("the copy is %+v, want what the memory had and a link to it", m)
			}
			w.Put(alcove.Memory{Key: "taken", Value: alcove.JSON("theta")})
			w.Namespace = below + "/team/ann"
			w.Put(alcove.Memory{Key: "taken", Value: alcove.JSON("iota")})
			w.fails(alcove.Conflict, "another memory", "memory_promote", map[string]any{"id": "taken", "to_namespace": below + "/team"})
		},
		"weights, rates and threshold decide": func(w world) {
			w.Put(alcove.Memory{Key: "old", Value: alcove.JSON(1), Type: "plan", Timestamp: w.ago(60)})
			w.Config["forget_threshold"], w.Config["forget_weight_unread"], w.Config["decay_rate_plan"] = .5, .4, .9
			out := w.stale("olderThanDays", 1, "maxImportance", 1)
			w.job("decay")
			w.Config["forget_threshold"], w.Config["forget_weight_unread"], w.Config["decay_rate_plan"] = nil, nil, nil
			if want := .4 + .2*(1-.01); len(out.Facts) != 1 || math.Abs(out.Facts[0].ForgetScore-want) > 1e-9 || w.state("old") != "archived" {
				t.Errorf("%+v; want %v", out, want)
			}
		},
	} {
		space.Namespace, space.Now = strings.ReplaceAll(strings.Map(letters, name), " ", "-")[:12]+fmt.Sprint(len(name)), space.Now.AddDate(2, 0, 0).Truncate(time.Second)
		t.Run(name, func(t *testing.T) { scenario(world{t, space}) })
	}
}

func letters(r rune) rune {
	if r >= 'a' && r <= 'z' || r == ' ' {
		return r
	}
	return -1
}

func TestADailyRunThatMayOnlyProposeLeavesTheBranchUntilItsProposalIsMerged(t *testing.T) {
	w := world{t, alcovetest.New(t, Family(), alcovetest.Manifest(t, "manifest.json"))}
	w.Put(
		alcove.Memory{Key: "old", Value: alcove.JSON("the harbour"), Importance: new(.2), Timestamp: w.ago(40)},
		alcove.Memory{Key: "new", Value: alcove.JSON("it opens at seven"), Supersedes: []string{"old"}},
	)
	w.Revoke("memory.write")
	w.job("decay")
	if w.state("old") != "active" || len(w.finds("harbour")) != 1 {
		t.Fatalf("without a merge old is %s", w.state("old"))
	}
	jobs := w.Jobs()
	proposal := ""
	for _, j := range jobs {
		if j.Name == "decay" && j.Proposal != "" {
			proposal = j.Proposal
		}
	}
	if !strings.HasPrefix(proposal, "proposals/lifecycle/") {
		t.Fatalf("jobs = %+v, want decay with a proposal of lifecycle", jobs)
	}
	proposed := func() (n int) {
		for _, j := range w.Jobs() {
			if j.Proposal != "" && j.Result != nil && !strings.Contains(string(j.Result), `"changed":0`) {
				n++
			}
		}
		return n
	}
	before := proposed()
	w.Put(alcove.Memory{Key: "other", Value: alcove.JSON("a second quay"), Importance: new(.2)}, alcove.Memory{Key: "newer", Value: alcove.JSON("x"), Supersedes: []string{"other"}})
	w.Now = w.Now.Add(40 * 24 * time.Hour)
	w.job("decay")
	if proposed() != before+1 {
		t.Errorf("while the proposal waits, the next run proposes nothing: %+v", w.Jobs())
	}
	w.job("decay")
	if proposed() != before+1 {
		t.Error("what waits is proposed anew")
	}
	w.Merge(proposal)
	if w.state("old") != "archived" || w.finds("harbour") != nil {
		t.Errorf("after the merge old is %s", w.state("old"))
	}
}

func TestWhatWasArchivedForLongerThanItsScopeKeepsItIsPruned(t *testing.T) {
	w := world{t, alcovetest.New(t, Family(), alcovetest.Manifest(t, "manifest.json"))}
	keeps := 0
	w.Ops["scope.get"] = func([]byte) (any, error) {
		if keeps < 0 {
			return nil, alcove.Errorf(alcove.NotFound, "there is no scope")
		}
		return map[string]any{"scope": map[string]any{"namespace": "default", "retention_days": keeps}}, nil
	}
	w.Put(alcove.Memory{Key: "old", Value: alcove.JSON(1)}, alcove.Memory{Key: "pinned", Value: alcove.JSON(2), Metadata: alcove.Metadata{"pinned": alcove.Raw("true")}}, alcove.Memory{Key: "active", Value: alcove.JSON(3)})
	for _, k := range []string{"old", "pinned"} {
		w.call("memory_archive_fact", map[string]any{"factId": k}, nil)
	}
	w.Now = w.Now.Add(30 * 24 * time.Hour)
	w.Put(alcove.Memory{Key: "new", Value: alcove.JSON(4)})
	w.call("memory_archive_fact", map[string]any{"factId": "new"}, nil)
	w.Now = w.Now.Add(time.Hour)
	for _, c := range []struct {
		keeps int
		want  string
	}{{-1, "archived"}, {0, "archived"}, {31, "archived"}, {30, "pruned"}} {
		keeps = c.keeps
		w.job("retention")
		if w.state("old") != c.want || w.state("pinned") != "archived" || w.state("new") != "archived" || w.state("active") != "active" {
			t.Errorf("kept for %d days: %s, %s, %s, %s", keeps, w.state("old"), w.state("pinned"), w.state("new"), w.state("active"))
		}
	}
}

func TestEveryChangeOfAStateIsAnnounced(t *testing.T) {
	w := world{t, alcovetest.New(t, Family(), alcovetest.Manifest(t, "manifest.json"))}
	var kinds []string
	w.Ops[alcove.OpFeedEmit] = func(request []byte) (any, error) {
		text := string(request)
		kind, _, _ := strings.Cut(strings.TrimPrefix(text, `{"kind":"`), `"`)
		kinds = append(kinds, kind)
		if !strings.Contains(text, `"agentId":"`) || !strings.Contains(text, `"scopeId":"default"`) {
			t.Errorf("announced %s, want an agent and the scope default", text)
		}
		return map[string]any{}, nil
	}
	for _, k := range []string{"a", "b", "c", "d"} {
		w.Put(alcove.Memory{Key: k, Value: alcove.JSON(k)})
	}
	w.call("memory_archive_fact", map[string]any{"factId": "a"}, nil)
	w.call("memory_archive_fact", map[string]any{"factId": "a"}, nil)
	w.call("memory_archive_restore", map[string]any{"id": "a"}, nil)
	w.call("memory_mark_facts_pruned", map[string]any{"factIds": "a"}, nil)
	w.call("memory_mark_facts_merged", map[string]any{"sourceFactIds": "b", "targetFactId": "c"}, nil)
	w.call("memory_promote", map[string]any{"id": "c"}, nil)
	w.call("memory_set_ttl", map[string]any{"ids": "d", "tier": "short"}, nil)
	w.Now = w.Now.Add(7 * time.Hour)
	w.job("gc")
	if want := []string{"fact_archived", "fact_restored", "fact_pruned", "fact_merged", "fact_promoted", "fact_archived", "lifecycle_run"}; !slices.Equal(kinds, want) {
		t.Errorf("%q; want %q", kinds, want)
	}
}
