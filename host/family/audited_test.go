package family

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/registry"
)

// recorder is an audit in memory.
type recorder struct {
	mu      sync.Mutex
	entries []audit.Entry
	broken  error
}

func (h *recorder) Add(e audit.Entry) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	e.Seq = uint64(len(h.entries) + 1)
	h.entries = append(h.entries, e)
	return e.Seq
}

func (h *recorder) Committing(call audit.Entry) func(uint64, string) {
	return func(version uint64, branch string) {
		if version != 0 {
			h.Add(audit.Entry{Kind: audit.Wrote, Family: call.Family, Of: call.Seq, Version: version, Branch: branch})
		}
	}
}

func (h *recorder) Ready() error { h.mu.Lock(); defer h.mu.Unlock(); return h.broken }
func (h *recorder) Flush() error { return h.Ready() }

func (h *recorder) Accept(lock []byte, locked bool, e audit.Entry, lines []string) error {
	e.Lock, e.Locked, e.Detail = audit.LockDigest(lock), locked, strings.Join(lines, "\n")
	h.Add(e)
	return h.Ready()
}

func (h *recorder) of(kind audit.Kind) (list []audit.Entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.entries {
		if e.Kind == kind {
			list = append(list, e)
		}
	}
	return list
}

func audited(t testing.TB) (*world, *recorder) {
	h := &recorder{}
	return open(t, func(o *Options) { o.Audit = h }), h
}

func TestEachCallOfAGuestIsRecordedWithWhatItDidAndWrote(t *testing.T) {
	w, h := audited(t)
	w.with(aFamily("notes"), script{steps: []step{{"memory.put", `{"items":[{"key":"secret-key","value":"secret value"}]}`}, {"caller.get", `{}`}}})
	_, err := w.call(given{Tool: "notes_do", RequestID: "r1", Caller: memory.Caller{Agent: "ann", Client: "editor", Session: "s", Rights: memory.FullRights()}})
	if err != nil {
		t.Fatal(err)
	}
	calls, wrote := h.of(audit.Called), h.of(audit.Wrote)
	if len(calls) != 1 || len(wrote) != 1 {
		t.Fatalf("audit entries %+v, want one call and one write", h.entries)
	}
	c := calls[0]
	if c.Family != "notes" || len(c.Digest) != 64 || c.Work != "tool notes_do" || c.Agent != "ann" || c.Client != "editor" || c.Session != "s" || c.Call != "r1" || c.Namespace != "default" || c.Branch != "default" {
		t.Errorf("the call is %+v", c)
	}
	if c.Fuel == 0 || c.Memory == 0 || c.Outcome != "ok" || c.Ops["memory.put"] != 1 || c.Ops["caller.get"] != 1 || wrote[0].Of != c.Seq || wrote[0].Version == 0 {
		t.Errorf("the call is %+v, and it wrote %+v", c, wrote[0])
	}
	if text := fmt.Sprintf("%+v", h.entries); strings.Contains(text, "secret") {
		t.Errorf("values are recorded: %s", text)
	}
	for got, err := range w.space.Accounts(t.Context(), 0) {
		e, wrong := audit.Restored(got.Caller.Account)
		if errors.Join(err, wrong) != nil || got.Version != wrote[0].Version || got.Caller.Call != "r1" || e.Digest != c.Digest || e.Fuel != c.Fuel || e.Work != c.Work {
			t.Errorf("the commit keeps %+v, %v, %v", e, err, wrong)
		}
	}
}

func TestDenialsAreRecordedWithTheirRule(t *testing.T) {
	w, h := audited(t)
	w.with(asking("notes", "1.0.0", "memory.read=*", "memory.write=*"), script{steps: []step{
		{"memory.put", `{"items":[{"key":"a","value":1}]}`}, {"memory.put", `{"items":[{"key":"a","value":1}]}`}, {"branch.list", `{}`}}})
	w.grant(grants.Request{Family: "notes", Revoke: []string{"memory.write"}})
	w.do("notes")
	calls := h.of(audit.Called)
	if len(calls) != 1 || len(calls[0].Denied) != 2 || calls[0].Denied[0].Count != 2 || !strings.Contains(calls[0].Denied[0].Rule, "alcove family grant notes memory.write") ||
		!strings.Contains(calls[0].Denied[1].Rule, "not in the manifest") {
		t.Errorf("calls %+v, want one with two denials, each with its rule", calls)
	}
	if len(h.of(audit.Wrote)) != 0 || len(h.of(audit.Loaded)) != 1 {
		t.Errorf("audit entries %+v, want nothing written and one module loaded", h.entries)
	}
	granted := h.of(audit.Granted)
	if last := granted[len(granted)-1]; last.Family != "notes" || !strings.Contains(last.Detail, "memory.read") || strings.Contains(last.Detail, "memory.write") {
		t.Errorf("the last grant is %+v, want notes with memory.read alone", last)
	}
}

func TestHooksAndJobsAndToolsOfToolsAreRecorded(t *testing.T) {
	w, h := audited(t)
	w.with(aFamily("inner"), script{steps: []step{{"memory.put", `{"items":[{"key":"a","value":1}]}`}}}).with(withJob("outer", ""), script{steps: []step{{"tools.call", `{"tool":"inner_do"}`}}})
	job := w.enqueue("outer")
	await.That(t, "the job is done", func() bool { return w.job(job.ID).State == jobs.Done })
	var works []string
	for _, e := range h.of(audit.Called) {
		works = append(works, e.Family+" "+e.Work+" "+e.Call)
	}
	if got := strings.Join(works, ", "); got != "inner tool inner_do "+job.ID+", outer job tidy "+job.ID {
		t.Errorf("calls %s, want the inner tool, then the outer job, both of the job", got)
	}
	if wrote := h.of(audit.Wrote); len(wrote) != 1 || wrote[0].Family != "outer" {
		t.Errorf("writes %+v, want one of outer", wrote)
	}
	m := aFamily("hooked")
	m.Hooks.Store = &abi.StoreHook{}
	w.with(m, script{says: `{}`})
	w.store("k", `1`)
	if last := h.of(audit.Called); last[len(last)-1].Work != "hook store" {
		t.Errorf("the last call is %+v, want the store hook", last[len(last)-1])
	}
}

func TestARefusedModuleIsRecordedOnceWithTheReason(t *testing.T) {
	newest, says := notesOf("1.2.0", `2`)
	for name, c := range map[string]struct {
		attack func(approval)
		why    string
	}{
		"a revoked key": {func(a approval) {
			a.lock(func(l *registry.Lock) {
				l.Keys["author"] = registry.Key{Public: publicText(1), Revoked: "it was stolen"}
			})
		}, "was revoked: it was stolen"},
		"nobody signed it": {func(a approval) { a.approveInstead(pack(a.t, newest, says), func(*registry.Grant) {}) }, "is not signed by the key author"},
		"other bytes":      {func(a approval) { a.replace(pack(a.t, newest, says)) }, "was changed since it was installed"},
		"no manifest": {func(a approval) {
			a.approveInstead([]byte("\x00asm\x01\x00\x00\x00"), func(*registry.Grant) {})
		}, "manifest"},
	} {
		t.Run(name, func(t *testing.T) {
			a := approve(t)
			a.t = t
			c.attack(a)
			h := &recorder{}
			w := openIn(t, a.dir, func(o *Options) { o.Locked, o.Audit = true, h })
			for range 2 {
				w.says("notes_do")
				w.catalogue.Scan()
			}
			refused := h.of(audit.Refused)
			if len(refused) != 1 || refused[0].Family != "notes" || refused[0].Digest != a.digest() || !strings.Contains(refused[0].Detail, c.why) {
				t.Errorf("refused %+v, want notes once, for %q", refused, c.why)
			}
			if ran := append(h.of(audit.Loaded), h.of(audit.Called)...); len(ran) != 0 {
				t.Errorf("it ran: %+v", ran)
			}
		})
	}
}

func TestWithoutARecordNoFamilyIsCalledAndNothingIsGranted(t *testing.T) {
	w, h := audited(t)
	w.with(aFamily("notes"), script{says: `{}`})
	h.mu.Lock()
	h.broken = errors.New("no space left on device")
	h.mu.Unlock()
	_, err := w.call(given{Tool: "notes_do"})
	var known *memory.Error
	if !errors.As(err, &known) || known.Code != memory.Unavailable || !known.Retryable || !strings.Contains(known.Message, "no space left") {
		t.Errorf("a call: %v", err)
	}
	before := w.lockFile()
	if _, err := w.Grant(grants.Request{Family: "notes", Revoke: []string{"*"}}); err == nil || len(w.lockFile().Families["notes"].Capabilities) != len(before.Families["notes"].Capabilities) {
		t.Errorf("a grant: %v", err)
	}
	if _, err := w.space.As(owner("ann")).Store(context.Background(), memory.Location{}, []memory.Item{{Key: "k", Value: []byte(`1`)}}, memory.Write{}); err != nil {
		t.Errorf("what needs no family: %v", err)
	}
}

// readAudit returns the entries of a kind.
func readAudit(t testing.TB, dir string, kind audit.Kind) (list []audit.Entry) {
	t.Helper()
	if err := audit.Read(dir, func(_ []byte, e audit.Entry) bool {
		if e.Kind == kind {
			list = append(list, e)
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestAKillLosesNoRecordOfACallThatWrote(t *testing.T) {
	dir := t.TempDir()
	var space *memory.Space
	reopen := func() *audit.Log {
		o := audit.Options{Dir: dir}
		if space != nil {
			head, err := space.Newest(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			o.Head, o.Commits = head, Commits(t.Context(), space)
		}
		log, err := audit.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		return log
	}
	log := reopen()
	w := open(t, func(o *Options) { o.Audit = log; space = o.Space })
	w.with(aFamily("notes"), script{steps: []step{{"log.append", `{"event":"said","data":{"n":1}}`}}})
	const calls = 3
	for i := range calls {
		if _, err := w.call(given{Tool: "notes_do", RequestID: fmt.Sprint("r", i), Arguments: []byte(`{}`), Caller: memory.Caller{Agent: "ann", Rights: memory.FullRights()}}); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if err := log.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := len(readAudit(t, dir, audit.Wrote)); n != 1 { // the others are in memory, and lost with the process
		t.Fatalf("%d are on disk", n)
	}
	for range 2 {
		if err := reopen().Close(); err != nil {
			t.Fatal(err)
		}
	}
	restored := readAudit(t, dir, audit.Recovered)
	if len(restored) != calls-1 {
		t.Fatalf("restored %+v, want %d entries", restored, calls-1)
	}
	for i, e := range restored {
		if e.Call != fmt.Sprint("r", i+1) || e.Family != "notes" || e.Agent != "ann" || e.Version == 0 || e.Fuel == 0 || len(e.Digest) != 64 || e.Work != "tool notes_do" || e.Ops["log.append"] != 1 {
			t.Errorf("restored %+v, want the call r%d of ann with all that it did", e, i+1)
		}
	}
	if r, err := audit.Verify(dir, nil); err != nil || len(r.Problems) != 0 {
		t.Errorf("Verify = %+v, %v, want no problems", r, err)
	}
}

// BenchmarkAuditOfASmallGuest measures calls with and without an audit log in turns, and reports the ratio of the times.
func BenchmarkAuditOfASmallGuest(b *testing.B) {
	log, err := audit.Open(audit.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	stop, cancel := context.WithCancel(b.Context())
	var running sync.WaitGroup
	running.Go(func() { log.Run(stop) })
	defer func() {
		cancel()
		running.Wait()
		if err := log.Close(); err != nil {
			b.Error(err)
		}
	}()
	script := script{says: `{}`}
	without := open(b, nil).with(aFamily("notes"), script)
	with := open(b, func(o *Options) { o.Audit = log }).with(aFamily("notes"), script)
	call := given{Tool: "notes_do", Arguments: []byte(`{}`), Caller: memory.Caller{Agent: "ann", Client: "editor", Session: "s", Rights: memory.FullRights()}}
	const block = 2048 // calls, so that each block has its part of what writes the log
	var ratios []float64
	var spent [2]time.Duration
	for i := range b.N/block + 2 {
		var took [2]time.Duration
		for j := range 2 {
			at := (i + j) % 2
			w := []*world{without, with}[at]
			begun := time.Now()
			for range block {
				if _, err := w.Call(b.Context(), call); err != nil {
					b.Fatal(err)
				}
			}
			took[at] = time.Since(begun)
		}
		if i > 0 { // the first warms up
			ratios = append(ratios, float64(took[1])/float64(took[0]))
			spent[0], spent[1] = spent[0]+took[0], spent[1]+took[1]
		}
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "audited/unaudited")
	b.ReportMetric(float64(spent[1])/float64(spent[0]), "audited/unaudited-of-sums")
	b.ReportMetric(float64(spent[0].Nanoseconds())/float64(block*len(ratios)), "ns/unaudited")
}

func TestEachChangeOfEndpointsRootsAndTrustedKeysIsRecordedWithBeforeAndAfter(t *testing.T) {
	w, h := audited(t)
	dir := t.TempDir()
	for _, url := range []string{"https://one.example", "https://two.example"} {
		if err := w.SetEndpoint("web", &registry.Endpoint{Kind: "http", URL: url, KeyEnv: "WEB_KEY"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.SetRoot("notes", &registry.Root{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Trust(TrustRequest{Name: "author", Key: &registry.Key{Public: publicText(1)}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Trust(TrustRequest{Name: "author", Revoke: "it was stolen"}); err != nil {
		t.Fatal(err)
	}
	l := w.lockFile()
	l.Signatures = 2
	if err := registry.Write(w.dir, l); err != nil {
		t.Fatal(err)
	}
	if err := w.SetEndpoint("web", nil); err != nil { // which notices the edit
		t.Fatal(err)
	}
	list := h.of(audit.Changed)
	wants := [][]string{{operatorName, `+`, `https://one.example`}, {operatorName, `-      "url": "https://one.example"`, `+      "url": "https://two.example"`}, {operatorName, `+`, `"dir": `}, {operatorName, publicText(1)},
		{operatorName, `+      "revoked": "it was stolen"`}, {editorName, `+  "signatures": 2`}, {operatorName, `-      "url": "https://two.example"`}}
	if len(list) != len(wants) {
		t.Fatalf("%d entries of %d: %+v", len(list), len(wants), list)
	}
	for i, want := range wants {
		if list[i].Agent != want[0] {
			t.Errorf("entry %d is by %q", i, list[i].Agent)
		}
		for _, text := range want[1:] {
			if !strings.Contains(list[i].Detail, text) {
				t.Errorf("entry %d lacks %q: %s", i, text, list[i].Detail)
			}
		}
	}
	h.mu.Lock()
	h.broken = errors.New("no space left")
	h.mu.Unlock()
	if err := w.SetEndpoint("other", &registry.Endpoint{Kind: "http", URL: "https://three.example"}); err == nil || len(w.Endpoints()) != 0 {
		t.Errorf("changed without a record: %v, %v", err, w.Endpoints())
	}
}

func TestAnEditOfALockedServersLockFileIsRecordedOnceWhenItIsSeen(t *testing.T) {
	h := &recorder{}
	w := open(t, func(o *Options) { o.Audit, o.Locked = h, true })
	l := w.lockFile()
	l.Signatures = 2
	if err := registry.Write(w.dir, l); err != nil {
		t.Fatal(err)
	}
	await.That(t, "the edit is recorded", func() bool { return len(h.of(audit.Edited)) > 0 })
	w.followLock()
	if list := h.of(audit.Edited); len(list) != 1 || list[0].Agent != editorName || !strings.Contains(list[0].Detail, `+  "signatures": 2`) || len(list[0].Digest) != 64 {
		t.Errorf("got %+v, want one entry with the difference", list)
	}
}
