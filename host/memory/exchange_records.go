package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/provenance"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// Records of families are exchanged one by one. Each has a stamp, the version that wrote it, and the latest stamp wins, so records can
// arrive in any order, by any way, and repeatedly. The stamp of a received record is stored in the same commit; a record that is newer than its
// stored stamp was written in this space.

// SyncedCollection is a collection whose family lets its records be exchanged.
type SyncedCollection struct {
	Collection
	Open bool // it has no data that is private to an agent
}

// stampPrefix is the prefix of collections with the stamps of another collection.
const stampPrefix = "_from:"

// stampKey returns the key of a record's stamp.
func stampKey(k store.Key) store.Key {
	k.Collection = stampPrefix + strings.ReplaceAll(k.Collection, "/", ":")
	return k
}

// stamped is the stored form of a stamp.
type stamped struct {
	Stamp   provenance.Version `json:"stamp"`
	Changed bool               `json:"changed,omitempty"` // a hook changed the record: it was written in this space
}

// stampOf returns the stamp of a record or its deletion, or the zero Version. noted is the entry under its stampKey.
func (s *Space) stampOf(e, noted store.Entry) (provenance.Version, error) {
	var n stamped
	if noted.Exists() {
		r, err := record.Decode(noted)
		if err == nil {
			err = json.Unmarshal(r.Value, &n)
		}
		if err != nil {
			return n.Stamp, fmt.Errorf("read where %s comes from: %w", e.Key, err)
		}
	}
	switch {
	case e.Version == 0, noted.Exists() && noted.Version > e.Version, noted.Exists() && noted.Version == e.Version && noted.Branch == e.Branch && !n.Changed:
		return n.Stamp, nil
	}
	own := provenance.Version{Version: e.Version, At: max(e.Time.UnixMicro(), n.Stamp.At+1)}
	s.incarnations(e.Version, func(id string, _, _ uint64) bool {
		own.Replica = replica(id, e.Branch)
		return true
	})
	return own, nil
}

// SyncedCollections lists the collections, sorted, whose records the caller may exchange in a direction. Collections with private data of
// agents require the right to every namespace.
func (a *Access) SyncedCollections(to Right) []string {
	if a.space.synced == nil {
		return nil
	}
	all := a.caller.Rights.readsAll()
	if _, writes := a.caller.Rights.Writable(); to == ToWrite {
		all = all && writes
	}
	var list []string
	for _, c := range a.space.synced() {
		if a.uses(ownerOf(c.Name)) && (c.Open || all) {
			list = append(list, c.Name)
		}
	}
	slices.Sort(list)
	return list
}

// RecordsQuery selects records of families for another space.
type RecordsQuery struct {
	Branch      string
	Shared      bool // records shared by all branches, instead of those of the branch
	Scope       provenance.Scope
	Collections []string
	Peer        string // the space that receives them
	Since       string // RecordsPage.Mark of the last exchange; empty: none
	At          uint64 // RecordsPage.At of the first page; 0: now
	From        ExchangePlace
	Limit       int // 0: Limits.Page
	Bytes       int // 0: 4 MiB
}

// ExchangedRecord is the newest version of a family's record, or its deletion.
type ExchangedRecord struct {
	Namespace  string             `json:"namespace"`
	Collection string             `json:"collection"`
	Key        string             `json:"key"`
	Value      json.RawMessage    `json:"value,omitempty"` // absent: it is deleted
	Agent      string             `json:"agent,omitempty"`
	Expires    *time.Time         `json:"expires,omitempty"`
	Stamp      provenance.Version `json:"stamp"`
}

func (e ExchangedRecord) site(shared bool) site {
	return site{shared, store.Key{Namespace: e.Namespace, Collection: e.Collection, Name: e.Key}}
}

// RecordsPage is a page of the records that another space may lack.
type RecordsPage struct {
	Records []ExchangedRecord
	At      uint64
	Mark    string         // the receiver's mark after the last page
	Next    *ExchangePlace // nil: the end
}

// recordSending fills a page.
type recordSending struct {
	sending
	wanted map[string]bool
	peer   string
	in     map[store.Key]bool // the page
	out    RecordsPage
}

// later returns the one of a record and its stamp that was written last.
func later(e, noted store.Entry) store.Entry {
	if noted.Version > e.Version {
		return noted
	}
	return e
}

// ChangedRecords lists records of families that were changed since a mark.
func (a *Access) ChangedRecords(ctx context.Context, q RecordsQuery) (page RecordsPage, err error) {
	b, err := a.recordBranch(q.Branch, q.Shared)
	if err != nil || b == nil {
		return page, err
	}
	if q.Scope, err = a.permitted(q.Scope, ToRead); err != nil {
		return page, err
	}
	head, err := a.space.engine.Head(ctx)
	if err != nil {
		return page, a.space.translate("list records", err)
	}
	if q.At == 0 || q.At > head.Version {
		q.At = head.Version
	}
	p := &recordSending{peer: q.Peer, wanted: map[string]bool{}, in: map[store.Key]bool{}, out: RecordsPage{At: q.At, Mark: recordMark(b.ID, q.At)}}
	mine := a.SyncedCollections(ToRead)
	for _, name := range q.Collections {
		p.wanted[name] = slices.Contains(mine, name)
	}
	since := sinceMark(q.Since, b.ID)
	p.sending = sending{space: a.space, rights: a.caller.Rights, lineage: b.Lineage.At(q.At),
		query: ExchangeQuery{Peer: Peer{Scope: q.Scope}, Limit: a.space.page(q.Limit), Bytes: cmp.Or(q.Bytes, 4<<20)}}
	p.what = sent{has: func(store.Segment) uint64 { return since }, wants: p.wantsRecord, place: recordOf, origin: stampKey, newest: later, one: p.record}
	err = p.list(ctx, q.From)
	p.out.Next = p.page.Next
	return p.out, a.space.translate("list records", err)
}

// RecordMark returns the present mark of the records of a branch, or of those that all branches share.
func (a *Access) RecordMark(ctx context.Context, branch string, shared bool) (string, error) {
	if _, err := a.permitted(provenance.Scope{}, ToRead); err != nil {
		return "", err
	}
	b, err := a.recordBranch(branch, shared)
	if err != nil || b == nil {
		return "", err
	}
	head, err := a.space.engine.Head(ctx)
	return recordMark(b.ID, head.Version), a.space.translate("read the newest version", err)
}

// recordBranch returns nil if no records are shared yet.
func (a *Access) recordBranch(name string, shared bool) (*lineage.Branch, error) {
	if shared {
		return a.space.catalogue.System(), nil
	}
	return a.branch(name)
}

// recordMark is the version of a branch up to which records are known. A new branch with the same name has other marks.
func recordMark(b store.BranchID, at uint64) string {
	return strconv.FormatUint(uint64(b), 10) + "." + strconv.FormatUint(at, 10)
}

// RecordsAhead returns how many versions a mark is ahead of another.
func RecordsAhead(mark, of string) uint64 {
	id, text, _ := strings.Cut(mark, ".")
	b, _ := strconv.ParseUint(id, 10, 32)
	at, _ := strconv.ParseUint(text, 10, 64)
	return at - min(at, sinceMark(of, store.BranchID(b)))
}

func sinceMark(mark string, b store.BranchID) uint64 {
	id, text, _ := strings.Cut(mark, ".")
	if id != strconv.FormatUint(uint64(b), 10) {
		return 0
	}
	at, _ := strconv.ParseUint(text, 10, 64)
	return at
}

// recordOf returns the record of a key, or of the stamp under it.
func recordOf(k store.Key) store.Key {
	if name, ok := strings.CutPrefix(k.Collection, stampPrefix); ok {
		k.Collection = strings.Replace(name, ":", "/", 1)
	}
	return k
}

func (p *recordSending) wantsRecord(key store.Key) bool {
	return p.wanted[recordOf(key).Collection] && p.query.Scope.Covers(key.Namespace) && p.rights.MayRead(key.Namespace)
}

// record adds a record, unless its receiver wrote it.
func (p *recordSending) record(e, noted store.Entry) error {
	stamp, err := p.space.stampOf(e, noted)
	if err != nil || stamp.Version == 0 || p.in[e.Key] || strings.HasPrefix(stamp.Replica, p.peer+".") {
		return err
	}
	p.in[e.Key] = true
	sent := ExchangedRecord{Namespace: e.Namespace, Collection: e.Collection, Key: e.Name, Stamp: stamp}
	if e.Exists() {
		r, err := record.Decode(e)
		if err != nil {
			return err
		}
		if r.Purged == "" {
			sent.Value, sent.Agent = r.Value, r.Agent
			if at := r.ExpiresAt(); !at.IsZero() {
				sent.Expires = &at
			}
		}
	}
	p.out.Records = append(p.out.Records, sent)
	p.listed++
	p.bytes += len(sent.Value)
	return nil
}

// ReceivedRecords is records of families from another space.
type ReceivedRecords struct {
	Branch      string
	Shared      bool
	Space       string // the sender
	Scope       provenance.Scope
	Collections []string // the exchanged collections
	Records     []ExchangedRecord
	Mark        string // the sender's mark; only with the last part
}

// ReceiveRecords writes the records that are later than those here, in one commit, and returns their number. The caller needs the rights to
// write each namespace and to use each family. The family must be installed and granted, and allow the exchange of the collection.
func (a *Access) ReceiveRecords(ctx context.Context, in ReceivedRecords, w Write) (news int, err error) {
	s := a.space
	if len(in.Records) > s.limits.Batch || len(in.Mark) > longestMark || len(in.Space) > longestReplica {
		return 0, invalid("%d records: at most %d can be received at once", len(in.Records), s.limits.Batch)
	}
	if in.Scope, err = a.permitted(in.Scope, ToWrite); err != nil {
		return 0, err
	}
	b, err := s.branch(in.Branch)
	if err != nil {
		return 0, err
	}
	t := a.begin(b, fromCaller)
	if err := t.pinVersion(ctx); err != nil {
		return 0, err
	}
	r := recordReceiving{access: a, stage: t, in: in, collections: map[string]Collection{}}
	for _, c := range a.syncedNow(ToWrite) {
		r.collections[c.Name] = c.Collection
	}
	if err := r.check(); err != nil {
		return 0, err
	}
	if news, err = r.take(ctx); err != nil {
		return 0, s.translate("receive records", err)
	}
	if news > 0 {
		if err := r.commit(ctx, a.sign(w)); err != nil {
			if errors.Is(err, store.ErrConflict) {
				return 0, &Error{Code: Conflict, Retryable: true, Cause: err, Message: "records were changed while they were received: synchronise again"}
			}
			return 0, err
		}
	}
	if in.Mark == "" {
		return news, nil
	}
	return news, a.keepRecordMark(ctx, in)
}

// syncedNow are the collections of SyncedCollections.
func (a *Access) syncedNow(to Right) (list []SyncedCollection) {
	names := a.SyncedCollections(to)
	if len(names) == 0 {
		return nil
	}
	for _, c := range a.space.synced() {
		if slices.Contains(names, c.Name) {
			list = append(list, c)
		}
	}
	return list
}

// recordReceiving is the execution of a ReceiveRecords.
type recordReceiving struct {
	access      *Access
	stage       *Stage
	in          ReceivedRecords
	collections map[string]Collection
	taken       []takenRecord
}

type takenRecord struct {
	site
	stamp provenance.Version
	is    *record.Record // before hooks; nil: it is deleted
}

func (r *recordReceiving) check() error {
	head, seen := r.stage.version, map[store.Key]bool{}
	for _, e := range r.in.Records {
		if err := r.checkOne(e, head); err != nil {
			return fmt.Errorf("receive record %q of %s in namespace %q: %w", clip(e.Key, 64), clip(e.Collection, 64), clip(e.Namespace, 64), err)
		}
		key := e.site(r.in.Shared).Key
		if seen[key] {
			return invalid("record %q of %s is sent twice at once", clip(e.Key, 64), clip(e.Collection, 64))
		}
		seen[key] = true
	}
	return nil
}

func (r *recordReceiving) checkOne(e ExchangedRecord, head uint64) error {
	s := r.access.space
	if err := s.limits.checkName("namespace", e.Namespace); err != nil {
		return err
	}
	if _, err := r.stage.writing(e.Namespace); err != nil {
		return err
	}
	if !r.in.Scope.Covers(e.Namespace) {
		return invalid("the namespace is not part of the exchange")
	}
	c, ok := r.collections[e.Collection]
	if !ok || c.PerSpace != r.in.Shared {
		return &Error{Code: Denied, Message: fmt.Sprintf("records of %s are not accepted: its family is not installed and granted here, this key may not use it, or its manifest does not let them be exchanged", clip(e.Collection, 64)), Rule: "use family"}
	}
	if err := s.limits.checkKey(e.Key); err != nil {
		return err
	}
	if err := s.limits.checkText("agent", e.Agent, s.limits.Key); err != nil {
		return err
	}
	return (&receiving{stage: r.stage, head: head}).checkOrigin(e.Stamp)
}

// take stages the records that are later than those here.
func (r *recordReceiving) take(ctx context.Context) (news int, err error) {
	var sites, notes []site
	for _, e := range r.in.Records {
		at := e.site(r.in.Shared)
		sites, notes = append(sites, at), append(notes, site{at.system, stampKey(at.Key)})
	}
	found := make([]store.Entry, 2*len(sites))
	if err := r.stage.fetch(ctx, slices.Concat(sites, notes), found); err != nil {
		return 0, err
	}
	for i, e := range r.in.Records {
		here, err := r.access.space.stampOf(found[i], found[len(sites)+i])
		if err != nil {
			return 0, err
		}
		if here.Version != 0 && e.Stamp.Compare(here) <= 0 {
			continue
		}
		if err := r.one(ctx, e, sites[i], found[i]); err != nil {
			return 0, fmt.Errorf("receive record %q of %s: %w", clip(e.Key, 64), clip(e.Collection, 64), err)
		}
	}
	return len(r.taken), nil
}

func (r *recordReceiving) one(ctx context.Context, e ExchangedRecord, at site, was store.Entry) error {
	t, c := r.stage, r.collections[e.Collection]
	now, old := t.now, (*record.Record)(nil)
	var err error
	if was.Exists() {
		if old, err = record.Of(was); err != nil {
			return err
		}
	}
	var is *record.Record
	if expired := e.Expires != nil && !e.Expires.After(now); e.Value != nil && !expired {
		made, err := t.newRecord(c, RecordItem{Key: e.Key, Value: e.Value, ExpiresAt: expiryIn(c, e.Expires, now)})
		if err != nil {
			return err
		}
		made.Agent = e.Agent
		is = &made
	}
	if erased(old, is) {
		return nil
	}
	t.expect(at, was)
	if old != nil || is != nil {
		if err := t.weigh(ctx, at, was, is, c.Quota); err != nil {
			return err
		}
		t.set(at, is)
		remember(&t.kept, c.Name, c)
	}
	r.taken = append(r.taken, takenRecord{at, e.Stamp, is})
	return nil
}

// expiryIn returns the expiry of a received record: that of its collection here, or an earlier one.
func expiryIn(c Collection, at *time.Time, now time.Time) *time.Time {
	last := now.Add(c.Expires)
	switch {
	case c.Expires > 0 && (at == nil || at.After(last)):
		return &last
	case at == nil:
		return &time.Time{}
	}
	return at
}

// commit asks the hooks, and writes records with their stamps.
func (r *recordReceiving) commit(ctx context.Context, w Write) error {
	t := r.stage
	if err := t.askAboutReceived(ctx, w); err != nil {
		return err
	}
	for _, one := range r.taken {
		is := t.changed[one.site]
		changed := is != nil && (one.is == nil || !one.is.SameContent(*is))
		noted, err := recorded(stamped{one.stamp, changed})
		if err != nil {
			return err
		}
		t.set(site{one.system, stampKey(one.Key)}, noted)
	}
	_, err := t.finish(ctx, Commit{Write: w}, store.Request{}, "receive records")
	return err
}

// recordMarkKey returns the key of the mark of another space's records. It is stored among counters, which makes no version.
func recordMarkKey(in ReceivedRecords) store.Key {
	part := in.Branch
	if in.Shared {
		part = ""
	}
	name := provenance.Scope{Namespaces: append([]string{"records", part}, in.Collections...)}.Key()
	key := countedKey(in.Space, in.Scope)
	key.Name += "." + name
	return key
}

// RecordsKnown returns the mark up to which the records of another space were received; empty: none. It ignores in.Records and in.Mark.
func (a *Access) RecordsKnown(ctx context.Context, in ReceivedRecords) (string, error) {
	var err error
	if in.Scope, err = a.permitted(in.Scope, ToWrite); err != nil {
		return "", err
	}
	b, err := a.space.branch(Default)
	if err != nil {
		return "", err
	}
	found, err := a.space.engine.Counters(ctx, b.Lineage, []store.Key{recordMarkKey(in)})
	if err != nil || found[0] == nil {
		return "", a.space.translate("read which records are known", err)
	}
	var kept keptMark
	err = json.Unmarshal(found[0], &kept)
	return string(kept.Mark), err
}

func (a *Access) keepRecordMark(ctx context.Context, in ReceivedRecords) error {
	b, err := a.space.branch(Default)
	if err != nil {
		return err
	}
	value, err := json.Marshal(keptMark{CountMark(in.Mark)})
	if err != nil {
		return err
	}
	_, err = a.space.counters.Join(ctx, b, nil, store.CounterWrite{Branch: b.ID, Key: recordMarkKey(in), Value: value})
	return a.space.translate("keep which records are known", err)
}
