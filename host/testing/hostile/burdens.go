package hostile

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
)

// Burden is a family that uses as many resources as it can, or fails while others wait for it.
type Burden struct {
	Name   string     // of the family; its tool is NAME_do, with - for _ replaced
	Tool   string     // empty: only its hooks matter
	Hooks  []abi.Hook // to enable
	Module []byte     // with its manifest
}

// BurdenPages is the memory of the memory-hungry family, in pages of 64 KiB.
const BurdenPages = 1000

// Burdens returns all such families. Each requests every capability.
func Burdens() []Burden {
	forever := func(c ...asm.Code) asm.Code { return asm.Loop(asm.Seq(c...), asm.Br(0)) }
	spin := forever()
	asleep := func(g *guest) asm.Code {
		g.Put(2048, subscription(0, 1, 1e18, 0))
		return invoke(g, "poll_oneoff", []int32{2048, 8192, 1, 512})
	}
	calls := func(op, request string) func(g *guest) asm.Code {
		return func(g *guest) asm.Code { return forever(g.asks(op, request)) }
	}
	plain := func(c asm.Code) func(*guest) asm.Code { return func(*guest) asm.Code { return c } }
	return []Burden{
		burden("spinning", nil, plain(spin)),
		burden("sleeping", nil, asleep),
		burden("hungry", nil, plain(asm.Seq(asm.Drop(grow(asm.I32(BurdenPages-32))), asm.I32(0), asm.I32(7), asm.I32(BurdenPages<<16), asm.Op(wasm.OpMemoryFill, 0)))),
		burden("host-calls", nil, calls("memory.get", `{"keys":["k1"],"namespace":"bystander"}`)),
		burden("searches", nil, calls("memory.search", `{"query":"bystander wrote number","namespaces":["*"],"k":50}`)),
		burden("log", nil, func(g *guest) asm.Code {
			return forever(asm.Drop(asm.Call(g.write, asm.I32(1), asm.I32(0), asm.I32(4096))))
		}),
		burden("records", nil, func(g *guest) asm.Code {
			return g.asksLong("record.append", `{"collection":"own","values":["`, 1_000_000, `"]}`)
		}),
		burden("jobs", &abi.Hooks{Jobs: []abi.Job{{Name: "again"}}}, func(g *guest) asm.Code {
			return asm.Seq(g.asks("job.enqueue", `{"job":"again"}`), g.asks("job.enqueue", `{"job":"again"}`))
		}),
		burden("failing-hooks", everyHook(), plain(asm.Unreachable())),
		burden("spinning-hooks", everyHook(), plain(spin)),
		burden("sleeping-hooks", everyHook(), asleep),
		burden("echoing-hooks", &abi.Hooks{Stored: &abi.StoreHook{}}, func(g *guest) asm.Code {
			return g.asks("memory.put", `{"items":[{"key":"echo","value":"echo","namespace":"echo"},{"key":"echo2","value":"echo","namespace":"echo"}]}`)
		}),
	}
}

func everyHook() *abi.Hooks {
	return &abi.Hooks{Store: &abi.StoreHook{}, Stored: &abi.StoreHook{}, Rank: &abi.RankHook{Features: []string{"bm25"}}}
}

// asks calls an operation.
func (g *guest) asks(op, request string) asm.Code {
	at := int32(10_000 + 1000*len(g.Data))
	g.Put(at, []byte(op))
	g.Put(at+100, []byte(request))
	return asm.Drop(asm.Call(g.call, asm.I32(at), asm.I32(int32(len(op))), asm.I32(at+100), asm.I32(int32(len(request)))))
}

// asksLong calls an operation repeatedly, with the given number of bytes in the middle of its request.
func (g *guest) asksLong(op, before string, letters int32, after string) asm.Code {
	const at = 1 << 17
	g.Put(512, []byte(op))
	g.Put(at, []byte(before))
	begin := at + int32(len(before))
	g.Put(begin+letters, []byte(after))
	length := int32(len(before)) + letters + int32(len(after))
	return asm.Seq(asm.I32(begin), asm.I32('x'), asm.I32(letters), asm.Op(wasm.OpMemoryFill, 0),
		asm.Loop(asm.Drop(asm.Call(g.call, asm.I32(512), asm.I32(int32(len(op))), asm.I32(at), asm.I32(length))), asm.Br(0)))
}

// burden makes a family that runs code at each call. It has a tool if it has no hooks, or jobs.
func burden(name string, hooks *abi.Hooks, code func(g *guest) asm.Code) Burden {
	g := newGuest("poll_oneoff")
	g.Memories[0] = wasm.Range{Min: 32}
	g.handle(code(g), g.fine())
	b := Burden{Name: name}
	m := abi.Manifest{ABI: abi.Version, Name: name, Version: "1.0.0", Description: "Is a burden.", Collections: []abi.Collection{{Name: "own"}},
		Limits: abi.Limits{CPUMS: 100, WallMS: 500, MemoryPages: BurdenPages, HostCalls: 500}}
	for _, c := range abi.Capabilities() {
		r := abi.Request{Name: c, Reason: "to be a burden"}
		if c.Scope() != "none" {
			r.Scope = []string{"*"}
		}
		m.Capabilities = append(m.Capabilities, r)
	}
	if hooks != nil {
		m.Hooks = *hooks
		for hook, on := range map[abi.Hook]bool{abi.HookStore: hooks.Store != nil, abi.HookStored: hooks.Stored != nil, abi.HookMerged: hooks.Merged != nil, abi.HookSessionEnd: hooks.SessionEnd != nil, abi.HookRank: hooks.Rank != nil, abi.HookJob: len(hooks.Jobs) > 0} {
			if on {
				b.Hooks = append(b.Hooks, hook)
			}
		}
	}
	if hooks == nil || len(hooks.Jobs) > 0 {
		b.Tool = strings.ReplaceAll(name, "-", "_") + "_do"
		m.Tools = []abi.Tool{{Name: b.Tool, Description: "Is a burden.", InputSchema: json.RawMessage(`{"type":"object"}`)}}
	}
	manifest, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("hostile: the manifest of %s: %v", name, err))
	}
	g.Custom(abi.Section, manifest)
	b.Module = g.Bytes()
	return b
}
