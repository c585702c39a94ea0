package rights_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/memory"
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

// A module with a detached signature runs in a locked server that was restored from a backup, and the new log of that server names the
// head of the log that stayed behind.
func TestARestoredLockedServerRunsWhatWasSignedAndItsLogNamesTheFormerOne(t *testing.T) {
	t.Parallel()
	dir, safe := t.TempDir(), t.TempDir()
	_, act, stop := server.Run(t, host.Options{Dir: dir})
	plain := guest.Pack(t, abi.Manifest{Name: "plain", Tools: []abi.Tool{{Name: "plain_do", Description: "Does it.", InputSchema: []byte(`{"type":"object"}`)}}}, guest.Echo)
	if _, err := operator.Call(t.Context(), act, operator.InstallFamily, operator.InstallRequest{Module: plain}); err != nil { // before a key is trusted
		t.Fatal(err)
	}
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize))
	public := signature.FormatPublic(key.Public().(ed25519.PublicKey))
	if _, err := operator.Call(t.Context(), act, operator.TrustKeys, operator.TrustRequest{Name: "author", Key: &registry.Key{Public: public}}); err != nil {
		t.Fatal(err)
	}
	module := guest.Pack(t, abi.Manifest{Name: "notes", Tools: []abi.Tool{{Name: "notes_do", Description: "Does it.", InputSchema: []byte(`{"type":"object"}`)}}}, guest.Echo)
	sig, err := signature.SignDetached(module, nil, key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := operator.Call(t.Context(), act, operator.InstallFamily, operator.InstallRequest{Module: module, Signature: sig}); err != nil {
		t.Fatal(err)
	}
	if _, err := operator.Call(t.Context(), act, operator.CreateKey, operator.KeyRequest{Agent: "ann", Namespaces: []string{"*"}, Rights: []memory.Right{"read"}}); err != nil {
		t.Fatal(err)
	}
	c := server.Operator(t, dir)
	from := func(ctx context.Context, since backup.Base, w io.Writer) error {
		return operator.Receive(ctx, c, operator.Backup, operator.BackupRequest{Since: since}, w)
	}
	if _, err := backup.Full(t.Context(), safe, from, time.Now()); err != nil {
		t.Fatal(err)
	}
	head, err := operator.Query(t.Context(), act, operator.GetAuditHead)
	if err != nil {
		t.Fatal(err)
	}
	stop()
	fresh := filepath.Join(t.TempDir(), "data")
	if _, err := space.Directory(fresh).Restore(t.Context(), safe, datadir.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	_, act, stop = server.Run(t, host.Options{Dir: fresh, Locked: true})
	if _, err := operator.Call(t.Context(), act, operator.CallTool, operator.ToolCall{Tool: "notes_do", Arguments: []byte(`{}`)}); err != nil {
		t.Errorf("the restored server does not run what was signed: %v", err)
	}
	if answer, err := operator.Call(t.Context(), act, operator.CallTool, operator.ToolCall{Tool: "plain_do", Arguments: []byte(`{}`)}); err == nil || !strings.Contains(err.Error(), "it is not signed") {
		t.Errorf("the restored server runs what nobody signed: %s, %v", answer.Result, err)
	}
	stop()
	var all []audit.Entry
	if err := audit.Read(owner.AuditPath(fresh), func(_ []byte, e audit.Entry) bool { all = append(all, e); return true }); err != nil || len(all) == 0 {
		t.Fatalf("Read = %d entries, %v, want one or more", len(all), err)
	}
	want := fmt.Sprintf("%d:%s", head.Seq, head.Hash)
	i := slices.IndexFunc(all, func(e audit.Entry) bool { return e.Kind == audit.FromBackup })
	if i < 0 || all[i].Seq != head.Seq+1 || !strings.Contains(all[i].Detail, want) {
		t.Errorf("the log has %+v, want an entry behind %s that it was restored", all, want)
	}
	if r, err := audit.Verify(owner.AuditPath(fresh), []audit.Head{head}); err != nil || len(r.Problems) > 0 || r.Checked != 1 || r.Restored == nil || !r.Restored.Here {
		t.Errorf("against a head of before the backup the restored log gives %+v, %v", r, err)
	}
	var former []string
	if err := audit.Read(owner.AuditPath(dir), func(_ []byte, e audit.Entry) bool { former = append(former, string(e.Kind)+" "+e.Detail); return true }); err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(former, "\n"); !strings.Contains(text, "changed API keys: create ") || !strings.Contains(text, public) {
		t.Errorf("the log lacks the key that was created or trusted: %s", text)
	}
}

// A call of a family that writes nothing moves the head of the audit log, and nothing else that a backup carries.
func TestACallThatWritesNothingIsNoReasonForAnIncrement(t *testing.T) {
	t.Parallel()
	dir, safe := t.TempDir(), t.TempDir()
	_, act, _ := server.Run(t, host.Options{Dir: dir})
	module := guest.Pack(t, abi.Manifest{Name: "notes", Tools: []abi.Tool{{Name: "notes_do", Description: "Does it.", InputSchema: []byte(`{"type":"object"}`)}}}, guest.Echo)
	if _, err := operator.Call(t.Context(), act, operator.InstallFamily, operator.InstallRequest{Module: module}); err != nil {
		t.Fatal(err)
	}
	from := func(ctx context.Context, since backup.Base, w io.Writer) error {
		return operator.Receive(ctx, act, operator.Backup, operator.BackupRequest{Since: since}, w)
	}
	if _, err := backup.Full(t.Context(), safe, from, time.Now()); err != nil {
		t.Fatal(err)
	}
	before, err := operator.Query(t.Context(), act, operator.GetAuditHead)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := operator.Call(t.Context(), act, operator.CallTool, operator.ToolCall{Tool: "notes_do", Arguments: []byte(`{}`)}); err != nil {
		t.Fatal(err)
	}
	after, err := operator.Query(t.Context(), act, operator.GetAuditHead)
	if err != nil || after.Seq == before.Seq {
		t.Fatalf("the call has no entry (%v)", err)
	}
	if part, err := backup.Increment(t.Context(), safe, from, time.Now()); !errors.Is(err, backup.ErrUnchanged) {
		t.Errorf("the increment is %+v (%v)", part, err)
	}
}
