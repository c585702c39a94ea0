package family

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/hooks"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/purge"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/registry"
)

// onStore is a family whose store hook is on.
func onStore(name string, failure abi.OnFailure) *abi.Manifest {
	m := aFamily(name)
	m.Hooks.Store = &abi.StoreHook{OnFailure: failure}
	return m
}

// keep stores a memory and gives it back, with the notes.
func (w *world) keep(key, value string) (*memory.Memory, []string, error) {
	w.t.Helper()
	var notes []string
	write := memory.Write{Note: func(note string) { notes = append(notes, note) }}
	if _, err := w.space.As(owner("")).Store(w.t.Context(), memory.Location{}, []memory.Item{{Key: key, Value: json.RawMessage(value), Tags: []string{"mine"}}}, write); err != nil {
		return nil, notes, err
	}
	m, err := w.space.As(owner("")).Recall(w.t.Context(), memory.Location{}, key, memory.AsOf{})
	return m, notes, err
}

func TestAStoreHookChangesWhatIsStored(t *testing.T) {
	w := open(t, nil).with(onStore("tagger", ""), script{says: `{"entries":[{"tags":["mine","tea"],"type":"fact","importance":0.75,"metadata":{"by":"tagger"}}]}`})
	m, notes, err := w.keep("k", `"green tea"`)
	if err != nil || !slices.Equal(m.Tags, []string{"mine", "tea"}) || m.Type != "fact" || *m.Importance != .75 || string(m.Metadata["by"]) != `"tagger"` || len(notes) != 0 {
		t.Errorf("stored %+v with the notes %q, %v", m, notes, err)
	}
}

func TestAStoreHookThatFailsIsSkippedAndItsCallerToldWhy(t *testing.T) {
	spins := onStore("spins", "")
	spins.Limits.CPUMS = 30
	cases := map[*abi.Manifest]script{
		onStore("traps", ""):   {traps: true},
		spins:                  {spins: true},
		onStore("mumbles", ""): {says: `{"entries":[null,null]}`},
		onStore("strange", ""): {says: `{"entries":[{"importance":7}]}`},
		onStore("errs", ""):    {fails: `{"code":"unavailable","message":"not today"}`},
	}
	for m, s := range cases {
		w := open(t, nil).with(m, s)
		stored, notes, err := w.keep("k", `"tea"`)
		if err != nil || stored == nil || len(notes) != 1 || !strings.Contains(notes[0], "family "+m.Name+" was skipped") {
			t.Errorf("%s: stored %v with the notes %q, %v", m.Name, stored, notes, err)
		}
	}
}

func TestAStoreHookMayRefuse(t *testing.T) {
	w := open(t, nil).with(onStore("guard", ""), script{says: `{"refuse":"no card numbers"}`})
	_, _, err := w.keep("k", `"4111"`)
	if code(err) != memory.Denied || !strings.Contains(err.Error(), "family guard refused it: no card numbers") || w.value("", "k") != "" {
		t.Errorf("store: %v, want it denied for the guard's reason", err)
	}
}

func TestOnlyARefusalRefusesAStore(t *testing.T) {
	reads := onStore("reads", "")
	for m, s := range map[*abi.Manifest]script{
		onStore("errs", ""):   {fails: `{"code":"denied","message":"no card numbers"}`},
		onStore("says", ""):   {says: `{"refuse":true}`},
		onStore("shouts", ""): {says: `{"REFUSE":["no"]}`},
		reads:                 {steps: []step{{"memory.get", `{"keys":["k"],"namespace":"elsewhere"}`}}, fails: `{"code":"denied","message":"memory.read for elsewhere was not granted"}`},
	} {
		w := open(t, nil).with(m, s)
		if _, notes, err := w.keep("k", `"4111"`); err != nil || w.value("", "k") != `"4111"` {
			t.Errorf("%s keeps a store out: %v, with the notes %q", m.Name, err, notes)
		}
		m.Hooks.Store.OnFailure = abi.OnFailureRefuse
		w = open(t, nil).with(m, s)
		if _, _, err := w.keep("k", `"4111"`); m.Name != "shouts" && (code(err) != memory.Unavailable || w.value("", "k") != "") {
			t.Errorf("%s with refuse: %v", m.Name, err)
		}
	}
}

func TestARefusalsReasonIsALineOfBoundedLength(t *testing.T) {
	most := int(abi.DefaultLimits().RefuseBytes)
	w := open(t, nil).with(onStore("guard", ""), script{says: `{"refuse":"` + strings.Repeat("no ", most) + `\u001b[2J"}`})
	if _, _, err := w.keep("k", `1`); code(err) != memory.Denied || len(err.Error()) > most+100 || strings.ContainsRune(err.Error(), 0x1b) {
		t.Errorf("store: %v, want it denied in one short line", err)
	}
}

// resting has a family's hooks rest, as after failures in a row.
func (w *world) resting(name string) *world {
	w.catalogue.Known(name).Breaker.Trip(w.o.Clock())
	return w
}

// storesAreOver has deferred hooks run when the stores that deferred them are over, on a busy machine too.
func storesAreOver(o *Options) { o.Retry = time.Second }

func TestARefusalThatComesTooLateIsNotTriedAgain(t *testing.T) {
	w := open(t, storesAreOver).with(onStore("later", abi.OnFailureDefer), script{says: `{"refuse":"no tea"}`}).resting("later")
	if _, _, err := w.keep("k", `"tea"`); err != nil {
		t.Fatal(err)
	}
	await.That(t, "the job fails", func() bool {
		list, err := w.Jobs(t.Context())
		return err == nil && len(list) == 1 && list[0].State == jobs.Failed && list[0].Attempts < jobs.Attempts && strings.Contains(list[0].Error, "no tea")
	})
}

// A key that is revoked while a family works for it opens nothing from then on.
func TestARequestLosesItsPowersWithTheKeyOfItsCaller(t *testing.T) {
	asked := 0
	w := open(t, func(o *Options) {
		o.CheckKey = func(id string) error {
			if asked++; id == "k1" && asked > 1 {
				return &memory.Error{Code: memory.Denied, Message: "the key k1 was revoked"}
			}
			return nil
		}
	}).with(aFamily("notes"), script{steps: []step{{"memory.list", "{}"}, {"memory.list", "{}"}}})
	answers := w.askAs(t, "notes", "", memory.Caller{Agent: "ann", Key: "k1", Rights: memory.FullRights()})
	if len(answers) != 2 || answers[0].Error != nil || answers[1].Error == nil || answers[1].Error.Code != abi.CodeDenied || !strings.Contains(answers[1].Error.Message, "k1 was revoked") {
		t.Errorf("answers %+v, want the first, then k1 refused", answers)
	}
}

func TestAJobEndsWithTheKeyOfItsCaller(t *testing.T) {
	revoked := &memory.Error{Code: memory.Denied, Message: "the key k1 was revoked"}
	w := open(t, func(o *Options) {
		o.CheckKey = func(id string) error {
			if id == "k1" {
				return revoked
			}
			return nil
		}
	}).with(onStore("later", abi.OnFailureDefer), script{says: `{}`}).resting("later")
	for _, key := range []string{"k1", "k2"} {
		caller := memory.Caller{Agent: "ann", Key: key, Rights: memory.FullRights()}
		if _, err := w.space.As(caller).Store(t.Context(), memory.Location{}, []memory.Item{{Key: key, Value: json.RawMessage(`"tea"`)}}, memory.Write{}); err != nil {
			t.Fatal(err)
		}
	}
	await.That(t, "both jobs end", func() bool {
		list, err := w.Jobs(t.Context())
		ended := map[string]jobs.State{}
		for _, job := range list {
			if job.State == jobs.Failed && !strings.Contains(job.Error, "k1 was revoked") {
				t.Fatal(job.Error)
			}
			ended[job.Key] = job.State
		}
		return err == nil && ended["k1"] == jobs.Failed && ended["k2"] == jobs.Done
	})
}

func TestWithoutARefusingHookNothingIsStored(t *testing.T) {
	w := open(t, nil).with(onStore("redactor", abi.OnFailureRefuse), script{traps: true})
	_, _, err := w.keep("k", `"tea"`)
	if code(err) != memory.Unavailable || w.value("", "k") != "" {
		t.Errorf("store: %v, want it unavailable and nothing stored", err)
	}
	if _, err := w.Install(pack(t, aFamily("other"), script{steps: []step{{"memory.put", `{"items":[{"key":"k","value":1}]}`}}})); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Grant(grants.Request{Family: "other", All: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.call(given{Tool: "other_do"}); err == nil || w.value("", "k") != "" {
		t.Errorf("a family is a way around it: %v", err)
	}
}

func TestADeferredHookIsTriedAgainWhenItsMemoriesAreNotStoredYet(t *testing.T) {
	var now atomicTime
	now.set(time.Now())
	w := open(t, func(o *Options) { o.Clock, o.Retry = now.get, time.Hour }).
		with(onStore("later", abi.OnFailureDefer), script{says: `{"entries":[{"tags":["late"]}]}`})
	x, err := w.catalogue.Named("later")
	if err != nil {
		t.Fatal(err)
	}
	if err := (hookFamily{families: w.Families, family: x}).Defer(t.Context(), owner(""), memory.Location{Branch: "default", Namespace: "default"}, json.RawMessage(`{"keys":["k"]}`)); err != nil {
		t.Fatal(err)
	}
	first := func() jobs.Job {
		list, err := w.Jobs(t.Context())
		if err != nil || len(list) == 0 {
			t.Fatalf("Jobs = %+v, %v, want one or more", list, err)
		}
		return list[0]
	}
	later := func() { now.set(now.get().Add(10 * time.Hour)); w.jobs.WakeUp() }
	later()
	await.That(t, "it finds nothing", func() bool { got := first(); return got.State == jobs.Queued && got.Attempts == 1 })
	later()
	await.That(t, "its memories count as deleted", func() bool { return first().State == jobs.Done })
}

func TestAStoreHookThatIsPutOffIsAskedLater(t *testing.T) {
	m := onStore("later", abi.OnFailureDefer)
	w := open(t, storesAreOver).with(m, script{traps: true}) // its five attempts outlast the update, on a busy machine too
	_, notes, err := w.keep("k", `"tea"`)
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "is asked later") {
		t.Fatalf("stored with the notes %q, %v", notes, err)
	}
	w.with(m, script{says: `{"entries":[{"tags":["mine","late"]}]}`})
	await.That(t, "the hook is asked again", func() bool {
		m, err := w.space.As(owner("")).Recall(t.Context(), memory.Location{}, "k", memory.AsOf{})
		return err == nil && slices.Contains(m.Tags, "late")
	})
	jobs, err := w.Jobs(t.Context())
	if err != nil || len(jobs) != 1 || jobs[0].Name != deferredStore {
		t.Errorf("the jobs are %+v, %v", jobs, err)
	}
}

func TestRedactorsRunLast(t *testing.T) {
	redactor := onStore("a-redactor", abi.OnFailureRefuse)
	redactor.Hooks.Store.Redacts = true
	w := open(t, nil).with(redactor, script{says: `{"entries":[{"value":"[redacted]"}]}`}).
		with(onStore("b-writer", ""), script{says: `{"entries":[{"value":"secret"}]}`})
	if m, _, err := w.keep("k", `"tea"`); err != nil || string(m.Value) != `"[redacted]"` {
		t.Errorf("stored %s, %v", m.Value, err)
	}
}

func TestWhatAStoreHookKeepsForItselfIsCommittedBehind(t *testing.T) {
	m := onStore("counts", "")
	m.Collections = []abi.Collection{{Name: "seen", Per: "space"}}
	w := open(t, nil).with(m, script{steps: []step{{"record.put", `{"collection":"seen","items":[{"key":"last","value":1}]}`}}, says: `{}`})
	if _, _, err := w.keep("k", `"tea"`); err != nil {
		t.Fatal(err)
	}
	await.That(t, "the record is there", func() bool {
		stage, err := w.space.As(owner("")).Stage(t.Context(), "")
		if err != nil {
			return false
		}
		found, err := stage.Records(t.Context(), memory.Collection{Name: "counts/seen", PerSpace: true}, "default", []string{"last"})
		return err == nil && found[0] != nil
	})
}

func TestAHookThatIsNotLoadedYetDoesNotHoldAStoreUp(t *testing.T) {
	w := open(t, nil)
	m := onStore("tagger", "")
	if _, err := w.Install(pack(t, m, script{says: `{"entries":[{"tags":["tea"]}]}`})); err != nil {
		t.Fatal(err)
	}
	x := w.catalogue.Known("tagger")
	x.Loading <- struct{}{} // as if it took long to load
	if _, err := w.Grant(grants.Request{Family: "tagger", All: true, Hooks: hookOn(abi.HookStore)}); err != nil {
		t.Fatal(err)
	}
	_, notes, err := w.keep("k", `"tea"`) // a store that waited for the hook would never end
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "being loaded") {
		t.Errorf("stored with the notes %q, %v", notes, err)
	}
	<-x.Loading
	await.That(t, "the hook takes part", func() bool {
		m, _, err := w.keep("k", `"tea"`)
		return err == nil && slices.Contains(m.Tags, "tea")
	})
}

func floatsText(values ...float32) string {
	var out []byte
	for _, v := range values {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
	}
	return string(out)
}

func onRank(name string) *abi.Manifest {
	m := aFamily(name)
	m.Hooks.Rank = &abi.RankHook{Features: []string{"lexical", "importance", "type", "luck"}, Types: []string{"fact"}}
	return m
}

func TestARankHookOrdersTheHits(t *testing.T) {
	w := open(t, nil).with(onRank("ranking"), script{says: floatsText(1, 3, 2)})
	for i := range 3 {
		w.store(fmt.Sprint(i), `"green tea"`)
	}
	found, err := w.space.As(owner("")).Search(t.Context(), memory.Search{Text: "tea"})
	if err != nil || len(found.Hits) != 3 || found.Hits[0].Key != "1" || found.Hits[1].Key != "2" || found.Hits[0].Score != 3 {
		t.Errorf("found %+v, %v", found.Hits, err)
	}
}

func TestARankHookThatFailsLeavesTheOrderAndSaysSo(t *testing.T) {
	spins := onRank("spins")
	spins.Limits.CPUMS = 30
	for m, s := range map[*abi.Manifest]script{
		onRank("traps"): {traps: true}, spins: {spins: true}, onRank("short"): {says: "abc"}, onRank("odd"): {says: floatsText(float32(math.NaN()))},
	} {
		w := open(t, nil).with(m, s)
		w.store("k", `"green tea"`)
		found, err := w.space.As(owner("")).Search(t.Context(), memory.Search{Text: "tea"})
		if err != nil || len(found.Hits) != 1 || len(found.Notes) != 1 || !strings.Contains(found.Notes[0], "the server's own order") {
			t.Errorf("%s: found %+v, %v", m.Name, found, err)
		}
	}
}

func TestARankingFamilysOwnSearchesAreInTheServersOrder(t *testing.T) {
	m := onRank("ranking")
	w := open(t, nil).with(m, script{steps: []step{{"memory.search", `{"query":"tea","features":true}`}}})
	w.store("k", `"green tea"`)
	got, _ := w.do("ranking")
	if got[0].Error != nil || !strings.Contains(string(got[0].OK), `"lexical":1`) {
		t.Errorf("it found %s, %v", got[0].OK, got[0].Error)
	}
}

func TestAFamilyIsToldOfWhatWasStoredInOrderAndOnce(t *testing.T) {
	m := aFamily("watch")
	m.Hooks.Stored = &abi.StoreHook{}
	m.Collections = []abi.Collection{{Name: "calls"}}
	dir := t.TempDir()
	w := openIn(t, dir, nil).with(m, script{steps: []step{{"record.append", `{"collection":"calls","values":[1]}`}}})
	calls := func() uint64 {
		stage, err := w.space.As(owner("")).Stage(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		list, _, err := stage.ListRecords(t.Context(), memory.Collection{Name: "watch/calls"}, "default", "", "", 0)
		if err != nil {
			t.Fatal(err)
		}
		return uint64(len(list))
	}
	await.That(t, "it is followed", func() bool { return w.isFollowed("watch") })
	for i := range 3 {
		w.store(fmt.Sprint(i), `"tea"`)
	}
	await.That(t, "it was told", func() bool { return calls() >= 1 })
	told := calls()
	time.Sleep(100 * time.Millisecond) // it is told of nothing twice
	if now := calls(); now > 3 || now < told {
		t.Errorf("it was told %d times of three stores", now)
	}
}

// hookOn turns a hook on.
func hookOn(h abi.Hook) map[abi.Hook]registry.On { return map[abi.Hook]registry.On{h: {}} }

func TestAHookThatIsNotGrantedIsNotAsked(t *testing.T) {
	w := open(t, nil)
	if _, err := w.Install(pack(t, onStore("tagger", ""), script{says: `{"entries":[{"tags":["tea"]}]}`})); err != nil {
		t.Fatal(err)
	}
	if m, notes, err := w.keep("k", `"tea"`); err != nil || slices.Contains(m.Tags, "tea") || len(notes) != 0 {
		t.Errorf("stored %+v with %q, %v", m, notes, err)
	}
}

func TestACallerWhoGivesUpStoresNothing(t *testing.T) {
	m := onStore("slow", "")
	w := open(t, nil).with(m, script{spins: true})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := w.space.As(owner("")).Store(ctx, memory.Location{}, []memory.Item{{Key: "k", Value: json.RawMessage(`1`)}}, memory.Write{})
	var known *memory.Error
	if !errors.As(err, &known) || known.Code != memory.Timeout || w.value("", "k") != "" {
		t.Errorf("Store: %v, want a timeout and nothing stored", err)
	}
}

func TestAHookThatKeepsFailingRestsForAWhile(t *testing.T) {
	var now atomicTime
	now.set(time.Now())
	spins := onStore("spins", "")
	spins.Limits.CPUMS = 50
	w := open(t, func(o *Options) { o.Clock = now.get }).with(spins, script{spins: true})
	for range hooks.FailuresInRow {
		if _, notes, err := w.keep("k", `"tea"`); err != nil || !strings.Contains(notes[0], "ran for longer") {
			t.Fatalf("notes %q, %v, want that it ran for longer", notes, err)
		}
	}
	_, notes, err := w.keep("k", `"tea"`)
	if err != nil || !strings.Contains(notes[0], "failed repeatedly") {
		t.Errorf("notes %q, %v, want that it failed again and again", notes, err)
	}
	now.set(now.get().Add(hooks.Pause + time.Second))
	if _, notes, err := w.keep("k", `"tea"`); err != nil || !strings.Contains(notes[0], "ran for longer") {
		t.Errorf("after its rest: %q, %v", notes, err)
	}
}

func TestAHookIsAskedAgainWhenTheClockIsPutBackDuringItsRest(t *testing.T) {
	var now atomicTime
	now.set(time.Now())
	spins := onStore("spins", "")
	spins.Limits.CPUMS = 50
	w := open(t, func(o *Options) { o.Clock = now.get }).with(spins, script{spins: true})
	for range hooks.FailuresInRow {
		if _, _, err := w.keep("k", `"tea"`); err != nil {
			t.Fatal(err)
		}
	}
	now.set(now.get().Add(-10 * 24 * time.Hour))
	if _, notes, err := w.keep("k", `"tea"`); err != nil || len(notes) != 1 || !strings.Contains(notes[0], "ran for longer") {
		t.Errorf("ten days back: %q, %v", notes, err)
	}
}

func TestAFamilyIsUnloadedAfterItsIdleTimeWhenTheClockIsPutBack(t *testing.T) {
	var now atomicTime
	now.set(time.Now())
	w := open(t, func(o *Options) { o.Clock, o.Idle, o.Poll = now.get, time.Hour, time.Hour }).with(aFamily("tidy"), script{says: `{}`})
	if _, err := w.call(given{Tool: "tidy_do"}); err != nil {
		t.Fatal(err)
	}
	now.set(now.get().Add(-10 * 24 * time.Hour))
	w.catalogue.UnloadIdle()
	if !w.catalogue.Known("tidy").IsLoaded() {
		t.Error("it was unloaded at once")
	}
	now.set(now.get().Add(2 * time.Hour))
	w.catalogue.UnloadIdle()
	if w.catalogue.Known("tidy").IsLoaded() {
		t.Error("it is still loaded two hours later")
	}
}

func TestAPurgeErasesWhatFamiliesAndAnswersHaveOfIt(t *testing.T) {
	m := aFamily("copies")
	m.Collections = []abi.Collection{{Name: "kept", Searchable: []string{"text"}}, {Name: "all", Per: "space"}}
	w := open(t, nil).with(m, script{steps: []step{{"record.put", `{"collection":"kept","items":[{"key":"k","value":{"text":"the anchor weighs ninety"}},{"key":"other","value":{"text":"harmless"}}]}`},
		{"record.put", `{"collection":"all","items":[{"key":"k","value":["the anchor weighs ninety"]}]}`}, {"memory.get", `{"keys":["secret"]}`}}})
	w.store("secret", `{"text":"the anchor weighs ninety"}`)
	if _, err := w.call(given{Tool: "copies_do", RequestID: "r1"}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.space.Purge(t.Context(), purge.Request{Key: "secret"}); err != nil {
		t.Fatal(err)
	}
	stage, err := w.space.As(owner("")).Stage(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for name, perSpace := range map[string]bool{"copies/kept": false, "copies/all": true} {
		found, err := stage.Records(t.Context(), memory.Collection{Name: name, PerSpace: perSpace}, "default", []string{"k", "other"})
		if err != nil || found[0] != nil || found[1] == nil && !perSpace {
			t.Errorf("%s has %v, %v", name, found, err)
		}
	}
	hits, _, err := stage.SearchRecords(t.Context(), memory.Collection{Name: "copies/kept", Fields: []string{"text"}}, memory.Search{Text: "anchor"})
	if err != nil || len(hits) != 0 {
		t.Errorf("a search finds %v, %v", hits, err)
	}
	if answer, version, err := w.space.As(owner("")).Answered(t.Context(), memory.Commit{Write: memory.Write{RequestID: "r1"}, Operation: "tool copies_do",
		Content: Call{Arguments: json.RawMessage(`{}`)}.content()}); err != nil || version == 0 || answer != nil {
		t.Errorf("the answer is %s, %d, %v", answer, version, err)
	}
}
