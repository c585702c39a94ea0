package server

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/guests"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/family/outside/outbound"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/testing/guest"
)

// Families are the families that the program carries; with names, these alone.
func Families(names ...string) (list []host.FamilyModule) {
	for _, g := range guests.All() {
		if len(names) > 0 && !slices.Contains(names, g.Name) {
			continue
		}
		m := host.FamilyModule{Digest: g.Digest, Manifest: []byte(g.Manifest), Read: g.Read, Body: g.Body()}
		if n := g.Native(); n != nil {
			m.Native = &sandbox.Native{Code: n.Code, Engine: n.Engine, Name: n.Name, Sum: n.Sum, Open: n.Open}
		}
		list = append(list, m)
	}
	return list
}

// Parts are a memory and the families that the program carries, without the rest of a server.
func Parts(t testing.TB, dir string, cache sandbox.Cache) (*memory.Space, *family.Families) {
	t.Helper()
	engine, err := bolt.Open(t.Context(), dir, bolt.Options{})
	if err != nil {
		t.Fatalf("open the store: %v", err)
	}
	proxy := family.NewProxy(nil)
	s, err := memory.Open(t.Context(), memory.Options{Engine: engine, Index: search.New(search.Options{}), Hooks: proxy.Hooks})
	if err != nil {
		t.Fatalf("open the memory: %v", err)
	}
	box, err := sandbox.New(sandbox.Config{Cache: cache})
	if err != nil {
		t.Fatalf("open the sandbox: %v", err)
	}
	f, err := family.New(t.Context(), family.Options{Space: s, Proxy: proxy, Sandbox: box, Dir: dir, Built: Families(), Outside: outbound.Client{}})
	if err != nil {
		t.Fatalf("open the families: %v", err)
	}
	t.Cleanup(func() {
		if err := errors.Join(f.Close(), box.Close(), s.Close(context.Background()), engine.Close()); err != nil {
			t.Errorf("close the families: %v", err)
		}
	})
	return s, f
}

// CallTool calls a family's tool with arguments that fit, as the owner.
func CallTool(ctx context.Context, f *family.Families, name, arguments string) (family.Result, error) {
	who := memory.Caller{Rights: memory.FullRights()}
	t, err := f.Find(who, name)
	if err != nil {
		return family.Result{}, err
	}
	return f.Call(ctx, t, family.Call{Caller: who, Arguments: json.RawMessage(arguments)})
}

// Install installs a family, and grants it all that it asks for.
func Install(t testing.TB, acts operator.Server, manifest abi.Manifest, body guest.Body) {
	t.Helper()
	_, err := operator.Call(t.Context(), acts, operator.InstallFamily, operator.InstallRequest{Module: guest.Pack(t, manifest, body)})
	if err == nil && len(manifest.Capabilities) > 0 {
		_, err = operator.Call(t.Context(), acts, operator.GrantFamily, operator.GrantRequest{Family: manifest.Name, All: true})
	}
	if err != nil {
		t.Fatalf("install %s: %v", manifest.Name, err)
	}
}

// Asking installs a family for each request, whose tool NAME_ask sends it to the host and answers with the response.
func (s *Server) Asking(capability abi.Capability, requests map[string]string) {
	s.T.Helper()
	for name, request := range requests {
		ask := abi.Request{Name: capability, Reason: "Is tested."}
		if capability.Scope() != "none" {
			ask.Scope = []string{"*"}
		}
		m := abi.Manifest{Name: name, Tools: []abi.Tool{guest.Tool(name+"_ask", `{}`)}, Capabilities: []abi.Request{ask}}
		Install(s.T, s.Acts, m, guest.Relay(request))
	}
}
