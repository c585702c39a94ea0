package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/bolt"
	hostsettings "github.com/alcove-memory/alcove/host/store/settings"
	"github.com/alcove-memory/alcove/registry"
)

func TestABackupThatLostTheModuleOfARedactorIsRefusedByName(t *testing.T) {
	e, err := bolt.Open(t.Context(), t.TempDir(), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte("the module")))
	hook := map[abi.Hook]registry.On{abi.HookStore: {OnFailure: abi.OnFailureRefuse}}
	lock, err := registry.Encode(registry.Lock{Families: map[string]registry.Grant{"hide": {Digest: digest, Hooks: hook}}})
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, registry.File), lock, 0o600); err != nil {
		t.Fatal(err)
	}
	file := backup.File{Name: registry.File, SHA256: fmt.Sprintf("%x", sha256.Sum256(lock)), Bytes: int64(len(lock))}
	from := func(ctx context.Context, since backup.Base, w io.Writer) error {
		return backup.Write(ctx, w, e, since, func() ([]backup.OpenFile, error) {
			content, err := os.Open(filepath.Join(data, registry.File))
			return []backup.OpenFile{{File: file, Content: content}}, err
		})
	}
	path := filepath.Join(t.TempDir(), "space.alcove")
	if _, err := backup.ToFile(t.Context(), path, from, time.Now()); err != nil {
		t.Fatal(err)
	}
	dir := dataDir(t)
	cmd := program(t, dir, "restore", path)
	cmd.Stderr = nil
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "the module of family hide with the SHA-256 "+digest+" is not in the backup") {
		t.Errorf("restore: %s (%v), want the error that the module of hide is not in the backup", out, err)
	}
	if has, err := space.Directory(dir).HasStore(); has || err != nil {
		t.Errorf("there is a store: %t (%v)", has, err)
	}
}

func TestARestoreSaysWhatItDidNotRestore(t *testing.T) {
	for name, c := range map[string]struct {
		settings hostsettings.Restored
		says     string
	}{
		"nothing granted": {hostsettings.Restored{Carried: true}, "no family has a grant"},
		"a missing module": {hostsettings.Restored{Carried: true, Families: []hostsettings.Family{{Family: "notes", Missing: []string{"abc"}}}},
			"its module with the SHA-256 abc is not in the backup: alcove family install FILE"},
		"a missing redactor": {hostsettings.Restored{Carried: true, Families: []hostsettings.Family{{Family: "hide", Guard: "abc", Missing: []string{"abc"}}}},
			"until then nothing is stored"},
		"a missing version beside the one that serves the hook": {hostsettings.Restored{Carried: true, Families: []hostsettings.Family{{Family: "hide", Guard: "def", Missing: []string{"abc"}}}},
			"alcove family install FILE\x00"},
		"other grants": {hostsettings.Restored{Carried: true, Kept: []string{"alcove.lock"}, Dropped: []string{"hide"}},
			"nothing was stored without family hide; here memories are stored without it"},
		"keys": {hostsettings.Restored{Carried: true, Endpoints: []string{"small"}}, "endpoints: small; their keys are not in a backup"},
	} {
		if said := strings.Join(restoredLines(c.settings), "\x00") + "\x00"; !strings.Contains(said, c.says) {
			t.Errorf("%s: restore says %s, want %q", name, said, c.says)
		}
	}
}
