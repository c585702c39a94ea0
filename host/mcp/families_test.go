package mcp

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/alcove-memory/alcove/host/tool"
)

func TestManyClientsLoadAndCallWhileFamiliesComeAndGo(t *testing.T) {
	f := newFake()
	f.answers["memory_auto_tag"] = func(context.Context, familyCall) (tool.Result, error) { panic("crash") }
	s := newServer(t, Options{}, f)
	var using sync.WaitGroup
	for n := range 16 {
		p := connect(t, s, Session{Profile: Profiles()[n%len(Profiles())]}).initialize("tester")
		using.Go(func() {
			for i := range 20 {
				if n == 0 {
					f.change(func(all []tool.Family) []tool.Family {
						next := append([]tool.Family(nil), all...)
						next[1].Fault = []string{"", "broken for now"}[i%2]
						return next
					})
				}
				p.call("memory_load_family", `{"family":"site"}`)
				p.call("site.memory.store", `{"content":"x"}`)
				p.call("memory_auto_tag", `{"id":"k"}`)
				p.request("tools/list", `{}`)
				p.call("memory_store", fmt.Sprintf(`{"key":"%d/%d","value":%d}`, n, i, i))
				p.call("memory_load_family", `{"family":"site","unload":true}`)
			}
		})
	}
	using.Wait()
	if got := connect(t, s, Session{}).initialize("tester").must("memory_status", `{}`).field("keys"); got != "320" {
		t.Errorf("%s of 320 memories were stored", got)
	}
}
