package family

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/abi/vectors"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/sessions"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/registry"
)

// opSeen is an operation that no host has: a guest asks for it with what it was sent, and the trace of the host tells.
const opSeen = "test.seen"

// telling is a guest that tells what it was sent, and answers the same to everything.
func telling(result []byte, status abi.Status) []byte {
	m := &asm.Module{}
	three, four := asm.I32s(3), asm.I32s(4)
	read := m.Import("alcove", "read", three, asm.I32s(1))
	write := m.Import("alcove", "write", three, asm.I32s(1))
	call := m.Import("alcove", "call", four, asm.I32s(1))
	m.Memory(16)
	m.Put(1024, []byte(opSeen))
	m.Put(2048, result)
	sent := asm.Call(read, asm.I32(abi.ReadRequest), asm.I32(scratch), asm.I32(1<<16))
	body := asm.Seq(
		asm.Drop(asm.Call(call, asm.I32(1024), asm.I32(int32(len(opSeen))), asm.I32(scratch), sent)),
		asm.Drop(asm.Call(write, asm.I32(abi.WriteResult), asm.I32(2048), asm.I32(int32(len(result))))),
		asm.I32(int32(status)))
	handle := m.Func(asm.Func{Params: asm.I32s(2), Results: asm.I32s(1), Body: body})
	m.Export("alcove_handle", wasm.KindFunc, handle)
	return m.Bytes()
}

// listener is a world with a guest that tells what it is sent.
type listener struct {
	*world
	mu   sync.Mutex
	seen [][]byte
}

func listen(t *testing.T, v vectors.Message) *listener {
	t.Helper()
	output, status, err := v.Output()
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := vectors.Family()
	if err != nil {
		t.Fatal(err)
	}
	module, err := sandbox.Pack(telling(output, status), manifest)
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	l := &listener{world: openAt(t, func() time.Time { return standing }, func(o *Options) {
		o.Rand = func() string { names++; return fmt.Sprintf("r%d", names) }
	})}
	l.trace()
	if _, err := l.Install(module); err != nil {
		t.Fatal(err)
	}
	return l
}

// trace notes what guests tell.
func (l *listener) trace() {
	l.operations.Trace = func(_ string, op abi.Op, request []byte) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if op == opSeen {
			l.seen = append(l.seen, bytes.Clone(request))
		}
	}
}

// install makes a guest that tells what it is sent a family, and turns all its hooks on.
func (l *listener) install(name string, m *abi.Manifest) {
	l.t.Helper()
	manifest, err := json.Marshal(m)
	if err != nil {
		l.t.Fatal(err)
	}
	module, err := sandbox.Pack(telling([]byte(`{}`), abi.StatusOK), manifest)
	if err != nil {
		l.t.Fatal(err)
	}
	if _, err := l.Install(module); err != nil {
		l.t.Fatal(err)
	}
	on := map[abi.Hook]registry.On{}
	for _, h := range []abi.Hook{abi.HookStore, abi.HookStored, abi.HookMerged} {
		if grants.Has(m.Hooks, h) {
			on[h] = registry.On{}
		}
	}
	if _, err := l.Grant(grants.Request{Family: name, All: true, Hooks: on}); err != nil {
		l.t.Fatal(err)
	}
	if err := l.Load(l.t.Context(), name); err != nil {
		l.t.Fatal(err)
	}
}

// on turns a hook of the family on.
func (l *listener) on(hooks ...abi.Hook) {
	l.t.Helper()
	on := map[abi.Hook]registry.On{}
	for _, h := range hooks {
		on[h] = registry.On{}
	}
	if _, err := l.Grant(grants.Request{Family: "sample", All: true, Hooks: on}); err != nil {
		l.t.Fatal(err)
	}
	if err := l.Load(l.t.Context(), "sample"); err != nil {
		l.t.Fatal(err)
	}
}

// sent is the first request that the guest was sent, once it was.
func (l *listener) sent() []byte {
	l.t.Helper()
	var first []byte
	await.That(l.t, "the guest was asked", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		if len(l.seen) > 0 {
			first = l.seen[0]
		}
		return first != nil
	})
	return first
}

// send has the host send the request of a vector, and returns the error that its caller sees.
func (l *listener) send(v vectors.Message) error {
	ctx := l.t.Context()
	switch v.Kind.Kind() {
	case abi.KindTool:
		var r abi.ToolRequest
		l.read(v.Request, &r)
		l.on()
		_, err := l.Call(ctx, given{Tool: r.Tool, Arguments: r.Arguments, Caller: owner("ann"), RequestID: "request-1"})
		return err
	case abi.KindHook:
		return l.sendHook(v)
	case abi.KindScore:
		var r abi.ScoreParams
		l.read(v.Request, &r)
		l.on(abi.HookRank)
		important := 0.25
		l.keep(memory.Item{Key: "a", Value: json.RawMessage(`"green tea"`), Importance: &important}, memory.Item{Key: "b", Value: json.RawMessage(`"green tea"`)})
		_, err := l.space.As(owner("ann")).Search(ctx, memory.Search{Text: r.Query})
		return err
	}
	var r abi.EmbedRequest
	l.read(v.Request, &r)
	l.on(abi.HookEmbed)
	e, _ := l.Hooks().EmbedderOf("sample")
	_, err := e.Embed(ctx, r.Texts, r.Purpose)
	return err
}

func (l *listener) sendHook(v vectors.Message) error {
	var r abi.HookRequest
	l.read(v.Request, &r)
	l.on(r.Hook)
	switch r.Hook {
	case abi.HookJob:
		stage, err := l.space.As(owner("ann")).Stage(l.t.Context(), "")
		if err != nil {
			return err
		}
		x, err := l.catalogue.Named("sample")
		if err != nil {
			return err
		}
		w := l.newRequest(x, registry.Calls, stage, owner("ann"), "", "")
		mustAsk(l.t, w, vectors.Ask{Op: abi.OpJobEnqueue, Request: json.RawMessage(fmt.Sprintf(`{"job":%q,"payload":%s}`, r.Job, r.Payload))})
		_, err = w.commit(l.t.Context(), l.space.As(owner("ann")), &catalogue.Tool{}, json.RawMessage(`{}`), memory.Commit{})
		return err
	case abi.HookMerged:
		return l.merge(*r.Merge)
	case abi.HookSessionEnd:
		s := sessions.Session{ID: r.Session.Session, Caller: memory.Caller{Agent: r.Session.Agent, Client: r.Session.Client}, Calls: r.Session.Calls,
			Location: memory.Location{Branch: r.Session.Branch, Namespace: r.Session.Namespace}, Began: standing, Ended: standing}
		l.SessionBegan(s)
		l.SessionEnded(s)
		return nil
	case abi.HookStored:
		await.That(l.t, "the family is told of what is stored", func() bool { return l.isFollowed("sample") })
	}
	var items []memory.Item
	for _, e := range r.Entries {
		items = append(items, memory.Item{Key: e.Key, Value: e.Value, Tags: e.Tags, Type: e.Type, Importance: e.Importance, Metadata: e.Metadata})
	}
	if len(r.Entries) > 0 && r.Entries[0].Change != "" {
		return l.alter(r.Entries[0], items...)
	}
	if len(r.Entries) > 0 && r.Entries[0].Collection != "memory" {
		return l.keepRecords(r.Entries[0].Collection, items...)
	}
	return l.keep(items...)
}

// keepRecords keeps records of a family.
func (l *listener) keepRecords(collection string, items ...memory.Item) error {
	stage, err := l.space.As(owner("ann")).Stage(l.t.Context(), "")
	if err != nil {
		return err
	}
	for _, it := range items {
		if err := stage.PutRecord(l.t.Context(), memory.Collection{Name: collection}, "", it.Key, it.Value, nil); err != nil {
			return err
		}
	}
	_, err = stage.Commit(l.t.Context(), memory.Commit{Write: memory.Write{RequestID: "request-1"}, Operation: "keep"})
	return err
}

// alter keeps memories, without the hook, and deletes them or archives them.
func (l *listener) alter(e abi.Entry, items ...memory.Item) error {
	l.t.Helper()
	if _, err := l.Grant(grants.Request{Family: "sample", Revoke: []string{"store"}}); err != nil {
		l.t.Fatal(err)
	}
	for i := range items {
		items[i].State = ""
	}
	a, write := l.space.As(owner("ann")), memory.Write{RequestID: "request-1"}
	if _, err := a.Store(l.t.Context(), memory.Location{}, items, memory.Write{}); err != nil {
		l.t.Fatal(err)
	}
	l.on(abi.HookStore)
	if e.Change == "delete" {
		_, err := a.Forget(l.t.Context(), memory.Location{}, []string{e.Key}, write)
		return err
	}
	_, err := a.SetState(l.t.Context(), memory.Location{}, []string{e.Key}, memory.State(e.State), write)
	return err
}

// merge merges a branch on which the keys of a notice changed.
func (l *listener) merge(m abi.MergeNotice) error {
	l.t.Helper()
	a := l.space.As(owner("ann"))
	if err := l.keep(memory.Item{Key: "cup", Value: json.RawMessage(`1`)}); err != nil {
		return err
	}
	l.followed("sample")
	if _, err := a.Fork(l.t.Context(), m.Target, m.Source, memory.AsOf{}, memory.Write{}); err != nil {
		return err
	}
	for _, k := range m.Keys {
		var err error
		if at := (memory.Location{Branch: m.Source, Namespace: k.Namespace}); k.Deleted {
			_, err = a.Forget(l.t.Context(), at, []string{k.Key}, memory.Write{})
		} else {
			_, err = a.Store(l.t.Context(), at, []memory.Item{{Key: k.Key, Value: json.RawMessage(`2`)}}, memory.Write{})
		}
		if err != nil {
			return err
		}
	}
	by := owner("ann")
	by.Call = "1"
	_, err := l.space.As(by).Merge(l.t.Context(), memory.Merge{Source: m.Source, Target: m.Target}, memory.Write{})
	return err
}

func (l *listener) keep(items ...memory.Item) error {
	l.t.Helper()
	_, err := l.space.As(owner("ann")).Store(l.t.Context(), memory.Location{}, items, memory.Write{RequestID: "request-1"})
	return err
}

func (l *listener) read(data []byte, into any) {
	l.t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		l.t.Fatal(err)
	}
}

// TestTheHostSendsAsTheVectorsSay has the real host send each message to a guest in the sandbox, which tells what arrived.
func TestTheHostSendsAsTheVectorsSay(t *testing.T) {
	cases, err := vectors.Read[vectors.Message]("messages.json")
	if err != nil {
		t.Fatal(err)
	}
	var sent []vectors.Message
	for _, v := range cases {
		t.Run(v.Name, func(t *testing.T) {
			l, got := listen(t, v), v
			failed := l.send(v)
			if (failed != nil) != (v.Error != nil || refuses(v)) {
				t.Errorf("its caller sees the error %v", failed)
			}
			got.Request = l.sent()
			if v.Kind.Kind() == abi.KindScore {
				s, err := abi.ParseScoring(got.Request)
				if err != nil {
					t.Fatal(err)
				}
				got.Request, got.Columns = s.Params, decimals(s.Columns)
			}
			sent = append(sent, got)
			if want, is := line(t, v), line(t, got); !*update && want != is {
				t.Errorf("the host sends\n%s\nthe vector says\n%s", is, want)
			}
		})
	}
	if *update && !t.Failed() {
		writeMessages(t, sent)
	}
}

// refuses reports whether a vector is a hook's refusal.
func refuses(v vectors.Message) bool {
	var r abi.StoreResult
	return len(v.Result) > 0 && json.Unmarshal(v.Result, &r) == nil && r.Refuse != nil
}

func decimals(columns [][]float32) (texts [][]string) {
	for _, column := range columns {
		var list []string
		for _, v := range column {
			list = append(list, strconv.FormatFloat(float64(v), 'g', -1, 32))
		}
		texts = append(texts, list)
	}
	return texts
}
