package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

// Finding is something wrong with a space.
type Finding struct {
	What string `json:"what"`
	Do   string `json:"do"`
}

// Verified counts what was checked, and lists what is wrong.
type Verified struct {
	Branches int       `json:"branches"`
	Versions int       `json:"versions"`
	Events   int       `json:"events"` // in checked chains, once for each branch that sees them
	Findings []Finding `json:"findings"`
}

// mostFindings is how many findings are listed.
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
	doAgain   = "run alcove verify again"
)

// Verify reads everything: the store against itself, the catalogue of branches against what is stored, the chains of
// all logs, and the index against the data, each at one version, whatever is written meanwhile. It changes nothing, but an
// index that is wrong is not saved any more.
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
	for _, b := range s.catalogue.Kept() {
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

// askedFor returns whether a view may read a version of a branch, to be called key by key, the newest version first. Other versions
// are kept for histories only, and are not indexed.
func (s *Space) askedFor(ctx context.Context, b *lineage.Branch) (func(store.Entry) bool, error) {
	floor, err := s.ownFloor(ctx, b.ID)
	if err != nil {
		return nil, s.translate("verify branch "+b.Name, err)
	}
	pins := s.catalogue.Pins(b.ID)
	var key store.Key
	newer := store.Latest
	return func(e store.Entry) bool {
		if e.Key != key {
			key, newer = e.Key, store.Latest
		}
		until := newer
		newer = e.Version
		return until > floor.Version || slices.ContainsFunc(pins, func(pin uint64) bool { return e.Version <= pin && pin < until })
	}, nil
}

// verifyEntries decodes every version that was written on a branch, and lists the namespaces there are.
func (s *Space) verifyEntries(ctx context.Context, b *lineage.Branch, v *Verified) (namespaces []string, err error) {
	var docs []search.Doc
	missing := 0
	upTo := s.applied.upTo() // newer versions may not have reached the index
	asked, err := s.askedFor(ctx, b)
	if err != nil {
		v.add(err.Error(), doRepair)
		return nil, ctx.Err()
	}
	for page, err := range store.Pages(ctx, s.engine.Versions, store.Lineage{{Branch: b.ID, At: store.Latest}}, store.Range{}, fillPage) {
		if err != nil {
			v.add(fmt.Sprintf("branch %s cannot be read: %v", b.Name, err), doRepair)
			return namespaces, ctx.Err()
		}
		for _, e := range page {
			v.Versions++
			if !slices.Contains(namespaces, e.Namespace) {
				namespaces = append(namespaces, e.Namespace)
			}
			d, ok, err := record.Doc(e)
			if err != nil {
				v.add(fmt.Sprintf("branch %s: %v", b.Name, err), doRepair)
			}
			if isAsked := asked(e); ok && isAsked && e.Version <= upTo {
				docs = append(docs, d)
			}
		}
		if missing, err = s.countMissing(ctx, b, docs, missing); err != nil {
			return namespaces, err
		}
		docs = docs[:0]
	}
	if missing > 0 {
		s.findWrong(ctx, v, fmt.Sprintf("branch %s: %s versions are not in the index as they are stored", b.Name, atLeast(missing, mostMissing)))
	}
	return namespaces, nil
}

// mostMissing is how many versions of a branch are counted that an index does not have.
const mostMissing = 1000

// atLeast formats a count that stops at most.
func atLeast(n, most int) string {
	if n < most {
		return fmt.Sprint(n)
	}
	return fmt.Sprint(most, " or more")
}

// countMissing adds to counted how many of some versions the index lacks. A version may have been trimmed or purged since it was read,
// so each missing one is checked again.
func (s *Space) countMissing(ctx context.Context, b *lineage.Branch, docs []search.Doc, counted int) (int, error) {
	if s.index.Missing(docs...) == 0 {
		return counted, nil
	}
	var last store.Key
	for _, d := range docs {
		key := store.Key{Namespace: d.Namespace, Collection: d.Collection, Name: d.Key}
		if counted >= mostMissing {
			break
		}
		if key == last || s.index.Missing(d) == 0 {
			continue
		}
		last = key
		n, err := s.missingOf(ctx, b, key)
		if err != nil {
			return counted, err
		}
		counted += n
	}
	return min(counted, mostMissing), nil
}

// missingOf counts the versions of a key on a branch that the index lacks and should have. It locks out trims, purges and reclaims.
func (s *Space) missingOf(ctx context.Context, b *lineage.Branch, key store.Key) (n int, err error) {
	s.branching.Lock()
	defer s.branching.Unlock()
	s.writing.RLock()
	defer s.writing.RUnlock()
	if now := s.catalogue.ByID(b.ID); now == nil || now.Reclaimed {
		return 0, nil
	}
	upTo := s.applied.upTo()
	asked, err := s.askedFor(ctx, b)
	if err != nil {
		return 0, err
	}
	only := store.Range{Namespace: key.Namespace, Collection: key.Collection, Prefix: key.Name, Exact: true}
	for e, err := range store.Entries(ctx, s.engine.Versions, store.Lineage{{Branch: b.ID, At: store.Latest}}, only, fillPage) {
		if err != nil {
			return n, s.translate("verify branch "+b.Name, err)
		}
		if d, ok, err := record.Doc(e); asked(e) && ok && err == nil && e.Version <= upTo {
			n += s.index.Missing(d)
		}
	}
	return n, nil
}

// verifyView checks what a branch sees: the chains of its logs, and the number of memories in the index.
func (s *Space) verifyView(ctx context.Context, b *lineage.Branch, namespaces []string, v *Verified) {
	for _, namespace := range namespaces {
		n, err := s.As(Caller{Rights: FullRights()}).VerifyLog(ctx, Location{Branch: b.Name, Namespace: namespace})
		v.Events += n
		if !s.stillLive(b) {
			return
		}
		if err != nil && ctx.Err() == nil {
			v.add(fmt.Sprintf("branch %s, namespace %s: %v", b.Name, namespace, err), doRestore)
		}
	}
	if err := s.compareCounts(ctx, b, v); err != nil && ctx.Err() == nil && s.stillLive(b) {
		v.add(fmt.Sprintf("branch %s: the index cannot be compared with the store: %v", b.Name, err), doAgain)
	}
}

const (
	compareAttempts = 20          // at a comparison that a trim or purge interrupts
	compareWithin   = time.Minute // for a commit that has not reached the index
)

// compareCounts compares how many memories the index and the store have on a branch, at a version that the index has reached.
func (s *Space) compareCounts(ctx context.Context, b *lineage.Branch, v *Verified) error {
	floor := uint64(0)
	for range compareAttempts {
		purges := s.purges.Load()
		waiting, cancel := context.WithTimeout(ctx, compareWithin)
		at, err := s.indexedUpTo(waiting, floor)
		cancel()
		if err != nil {
			return err
		}
		then := view{branch: b, lineage: b.Lineage.At(at), now: s.clock()}
		indexed, stored, err := s.counts(ctx, then)
		if trimmed, ok := asTrimmed(err); ok {
			floor = trimmed.Floor.Version
			continue
		}
		if err != nil || indexed == stored || !s.stillLive(b) {
			return err
		}
		if s.purging(purges) {
			continue
		}
		s.findWrong(ctx, v, fmt.Sprintf("branch %s: at version %d the index has %d memories and the store %d", b.Name, at, indexed, stored))
		return nil
	}
	return errors.New("versions were dropped all the time")
}

// counts are how many memories of a view the index and the store have. The index is read first, so that a trim in between is an error
// of the store.
func (s *Space) counts(ctx context.Context, v view) (indexed, stored int, err error) {
	indexed, err = s.index.Count(ctx, search.View{Lineage: v.lineage, Collections: []string{memories}, Now: v.now})
	if err == nil {
		stored, err = s.countPresent(ctx, v)
	}
	return indexed, stored, err
}

// purging reports whether a purge ran at any time since the counter of purges was read, and waits for its end.
func (s *Space) purging(since uint64) bool {
	if since%2 == 0 && s.purges.Load() == since {
		return false
	}
	s.writing.RLock()
	defer s.writing.RUnlock()
	return true
}

// findWrong adds a finding about the index, which the next start rebuilds.
func (s *Space) findWrong(ctx context.Context, v *Verified, what string) {
	v.add(what, doRestart)
	if err := s.distrustIndex(ctx); err != nil {
		s.logger.Error("the saved search index, which is wrong, could not be dropped", "error", err)
	}
}

// countPresent counts the memories of a view by reading them.
func (s *Space) countPresent(ctx context.Context, v view) (n int, err error) {
	for e, err := range store.Entries(ctx, s.engine.ScanAt, v.lineage, store.Range{}, fillPage) {
		if err != nil {
			return n, err
		}
		if e.Collection != memories {
			continue
		}
		m, err := v.present(e)
		if err != nil {
			return n, err
		}
		if m != nil {
			n++
		}
	}
	return n, nil
}
