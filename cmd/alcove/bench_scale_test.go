package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/bench/scale"
	"github.com/alcove-memory/alcove/host/daemon/owner"
)

// benchOf is a bench of this program, without its slow parts.
func benchOf(t *testing.T, dir string, sizes ...int) scale.Bench {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	texts, err := scale.Words(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopOwner(t, filepath.Join(dir, "plain")) })
	return scale.Bench{Program: scale.Program{Path: self, Env: []string{asMain + "=1"}}, Dir: dir, Texts: texts, Seed: 1, Batch: 70, Sizes: sizes, Calls: 1,
		Skip: []string{"start", "backup", "verify", "conversations"}}
}

func TestABenchThatWasInterruptedGoesOn(t *testing.T) {
	dir := t.TempDir()
	b := benchOf(t, dir, 300, 1500)
	ctx, interrupt := context.WithCancel(t.Context())
	b.Progress = func(p scale.Progress) {
		if p.Doing == "storing 1,500" {
			interrupt()
		}
	}
	if _, err := b.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
	if err := owner.CheckFree(filepath.Join(dir, "plain")); err != nil {
		t.Errorf("after the interrupt: %v", err)
	}
	done := map[string]bool{}
	b.Progress, b.Resume = func(p scale.Progress) { done[p.Doing] = true }, true
	b.Measured = func(ctx context.Context, size *scale.Size, s *scale.Server) error {
		raw, _, err := s.Call(ctx, "memory_search", map[string]any{"k": 1, "namespace": []string{"default", "notes"}})
		var list struct{ Total int }
		if err == nil {
			err = json.Unmarshal(raw, &list)
		}
		if err == nil && list.Total != size.N {
			t.Errorf("%d memories are stored of %d", list.Total, size.N)
		}
		return err
	}
	r, err := b.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Sizes) != 2 || r.Sizes[0].N != 300 || r.Sizes[1].N != 1500 || r.Sizes[1].Store.PerSecond == 0 || r.Program == "" {
		t.Errorf("the report is %+v", r)
	}
	if done["storing 300"] || done["calling at 300"] || !done["storing 1,500"] {
		t.Errorf("resumed, it did %v", done)
	}
}

func TestAnInterruptOfTheBenchSaysHowToGoOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "scale")
	cmd := program(t, "unused", "bench", "scale", "--n", "300000", "--dir", dir, "--skip", "conversations")
	cmd.Stderr = nil
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopOwner(t, filepath.Join(dir, "plain")) })
	var lines []string
	for s := bufio.NewScanner(said); s.Scan(); {
		if lines = append(lines, s.Text()); len(lines) == 1 {
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	err = cmd.Wait()
	if last := strings.Join(lines, "\n"); err == nil || !strings.Contains(last, "storing 300,000, about ") || !strings.Contains(last, "continue with the same flags and --resume --dir "+dir) {
		t.Errorf("the bench ended with %v, want how to go on: %s", err, last)
	}
	if err := owner.CheckFree(filepath.Join(dir, "plain")); err != nil {
		t.Errorf("after the interrupt: %v", err)
	}
	var kept struct {
		Stored map[string]struct{ Memories int }
	}
	raw, err := os.ReadFile(filepath.Join(dir, "scale.json"))
	if err == nil {
		err = json.Unmarshal(raw, &kept)
	}
	if n := kept.Stored["plain"].Memories; err != nil || n == 0 || n >= 300000 {
		t.Errorf("%v: %d memories are stored, want some of 300000, by the state %s", err, n, raw)
	}
}
