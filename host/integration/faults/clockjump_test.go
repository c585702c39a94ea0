package faults_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/feed"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/datadir"
	"github.com/alcove-memory/alcove/host/testing/asm"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/registry"
	"github.com/alcove-memory/alcove/sdk/client"
)

// counter is a family that appends a record to its collection each time that it is asked anything, and answers {}.
func counter(t *testing.T, name string, hooks abi.Hooks) []byte {
	t.Helper()
	m := &asm.Module{}
	m.Import("alcove", "read", asm.I32s(3), asm.I32s(1))
	write := m.Import("alcove", "write", asm.I32s(3), asm.I32s(1))
	call := m.Import("alcove", "call", asm.I32s(4), asm.I32s(1))
	m.Memory(1)
	at := int32(1024)
	text := func(s string) (begin, length asm.Code) {
		m.Put(at, []byte(s))
		begin, length = asm.I32(at), asm.I32(int32(len(s)))
		at += int32(len(s)) + 8
		return begin, length
	}
	op, opLength := text("record.append")
	request, requestLength := text(`{"collection":"asked","values":[1]}`)
	answer, answerLength := text("{}")
	body := asm.Seq(asm.Drop(asm.Call(call, op, opLength, request, requestLength)), asm.Drop(asm.Call(write, asm.I32(0), answer, answerLength)), asm.I32(0))
	m.Export("alcove_handle", wasm.KindFunc, m.Func(asm.Func{Params: asm.I32s(2), Results: asm.I32s(1), Body: body}))
	manifest, err := json.Marshal(abi.Manifest{ABI: abi.Version, Name: name, Version: "1.0.0", Description: "Counts what it is asked.", Hooks: hooks,
		Collections:  []abi.Collection{{Name: "asked", Per: "space"}},
		Capabilities: []abi.Request{{Name: abi.CanRecord, Scope: []string{"*"}, Reason: "to count"}, {Name: abi.CanMemoryRead, Scope: []string{"*"}, Reason: "to be told"}, {Name: abi.CanJob, Reason: "to work"}}})
	if err != nil {
		t.Fatal(err)
	}
	module, err := sandbox.Pack(m.Bytes(), manifest)
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// jumping is a live server with families and clients, whose clock jumps.
type jumping struct {
	t        *testing.T
	host     *host.Host
	dir      string
	offset   atomic.Int64
	clients  []*client.Session
	http     string
	operator operator.Server

	mu        sync.Mutex
	stored    map[string]saying // what was acknowledged, by key
	fed       map[string]bool   // what the feed told of
	watermark uint64
	recalls   int64 // of the key "counted"
	round     int
	forward   time.Duration // by how much the clock jumped last
}

// feedAge is how far back a feed goes.
const feedAge = 7 * 24 * time.Hour

func (j *jumping) clock() time.Time { return time.Now().Add(time.Duration(j.offset.Load())) }

func openJumping(t *testing.T) *jumping {
	t.Helper()
	j := &jumping{t: t, dir: t.TempDir(), stored: map[string]saying{}, fed: map[string]bool{}}
	var err error
	if j.host, err = host.Open(t.Context(), host.Options{Dir: j.dir, Version: "test", Clock: j.clock}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.host.Close() })
	r, _ := server.Serve(t, j.host, host.Listen{HTTP: "127.0.0.1:0"})
	j.http, j.operator = r.HTTP, server.Operator(t, j.dir)
	for range 3 {
		j.clients = append(j.clients, server.Connected(t, j.dir))
	}
	for name, hooks := range map[string]abi.Hooks{"asked": {Store: &abi.StoreHook{}}, "told": {Stored: &abi.StoreHook{}}, "timely": {Jobs: []abi.Job{{Name: "tidy", Every: "30m"}}}} {
		_, err := operator.Call(t.Context(), j.operator, operator.InstallFamily, operator.InstallRequest{Module: counter(t, name, hooks)})
		must.Do(t, err)
	}
	j.grant()
	_, err = operator.Call(t.Context(), j.operator, operator.SetRetention, operator.Retention{Keep: int64(30 * 24 * time.Hour / time.Second), Namespaces: map[string]operator.NamespaceRetention{"default": {Keep: int64(900 * 24 * time.Hour / time.Second)}}})
	must.Do(t, err)
	return j
}

// grant turns the hooks on. Doing it again has the queue of jobs looked at.
func (j *jumping) grant() {
	j.t.Helper()
	for name, hook := range map[string]abi.Hook{"asked": abi.HookStore, "told": abi.HookStored, "timely": abi.HookJob} {
		_, err := operator.Call(j.t.Context(), j.operator, operator.GrantFamily, operator.GrantRequest{Family: name, All: true, Hooks: map[abi.Hook]registry.On{hook: {}}})
		must.Do(j.t, err)
	}
}

// scheduled reports whether the interval of the scheduled job has begun.
func (j *jumping) scheduled() bool {
	stage, err := server.Owner(j.host, "").Stage(j.t.Context(), "")
	if err != nil {
		j.t.Fatal(err)
	}
	found, err := stage.Records(j.t.Context(), memory.Collection{Name: "_schedules", PerSpace: true}, "_", []string{"timely/tidy"})
	return err == nil && found[0] != nil
}

// asked is how often a family was asked.
func (j *jumping) asked(name string) int {
	j.t.Helper()
	stage, err := server.Owner(j.host, "").Stage(j.t.Context(), "")
	if err != nil {
		j.t.Fatal(err)
	}
	list, _, err := stage.ListRecords(j.t.Context(), memory.Collection{Name: name + "/asked", PerSpace: true}, memory.Default, "", "", 0)
	if err != nil {
		j.t.Fatal(err)
	}
	return len(list)
}

func (j *jumping) eventually(what string, is func() bool) {
	j.t.Helper()
	await.That(j.t, fmt.Sprintf("%s, %v ahead", what, time.Duration(j.offset.Load())), is)
}

// post stores by HTTP.
func (j *jumping) post(key string) (s saying, err error) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_store","arguments":{"key":%q,"value":"over HTTP"},
		"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`, key)
	q, err := http.NewRequestWithContext(j.t.Context(), http.MethodPost, "http://"+j.http+"/mcp", strings.NewReader(body))
	if err != nil {
		return s, err
	}
	q.Header.Set("Authorization", "Bearer "+j.host.Token())
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json, text/event-stream")
	q.Header.Set("MCP-Protocol-Version", "2026-07-28")
	q.Header.Set("Mcp-Method", "tools/call")
	q.Header.Set("Mcp-Name", "memory_store")
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		return s, err
	}
	defer r.Body.Close()
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return s, err
	}
	if _, event, is := bytes.Cut(data, []byte("data: ")); is {
		data = event
	}
	var answer struct {
		Result struct{ StructuredContent saying }
	}
	if err := json.Unmarshal(bytes.TrimSpace(data), &answer); err != nil || answer.Result.StructuredContent.Version == 0 {
		return s, fmt.Errorf("answered %s (%v)", data, err)
	}
	return answer.Result.StructuredContent, nil
}

// use has all clients write at once, while the clock may jump.
func (j *jumping) use() {
	j.t.Helper()
	j.round++
	round := j.round
	var working sync.WaitGroup
	note := func(key string, s saying) {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.stored[key] = s
	}
	for i, c := range j.clients {
		working.Go(func() {
			for n := range 5 {
				key := fmt.Sprintf("r%d-c%d-%d", round, i, n)
				var s saying
				r, err := c.Call(context.Background(), "memory_store", map[string]any{"key": key, "value": "tea of " + key})
				if err == nil {
					err = server.Decode(r, &s)
				}
				if err == nil {
					_, err = c.Call(context.Background(), "memory_log", map[string]any{"event": "drank", "data": key})
				}
				if err != nil {
					j.t.Errorf("store and log %s: %v", key, err)
					return
				}
				note(key, s)
			}
		})
	}
	working.Go(func() {
		for n := range 3 {
			key := fmt.Sprintf("r%d-http-%d", round, n)
			s, err := j.post(key)
			if err != nil {
				j.t.Errorf("post %s: %v", key, err)
				return
			}
			note(key, s)
		}
	})
	working.Wait()
}

// check looks at everything that is kept.
func (j *jumping) check() {
	j.t.Helper()
	ctx, t, s := j.t.Context(), j.t, j.host.Memory()
	c := j.clients[0]
	j.growsStrictly()
	for key, was := range j.stored {
		for _, at := range []string{"", fmt.Sprintf("v%d", was.Version), was.Timestamp.Format(time.RFC3339Nano)} {
			if got := say(t, c, "memory_recall", map[string]any{"key": key, "as_of": at}); !got.Found {
				t.Errorf("%v ahead: %s, acknowledged as %+v, is not found as of %q", time.Duration(j.offset.Load()), key, was, at)
			}
		}
	}
	for _, at := range []string{"1h ago", "5 days ago", "yesterday", "2020-01-01"} {
		if _, err := c.Call(ctx, "memory_recall", map[string]any{"key": "counted", "as_of": at}); err != nil {
			t.Errorf("as of %s: %v", at, err)
		}
	}
	say(t, c, "memory_recall", map[string]any{"key": "counted"})
	j.recalls++
	if counted, err := server.As(s, "").Counters(ctx, memory.Location{}, "counted"); err != nil || counted.Accesses != j.recalls {
		t.Errorf("%d accesses are counted of %d (%v)", counted.Accesses, j.recalls, err)
	}
	if found := say(t, c, "memory_search", map[string]any{"query": "tea", "k": 3}); len(found.Results) != 3 {
		t.Errorf("found %v", found)
	}
	if n, err := server.As(s, "").VerifyLog(ctx, memory.Location{}); err != nil || n == 0 {
		t.Errorf("%d events verify (%v)", n, err)
	}
	j.followFeed()
	v, err := operator.Query(ctx, j.operator, operator.Verify)
	must.Do(t, err)
	done, err := operator.Query(ctx, j.operator, operator.Retain)
	must.Do(t, err)
	if len(v.Findings) != 0 || len(done.Trimmed) != 0 || len(done.Failed) != 0 {
		t.Errorf("verify found %+v, retention did %+v", v.Findings, done)
	}
	must.Do(t, operator.Command(ctx, j.operator, operator.Flush, operator.None{}))
}

// growsStrictly checks that versions and instants grow together.
func (j *jumping) growsStrictly() {
	j.t.Helper()
	var all []saying
	for _, s := range j.stored {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b saying) int { return int(a.Version) - int(b.Version) })
	for i := 1; i < len(all); i++ {
		if all[i].Version == all[i-1].Version || !all[i].Timestamp.After(all[i-1].Timestamp) {
			j.t.Errorf("%+v is followed by %+v", all[i-1], all[i])
		}
	}
}

func (j *jumping) followFeed() {
	j.t.Helper()
	for more := true; more; {
		page, err := server.Owner(j.host, "").Feed(j.t.Context(), "", nil, j.watermark, 50)
		if err == nil && page.Expired && j.forward > feedAge { // the feed goes no further back
			page, err = j.written()
		}
		if err != nil || page.Expired || page.Watermark < j.watermark {
			j.t.Fatalf("the feed after %d: %+v (%v)", j.watermark, page, err)
		}
		for _, n := range page.Notices {
			j.fed[n.Key] = true
		}
		j.watermark, more = page.Watermark, page.More
	}
	for key := range j.stored {
		if !j.fed[key] {
			j.t.Errorf("the feed does not tell of %s", key)
		}
	}
}

// written is a page of what was written after the watermark, as a feed.
func (j *jumping) written() (feed.Page, error) {
	written, err := server.Owner(j.host, "").Written(j.t.Context(), memory.WrittenQuery{Memories: true, After: j.watermark, Limit: 50})
	page := feed.Page{Watermark: written.Upto, More: written.More}
	for _, e := range written.Entries {
		page.Notices = append(page.Notices, feed.Notice{Key: e.Key})
	}
	return page, err
}

func (j *jumping) backUp(folder string, number int) {
	j.t.Helper()
	from := func(ctx context.Context, since backup.Base, w io.Writer) error {
		return operator.Receive(ctx, j.operator, operator.Backup, operator.BackupRequest{Since: since}, w)
	}
	make := backup.Increment
	if number == 0 {
		make = backup.Full
	}
	if _, err := make(j.t.Context(), folder, from, j.clock()); err != nil {
		j.t.Fatal(err)
	}
}

// TestAClockThatJumpsWhileAServerIsUsed puts the clock of a live server forward and back by an hour and by ten days.
func TestAClockThatJumpsWhileAServerIsUsed(t *testing.T) {
	t.Parallel()
	j := openJumping(t)
	folder := t.TempDir()
	c := j.clients[0]
	say(t, c, "memory_store", map[string]any{"key": "counted", "value": "how often"})
	say(t, c, "memory_store", map[string]any{"key": "short", "value": "for two hours", "expires": "2h"})
	say(t, c, "memory_store", map[string]any{"key": "long", "value": "for a month", "expires": "30 days"})
	j.use()
	j.check()
	j.backUp(folder, 0)
	warm := 0
	j.eventually("the hooks are on", func() bool { // modules are loaded while nobody waits for them
		warm++
		say(t, c, "memory_store", map[string]any{"key": "warm", "value": warm})
		return j.asked("told") > 0 && j.asked("asked") > 0
	})
	j.eventually("the schedule is noted", j.scheduled)
	const hour, days = time.Hour, 10 * 24 * time.Hour
	for i, jump := range []time.Duration{hour, -hour, days, -days, -hour, hour, -days, days, days, hour, -days, -hour} {
		told, asked, ran := j.asked("told"), j.asked("asked"), j.asked("timely")
		latest := max(0, j.latest())
		using := make(chan struct{})
		go func() { j.use(); close(using) }()
		j.offset.Add(int64(jump)) // while they write
		j.forward = jump
		<-using
		j.use()
		j.grant()
		j.check()
		j.backUp(folder, i+1)
		ahead := time.Duration(j.offset.Load())
		for key, lives := range map[string]time.Duration{"short": 2 * time.Hour, "long": 30 * 24 * time.Hour} {
			if found := say(t, c, "memory_recall", map[string]any{"key": key}).Found; found != (ahead < lives) {
				t.Errorf("%v ahead, what lives for %v is there: %t", ahead, lives, found)
			}
		}
		j.eventually("the hooks are asked", func() bool { return j.asked("told") > told && j.asked("asked") > asked })
		if jump > 0 {
			j.eventually("the scheduled job runs", func() bool { return j.asked("timely") > ran })
		}
		if now := j.asked("timely"); now > ran+1 || jump < 0 && now > ran {
			t.Errorf("after a jump by %v the job ran %d times", jump, now-ran)
		}
		if now := j.latest(); now < latest {
			t.Errorf("versions went back from %d to %d", latest, now)
		}
	}
	j.jobsEnded()
	j.reopened(folder)
}

func (j *jumping) latest() int {
	extent, err := server.Owner(j.host, "").Extent(j.t.Context(), "")
	if err != nil {
		j.t.Fatal(err)
	}
	return int(extent.LatestVersion)
}

func (j *jumping) jobsEnded() {
	j.t.Helper()
	j.eventually("all jobs are done", func() bool {
		list, err := operator.Query(j.t.Context(), j.operator, operator.ListFamilyJobs)
		must.Do(j.t, err)
		return !slices.ContainsFunc(list, func(job operator.FamilyJob) bool { return job.State != jobs.Done && job.State != jobs.Scheduled })
	})
}

// reopened checks that everything is there after a restart by the right clock, and in what was restored.
func (j *jumping) reopened(folder string) {
	j.t.Helper()
	if err := j.host.Close(); err != nil {
		j.t.Fatal(err)
	}
	fresh := j.t.TempDir() + "/data"
	if _, err := space.Directory(fresh).Restore(j.t.Context(), folder, datadir.RestoreOptions{}); err != nil {
		j.t.Fatal(err)
	}
	for _, dir := range []string{j.dir, fresh} {
		h := server.Open(j.t, host.Options{Dir: dir})
		for key := range j.stored {
			if m, err := server.Owner(h, "").Recall(j.t.Context(), memory.Location{}, key, memory.AsOf{}); err != nil || m == nil {
				j.t.Errorf("%s: %s is %v (%v)", dir, key, m, err)
			}
		}
		if v, err := h.Memory().Verify(j.t.Context()); err != nil || len(v.Findings) != 0 {
			j.t.Errorf("Verify of %s = %+v (%v), want no findings", dir, v.Findings, err)
		}
	}
}
