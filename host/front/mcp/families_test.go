package mcp

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/alcove-memory/alcove/host/internal/profile"
	"github.com/alcove-memory/alcove/host/tool"
)

func TestManyClientsLoadAndCallWhileFamiliesComeAndGo(t *testing.T) {
	const clients = 16
	rounds := 20
	if testing.Short() {
		rounds = 4
	}
	f := newFake()
	f.answers["memory_auto_tag"] = func(context.Context, familyCall) (tool.Result, error) { panic("crash") }
	s := newServer(t, Options{}, f)
	var using sync.WaitGroup
	for n := range clients {
		p := connect(t, s, Session{Profile: profile.All()[n%len(profile.All())]}).initialize("tester")
		using.Go(func() {
			for i := range rounds {
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
	if got := connect(t, s, Session{}).initialize("tester").must("memory_status", `{}`).field("keys"); got != fmt.Sprint(clients*rounds) {
		t.Errorf("%s of %d memories were stored", got, clients*rounds)
	}
}
