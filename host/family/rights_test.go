package family

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/recalls"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/registry"
)

// without is everything but some capabilities.
func without(names ...abi.Capability) []abi.Request {
	return slices.DeleteFunc(everything(), func(r abi.Request) bool { return slices.Contains(names, r.Name) })
}

// as calls the only tool of a family for a caller.
func (w *world) as(c memory.Caller, name string) []response {
	w.t.Helper()
	result, err := w.call(given{Tool: name + "_do", Caller: c})
	if err != nil {
		w.t.Fatalf("call %s_do: %v", name, err)
	}
	return responses(w.t, result.Output)
}

func denied(r response) bool { return r.Error != nil && r.Error.Code == abi.CodeDenied }

func TestAFamilyThatMayReadNoMemoriesFindsNoneInComparisonsAndCounts(t *testing.T) {
	m := aFamily("nosy")
	m.Capabilities = without(abi.CanMemoryRead)
	w := open(t, nil)
	w.store("k", `"an old secret"`)
	if _, err := w.space.As(owner("")).Fork(t.Context(), "", "draft", memory.AsOf{}, memory.Write{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.space.As(owner("")).Store(t.Context(), memory.Location{Branch: "draft"}, []memory.Item{{Key: "k", Value: json.RawMessage(`"a new secret"`)}}, memory.Write{}); err != nil {
		t.Fatal(err)
	}
	w.with(m, script{steps: []step{
		{"branch.diff", `{"source":"draft"}`},
		{"branch.diff", `{"source":"draft","namespaces":["*"]}`},
		{"branch.merge", `{"source":"draft","preview":true}`},
		{"branch.merge", `{"source":"draft"}`},
		{"text.count", `{"terms":["secret"],"namespaces":["*"]}`},
		{"text.count", `{"terms":["secret"]}`},
	}})
	for i, r := range w.as(owner(""), "nosy") {
		if !denied(r) {
			t.Errorf("call %d was answered with %s, %v", i, r.OK, r.Error)
		}
	}
}

func TestAMergeShowsOnlyWhatMayBeReadToo(t *testing.T) {
	m := aFamily("nosy")
	for i, c := range m.Capabilities {
		if c.Name == abi.CanMemoryRead {
			m.Capabilities[i].Scope = []string{"open"}
		}
	}
	w := open(t, nil)
	if _, err := w.space.As(owner("")).Fork(t.Context(), "", "draft", memory.AsOf{}, memory.Write{}); err != nil {
		t.Fatal(err)
	}
	for _, namespace := range []string{"open", "closed"} {
		if _, err := w.space.As(owner("")).Store(t.Context(), memory.Location{Branch: "draft", Namespace: namespace}, []memory.Item{{Key: "k", Value: json.RawMessage(`"in ` + namespace + `"`)}}, memory.Write{}); err != nil {
			t.Fatal(err)
		}
	}
	w.with(m, script{steps: []step{{"branch.merge", `{"source":"draft"}`}}})
	got := w.as(owner(""), "nosy")[0]
	if got.Error != nil || strings.Contains(string(got.OK), "in closed") || !strings.Contains(string(got.OK), "in open") {
		t.Errorf("the merge answered %s, %v", got.OK, got.Error)
	}
}

func TestTheZeroCallerMayDoNothing(t *testing.T) {
	m := aFamily("nosy")
	yes := true
	m.Tools[0].Annotations.ReadOnly = &yes
	m.Collections = []abi.Collection{{Name: "own"}}
	w := open(t, nil).with(m, script{steps: []step{
		{"memory.get", `{"keys":["k"]}`}, {"memory.search", `{"query":"tea","namespaces":["*"]}`}, {"record.list", `{"collection":"own"}`},
		{"record.search", `{"collection":"own","query":"tea","namespaces":["*"]}`}, {"memory.put", `{"items":[{"key":"a","value":1}]}`},
	}})
	asked := false
	result, err := w.Call(t.Context(), given{Tool: "nosy_do", Arguments: json.RawMessage(`{}`), Ended: func(*sandbox.Result) { asked = true }})
	if code(err) != memory.Denied || result.Output != nil || asked {
		t.Errorf("it was answered with %s, %v; asked: %v", result.Output, err, asked)
	}
	if x, err := w.catalogue.Named("nosy"); err != nil || len(w.catalogue.Powers(x, memory.Caller{}, "").Scope(abi.CanMemoryRead)) > 0 {
		t.Errorf("it may read something, or there is none (%v)", err)
	}
}

func TestACallerWritesWhereTheyMayWriteAndReadsElsewhere(t *testing.T) {
	m := withJob("notes", "")
	m.Collections = []abi.Collection{{Name: "own"}}
	steps := []step{{"memory.get", `{"keys":["k"],"namespace":"shared"}`}, {"record.list", `{"collection":"own","namespace":"shared"}`},
		{"memory.put", `{"items":[{"key":"a","namespace":"work","value":1}]}`}, {"record.put", `{"collection":"own","namespace":"work","items":[{"key":"a","value":1}]}`},
		{"memory.put", `{"items":[{"key":"a","namespace":"shared","value":1}]}`}, {"record.put", `{"collection":"own","namespace":"shared","items":[{"key":"a","value":1}]}`},
		{"memory.get", `{"keys":["k"],"namespace":"closed"}`}, {"record.list", `{"collection":"own","namespace":"closed"}`}}
	w := open(t, nil).with(m, script{steps: append(steps, step{"job.enqueue", `{"job":"tidy"}`})})
	result, err := w.call(given{Tool: "notes_do", Location: memory.Location{Namespace: "work"}, Caller: memory.Caller{Rights: memory.RightsTo([]string{"shared"}, []string{"work"})}})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range responses(t, result.Output)[:len(steps)] {
		if denied(r) != (i >= 4) {
			t.Errorf("%s %s was answered with %s, %v", steps[i].op, steps[i].request, r.OK, r.Error)
		}
	}
	list, err := w.Jobs(t.Context())
	if err != nil || len(list) == 0 {
		t.Fatalf("Jobs = %v, %v, want one or more", list, err)
	}
	if rights := list[0].Caller().Rights; rights.MayWrite("shared") || !rights.MayRead("shared") || !rights.MayWrite("work") || rights.MayRead("closed") {
		t.Errorf("the job has the rights %+v", rights)
	}
}

func TestACallersNamespacesBoundWhatAFamilyKeepsForThem(t *testing.T) {
	m := aFamily("notes")
	m.Collections = []abi.Collection{{Name: "pages", Searchable: []string{"text"}}}
	w := open(t, nil).with(m, script{steps: []step{
		{"record.put", `{"collection":"pages","namespace":"closed","items":[{"key":"p","value":{"text":"secret"}}]}`},
		{"record.get", `{"collection":"pages","namespace":"closed","keys":["p"]}`},
		{"record.list", `{"collection":"pages","namespace":"closed"}`},
		{"record.append", `{"collection":"pages","namespace":"closed","values":[1]}`},
		{"record.delete", `{"collection":"pages","namespace":"closed","keys":["p"]}`},
		{"record.search", `{"collection":"pages","namespaces":["closed"],"query":"secret"}`},
		{"record.search", `{"collection":"pages","namespaces":["open","*"],"query":"secret"}`},
		{"text.count", `{"collection":"pages","namespaces":["closed"],"terms":["secret"]}`},
	}})
	stage, err := w.space.As(owner("")).Stage(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	pages := memory.Collection{Name: "notes/pages", Fields: []string{"text"}}
	if err := stage.PutRecord(t.Context(), pages, "closed", "p", json.RawMessage(`{"text":"secret"}`), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := stage.Commit(t.Context(), memory.Commit{}); err != nil {
		t.Fatal(err)
	}
	result, err := w.call(given{Tool: "notes_do", Location: memory.Location{Namespace: "open"}, Caller: memory.Caller{Rights: memory.RightsTo(nil, []string{"open"})}})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range responses(t, result.Output) {
		if !denied(r) && !strings.Contains(string(r.OK), `"total":0`) {
			t.Errorf("call %d was answered with %s, %v", i, r.OK, r.Error)
		}
	}
}

func TestAJobHasNoMoreRightsThanWhoeverQueuedIt(t *testing.T) {
	m := withJob("tidy", "")
	w := open(t, nil).with(m, script{steps: []step{{"job.enqueue", `{"job":"tidy"}`}, {"memory.put", `{"items":[{"key":"a","namespace":"closed","value":1}]}`}}})
	if _, err := w.call(given{Tool: "tidy_do", Location: memory.Location{Namespace: "open"}, Caller: memory.Caller{Rights: memory.RightsTo(nil, []string{"open"})}}); err != nil {
		t.Fatal(err)
	}
	await.That(t, "the job ran", func() bool {
		list, err := w.Jobs(t.Context())
		return err == nil && slices.ContainsFunc(list, func(j jobs.Job) bool { return j.State == jobs.Done || j.State == jobs.Failed })
	})
	found, err := w.space.As(owner("")).Recall(t.Context(), memory.Location{Namespace: "closed"}, "a", memory.AsOf{})
	if err != nil || found != nil {
		t.Errorf("it wrote %+v, %v", found, err)
	}
}

func TestAToolThatSaysItOnlyReadsCannotWrite(t *testing.T) {
	m := aFamily("sly")
	yes := true
	m.Tools[0].Annotations.ReadOnly = &yes
	m.Collections = []abi.Collection{{Name: "own"}}
	w := open(t, nil).with(m, script{steps: []step{
		{"memory.put", `{"items":[{"key":"a","value":1}]}`},
		{"record.put", `{"collection":"own","items":[{"key":"a","value":1}]}`},
		{"memory.touch", `{"keys":["a"],"health":1}`},
		{"config.set", `{"values":{}}`},
	}})
	for i, r := range w.as(owner(""), "sly") {
		if !denied(r) {
			t.Errorf("call %d was answered with %s, %v", i, r.OK, r.Error)
		}
	}
}

func TestACallerWhoMayOnlyReadCountsNothing(t *testing.T) {
	m := aFamily("sly")
	yes := true
	m.Tools[0].Annotations.ReadOnly = &yes
	w := open(t, nil).with(m, script{steps: []step{{"memory.touch", `{"keys":["a"],"health":-1}`}}})
	w.store("a", "1")
	if got := w.as(readingCaller(), "sly")[0]; !denied(got) {
		t.Errorf("it was answered with %s, %v", got.OK, got.Error)
	}
}

func TestAComparisonShowsNoOtherFamilysRecords(t *testing.T) {
	mine, other := aFamily("mine"), aFamily("other")
	mine.Collections, other.Collections = []abi.Collection{{Name: "own"}}, []abi.Collection{{Name: "own"}}
	w := open(t, nil)
	if _, err := w.space.As(owner("")).Fork(t.Context(), "", "draft", memory.AsOf{}, memory.Write{}); err != nil {
		t.Fatal(err)
	}
	for _, m := range []*abi.Manifest{mine, other} {
		w.with(m, script{steps: []step{{"branch.diff", `{"source":"draft","target":"default"}`},
			{"record.put", `{"collection":"own","items":[{"key":"k","value":"of ` + m.Name + `"}]}`}}})
		if _, err := w.call(given{Tool: m.Name + "_do", Location: memory.Location{Branch: "draft"}}); err != nil {
			t.Fatal(err)
		}
	}
	got := w.as(owner(""), "mine")[0]
	if got.Error != nil || !strings.Contains(string(got.OK), "of mine") || strings.Contains(string(got.OK), "of other") || !strings.Contains(string(got.OK), `"added":1,`) {
		t.Errorf("it was shown %s, %v; want one difference, its own", got.OK, got.Error)
	}
}

func TestACollectionThatNoManifestDeclaresIsPrivate(t *testing.T) {
	m := aFamily("mine")
	m.Collections = []abi.Collection{{Name: "own"}, {Name: "secret", Private: true}}
	w := open(t, nil).with(m, script{})
	for collection, want := range map[string]bool{"mine/own": false, "mine/secret": true, "mine/former": true, "removed/own": true} {
		if got := w.isPrivate(collection); got != want {
			t.Errorf("%s is private: %t, want %t", collection, got, want)
		}
	}
}

func TestAMergeOfAFamilyWithNothingToMergeSucceeds(t *testing.T) {
	w := open(t, nil).with(aFamily("mine"), script{steps: []step{{"branch.merge", `{"source":"draft","required":true}`}}})
	if _, err := w.space.As(owner("")).Fork(t.Context(), "", "draft", memory.AsOf{}, memory.Write{}); err != nil {
		t.Fatal(err)
	}
	if got := w.as(owner(""), "mine")[0]; got.Error != nil || !strings.Contains(string(got.OK), `"merged":true`) {
		t.Errorf("it was answered with %s, %v; want that the branches are merged", got.OK, got.Error)
	}
}

func TestAMissingGrantIsAnErrorWithTheWholeCommand(t *testing.T) {
	w := open(t, nil)
	w.install(aFamily("notes"), script{steps: []step{{"memory.get", `{"keys":["k"]}`}, {"memory.get", `{"keys":["k"],"namespace":"work"}`},
		{"memory.search", `{"query":"tea","namespaces":["home"]}`}, {"memory.search", `{"query":"tea","namespaces":["home","work"]}`}, {"log.append", `{"event":"e","data":1}`},
		{"job.enqueue", `{"job":"j"}`}, {"memory.get", `{"namespace":"` + strings.Repeat("x", 200) + `"}`}, {"memory.get", `[`}}})
	got, _ := w.do("notes")
	for i, want := range []string{"memory.read=default", "memory.read=work", "memory.read=home", "memory.read", "log.append=default", "job", "memory.read", "memory.read"} {
		if e := got[i].Error; e == nil || e.Code != abi.CodeDenied || !strings.HasSuffix(e.Message, " was not granted to family notes: an operator can grant it, with: alcove family grant notes "+want) {
			t.Errorf("%d: %v, want %s", i, e, want)
		}
	}
	w.grant(grants.Request{Family: "notes", Capabilities: []registry.Capability{{Name: abi.CanMemoryRead, Scope: []string{"work"}}}})
	if got, _ = w.do("notes"); got[1].Error != nil || !strings.HasSuffix(got[0].Error.Message, "alcove family grant notes memory.read=work,default") {
		t.Errorf("answers %v, %v, want work allowed, and the command for the rest", got[1].Error, got[0].Error)
	}
}

// Whatever it was granted, a family gets nothing of another's private collection: not by an operation, and not as a redactor of what is
// kept there. The open one beside it, which has the same records, is read by each of these.
func TestNoFamilyReadsAPrivateCollectionOfAnother(t *testing.T) {
	for _, private := range []bool{true, false} {
		kept := aFamily("kept")
		kept.Collections = []abi.Collection{{Name: "pages", Searchable: []string{"text"}, Indexes: [][]string{{"n:number"}}, Private: private}}
		reader := aFamily("reader")
		reader.Capabilities = []abi.Request{{Name: abi.CanRecordsRead, Scope: []string{"*"}, Reason: "to report"}}
		read := []step{
			{"record.get", `{"family":"kept","collection":"pages","keys":["p"]}`},
			{"record.list", `{"family":"kept","collection":"pages"}`},
			{"record.list", `{"family":"kept","collection":"pages","order":"n","descending":true,"count":true}`},
			{"record.list", `{"family":"kept","collection":"pages","filters":[{"field":"n","op":"eq","value":7}]}`},
			{"record.history", `{"family":"kept","collection":"pages","key":"p"}`},
			{"record.search", `{"family":"kept","collection":"pages","query":"lantern"}`},
			{"record.nearest", `{"family":"kept","collection":"pages","field":"at","vector":[1,0]}`},
			{"text.count", `{"family":"kept","collection":"pages","terms":["lantern"]}`},
			{"record.collections", `{}`},
			{"record.collections", `{"family":"kept"}`},
		}
		never := []step{
			{"memory.list", `{"collection":"kept/pages"}`}, {"record.list", `{"collection":"kept/pages"}`}, {"record.list", `{"family":"kept","collection":"../kept/pages"}`},
			{"record.list", `{"family":"reader","collection":"pages"}`}, {"record.put", `{"family":"kept","collection":"pages","items":[{"key":"p","value":1}]}`},
		}
		w := open(t, nil).with(kept, script{steps: []step{{"record.put", `{"collection":"pages","items":[{"key":"p","value":{"text":"a lantern","n":7,"at":[1,0]}}]}`}}})
		changer := recordRedactor()
		changer.Name, changer.Tools, changer.Hooks.Store.Redacts = "changer", nil, false
		w.with(reader, script{steps: slices.Concat(read, never)}).with(changer, redacts("changed")).with(recordRedactor(), redacts("hidden"))
		for _, last := range []struct{ name, left string }{{"redactor", `"hidden"`}, {"changer", `"changed"`}} {
			w.do("kept")
			stored := w.record("", memory.Collection{Name: "kept/pages"}, "p")
			if wants := last.name == "redactor" || !private; (stored == last.left) != wants {
				t.Errorf("private %v, with the %s: kept is %s", private, last.name, stored)
			}
			w.grant(grants.Request{Family: last.name, Revoke: []string{string(abi.HookStore)}})
		}
		w.do("kept") // as it is
		told, _ := w.do("reader")
		for i, r := range told {
			shown := r.Error == nil && (strings.Contains(string(r.OK), "lantern") || strings.Contains(string(r.OK), `"p"`) || strings.Contains(string(r.OK), "pages") ||
				strings.Contains(string(r.OK), `"documents":1`) || strings.Contains(string(r.OK), `"total":1`))
			if shown != (!private && i < len(read)) {
				t.Errorf("private %v: call %d was answered with %s, %v", private, i, r.OK, r.Error)
			}
		}
	}
}

func TestAFamilyReadsTheRecordsOfAnotherThatItWasGrantedToRead(t *testing.T) {
	kept := aFamily("kept")
	kept.Collections = []abi.Collection{{Name: "pages", Searchable: []string{"text"}, Indexes: [][]string{{"n:number"}}}}
	reader := aFamily("reader")
	reader.Capabilities = []abi.Request{{Name: abi.CanRecordsRead, Scope: []string{"kept"}, Reason: "to report"}}
	read := []step{
		{"record.get", `{"family":"kept","collection":"pages","keys":["p"]}`},
		{"record.list", `{"family":"kept","collection":"pages"}`},
		{"record.list", `{"family":"kept","collection":"pages","filters":[{"field":"n","op":"eq","value":7}]}`},
		{"record.history", `{"family":"kept","collection":"pages","key":"p"}`},
		{"record.search", `{"family":"kept","collection":"pages","query":"lantern"}`},
	}
	counted := []step{{"text.count", `{"family":"kept","collection":"pages","terms":["lantern"]}`}, {"record.collections", `{}`}}
	refused := []step{
		{"record.get", `{"family":"kept","collection":"pages","keys":["p"],"namespace":"closed"}`},
		{"record.list", `{"family":"other","collection":"pages"}`},
		{"record.list", `{"family":"kept","collection":"none"}`},
		{"record.put", `{"collection":"pages","items":[{"key":"p","value":1}]}`},
		{"record.put", `{"family":"kept","collection":"pages","items":[{"key":"p","value":1}]}`},
		{"record.delete", `{"collection":"kept/pages","keys":["p"]}`},
		{"record.search", `{"family":"kept","collection":"pages","query":"lantern","namespaces":["closed"]}`},
		{"text.count", `{"family":"kept","collection":"pages","terms":["lantern"],"namespaces":["closed"]}`},
		{"text.count", `{"family":"other","collection":"pages","terms":["lantern"]}`},
		{"record.collections", `{"family":"other"}`},
	}
	w := open(t, nil).with(kept, script{steps: []step{{"record.put", `{"collection":"pages","items":[{"key":"p","value":{"text":"a lantern","n":7}}]}`}}})
	w.with(reader, script{steps: slices.Concat(read, refused, counted)})
	if _, err := w.call(given{Tool: "kept_do", Location: memory.Location{Namespace: "open"}}); err != nil {
		t.Fatal(err)
	}
	call := given{Tool: "reader_do", Location: memory.Location{Namespace: "open"}, Caller: memory.Caller{Rights: memory.RightsTo([]string{"open"}, []string{"open"})}}
	result, err := w.call(call)
	if err != nil {
		t.Fatal(err)
	}
	told := responses(t, result.Output)
	for i, r := range told[:len(read)+len(refused)] {
		if found := strings.Contains(string(r.OK), "lantern"); found != (i < len(read)) || i >= len(read) && r.Error == nil {
			t.Errorf("call %d was answered with %s, %v", i, r.OK, r.Error)
		}
	}
	const about = `{"collections":[{"family":"kept","name":"pages","per":"branch","searchable":["text"],"indexes":[["n:number"]]}]}`
	if n := len(read) + len(refused); string(told[n].OK) != `{"documents":1,"counts":[1]}` || string(told[n+1].OK) != about {
		t.Errorf("it counts %s, and is told of %s", told[n].OK, told[n+1].OK)
	}
	limited := call
	limited.Caller.Rights = memory.FullRights().LimitedTo([]memory.Right{memory.ToUse("reader")})
	if result, err = w.call(limited); err != nil {
		t.Fatal(err)
	}
	for i, r := range responses(t, result.Output) {
		if r.Error == nil && string(r.OK) != `{"collections":[]}` {
			t.Errorf("a caller who may not use the other family is answered call %d with %s", i, r.OK)
		}
	}
	if _, err := w.Grant(grants.Request{Family: "reader", Revoke: []string{string(abi.CanRecordsRead)}}); err != nil {
		t.Fatal(err)
	}
	if result, err = w.call(call); err != nil {
		t.Fatal(err)
	}
	for i, r := range responses(t, result.Output) {
		if r.Error == nil {
			t.Errorf("without the grant call %d was answered with %s", i, r.OK)
		}
	}
}

func TestLinksOfANamespaceThatTheCallerMayNotReadAreAsIfTheyWereNotThere(t *testing.T) {
	w := open(t, nil).with(aFamily("graph"), script{steps: []step{
		{"link.list", `{"key":"boat"}`}, {"link.add", `{"key":"boat","to":["closed#plan"]}`}, {"link.add", `{"key":"boat","to":["never#plan"]}`},
	}})
	keep := func(namespace, key string, links ...string) {
		t.Helper()
		items := []memory.Item{{Key: key, Value: json.RawMessage(`1`), Links: links}}
		if _, err := w.space.As(owner("")).Store(t.Context(), memory.Location{Namespace: namespace}, items, memory.Write{}); err != nil {
			t.Fatal(err)
		}
	}
	keep("open", "boat", "tea", "closed#plan")
	keep("open", "tea", "boat")
	keep("closed", "plan", "open#boat")
	said := func(rights memory.Rights) (list []string) {
		t.Helper()
		result, err := w.call(given{Tool: "graph_do", Location: memory.Location{Namespace: "open"}, Caller: memory.Caller{Rights: rights}})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range responses(t, result.Output) {
			text := string(r.OK)
			if r.Error != nil {
				text = strings.ReplaceAll(strings.ReplaceAll(r.Error.Message, "closed", "NS"), "never", "NS")
			}
			list = append(list, text)
		}
		return list
	}
	narrow := said(memory.RightsTo([]string{"open"}, []string{"open"}))
	if narrow[0] != `{"links":["tea"],"linked_from":["tea"]}` || narrow[1] != narrow[2] || !strings.Contains(narrow[1], "denied") {
		t.Errorf("a caller of one namespace is told %q", narrow)
	}
	if all := said(memory.FullRights()); all[0] != `{"links":["tea","closed#plan"],"linked_from":["closed#plan","tea"]}` {
		t.Errorf("a caller of all is told %s", all[0])
	}
}

func TestAFamilyReadsARecallThatCallerAndFamilyMayRead(t *testing.T) {
	w := open(t, nil)
	kept := recalls.New(recalls.Options{Space: w.space})
	ann := memory.Caller{Agent: "ann", Key: "k1", Rights: memory.RightsTo(nil, []string{"open", "closed"}).LimitedTo([]memory.Right{memory.ToUse(memory.AllFamilies)})}
	bob := ann
	bob.Agent, bob.Key = "bob", "k2"
	var ids []string
	for _, namespace := range []string{"open", "closed"} {
		id, err := kept.Record(t.Context(), ann, recalls.Recall{Branch: "default", Query: "velvet", Facts: []recalls.Fact{{Namespace: namespace, Key: "k"}}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	m := aFamily("nosy")
	for i, c := range m.Capabilities {
		if c.Name == abi.CanMemoryRead {
			m.Capabilities[i].Scope = []string{"open"}
		}
	}
	w.with(m, script{steps: []step{{"recall.get", `{"recall_id":"` + ids[0] + `"}`}, {"recall.get", `{"recall_id":"` + ids[1] + `"}`}}})
	got := w.as(ann, "nosy")
	if got[0].Error != nil || !strings.Contains(string(got[0].OK), `"facts":[{"namespace":"open","key":"k"}]`) {
		t.Errorf("her recall is answered with %s, %v", got[0].OK, got[0].Error)
	}
	for i, r := range append(got[1:], w.as(bob, "nosy")...) {
		if r.Error == nil || r.Error.Code != abi.CodeNotFound {
			t.Errorf("call %d was answered with %s, %v", i, r.OK, r.Error)
		}
	}
}
