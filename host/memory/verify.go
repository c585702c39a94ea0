package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

// Finding is something wrong with a space.
type Finding struct {
	What string `json:"what"`
	Do   string `json:"do"`
}

// Verified is what was looked at, and what was found.
type Verified struct {
	Branches int       `json:"branches"`
	Versions int       `json:"versions"`
	Events   int       `json:"events"` // whose chains were checked, on each branch that sees them
	Findings []Finding `json:"findings"`
}

// mostFindings is how many are listed.
const mostFindings = 100

func (v *Verified) add(what, do string) {
	if len(v.Findings) < mostFindings {
		v.Findings = append(v.Findings, Finding{what, do})
	}
}

// What to do about a finding.
const (
	doRepair  = "stop the server and run: alcove repair"
	doRestore = "restore a backup: alcove restore; nothing else brings back what the log should hold"
	doRestart = "restart the server, which rebuilds the index"
)

// Verify reads everything: the store against itself, the catalogue of branches against what is stored, the chains of
// all logs, and the index against the data. It changes nothing, but an index that is wrong is not saved any more.
func (s *Space) Verify(ctx context.Context) (Verified, error) {
	v := Verified{Findings: []Finding{}}
	if err := s.Ready(ctx); err != nil {
		return v, err
	}
	for _, err := range flatten(s.engine.Check(ctx)) {
		v.add("store: "+err.Error(), doRepair)
	}
	if err := ctx.Err(); err != nil {
		return v, err
	}
	for _, b := range s.catalogue.kept() {
		v.Branches++
		namespaces, err := s.verifyEntries(ctx, b, &v)
		if err != nil {
			return v, err
		}
		if s.stillLive(b) {
			s.verifyView(ctx, b, namespaces, &v)
		}
	}
	return v, ctx.Err()
}

func flatten(err error) []error {
	if err == nil {
		return nil
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		return many.Unwrap()
	}
	return []error{err}
}

// askedFor tells of a branch's versions, key by key and the newest first, which a view may ask for: others are kept for
// histories only, and no index has them.
func (s *Space) askedFor(ctx context.Context, b *branch) (func(store.Entry) bool, error) {
	_, _, err := s.engine.Changes(ctx, b.id, 0, 1, 1) // which tells how far back the branch is kept
	floor := uint64(0)
	if trimmed, ok := asTrimmed(err); ok {
		floor = trimmed.Floor.Version
	} else if err != nil {
		return nil, s.translate("verify branch "+b.Name, err)
	}
	pins := s.catalogue.pins(b.id)
	var key store.Key
	newer := store.Latest
	return func(e store.Entry) bool {
		if e.Key != key {
			key, newer = e.Key, store.Latest
		}
		until := newer
		newer = e.Version
		return until > floor || slices.ContainsFunc(pins, func(pin uint64) bool { return e.Version <= pin && pin < until })
	}, nil
}

// verifyEntries decodes every version that was written on a branch, and lists the namespaces there are.
func (s *Space) verifyEntries(ctx context.Context, b *branch, v *Verified) (namespaces []string, err error) {
	var cursor store.Cursor
	var docs []search.Doc
	upTo := s.applied.upTo() // what is newer may not have reached the index
	asked, err := s.askedFor(ctx, b)
	if err != nil {
		v.add(err.Error(), doRepair)
		return nil, ctx.Err()
	}
	for {
		page, next, err := s.engine.Versions(ctx, store.Lineage{{Branch: b.id, At: store.Latest}}, store.Range{}, cursor, fillPage)
		if err != nil {
			v.add(fmt.Sprintf("branch %s cannot be read: %v", b.Name, err), doRepair)
			return namespaces, ctx.Err()
		}
		for _, e := range page {
			v.Versions++
			if !slices.Contains(namespaces, e.Namespace) {
				namespaces = append(namespaces, e.Namespace)
			}
			d, ok, err := doc(e)
			if err != nil {
				v.add(fmt.Sprintf("branch %s: %v", b.Name, err), doRepair)
			}
			if isAsked := asked(e); ok && isAsked && e.Version <= upTo {
				docs = append(docs, d)
			}
		}
		if n := s.index.Missing(docs...); n > 0 && s.stillLive(b) {
			s.findWrong(ctx, v, fmt.Sprintf("branch %s: %d versions are not in the index as they are stored", b.Name, n))
		}
		docs = docs[:0]
		if next == "" {
			return namespaces, nil
		}
		cursor = next
	}
}

// verifyView checks what a branch sees: its logs, and what a search would look at.
func (s *Space) verifyView(ctx context.Context, b *branch, namespaces []string, v *Verified) {
	for _, namespace := range namespaces {
		n, err := s.VerifyLog(ctx, Place{Branch: b.Name, Namespace: namespace})
		v.Events += n
		if err != nil && ctx.Err() == nil {
			v.add(fmt.Sprintf("branch %s, namespace %s: %v", b.Name, namespace, err), doRestore)
		}
	}
	now := view{branch: b, lineage: b.lineage, now: s.clock()}
	indexed, err := s.index.Count(ctx, search.View{Lineage: now.lineage, Collections: []string{memories}, Now: now.now})
	if err != nil {
		v.add(fmt.Sprintf("branch %s: the index cannot be asked: %v", b.Name, err), doRestart)
		return
	}
	stored, err := s.countActive(ctx, now)
	if err == nil && indexed != stored && s.quietSince(ctx, now) {
		s.findWrong(ctx, v, fmt.Sprintf("branch %s: the index has %d memories and the store %d", b.Name, indexed, stored))
	}
}

// findWrong is for an index that is not what it should be. The next start makes it anew.
func (s *Space) findWrong(ctx context.Context, v *Verified, what string) {
	v.add(what, doRestart)
	if err := s.distrustIndex(ctx); err != nil {
		s.logger.Error("the saved search index, which is wrong, could not be dropped", "error", err)
	}
}

// countActive counts the memories that searches look at, by reading them.
func (s *Space) countActive(ctx context.Context, v view) (n int, err error) {
	var cursor store.Cursor
	for {
		page, next, err := s.engine.ScanAt(ctx, v.lineage, store.Range{}, cursor, fillPage)
		if err != nil {
			return n, err
		}
		for _, e := range page {
			if e.Collection != memories {
				continue
			}
			m, err := v.present(e)
			if err != nil {
				return n, err
			}
			if m != nil && m.State == Active {
				n++
			}
		}
		if next == "" {
			return n, nil
		}
		cursor = next
	}
}

// quietSince reports whether nothing was written on a branch since a view's instant: otherwise counts may differ.
func (s *Space) quietSince(ctx context.Context, v view) bool {
	at, err := s.engine.VersionAt(ctx, v.now)
	if err != nil {
		return false
	}
	changes, _, err := s.engine.Changes(ctx, v.branch.id, at.Version, store.Latest, 1)
	return err == nil && len(changes) == 0
}
