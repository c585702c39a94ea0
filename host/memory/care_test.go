package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory/purge"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/memory/retention"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/testing/testclock"
)

func TestAPurgedMemoryIsGoneEverywhereAndItsDigestStays(t *testing.T) {
	s := testSpace(t)
	put(t, s, "", "secret", "the first password")
	fork(t, s, "", "try")
	put(t, s, "try", "secret", "the second password")
	erased, err := s.Purge(t.Context(), purge.Request{Key: "secret"})
	if err != nil || len(erased.Erased) != 2 || len(erased.Erased[0].Digest) != 64 {
		t.Fatalf("Purge = %+v (%v), want 2 versions erased, with digests", erased, err)
	}
	for _, branch := range []string{"", "try"} {
		if got := text(t, s, branch, "secret", AsOf{}); got != "" {
			t.Errorf("branch %q still has %q", branch, got)
		}
		found, err := s.Search(t.Context(), Search{Text: "password", Branch: branch})
		if err != nil || found.Total != 0 {
			t.Errorf("branch %q: a search finds %d (%v)", branch, found.Total, err)
		}
	}
	versions, _, err := s.History(t.Context(), Location{Branch: "try"}, "secret", AsOf{}, 10)
	if err != nil || len(versions) != 2 || versions[0].Purged == "" || string(versions[0].Value) != "null" {
		t.Errorf("history: %+v (%v)", versions, err)
	}
	if _, err := s.Purge(t.Context(), purge.Request{Key: "secret"}); err == nil {
		t.Error("purging again says that it erased something")
	}
	if verified, err := s.Verify(t.Context()); err != nil || len(verified.Findings) != 0 {
		t.Errorf("afterwards: %+v (%v)", verified, err)
	}
	put(t, s, "", "secret", "a new one")
	if got := text(t, s, "", "secret", AsOf{}); got != "a new one" {
		t.Errorf("stored again it is %q", got)
	}
}

func TestAPurgedEventLeavesTheChainWhole(t *testing.T) {
	s := testSpace(t)
	for _, data := range []string{`"one"`, `"two"`, `"three"`} {
		if _, err := s.Append(t.Context(), Location{}, "noted", json.RawMessage(data), Write{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Purge(t.Context(), purge.Request{Event: 2}); err != nil {
		t.Fatal(err)
	}
	list, err := s.Events(t.Context(), Location{}, AsOf{}, 0, 10)
	if err != nil || len(list) != 3 || list[1].Data != nil || list[1].Digest == "" {
		t.Errorf("Events = %+v (%v), want 3, the second without data but with its digest", list, err)
	}
	if n, err := s.VerifyLog(t.Context(), Location{}); err != nil || n != 3 {
		t.Errorf("%d events verify (%v)", n, err)
	}
}

func TestAPurgeSaysWhatItNeeds(t *testing.T) {
	s := testSpace(t)
	for _, p := range []purge.Request{{}, {Key: "k", Event: 1}, {Event: 1, Version: 2}, {Key: strings.Repeat("k", 2000)}} {
		var refused *Error
		if _, err := s.Purge(t.Context(), p); !errors.As(err, &refused) || refused.Code != InvalidArgument {
			t.Errorf("Purge(%.40v): %v, want an invalid argument", p, err)
		}
	}
}

func TestRetentionTrimsWhatIsOlderThanThePolicyKeeps(t *testing.T) {
	now := testclock.At(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	s, closeSpace := openSpace(t, t.TempDir(), now.Now)
	defer closeSpace()
	first := put(t, s, "", "k", "old")
	now.Add(48 * time.Hour)
	put(t, s, "", "k", "new")
	if trimmed, err := s.Retain(t.Context()); err != nil || len(trimmed.Trimmed) != 0 {
		t.Fatalf("without a policy %v was trimmed (%v)", trimmed, err)
	}
	if err := s.SetRetention(t.Context(), retention.Policy{Keep: 10}); err == nil {
		t.Error("an age of ten seconds is taken")
	}
	if err := s.SetRetention(t.Context(), retention.Policy{Keep: 3600}); err != nil {
		t.Fatal(err)
	}
	now.Add(2 * time.Hour)
	if trimmed, err := s.Retain(t.Context()); err != nil || len(trimmed.Trimmed) != 1 {
		t.Fatalf("trimmed %v (%v)", trimmed, err)
	}
	if _, err := s.Recall(t.Context(), Location{}, "k", AsOf{Version: first.Version}); err == nil {
		t.Error("the old version can still be asked for")
	}
	if got := text(t, s, "", "k", AsOf{}); got != "new" {
		t.Errorf("the present is %q", got)
	}
}

func TestAPreviewOfRetentionCountsWhatGoes(t *testing.T) {
	now := testclock.At(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	s, closeSpace := openSpace(t, t.TempDir(), now.Now)
	defer closeSpace()
	write := func(branch string, n int) {
		for i := range n {
			put(t, s, branch, "once in "+branch, "never changed")
			put(t, s, branch, "k", fmt.Sprint(branch, i))
			put(t, s, branch, "j", fmt.Sprint(branch, i))
			now.Add(24 * time.Hour)
		}
	}
	write("", 3)
	fork(t, s, "", "try") // pins what default had
	write("", 3)
	write("try", 4)
	fork(t, s, "", "gone")
	if err := s.As(Caller{Rights: FullRights()}).Delete(t.Context(), Deletion{Branch: "gone", Force: true}, Write{}); err != nil {
		t.Fatal(err)
	}
	now.Add(48 * time.Hour)
	versions := func(name string) (n int) {
		b, err := s.branch(name)
		if err != nil {
			t.Fatal(err)
		}
		for page, err := range store.Pages(t.Context(), s.engine.Versions, store.Lineage{{Branch: b.ID, At: store.Latest}}, store.Range{}, fillPage) {
			if err != nil {
				t.Fatal(err)
			}
			n += len(page)
		}
		return n
	}
	before := map[string]int{Default: versions(Default), "try": versions("try")}
	policy := retention.Policy{Keep: 24 * 3600, Versions: 2, Branches: map[string]int64{"try": 3 * 24 * 3600}}
	preview, err := s.PreviewRetention(t.Context(), policy)
	if err != nil || len(preview.Trimmed) != 2 || !slices.Equal(preview.Deleted, []string{"gone"}) || len(preview.Failed) != 0 {
		t.Fatalf("got %+v, %v; want two branches, and that gone cannot be restored", preview, err)
	}
	if nothing, err := s.PreviewRetention(t.Context(), retention.Policy{}); err != nil || len(nothing.Trimmed)+len(nothing.Deleted) != 0 {
		t.Errorf("a policy that keeps everything removes %+v (%v)", nothing, err)
	}
	if _, err := s.PreviewRetention(t.Context(), retention.Policy{Keep: 10}); err == nil {
		t.Error("an age of ten seconds is taken")
	}
	if kept, err := s.Retention(t.Context()); err != nil || kept.Keep != 0 || versions(Default) != before[Default] {
		t.Fatalf("the preview changed the policy to %+v, or dropped versions (%v)", kept, err)
	}
	if err := s.SetRetention(t.Context(), policy); err != nil {
		t.Fatal(err)
	}
	done, err := s.Retain(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range preview.Trimmed {
		if went := before[p.Branch] - versions(p.Branch); went != p.Versions || p.Versions == 0 || p.Memories != 2 || !p.From.Equal(done.Trimmed[p.Branch]) {
			t.Errorf("of %s %d versions went, and it is read from %s on; the preview said %+v", p.Branch, went, done.Trimmed[p.Branch], p)
		}
	}
}

func TestAPurgedVersionIsPurgedWhereverTheKeyHoldsTheSame(t *testing.T) {
	s := testSpace(t)
	first := put(t, s, "", "k", "the secret")
	fork(t, s, "", "try")
	put(t, s, "try", "k", "harmless")
	put(t, s, "try", "k", "the secret")
	put(t, s, "", "k", "something else")
	erased, err := s.Purge(t.Context(), purge.Request{Key: "k", Version: first.Version})
	if err != nil || len(erased.Erased) != 2 {
		t.Fatalf("Purge = %+v (%v), want 2 versions erased", erased, err)
	}
	if got := text(t, s, "", "k", AsOf{}); got != "something else" {
		t.Errorf("another version was purged too: %q", got)
	}
	versions, _, err := s.History(t.Context(), Location{Branch: "try"}, "k", AsOf{}, 10)
	if err != nil || len(versions) != 3 || versions[0].Purged == "" || versions[1].Purged != "" || versions[2].Purged == "" {
		t.Errorf("history: %+v (%v)", versions, err)
	}
}

func TestAPurgedEventIsTheOneOfItsBranch(t *testing.T) {
	s := testSpace(t)
	note := func(branch, data string) {
		t.Helper()
		if _, err := s.Append(t.Context(), Location{Branch: branch}, "noted", json.RawMessage(data), Write{}); err != nil {
			t.Fatal(err)
		}
	}
	note("", `"one"`)
	fork(t, s, "", "try")
	note("", `"two, here"`)
	note("try", `"two, there"`)
	if erased, err := s.Purge(t.Context(), purge.Request{Event: 2, Branch: "try"}); err != nil || len(erased.Erased) != 1 || erased.Erased[0].Branch != "try" {
		t.Fatalf("Purge = %+v (%v), want one event of try erased", erased, err)
	}
	here, err := s.Events(t.Context(), Location{}, AsOf{}, 0, 10)
	if err != nil || len(here) != 2 || here[1].Data == nil {
		t.Errorf("the other branch has %+v (%v)", here, err)
	}
	var refused *Error
	if _, err := s.Purge(t.Context(), purge.Request{Event: 9}); !errors.As(err, &refused) || refused.Code != NotFound {
		t.Errorf("an event that is not there: %v", err)
	}
}

// TestRetentionKeepsVersionsInHistories trims what is older than an hour, of namespaces that keep more than others.
func TestRetentionKeepsVersionsInHistories(t *testing.T) {
	now := testclock.At(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	dir := t.TempDir()
	s, closeSpace := openSpace(t, dir, now.Now)
	namespaces := []string{"default", "work", "diary", "scratch"}
	for range 6 {
		for _, namespace := range namespaces {
			if _, err := s.Store(t.Context(), Location{Namespace: namespace}, []Item{{Key: "k", Value: json.RawMessage(`"` + now.Now().String() + `"`)}}, Write{}); err != nil {
				t.Fatal(err)
			}
		}
		now.Add(24 * time.Hour)
	}
	policy := retention.Policy{Keep: 3600, Versions: 3, Namespaces: map[string]retention.Namespace{
		"work": {Keep: 4 * 24 * 3600, Versions: 1}, "diary": {Forever: true}, "scratch": {Versions: 2},
	}}
	if err := s.SetRetention(t.Context(), policy); err != nil {
		t.Fatal(err)
	}
	if trimmed, err := s.Retain(t.Context()); err != nil || len(trimmed.Trimmed) != 1 {
		t.Fatalf("trimmed %v (%v)", trimmed, err)
	}
	check := func() {
		t.Helper()
		for namespace, want := range map[string]int{"default": 3, "work": 4, "diary": 6, "scratch": 2} {
			versions, _, err := s.History(t.Context(), Location{Namespace: namespace}, "k", AsOf{}, 10)
			if err != nil || len(versions) != want || len(versions) > 0 && len(versions[len(versions)-1].Value) < 10 {
				t.Errorf("%s has %d versions, not %d (%v)", namespace, len(versions), want, err)
			}
		}
		if verified, err := s.Verify(t.Context()); err != nil || len(verified.Findings) != 0 {
			t.Errorf("Verify = %+v (%v), want no findings", verified, err)
		}
		if _, err := s.Recall(t.Context(), Location{Namespace: "diary"}, "k", AsOf{Time: now.Now().Add(-48 * time.Hour)}); err == nil {
			t.Error("the branch can be read back further than it is kept")
		}
	}
	check()
	closeSpace()
	s, closeSpace = openSpace(t, dir, now.Now)
	defer closeSpace()
	check()
	for _, wrong := range []retention.Policy{{Versions: -1}, {Versions: retention.MostVersions + 1}, {Namespaces: map[string]retention.Namespace{"a b": {}}}, {Namespaces: map[string]retention.Namespace{"n": {Keep: 5}}}} {
		var refused *Error
		if err := s.SetRetention(t.Context(), wrong); !errors.As(err, &refused) || refused.Code != InvalidArgument {
			t.Errorf("SetRetention(%+v): %v, want an invalid argument", wrong, err)
		}
	}
}

func TestACheckOfALogFindsWhereItIsBroken(t *testing.T) {
	rewrite := func(e record.Event) []store.Write {
		value, err := e.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return []store.Write{{Key: store.Key{Namespace: Default, Collection: events, Name: store.SequenceName(3)}, Value: value}}
	}
	for says, spoil := range map[string]func(e record.Event) []store.Write{
		"the data of event 3 differs from what was logged": func(e record.Event) []store.Write { e.Data = json.RawMessage(`"other"`); return rewrite(e) },
		"event 3 does not continue the chain":              func(e record.Event) []store.Write { e.Agent = "mallory"; return rewrite(e) },
		"event 3 is missing; found 4": func(record.Event) []store.Write {
			return []store.Write{{Key: store.Key{Namespace: Default, Collection: events, Name: store.SequenceName(3)}, Delete: true}}
		},
	} {
		s := testSpace(t)
		for range 5 {
			if _, err := s.Append(t.Context(), Location{}, "noted", json.RawMessage(`"data"`), Write{}); err != nil {
				t.Fatal(err)
			}
		}
		b, err := s.branch("")
		if err != nil {
			t.Fatal(err)
		}
		found, err := s.engine.GetAt(t.Context(), b.Lineage, []store.Key{{Namespace: Default, Collection: events, Name: store.SequenceName(3)}})
		if err != nil {
			t.Fatal(err)
		}
		e, err := record.DecodeEvent(found[0])
		if err != nil {
			t.Fatal(err)
		}
		writes := spoil(e)
		for i := range writes {
			writes[i].Branch = b.ID
		}
		if _, err := s.engine.Commit(t.Context(), store.Batch{Writes: writes}); err != nil {
			t.Fatal(err)
		}
		a := s.owner("")
		whole, err := a.CheckLog(t.Context(), Location{}, AsOf{}, 1, 100)
		if err != nil || whole.Broken != 3 || whole.Checked != 2 || !strings.Contains(whole.Fault, says) || whole.Hash == "" {
			t.Errorf("CheckLog = %+v, %v, want it broken at 3, as %q", whole, err, says)
		}
		if part, err := a.CheckLog(t.Context(), Location{}, AsOf{}, 1, 2); err != nil || part.Broken != 0 || part.Next != 3 || part.Hash != whole.Hash {
			t.Errorf("%s: the part before is %+v, %v", says, part, err)
		}
		if behind, err := a.CheckLog(t.Context(), Location{}, AsOf{}, 5, 100); err != nil || behind.Broken != 0 || behind.Checked != 1 {
			t.Errorf("%s: the part behind is %+v, %v", says, behind, err)
		}
	}
}

func TestTheVersionAtAMoment(t *testing.T) {
	now := testclock.At(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	s, closeSpace := openSpace(t, t.TempDir(), now.Now)
	defer closeSpace()
	begin := now.Now()
	now.Add(time.Hour)
	first := put(t, s, "", "k", "old")
	now.Add(time.Hour)
	second := put(t, s, "", "k", "new")
	a := s.owner("")
	for at, want := range map[AsOf]uint64{{}: second.Version, {Time: begin.Add(90 * time.Minute)}: first.Version, {Version: first.Version}: first.Version, {Time: now.Now().Add(time.Second)}: second.Version} {
		if got, _, err := a.VersionAt(t.Context(), "", at); err != nil || got != want {
			t.Errorf("at %+v it is %d, not %d: %v", at, got, want, err)
		}
	}
	for _, at := range []AsOf{{Time: begin.Add(-time.Hour)}, {Version: 99}, {Time: now.Now().Add(time.Hour)}} {
		if got, _, err := a.VersionAt(t.Context(), "", at); err == nil {
			t.Errorf("at %+v it is %d", at, got)
		}
	}
}
