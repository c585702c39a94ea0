package storage_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/datadir"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// What families keep: for all branches, as configuration and jobs are, and on one.
var (
	ofFamilies = memory.Collection{Name: "_config", PerSpace: true}
	ofAJob     = memory.Collection{Name: "_jobs", PerSpace: true}
	onABranch  = memory.Collection{Name: "notes/pages", Fields: []string{"text"}}
)

// keep commits what families keep, and one memory, in one commit with an answer.
func keep(t *testing.T, h *host.Host, n string) {
	t.Helper()
	stage, err := server.Owner(h, "family:notes").Stage(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []memory.Collection{ofFamilies, ofAJob, onABranch} {
		if err := stage.PutRecord(t.Context(), c, "_", n, json.RawMessage(`{"text":"lantern `+n+`"}`), nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := stage.Put(t.Context(), "", []memory.Item{{Key: n, Value: json.RawMessage(`"tea"`)}}); err != nil {
		t.Fatal(err)
	}
	c := memory.Commit{Write: memory.Write{Agent: "a", RequestID: n}, Operation: "tool", Content: json.RawMessage(`1`), Answer: json.RawMessage(`"answered"`)}
	if _, err := stage.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

// wantKept checks that a data directory has what keep kept, and verifies.
func wantKept(t *testing.T, dir string, names ...string) {
	t.Helper()
	h, err := host.Open(t.Context(), host.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	stage, err := server.Owner(h, "").Stage(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []memory.Collection{ofFamilies, ofAJob, onABranch} {
		found, err := stage.Records(t.Context(), c, "_", names)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range found {
			if r == nil || string(r.Value) != `{"text":"lantern `+names[i]+`"}` {
				t.Errorf("%s %s is %+v", c.Name, names[i], r)
			}
		}
	}
	hits, _, err := stage.SearchRecords(t.Context(), onABranch, memory.Search{Text: "lantern", Namespaces: []string{"_"}})
	if err != nil || len(hits) != len(names) {
		t.Errorf("a search finds %d, %v", len(hits), err)
	}
	v, err := h.Memory().Verify(t.Context())
	if err != nil || len(v.Findings) > 0 {
		t.Errorf("verify: %+v, %v", v.Findings, err)
	}
}

func TestABundleCarriesWhatFamiliesKeep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := server.Open(t, host.Options{Dir: dir})
	_, stop := server.Serve(t, h, host.Listen{})
	keep(t, h, "one")
	var bundle bytes.Buffer
	if err := operator.Receive(t.Context(), server.Operator(t, dir), operator.Export, operator.ExportRequest{}, &bundle); err != nil {
		t.Fatal(err)
	}
	stop()
	h.Close()
	wantKept(t, dir, "one")
	fresh := filepath.Join(t.TempDir(), "data")
	if v, err := space.Directory(fresh).Import(t.Context(), &bundle, nil); err != nil || len(v.Findings) > 0 {
		t.Fatalf("Import = %+v, %v, want no findings", v, err)
	}
	wantKept(t, fresh, "one")
}

func TestABackupAndItsIncrementsCarryWhatFamiliesKeep(t *testing.T) {
	t.Parallel()
	dir, safe := t.TempDir(), t.TempDir()
	h := server.Open(t, host.Options{Dir: dir})
	server.Serve(t, h, host.Listen{})
	c := server.Operator(t, dir)
	from := func(ctx context.Context, since backup.Base, w io.Writer) error {
		return operator.Receive(ctx, c, operator.Backup, operator.BackupRequest{Since: since}, w)
	}
	keep(t, h, "one")
	if _, err := backup.Full(t.Context(), safe, from, time.Now()); err != nil {
		t.Fatal(err)
	}
	keep(t, h, "two")
	if _, err := backup.Increment(t.Context(), safe, from, time.Now()); err != nil {
		t.Fatal(err)
	}
	fresh := filepath.Join(t.TempDir(), "data")
	if v, err := space.Directory(fresh).Restore(t.Context(), safe, datadir.RestoreOptions{}); err != nil || len(v.Findings) > 0 {
		t.Fatalf("Restore = %+v, %v, want no findings", v, err)
	}
	wantKept(t, fresh, "one", "two")
}

func TestARepairKeepsWhatFamiliesKeep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := server.Open(t, host.Options{Dir: dir})
	keep(t, h, "one")
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "alcove.db")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.ReplaceAll(data, []byte("counters"), []byte("coun\x00ers")), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := space.Directory(dir).Repair(t.Context(), datadir.RepairOptions{}); err != nil {
		t.Fatal(err)
	}
	wantKept(t, dir, "one")
}

func TestWhatIsTheSameOnAllBranchesIsItselfNoBranchAndInNoComparison(t *testing.T) {
	t.Parallel()
	h := server.Open(t, host.Options{Dir: t.TempDir()})
	space := h.Memory()
	if _, err := server.As(space, "").Fork(t.Context(), "", "draft", memory.AsOf{}, memory.Write{}); err != nil {
		t.Fatal(err)
	}
	keep(t, h, "one")
	const hidden = "_system"
	_, stored := server.As(space, "").Store(t.Context(), memory.Location{Branch: hidden}, []memory.Item{{Key: "k", Value: json.RawMessage(`1`)}}, memory.Write{})
	_, _, read := server.As(space, "").List(t.Context(), memory.Location{Branch: hidden}, "", "", memory.AsOf{}, 10)
	_, forked := server.As(space, "").Fork(t.Context(), hidden, "copy", memory.AsOf{}, memory.Write{})
	_, made := server.As(space, "").Fork(t.Context(), "", hidden, memory.AsOf{}, memory.Write{})
	_, compared := server.As(space, "").Diff(t.Context(), memory.DiffQuery{Source: hidden, Target: "draft"})
	_, merged := server.As(space, "").Merge(t.Context(), memory.Merge{Source: hidden, Target: "draft"}, memory.Write{})
	_, fed := server.As(space, "").Feed(t.Context(), hidden, nil, 0, 10)
	_, staged := server.As(space, "").Stage(t.Context(), hidden)
	for what, err := range map[string]error{"store": stored, "list": read, "fork": forked, "fork to": made, "diff": compared, "merge": merged,
		"feed": fed, "stage": staged, "delete": server.As(space, "").Delete(t.Context(), memory.Deletion{Branch: hidden, Force: true, Final: true}, memory.Write{})} {
		if err == nil {
			t.Errorf("%s reaches it", what)
		}
	}
	d, err := server.As(space, "").Diff(t.Context(), memory.DiffQuery{Source: memory.Default, Target: "draft"})
	if err != nil || len(d.Differences) != 1 || d.Differences[0].Collection != "" { // no family here declares the others
		t.Errorf("the comparison shows %+v, %v, and not the memory alone", d.Differences, err)
	}
	branches, err := server.As(space, "").Branches(t.Context())
	if err != nil || len(branches) != 2 {
		t.Errorf("the branches are %+v, %v", branches, err)
	}
	if m, err := server.As(space, "").Merge(t.Context(), memory.Merge{Source: memory.Default, Target: "draft"}, memory.Write{}); err != nil || len(m.Applied) != 1 {
		t.Errorf("the merge brings %+v, %v, and not the memory alone", m.Applied, err)
	}
	stage, err := server.As(space, "").Stage(t.Context(), "draft")
	if err != nil {
		t.Fatal(err)
	}
	if found, err := stage.Records(t.Context(), onABranch, "_", []string{"one"}); err != nil || found[0] == nil {
		t.Errorf("the merge brings no record of the branch: %+v, %v", found, err)
	}
}
