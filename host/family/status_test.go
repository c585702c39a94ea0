package family

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/retention"
	"github.com/alcove-memory/alcove/host/testing/testclock"
)

func TestTheFeedSaysWhoDidWhat(t *testing.T) {
	w := open(t, nil).with(aFamily("acts"), script{steps: []step{{"memory.put", `{"items":[{"key":"a","value":1},{"key":"b","value":2}]}`}, {"log.append", `{"event":"moved"}`}, {"feed.emit", `{"kind":"done"}`}}}).
		with(aFamily("drops"), script{steps: []step{{"memory.delete", `{"keys":["a"]}`}}}).
		with(aFamily("reads"), script{steps: []step{{"feed.read", `{}`}, {"feed.read", `{"agents":["bob"]}`}, {"feed.read", `{"kinds":["acts.*","event_logged"]}`}, {"feed.read", `{"kinds":["none"]}`}}})
	w.askAs(t, "acts", "", owner("ann"))
	if _, err := w.call(given{Tool: "drops_do", Caller: owner("bob")}); err != nil {
		t.Fatal(err)
	}
	var pages []abi.FeedReadResponse
	for _, r := range w.askAs(t, "reads", "", owner("carl")) {
		var page abi.FeedReadResponse
		if err := json.Unmarshal(r.OK, &page); err != nil {
			t.Fatal(err)
		}
		pages = append(pages, page)
	}
	said := func(page abi.FeedReadResponse) string {
		var list []string
		for _, n := range page.Notices {
			list = append(list, fmt.Sprintf("%s %s by %s", n.Kind, n.Key, n.Agent))
		}
		return strings.Join(list, "; ")
	}
	for _, want := range []string{"memory_stored b by ann", "event_logged 00000000000000000001 by ann", "acts.done 00000000000000000001 by ann", "memory_forgotten a by bob"} {
		if !strings.Contains(said(pages[0]), want) {
			t.Errorf("the feed has no %s: %s", want, said(pages[0]))
		}
	}
	if got := said(pages[1]); got != "memory_forgotten a by bob" {
		t.Errorf("bob did %s", got)
	}
	if got := pages[2]; len(got.Notices) != 2 || got.Watermark != pages[0].Watermark {
		t.Errorf("the selection is %s, up to %d", said(got), got.Watermark)
	}
	if len(pages[3].Notices) != 0 || pages[3].More || pages[3].Watermark != pages[0].Watermark {
		t.Errorf("of no kind there is %+v", pages[3])
	}
}

func TestAFamilyAnnouncesBareKindsThatItWasGranted(t *testing.T) {
	m := aFamily("rings")
	for i, c := range m.Capabilities {
		if c.Name == abi.CanFeedKind {
			m.Capabilities[i].Scope = []string{"rang", "memory_stored"}
		}
	}
	steps := []step{{"feed.emit", `{"kind":"rang"}`}, {"feed.emit", `{"kind":"stopped"}`}, {"feed.emit", `{"kind":"memory_stored"}`}}
	w := open(t, nil).with(m, script{steps: steps}).with(aFamily("reads"), script{steps: []step{{"feed.read", `{}`}}})
	kinds := func() (list []string) {
		t.Helper()
		var page abi.FeedReadResponse
		if err := json.Unmarshal(w.askAs(t, "reads", "", owner("ann"))[0].OK, &page); err != nil {
			t.Fatal(err)
		}
		for _, n := range page.Notices {
			list = append(list, string(n.Kind)+" of "+n.Family)
		}
		return list
	}
	if got := w.askAs(t, "rings", "", owner("ann")); got[2].Error == nil || !strings.Contains(got[2].Error.Message, "the memory's own") {
		t.Errorf("feed.emit of a kind of the memory's own = %s, %v, want it refused", got[2].OK, got[2].Error)
	}
	if got := fmt.Sprint(kinds()); got != "[rang of rings rings.stopped of rings]" {
		t.Errorf("granted: %s", got)
	}
	if _, err := w.Grant(grants.Request{Family: "rings", Revoke: []string{string(abi.CanFeedKind)}}); err != nil {
		t.Fatal(err)
	}
	w.askAs(t, "rings", "", owner("ann"))
	if got := fmt.Sprint(kinds()); got != "[rang of rings rings.stopped of rings rings.rang of rings rings.stopped of rings rings.memory_stored of rings]" {
		t.Errorf("revoked: %s", got)
	}
}

func TestAWatermarkBehindTheFeedIsAnsweredWithWhatWasMissed(t *testing.T) {
	now := testclock.At(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	w := openAt(t, now.Now, nil)
	w.store("a", "1")
	first, err := w.space.As(owner("")).Status(t.Context(), memory.Location{})
	if err != nil {
		t.Fatal(err)
	}
	w.store("b", "2")
	now.Add(30 * 24 * time.Hour)
	w.store("c", "3")
	w.with(aFamily("reads"), script{steps: []step{{"feed.read", fmt.Sprintf(`{"after":%d}`, first.Version)}, {"feed.read", `{}`}}})
	got := w.askAs(t, "reads", "", owner("ann"))
	var page, fresh abi.FeedReadResponse
	if json.Unmarshal(got[0].OK, &page) != nil || json.Unmarshal(got[1].OK, &fresh) != nil {
		t.Fatalf("feed.read = %+v, want two pages", got)
	}
	if m := page.Missed; m == nil || m.After != first.Version || m.Oldest <= first.Version || !strings.Contains(m.Message, "are gone") {
		t.Errorf("it was missed: %+v", page.Missed)
	}
	if fresh.Missed != nil || len(page.Notices) != 1 || page.Notices[0].Key != "c" {
		t.Errorf("pages %+v and %+v, want c, and nothing missed by the fresh one", page, fresh)
	}
}

func TestASequenceNumberIsThatOfTheEventThoughOthersLogMeanwhile(t *testing.T) {
	w := open(t, nil).with(aFamily("logs"), script{steps: []step{{"log.append", `{"event":"one"}`}, {"log.append", `{"event":"two","sequence":true}`}}})
	numbers := make(chan uint64, 8)
	for range 8 {
		go func() {
			result, err := w.Call(context.Background(), given{Tool: "logs_do", Arguments: json.RawMessage(`{}`), Caller: owner("ann")})
			var answer []struct{ OK abi.LogAppendResponse }
			if err != nil || json.Unmarshal(result.Output, &answer) != nil {
				numbers <- 0
				return
			}
			numbers <- answer[1].OK.Sequence
		}()
	}
	given := map[uint64]bool{}
	for range 8 {
		if n := <-numbers; n > 0 { // one that was overtaken again and again is a conflict
			if given[n] {
				t.Errorf("%d was given twice", n)
			}
			given[n] = true
		}
	}
	list, err := w.space.As(owner("")).Events(t.Context(), memory.Location{}, memory.AsOf{}, 1, 0)
	if err != nil || len(list) != 2*len(given) || len(given) == 0 {
		t.Fatalf("%d events of %d calls: %v", len(list), len(given), err)
	}
	for _, e := range list {
		if given[e.Sequence] != (e.Event == "two") {
			t.Errorf("event %d is %s", e.Sequence, e.Event)
		}
	}
}

func TestALogIsVerifiedPageByPage(t *testing.T) {
	w := open(t, nil)
	for range 5 {
		if _, err := w.space.As(owner("")).Append(t.Context(), memory.Location{}, "moved", json.RawMessage("1"), memory.Write{}); err != nil {
			t.Fatal(err)
		}
	}
	w.with(aFamily("checks"), script{steps: []step{{"log.verify", `{}`}, {"log.verify", `{"limit":2}`}, {"log.verify", `{"limit":2,"from":3}`}, {"log.verify", `{"from":5}`}, {"log.verify", `{"from":6}`}, {"log.verify", `{"namespace":"empty"}`}}})
	for i, want := range []string{`"checked":5`, `"checked":2,"next":3`, `"checked":2,"next":5`, `"checked":1,"hash"`, `"checked":0,"hash"`, `"checked":0}`} {
		if r := w.askAs(t, "checks", "", owner("ann"))[i]; !strings.Contains(string(r.OK), `"verified":true,`+want) {
			t.Errorf("%d: %s, %v; not %s", i, r.OK, r.Error, want)
		}
	}
}

func TestANamespaceIsDeletedInPartsAndItsHistoryStays(t *testing.T) {
	w := open(t, nil)
	for i := range 5 {
		if _, err := w.space.As(owner("")).Store(t.Context(), memory.Location{Namespace: "work"}, []memory.Item{{Key: fmt.Sprint("k", i), Value: json.RawMessage("1")}}, memory.Write{}); err != nil {
			t.Fatal(err)
		}
	}
	w.store("k0", `"kept"`)
	w.with(aFamily("drops"), script{steps: []step{{"namespace.delete", `{"namespace":"work","limit":2}`}, {"namespace.delete", `{"namespace":"work","limit":2}`}, {"namespace.list", `{"counts":true}`}}})
	before, err := w.space.As(owner("")).Status(t.Context(), memory.Location{Namespace: "work"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.call(given{Tool: "drops_do", Caller: owner("ann"), DryRun: true}); err != nil {
		t.Fatal(err)
	}
	if w.valueAt("work", "k0") == "" {
		t.Error("a dry run deleted something")
	}
	got := w.askAs(t, "drops", "", owner("ann"))
	if string(got[0].OK) != `{"deleted":2,"more":true}` || string(got[1].OK) != `{"deleted":2,"more":true}` {
		t.Errorf("deleted %s, then %s, want 2 with more, twice", got[0].OK, got[1].OK)
	}
	got = w.askAs(t, "drops", "", owner("ann"))
	if string(got[0].OK) != `{"deleted":1,"more":false}` || string(got[1].OK) != `{"deleted":0,"more":false}` || w.value("", "k0") != `"kept"` {
		t.Errorf("deleted %s, then %s, want the last, then none", got[0].OK, got[1].OK)
	}
	m, err := w.space.As(owner("")).Recall(t.Context(), memory.Location{Namespace: "work"}, "k0", memory.AsOf{Version: before.Version})
	if err != nil || m == nil {
		t.Errorf("its past is %v, %v", m, err)
	}
	if err := w.space.SetRetention(t.Context(), retention.Policy{Keep: 3600}); err != nil {
		t.Fatal(err)
	}
	if r := w.askAs(t, "drops", "", owner("ann"))[0]; r.Error == nil || r.Error.Code != abi.CodeConflict || !strings.Contains(r.Error.Message, "less than a day") {
		t.Errorf("what could not be undone is deleted: %s, %v", r.OK, r.Error)
	}
	if err := w.space.SetRetention(t.Context(), retention.Policy{Keep: 3600, Namespaces: map[string]retention.Namespace{"work": {Forever: true}}}); err != nil {
		t.Fatal(err)
	}
	if r := w.askAs(t, "drops", "", owner("ann"))[0]; r.Error != nil {
		t.Error(r.Error)
	}
}

func TestACallerWithNarrowRightsIsShownItsOwnNamespacesOnly(t *testing.T) {
	w := open(t, func(o *Options) { o.Embedder = embedder{} })
	for _, namespace := range []string{"home", "work"} {
		p := memory.Location{Namespace: namespace}
		if _, err := w.space.As(owner("")).Store(t.Context(), p, []memory.Item{{Key: "k", Value: json.RawMessage("1")}}, memory.Write{}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.space.As(owner("")).Append(t.Context(), p, "moved", json.RawMessage("1"), memory.Write{}); err != nil {
			t.Fatal(err)
		}
	}
	w.with(aFamily("looks"), script{steps: []step{
		{"namespace.list", `{"counts":true}`}, {"status.get", `{}`}, {"embed.rebuild", `{}`}, {"feed.read", `{"namespaces":["*"]}`},
		{"status.get", `{"namespace":"home"}`}, {"log.verify", `{"namespace":"home"}`}, {"log.append", `{"event":"e","namespace":"home","sequence":true}`}, {"namespace.delete", `{"namespace":"home"}`}}})
	ann := memory.Caller{Agent: "ann", Rights: memory.RightsTo(nil, []string{"work"})}
	got := w.askAs(t, "looks", "work", ann)
	if string(got[0].OK) != `{"namespaces":[{"namespace":"work","memories":1,"events":1}]}` {
		t.Errorf("it is shown %s, %v", got[0].OK, got[0].Error)
	}
	if !strings.Contains(string(got[1].OK), `"memories":1`) || string(got[2].OK) != `{"embedder":"lengths","queued":0}` || strings.Contains(string(got[3].OK), "home") {
		t.Errorf("answers %+v, want one memory, nothing queued, and nothing of home", got[1:4])
	}
	for i, r := range got[4:] {
		if r.Error == nil || r.Error.Code != abi.CodeDenied {
			t.Errorf("request %d of home: %s, %v, want it denied", i, r.OK, r.Error)
		}
	}
}

// rebuilt counts what is made again.
type rebuilt struct {
	embedder
	names *[]string
}

func (r rebuilt) Rebuild(_ context.Context, name string) error {
	*r.names = append(*r.names, name)
	return nil
}

func TestVectorsAreMadeAgainAfterTheCommitAndNotTooOften(t *testing.T) {
	var names []string
	now := testclock.At(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	w := openAt(t, now.Now, func(o *Options) { o.Embedder = rebuilt{names: &names} })
	w.with(aFamily("again"), script{steps: []step{{"embed.rebuild", `{}`}}})
	if _, err := w.call(given{Tool: "again_do", Caller: owner("ann"), DryRun: true}); err != nil || len(names) != 0 {
		t.Errorf("a dry run made %v, %v", names, err)
	}
	for i, c := range []struct {
		later time.Duration
		want  string
	}{{0, "queued"}, {time.Minute, "at most once in 10m0s: wait 9m0s"}, {9 * time.Minute, "queued"}, {-time.Hour, "queued"}} {
		now.Add(c.later)
		r := w.askAs(t, "again", "", owner("ann"))[0]
		if said := fmt.Sprint(string(r.OK), r.Error); !strings.Contains(said, c.want) || r.Error != nil && !r.Error.Retryable {
			t.Errorf("request %d: %s, want %q", i, said, c.want)
		}
	}
	if fmt.Sprint(names) != "[lengths lengths lengths]" {
		t.Errorf("made again: %v", names)
	}
}

func TestTokensOfTooMuchTextAreNotCounted(t *testing.T) {
	w := open(t, nil).with(aFamily("counts"), script{steps: []step{{"text.tokens", `{"texts":["` + strings.Repeat("x", 1<<19) + `","` + strings.Repeat("y ", 1<<18) + `."]}`}, {"text.tokens", `{"texts":["tea and milk"]}`}}})
	got, _ := w.do("counts")
	if got[0].Error == nil || !strings.Contains(got[0].Error.Message, "at most 1048576 are allowed") || string(got[1].OK) != `{"encoding":"cl100k_base","counts":[3]}` {
		t.Errorf("text.tokens = %s, %v, then %s, want it refused, then 3", got[0].OK, got[0].Error, got[1].OK)
	}
}
