package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory/counters"
	"github.com/alcove-memory/alcove/host/memory/feed"
	"github.com/alcove-memory/alcove/host/memory/portable"
	"github.com/alcove-memory/alcove/host/memory/provenance"
	"github.com/alcove-memory/alcove/host/memory/query"
	"github.com/alcove-memory/alcove/host/memory/scope"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// secretWord is in every memory, event and key of the namespace that the caller of these tests may not read.
const secretWord = "zebra"

// hidden is that namespace; the caller may write desk/work, and read shelf/library.
const hidden = "desks"

var ann = Caller{Agent: "ann", Call: "ann's", Rights: FullRights()}

var clerk = Caller{Agent: "clerk", Rights: RightsTo([]string{"shelf/library"}, []string{"desk/work"})}

// A world is a space in which the hidden namespace was written, or at the same versions and instants was not.
type world struct {
	*Space
	t       *testing.T
	secrets bool
}

func openWorld(t *testing.T, secrets bool) *world {
	still := func() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }
	engine, err := bolt.Open(t.Context(), t.TempDir(), bolt.Options{Now: still, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Options{Engine: engine, Index: search.New(search.Options{}), Clock: still, CounterDelay: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(s.Close(context.Background()), engine.Close()); err != nil {
			t.Error(err)
		}
	})
	w := &world{s, t, secrets}
	w.must(nil, s.indexes.KeepLinks(t.Context())) // or the first question about links would have it kept, some time between the others
	w.fill("default")
	w.must(w.As(ann).Fork(t.Context(), "", "draft", AsOf{}, Write{}))
	w.must(w.As(ann).Create(t.Context(), "own", Write{}))
	w.fill("draft")
	w.must(w.As(ann).Store(t.Context(), Location{"own", "desk/work"}, []Item{{Key: "mine", Value: json.RawMessage(`"alone"`)}}, Write{}))
	return w
}

func (w *world) must(_ any, err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// fill writes to a branch, in every namespace, memories, events and a family's records.
func (w *world) fill(branch string) {
	for _, namespace := range []string{"desk/work", hidden, "shelf/library"} {
		for i := range 3 {
			w.write(branch, namespace, i)
		}
	}
}

func (w *world) write(branch, namespace string, i int) {
	w.t.Helper()
	text := fmt.Sprintf("tea on %s, part %d", branch, i)
	if namespace == hidden {
		text += " " + secretWord
	}
	if namespace == hidden && !w.secrets {
		_, err := w.engine.Commit(w.t.Context(), store.Batch{})
		w.must(nil, err)
		return
	}
	stage, err := w.As(ann).Stage(w.t.Context(), branch)
	w.must(nil, err)
	value, err := json.Marshal(text)
	w.must(nil, err)
	key := fmt.Sprint("k", i)
	if namespace == hidden {
		key += secretWord
	}
	w.must(stage.Put(w.t.Context(), namespace, []Item{{Key: key, Value: value}}))
	w.must(nil, stage.Log(namespace, "noted", value))
	w.must(nil, stage.Emit(w.t.Context(), namespace, feed.Emission{Family: "bell", Kind: "rang", Payload: value}))
	w.must(nil, stage.PutRecord(w.t.Context(), records, namespace, key, json.RawMessage(`{"text":`+string(value)+`}`), nil))
	w.must(stage.Commit(w.t.Context(), Commit{}))
}

var records = Collection{Name: "fam/notes", Fields: []string{"text"}, Quota: Quota{Records: 1000}}

// A deed calls one method, in a namespace that the caller has every right to, in one that it may read, and in the hidden one.
type deed struct {
	method string
	do     func(ctx context.Context, a *Access, say func(any, error))
}

var item = []Item{{Key: "new", Value: json.RawMessage(`"fresh tea"`)}}

// each calls a deed for every namespace.
func each(do func(namespace string)) {
	for _, namespace := range []string{"desk/work", "shelf/library", hidden, ""} {
		do(namespace)
	}
}

// sets are namespaces to choose from: all, a permitted one, and the hidden one.
var sets = [][]string{nil, {AllNamespaces}, {"desk/work"}, {"shelf/library", hidden}, {hidden}}

var deeds = []deed{
	{"Caller", func(_ context.Context, a *Access, say func(any, error)) { say(a.Caller().Agent, nil) }},
	{"QuotaUses", func(ctx context.Context, a *Access, say func(any, error)) {
		for _, agent := range []string{"", "ann", "clerk"} {
			l, err := a.QuotaUses(ctx, agent)
			say(l, err)
		}
	}},
	{"Recall", func(ctx context.Context, a *Access, say func(any, error)) {
		each(func(ns string) {
			m, err := a.Recall(ctx, Location{"", ns}, "k1", AsOf{})
			say(m, err)
			m, err = a.Recall(ctx, Location{"draft", ns}, "k1"+secretWord, AsOf{Version: 6})
			say(m, err)
		})
	}},
	{"Missing", func(ctx context.Context, a *Access, say func(any, error)) {
		for _, branch := range []string{"", "draft"} {
			for _, key := range []string{"K1", "k1" + secretWord, "k9" + secretWord, "none"} {
				for _, at := range []AsOf{{}, {Version: 6}} {
					each(func(ns string) {
						m, err := a.Missing(ctx, Location{branch, ns}, key, at)
						say(m, err)
					})
				}
			}
		}
	}},
	{"Home", func(_ context.Context, a *Access, say func(any, error)) {
		for _, named := range [][]string{nil, {hidden}, {"none/*"}, {hidden + "/*", "shelf/*"}} {
			say(a.Home(named), nil)
		}
	}},
	{"Namespaces", func(ctx context.Context, a *Access, say func(any, error)) {
		l, err := a.Namespaces(ctx, "draft")
		say(l, err)
	}},
	{"Having", func(ctx context.Context, a *Access, say func(any, error)) {
		for _, key := range []string{"k1", "k1" + secretWord} {
			l, err := a.Having(ctx, "draft", key, AsOf{})
			say(l, err)
		}
	}},
	{"Contents", func(ctx context.Context, a *Access, say func(any, error)) {
		for _, namespaces := range sets {
			for _, q := range []Search{{Text: "none"}, {Text: "none", Tags: []string{secretWord}}, {Text: "none", Events: true, AsOf: AsOf{Version: 8}}} {
				q.Namespaces, q.Branch = namespaces, "draft"
				c, err := a.Contents(ctx, q)
				say(c, err)
			}
		}
	}},
	{"Get", func(ctx context.Context, a *Access, say func(any, error)) {
		each(func(ns string) {
			m, err := a.Get(ctx, Location{"draft", ns}, []string{"k1", "k1" + secretWord})
			say(m, err)
		})
	}},
	{"List", func(ctx context.Context, a *Access, say func(any, error)) {
		each(func(ns string) {
			l, next, err := a.List(ctx, Location{"", ns}, "k", "", AsOf{}, 0)
			say([]any{l, next}, err)
		})
	}},
	{"History", func(ctx context.Context, a *Access, say func(any, error)) {
		each(func(ns string) {
			l, more, err := a.History(ctx, Location{"draft", ns}, "k1", AsOf{}, 0)
			say([]any{l, more}, err)
		})
	}},
	{"Counters", func(ctx context.Context, a *Access, say func(any, error)) {
		each(func(ns string) {
			c, err := a.Counters(ctx, Location{"", ns}, "k1")
			say(c, err)
		})
	}},
	{"CountAccesses", func(ctx context.Context, a *Access, say func(any, error)) {
		for _, branch := range []string{"", "draft", "none"} {
			each(func(ns string) {
				say(nil, a.CountAccesses(branch, []Hit{{Memory: Memory{Namespace: ns, Key: "k1"}}}))
				c, err := a.Counters(ctx, Location{branch, ns}, "k1")
				say(c, err)
			})
		}
	}},
	{"Extent", func(ctx context.Context, a *Access, say func(any, error)) {
		e, err := a.Extent(ctx, "draft")
		say(e, err)
	}},
	{"Status", func(ctx context.Context, a *Access, say func(any, error)) {
		each(func(ns string) {
			s, err := a.Status(ctx, Location{"", ns})
			s.Searchable = true
			say(s, err)
		})
	}},
	{"Search", func(ctx context.Context, a *Access, say func(any, error)) {
		for _, namespaces := range sets {
			for _, q := range []Search{{Text: "tea part"}, {Text: secretWord}, {Text: "tea", Events: true}, {Text: "tea", Expand: true, Explain: true, Features: true},
				{Text: "tea", Distinct: true}, {Text: "tea", AsOf: AsOf{Version: 8}}} {
				q.Namespaces, q.Branch = namespaces, "draft"
				f, err := a.Search(ctx, q)
				say(f, err)
			}
		}
	}},
	{"Events", func(ctx context.Context, a *Access, say func(any, error)) {
		each(func(ns string) {
			l, err := a.Events(ctx, Location{"", ns}, AsOf{}, 0, 0)
			say(l, err)
		})
	}},
	{"VerifyLog", func(ctx context.Context, a *Access, say func(any, error)) {
		each(func(ns string) {
			n, err := a.VerifyLog(ctx, Location{"", ns})
			say(n, err)
		})
	}},
	{"CheckLog", func(ctx context.Context, a *Access, say func(any, error)) {
		each(func(ns string) {
			c, err := a.CheckLog(ctx, Location{"", ns}, AsOf{}, 2, 1)
			say(c, err)
		})
	}},
	{"ReadFeed", func(ctx context.Context, a *Access, say func(any, error)) {
		for _, namespaces := range sets {
			for _, q := range []feed.Query{{}, {Kinds: []string{string(feed.MemoryForgotten), "bell.*"}}, {Agents: []string{"ann", secretWord}, Limit: 1}} {
				q.Branch, q.Namespaces = "draft", namespaces
				f, err := a.ReadFeed(ctx, q)
				say(f.Notices, err)
			}
		}
	}},
	{"Has", func(_ context.Context, a *Access, say func(any, error)) {
		each(func(ns string) {
			say(nil, a.Has(ToRead, ns))
			say(nil, a.Has(ToWrite, ns))
		})
	}},
	{"HasAgent", func(_ context.Context, a *Access, say func(any, error)) {
		each(func(ns string) { say(nil, a.HasAgent("ann", ToWrite, ns)) })
	}},
	{"FeedEnd", func(ctx context.Context, a *Access, say func(any, error)) {
		_, err := a.FeedEnd(ctx, "draft") // a version, which is everybody's
		say(nil, err)
	}},
	{"VersionAt", func(ctx context.Context, a *Access, say func(any, error)) {
		v, _, err := a.VersionAt(ctx, "draft", AsOf{Version: 8})
		say(v, err)
	}},
	{"Feed", func(ctx context.Context, a *Access, say func(any, error)) {
		for _, namespaces := range sets {
			f, err := a.Feed(ctx, "draft", namespaces, 0, 0)
			say(f.Notices, err) // the watermark is a version, which is everybody's
		}
	}},
	{"Written", func(ctx context.Context, a *Access, say func(any, error)) {
		w, err := a.Written(ctx, WrittenQuery{Branch: "draft", Memories: true, Collections: []string{"notes/own"}, Merges: true})
		say([]any{w.Entries, w.Merges}, err) // the watermark is a version, which is everybody's
	}},
	{"Deleted", func(ctx context.Context, a *Access, say func(any, error)) {
		list, err := a.Deleted(ctx)
		for i := range list {
			list[i].Deleted = time.Time{}
		}
		say(list, err)
	}},
	{"Move", func(ctx context.Context, a *Access, say func(any, error)) {
		for _, dry := range []bool{true, false} {
			for _, m := range []Move{{From: hidden, To: "shelf/moved"}, {From: "shelf", To: hidden, Strategy: Newest}, {From: "none", To: "shelf/moved"}} {
				moved, err := a.Move(ctx, m, Write{RequestID: "move" + m.From, DryRun: dry})
				say(moved, err)
			}
		}
	}},
	{"Timeline", func(ctx context.Context, a *Access, say func(any, error)) {
		say(a.Timeline(ctx, TimelineQuery{Buckets: 3, At: AsOf{Version: 20}}))
		say(a.Timeline(ctx, TimelineQuery{Buckets: 1, Period: Period{Namespaces: []string{hidden}}}))
	}},
	{"Changed", func(ctx context.Context, a *Access, say func(any, error)) {
		list, next, err := a.Changed(ctx, ChangedQuery{})
		say([]any{list, next}, err)
		list, next, err = a.Changed(ctx, ChangedQuery{Limit: 1, Period: Period{Since: AsOf{Version: 9}}})
		say([]any{list, next}, err)
		list, next, err = a.Changed(ctx, ChangedQuery{Period: Period{Namespaces: []string{hidden}}})
		say([]any{list, next}, err)
	}},
	{"Peer", func(ctx context.Context, a *Access, say func(any, error)) {
		for _, namespaces := range sets {
			for _, to := range []Right{ToRead, ToWrite} {
				p, err := a.Peer(ctx, "draft", 0, provenance.Scope{Namespaces: namespaces}, to)
				say(p.Scope, err) // the rest are versions, which are everybody's
			}
		}
	}},
	{"Versions", func(ctx context.Context, a *Access, say func(any, error)) {
		for _, namespaces := range sets {
			p, err := a.Versions(ctx, ExchangeQuery{Peer: Peer{Branch: "draft", At: 20, Scope: provenance.Scope{Namespaces: namespaces}}})
			for i := range p.Versions {
				p.Versions[i].Origins, p.Versions[i].Created = nil, nil // replicas are random
			}
			say(p, err)
		}
	}},
	{"ExchangeState", func(ctx context.Context, a *Access, say func(any, error)) {
		say(a.ExchangeState(ctx, "draft"))
	}},
	{"Track", func(ctx context.Context, a *Access, say func(any, error)) {
		say(a.Track(ctx, "draft", "remotes/x", json.RawMessage(`{}`), Write{}))
	}},
	{"Adopt", func(ctx context.Context, a *Access, say func(any, error)) {
		say(nil, a.Adopt(ctx, "adopted", nil, provenance.Scope{}, Write{}))
	}},
	{"Receive", func(ctx context.Context, a *Access, say func(any, error)) {
		each(func(ns string) {
			for _, v := range []Exchanged{{Memory: portable.Memory{Key: "k1", Value: item[0].Value}}, {Memory: portable.Memory{Key: "k2"}, Deleted: true}} {
				v.Namespace, v.Origins = ns, []provenance.Version{{Replica: "elsewhere.1", Version: 7, At: 1}}
				say(a.Receive(ctx, Received{Branch: "draft", Strategy: Source, Versions: []Exchanged{v}}, Write{}))
			}
		})
	}},
	{"Elsewhere", func(ctx context.Context, a *Access, say func(any, error)) {
		each(func(ns string) {
			list, next, err := a.Elsewhere(ctx, Location{"draft", ns}, "k1", AsOf{}, "", 2)
			say([]any{list, next}, err)
		})
	}},
	{"Histories", func(ctx context.Context, a *Access, say func(any, error)) {
		for _, namespaces := range sets {
			p, err := a.Histories(ctx, ExchangeQuery{Peer: Peer{Branch: "draft", At: 20, Scope: provenance.Scope{Namespaces: namespaces}}})
			for i := range p.Versions {
				p.Versions[i].Origins, p.Versions[i].Created = nil, nil // replicas are random
			}
			say(p, err)
		}
	}},
	{"HistoryPeer", func(ctx context.Context, a *Access, say func(any, error)) {
		for _, namespaces := range sets {
			for _, to := range []Right{ToRead, ToWrite} {
				p, err := a.HistoryPeer(ctx, "draft", 0, provenance.Scope{Namespaces: namespaces}, to)
				say(p.Scope, err) // the rest are versions, which are everybody's
			}
		}
	}},
	{"HistoryPlace", func(ctx context.Context, a *Access, say func(any, error)) {
		for _, namespaces := range sets {
			say(a.HistoryPlace(ctx, "draft", "elsewhere", provenance.Scope{Namespaces: namespaces}))
		}
	}},
	{"ReceiveHistory", func(ctx context.Context, a *Access, say func(any, error)) {
		each(func(ns string) {
			v := Exchanged{Memory: portable.Memory{Key: "k1", Value: item[0].Value}}
			v.Namespace, v.Origins = ns, []provenance.Version{{Replica: "elsewhere.1", Version: 7, At: 1}}
			say(a.ReceiveHistory(ctx, ReceivedHistory{Space: "elsewhere", Branch: "draft", Versions: []Exchanged{v}, At: 7}, Write{}))
		})
	}},
	{"Chains", func(ctx context.Context, a *Access, say func(any, error)) {
		each(func(ns string) {
			l, err := a.Chains(ctx, Location{"", ns})
			say(l, err)
		})
	}},
	{"EventsOf", func(ctx context.Context, a *Access, say func(any, error)) {
		each(func(ns string) {
			l, err := a.EventsOf(ctx, ChainQuery{Location: Location{"", ns}, Chain: "elsewhere.1"})
			say(l, err)
		})
	}},
	{"NameSpace", func(ctx context.Context, a *Access, say func(any, error)) {
		say(nil, a.NameSpace(ctx, "hub", "elsewhere", Write{}))
	}},
	{"SyncedCollections", func(_ context.Context, a *Access, say func(any, error)) {
		say(a.SyncedCollections(ToWrite), nil)
	}},
	{"RecordMark", func(ctx context.Context, a *Access, say func(any, error)) {
		_, err := a.RecordMark(ctx, Default, true) // which counts the versions of all
		say(nil, err)
	}},
	{"ChangedRecords", func(ctx context.Context, a *Access, say func(any, error)) {
		for _, namespaces := range sets {
			page, err := a.ChangedRecords(ctx, RecordsQuery{Branch: Default, Scope: provenance.Scope{Namespaces: namespaces}, Collections: []string{"notes/pages"}})
			say(page.Records, err)
		}
	}},
	{"RecordsKnown", func(ctx context.Context, a *Access, say func(any, error)) {
		say(a.RecordsKnown(ctx, ReceivedRecords{Space: "elsewhere", Branch: Default}))
	}},
	{"ReceiveRecords", func(ctx context.Context, a *Access, say func(any, error)) {
		each(func(ns string) {
			one := ExchangedRecord{Namespace: cmp.Or(ns, Default), Collection: "notes/pages", Key: "k1", Value: item[0].Value, Stamp: provenance.Version{Replica: "elsewhere.1", Version: 7, At: 1}}
			say(a.ReceiveRecords(ctx, ReceivedRecords{Branch: Default, Records: []ExchangedRecord{one}}, Write{}))
		})
	}},
	{"CountMark", func(ctx context.Context, a *Access, say func(any, error)) {
		for _, namespaces := range sets {
			_, err := a.CountMark(ctx, provenance.Scope{Namespaces: namespaces}) // which is random
			say(nil, err)
		}
	}},
	{"Counted", func(ctx context.Context, a *Access, say func(any, error)) {
		for _, namespaces := range sets {
			for _, limit := range []int{0, 1} {
				list, _, err := a.Counted(ctx, CountQuery{Scope: provenance.Scope{Namespaces: namespaces}, Limit: limit})
				for i := range list {
					list[i].Counts = nil // replicas are random
				}
				say(list, err)
			}
		}
	}},
	{"CountsKnown", func(ctx context.Context, a *Access, say func(any, error)) {
		for _, namespaces := range sets {
			say(a.CountsKnown(ctx, "elsewhere", provenance.Scope{Namespaces: namespaces}))
		}
	}},
	{"ReceiveCounts", func(ctx context.Context, a *Access, say func(any, error)) {
		each(func(ns string) {
			list := []Replicated{{Namespace: cmp.Or(ns, Default), Key: "k1", Counts: map[string]counters.Record{"elsewhere.1": {Accesses: 3, Last: 1}}}}
			say(a.ReceiveCounts(ctx, ReceivedCounts{Space: "elsewhere", List: list}))
		})
	}},
	{"Merges", func(ctx context.Context, a *Access, say func(any, error)) {
		say(a.Merges(ctx, 0))
	}},
	{"Branches", func(ctx context.Context, a *Access, say func(any, error)) {
		l, err := a.Branches(ctx)
		say(l, err)
	}},
	{"Diff", func(ctx context.Context, a *Access, say func(any, error)) {
		for _, namespaces := range sets {
			d, err := a.Diff(ctx, DiffQuery{Source: "draft", Namespaces: namespaces})
			say(d, err)
		}
	}},
	{"Showing", func(ctx context.Context, a *Access, say func(any, error)) {
		d, err := a.Showing(func(string) bool { return true }).Diff(ctx, DiffQuery{Source: "draft"})
		say(d, err)
	}},
	{"Namespaces", func(ctx context.Context, a *Access, say func(any, error)) {
		l, err := a.Namespaces(ctx, "draft")
		say(l, err)
	}},
	{"Commits", func(ctx context.Context, a *Access, say func(any, error)) {
		for _, q := range []CommitQuery{{}, {Agent: "ann"}, {Branch: "draft", Since: 9}, {Limit: 2}} {
			l, _, err := a.Commits(ctx, q)
			say(l, err)
		}
	}},
	{"Undo", func(ctx context.Context, a *Access, say func(any, error)) { // operators alone, who have all rights
		done, err := a.Undo(ctx, Undo{Call: "c"}, Write{DryRun: true})
		say(done, err)
	}},
	{"Answered", func(ctx context.Context, a *Access, say func(any, error)) {
		answer, done, err := a.Answered(ctx, Commit{Write: Write{RequestID: "ann's"}, Operation: "op"})
		say([]any{answer, done}, err)
	}},
	{"Effects", func(ctx context.Context, a *Access, say func(any, error)) {
		say(nil, a.Effects(Write{RequestID: "r"}).Earlier(ctx))
	}},
	{"StageAt", func(ctx context.Context, a *Access, say func(any, error)) {
		t, err := a.StageAt(ctx, "draft", AsOf{Version: 8})
		say(nil, err)
		for _, s := range stageDeeds {
			if s.method != "Commit" {
				s.do(ctx, t, say)
			}
		}
		say(t.Changes(), nil)
	}},
	{"Stage", func(ctx context.Context, a *Access, say func(any, error)) {
		for _, s := range stageDeeds {
			t, err := a.Stage(ctx, "draft")
			say(nil, err)
			s.do(ctx, t, say)
		}
	}},
	{"Store", func(ctx context.Context, a *Access, say func(any, error)) {
		for _, dry := range []bool{true, false} {
			each(func(ns string) {
				stored, err := a.Store(ctx, Location{"", ns}, item, Write{DryRun: dry})
				say(stored, err)
				none := uint64(0)
				stored, err = a.Store(ctx, Location{"", ns}, []Item{{Key: "k1" + secretWord, Value: item[0].Value, IfVersion: &none}}, Write{RequestID: "store" + ns, DryRun: dry})
				say(stored, err)
			})
		}
	}},
	{"SetState", func(ctx context.Context, a *Access, say func(any, error)) {
		each(func(ns string) {
			keys, err := a.SetState(ctx, Location{"", ns}, []string{"k0", "k1" + secretWord}, Archived, Write{})
			say(keys, err)
		})
	}},
	{"Forget", func(ctx context.Context, a *Access, say func(any, error)) {
		for _, dry := range []bool{true, false} {
			each(func(ns string) {
				keys, err := a.Forget(ctx, Location{"", ns}, []string{"k0", "k1" + secretWord}, Write{DryRun: dry})
				say(keys, err)
			})
		}
	}},
	{"Append", func(ctx context.Context, a *Access, say func(any, error)) {
		for _, dry := range []bool{true, false} {
			each(func(ns string) {
				e, err := a.Append(ctx, Location{"", ns}, "said", json.RawMessage(`1`), Write{DryRun: dry})
				say(e, err)
			})
		}
	}},
	{"Import", func(ctx context.Context, a *Access, say func(any, error)) {
		for _, dry := range []bool{true, false} {
			each(func(ns string) {
				done, err := a.Import(ctx, "", []portable.Memory{{Namespace: "desk/work", Key: "in", Value: json.RawMessage(`1`)},
					{Namespace: ns, Key: "in" + secretWord, Value: json.RawMessage(`2`)}}, Write{DryRun: dry})
				say(done, err)
			})
		}
	}},
	{"Merge", func(ctx context.Context, a *Access, say func(any, error)) {
		for _, dry := range []bool{true, false} {
			for _, namespaces := range [][]string{{hidden}, {"shelf/library"}, nil} {
				for _, strategy := range []Strategy{Strict, Source} {
					var notes []string
					w := Write{DryRun: dry, Note: func(note string) { notes = append(notes, note) }}
					m, err := a.Merge(ctx, Merge{Source: "draft", Namespaces: namespaces, Strategy: strategy}, w)
					say([]any{m, notes}, err)
				}
			}
			m, err := a.Merge(ctx, Merge{Source: "draft", Resolutions: []Resolution{{Namespace: hidden, Key: "k1" + secretWord, Take: "source"}}}, Write{DryRun: dry})
			say(m, err)
		}
	}},
	{"Fork", func(ctx context.Context, a *Access, say func(any, error)) {
		for _, dry := range []bool{true, false} {
			b, err := a.Fork(ctx, "draft", "theirs", AsOf{}, Write{DryRun: dry})
			say(b, err)
		}
		m, err := a.Recall(ctx, Location{"theirs", hidden}, "k1"+secretWord, AsOf{}) // a fork grants nothing
		say(m, err)
		f, err := a.Search(ctx, Search{Branch: "theirs", Text: secretWord})
		say(f, err)
	}},
	{"Pin", func(ctx context.Context, a *Access, say func(any, error)) {
		for _, dry := range []bool{true, false} {
			b, err := a.Pin(ctx, "draft", "pinned", AsOf{}, Write{DryRun: dry})
			say(b, err)
		}
		m, err := a.Recall(ctx, Location{"pinned", hidden}, "k1"+secretWord, AsOf{}) // nor does a pin grant anything
		say(m, err)
	}},
	{"Create", func(ctx context.Context, a *Access, say func(any, error)) {
		for _, dry := range []bool{true, false} {
			b, err := a.Create(ctx, "made", Write{DryRun: dry})
			say(b, err)
		}
	}},
}

// A stageDeed calls one method of a Stage.
type stageDeed struct {
	method string
	do     func(ctx context.Context, t *Stage, say func(any, error))
}

var stageDeeds = []stageDeed{
	{"Version", func(_ context.Context, t *Stage, say func(any, error)) { say(t.Version(), nil) }},
	{"Branch", func(_ context.Context, t *Stage, say func(any, error)) { say(t.Branch(), nil) }},
	{"Continue", func(ctx context.Context, t *Stage, say func(any, error)) {
		say(nil, t.Continue(ctx, Gatherer{Family: "tidy"}))
	}},
	{"Continues", func(_ context.Context, t *Stage, say func(any, error)) { say(t.Continues(), nil) }},
	{"Now", func(_ context.Context, t *Stage, say func(any, error)) { say(t.Now(), nil) }},
	{"Changes", func(_ context.Context, t *Stage, say func(any, error)) { say(t.Changes(), nil) }},
	{"Writes", func(_ context.Context, t *Stage, say func(any, error)) { say(t.Writes(Commit{}), nil) }},
	{"ChangesMemories", func(_ context.Context, t *Stage, say func(any, error)) { say(t.ChangesMemories(), nil) }},
	{"Save", func(_ context.Context, t *Stage, say func(any, error)) { t.Save() }},
	{"Restore", func(_ context.Context, t *Stage, say func(any, error)) { t.Restore(t.Save()) }},
	{"Get", func(ctx context.Context, t *Stage, say func(any, error)) {
		each(func(ns string) {
			l, err := t.Get(ctx, ns, []string{"k1", "k1" + secretWord})
			say(l, err)
		})
	}},
	{"List", func(ctx context.Context, t *Stage, say func(any, error)) {
		each(func(ns string) {
			l, next, err := t.List(ctx, ns, "", "", 2)
			say([]any{l, next}, err)
		})
	}},
	{"Pairs", func(ctx context.Context, t *Stage, say func(any, error)) {
		each(func(ns string) {
			found, err := t.Pairs(ctx, PairQuery{Namespace: ns, Similarity: .01})
			say(found, err)
		})
	}},
	{"Select", func(ctx context.Context, t *Stage, say func(any, error)) {
		each(func(ns string) {
			for _, order := range []Order{ByKey, ByNewest, ByAccesses} {
				l, err := t.Select(ctx, Listing{Namespace: ns, Order: order, Limit: 2, Count: CountAlso, Filter: Filter{Expiry: WithExpired}})
				say(l, err)
			}
		})
	}},
	{"WithExpiry", func(ctx context.Context, t *Stage, say func(any, error)) {
		each(func(ns string) {
			say(nil, t.WithExpiry(WithExpired, func() error {
				l, err := t.Get(ctx, ns, []string{"k1", "k1" + secretWord})
				say(l, err)
				return err
			}))
		})
	}},
	{"History", func(ctx context.Context, t *Stage, say func(any, error)) {
		each(func(ns string) {
			l, more, err := t.History(ctx, ns, "k1"+secretWord, 100, 0)
			say([]any{l, more}, err)
			_, _, err = t.History(ctx, ns, "k1"+secretWord, 0, 0)
			say(nil, err)
		})
	}},
	{"Counters", func(ctx context.Context, t *Stage, say func(any, error)) {
		each(func(ns string) {
			l, err := t.Counters(ctx, ns, []string{"k1", "k1" + secretWord})
			say(l, err)
		})
	}},
	{"Search", func(ctx context.Context, t *Stage, say func(any, error)) {
		for _, namespaces := range sets {
			f, err := t.Search(ctx, Search{Text: "tea " + secretWord, Namespaces: namespaces})
			say(f, err)
		}
	}},
	{"CountTerms", func(ctx context.Context, t *Stage, say func(any, error)) {
		for _, namespaces := range sets {
			for _, c := range []Collection{{Name: memories}, records} {
				n, counts, err := t.CountTerms(ctx, c, namespaces, []string{"tea", secretWord})
				say([]any{n, counts}, err)
			}
		}
	}},
	{"Namespaces", func(ctx context.Context, t *Stage, say func(any, error)) {
		l, err := t.Namespaces(ctx)
		say(l, err)
	}},
	{"Records", func(ctx context.Context, t *Stage, say func(any, error)) {
		each(func(ns string) {
			l, err := t.Records(ctx, records, ns, []string{"k1", "k1" + secretWord})
			say(l, err)
		})
	}},
	{"ListRecords", func(ctx context.Context, t *Stage, say func(any, error)) {
		each(func(ns string) {
			l, next, err := t.ListRecords(ctx, records, ns, "", "", 2)
			say([]any{l, next}, err)
		})
	}},
	{"ScanRecords", func(ctx context.Context, t *Stage, say func(any, error)) {
		each(func(ns string) {
			l, next, err := t.ScanRecords(ctx, records, ns, []string{"k", ""}, "", 2)
			say([]any{l, next}, err)
		})
	}},
	{"QueryRecords", func(ctx context.Context, t *Stage, say func(any, error)) {
		each(func(ns string) {
			c := records
			c.Indexes = []query.Index{{{Path: "text", Type: query.String}}}
			page, err := t.QueryRecords(ctx, c, ns, query.Query{Order: "text", Limit: 2, Count: true})
			say(page, err)
		})
	}},
	{"RecordHistory", func(ctx context.Context, t *Stage, say func(any, error)) {
		each(func(ns string) {
			l, next, err := t.RecordHistory(ctx, records, ns, "k1", 0, 2)
			say([]any{l, next}, err)
			l, next, err = t.RecordHistory(ctx, records, ns, "k1"+secretWord, 0, 2)
			say([]any{l, next}, err)
		})
	}},
	{"Expired", func(ctx context.Context, t *Stage, say func(any, error)) {
		each(func(ns string) {
			l, err := t.Expired().Records(ctx, records, ns, []string{"k1", "k1" + secretWord})
			say(l, err)
		})
	}},
	{"LinkedFrom", func(ctx context.Context, t *Stage, say func(any, error)) {
		each(func(ns string) {
			l, more, err := t.LinkedFrom(ctx, LinkQuery{To: Ref{Namespace: ns, Key: "k1"}})
			say([]any{l, more}, err)
		})
	}},
	{"SearchRecords", func(ctx context.Context, t *Stage, say func(any, error)) {
		for _, namespaces := range sets {
			hits, total, err := t.SearchRecords(ctx, records, Search{Text: "tea " + secretWord, Namespaces: namespaces})
			say([]any{hits, total}, err)
		}
	}},
	{"Put", func(ctx context.Context, t *Stage, say func(any, error)) {
		each(func(ns string) {
			none := uint64(0)
			l, err := t.Put(ctx, ns, []Item{{Key: "k1" + secretWord, Value: json.RawMessage(`1`), IfVersion: &none}})
			say(l, err)
		})
	}},
	{"Patch", func(ctx context.Context, t *Stage, say func(any, error)) {
		each(func(ns string) {
			l, err := t.Patch(ctx, ns, []Patch{{Key: "k1", AddTags: []string{"x"}}, {Key: "k1" + secretWord}})
			say(l, err)
		})
	}},
	{"Delete", func(ctx context.Context, t *Stage, say func(any, error)) {
		each(func(ns string) {
			n, err := t.Delete(ctx, ns, []string{"k1", "k1" + secretWord})
			say(n, err)
		})
	}},
	{"Touch", func(ctx context.Context, t *Stage, say func(any, error)) {
		each(func(ns string) {
			n, err := t.Touch(ctx, ns, []string{"k1", "k1" + secretWord}, 1, 0)
			say(n, err)
		})
	}},
	{"Log", func(ctx context.Context, t *Stage, say func(any, error)) {
		each(func(ns string) { say(nil, t.Log(ns, "said", json.RawMessage(`1`))) })
	}},
	{"LogNumbered", func(ctx context.Context, t *Stage, say func(any, error)) {
		each(func(ns string) {
			n, err := t.LogNumbered(ctx, ns, "said", json.RawMessage(`1`))
			say(n, err)
		})
	}},
	{"Count", func(ctx context.Context, t *Stage, say func(any, error)) {
		each(func(ns string) {
			kept, logged, err := t.Count(ctx, ns)
			say([]int{kept, logged}, err)
		})
	}},
	{"DeleteSome", func(ctx context.Context, t *Stage, say func(any, error)) {
		each(func(ns string) {
			n, more, err := t.DeleteSome(ctx, ns, 1)
			say([]any{n, more}, err)
		})
	}},
	{"Emit", func(ctx context.Context, t *Stage, say func(any, error)) {
		each(func(ns string) { say(nil, t.Emit(ctx, ns, feed.Emission{Family: "bell", Kind: "rang"})) })
	}},
	{"PutRecord", func(ctx context.Context, t *Stage, say func(any, error)) {
		each(func(ns string) {
			none := uint64(0)
			say(nil, t.PutRecord(ctx, records, ns, "k1"+secretWord, json.RawMessage(`{}`), &none))
			narrow := records
			narrow.Quota = Quota{Records: 1}
			say(nil, t.PutRecord(ctx, narrow, ns, "k9", json.RawMessage(`{}`), nil)) // how much is used is not said
		})
	}},
	{"Keep", func(ctx context.Context, t *Stage, say func(any, error)) {
		each(func(ns string) {
			none, until := uint64(0), t.Now().Add(time.Hour)
			say(nil, t.Keep(ctx, records, ns, RecordItem{Key: "k1" + secretWord, Value: json.RawMessage(`{}`), IfVersion: &none, ExpiresAt: &until}))
		})
	}},
	{"DeleteRecords", func(ctx context.Context, t *Stage, say func(any, error)) {
		each(func(ns string) {
			n, err := t.DeleteRecords(ctx, records, ns, []string{"k1", "k1" + secretWord})
			say(n, err)
		})
	}},
	{"AppendRecord", func(ctx context.Context, t *Stage, say func(any, error)) {
		each(func(ns string) {
			n, err := t.AppendRecord(ctx, Collection{Name: "fam/line"}, ns, json.RawMessage(`{}`))
			say(n, err)
		})
	}},
	{"ExpectRecord", func(ctx context.Context, t *Stage, say func(any, error)) {
		t.ExpectRecord(records, hidden, "k1"+secretWord, 3)
		say(nil, t.Log("desk/work", "said", json.RawMessage(`1`)))
		done, err := t.Commit(ctx, Commit{})
		say(done, err)
	}},
	{"Scope", func(ctx context.Context, t *Stage, say func(any, error)) {
		each(func(ns string) {
			r, err := t.Scope(ctx, cmp.Or(ns, Default))
			say(r, err)
		})
	}},
	{"Scopes", func(_ context.Context, t *Stage, say func(any, error)) {
		l, next := t.Scopes(ScopeQuery{Archived: WithArchived})
		say([]any{l, next}, nil)
	}},
	{"PutScope", func(ctx context.Context, t *Stage, say func(any, error)) {
		each(func(ns string) {
			for _, only := range []ScopeChange{CreateScope, CreateOrChangeScope} {
				r, created, err := t.PutScope(ctx, cmp.Or(ns, Default), scope.Change{Add: []string{"clerk"}}, only)
				say([]any{r, created}, err)
			}
		})
	}},
	{"DeleteScope", func(ctx context.Context, t *Stage, say func(any, error)) {
		each(func(ns string) {
			say(nil, t.DeleteScope(ctx, cmp.Or(ns, Default), EmptyScope))
			say(nil, t.DeleteScope(ctx, cmp.Or(ns, Default), AnyScope))
		})
	}},
	{"SetQuota", func(ctx context.Context, t *Stage, say func(any, error)) {
		each(func(ns string) { say(nil, t.SetQuota(ctx, cmp.Or(ns, Default), scope.Quota{Memories: 1})) })
	}},
	{"For", func(ctx context.Context, t *Stage, say func(any, error)) {
		for _, rights := range []Rights{FullRights(), RightsTo([]string{"shelf/library", hidden}, []string{hidden})} { // never more than the stage's
			s := t.For(Caller{Agent: "clerk", Rights: rights})
			each(func(ns string) {
				at := Location{Namespace: ns}
				m, err := s.Recall(ctx, at, "k1", AsOf{})
				say(m, err)
				m, err = s.Recall(ctx, at, "k1", AsOf{Version: 6})
				say(m, err)
				l, err := s.Get(ctx, at, []string{"k1"})
				say(l, err)
				h, more, err := s.History(ctx, at, "k1", AsOf{}, 10)
				say([]any{h, more}, err)
				h, more, err = s.History(ctx, at, "k1", AsOf{Version: 6}, 10)
				say([]any{h, more}, err)
				w, err := s.Store(ctx, at, item, Write{DryRun: true})
				say(len(w), err)
				k, err := s.Forget(ctx, at, []string{"k1"}, Write{DryRun: true})
				say(k, err)
				k, err = s.SetState(ctx, at, []string{"k1"}, Archived, Write{DryRun: true})
				say(k, err)
			})
			for _, set := range sets {
				f, err := s.Search(ctx, Search{Text: "tea", Namespaces: set})
				say(f, err)
			}
		}
	}},
	{"Commit", func(ctx context.Context, t *Stage, say func(any, error)) {
		_, err := t.Put(ctx, "desk/work", item)
		say(nil, err)
		for _, dry := range []bool{true, false} {
			done, err := t.Commit(ctx, Commit{Write: Write{DryRun: dry}})
			say(done, err)
		}
	}},
}

// A caller sees, and is told, in a space with a namespace that it may not read what it would be in one that never had it.
func TestANamespaceThatMayNotBeReadIsAsIfItWereNotThere(t *testing.T) {
	t.Run("rights to names", func(t *testing.T) { compareWorlds(t, clerk) })
	t.Run("rights to patterns", func(t *testing.T) {
		compareWorlds(t, Caller{Agent: "clerk", Rights: RightsTo([]string{"shelf/*"}, []string{"desk/*"})})
	})
	t.Run("rights records", func(t *testing.T) {
		all := []string{AllNamespaces}
		compareWorlds(t, Caller{Agent: "clerk", Key: "clerk's", Rights: RightsTo(all, all)}, hidden, "shelf/library")
	})
}

// compareWorlds compares what a reader sees; only their creator may read the scopes.
func compareWorlds(t *testing.T, reader Caller, scopes ...string) {
	with, without := openWorld(t, true), openWorld(t, false)
	for _, w := range []*world{with, without} {
		for _, namespace := range scopes {
			w.openScope(namespace, scope.Change{})
		}
		w.must(nil, w.Ready(t.Context()))
	}
	for _, d := range deeds {
		got, want := with.said(d, reader), without.said(d, reader)
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Errorf("%s, answer %d:\n%s\nbut without the namespace\n%s", d.method, i, got[i], want[i])
			}
			if strings.Contains(got[i], secretWord+`"`) && !strings.Contains(want[i], secretWord) {
				t.Errorf("%s tells of the namespace: %s", d.method, got[i])
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s gives %d answers, and %d without the namespace", d.method, len(got), len(want))
		}
	}
}

// openScope makes a namespace a scope of ann's, or changes it.
func (w *world) openScope(namespace string, c scope.Change) {
	w.t.Helper()
	stage, err := w.As(ann).Stage(w.t.Context(), "")
	w.must(nil, err)
	_, _, err = stage.PutScope(w.t.Context(), namespace, c, CreateOrChangeScope)
	w.must(nil, err)
	w.must(stage.Commit(w.t.Context(), Commit{}))
}

// said returns a caller's answers, as JSON.
func (w *world) said(d deed, reader Caller) []string {
	var list []string
	d.do(w.t.Context(), w.As(reader), func(v any, err error) {
		var e *Error
		if errors.As(err, &e) {
			v = []any{v, e.Code, e.Message, e.Details}
		} else if err != nil {
			v = []any{v, err.Error()}
		}
		text, err := json.Marshal(v)
		if err != nil {
			text = fmt.Appendf(nil, "%+v", v)
		}
		list = append(list, string(text))
	})
	return list
}

func TestEveryMethodOfAnAccessIsTestedForRights(t *testing.T) {
	tested := map[string]bool{"Access.Delete": true, "Access.Restore": true} // by TestABranchIsDeletedOnlyByThoseWhoMayWriteAllThatItHas
	for _, d := range deeds {
		tested["Access."+d.method] = true
	}
	for _, d := range stageDeeds {
		tested["Stage."+d.method] = true
	}
	for _, of := range []reflect.Type{reflect.TypeFor[*Access](), reflect.TypeFor[*Stage]()} {
		for i := range of.NumMethod() {
			if name := of.Elem().Name() + "." + of.Method(i).Name; !tested[name] {
				t.Errorf("no deed tests the rights of %s", name)
			}
		}
	}
}

func TestABranchIsDeletedOnlyByThoseWhoMayWriteAllThatItHas(t *testing.T) {
	w := openWorld(t, true)
	ctx := t.Context()
	for _, branch := range []string{"draft", "default"} {
		if err := w.As(clerk).Delete(ctx, Deletion{Branch: branch, Force: true}, Write{}); codeOf(err) != Denied || strings.Contains(err.Error(), hidden) {
			t.Errorf("deleting %s: %v", branch, err)
		}
	}
	if err := w.As(clerk).Delete(ctx, Deletion{Branch: "own", Force: true}, Write{DryRun: true}); err != nil {
		t.Error(err)
	}
	if _, err := w.As(clerk).Recall(ctx, Location{"own", "desk/work"}, "mine", AsOf{}); err != nil {
		t.Errorf("a dry run deleted the branch: %v", err)
	}
	if err := w.As(clerk).Delete(ctx, Deletion{Branch: "own", Force: true}, Write{}); err != nil {
		t.Error(err)
	}
	if _, err := w.As(clerk).Recall(ctx, Location{"own", "desk/work"}, "mine", AsOf{}); codeOf(err) != NotFound {
		t.Errorf("the branch is still there: %v", err)
	}
	if err := w.As(ann).Delete(ctx, Deletion{Branch: "draft", Force: true}, Write{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.As(clerk).Restore(ctx, "draft", "", Write{}); codeOf(err) != Denied || strings.Contains(err.Error(), hidden) {
		t.Errorf("restoring draft: got %v, want denied", err)
	}
	if _, err := w.As(clerk).Restore(ctx, "own", "", Write{}); err != nil {
		t.Errorf("restoring own: %v", err)
	}
	if m, err := w.As(clerk).Recall(ctx, Location{"own", "desk/work"}, "mine", AsOf{}); err != nil || m == nil {
		t.Errorf("the restored branch lacks its memory: %+v, %v", m, err)
	}
}

func TestACallerWithoutRightsIsDeniedEverything(t *testing.T) {
	w := openWorld(t, true)
	nobody := w.As(Caller{Agent: "nobody"})
	for _, d := range deeds {
		switch d.method {
		case "Caller", "Home", "Answered", "Effects", "Stage", "StageAt", "SyncedCollections":
			continue // no access to what is remembered; a stage is not given
		}
		d.do(t.Context(), nobody, func(v any, err error) {
			if codeOf(err) != Denied {
				t.Errorf("%s answers %v (%v)", d.method, v, err)
			}
		})
	}
	for _, at := range []AsOf{{}, {Version: 3}} {
		if _, err := nobody.StageAt(t.Context(), "", at); codeOf(err) != Denied {
			t.Errorf("a stage at %v: %v", at, err)
		}
	}
}

func codeOf(err error) Code {
	var e *Error
	if !errors.As(err, &e) {
		return ""
	}
	return e.Code
}

func TestAnAnswerIsForCallersWithTheSameRights(t *testing.T) {
	s := testSpace(t)
	ctx := t.Context()
	c := Commit{Write: Write{RequestID: "r"}, Operation: "ask", Content: json.RawMessage(`{}`), Answer: json.RawMessage(`"what is at home"`)}
	owner := s.As(Caller{Agent: "ann", Rights: FullRights()})
	stage, err := owner.Stage(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stage.Put(ctx, hidden, item); err != nil {
		t.Fatal(err)
	}
	if _, err := stage.Commit(ctx, c); err != nil {
		t.Fatal(err)
	}
	if answer, version, err := owner.Answered(ctx, c); string(answer) != string(c.Answer) || version == 0 || err != nil {
		t.Errorf("the owner is answered %s, %d (%v)", answer, version, err)
	}
	other := Caller{Agent: "ann", Rights: clerk.Rights}
	if answer, version, err := s.As(other).Answered(ctx, c); answer != nil || version != 0 || err != nil {
		t.Errorf("another of that name is answered %s, %d (%v)", answer, version, err)
	}
}
