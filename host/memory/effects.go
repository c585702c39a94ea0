package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/alcove-memory/alcove/host/memory/effect"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// Effects returns the effects of a request. Before each happens, it is kept under the request's id for as long as an answer,
// so that the request, sent again after a crash, is not executed twice.
func (a *Access) Effects(w Write) *effect.Ledger {
	if w.RequestID == "" {
		return effect.New(nil)
	}
	m := &requestMark{space: a.space, key: answerKey(a.sign(w))}
	return effect.Resume(m.note, m.load)
}

// requestMark keeps the effects of a request in the place of its answer.
type requestMark struct {
	space   *Space
	key     store.Key
	version uint64 // of the present record; 0: none
}

// load reads what an earlier attempt kept.
func (m *requestMark) load(ctx context.Context) ([]string, error) {
	b := m.space.catalogue.System()
	if b == nil {
		return nil, nil
	}
	found, err := m.space.engine.GetAt(ctx, b.Lineage, []store.Key{m.key})
	if err != nil || !found[0].Exists() {
		return nil, m.space.translate("look up the request", err)
	}
	m.version = found[0].Version
	var r record.Answer
	if err := json.Unmarshal(found[0].Value, &r); err != nil {
		return nil, fmt.Errorf("read what the request did before: %w", err)
	}
	if r.Expires <= m.space.clock().UnixMicro() {
		return nil, nil
	}
	return r.Sent, nil
}

// note commits the list. A concurrent execution of the same request is a conflict.
func (m *requestMark) note(ctx context.Context, list []string) error {
	b, err := m.space.systemBranch(ctx)
	if err != nil {
		return err
	}
	w := store.Write{Branch: b.ID, Key: m.key, Delete: len(list) == 0}
	if !w.Delete {
		if w.Value, err = json.Marshal(record.Answer{Sent: list, Expires: m.space.clock().Add(systemKept).UnixMicro()}); err != nil {
			return err
		}
	}
	expect := store.Expectation{Lineage: b.Lineage, Key: m.key, Version: m.version}
	done, err := m.space.commit(ctx, b, store.Batch{Writes: []store.Write{w}, Expect: []store.Expectation{expect}}, nil, Caller{})
	if errors.Is(err, store.ErrConflict) {
		return conflict("the same request is being carried out already: wait for that")
	}
	if err != nil {
		return m.space.translate("note what is about to be sent", err)
	}
	if m.version = done.Version; w.Delete {
		m.version = 0
	}
	return nil
}
