package storage_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/purge"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/datadir"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// findBytes names the files below a directory that hold some bytes.
func findBytes(t *testing.T, dir, what string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(what)) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// secrets are payloads of all kinds, each with what must not be found of it.
const (
	smallSecret  = "hunter2-the-small-one"
	largeSecret  = "swordfish-the-large-one"
	loggedSecret = "rosebud-the-logged-one"
	importSecret = "opensesame-the-imported-one"
)

// haveSecrets stores payloads in every way that there is: small and large, on branches, overwritten, forgotten, merged, imported,
// in the log, under a request id; and lets overlays be made of them.
func haveSecrets(t *testing.T, h *host.Host, c operator.Server) {
	t.Helper()
	s := h.Memory()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	store := func(branch, key, value string) {
		t.Helper()
		raw, err := json.Marshal(value)
		ok(err)
		_, err = server.As(s, "a").Store(t.Context(), memory.Location{Branch: branch}, []memory.Item{{Key: key, Value: raw, Tags: []string{"private"}}},
			memory.Write{RequestID: fmt.Sprint(branch, key, len(value))})
		ok(err)
	}
	store("", "small", smallSecret)
	store("", "large", strings.Repeat(largeSecret+" ", 3000))
	_, err := server.As(s, "").Append(t.Context(), memory.Location{}, "said", json.RawMessage(`"`+loggedSecret+`"`), memory.Write{})
	ok(err)
	_, err = operator.Call(t.Context(), c, operator.Import, operator.ImportRequest{Memories: []operator.Memory{{Key: "imported", Value: json.RawMessage(`"` + importSecret + `"`)}}})
	ok(err)
	parent := ""
	for i := range 20 {
		name := fmt.Sprint("deep", i)
		_, err := server.As(s, "").Fork(t.Context(), parent, name, memory.AsOf{}, memory.Write{})
		ok(err)
		parent = name
	}
	store(parent, "small", smallSecret+" again")
	store("", "elsewhere", "kept")
	_, err = server.As(s, "").Merge(t.Context(), memory.Merge{Source: parent, Target: "default"}, memory.Write{})
	ok(err)
	_, err = server.As(s, "").Forget(t.Context(), memory.Location{}, []string{"small"}, memory.Write{})
	ok(err)
	ok(s.WaitIdle(t.Context()))
}

func TestAPurgedPayloadIsInNoFileAndInNoLaterIncrement(t *testing.T) {
	t.Parallel()
	dir, safe := t.TempDir(), t.TempDir()
	log, err := owner.OpenLog(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	h, err := host.Open(t.Context(), host.Options{Dir: dir, Version: "test", Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	_, stop := server.Serve(t, h, host.Listen{})
	c := server.Operator(t, dir)
	from := func(ctx context.Context, since backup.Base, w io.Writer) error {
		return operator.Receive(ctx, c, operator.Backup, operator.BackupRequest{Since: since}, w)
	}
	haveSecrets(t, h, c)
	if _, err := backup.Full(t.Context(), safe, from, time.Now()); err != nil {
		t.Fatal(err)
	}
	if len(findBytes(t, dir, smallSecret)) == 0 || len(findBytes(t, dir, largeSecret)) == 0 || len(findBytes(t, dir, loggedSecret)) == 0 || len(findBytes(t, dir, importSecret)) == 0 {
		t.Fatal("the payloads are not there before")
	}
	for _, p := range []operator.PurgeRequest{
		{Request: purge.Request{Key: "small"}}, {Request: purge.Request{Key: "large"}}, {Request: purge.Request{Key: "imported"}}, {Request: purge.Request{Event: 1}},
	} {
		done, err := operator.Call(t.Context(), c, operator.Purge, p)
		if err != nil || len(done.Erased) == 0 {
			t.Fatalf("Purge(%+v) = %v (%v), want something erased", p, done, err)
		}
	}
	part, err := backup.Increment(t.Context(), safe, from, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	fresh := filepath.Join(t.TempDir(), "data")
	if _, err := space.Directory(fresh).Restore(t.Context(), safe, datadir.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	increment := t.TempDir()
	data, err := os.ReadFile(filepath.Join(safe, part.File))
	if err := errors.Join(err, os.WriteFile(filepath.Join(increment, "part"), data, 0o600)); err != nil {
		t.Fatal(err)
	}
	v, err := operator.Query(t.Context(), c, operator.Verify)
	if err != nil || len(v.Findings) > 0 || v.Events == 0 {
		t.Errorf("afterwards: %+v (%v)", v, err)
	}
	none := func(when string) {
		t.Helper()
		for _, secret := range []string{smallSecret, largeSecret, loggedSecret, importSecret} {
			for name, where := range map[string]string{"the directory": dir, "the increment": increment, "what was restored": fresh} {
				if found := findBytes(t, where, secret); len(found) > 0 {
					t.Errorf("%s: %s is in %s: %v", when, secret, name, found)
				}
			}
		}
	}
	none("while the server runs")
	if err := errors.Join(stop(), h.Close()); err != nil {
		t.Fatal(err)
	}
	none("after it was stopped")
}

func TestAPurgeDoesNotOverlookWhatARepairSetAside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := server.Open(t, host.Options{Dir: dir})
	server.Serve(t, h, host.Listen{})
	c := server.Operator(t, dir)
	haveSecrets(t, h, c)
	aside := filepath.Join(dir, "set-aside", "20260101-000000")
	if err := errors.Join(os.MkdirAll(aside, 0o700), os.WriteFile(filepath.Join(aside, "alcove.db"), []byte("…"+smallSecret), 0o600)); err != nil {
		t.Fatal(err)
	}
	_, err := operator.Call(t.Context(), c, operator.Purge, operator.PurgeRequest{Request: purge.Request{Key: "small"}})
	if err == nil || !strings.Contains(err.Error(), "--set-aside") {
		t.Errorf("it does not say that there is more: %v", err)
	}
	if len(findBytes(t, aside, smallSecret)) == 0 {
		t.Error("it was removed without being asked for")
	}
	_, err = operator.Call(t.Context(), c, operator.Purge, operator.PurgeRequest{Request: purge.Request{Key: "small"}, SetAside: true})
	if found := findBytes(t, dir, smallSecret); err != nil || len(found) > 0 {
		t.Errorf("it is still in %v (%v)", found, err)
	}
}
