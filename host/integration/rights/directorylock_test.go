package rights_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/family/lockfile"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/datadir"
	"github.com/alcove-memory/alcove/host/testing/guest"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/registry"
	"github.com/alcove-memory/alcove/registry/signature"
)

// entries reads the audit log of a directory that nobody serves.
func entries(t *testing.T, dir string, kinds ...audit.Kind) (list []audit.Entry) {
	t.Helper()
	err := audit.Read(owner.AuditPath(dir), func(_ []byte, e audit.Entry) bool {
		for _, k := range kinds {
			if e.Kind == k {
				list = append(list, e)
			}
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// edit changes a lock file as an editor does.
func edit(t *testing.T, dir string, do func(*registry.Lock)) {
	t.Helper()
	l, err := registry.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	do(&l)
	if err := registry.Write(dir, l); err != nil {
		t.Fatal(err)
	}
}

func withSignatures(n int) func(*registry.Lock) {
	return func(l *registry.Lock) { l.Signatures = n }
}

// begin serves a directory and stops.
func begin(t *testing.T, o host.Options) (operator.Health, error) {
	t.Helper()
	h, err := host.Open(t.Context(), o)
	if err != nil {
		return operator.Health{}, err
	}
	defer h.Close()
	return operator.Query(t.Context(), h.Operator(), operator.GetHealth)
}

func mustBegin(t *testing.T, o host.Options) operator.Health {
	t.Helper()
	health, err := begin(t, o)
	if err != nil {
		t.Fatal(err)
	}
	return health
}

func refusesTheLockFile(t *testing.T, o host.Options) {
	t.Helper()
	_, err := begin(t, o)
	var edited *lockfile.EditedError
	if !errors.As(err, &edited) {
		t.Errorf("the start ends with %v, want that the lock file was not accepted", err)
	}
}

func TestADirectoryThatWasOnceServedLockedIsLockedUntilItIsUnlocked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustBegin(t, host.Options{Dir: dir, Locked: true})
	if l, err := registry.Read(dir); err != nil || !l.Locked {
		t.Errorf("the lock file is %+v, %v; want that it says locked", l, err)
	}
	h, act, stop := server.Run(t, host.Options{Dir: dir})
	if health, err := operator.Query(t.Context(), act, operator.GetHealth); err != nil || !health.Locked || !h.Locked() {
		t.Errorf("the next server is %+v, %v; want that it is locked", health, err)
	}
	module := guest.Pack(t, abi.Manifest{Name: "notes", Tools: []abi.Tool{guest.Tool("notes_do", `{}`)}}, guest.Echo)
	if _, err := operator.Call(t.Context(), act, operator.InstallFamily, operator.InstallRequest{Module: module}); err == nil || !strings.Contains(err.Error(), "alcove unlock") {
		t.Errorf("an installation ends with %v, want that the server is locked and how to unlock it", err)
	}
	var owned *owner.OwnedError
	if _, err := space.Directory(dir).SetLocked(false); !errors.As(err, &owned) {
		t.Errorf("it is unlocked while it is served: %v", err)
	}
	stop()
	if c, err := space.Directory(dir).SetLocked(false); err != nil || c.Locked || len(c.Lines) == 0 {
		t.Errorf("unlocking gives %+v, %v", c, err)
	}
	if health := mustBegin(t, host.Options{Dir: dir}); health.Locked {
		t.Error("a server after that is locked")
	}
	changes := entries(t, dir, audit.Changed)
	if len(changes) != 2 || !strings.Contains(changes[0].Detail, `+  "locked": true`) || !strings.Contains(changes[1].Detail, `-  "locked": true`) {
		t.Errorf("the audit log has the changes %+v, want that it was locked and unlocked", changes)
	}
	if r, err := audit.Verify(owner.AuditPath(dir), nil); err != nil || len(r.Problems) > 0 {
		t.Errorf("the audit log has the problems %v, %v", r.Problems, err)
	}
}

func TestARunningServerIsLockedAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, act, stop := server.Run(t, host.Options{Dir: dir})
	c, err := operator.Query(t.Context(), act, operator.LockDirectory)
	if err != nil || !slices.Contains(c.Lines, `+  "locked": true`) {
		t.Errorf("locking gives %+v, %v", c, err)
	}
	if c, err = operator.Query(t.Context(), act, operator.LockDirectory); err != nil || len(c.Lines) != 0 {
		t.Errorf("locking again gives %+v, %v; want nothing", c, err)
	}
	if err := operator.Command(t.Context(), act, operator.SetEndpoint, operator.EndpointRequest{Name: "web", Endpoint: &operator.Endpoint{Kind: "http", URL: "https://one.example"}}); err == nil {
		t.Error("an endpoint is set in a locked server")
	}
	stop()
	if health := mustBegin(t, host.Options{Dir: dir}); !health.Locked {
		t.Error("the next server is not locked")
	}
}

func TestALockedServerRefusesALockFileThatWasEditedWhileItWasStopped(t *testing.T) {
	t.Parallel()
	edits := map[string]func(t *testing.T, dir string){
		"a member": func(t *testing.T, dir string) { edit(t, dir, withSignatures(2)) },
		"the lock": func(t *testing.T, dir string) { edit(t, dir, func(l *registry.Lock) { l.Locked = false }) },
		"no file":  func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, registry.File)) },
		"no record": func(t *testing.T, dir string) {
			edit(t, dir, withSignatures(2))
			os.Remove(filepath.Join(owner.AuditPath(dir), "accepted.lock"))
		},
	}
	for what, attack := range edits {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			mustBegin(t, host.Options{Dir: dir, Locked: true})
			accepted, err := os.ReadFile(filepath.Join(dir, registry.File))
			if err != nil {
				t.Fatal(err)
			}
			attack(t, dir)
			for _, o := range []host.Options{{Dir: dir}, {Dir: dir, Locked: true}, {Dir: dir, ReadOnly: true}} {
				refusesTheLockFile(t, o)
			}
			if _, err := space.Directory(dir).SetLocked(false); err == nil {
				t.Error("the edited file is unlocked")
			}
			found := entries(t, dir, audit.Edited)
			if len(found) != 1 || len(found[0].Digest) != 64 || found[0].Detail == "" {
				t.Errorf("the audit log has of the edit %+v; want it once, with its digest and difference", found)
			}
			if err := os.WriteFile(filepath.Join(dir, registry.File), accepted, 0o600); err != nil {
				t.Fatal(err)
			}
			if health := mustBegin(t, host.Options{Dir: dir}); !health.Locked {
				t.Error("with the accepted file back, the server is not locked")
			}
		})
	}
}

func TestALockFileThatIsEditedWhileALockedServerRunsIsRecordedAndRefusedByTheNext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustBegin(t, host.Options{Dir: dir, Locked: true})
	_, act, stop := server.Run(t, host.Options{Dir: dir})
	edit(t, dir, withSignatures(2))
	if _, err := operator.Call(t.Context(), act, operator.TrustKeys, operator.TrustRequest{Signatures: new(int)}); err == nil || !strings.Contains(err.Error(), "alcove lock apply") {
		t.Errorf("a change ends with %v, want that the file was edited", err)
	}
	stop()
	refusesTheLockFile(t, host.Options{Dir: dir})
	found := entries(t, dir, audit.Edited)
	if len(found) != 1 || !strings.Contains(found[0].Detail, `+  "signatures": 2`) {
		t.Errorf("the audit log has of the edit %+v; want it once", found)
	}
}

func TestAnEditWhileAnUnlockedServerIsStoppedIsRecordedWithItsDifference(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustBegin(t, host.Options{Dir: dir})
	edit(t, dir, withSignatures(1))
	mustBegin(t, host.Options{Dir: dir})
	edit(t, dir, withSignatures(2))
	mustBegin(t, host.Options{Dir: dir})
	mustBegin(t, host.Options{Dir: dir})
	found := entries(t, dir, audit.Changed)
	if len(found) != 2 || found[1].Agent != lockfile.Editor || found[1].Detail != "-  \"signatures\": 1\n+  \"signatures\": 2" {
		t.Errorf("the audit log has of the edits %+v; want each once, with its difference", found)
	}
	refusesTheLockFile(t, locking(t, dir, withSignatures(3)))
}

// locking are the options of a server that is to lock a directory whose lock file was edited.
func locking(t *testing.T, dir string, do func(*registry.Lock)) host.Options {
	t.Helper()
	edit(t, dir, do)
	return host.Options{Dir: dir, Locked: true}
}

func TestTheFirstLockFileOfADirectoryIsRecordedAndTaken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := registry.Write(dir, registry.Lock{Locked: true, Signatures: 2}); err != nil {
		t.Fatal(err)
	}
	if health := mustBegin(t, host.Options{Dir: dir}); !health.Locked {
		t.Error("a directory whose lock file says locked is not locked")
	}
	found := entries(t, dir, audit.Changed)
	if len(found) != 1 || !strings.Contains(found[0].Detail, "the first lock file:") || !strings.Contains(found[0].Detail, `"signatures": 2`) {
		t.Errorf("the audit log has %+v; want the first lock file", found)
	}
	mustBegin(t, host.Options{Dir: dir})
}

func TestALockFileThatIsGoneIsMissedIfItHadGuards(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	requireGuard(t, dir)
	mustBegin(t, host.Options{Dir: dir})
	if err := os.Remove(filepath.Join(dir, registry.File)); err != nil {
		t.Fatal(err)
	}
	refusesTheLockFile(t, host.Options{Dir: dir})
}

func TestTheBeginningOfAServerIsRecordedWithItsModeLockFileVersionAndCatalogue(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustBegin(t, host.Options{Dir: dir, Version: "1.2.3"})
	mustBegin(t, host.Options{Dir: dir, Version: "1.2.4", Locked: true, ReadOnly: true})
	list := entries(t, dir, audit.Began)
	if len(list) != 2 {
		t.Fatalf("got %d beginnings, want 2: %+v", len(list), list)
	}
	for i, version := range []string{"1.2.3", "1.2.4"} {
		var said struct {
			Version, Catalogue string
			PID                int
			ReadOnly           bool `json:"read_only"`
		}
		if err := json.Unmarshal([]byte(list[i].Detail), &said); err != nil {
			t.Fatalf("decode %s: %v", list[i].Detail, err)
		}
		if said.Version != version || said.Catalogue != modules.Catalogue(nil) || said.PID != os.Getpid() || said.ReadOnly != (i == 1) || list[i].Locked != (i == 1) || len(list[i].Lock) != 64 {
			t.Errorf("beginning %d is %+v", i, list[i])
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, registry.File))
	if err != nil || audit.LockDigest(data) != list[1].Lock {
		t.Errorf("the lock file has the digest %s, %v; want %s", audit.LockDigest(data), err, list[1].Lock)
	}
}

// A server that is killed between the record of a change and the lock file makes the change when it begins again.
func TestAChangeThatWasRecordedAndNotWrittenIsWrittenAtTheNextStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustBegin(t, host.Options{Dir: dir, Locked: true})
	before, err := os.ReadFile(filepath.Join(dir, registry.File))
	if err != nil {
		t.Fatal(err)
	}
	next, err := registry.Encode(registry.Lock{Locked: true, Signatures: 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := space.Directory(dir).ApplyLock(next, datadir.ApplyOptions{Clock: time.Now}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, registry.File), before, 0o600); err != nil {
		t.Fatal(err)
	}
	mustBegin(t, host.Options{Dir: dir})
	if now, err := os.ReadFile(filepath.Join(dir, registry.File)); err != nil || !bytes.Equal(now, next) {
		t.Errorf("the lock file is %s, %v; want %s", now, err, next)
	}
}

// In a directory that is not locked, whoever puts an earlier lock file back takes away what came since.
func TestAnEarlierLockFileThatIsPutBackIsTakenInAnUnlockedDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, n := range []int{1, 2, 1} {
		edit(t, dir, withSignatures(n))
		mustBegin(t, host.Options{Dir: dir})
	}
	if l, err := registry.Read(dir); err != nil || l.Signatures != 1 {
		t.Errorf("the lock file is %+v, %v; want the earlier one", l, err)
	}
}

// reviewed is a lock file with a signed module, and a folder that has it.
func reviewed(t *testing.T) (lock registry.Lock, folder string) {
	t.Helper()
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize))
	module := guest.Pack(t, abi.Manifest{Name: "notes", Tools: []abi.Tool{guest.Tool("notes_do", `{}`)}}, guest.Echo)
	sig, err := signature.SignDetached(module, nil, key)
	if err != nil {
		t.Fatal(err)
	}
	folder = t.TempDir()
	for name, data := range map[string][]byte{"any name.wasm": module, "any name.wasm.sig": sig} {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return registry.Lock{
		Keys:     map[string]registry.Key{"author": {Public: signature.FormatPublic(key.Public().(ed25519.PublicKey))}},
		Families: map[string]registry.Grant{"notes": {Digest: audit.LockDigest(module), Signers: []string{"author"}}},
	}, folder
}

func apply(t *testing.T, dir string, l registry.Lock, o datadir.ApplyOptions) (datadir.LockChange, error) {
	t.Helper()
	data, err := registry.Encode(l)
	if err != nil {
		t.Fatal(err)
	}
	o.Clock = time.Now
	return space.Directory(dir).ApplyLock(data, o)
}

func TestALockedDirectoryTakesAReviewedLockFileWithoutBeingUnlocked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustBegin(t, host.Options{Dir: dir, Locked: true})
	lock, folder := reviewed(t)
	if c, err := apply(t, dir, lock, datadir.ApplyOptions{Modules: folder, DryRun: true}); err != nil || len(c.Lines) == 0 || len(c.Modules) != 1 {
		t.Errorf("a dry run gives %+v, %v", c, err)
	}
	if l, err := registry.Read(dir); err != nil || len(l.Families) != 0 {
		t.Errorf("a dry run leaves %+v, %v", l, err)
	}
	if c, err := apply(t, dir, lock, datadir.ApplyOptions{Modules: folder}); err != nil || !c.Locked {
		t.Errorf("it gives %+v, %v; want that the directory stays locked", c, err)
	}
	_, act, stop := server.Run(t, host.Options{Dir: dir})
	if _, err := operator.Call(t.Context(), act, operator.CallTool, operator.ToolCall{Tool: "notes_do", Arguments: []byte(`{}`)}); err != nil {
		t.Errorf("the reviewed module does not run: %v", err)
	}
	if health, err := operator.Query(t.Context(), act, operator.GetHealth); err != nil || !health.Locked {
		t.Errorf("the server is %+v, %v; want that it is locked", health, err)
	}
	var owned *owner.OwnedError
	if _, err := apply(t, dir, lock, datadir.ApplyOptions{Modules: folder}); !errors.As(err, &owned) {
		t.Errorf("a running server takes a lock file: %v", err)
	}
	stop()
	found := entries(t, dir, audit.Changed)
	if last := found[len(found)-1]; last.Agent != lockfile.Operator || !strings.Contains(last.Detail, `+    "notes"`) || !last.Locked {
		t.Errorf("the audit log ends with %+v; want the difference", last)
	}
	if c, err := apply(t, dir, lock, datadir.ApplyOptions{}); err != nil || len(c.Lines) != 0 {
		t.Errorf("the same file again gives %+v, %v; want no change", c, err)
	}
}

func TestAReviewedLockFileIsRefusedIfItsModulesAreNotWhatItNames(t *testing.T) {
	t.Parallel()
	for why, change := range map[string]func(l *registry.Lock, folder string){
		"neither in the data directory nor": func(_ *registry.Lock, folder string) { os.RemoveAll(folder); os.Mkdir(folder, 0o700) },
		"not signed":                        func(_ *registry.Lock, folder string) { os.Remove(filepath.Join(folder, "any name.wasm.sig")) },
		"was revoked: it was stolen": func(l *registry.Lock, _ string) {
			k := l.Keys["author"]
			k.Revoked = "it was stolen"
			l.Keys["author"] = k
		},
		"is of family notes": func(l *registry.Lock, _ string) {
			l.Families = map[string]registry.Grant{"other": l.Families["notes"]}
		},
		"names a manifest": func(l *registry.Lock, _ string) {
			g := l.Families["notes"]
			g.Manifest = strings.Repeat("0", 64)
			l.Families["notes"] = g
		},
		"does not ask for": func(l *registry.Lock, _ string) {
			g := l.Families["notes"]
			g.Capabilities = []registry.Capability{{Name: abi.CanMemoryRead, Scope: []string{"*"}}}
			l.Families["notes"] = g
		},
	} {
		t.Run(why, func(t *testing.T) {
			dir := t.TempDir()
			mustBegin(t, host.Options{Dir: dir, Locked: true})
			before := entries(t, dir, audit.Changed)
			lock, folder := reviewed(t)
			change(&lock, folder)
			if _, err := apply(t, dir, lock, datadir.ApplyOptions{Modules: folder}); err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("it ends with %v, want %q", err, why)
			}
			if after := entries(t, dir, audit.Changed); len(after) != len(before) {
				t.Errorf("the audit log has a change: %+v", after)
			}
			mustBegin(t, host.Options{Dir: dir})
		})
	}
}

func TestAReviewedLockFileTakesThePlaceOfOneThatCannotBeRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustBegin(t, host.Options{Dir: dir, Locked: true})
	if err := os.WriteFile(filepath.Join(dir, registry.File), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := begin(t, host.Options{Dir: dir}); err == nil {
		t.Error("a server takes a lock file that cannot be read")
	}
	if c, err := apply(t, dir, registry.Lock{}, datadir.ApplyOptions{}); err != nil || !c.Locked {
		t.Errorf("it gives %+v, %v", c, err)
	}
	if health := mustBegin(t, host.Options{Dir: dir}); !health.Locked {
		t.Error("the server is not locked")
	}
}

func TestALockFileBeyondTheLimitIsRefused(t *testing.T) {
	t.Parallel()
	_, err := space.Directory(t.TempDir()).ApplyLock(bytes.Repeat([]byte(" "), registry.FileLimit+1), datadir.ApplyOptions{Clock: time.Now})
	if err == nil || !strings.Contains(err.Error(), "more than 4194304 bytes") {
		t.Errorf("it ends with %v, want the limit", err)
	}
}

func TestARestoredDirectoryIsLockedIfItsBackupWas(t *testing.T) {
	t.Parallel()
	dir, safe := t.TempDir(), t.TempDir()
	mustBegin(t, host.Options{Dir: dir, Locked: true})
	_, act, stop := server.Run(t, host.Options{Dir: dir})
	from := func(ctx context.Context, since backup.Base, w io.Writer) error {
		return operator.Receive(ctx, act, operator.Backup, operator.BackupRequest{Since: since}, w)
	}
	if _, err := backup.Full(t.Context(), safe, from, time.Now()); err != nil {
		t.Fatal(err)
	}
	stop()
	fresh := filepath.Join(t.TempDir(), "data")
	if _, err := space.Directory(fresh).Restore(t.Context(), safe, datadir.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	if health := mustBegin(t, host.Options{Dir: fresh}); !health.Locked {
		t.Error("the restored directory is not locked")
	}
}
