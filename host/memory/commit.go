package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// commit writes to a branch, and indexes the writes before it returns. records are the decoded records of the first writes, if known.
func (s *Space) commit(ctx context.Context, b *lineage.Branch, batch store.Batch, records []*record.Record, by Caller) (store.Committed, error) {
	s.writing.RLock()
	defer s.writing.RUnlock()
	return s.commitLocked(ctx, b, batch, records, by)
}

// commitLocked is commit for a caller that holds writing.
func (s *Space) commitLocked(ctx context.Context, b *lineage.Branch, batch store.Batch, records []*record.Record, by Caller) (store.Committed, error) {
	if IsProposal(b.Name) && writesTo(b.ID, batch) {
		return store.Committed{}, unchanging(b.Name)
	}
	if b.ReadOnly && writesTo(b.ID, batch) {
		return store.Committed{}, &Error{Code: Denied, Message: fmt.Sprintf("branch %q is read-only: write to another branch", b.Name)}
	}
	batch, err := s.signed(batch, b.ID, b.Name, by)
	if err != nil {
		return store.Committed{}, err
	}
	batch.Expect = append(batch.Expect, b.Alive())
	return s.upkeep.Commit(ctx, batch, records)
}

// writesTo reports whether a batch changes a branch: a stage on one may write only what all branches share.
func writesTo(b store.BranchID, batch store.Batch) bool {
	return slices.ContainsFunc(batch.Writes, func(w store.Write) bool { return w.Branch == b }) ||
		slices.ContainsFunc(batch.Appends, func(a store.Append) bool { return a.Lineage[0].Branch == b })
}

// signed returns a batch with a note on its author, if there is a call or a family; otherwise the writes name the author. It fails if the
// author's key was revoked or has expired meanwhile: all commits of callers pass through here.
func (s *Space) signed(batch store.Batch, b store.BranchID, name string, by Caller) (_ store.Batch, err error) {
	if by.Key != "" && s.checkKey != nil {
		if err := s.checkKey(by.Key); err != nil {
			return batch, err
		}
	}
	if by.Call == "" && by.Family == "" && by.Generation == 0 {
		return batch, nil
	}
	batch.Note, err = record.Note{Branch: b, Name: name, Agent: by.Agent, Client: by.Client, Session: by.Session, Family: by.Family, Call: by.Call,
		Generation: by.Generation, Account: by.Account}.Encode()
	if err != nil {
		return batch, fmt.Errorf("note whose a commit is: %w", err)
	}
	return batch, nil
}
