package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/query"
	"github.com/alcove-memory/alcove/host/memory/quota"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/memory/recordindex"
	"github.com/alcove-memory/alcove/host/store"
)

// Stage is a transaction on one branch: it reads at the version at which it began, and commits its changes together
// at the end. Reads by key and lists include its changes, searches do not. If others changed something that it read or
// changed, its commit is a conflict.
//
// Records belong to families; those kept per space are the same on every branch. A Stage is
// not for concurrent use, and holds no resources of the engine between calls.
type Stage struct {
	access  *Access
	space   *Space
	branch  *lineage.Branch
	base    *lineage.Branch // the branch that changes are proposed for which gather on branch; nil: none do
	gathers Gatherer        // of these
	version uint64
	now     time.Time
	agent   string
	at      AsOf // the past that is read, without writes; the zero AsOf: the present
	origin  origin
	own     *ownWrite // what fromCaller writes
	// blind means that reads are no conditions of the commit, which expects only what is named explicitly.
	blind  bool
	landed string // the proposal that its commit wrote to; empty: none
	// expiry says whether keys find expired memories.
	expiry Expiry

	seen    map[site]uint64 // versions that the commit expects; 0: none
	changed map[site]*record.Record
	order   []site // of changed
	events  []stagedEvent
	counts  []stagedCount
	bytes   int // approximate size of the changes

	held   []store.Write         // what namespaces hold whose quota is set
	spent  []store.Write         // of quotas of namespaces, while it is committed
	kept   map[string]Collection // of the changed records, by name
	had    map[site]quota.Tally  // of changed family records: their state before
	growth map[string]Use        // by family
	quotas map[string]Quota      // of families with changes
}

// site is the place of an entry: on the stage's branch, or on the system branch.
type site struct {
	system bool
	store.Key
}

type stagedEvent struct {
	namespace, event string
	data             json.RawMessage
}

type stagedCount struct {
	key      store.Key
	accesses int64
	health   float64
}

// Collection is a family's collection of records.
type Collection struct {
	Name     string
	PerSpace bool          // the same on every branch
	Internal bool          // the server's own: guests cannot name it, and callers' rights do not apply
	Expires  time.Duration // lifetime of a record; 0: unlimited
	Fields   []string      // with searchable text
	Indexes  []query.Index // to find and sort records by
	// Unversioned means that only the newest version of a record can be read. Such a collection is PerSpace.
	Unversioned bool
	Quota       Quota // of all collections of the same family: those with the same name before the slash
}

// queried returns the collection for a plan.
func (c Collection) queried() query.Records { return query.Records{Name: c.Name, Indexes: c.Indexes} }

// DeclareIndexes sets the indexes of a collection to its declared ones. If none are kept yet, indexing begins at the collection's first use.
func (s *Space) DeclareIndexes(c Collection) {
	s.indexes.Declare(recordindex.Collection{Records: c.queried(), PerSpace: c.PerSpace})
}

// Record is one version of a family's record.
type Record struct {
	Namespace string
	Key       string
	Value     json.RawMessage
	Version   uint64 // 0: staged
	Timestamp time.Time
	ExpiresAt time.Time // zero: never
	Deleted   bool      // in histories: deleted at this version
}

// Stage begins a transaction on a branch.
func (a *Access) Stage(ctx context.Context, branch string) (*Stage, error) {
	b, err := a.branch(branch)
	if err != nil {
		return nil, err
	}
	t := a.begin(b, fromStage)
	return t, t.pinVersion(ctx)
}

// pinVersion makes a new stage read at one version, which its commit expects.
func (t *Stage) pinVersion(ctx context.Context) error {
	head, err := t.space.engine.Head(ctx)
	t.version, t.blind = head.Version, false
	return t.space.translate("read the newest version", err)
}

// StageAt begins a read-only transaction on a branch at a moment; at the zero AsOf it is Stage.
func (a *Access) StageAt(ctx context.Context, branch string, at AsOf) (*Stage, error) {
	t, err := a.Stage(ctx, branch)
	if err != nil || at.IsNow() {
		return t, err
	}
	v, err := a.space.view(ctx, branch, at)
	if err != nil {
		return nil, err
	}
	if err := a.space.reachable(ctx, v); err != nil {
		return nil, err
	}
	t.version, t.now, t.at = min(t.version, v.version), v.now, at
	return t, nil
}

// origin is where the changes of a stage come from. It says which hooks are asked about them.
type origin int

const (
	fromStage  origin = iota // a family, or the server itself: those that may refuse
	fromCaller               // a store, deletion or change of state by a caller itself: all that cover it
	fromMerge                // a resolution: the same, but none can have it proposed
	fromUndo                 // an operator, who undoes or moves: none
)

// begin begins a blind stage, which reads the newest versions. It costs no read of the engine.
func (a *Access) begin(b *lineage.Branch, from origin) *Stage {
	t := &Stage{access: a, space: a.space, branch: b, version: store.Latest, now: a.space.clock().UTC(), agent: a.caller.Agent, origin: from, blind: true}
	if from == fromStage || from == fromUndo {
		t.agent = a.caller.author()
	}
	return t
}

// reading completes a namespace, and checks the right to read it.
func (t *Stage) reading(namespace string) (string, error) {
	p, err := t.access.reading(Location{Namespace: namespace})
	return p.Namespace, err
}

// writing completes a namespace, and checks the right to write it.
func (t *Stage) writing(namespace string) (string, error) {
	if !t.at.IsNow() {
		return "", invalid("nothing can be written at a moment in the past: leave as_of out")
	}
	p, err := t.access.writing(Location{Namespace: namespace})
	return p.Namespace, err
}

// Version returns the version of the stage's reads.
func (t *Stage) Version() uint64 { return t.version }

// Branch returns the branch's name.
func (t *Stage) Branch() string { return t.home().Name }

// home returns the branch that the stage is about, even if its changes gather on a proposal for it.
func (t *Stage) home() *lineage.Branch { return cmp.Or(t.base, t.branch) }

// ground returns the lineage of that branch.
func (t *Stage) ground() store.Lineage { return t.home().Lineage.At(t.version) }

// Now returns the instant at which the stage began.
func (t *Stage) Now() time.Time { return t.now }

// Changes returns the number of entries, events and counters to write.
func (t *Stage) Changes() int { return len(t.order) + len(t.events) + len(t.counts) }

// ChangesMemories reports whether memories or the log are changed, and not only a family's own records.
func (t *Stage) ChangesMemories() bool {
	return len(t.events) > 0 || slices.ContainsFunc(t.order, func(at site) bool { return at.Collection == memories })
}

// lineage returns the lineage of the stage's branch.
func (t *Stage) lineage() store.Lineage { return t.lineageAt(t.version) }

// lineageAt is lineage at another version.
func (t *Stage) lineageAt(version uint64) store.Lineage {
	if t.base == nil {
		return t.branch.Lineage.At(version)
	}
	l := t.base.Lineage.At(version).Fork(t.branch.ID) // what is proposed was written before this version, and stands on it
	l[0].At = version
	return l
}

// systemLineage returns the lineage of the system branch; nil: it is not made yet.
func (t *Stage) systemLineage() store.Lineage {
	if b := t.space.catalogue.System(); b != nil {
		return b.Lineage.At(t.version)
	}
	return nil
}

// lineageOf returns the lineage to read a collection on; nil: nothing is there yet.
func (t *Stage) lineageOf(c Collection) store.Lineage {
	if c.PerSpace {
		return t.systemLineage()
	}
	return t.lineage()
}

// current reads entries as the stage sees them, its changes included. A nil record is missing.
func (t *Stage) current(ctx context.Context, sites []site) ([]*record.Record, []store.Entry, error) {
	if len(t.seen) > t.space.limits.StageReads {
		return nil, nil, t.exhausted("entries are read", t.space.limits.StageReads)
	}
	if err := t.room(); err != nil { // an overfull stage goes no further
		return nil, nil, err
	}
	found := make([]store.Entry, len(sites))
	if err := t.fetch(ctx, sites, found); err != nil {
		return nil, nil, err
	}
	records := make([]*record.Record, len(sites))
	for i, at := range sites {
		if staged, ok := t.changed[at]; ok {
			records[i], found[i] = staged, store.Entry{Key: at.Key}
			continue
		}
		t.note(at, found[i])
		r, err := t.live(found[i])
		if err != nil {
			return nil, nil, err
		}
		records[i] = r
	}
	return records, found, nil
}

// fetch reads the sites that the stage did not change, into found.
func (t *Stage) fetch(ctx context.Context, sites []site, found []store.Entry) error {
	var own, system unread
	for i, at := range sites {
		if _, staged := t.changed[at]; staged {
			continue
		}
		of := &own
		if at.system {
			of = &system
		}
		of.add(at.Key, i, len(sites))
	}
	if err := t.read(ctx, t.lineage(), own, found); err != nil {
		return err
	}
	return t.read(ctx, t.systemLineage(), system, found)
}

// unread are keys of a branch that are to be read, each with the index of its entry in the result.
type unread struct {
	keys    []store.Key
	indexes []int
}

func (u *unread) add(k store.Key, index, most int) {
	if u.keys == nil {
		u.keys, u.indexes = make([]store.Key, 0, most), make([]int, 0, most)
	}
	u.keys, u.indexes = append(u.keys, k), append(u.indexes, index)
}

func (t *Stage) read(ctx context.Context, l store.Lineage, u unread, found []store.Entry) error {
	if len(u.keys) == 0 || l == nil {
		return nil
	}
	entries, err := t.space.engine.GetAt(ctx, l, u.keys)
	if err != nil {
		return t.space.translate("read", err)
	}
	for i, e := range entries {
		found[u.indexes[i]] = e
	}
	return nil
}

// note makes a read a condition of the commit, unless the stage is blind.
func (t *Stage) note(at site, e store.Entry) {
	if !t.blind {
		t.expect(at, e)
	}
}

// expect makes an entry's first read a condition of the commit. The stage's own changes are expected already, or need not be.
func (t *Stage) expect(at site, e store.Entry) {
	if _, staged := t.changed[at]; staged {
		return
	}
	if _, known := t.seen[at]; known {
		return
	}
	version := uint64(0)
	if e.Exists() {
		version = e.Version
	}
	remember(&t.seen, at, version)
}

// remember sets a value in a map, which is allocated when needed.
func remember[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// live decodes an entry; nil if missing, expired, or erased.
func (t *Stage) live(e store.Entry) (*record.Record, error) {
	if !e.Exists() {
		return nil, nil
	}
	r, err := record.Decode(e)
	if err != nil || r.Expired(t.now) && t.expiry == HideExpired || r.Purged != "" {
		return nil, err
	}
	return &r, nil
}

// WithExpiry runs work with keys that find expired memories, or do not.
func (t *Stage) WithExpiry(e Expiry, work func() error) error {
	was := t.expiry
	t.expiry = e
	defer func() { t.expiry = was }()
	return work()
}

// set stages a record; nil: its deletion.
func (t *Stage) set(at site, r *record.Record) {
	if _, staged := t.changed[at]; !staged {
		t.order = append(t.order, at)
	}
	t.bytes += r.Size() - t.changed[at].Size()
	remember(&t.changed, at, r)
}

// room returns an error if the stage is full.
func (t *Stage) room() error {
	limits := t.space.limits
	switch {
	case t.Changes() > limits.Staged:
		return t.exhausted("entries, events and counts are changed", limits.Staged)
	case t.bytes > limits.StagedBytes:
		return t.exhausted("bytes are written", limits.StagedBytes)
	}
	return nil
}

func (t *Stage) exhausted(what string, most int) error {
	return &Error{Code: Exhausted, Message: fmt.Sprintf("more than %d %s in one piece of work: do it in several", most, what), Details: map[string]any{"limit": most}}
}

// stagedEntry is an entry of a listing.
type stagedEntry struct {
	site
	record record.Record
	point  store.Point
}

// list reads at most limit entries of a collection in the order of their keys, after the key after. next is the after of the next page.
func (t *Stage) list(ctx context.Context, c Collection, namespace, prefix, after string, limit int) (list []stagedEntry, next string, err error) {
	return t.listWith(ctx, c, namespace, prefix, after, limit, t.staged(c, namespace, prefix))
}

// staged returns what the stage changed in a collection under a prefix, in the order of the keys.
func (t *Stage) staged(c Collection, namespace, prefix string) (list []site) {
	for _, at := range t.order {
		in := at.system == c.PerSpace && at.Namespace == namespace && at.Collection == c.Name && strings.HasPrefix(at.Name, prefix)
		if in && t.changed[at] != nil {
			list = append(list, at)
		}
	}
	slices.SortFunc(list, func(a, b site) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// listWith is list with what the stage changed under the prefix.
func (t *Stage) listWith(ctx context.Context, c Collection, namespace, prefix, after string, limit int, staged []site) (list []stagedEntry, next string, err error) {
	if len(t.seen) > t.space.limits.StageReads {
		return nil, "", t.exhausted("entries are read", t.space.limits.StageReads)
	}
	r := store.Range{Namespace: namespace, Collection: c.Name, Prefix: prefix}
	if after != "" {
		r.From = after + "\x00"
	}
	limit = t.space.page(limit)
	if lineage := t.lineageOf(c); lineage != nil {
		v := view{branch: t.branch, lineage: lineage, now: t.now}
		list, err = scan(ctx, t.space, v, r, limit+1, func(e store.Entry) (*stagedEntry, error) { return t.listed(site{c.PerSpace, e.Key}, e) })
		if err != nil {
			return nil, "", t.space.translate("list", err)
		}
	}
	for _, at := range staged {
		if at.Name > after {
			list = append(list, stagedEntry{site: at, record: *t.changed[at]})
		}
	}
	if len(staged) > 0 {
		slices.SortFunc(list, func(a, b stagedEntry) int { return cmp.Compare(a.Name, b.Name) })
	}
	if len(list) > limit {
		list, next = list[:limit], list[limit-1].Name
	}
	for _, l := range list {
		if l.point.Version != 0 {
			t.note(l.site, store.Entry{Key: l.Key, Point: l.point})
		}
	}
	return list, next, nil
}

// listed returns an entry of a listing, unless the stage changed it: list adds those.
func (t *Stage) listed(at site, e store.Entry) (*stagedEntry, error) {
	if _, staged := t.changed[at]; staged {
		return nil, nil
	}
	r, err := t.live(e)
	if r == nil || err != nil {
		return nil, err
	}
	return &stagedEntry{site: at, record: *r, point: e.Point}, nil
}

// ownWrite is what a caller writes itself, in a commit of its own.
type ownWrite struct {
	Location
	change    Change // that hooks are asked about; empty: an event, of which they are not told
	operation string // identifies the request, with content
	content   []any
	keys      []store.Key // of items
	items     []Item      // to store; hooks may change them
	stage     func(t *Stage) error
}

// Commit describes the end of a stage.
type Commit struct {
	Write
	// Proposal is the name of a new branch to write to instead of the stage's own, forked from it at the version of the
	// stage's reads; empty: none. Records kept per space are not part of a proposal.
	Proposal string
	// Gathers has the proposal take further changes by the same, and has the commit add to theirs where it can, whose name then differs
	// from Proposal; zero: the branch is new and stays as it is.
	Gathers Gatherer
	// Named forbids another name: what is committed mentions it.
	Named bool
	// Operation and Content identify the request, so that a repetition is recognised.
	Operation string
	Content   json.RawMessage
	// Answer is kept with the request, for Answered; nil: none.
	Answer json.RawMessage
	// KeepAnswer keeps it even without other writes: the work had an external effect, and must not be repeated.
	KeepAnswer bool
	// Account is Caller.Account of this commit.
	Account json.RawMessage
}

// readingKeys is reading with a check of keys.
func (t *Stage) readingKeys(namespace string, keys []string) (string, error) {
	namespace, err := t.reading(namespace)
	if err != nil {
		return "", err
	}
	_, err = t.space.checkKeys(keys)
	return namespace, err
}

// writingKeys is writing with a check of keys.
func (t *Stage) writingKeys(namespace string, keys []string) (string, error) {
	namespace, err := t.writing(namespace)
	if err != nil {
		return "", err
	}
	_, err = t.space.checkKeys(keys)
	return namespace, err
}
