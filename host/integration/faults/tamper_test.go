//go:build guests

package faults_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/store/datadir"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/registry"
	"github.com/alcove-memory/alcove/sdk/client"
)

// proof is an answer of memory_verify.
type proof struct {
	Verified          bool
	Version, Checked  uint64
	LogSequence       uint64 `json:"log_sequence"`
	Unsealed          int
	Fault, Agent, Key string
}

// sealed is a server, now stopped, whose memory tea has three versions with digests in the log, and milk one.
func sealed(t *testing.T) (dir string, versions []uint64) {
	t.Helper()
	dir = t.TempDir()
	k := server.Carrying(t, host.Options{Dir: dir})
	_, err := operator.Call(t.Context(), k.Acts, operator.GrantFamily, operator.GrantRequest{Family: "governance", Hooks: map[abi.Hook]registry.On{abi.HookStored: {}}})
	must.Do(t, err)
	_, err = operator.Call(t.Context(), k.Acts, operator.ConfigureFamily, operator.ConfigureRequest{Family: "governance", Values: operator.FamilyConfig{"seal_always": []byte(`true`)}})
	must.Do(t, err)
	c, err := k.Connect(owner.Hello{Agent: "ann"})
	must.Do(t, err)
	for _, text := range []string{"Green tea.", "Black tea.", "White tea."} {
		versions = append(versions, server.Answered[struct{ Version uint64 }](t, c, "memory_store", map[string]any{"key": "tea", "value": text}).Version)
	}
	server.Answered[any](t, c, "memory_store", map[string]any{"key": "milk", "value": "Oat milk."})
	await.That(t, "all versions have a digest", func() bool {
		tea, milk := proven(t, c, "tea"), proven(t, c, "milk")
		return tea.Verified && tea.Checked == 3 && tea.Unsealed == 0 && milk.Verified && milk.Unsealed == 0
	})
	k.Stop()
	return dir, versions
}

func proven(t *testing.T, c *client.Session, key string) proof {
	t.Helper()
	return server.Answered[proof](t, c, "memory_verify", map[string]any{"id": key})
}

// One byte of the store's file flips while no server has it. No server opens the file then, the version is named, and after a repair
// memory_verify has the others alone.
func TestAFlippedByteIsFoundAndNamed(t *testing.T) {
	t.Parallel()
	dir, versions := sealed(t)
	path := filepath.Join(dir, "alcove.db")
	whole, err := os.ReadFile(path)
	must.Do(t, err)
	var hurt []byte
	named, live := fmt.Sprintf("default/memory/\"tea\" at version %d", versions[1]), 0
	for at := 0; ; at++ {
		i := bytes.Index(whole[at:], []byte("Black tea."))
		if i < 0 {
			break
		}
		at += i
		damaged := bytes.Clone(whole)
		damaged[at] ^= 0x20 // B to b
		must.Do(t, os.WriteFile(path, damaged, 0o600))
		findings, err := space.Directory(dir).Examine()
		must.Do(t, err)
		if len(findings) == 0 {
			continue // of a page that is free
		}
		live, hurt = live+1, damaged
		if text := fmt.Sprint(findings); !strings.Contains(text, named) || !strings.Contains(text, "checksum") {
			t.Errorf("found is %s, not %s", text, named)
		}
		if h, err := host.Open(t.Context(), host.Options{Dir: dir, Version: "test", Driver: bolt.Driver{NoSync: true}}); err == nil || !strings.Contains(err.Error(), named) {
			t.Errorf("a server opens it: %v", err)
			h.Close()
		}
	}
	if live != 1 {
		t.Fatalf("%d bytes of live pages flipped", live)
	}
	must.Do(t, os.WriteFile(path, hurt, 0o600))
	repaired, err := space.Directory(dir).Repair(t.Context(), datadir.RepairOptions{})
	must.Do(t, err)
	if len(repaired.Aside) != 1 || repaired.Aside[0].Key != fmt.Sprintf("default/memory/\"tea\" at version %d", versions[1]) {
		t.Errorf("set aside are %+v", repaired.Aside)
	}
	k := server.Carrying(t, host.Options{Dir: dir})
	c, err := k.Connect(owner.Hello{Agent: "bob"})
	must.Do(t, err)
	if p := proven(t, c, "tea"); p.Verified || p.Checked != 2 || p.Version != versions[1] || p.Agent != "ann" || !strings.Contains(p.Fault, "missing") {
		t.Errorf("of what is left: %+v", p)
	}
	if p := proven(t, c, "milk"); !p.Verified {
		t.Errorf("another memory: %+v", p)
	}
}

// Somebody with access to the files replaces a version, with a checksum that is right. The store is whole, and memory_verify names the version.
func TestAVersionThatWasReplacedInTheFileIsNamed(t *testing.T) {
	t.Parallel()
	dir, versions := sealed(t)
	engine, err := bolt.Driver{NoSync: true}.Open(t.Context(), dir, store.Options{})
	must.Do(t, err)
	head, err := engine.Head(t.Context())
	must.Do(t, err)
	var forged []store.Replacement
	err = engine.(store.Portable).Dump(t.Context(), 0, head.Version, func(p store.Piece) error {
		if e := p.Entry; e != nil && e.Key.Collection == "memory" && e.Key.Name == "tea" && e.Version == versions[1] {
			forged = append(forged, store.Replacement{Branch: e.Branch, Key: e.Key, Version: e.Version, Value: bytes.ReplaceAll(e.Value, []byte("Black"), []byte("Bleak"))})
		}
		return nil
	})
	must.Do(t, err)
	must.Do(t, engine.(store.Purger).Replace(t.Context(), forged))
	must.Do(t, engine.Close())
	if findings, err := space.Directory(dir).Examine(); len(forged) != 1 || len(findings) != 0 || err != nil {
		t.Fatalf("%d replacements; %v, %v", len(forged), findings, err)
	}
	k := server.Carrying(t, host.Options{Dir: dir})
	c, err := k.Connect(owner.Hello{Agent: "bob"})
	must.Do(t, err)
	if p := proven(t, c, "tea"); p.Verified || p.Version != versions[1] || p.LogSequence == 0 || p.Agent != "ann" || p.Fault != "its content is not what was stored" {
		t.Errorf("%+v, not version %d", p, versions[1])
	}
	if p := proven(t, c, "milk"); !p.Verified {
		t.Errorf("another memory: %+v", p)
	}
}
