// Package integrity checks that a space is whole: the store by itself, the catalogue of branches, the logs, and the search index
// against what is stored.
package integrity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

// Engine is the store that is checked.
type Engine interface {
	Check(ctx context.Context) error
	Versions(ctx context.Context, l store.Lineage, r store.Range, c store.Cursor, limit int) ([]store.Entry, store.Cursor, error)
	ScanAt(ctx context.Context, l store.Lineage, r store.Range, c store.Cursor, limit int) ([]store.Entry, store.Cursor, error)
}

// Index is the search index that is compared with the store.
type Index interface {
	// Missing counts those of some versions that the index lacks or has differently.
	Missing(docs ...search.Doc) int
	Count(ctx context.Context, v search.View) (int, error)
}

// Space is what is checked, while others write to it.
type Space struct {
	Engine   Engine
	Index    Index
	Branches *lineage.Catalogue
	Clock    func() time.Time
	// Log checks the part of a log's hash chain that was written on a branch, and counts its events.
	Log func(ctx context.Context, b *lineage.Branch, namespace string) (events int, err error)
	// Floor is the oldest point of a branch, apart from its ancestors, that retention left; zero when nothing was trimmed.
	Floor func(ctx context.Context, b store.BranchID) (store.Point, error)
	// Indexed is a version, from least on, up to which the index has everything. It waits for commits that are under way.
	Indexed func(ctx context.Context, least uint64) (uint64, error)
	// Exclude keeps trims, purges and reclaims of branches out until allow is called.
	Exclude func() (allow func())
	// Purges counts the begins and ends of purges: it is odd while one runs.
	Purges func() uint64
	// RequireRebuild is called when the index is wrong, so that it is not saved any more.
	RequireRebuild func(ctx context.Context)
	// Explain makes an error of the engine one that says what to do next.
	Explain func(doing string, err error) error
}

// Finding is something wrong with a space.
type Finding struct {
	What string `json:"what"`
	Do   string `json:"do"`
}

// Report counts what was checked, and lists what is wrong.
type Report struct {
	Branches int       `json:"branches"`
	Versions int       `json:"versions"`
	Events   int       `json:"events"` // in checked chains
	Findings []Finding `json:"findings"`
}

// pageSize is how many versions are in memory at once.
const pageSize = 2000

// mostFindings is how many findings are listed.
const mostFindings = 100

func (v *Report) add(what, do string) {
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

// Check reads everything once, however many branches see it: each version on the branch on which it was written, deleted branches that
// others descend from included. Each branch is read at one version, whatever is written meanwhile. It changes nothing. Its error is that
// it could not go on; what is wrong is in the report.
func (s Space) Check(ctx context.Context) (Report, error) {
	var ofStore, v Report
	var reading sync.WaitGroup
	reading.Go(func() {
		for _, err := range flatten(s.Engine.Check(ctx)) {
			ofStore.add("store: "+err.Error(), doRepair)
		}
	})
	err := s.checkBranches(ctx, &v)
	reading.Wait()
	all := Report{v.Branches, v.Versions, v.Events, []Finding{}}
	for _, f := range slices.Concat(ofStore.Findings, v.Findings) {
		all.add(f.What, f.Do)
	}
	return all, cmp.Or(err, ctx.Err())
}

// checkBranches checks what is stored of each branch.
func (s Space) checkBranches(ctx context.Context, v *Report) error {
	for _, b := range s.Branches.Kept() {
		v.Branches++
		namespaces, err := s.checkEntries(ctx, b, v)
		if err != nil {
			return err
		}
		if !b.Reclaimed && b.Name != lineage.System {
			s.checkOwn(ctx, b, namespaces, v)
		}
	}
	return nil
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
func (s Space) askedFor(ctx context.Context, b *lineage.Branch) (func(store.Entry) bool, error) {
	floor, err := s.Floor(ctx, b.ID)
	if err != nil {
		return nil, s.Explain("verify branch "+b.Name, err)
	}
	pins := s.Branches.Pins(b.ID)
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

// checkEntries decodes every version that was written on a branch, and lists the namespaces there are. Versions are compared with the index
// while the next ones are read.
func (s Space) checkEntries(ctx context.Context, b *lineage.Branch, v *Report) (namespaces []string, err error) {
	upTo, err := s.Indexed(ctx, 0) // newer versions may not have reached the index
	if err != nil {
		return nil, err
	}
	asked, err := s.askedFor(ctx, b)
	if err != nil {
		v.add(err.Error(), doRepair)
		return nil, ctx.Err()
	}
	c := s.compare(ctx, b)
	for page, err := range store.Pages(ctx, s.Engine.Versions, store.Lineage{{Branch: b.ID, At: store.Latest}}, store.Range{}, pageSize) {
		if err != nil {
			v.add(fmt.Sprintf("branch %s cannot be read: %v", b.Name, err), doRepair)
			break
		}
		docs := make([]search.Doc, 0, len(page))
		for _, e := range page {
			v.Versions++
			if !slices.Contains(namespaces, e.Namespace) {
				namespaces = append(namespaces, e.Namespace)
			}
			d, ok, err := record.Doc(e)
			if err != nil {
				v.add(fmt.Sprintf("branch %s: %v", b.Name, err), doRepair)
			}
			if isAsked := asked(e); ok && isAsked && e.Version <= upTo && b.IsSearched() {
				docs = append(docs, d)
			}
		}
		if !c.add(docs) {
			break
		}
	}
	missing, err := c.end()
	if err == nil && missing > 0 {
		s.findWrong(ctx, v, fmt.Sprintf("branch %s: %s versions are not in the index as they are stored", b.Name, atLeast(missing, mostMissing)))
	}
	return namespaces, cmp.Or(err, ctx.Err())
}

// comparison compares versions of a branch with the index, while others are read.
type comparison struct {
	pages   chan []search.Doc
	ended   chan struct{}
	missing int
	err     error
}

func (s Space) compare(ctx context.Context, b *lineage.Branch) *comparison {
	c := &comparison{pages: make(chan []search.Doc), ended: make(chan struct{})}
	go func() {
		defer close(c.ended)
		for docs := range c.pages {
			if c.missing, c.err = s.countMissing(ctx, b, docs, c.missing); c.err != nil {
				return
			}
		}
	}()
	return c
}

// add adds versions, and reports false after an error.
func (c *comparison) add(docs []search.Doc) bool {
	select {
	case c.pages <- docs:
		return true
	case <-c.ended:
		return false
	}
}

// end waits for the end, and returns how many versions the index lacks.
func (c *comparison) end() (missing int, err error) {
	close(c.pages)
	<-c.ended
	return c.missing, c.err
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
func (s Space) countMissing(ctx context.Context, b *lineage.Branch, docs []search.Doc, counted int) (int, error) {
	if s.Index.Missing(docs...) == 0 {
		return counted, nil
	}
	var last store.Key
	for _, d := range docs {
		key := store.Key{Namespace: d.Namespace, Collection: d.Collection, Name: d.Key}
		if counted >= mostMissing {
			break
		}
		if key == last || s.Index.Missing(d) == 0 {
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
func (s Space) missingOf(ctx context.Context, b *lineage.Branch, key store.Key) (n int, err error) {
	defer s.Exclude()()
	if now := s.Branches.ByID(b.ID); now == nil || now.Reclaimed {
		return 0, nil
	}
	upTo, err := s.Indexed(ctx, 0)
	if err != nil {
		return 0, err
	}
	asked, err := s.askedFor(ctx, b)
	if err != nil {
		return 0, err
	}
	only := store.Range{Namespace: key.Namespace, Collection: key.Collection, Prefix: key.Name, Exact: true}
	for e, err := range store.Entries(ctx, s.Engine.Versions, store.Lineage{{Branch: b.ID, At: store.Latest}}, only, pageSize) {
		if err != nil {
			return n, s.Explain("verify branch "+b.Name, err)
		}
		if d, ok, err := record.Doc(e); asked(e) && ok && err == nil && e.Version <= upTo {
			n += s.Index.Missing(d)
		}
	}
	return n, nil
}

// checkOwn checks what was written on a branch: the chains of its logs, and the number of memories in the index. What the branch inherits
// is checked where it was written.
func (s Space) checkOwn(ctx context.Context, b *lineage.Branch, namespaces []string, v *Report) {
	for _, namespace := range namespaces {
		n, err := s.Log(ctx, b, namespace)
		v.Events += n
		if err != nil && ctx.Err() == nil && !s.isGone(b) {
			v.add(fmt.Sprintf("branch %s, namespace %s: %v", b.Name, namespace, err), doRestore)
		}
	}
	if !b.IsSearched() {
		return
	}
	if err := s.compareCounts(ctx, b, v); err != nil && ctx.Err() == nil && !s.isGone(b) {
		v.add(fmt.Sprintf("branch %s: the index cannot be compared with the store: %v", b.Name, err), doAgain)
	}
}

// isGone reports whether a branch was reclaimed. It waits for a reclaim that is under way.
func (s Space) isGone(b *lineage.Branch) bool {
	defer s.Exclude()()
	now := s.Branches.ByID(b.ID)
	return now == nil || now.Reclaimed
}

const (
	compareAttempts = 20          // at a comparison that a trim or purge interrupts
	compareWithin   = time.Minute // for a commit that has not reached the index
)

// compareCounts compares how many memories the index and the store have of a branch's own, at a version that the index has reached.
func (s Space) compareCounts(ctx context.Context, b *lineage.Branch, v *Report) error {
	floor := uint64(0)
	for range compareAttempts {
		purges := s.Purges()
		waiting, cancel := context.WithTimeout(ctx, compareWithin)
		at, err := s.Indexed(waiting, floor)
		cancel()
		if err != nil {
			return err
		}
		indexed, stored, err := s.counts(ctx, store.Lineage{{Branch: b.ID, At: at}}, s.Clock())
		if trimmed, ok := errors.AsType[*store.TrimmedError](err); ok {
			floor = trimmed.Floor.Version
			continue
		}
		if err != nil || indexed == stored {
			return err
		}
		if s.purged(purges) {
			continue
		}
		if s.isGone(b) {
			return nil
		}
		s.findWrong(ctx, v, fmt.Sprintf("branch %s: at version %d the index has %d memories and the store %d", b.Name, at, indexed, stored))
		return nil
	}
	return errors.New("versions were dropped all the time")
}

// counts are how many memories of a lineage the index and the store have. The index is read first, so that a trim in between is an error
// of the store.
func (s Space) counts(ctx context.Context, l store.Lineage, now time.Time) (indexed, stored int, err error) {
	indexed, err = s.Index.Count(ctx, search.View{Lineage: l, Collections: []string{record.Memories}, Now: now})
	if err == nil {
		stored, err = s.stored(ctx, l, now)
	}
	return indexed, stored, err
}

// purged reports whether a purge ran at any time since the counter of purges was read, and waits for its end.
func (s Space) purged(since uint64) bool {
	if since%2 == 0 && s.Purges() == since {
		return false
	}
	s.Exclude()()
	return true
}

// findWrong adds a finding about the index, which the next start rebuilds.
func (s Space) findWrong(ctx context.Context, v *Report, what string) {
	v.add(what, doRestart)
	s.RequireRebuild(ctx)
}

// stored counts the memories of a lineage by reading them.
func (s Space) stored(ctx context.Context, l store.Lineage, now time.Time) (n int, err error) {
	for e, err := range store.Entries(ctx, s.Engine.ScanAt, l, store.Range{}, pageSize) {
		if err != nil {
			return n, err
		}
		if e.Collection != record.Memories || !e.Exists() {
			continue
		}
		if record.Lasts(e) { // checkEntries has decoded it
			n++
			continue
		}
		r, err := record.Decode(e)
		if err != nil {
			return n, err
		}
		if !r.Expired(now) && r.Purged == "" {
			n++
		}
	}
	return n, nil
}
