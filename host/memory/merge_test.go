package memory

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory/purge"
	"github.com/alcove-memory/alcove/host/memory/scope"
	"github.com/alcove-memory/alcove/host/store"
)

func mustMerge(t *testing.T, s *Space, m Merge) MergeResult {
	t.Helper()
	result, err := s.Merge(t.Context(), m, Write{})
	if err != nil || !result.Merged && !result.Unchanged {
		t.Fatalf("merge %+v: %+v (%v)", m, result, err)
	}
	return result
}

func TestAWriteInAnotherNamespaceDoesNotMakeAnOldStateABase(t *testing.T) {
	s := testSpace(t)
	put(t, s, "", "k", "one")
	fork(t, s, "", "a")
	if _, err := s.Store(t.Context(), Location{Namespace: "other"}, []Item{{Key: "x", Value: json.RawMessage(`1`)}}, Write{}); err != nil {
		t.Fatal(err)
	}
	fork(t, s, "", "b")
	fork(t, s, "", "c")
	put(t, s, "a", "k", "two")
	for _, target := range []string{"b", "c"} {
		mustMerge(t, s, Merge{Source: "a", Target: target, Namespaces: []string{Default}})
	}
	put(t, s, "b", "k", "one")
	mustMerge(t, s, Merge{Source: "b", Target: "c"})
	if got := text(t, s, "c", "k", AsOf{}); got != "one" {
		t.Errorf("c has %q: that b went back to %q was taken for no change", got, "one")
	}
}

// clashes is a space whose branches try and default both changed a, and of which try deleted b, which default changed.
func clashes(t *testing.T) *Space {
	t.Helper()
	s := testSpace(t)
	put(t, s, "", "a", "old")
	put(t, s, "", "b", "old")
	fork(t, s, "", "try")
	put(t, s, "try", "a", "theirs")
	if _, err := s.Forget(t.Context(), Location{Branch: "try"}, []string{"b"}, Write{}); err != nil {
		t.Fatal(err)
	}
	put(t, s, "", "a", "ours")
	put(t, s, "", "b", "ours")
	return s
}

// resolving is a merge of the branch try that resolves both clashes with values and deletions of its own.
func resolving(ofA, ofB string) Merge {
	m := Merge{Source: "try"}
	for _, r := range []Resolution{{Key: "a", Take: ofA}, {Key: "b", Take: ofB}} {
		if r.Take == "value" {
			r.Value = json.RawMessage(`"secret"`)
		}
		m.Resolutions = append(m.Resolutions, r)
	}
	return m
}

// mustHave expects the values of a and b on the default branch; an empty one is none.
func mustHave(t *testing.T, s *Space, when, a, b string) {
	t.Helper()
	if gotA, gotB := text(t, s, "", "a", AsOf{}), text(t, s, "", "b", AsOf{}); gotA != a || gotB != b {
		t.Errorf("%s: a is %q and b is %q, want %q and %q", when, gotA, gotB, a, b)
	}
}

func TestAResolutionOfAKeyThatDoesNotClashIsRefused(t *testing.T) {
	s := testSpace(t)
	put(t, s, "", "k", "old")
	fork(t, s, "", "try")
	put(t, s, "", "k", "new")
	put(t, s, "try", "other", "theirs")
	for _, key := range []string{"k", "other", "absent"} {
		for _, take := range []string{"source", "target", "delete", "value"} {
			for _, dry := range []bool{true, false} {
				m := Merge{Source: "try", Resolutions: []Resolution{{Key: key, Take: take, Value: json.RawMessage(`1`)}}}
				if done, err := s.Merge(t.Context(), m, Write{DryRun: dry}); codeOf(err) != InvalidArgument || !strings.Contains(err.Error(), `"`+key+`"`) {
					t.Errorf("take %s of %s, dry run %t: got %+v, %v; want an error that names the key", take, key, dry, done, err)
				}
			}
		}
	}
	if got := text(t, s, "", "k", AsOf{}); got != "new" {
		t.Errorf("k is %q, want %q", got, "new")
	}
}

func TestHooksRefuseAndProposeWhatAResolutionBrings(t *testing.T) {
	for name, decide := range map[string]func(Storing) (Decision, error){"refuse": deny, "propose": propose} {
		for _, m := range []Merge{resolving("value", "target"), resolving("delete", "target"), resolving("target", "delete"), resolving("source", "value")} {
			for _, dry := range []bool{true, false} {
				s := clashes(t)
				seen := watched(s, []Change{ChangeDelete}, decide)
				if done, err := s.Merge(t.Context(), m, Write{DryRun: dry}); codeOf(err) != Denied || len(*seen) != 1 {
					t.Errorf("%s %+v, dry run %t: got %+v, %v, asked about %q; want a denial and one question", name, m, dry, done, err, *seen)
				}
				mustHave(t, s, name, "ours", "ours")
				if list, err := s.Branches(t.Context()); err != nil || len(list) != 2 {
					t.Errorf("%s leaves the branches %+v, %v; want two", name, list, err)
				}
			}
		}
	}
}

func TestHooksChangeWhatAResolutionBringsAndAreNotAskedAboutWhatBranchesHave(t *testing.T) {
	s := clashes(t)
	put(t, s, "try", "c", "secret") // stored on its branch before: its store was asked about
	redact := func(h Storing) (Decision, error) {
		items := slices.Clone(h.Items)
		if h.Change == ChangeStore {
			items[0].Value = json.RawMessage(`"redacted"`)
		}
		return Decision{Items: items}, nil
	}
	seen := watched(s, []Change{ChangeDelete}, redact)
	m := resolving("value", "delete")
	if done, err := s.Merge(t.Context(), m, Write{DryRun: true}); err != nil || len(done.Applied) != 3 || string(done.Applied[0].Result.Value) != `"redacted"` {
		t.Errorf("a dry run: got %+v, %v; want what the hook makes of it", done, err)
	}
	mustHave(t, s, "after a dry run", "ours", "ours")
	done := mustMerge(t, s, m)
	mustHave(t, s, "after the merge", "redacted", "")
	if want := []string{`store a="secret"`, `delete b="ours"`, `store a="secret"`, `delete b="ours"`}; !slices.Equal(*seen, want) {
		t.Errorf("asked about %q, want %q", *seen, want)
	}
	if len(done.Applied) != 3 || string(done.Applied[0].Result.Value) != `"redacted"` || done.Applied[1].Result != nil || string(done.Applied[2].Result.Value) != `"secret"` {
		t.Errorf("applied is %+v, want a redacted, b deleted and c as it was", done.Applied)
	}
}

func TestAMergeDoesNotBringBackWhatIsPurgedMeanwhile(t *testing.T) {
	s := clashes(t)
	put(t, s, "try", "c", "confidential")
	purged := false
	s.SetHooks(hooks{storing: func(h Storing) (Decision, error) {
		if !purged { // the merge has read c, and holds no lock while the hook is asked
			purged = true
			if _, err := s.Purge(t.Context(), purge.Request{Key: "c"}); err != nil {
				t.Error(err)
			}
		}
		return Decision{Items: h.Items}, nil
	}})
	mustMerge(t, s, resolving("value", "target"))
	mustHave(t, s, "after the merge", "secret", "ours")
	for _, branch := range []string{"", "try"} {
		if got := text(t, s, branch, "c", AsOf{}); got != "" {
			t.Errorf("branch %q has %q, which was purged while it was merged", branch, got)
		}
	}
}

func TestAHookIsAskedAgainIfTheTargetMovedMeanwhile(t *testing.T) {
	s := clashes(t)
	var asked []string
	s.SetHooks(hooks{storing: func(h Storing) (Decision, error) {
		asked = append(asked, string(h.Items[0].Value))
		if len(asked) == 1 { // a store of a's, while the hook is asked: no lock is held
			s.SetHooks(nil)
			put(t, s, "", "a", "newer")
			s.SetHooks(hooks{storing: func(h Storing) (Decision, error) {
				asked = append(asked, string(h.Items[0].Value))
				return Decision{Items: h.Items}, nil
			}})
		}
		return Decision{Items: h.Items}, nil
	}})
	mustMerge(t, s, resolving("value", "target"))
	mustHave(t, s, "after the merge", "secret", "ours")
	if want := []string{`"secret"`, `"secret"`}; !slices.Equal(asked, want) {
		t.Errorf("asked about %q, want %q", asked, want)
	}
}

func TestAQuotaBindsWhatAResolutionBrings(t *testing.T) {
	s := clashes(t)
	limit(t, s, Default, scope.Quota{Bytes: 10})
	m := resolving("value", "target")
	m.Resolutions[0].Value = json.RawMessage(`"` + strings.Repeat("x", 100) + `"`)
	for _, dry := range []bool{true, false} {
		if done, err := s.As(ann).Merge(t.Context(), m, Write{DryRun: dry}); codeOf(err) != Exhausted {
			t.Errorf("dry run %t: got %+v, %v; want the error of the quota", dry, done, err)
		}
	}
	mustHave(t, s, "beyond the quota", "ours", "ours")
	m.Resolutions[0].Value = json.RawMessage(`"x"`)
	if done, err := s.As(ann).Merge(t.Context(), m, Write{}); err != nil || !done.Merged {
		t.Errorf("within the quota: got %+v, %v", done, err)
	}
	if got := uses(t, s.As(Caller{Rights: FullRights()}), "")["default ann"]; got.Memories != 1 || got.Bytes != 3 {
		t.Errorf("counted are %+v, want one memory of 3 bytes", got)
	}
}

func TestAMergeWithNothingToMergeWritesNothing(t *testing.T) {
	s := clashes(t)
	mustMerge(t, s, resolving("value", "target"))
	before, err := s.engine.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text(t, s, "", "a", AsOf{}) // counted, and not yet written
	for _, dry := range []bool{true, false} {
		m, err := s.Merge(t.Context(), Merge{Source: "try"}, Write{DryRun: dry})
		if err != nil || m.Merged || !m.Unchanged || m.Version != 0 || len(m.Applied) != 0 {
			t.Errorf("dry run %t: got %+v, %v; want unchanged, not merged, and no version", dry, m, err)
		}
	}
	if after, err := s.engine.Head(t.Context()); err != nil || after != before {
		t.Errorf("the newest version is %+v, %v; want %+v", after, err, before)
	}
}

func TestHooksSeeTheExpiredMemoryThatAResolutionDeletes(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	s, closeSpace := openSpace(t, t.TempDir(), func() time.Time { return now })
	t.Cleanup(closeSpace)
	put(t, s, "", "k", "old")
	fork(t, s, "", "try")
	put(t, s, "try", "k", "theirs")
	if _, err := s.Store(t.Context(), Location{}, []Item{{Key: "k", Value: json.RawMessage(`"ours"`), ExpiresAt: now.Add(time.Hour)}}, Write{}); err != nil {
		t.Fatal(err)
	}
	now = now.Add(2 * time.Hour)
	m := Merge{Source: "try", Resolutions: []Resolution{{Key: "k", Take: "delete"}}}
	seen := watched(s, []Change{ChangeDelete}, deny)
	if done, err := s.Merge(t.Context(), m, Write{}); codeOf(err) != Denied || len(*seen) != 1 || (*seen)[0] != `delete k="ours"` {
		t.Errorf("refused: got %+v, %v, asked about %q; want a denial, and a question with the value", done, err, *seen)
	}
	watched(s, []Change{ChangeDelete}, allow)
	mustMerge(t, s, m)
	if found, err := s.engine.GetAt(t.Context(), s.catalogue.Named(Default).Lineage, []store.Key{memoryKey(Default, "k")}); err != nil || found[0].Exists() {
		t.Errorf("allowed: got %+v, %v; want that k is deleted", found, err)
	}
}

// families is a space with the records of two families, of which postbox keeps its letters private.
func families(t *testing.T) *Space {
	t.Helper()
	s := testSpace(t)
	s.isPrivate = func(collection string) bool { return collection != "kv/values" }
	return s
}

// storeRecord stores a record k in a collection.
func storeRecord(t *testing.T, s *Space, branch, collection, text string) {
	t.Helper()
	stage, err := s.As(Caller{Rights: FullRights()}).Stage(t.Context(), branch)
	if err == nil {
		err = stage.PutRecord(t.Context(), Collection{Name: collection, Quota: Quota{Records: 10}}, Default, "k", json.RawMessage(`"`+text+`"`), nil)
	}
	if err == nil {
		_, err = stage.Commit(t.Context(), Commit{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// withFamilies is a caller with the right to use some families.
func withFamilies(names ...string) Caller {
	rights := []Right{ToBranch}
	for _, name := range names {
		rights = append(rights, ToUse(name))
	}
	return Caller{Agent: "ann", Key: "1", Rights: FullRights().LimitedTo(rights)}
}

// differing are the keys of differences, each after its collection.
func differing(list []Difference) string {
	var names []string
	for _, d := range list {
		names = append(names, d.Collection+"#"+d.Key)
	}
	return strings.Join(names, " ")
}

func TestComparisonsShowAndCountOnlyRecordsThatTheCallerMaySee(t *testing.T) {
	s := families(t)
	fork(t, s, "", "try")
	put(t, s, "try", "k", "memory")
	for _, collection := range []string{"kv/values", "postbox/letters"} {
		storeRecord(t, s, "try", collection, "theirs")
	}
	reader := withFamilies()
	reader.Rights = reader.Rights.ReadOnly()
	own, owner := withFamilies("kv"), Caller{Rights: FullRights()}
	own.Family = "postbox"
	for _, c := range []struct {
		name string
		as   *Access
		want string
	}{
		{"a key with the right read alone", s.As(reader), "#k"},
		{"a key for a family with open records", s.As(withFamilies("kv")), "kv/values#k #k"},
		{"a key for a family with private records", s.As(withFamilies("postbox")), "#k"},
		{"the owner", s.As(owner), "kv/values#k #k"},
		{"a family", s.As(own), "kv/values#k #k postbox/letters#k"},
		{"a family that is shown its own records", s.As(own).Showing(func(c string) bool { return c == "postbox/letters" }), "#k postbox/letters#k"},
	} {
		count := 1 + strings.Count(c.want, " ")
		d, err := c.as.Diff(t.Context(), DiffQuery{Source: "try"})
		if err != nil || differing(d.Differences) != c.want || d.Added != count || d.Records != count-1 || d.Truncated {
			t.Errorf("%s is shown %s, counts %+v, %v; want %s", c.name, differing(d.Differences), d, err, c.want)
		}
		if back, err := c.as.Diff(t.Context(), DiffQuery{Source: Default, Target: "try"}); err != nil || back.Removed != count {
			t.Errorf("%s counts %+v, %v the other way; want %d removed", c.name, back, err, count)
		}
		m, err := c.as.Merge(t.Context(), Merge{Source: "try"}, Write{DryRun: true})
		if err != nil || differing(m.Applied) != c.want {
			t.Errorf("%s is shown by a preview %s, %v; want %s", c.name, differing(m.Applied), err, c.want)
		}
	}
}

func TestAMergeBringsRecordsThatItDoesNotShow(t *testing.T) {
	s := families(t)
	fork(t, s, "", "try")
	put(t, s, "try", "k", "memory")
	for _, collection := range []string{"kv/values", "postbox/letters"} {
		storeRecord(t, s, "try", collection, "theirs")
	}
	done, err := s.As(withFamilies()).Merge(t.Context(), Merge{Source: "try"}, Write{})
	if err != nil || !done.Merged || differing(done.Applied) != "#k" {
		t.Errorf("got %+v, %v; want a merge that shows the memory", done, err)
	}
	for _, collection := range []string{"kv/values", "postbox/letters"} {
		found, err := s.engine.GetAt(t.Context(), s.catalogue.Named(Default).Lineage, []store.Key{{Namespace: Default, Collection: collection, Name: "k"}})
		if err != nil || !found[0].Exists() {
			t.Errorf("%s on default: got %+v, %v; want the record of try", collection, found, err)
		}
	}
	events, err := s.Events(t.Context(), Location{}, AsOf{}, 0, 10)
	if err != nil || len(events) != 1 || !strings.Contains(string(events[0].Data), `"keys":1`) {
		t.Errorf("the log has %+v, %v; want one event, of one key", events, err)
	}
}

func TestClashesOfHiddenRecordsStopAMergeOfThoseWhoMayNotUseTheirFamily(t *testing.T) {
	for _, c := range []struct {
		collection string
		as         Caller
		strategy   Strategy
		code       Code // empty: merged
	}{
		{"kv/values", withFamilies(), Source, Denied},
		{"kv/values", withFamilies("postbox"), Target, Denied},
		{"kv/values", withFamilies("kv"), Source, ""},
		{"postbox/letters", withFamilies("kv"), Newest, Denied},
		{"postbox/letters", withFamilies("postbox"), Strict, Conflict},
		{"postbox/letters", withFamilies("postbox"), Fields, Conflict},
		{"postbox/letters", withFamilies("postbox"), Source, ""},
	} {
		s := families(t)
		storeRecord(t, s, "", c.collection, "old")
		fork(t, s, "", "try")
		storeRecord(t, s, "", c.collection, "ours")
		storeRecord(t, s, "try", c.collection, "theirs")
		put(t, s, "try", "m", "memory")
		for _, dry := range []bool{true, false} {
			done, err := s.As(c.as).Merge(t.Context(), Merge{Source: "try", Strategy: c.strategy}, Write{DryRun: dry})
			if codeOf(err) != c.code || done.Merged != (c.code == "" && !dry) {
				t.Errorf("%s of %s by %s, dry run %t: got %+v, %v; want code %q", c.strategy, c.collection, c.as.Rights, dry, done, err, c.code)
			}
			if err != nil && (strings.Contains(err.Error(), "kv") || strings.Contains(err.Error(), "postbox") || strings.Contains(err.Error(), "1")) {
				t.Errorf("%q names or counts what is hidden", err)
			}
		}
		if d, err := s.As(c.as).Diff(t.Context(), DiffQuery{Source: "try"}); err != nil || c.code != "" && d.Clashes != 0 {
			t.Errorf("%s: the comparison counts %d clashes, %v; want none", c.collection, d.Clashes, err)
		}
		if m, err := s.Recall(t.Context(), Location{}, "m", AsOf{}); err != nil || (m != nil) != (c.code == "") {
			t.Errorf("%s of %s: the memory beside it is %+v, %v; want it only where code %q is none", c.strategy, c.collection, m, err, c.code)
		}
	}
}

func TestAMergeBringsWhatWasCountedOnTheBranchesBetween(t *testing.T) {
	s := testSpace(t)
	put(t, s, "", "k", "v")
	text(t, s, "", "k", AsOf{})
	fork(t, s, "", "middle")
	text(t, s, "middle", "k", AsOf{})
	fork(t, s, "middle", "leaf")
	mustMerge(t, s, Merge{Source: "leaf"})
	if c, err := s.Counters(t.Context(), Location{}, "k"); err != nil || c.Accesses != 2 {
		t.Errorf("after the merge: %d accesses, not 2 (%v)", c.Accesses, err)
	}
	mustMerge(t, s, Merge{Source: "leaf"})
	if c, err := s.Counters(t.Context(), Location{}, "k"); err != nil || c.Accesses != 2 {
		t.Errorf("after the same merge again: %d accesses, not 2 (%v)", c.Accesses, err)
	}
}

// The digest of a request is stored for a day, also across an upgrade.
func TestAMergeThatIsRepeatedAfterAnUpgradeIsRecognised(t *testing.T) {
	m := Merge{Source: "a", Target: "b", Strategy: Strict, Namespaces: []string{"n"}}
	want := sha256.Sum256([]byte("merge\x00" + `[{"Source":"a","Target":"b","Strategy":"strict","Resolutions":null,"Namespaces":["n"]}]`))
	if got := mergeRequest(Write{RequestID: "r"}, m).Digest; got != want {
		t.Errorf("the digest is %x, not %x", got, want)
	}
}

func TestMergesAreListedWithTheLastNameOfADeletedSource(t *testing.T) {
	s := testSpace(t)
	put(t, s, "", "k", "one")
	fork(t, s, "", "a")
	put(t, s, "a", "k", "two")
	first := mustMerge(t, s, Merge{Source: "a"})
	fork(t, s, "", "b")
	put(t, s, "b", "k", "three")
	second := mustMerge(t, s, Merge{Source: "b", Target: "a"})
	if err := s.As(ann).Delete(t.Context(), Deletion{Branch: "b", Force: true}, Write{}); err != nil {
		t.Fatal(err)
	}
	got, err := s.As(ann).Merges(t.Context(), 0)
	if err != nil || len(got) != 2 {
		t.Fatalf("merges are %+v (%v), want two", got, err)
	}
	if m := got[0]; m.Source != "b" || m.Target != "a" || m.Version != second.Version || !m.Timestamp.Equal(second.Timestamp) || m.SourceVersion >= m.Version {
		t.Errorf("the newest merge is %+v, want that of b into a at %d (%s)", m, second.Version, second.Timestamp)
	}
	if m := got[1]; m.Source != "a" || m.Target != Default || m.Version != first.Version {
		t.Errorf("the first merge is %+v, want that of a at %d", m, first.Version)
	}
	if got, err := s.As(ann).Merges(t.Context(), 1); err != nil || len(got) != 1 || got[0].Source != "b" {
		t.Errorf("the newest merge alone is %+v (%v)", got, err)
	}
}
