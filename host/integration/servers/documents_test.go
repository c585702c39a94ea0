package servers_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/testing/guest"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/postgres"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/registry"
)

// serve opens a data directory whose space is in a database.
func serve(t *testing.T, url, dir string) (h *host.Host, acts operator.Server, stop func()) {
	t.Helper()
	return server.Run(t, host.Options{Dir: dir, Driver: must.Get(space.DriverFor(url)), Cache: server.Cache()})
}

func TestKeysGrantsAndLocksFollowASpaceToTheNextServer(t *testing.T) {
	t.Parallel()
	url := must.Get(postgres.Start(t).Database())
	first, second := t.TempDir(), t.TempDir()
	ctx := t.Context()

	_, acts, stop := serve(t, url, first)
	must.Get(operator.Call(ctx, acts, operator.CreateKey, operator.KeyRequest{Agent: "ann", Namespaces: []string{"*"}, Rights: server.ReadWrite}))
	gone := must.Get(operator.Call(ctx, acts, operator.CreateKey, operator.KeyRequest{Agent: "eve", Namespaces: []string{"*"}, Rights: server.ReadWrite}))
	stop()

	h, acts, stop := serve(t, url, second)
	must.Get(operator.Call(ctx, acts, operator.RevokeKey, operator.KeyID{ID: gone.ID}))
	must.Do(t, h.RequireKeys(true))
	lock := must.Get(registry.Read(second))
	stop()
	must.Get(space.DirectoryWith(second, must.Get(space.DriverFor(url))).SetLocked(true)) // an operator locks the directory, which nobody serves
	_, _, stop = serve(t, url, second)
	stop()

	h, acts, stop = serve(t, url, first)
	defer stop()
	for _, k := range must.Get(operator.Call(ctx, acts, operator.ListKeys, operator.None{})).Keys {
		if revoked := !k.Revoked.IsZero(); revoked != (k.ID == gone.ID) {
			t.Errorf("the key of %s: got revoked %t, want %t", k.Agent, revoked, k.ID == gone.ID)
		}
	}
	if !h.Locked() {
		t.Error("the directory that another server locked: got that it is not, want that it is")
	}
	now := must.Get(registry.Read(first))
	if now.Locked, lock.Locked = false, false; !equal(t, now, lock) {
		t.Errorf("grants: got %+v, want those of the server before, %+v", now, lock)
	}
	if _, err := os.Stat(filepath.Join(first, "keys.required")); err != nil {
		t.Errorf("that keys are required: got %v, want the mark", err)
	}
}

func equal(t *testing.T, a, b registry.Lock) bool {
	t.Helper()
	return string(must.Get(registry.Encode(a))) == string(must.Get(registry.Encode(b)))
}

func TestTheModuleOfAFamilyFollowsItsSpace(t *testing.T) {
	t.Parallel()
	url := must.Get(postgres.Start(t).Database())
	ctx := t.Context()
	plain := guest.Pack(t, abi.Manifest{Name: "plain", Tools: []abi.Tool{{Name: "plain_do", Description: "Does it.", InputSchema: []byte(`{"type":"object"}`)}}}, guest.Echo)
	_, acts, stop := serve(t, url, t.TempDir())
	if _, err := operator.Call(ctx, acts, operator.InstallFamily, operator.InstallRequest{Module: plain}); err != nil {
		t.Fatalf("install a family: %v", err)
	}
	stop()
	_, acts, stop = serve(t, url, t.TempDir())
	defer stop()
	all := must.Get(operator.Call(ctx, acts, operator.ListFamilies, operator.None{}))
	if !slices.ContainsFunc(all, func(f operator.Family) bool { return f.Manifest.Name == "plain" && f.Digest == modules.Digest(plain) }) {
		t.Errorf("another directory of the space has the families %+v, want the installed one", all)
	}
}
