package memory

import (
	"context"
	"slices"

	"github.com/alcove-memory/alcove/host/memory/provenance"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// ExchangePlace continues a list of versions. The zero ExchangePlace begins it.
type ExchangePlace struct {
	Segment int    `json:"s,omitempty"` // of the lineage, from the oldest ancestor on
	After   uint64 `json:"a,omitempty"` // the version up to which that segment was listed
	Within  int    `json:"w,omitempty"` // how many changes of the next version were
	// Scan lists every key of the branch, where the change log was trimmed.
	Scan   bool   `json:"f,omitempty"`
	Cursor string `json:"c,omitempty"` // encrypted, because it can name a key that the receiver may not read
	Last   string `json:"l,omitempty"` // of the keys that were listed
}

// ExchangeQuery selects versions for another space.
type ExchangeQuery struct {
	Peer                       // this branch, from Access.Peer with the right to read
	Known provenance.Knowledge // what the receiver knows
	From  ExchangePlace
	Limit int // versions; 0: Limits.Page
	Bytes int // of values, about; 0: 4 MiB
}

// ExchangePage is a part of the versions that another space lacks.
type ExchangePage struct {
	Versions []Exchanged
	Next     *ExchangePlace // nil: the end
}

// sending fills a page.
type sending struct {
	space   *Space
	query   ExchangeQuery
	rights  Rights
	lineage store.Lineage
	known   map[string]provenance.Vector // to the receiver, by namespace
	page    ExchangePage
	bytes   int
	what    sent
	listed  int // versions in the page
}

// sent selects what is sent of a branch.
type sent struct {
	has    func(store.Segment) uint64             // the version up to which the receiver has all of a segment
	wants  func(store.Key) bool                   // whether a change is relevant
	place  func(store.Key) store.Key              // the key of the sent entry
	origin func(store.Key) store.Key              // the key of its origin
	newest func(e, noted store.Entry) store.Entry // the one that determines the change to send
	one    func(e, noted store.Entry) error       // adds the entry, unless the receiver knows it
	all    bool                                   // send every version instead of the newest: place, origin, newest and one are unused
}

// Limits of a step; a page can end after each.
const (
	exchangeStep  = 500     // keys
	exchangeBytes = 8 << 20 // of their values; a single value may be longer
)

// changesRead is how many changes are read for each version that a page may have: most are of memories, or of their origins.
const changesRead = 2

// Versions lists the newest versions of memories on a branch that a receiver does not know.
func (a *Access) Versions(ctx context.Context, q ExchangeQuery) (ExchangePage, error) {
	return a.list(ctx, q, func(p *sending) sent {
		return sent{has: p.sure, wants: p.wants, place: func(k store.Key) store.Key { return k }, origin: originKey, newest: func(e, _ store.Entry) store.Entry { return e }, one: p.one}
	})
}

// list lists the selected entries of a branch.
func (a *Access) list(ctx context.Context, q ExchangeQuery, what func(*sending) sent) (ExchangePage, error) {
	b, err := a.branch(q.Branch)
	if err != nil {
		return ExchangePage{}, err
	}
	q.Limit = a.space.page(q.Limit)
	if q.Bytes <= 0 {
		q.Bytes = 4 << 20
	}
	p := &sending{space: a.space, query: q, rights: a.caller.Rights, lineage: b.Lineage.At(q.At), known: map[string]provenance.Vector{}}
	p.what = what(p)
	err = p.list(ctx, q.From)
	return p.page, a.space.translate("list versions", err)
}

// list fills the page.
func (p *sending) list(ctx context.Context, at ExchangePlace) error {
	if at.Segment < 0 || at.Within < 0 {
		return errCursor()
	}
	if !at.Scan {
		err := p.changes(ctx, at)
		if _, trimmed := asTrimmed(err); !trimmed {
			return err
		}
		at, p.page, p.bytes, p.listed = ExchangePlace{Scan: true}, ExchangePage{}, 0, 0
	}
	return p.scan(ctx, at)
}

// changes follows the change logs of the lineage.
func (p *sending) changes(ctx context.Context, at ExchangePlace) error {
	for ; at.Segment < len(p.lineage); at = (ExchangePlace{Segment: at.Segment + 1}) {
		segment := p.lineage[len(p.lineage)-1-at.Segment]
		at.After = max(at.After, p.what.has(segment))
		for at.After < segment.At {
			changes, next, err := p.space.engine.Changes(ctx, segment.Branch, at.After, segment.At, min(changesPage, changesRead*p.query.Limit))
			if err != nil {
				return err
			}
			if done, err := p.add(ctx, segment.Branch, changes, &at); err != nil || done {
				return err
			}
			if next == 0 {
				break
			}
			at.After, at.Within = next, 0
		}
	}
	return nil
}

// sure returns the version up to which the receiver knows everything in a segment.
func (p *sending) sure(segment store.Segment) (upTo uint64) {
	has := p.query.Known.Throughout(p.query.Scope)
	p.space.incarnations(segment.At, func(id string, first, last uint64) bool {
		known := min(has[replica(id, segment.Branch)], last)
		if known >= first {
			upTo = known
		}
		return known == last
	})
	return upTo
}

// add adds the results of changes, and reports whether the page is full; at then continues it.
func (p *sending) add(ctx context.Context, b store.BranchID, changes []store.Change, at *ExchangePlace) (bool, error) {
	for i := min(at.Within, len(changes)); i < len(changes); {
		n, err := p.bounded(len(changes)-i, func(n int) error { return p.some(ctx, b, changes[i:i+n]) })
		if err != nil {
			return false, err
		}
		if i += n; p.full() {
			p.page.Next = after(changes, i, at)
			return true, nil
		}
	}
	return false, nil
}

// bounded adds a step of at most n keys, or fewer if their values are long, and returns their number.
func (p *sending) bounded(n int, add func(n int) error) (int, error) {
	before := *p
	for n = min(n, exchangeStep, p.query.Limit); ; n /= 2 {
		if err := add(n); err != nil || n == 1 || p.bytes-before.bytes <= exchangeBytes {
			return n, err
		}
		*p = before
	}
}

// some adds the results of some changes of a branch.
func (p *sending) some(ctx context.Context, b store.BranchID, changes []store.Change) error {
	if p.what.all {
		return p.each(ctx, b, changes)
	}
	keys, versions := []store.Key{}, map[store.Key]uint64{}
	for _, c := range changes {
		if p.what.wants(c.Key) {
			key := p.what.place(c.Key)
			keys, versions[key] = append(keys, key), max(c.Version, versions[key])
		}
	}
	slices.SortFunc(keys, compareKeys)
	keys = slices.Compact(keys)
	return p.put(ctx, keys, func(e store.Entry, key store.Key) bool { return e.Branch == b && e.Version == versions[key] })
}

// after returns the place behind the first n of some changes.
func after(changes []store.Change, n int, at *ExchangePlace) *ExchangePlace {
	next := ExchangePlace{Segment: at.Segment, After: changes[n-1].Version}
	if n == len(changes) || changes[n].Version != changes[n-1].Version {
		return &next
	}
	first := n - 1
	for first > 0 && changes[first-1].Version == changes[n].Version {
		first--
	}
	next.After, next.Within = changes[n].Version-1, n-first
	return &next
}

func (p *sending) full() bool {
	return p.listed >= p.query.Limit || p.bytes >= p.query.Bytes
}

func (p *sending) wants(key store.Key) bool {
	exchanged := key.Collection == memories || key.Collection == events || key.Collection == logs
	return exchanged && p.query.Scope.Covers(key.Namespace) && p.rights.MayRead(key.Namespace)
}

// put adds the newest versions of keys that are wanted.
func (p *sending) put(ctx context.Context, keys []store.Key, want func(newest store.Entry, key store.Key) bool) error {
	if len(keys) == 0 {
		return nil
	}
	both := slices.Clone(keys)
	for _, key := range keys {
		both = append(both, p.what.origin(key))
	}
	found, err := p.space.engine.GetAt(ctx, p.lineage, both)
	if err != nil {
		return err
	}
	for i := range keys {
		e, noted := found[i], found[len(keys)+i]
		e.Key = keys[i]
		if want(p.what.newest(e, noted), e.Key) {
			if err := p.what.one(e, noted); err != nil {
				return err
			}
		}
	}
	return nil
}

// one adds a version unless the receiver knows it.
func (p *sending) one(e, noted store.Entry) error {
	if e.Collection != memories {
		return p.event(e)
	}
	list, err := p.space.originsOf(e, noted)
	if err != nil {
		return err
	}
	if p.knownIn(e.Namespace).HasAll(list) {
		return nil
	}
	sent := Exchanged{Deleted: true, Origins: list}
	sent.Namespace, sent.Key = e.Namespace, e.Name
	if e.Exists() {
		r, err := record.Decode(e)
		if err != nil {
			return err
		}
		if r.Purged == "" {
			sent = Exchanged{Memory: exported(memoryOf(e, r)), Origins: list}
			sent.Version, sent.Timestamp = 0, nil // Origins tell
		}
	}
	p.sends(sent, len(e.Value))
	return nil
}

// event adds an event of the log, of this branch or of another replica, unless the receiver knows it.
func (p *sending) event(e store.Entry) error {
	if !e.Exists() {
		return nil
	}
	sent := Exchanged{}
	sent.Namespace = e.Namespace
	if e.Collection == logs {
		kept, err := readKept(e)
		if kept == nil || err != nil {
			return err
		}
		sent.Event, sent.Origins = &kept.exchangedEvent, []provenance.Version{kept.Origin}
	} else {
		logged, err := p.space.event(e)
		if err != nil {
			return err
		}
		sent.Event = &exchangedEvent{logged.Sequence, record.Event{Event: logged.Event, Data: logged.Data, Agent: logged.Agent, Digest: logged.Digest, Hash: logged.Hash}}
		if sent.Origins, err = p.space.originsOf(e, store.Entry{}); err != nil {
			return err
		}
	}
	if !p.knownIn(e.Namespace).HasAll(sent.Origins) {
		p.sends(sent, len(e.Value))
	}
	return nil
}

// knownIn returns the receiver's version vector in a namespace.
func (p *sending) knownIn(namespace string) provenance.Vector {
	known, ok := p.known[namespace]
	if !ok {
		known = p.query.Known.In(namespace)
		p.known[namespace] = known
	}
	return known
}

// scan goes through all keys of the branch.
func (p *sending) scan(ctx context.Context, at ExchangePlace) error {
	cursor, err := p.space.opened(at.Cursor)
	if err != nil {
		return err
	}
	for {
		var next store.Cursor
		last := at.Last
		_, err := p.bounded(exchangeStep, func(n int) error {
			entries, end, err := p.space.engine.Versions(ctx, p.lineage, store.Range{}, cursor, n)
			if err != nil {
				return err
			}
			next, at.Last = end, last
			return p.scanned(ctx, entries, &at)
		})
		if err != nil || next == "" {
			return err
		}
		if cursor = next; p.full() {
			at.Cursor = p.space.seal.Seal([]byte(next))
			p.page.Next = &at
			return nil
		}
	}
}

// scanned adds what is wanted of some entries.
func (p *sending) scanned(ctx context.Context, entries []store.Entry, at *ExchangePlace) error {
	if p.what.all {
		return p.withNotes(ctx, entries)
	}
	var keys []store.Key
	for _, e := range entries {
		if id := differencePlace(e.Key); id != at.Last && p.what.wants(e.Key) {
			keys, at.Last = append(keys, p.what.place(e.Key)), id
		}
	}
	return p.put(ctx, keys, func(e store.Entry, _ store.Key) bool { return e.Version != 0 })
}

// opened decrypts the cursor of a place in a scan; "" is the start. Only the process that encrypted it can.
func (s *Space) opened(sealed string) (store.Cursor, error) {
	if sealed == "" {
		return "", nil
	}
	cursor, ok := s.seal.Open(sealed)
	if !ok {
		return "", errCursor()
	}
	return store.Cursor(cursor), nil
}

func (p *sending) sends(v Exchanged, bytes int) {
	p.page.Versions = append(p.page.Versions, v)
	p.listed++
	p.bytes += bytes
}
