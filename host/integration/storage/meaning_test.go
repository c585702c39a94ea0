//go:build guests

package storage_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/testing/server"
)

func TestTheSettingsOfSemanticSearchReachTheCore(t *testing.T) {
	t.Parallel()
	embedder, dir := newSpeaks(t).config("animals"), t.TempDir()
	s := server.Start(t, host.Options{Dir: dir, Families: server.Families(), Cache: server.Cache(), Embedder: &embedder})
	must := func(method, params string) json.RawMessage {
		t.Helper()
		o := s.Operate(fmt.Sprintf(`{"method":%q,"params":%s}`, method, params), nil)
		if o.Error != nil {
			t.Fatalf("%s of %s: %+v", method, params, o.Error)
		}
		return o.Result
	}
	must("store", `{"key":"cat","value":"the cat sleeps"}`)
	must("store", `{"key":"stone","value":"a stone lies there"}`)
	must("store", `{"key":"pet","namespace":"work","value":"a cat at work"}`)
	until(t, server.Operator(t, dir), has(3))
	wants := func(why, params, want string) {
		t.Helper()
		var out struct {
			Results []struct {
				Key string
				Why json.RawMessage
			}
		}
		if err := json.Unmarshal(must("search", params), &out); err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, r := range out.Results {
			if keys = append(keys, r.Key); r.Why != nil {
				t.Errorf("%s: %s is told why it is found", why, r.Key)
			}
		}
		if got := strings.Join(keys, " "); got != want {
			t.Errorf("%s: found %q, not %q", why, got, want)
		}
	}
	const here, there = `{"query":"beast","namespace":"default"}`, `{"query":"beast","namespace":"work"}`
	wants("as is usual", here, "cat stone")
	must("configure_semantic", `{"threshold":0.5}`)
	wants("with a threshold", here, "cat")
	wants("what has a word of the question", `{"query":"beast stone","namespace":"default"}`, "cat stone")
	must("set_scope_policy", `{"scopeId":"work","policyKey":"semantic_enabled","policyValue":false}`)
	wants("off in one scope", there, "")
	wants("and on in the other", here, "cat")
	wants("of all namespaces, as in the system", `{"query":"beast","namespace":["default","work"]}`, "cat pet")
	must("configure_semantic", `{"enabled":false}`)
	wants("off", here, "")
	wants("off, and asked for", `{"query":"beast","namespace":"default","mode":"semantic"}`, "cat")
	must("configure_semantic", `{"enabled":true,"threshold":0,"method":"lexical"}`)
	wants("by words", here, "")
	must("configure_semantic", `{"method":"embedding"}`)
	wants("as before", here, "cat stone")
}
