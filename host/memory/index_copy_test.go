package memory

import (
	"context"
	"testing"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

func TestIndexesAreInBackupsFullAndIncremental(t *testing.T) {
	if testing.Short() {
		t.Skip("it works through much data on one goroutine: the tests without -short run it")
	}
	m := newIndexModel(t, 42)
	m.declare()
	for range 60 {
		m.write()
	}
	settled(t, m.s)
	dir := t.TempDir()
	full := m.copyTo(dir, 0)
	if _, err := m.s.Fork(t.Context(), "", "later", AsOf{}, Write{}); err != nil {
		t.Fatal(err)
	}
	m.branches = append(m.branches, "later")
	for range 30 {
		m.write()
	}
	m.purge() // the indexes are replaced
	settled(t, m.s)
	m.copyTo(dir, full)
	m.close()
	m.dir = dir
	m.open()
	m.s.DeclareIndexes(m.c)
	m.answered = 0
	for _, branch := range m.branches {
		for range 20 {
			m.compare(stage(t, m.s, branch), branch+" restored")
		}
	}
	if m.answered < 20 {
		t.Errorf("an index answered %d questions", m.answered)
	}
	m.close()
	if faults, err := (bolt.Driver{}).Examine(dir); err != nil || len(faults) > 0 {
		t.Errorf("the restored file has %v, %v", faults, err)
	}
}

// copyTo adds what is newer than a version to a copy, and returns its version.
func (m *indexModel) copyTo(dir string, since uint64) uint64 {
	m.t.Helper()
	ctx := context.Background()
	head, err := m.engine.Head(ctx)
	if err != nil {
		m.t.Fatal(err)
	}
	m.pieces = append(m.pieces, nil)
	last := len(m.pieces) - 1
	err = m.engine.Dump(ctx, since, head.Version, func(p store.Piece) error {
		m.pieces[last] = append(m.pieces[last], p)
		return nil
	})
	if err != nil {
		m.t.Fatal(err)
	}
	if since == 0 {
		return head.Version
	}
	l, err := bolt.NewLoader(dir)
	if err != nil {
		m.t.Fatal(err)
	}
	for _, dump := range m.pieces {
		for _, p := range dump {
			if err := l.Add(p); err != nil {
				m.t.Fatalf("load: %v", err)
			}
		}
	}
	if err := l.Finish(ctx); err != nil {
		m.t.Fatal(err)
	}
	return head.Version
}
