package family

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/registry"
)

// recordRedactor is a redactor of memories and of the records of all families.
func recordRedactor() *abi.Manifest {
	m := redactor("1.0.0")
	m.Hooks.Store.Collections = []string{"memory", "*/*"}
	m.Collections = []abi.Collection{{Name: "own"}}
	return m
}

// noteTaker is a family with records of each kind.
func noteTaker(name string) *abi.Manifest {
	m := withJob(name, "")
	m.Collections = []abi.Collection{{Name: "own"}, {Name: "log"}, {Name: "shared", Per: "space"}}
	return m
}

var takesNotes = script{steps: []step{
	{"record.put", `{"collection":"own","items":[{"key":"k","value":"secret"}]}`},
	{"record.append", `{"collection":"log","values":["secret"]}`},
	{"record.put", `{"collection":"shared","items":[{"key":"k","value":"secret"}]}`},
}}

// record returns the value of a record; empty: there is none.
func (w *world) record(branch string, c memory.Collection, key string) string {
	w.t.Helper()
	stage, err := w.space.As(owner("")).Stage(w.t.Context(), branch)
	if err != nil {
		w.t.Fatal(err)
	}
	found, err := stage.Records(w.t.Context(), c, "default", []string{key})
	if err != nil {
		w.t.Fatal(err)
	}
	if found[0] == nil {
		return ""
	}
	return string(found[0].Value)
}

// notes returns what a note taker keeps.
func (w *world) notes(name string) string {
	w.t.Helper()
	return strings.Join([]string{w.record("", memory.Collection{Name: name + "/own"}, "k"), w.record("", memory.Collection{Name: name + "/log"}, "00000000000000000001"),
		w.record("", memory.Collection{Name: name + "/shared", PerSpace: true}, "k")}, " ")
}

const allHidden, allSecret, nothing = `"hidden" "hidden" "hidden"`, `"secret" "secret" "secret"`, "  "

func TestARedactorSeesTheRecordsThatFamiliesWriteHoweverTheyDo(t *testing.T) {
	w := open(t, nil).with(noteTaker("calls"), takesNotes).with(noteTaker("jobs"), takesNotes).with(noteTaker("inner"), takesNotes).
		with(aFamily("outer"), script{steps: []step{{"tools.call", `{"tool":"inner_do"}`}}}).with(recordRedactor(), redacts("hidden"))
	w.do("calls")
	w.do("outer")
	job := w.enqueue("jobs")
	await.That(t, "the job is done", func() bool { return w.job(job.ID).State == jobs.Done })
	for _, name := range []string{"calls", "jobs", "inner"} {
		if got := w.notes(name); got != allHidden {
			t.Errorf("family %s keeps %s", name, got)
		}
	}
}

func TestARedactorSeesNoRecordsThatItsManifestOrItsGrantLeavesOut(t *testing.T) {
	w := open(t, nil).with(noteTaker("notes"), takesNotes).with(recordRedactor(), redacts("hidden"))
	w.grant(grants.Request{Family: "redactor", Capabilities: []registry.Capability{{Name: abi.CanRecordsRead, Scope: []string{"other"}}}})
	if w.do("notes"); w.notes("notes") != allSecret {
		t.Errorf("beyond its grant it made %s of the records", w.notes("notes"))
	}
	one := recordRedactor()
	one.Hooks.Store.Collections = []string{"notes/own"}
	w = open(t, nil).with(noteTaker("notes"), takesNotes).with(one, redacts("hidden"))
	if w.do("notes"); w.notes("notes") != `"hidden" "secret" "secret"` {
		t.Errorf("beyond its manifest it made %s of the records", w.notes("notes"))
	}
	w.storesAs("secret")
}

func TestARefusalOfRecordsKeepsNothingOfTheCall(t *testing.T) {
	m := recordRedactor()
	m.Hooks.Store.Collections = []string{"notes/*"}
	w := open(t, nil).with(noteTaker("notes"), script{steps: append([]step{{"memory.put", `{"items":[{"key":"a","value":1}]}`}}, takesNotes.steps...)}).
		with(m, script{says: `{"refuse":"no secrets"}`})
	if _, err := w.call(given{Tool: "notes_do"}); code(err) != memory.Denied || !strings.Contains(err.Error(), "family redactor refused it: no secrets") {
		t.Errorf("notes_do: %v, want it denied for the refusal of redactor", err)
	}
	job := w.enqueue("notes")
	await.That(t, "the job is given up", func() bool { return w.job(job.ID).State == jobs.Failed })
	if w.notes("notes") != nothing || w.value("", "a") != "" {
		t.Errorf("kept %s, and the memory %s", w.notes("notes"), w.value("", "a"))
	}
}

func TestARecordHookThatFailsIsTreatedAsTheOperatorSaid(t *testing.T) {
	for failure, want := range map[abi.OnFailure]string{abi.OnFailureRefuse: nothing, abi.OnFailureSkip: allSecret, abi.OnFailureDefer: allSecret} {
		m := recordRedactor()
		m.Hooks.Store.OnFailure = failure
		w := open(t, nil).with(noteTaker("notes"), takesNotes).with(m, script{traps: true})
		result, err := w.call(given{Tool: "notes_do"})
		if (err != nil) != (want == nothing) || w.notes("notes") != want || err == nil && !strings.Contains(strings.Join(result.Notes, "\n"), "family redactor was skipped") {
			t.Errorf("%s: kept %s with the notes %q, %v", failure, w.notes("notes"), result.Notes, err)
		}
	}
}

func TestARecordHookChangesValuesAlone(t *testing.T) {
	w := open(t, nil).with(noteTaker("notes"), takesNotes).with(recordRedactor(), script{says: `{"entries":[{"tags":["seen"]}]}`})
	if _, err := w.call(given{Tool: "notes_do"}); code(err) != memory.Unavailable || !strings.Contains(err.Error(), "more of a record than its value") {
		t.Errorf("notes_do: %v, want it unavailable, for more than the value is changed", err)
	}
}

func TestARecordHookRefusesDeletionsThatItAsksAbout(t *testing.T) {
	m := recordRedactor()
	m.Hooks.Store.Changes = []string{"delete"}
	deletes := script{steps: append(takesNotes.steps[:3:3], step{"record.delete", `{"collection":"own","keys":["k"]}`})}
	w := open(t, nil).with(noteTaker("notes"), takesNotes).with(m, script{says: `{"refuse":"records stay"}`})
	w.do("notes")
	w.with(noteTaker("notes"), deletes)
	if _, err := w.call(given{Tool: "notes_do"}); code(err) != memory.Denied || w.record("", memory.Collection{Name: "notes/own"}, "k") != `"secret"` {
		t.Errorf("a deletion: %v", err)
	}
}

func TestRecordsOfABranchAreProposedAndThoseOfASpaceAreNot(t *testing.T) {
	m := recordRedactor()
	m.Hooks.Store.Collections = []string{"notes/own"}
	w := open(t, nil).with(noteTaker("notes"), script{steps: takesNotes.steps[:1]}).with(m, script{says: `{"propose":"look at it"}`})
	_, result := w.do("notes")
	own := memory.Collection{Name: "notes/own"}
	if result.Proposal == "" || w.record("", own, "k") != "" || w.record(result.Proposal, own, "k") != `"secret"` {
		t.Errorf("%+v; kept %s", result, w.record("", own, "k"))
	}
	w = open(t, nil).with(noteTaker("notes"), takesNotes).with(recordRedactor(), script{says: `{"propose":"look at it"}`})
	if _, err := w.call(given{Tool: "notes_do"}); code(err) != memory.Denied || !strings.Contains(err.Error(), "the same on every branch") || w.notes("notes") != nothing {
		t.Errorf("%v; kept %s", err, w.notes("notes"))
	}
}

func TestARecordHookHasNoMoreRightsThanTheCallerThatWrites(t *testing.T) {
	m := recordRedactor()
	m.Hooks.Store.Collections = []string{"notes/own"}
	asks := script{steps: []step{{"memory.get", `{"keys":["k"],"namespace":"home"}`}, {"memory.get", `{"keys":["k"],"namespace":"work"}`}}, around: [2]string{`{"entries":[{"value":`, `}]}`}}
	w := open(t, nil).with(noteTaker("notes"), script{steps: takesNotes.steps[:1]}).with(m, asks)
	_, err := w.call(given{Tool: "notes_do", Location: memory.Location{Namespace: "work"}, Caller: memory.Caller{Rights: memory.RightsTo(nil, []string{"work"})}})
	if err != nil {
		t.Fatal(err)
	}
	stage, err := w.space.As(owner("")).Stage(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	found, err := stage.Records(t.Context(), memory.Collection{Name: "notes/own"}, "work", []string{"k"})
	if err != nil || found[0] == nil {
		t.Fatalf("Records = %+v, %v, want the record", found, err)
	}
	if got := responses(t, found[0].Value); !denied(got[0]) || got[1].Error != nil {
		t.Errorf("the hook was answered %+v", got)
	}
}

func TestRecordsWaitForAMissingFamilyThatMayReadThem(t *testing.T) {
	for reads, want := range map[string]string{"notes": nothing, "other": allSecret} {
		w := open(t, nil).with(noteTaker("notes"), takesNotes)
		w.grant(grants.Request{Family: "notes"})
		l := w.lockFile()
		l.Families["redactor"] = registry.Grant{Digest: modules.Digest([]byte("a module that is not there")), Hooks: map[abi.Hook]registry.On{abi.HookStore: {OnFailure: abi.OnFailureRefuse}},
			Capabilities: []registry.Capability{{Name: abi.CanRecordsRead, Scope: []string{reads}}}}
		if err := registry.Write(w.dir, l); err != nil {
			t.Fatal(err)
		}
		await.That(t, "the lock file is followed", func() bool { _, _, err := w.keep("k", `1`); return code(err) == memory.Unavailable })
		_, err := w.call(given{Tool: "notes_do"})
		if (code(err) == memory.Unavailable) != (want == nothing) || w.notes("notes") != want {
			t.Errorf("with records.read=%s: %v, kept %s", reads, err, w.notes("notes"))
		}
	}
}

func TestHooksThatKeepRecordsOfEachOthersRecordsComeToAnEnd(t *testing.T) {
	counts := func(name string) *abi.Manifest {
		m := recordRedactor()
		m.Name, m.Tools[0].Name, m.Hooks.Store.OnFailure, m.Hooks.Store.Redacts = name, name+"_do", abi.OnFailureSkip, false
		return m
	}
	keeps := script{steps: []step{{"record.append", `{"collection":"own","values":[1]}`}}, says: `{}`}
	w := open(t, func(o *Options) { o.Stepwise = true }).with(noteTaker("notes"), script{steps: takesNotes.steps[:1]}).with(counts("one"), keeps).with(counts("two"), keeps)
	w.do("notes")
	for _, name := range []string{"one", "two"} {
		stage, err := w.space.As(owner("")).Stage(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		list, _, err := stage.ListRecords(t.Context(), memory.Collection{Name: name + "/own"}, "default", "", "", 100)
		if err != nil || len(list) != 2 { // of the note, and of what the other kept of it
			t.Errorf("%s keeps %d records, %v", name, len(list), err)
		}
	}
}

func TestAManifestThatIsAboutRecordsAsksToReadThem(t *testing.T) {
	m := recordRedactor()
	m.Capabilities = without(abi.CanRecordsRead)
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := abi.ParseManifest(data); err == nil || !strings.Contains(err.Error(), "ask for records.read") {
		t.Errorf("%s was accepted: %v", filepath.Base(m.Name), err)
	}
}
