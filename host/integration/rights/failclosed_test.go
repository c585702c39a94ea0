package rights_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/asm"
	"github.com/alcove-memory/alcove/host/testing/guest"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/registry"
)

// guarding is a module whose store hook lets everything pass.
func guarding(t *testing.T) []byte {
	t.Helper()
	return guest.Pack(t, abi.Manifest{Name: "checker", Hooks: abi.Hooks{Store: &abi.StoreHook{Collections: []string{"memory"}, OnFailure: abi.OnFailureRefuse}}},
		func(m *asm.Module, _, write, _ uint32) asm.Code {
			m.Put(1024, []byte("{}"))
			return asm.Seq(asm.Drop(asm.Call(write, asm.I32(0), asm.I32(1024), asm.I32(2))), asm.I32(0))
		})
}

// requireGuard has a family asked before anything is stored, by a directory's lock file.
func requireGuard(t *testing.T, dir string) {
	t.Helper()
	g := registry.Grant{Digest: strings.Repeat("0", 64), Hooks: map[abi.Hook]registry.On{abi.HookStore: {OnFailure: abi.OnFailureRefuse}}}
	if err := registry.Write(dir, registry.Lock{Families: map[string]registry.Grant{"checker": g}}); err != nil {
		t.Fatal(err)
	}
}

// takeAuditLog puts a file where the audit log should be.
func takeAuditLog(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(owner.AuditPath(dir), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// takeScratch leaves no directory for native code that others cannot change.
func takeScratch(t *testing.T, dir string) {
	t.Helper()
	if err := os.Chmod(dir, 0o770); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, filepath.Join(dir, "none"))
	}
}

// losses are what a server cannot open, by what its error names.
func losses() map[string]func(t *testing.T, dir string) {
	return map[string]func(t *testing.T, dir string){"audit log": takeAuditLog, "native code": takeScratch}
}

func TestAServerThatNeedsGuardsEndsIfItCannotOpenSandboxOrAuditLog(t *testing.T) {
	for what, lose := range losses() {
		for needs, o := range map[string]host.Options{"family checker": {}, "a locked server": {Locked: true}} {
			t.Run(what+", "+needs, func(t *testing.T) {
				o.Dir, o.Sharing.Group = t.TempDir(), true
				if !o.Locked {
					requireGuard(t, o.Dir)
				}
				lose(t, o.Dir)
				h, err := host.Open(t.Context(), o)
				if err == nil {
					h.Close()
					t.Fatal("it serves without its guards")
				}
				for _, want := range []string{what, needs, "without tool families"} {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("got the error %q, want one with %q", err, want)
					}
				}
			})
		}
	}
}

func TestAServerWithoutGuardsGoesOnWithoutFamiliesAndSaysSo(t *testing.T) {
	dir, what := t.TempDir(), "native code"
	takeScratch(t, dir)
	h, err := host.Open(t.Context(), host.Options{Dir: dir, Sharing: owner.Sharing{Group: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	r, stop := server.Serve(t, h, host.Listen{HTTP: "127.0.0.1:0"})
	server.Remember(t, h, "it stores")
	answer, err := http.Get("http://" + r.HTTP + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	if err != nil || answer.StatusCode != http.StatusOK || !bytes.Contains(said, []byte("without tool families")) || !bytes.Contains(said, []byte(what)) {
		t.Errorf("readyz says %d %s, %v; want 200 with the missing families and %q", answer.StatusCode, said, err, what)
	}
	health, err := operator.Query(t.Context(), h.Operator(), operator.GetHealth)
	if err != nil || !strings.Contains(health.WithoutFamilies, what) {
		t.Errorf("the health is %+v, %v; want the reason with %q", health, err, what)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// Without its audit log, it is not known whether a directory is locked.
func TestAServerThatCannotReadItsAuditLogEnds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	takeAuditLog(t, dir)
	if _, err := begin(t, host.Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "whether the directory is locked is not known") {
		t.Errorf("the start ends with %v", err)
	}
}

func TestAReadOnlyServerThatLacksItsGuardsServesReadsAndStoresNothing(t *testing.T) {
	for what, lose := range losses() {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			h := server.Open(t, host.Options{Dir: dir})
			server.Remember(t, h, "tea")
			if err := h.Close(); err != nil {
				t.Fatal(err)
			}
			requireGuard(t, dir)
			if err := os.RemoveAll(owner.AuditPath(dir)); err != nil {
				t.Fatal(err)
			}
			lose(t, dir)
			h, err := host.Open(t.Context(), host.Options{Dir: dir, ReadOnly: true, Sharing: owner.Sharing{Group: true}})
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			who := server.Owner(h, "")
			if _, err := who.Store(t.Context(), memory.Location{}, []memory.Item{{Key: "k", Value: []byte(`1`)}}, memory.Write{}); err == nil || !strings.Contains(err.Error(), "checker has to be asked first") {
				t.Errorf("a store ends with %v, want the name of the guard", err)
			}
			if hits := server.Found(t, h, memory.Search{Text: "tea"}); hits != "tea" {
				t.Errorf("a search finds %q, want tea", hits)
			}
		})
	}
}

func TestARunningServerStoresNothingWhileItsAuditLogIsGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h, act, _ := server.Run(t, host.Options{Dir: dir})
	if _, err := operator.Call(t.Context(), act, operator.InstallFamily, operator.InstallRequest{Module: guarding(t)}); err != nil {
		t.Fatal(err)
	}
	on := map[abi.Hook]registry.On{abi.HookStore: {OnFailure: abi.OnFailureRefuse}}
	if _, err := operator.Call(t.Context(), act, operator.GrantFamily, operator.GrantRequest{Family: "checker", Hooks: on}); err != nil {
		t.Fatal(err)
	}
	server.Remember(t, h, "before")
	moved := filepath.Join(dir, "elsewhere")
	if err := os.Rename(owner.AuditPath(dir), moved); err != nil {
		t.Fatal(err)
	}
	if head, err := operator.Query(t.Context(), act, operator.GetAuditHead); err == nil {
		t.Errorf("the log that is gone has the head %+v", head)
	}
	_, err := server.Owner(h, "").Store(t.Context(), memory.Location{}, []memory.Item{{Key: "k", Value: []byte(`1`)}}, memory.Write{})
	if err == nil || !strings.Contains(err.Error(), "moved or deleted") {
		t.Errorf("a store ends with %v, want that the log was moved", err)
	}
	if err := os.Rename(moved, owner.AuditPath(dir)); err != nil {
		t.Fatal(err)
	}
	if _, err := operator.Query(t.Context(), act, operator.GetAuditHead); err != nil {
		t.Fatal(err)
	}
	server.Remember(t, h, "after")
}

func TestARunningServerThatLosesItsLockFileKeepsItsGuards(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	requireGuard(t, dir)
	h, act, _ := server.Run(t, host.Options{Dir: dir})
	if err := os.Remove(filepath.Join(dir, registry.File)); err != nil {
		t.Fatal(err)
	}
	if _, err := operator.Call(t.Context(), act, operator.TrustKeys, operator.TrustRequest{Signatures: new(int)}); err != nil { // has the lock file looked at
		t.Fatal(err)
	}
	_, err := server.Owner(h, "").Store(t.Context(), memory.Location{}, []memory.Item{{Key: "k", Value: []byte(`1`)}}, memory.Write{})
	if err == nil || !strings.Contains(err.Error(), "checker has to be asked first") {
		t.Errorf("a store ends with %v, want the name of the guard", err)
	}
	if l, err := registry.Read(dir); err != nil || len(l.Guards()) != 1 {
		t.Errorf("the lock file written again is %+v, %v; want one with the guard", l, err)
	}
}
