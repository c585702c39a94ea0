package family

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/scope"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/stress"
	"github.com/alcove-memory/alcove/registry"
)

// marker is in everything that a family with the namespace work may not see.
const marker = "velvet-hammer"

// probes are requests of every operation, aimed at the namespace home, at other families and at other branches.
func probes() []step {
	const home = `"namespace":"home"`
	const put, record, link = `{"items":[{"key":"k","value":"by a probe",` + home + `}]}`, `"collection":"other/own"`, `{"key":"k","to":["work"],` + home + `}`
	return []step{
		{"memory.get", `{"keys":["k","gone"],` + home + `}`}, {"memory.get", `{"keys":["k"],` + home + `,"as_of":"v2","counters":true}`}, {"memory.get", `{"keys":["home/k","k"]}`},
		{"memory.states", `{"keys":["k","gone"],` + home + `}`}, {"memory.states", `{"keys":["k","home/k"],"values":true,` + home + `}`},
		{"record.scan", `{"collection":"own","prefixes":[""],"values":true,` + home + `}`}, {"record.scan", `{` + record + `,"prefixes":["","r"]}`}, {"record.scan", `{"collection":"../other/own","prefixes":[""]}`},
		{"memory.list", `{` + home + `}`}, {"memory.list", `{` + home + `,"counters":true,"prefix":"k"}`}, {"memory.list", `{"prefix":"../home/"}`}, {"memory.namespaces", `{}`},
		{"memory.history", `{"key":"k",` + home + `}`}, {"memory.history", `{"key":"gone",` + home + `}`},
		{"memory.search", `{"query":"velvet hammer"}`}, {"memory.search", `{"query":"velvet hammer","namespaces":["home"]}`}, {"memory.search", `{"query":"velvet hammer","namespaces":["*"]}`},
		{"memory.search", `{"query":"velvet hammer","namespaces":["work","home"],"features":true}`}, {"memory.search", `{"query":"velvet hammer tea","namespaces":["work"],"k":50}`},
		{"memory.search", `{"query":"velvet","namespaces":[]}`}, {"memory.search", `{"query":"tea","as_of":"v3","tags":["secret"]}`},
		{"memory.put", put}, {"memory.patch", `{"patches":[{"key":"k",` + home + `,"add_tags":["probed"]}]}`}, {"memory.delete", `{"keys":["k"],` + home + `}`},
		{"memory.touch", `{"keys":["k"],` + home + `,"accesses":1}`}, {"memory.put", `{"items":[{"key":"w","value":1,"if_version":1},{"key":"k","value":2,"if_version":99,` + home + `}]}`},
		{"record.get", `{` + record + `,"keys":["r"]}`}, {"record.put", `{` + record + `,"items":[{"key":"r","value":1}]}`}, {"record.delete", `{` + record + `,"keys":["r"]}`},
		{"record.list", `{` + record + `}`}, {"record.list", `{"collection":"own"}`}, {"record.search", `{` + record + `,"query":"velvet"}`}, {"record.append", `{` + record + `,"values":[1]}`},
		{"record.history", `{` + record + `,"key":"r"}`}, {"record.history", `{"collection":"own","family":"other","key":"r",` + home + `}`}, {"record.list", `{"collection":"own","family":"other",` + home + `}`},
		{"record.get", `{"collection":"own","family":"other","keys":["r"],` + home + `}`}, {"record.search", `{"collection":"own","family":"other","query":"velvet","namespaces":["*"]}`}, {"record.list", `{"collection":"own","order":"text"}`},
		{"link.add", `{"key":"w","to":["home#k","home#gone","nowhere#k"]}`}, {"link.remove", `{"key":"w","to":["home#k"]}`},
		{"record.get", `{"collection":"_config","keys":["other"]}`}, {"record.list", `{"collection":"_jobs"}`}, {"record.get", `{"collection":"../other/own","keys":["r"]}`}, {"record.list", `{"collection":"other/own\u0000"}`},
		{"log.append", `{"event":"probed","data":1,` + home + `}`}, {"log.read", `{` + home + `}`}, {"log.read", `{}`}, {"feed.read", `{}`}, {"feed.read", `{"namespaces":["home"]}`}, {"feed.read", `{"namespaces":["*"],"after":0}`},
		{"feed.emit", `{"kind":"probed",` + home + `}`}, {"branch.list", `{}`}, {"branch.diff", `{"source":"draft"}`}, {"branch.diff", `{"source":"draft","namespaces":["home"]}`}, {"branch.diff", `{"source":"draft","namespaces":["*"]}`},
		{"branch.fork", `{"name":"probed"}`}, {"branch.merge", `{"source":"draft","preview":true}`}, {"branch.merge", `{"source":"draft","namespaces":["home"],"preview":true}`}, {"branch.merge", `{"source":"draft"}`}, {"branch.delete", `{"name":"draft"}`},
		{"link.list", `{"key":"k",` + home + `}`}, {"link.add", link}, {"link.remove", link}, {"config.get", `{}`}, {"config.set", `{"values":{"other":1}}`}, {"caller.get", `{}`}, {"caller.progress", `{"done":1}`},
		{"job.enqueue", `{"job":"other"}`}, {"job.status", `{"id":"1"}`}, {"job.cancel", `{"id":"1"}`}, {"text.analyze", `{"texts":["velvet hammer"]}`},
		{"text.count", `{"terms":["velvet","hammer"]}`}, {"text.count", `{"terms":["velvet"],"namespaces":["home"]}`}, {"text.count", `{"terms":["velvet"],"namespaces":["*"]}`}, {"text.count", `{"terms":["velvet"],` + record + `}`},
		{"memory.pairs", `{` + home + `}`}, {"memory.pairs", `{}`}, {"memory.pairs", `{"namespace":"*"}`},
		{"embed.texts", `{"texts":["tea"]}`}, {"embed.texts", `{"texts":["tea"],"packed":true}`}, {"llm.complete", `{"prompt":"tea","endpoint":"secret"}`}, {"llm.complete", `{"prompt":"tea"}`}, {"http.fetch", `{"endpoint":"secret"}`}, {"http.fetch", `{"endpoint":"http://127.0.0.1:1"}`},
		{"file.list", `{}`}, {"file.list", `{"root":"secret"}`}, {"file.read", `{"root":"secret","paths":["a"]}`}, {"file.write", `{"root":"secret","files":[{"path":"a","content":"probed"}]}`},
		{"tools.usage", `{"days":1}`}, {"tools.list", `{}`}, {"tools.call", `{"tool":"other_do","arguments":{}}`}, {"tools.call", `{"tool":"memory_store","arguments":{"key":"k","value":1,"namespace":"home"}}`}, {"tools.call", `{"tool":"probe_do","arguments":{}}`},
		{"config.get", `{"keys":["weight"],` + home + `,"details":true}`}, {"config.list", `{` + home + `}`}, {"config.list", `{"scope":"namespace","name":"home"}`}, {"config.list", `{"scope":"agent","name":"a"}`},
		{"config.put", `{"changes":[{"key":"weight","value":1}],"scope":"namespace","name":"home"}`}, {"config.put", `{"changes":[{"key":"weight","value":1}]}`}, {"config.history", `{"key":"weight","scope":"namespace","name":"home"}`},
		{"config.history", `{"key":"weight","scope":"family","name":"other"}`}, {"config.rollback", `{"key":"weight","version":0,"scope":"namespace","name":"home"}`}, {"config.undo", `{"change":"weight@1","scope":"namespace","name":"home"}`}, {"config.rules", `{}`}, {"text.tokens", `{"texts":["velvet hammer"]}`},
		{"text.tokens", `{"texts":["velvet hammer"],"ids":true}`}, {"text.detokenize", `{"ids":[[1,2]]}`}, {"record.collections", `{}`}, {"record.collections", `{"family":"other"}`},
		{"record.search", `{` + record + `,"query":"velvet","mode":"semantic"}`}, {"text.count", `{"terms":["velvet"],"collection":"own","family":"other","namespaces":["*"]}`},
		{"log.verify", `{` + home + `}`}, {"log.verify", `{}`}, {"log.append", `{"event":"probed",` + home + `,"sequence":true}`}, {"feed.read", `{"kinds":["memory_stored"],"agents":["a"]}`},
		{"namespace.list", `{"counts":true}`}, {"namespace.list", `{"prefix":"ho"}`}, {"namespace.delete", `{"namespace":"home"}`}, {"namespace.delete", `{"namespace":"*"}`},
		{"status.get", `{` + home + `}`}, {"status.get", `{}`}, {"version.at", `{"as_of":"v3"}`}, {"version.at", `{"as_of":"v3","branch":"draft"}`}, {"embed.rebuild", `{}`},
		{"scope.get", `{` + home + `}`}, {"scope.get", `{}`}, {"scope.list", `{"archived":true}`}, {"scope.list", `{"prefix":"ho"}`}, {"scope.put", `{` + home + `,"members":["probe"]}`}, {"scope.put", `{` + home + `,"create":true}`},
		{"scope.members", `{` + home + `}`}, {"scope.members", `{` + home + `,"add":["probe"]}`}, {"scope.delete", `{` + home + `}`}, {"scope.delete", `{` + home + `,"force":true}`},
		{"caller.can", `{"action":"read",` + home + `}`}, {"caller.can", `{"action":"read","agent":"a",` + home + `}`}, {"session.list", `{}`},
		{"identity.delegate", `{"name":"n","namespaces":["home"],"expires_s":60}`}, {"identity.delegate", `{"name":"n","namespaces":["*"],"expires_s":60}`}, {"identity.revoke", `{"id":"1"}`},
		{"record.nearest", `{"collection":"own","family":"other","vector":[1]}`}, {"record.nearest", `{` + record + `,"vector":[1]}`}, {"quota.list", `{}`}, {"quota.list", `{"agent":"a"}`}, {"tools.offered", `{"families":["core","other"]}`},
		{"recall.get", `{"recall_id":"rec:00000000000000000000000000"}`},
		{"tools.publish", `{"tool":{"name":"other_do","description":"d","input_schema":{"type":"object"}}}`}, {"tools.withdraw", `{"name":"other_do"}`},
	}
}

// secretly makes a space in which home, another family and a branch hold a text.
func secretly(t *testing.T, text string) *world {
	t.Helper()
	w := open(t, nil)
	w.keepLinks()
	keep := func(branch, namespace, key, value string) {
		t.Helper()
		raw, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.space.As(owner("a")).Store(t.Context(), memory.Location{Branch: branch, Namespace: namespace}, []memory.Item{{Key: key, Value: raw, Tags: []string{"secret"}}}, memory.Write{})
		if err != nil {
			t.Fatal(err)
		}
	}
	keep("", "work", "w", "tea at work")
	keep("", "home", "gone", text+" once")
	keep("", "home", "k", text+" at home")
	if _, err := w.space.As(owner("")).Forget(t.Context(), memory.Location{Namespace: "home"}, []string{"gone"}, memory.Write{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.space.As(owner("")).Append(t.Context(), memory.Location{Namespace: "home"}, "said", json.RawMessage(`"`+text+`"`), memory.Write{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.space.As(owner("")).Fork(t.Context(), "", "draft", memory.AsOf{}, memory.Write{}); err != nil {
		t.Fatal(err)
	}
	keep("draft", "home", "k", text+" on a draft")
	w.putScope(owner("a"), "home", scope.Change{Name: &text, Description: &text, Members: &[]string{strings.ReplaceAll(text, " ", "-")}})
	other := aFamily("other")
	other.Collections = []abi.Collection{{Name: "own", Searchable: []string{"text"}}}
	w.with(other, script{steps: []step{{"memory.get", `{"keys":["k"],"namespace":"home"}`}, {"record.put", `{"collection":"own","items":[{"key":"r","value":{"text":"` + text + ` of another"}}]}`},
		{"memory.put", `{"items":[{"key":"k2","namespace":"home","value":"` + text + `"}]}`}}})
	if _, err := w.call(given{Tool: "other_do", Location: memory.Location{Namespace: "home"}}); err != nil {
		t.Fatal(err)
	}
	return w
}

// narrowed is everything that a family may ask for, with the narrowest scope.
func narrowed() []abi.Request {
	list := everything()
	for i, r := range list {
		switch r.Name.Scope() {
		case "namespaces":
			list[i].Scope = []string{"work"}
		case "branches":
			list[i].Scope = []string{"*"}
		case "collections":
			list[i].Scope = []string{"own"}
		case "endpoints", "tools", "families", "roots":
			list[i].Scope = []string{"none"}
		}
	}
	return list
}

var newest = regexp.MustCompile(`"version":\d+`)

var moments = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z|[0-9a-f]{64}|"id":"[^"]*"`)

// spaceID is random.
var spaceID = regexp.MustCompile(`"space":"[0-9A-Za-z_-]+"`)

// probed is a space with a secret, and a family that calls every probe.
type probed struct {
	*world
	secret string
}

func newProbed(t *testing.T, secret string) probed {
	t.Helper()
	w := secretly(t, secret)
	m := aFamily("probe")
	m.Capabilities, m.Collections = narrowed(), []abi.Collection{{Name: "own", Searchable: []string{"text"}}}
	return probed{w.with(m, script{steps: probes()}), secret}
}

// keepLinks has the index of links kept from the start: it is begun when somebody first asks for links back, in a commit of its own.
func (w *world) keepLinks() {
	w.t.Helper()
	stage, err := w.space.As(owner("")).Stage(w.t.Context(), "")
	if err != nil {
		w.t.Fatal(err)
	}
	if _, _, err := stage.LinkedFrom(w.t.Context(), memory.LinkQuery{To: memory.Ref{Namespace: memory.Default, Key: "none"}}); err != nil {
		w.t.Fatal(err)
	}
	w.waitIdle()
}

// waitIdle waits for background work, and for what it queues: its commits are part of what a family sees as the version.
func (w *world) waitIdle() {
	w.t.Helper()
	for range 3 {
		if err := w.space.WaitIdle(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
	}
}

// answers calls every probe with what is granted, and checks that home holds what it did.
func (p probed) answers(t *testing.T, granted []registry.Capability) []response {
	t.Helper()
	_, err := p.Grant(grants.Request{Family: "probe", Revoke: []string{"*"}})
	if err == nil {
		_, err = p.Grant(grants.Request{Family: "probe", Capabilities: granted})
	}
	if err != nil {
		t.Fatal(err)
	}
	p.waitIdle()
	result, err := p.call(given{Tool: "probe_do", Location: memory.Location{Namespace: "work"}})
	if err != nil {
		t.Fatal(err)
	}
	if note := strings.Join(result.Notes, " "); strings.Contains(note, marker) {
		t.Errorf("the notes are %s", note)
	}
	for key, want := range map[string]string{"k": `"` + p.secret + ` at home"`, "k2": `"` + p.secret + `"`} {
		if got := p.valueAt("home", key); got != want {
			t.Errorf("afterwards %s at home is %s", key, got)
		}
	}
	return responses(t, result.Output)
}

// valueAt is what is under a key of a namespace; empty when there is nothing.
func (w *world) valueAt(namespace, key string) string {
	w.t.Helper()
	m, err := w.space.As(owner("")).Recall(w.t.Context(), memory.Location{Namespace: namespace}, key, memory.AsOf{})
	if err != nil {
		w.t.Fatal(err)
	}
	if m == nil {
		return ""
	}
	return string(m.Value)
}

// learnsNothing compares what a family is answered in two spaces, which differ in what it may not see. allowed is how many probes
// were answered without an error.
func learnsNothing(t *testing.T, one, other probed, granted ...registry.Capability) (allowed int) {
	t.Helper()
	got, otherwise := one.answers(t, granted), other.answers(t, granted)
	said := func(op string, r response) string {
		text := string(r.OK)
		if op == "status.get" { // the newest version counts everyone's commits, also those in the background
			text = newest.ReplaceAllString(text, "")
		}
		if r.Error != nil {
			text = fmt.Sprint(r.Error.Code, " ", r.Error.Message)
		}
		return spaceID.ReplaceAllString(moments.ReplaceAllString(text, ""), "")
	}
	for i, asked := range probes() {
		is, would := said(asked.op, got[i]), said(asked.op, otherwise[i])
		if is != would || strings.Contains(is, marker) {
			t.Errorf("granted %v, %s %s was answered with what it may not see:\n%s\n%s", granted, asked.op, asked.request, is, would)
		}
		if got[i].Error == nil {
			allowed++
		}
	}
	return allowed
}

// TestAFamilyLearnsNothingOfNamespacesThatItWasNotGranted calls every operation with every capability alone, and with all of
// them, narrowed to one namespace: no answer has a text of another one, and none depends on it.
func TestAFamilyLearnsNothingOfNamespacesThatItWasNotGranted(t *testing.T) {
	for op := range abi.Ops() {
		if !strings.Contains(fmt.Sprint(probes()), "{"+string(op)+" ") {
			t.Errorf("no probe calls %s", op)
		}
	}
	const otherwise = "simple sample of more words"
	var all []registry.Capability
	for _, r := range narrowed() {
		all = append(all, registry.Capability{Name: r.Name, Scope: r.Scope})
	}
	one, other := newProbed(t, marker), newProbed(t, otherwise)
	none := learnsNothing(t, one, other)
	for _, granted := range all {
		if granted.Name != abi.CanBranchWrite { // it deletes what others look at
			learnsNothing(t, one, other, granted)
		}
	}
	if everything := learnsNothing(t, newProbed(t, marker), newProbed(t, otherwise), all...); everything <= none+10 {
		t.Errorf("%d probes are answered with every capability, and %d without any: they probe nothing", everything, none)
	}
}

// TestAnotherFamilysPowersAreReachedOnlyThroughToolsThatWereGranted calls a family that may do everything from others.
func TestAnotherFamilysPowersAreReachedOnlyThroughToolsThatWereGranted(t *testing.T) {
	w := secretly(t, marker)
	w.with(aFamily("strong"), script{steps: []step{{"memory.get", `{"keys":["k"],"namespace":"home"}`}, {"memory.put", `{"items":[{"key":"k","value":"taken","namespace":"home"}]}`}, {"tools.call", `{"tool":"meek_do"}`}}})
	meek := aFamily("meek")
	meek.Capabilities = without(abi.CanMemoryRead, abi.CanMemoryWrite, abi.CanMemoryPropose)
	w.with(meek, script{steps: []step{{"memory.get", `{"keys":["w"],"namespace":"work"}`}, {"memory.put", `{"items":[{"key":"w","value":"taken","namespace":"work"}]}`}}})
	calls := func(name string, scope ...string) *world {
		m := aFamily(name)
		m.Capabilities = []abi.Request{{Name: abi.CanToolsCall, Scope: scope, Reason: "to be tested"}}
		return w.with(m, script{steps: []step{{"tools.call", `{"tool":"strong_do"}`}, {"tools.call", `{"tool":"meek_do"}`}}})
	}
	got, _ := calls("outsider", "meek_do").do("outsider")
	if !denied(got[0]) || !strings.Contains(string(got[1].OK), `"denied"`) || strings.Contains(string(got[1].OK), "tea") {
		t.Errorf("a family that may call meek_do alone was answered with %+v", got)
	}
	calls("insider", "*")
	result, err := w.call(given{Tool: "insider_do", Location: memory.Location{Namespace: "work"}, Caller: memory.Caller{Rights: memory.RightsTo(nil, []string{"work"})}})
	if err != nil {
		t.Fatal(err)
	}
	if said := string(result.Output); strings.Contains(said, marker) || strings.Contains(said, "tea") || !strings.Contains(said, `"denied"`) {
		t.Errorf("a caller of work alone reached %s", said)
	}
	if k, work := w.valueAt("home", "k"), w.valueAt("work", "w"); k != `"`+marker+` at home"` || work != `"tea at work"` {
		t.Errorf("afterwards home holds %s and work %s", k, work)
	}
}

// TestACallerWhoMayOnlyReadChangesNothingThroughFamilies calls every operation for a caller who may only read.
func TestACallerWhoMayOnlyReadChangesNothingThroughFamilies(t *testing.T) {
	w := secretly(t, marker)
	m := aFamily("probe")
	yes := true
	m.Tools[0].Annotations.ReadOnly = &yes
	m.Collections = []abi.Collection{{Name: "own"}}
	w.with(m, script{steps: append(probes(), step{"memory.put", `{"items":[{"key":"x","value":1}]}`}, step{"record.put", `{"collection":"own","items":[{"key":"x","value":1}]}`})})
	before, err := w.space.As(owner("")).Extent(t.Context(), memory.Default)
	if err != nil {
		t.Fatal(err)
	}
	result, err := w.call(given{Tool: "probe_do", Location: memory.Location{Namespace: "work"}, Caller: readingCaller()})
	if err != nil {
		t.Fatal(err)
	}
	if result.Version != 0 || result.Proposal != "" {
		t.Errorf("it is committed as version %d, proposed on %q", result.Version, result.Proposal)
	}
	// The host begins an index of links when somebody first asks for links back: versions go on, and nothing that anybody wrote.
	owners := w.space.As(owner(""))
	for _, q := range []memory.WrittenQuery{
		{Memories: true, Merges: true, Collections: []string{"probe/own", "other/own", "_log"}}, {PerSpace: true, Collections: []string{"probe/own", "other/own", "_jobs", "_settings", "_tools", "_schedules"}},
	} {
		q.After = before.LatestVersion
		if written, err := owners.Written(t.Context(), q); err != nil || len(written.Entries)+len(written.Merges) > 0 {
			t.Errorf("written is %+v, %v", written, err)
		}
	}
	if branches, err := w.space.As(owner("")).Branches(t.Context()); err != nil || len(branches) != 2 {
		t.Errorf("the branches are %+v, %v", branches, err)
	}
}

// TestAModuleThatIsSwappedQuicklyNeverHasWhatAnotherWasGranted swaps the file of a family in a watched folder while it is
// called: only the module that was granted may read.
func TestAModuleThatIsSwappedQuicklyNeverHasWhatAnotherWasGranted(t *testing.T) {
	load := stress.FromEnvironment(t)
	random := load.Random(7)
	folder := t.TempDir()
	file := filepath.Join(folder, "notes.wasm")
	good := pack(t, aFamily("notes"), script{steps: []step{{"memory.get", `{"keys":["good"]}`}}})
	evil := pack(t, aFamily("notes"), script{steps: []step{{"memory.get", `{"keys":["evil"]}`}, {"memory.put", `{"items":[{"key":"taken","value":1}]}`}}})
	writeFile(t, file, good)
	w := open(t, func(o *Options) { o.Watch = folder })
	w.store("good", `"for those who were granted it"`)
	w.store("evil", `"`+marker+`"`)
	if _, err := w.Grant(grants.Request{Family: "notes", Capabilities: []registry.Capability{{Name: abi.CanMemoryRead, Scope: []string{"*"}}, {Name: abi.CanMemoryWrite, Scope: []string{"*"}}}}); err != nil {
		t.Fatal(err)
	}
	goods, evils := 0, 0
	ask := func() {
		result, err := w.call(given{Tool: "notes_do"})
		if err != nil {
			return // it was just going away
		}
		list := responses(t, result.Output)
		switch {
		case strings.Contains(string(result.Output), marker):
			t.Errorf("the module that was not granted anything read %s", result.Output)
		case len(list) == 2:
			evils++
			if list[0].Error == nil || list[1].Error == nil {
				t.Errorf("the module that was not granted anything was answered %s", result.Output)
			}
		case list[0].Error == nil:
			goods++
		}
	}
	await.That(t, "the granted module reads", func() bool { ask(); return goods > 0 })
	for n := range load.Rounds(60) {
		writeFile(t, file, [][]byte{evil, good}[n%2])
		time.Sleep(time.Duration(random.IntN(25)) * time.Millisecond) // around a look at the folder
		for range random.IntN(6) {
			ask()
		}
	}
	writeFile(t, file, evil)
	await.That(t, "the other module is asked", func() bool { ask(); return evils > 0 })
	if got := w.value("", "taken"); got != "" {
		t.Errorf("the module that was not granted anything wrote %s", got)
	}
	t.Logf("the granted module read %d times, the other was denied %d times", goods, evils)
}
