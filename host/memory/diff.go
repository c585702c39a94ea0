package memory

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"

	"github.com/alcove-memory/alcove/host/internal/namespace"
	"github.com/alcove-memory/alcove/host/memory/feed"
	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/memory/threeway"
	"github.com/alcove-memory/alcove/host/store"
)

// Difference is a key whose state differs between two branches. A nil side has no such memory.
type Difference struct {
	Namespace            string
	Collection           string // of a family's record; empty for a memory
	Key                  string
	Base, Source, Target *Memory
	Clash                threeway.Clash
	Result               *Memory // the target's memory after a merge; nil: it was deleted
}

// Next continues a list after this difference.
func (d *Difference) Next() string {
	return differencePlace(store.Key{Namespace: d.Namespace, Collection: cmp.Or(d.Collection, memories), Name: d.Key})
}

// DiffQuery selects a comparison: what Source has and Target lacks.
type DiffQuery struct {
	Source     string
	Target     string
	SourceOnly bool     // only keys that Source changed since the fork
	Namespaces []string // nil: all
	Limit      int      // differences to list; 0: Limits.Page. All are counted.
	After      string   // Next of a difference, or of a page: list what follows it. All are counted.
}

// Diff is the difference between two branches.
type Diff struct {
	Source, Target string
	Seen           uint64   // the version of a gathering proposal, for Merge.Seen; 0: the source is no such proposal
	Calls          int      // number of calls that contributed to the proposal
	Namespaces     []string // compared; nil: all
	Added          int      // memories that only Source has
	Changed        int      // memories that differ
	Removed        int      // memories that only Target has
	Records        int      // of these three, families' records
	Clashes        int      // of these three, changed on both sides since the fork
	Differences    []Difference
	Truncated      bool // more Differences than the limit
	Left           int  // number after the last one listed
}

// Diff compares the present states of two branches. Records that the caller may not see are neither listed nor counted.
func (a *Access) Diff(ctx context.Context, q DiffQuery) (Diff, error) {
	s := a.space
	namespaces, err := a.readable(q.Namespaces)
	if err != nil {
		return Diff{}, err
	}
	from, err := parseDifferencePlace(q.After)
	if err != nil {
		return Diff{}, err
	}
	c, err := a.comparison(ctx, q.Source, q.Target, namespaces)
	if err != nil {
		return Diff{}, err
	}
	if err := c.findChanges(ctx, c.source); err != nil {
		return Diff{}, err
	}
	if !q.SourceOnly {
		if err := c.findChanges(ctx, c.target); err != nil {
			return Diff{}, err
		}
	}
	diff := Diff{Source: c.source.branch.Name, Target: c.target.branch.Name, Seen: seen(c.source.branch), Calls: c.source.branch.Calls, Namespaces: namespaces}
	limit := s.page(q.Limit)
	err = c.each(ctx, c.sorted(), func(t triple) error {
		if t.states.Agree() || !a.shows(t.key.Collection) {
			return nil
		}
		return diff.add(t, limit, from)
	})
	return diff, err
}

// add counts a difference, and lists it if it follows a place and there is room.
func (d *Diff) add(t triple, limit int, from *store.Key) error {
	difference, err := t.difference()
	if err != nil {
		return err
	}
	switch {
	case difference.Target == nil:
		d.Added++
	case difference.Source == nil:
		d.Removed++
	default:
		d.Changed++
	}
	if difference.Collection != "" {
		d.Records++
	}
	if difference.Clash != threeway.NoClash {
		d.Clashes++
	}
	switch {
	case from != nil && compareKeys(t.key, *from) <= 0:
	case len(d.Differences) == limit:
		d.Truncated = true
		d.Left++
	default:
		d.Differences = append(d.Differences, difference)
	}
	return nil
}

// differencePlace returns the cursor of a list of differences after a key.
func differencePlace(k store.Key) string {
	text, _ := json.Marshal([]string{k.Namespace, k.Collection, k.Name}) // texts always are JSON
	return base64.RawURLEncoding.EncodeToString(text)
}

// parseDifferencePlace returns the key of a cursor; nil: the start.
func parseDifferencePlace(text string) (*store.Key, error) {
	if text == "" {
		return nil, nil
	}
	var parts []string
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(raw, &parts)
	}
	if err != nil || len(parts) != 3 {
		return nil, errCursor()
	}
	return &store.Key{Namespace: parts[0], Collection: parts[1], Name: parts[2]}, nil
}

// comparison compares two branches at one version: the keys that may differ.
type comparison struct {
	access         *Access
	space          *Space
	source, target view
	at             uint64
	namespaces     []string
	origins        bool // also compare the data of exchanges
	keys           map[store.Key]bool
	shared         map[string]mergeBase // by namespace
}

// mergeBase is the common history of two branches in a namespace.
type mergeBase struct {
	both  lineage.Known
	bases []store.Lineage
	from  lineage.Known // what the source knows
	into  lineage.Known // what the target knows, apart from itself
}

func (a *Access) comparison(ctx context.Context, source, target string, namespaces []string) (*comparison, error) {
	s := a.space
	from, err := s.view(ctx, source, AsOf{})
	if err != nil {
		return nil, err
	}
	into, err := s.view(ctx, target, AsOf{})
	if err != nil {
		return nil, err
	}
	if from.branch.ID == into.branch.ID {
		return nil, invalid("branch %q cannot be compared or merged with itself: name two branches", from.branch.Name)
	}
	head, err := s.engine.Head(ctx)
	if err != nil {
		return nil, s.translate("read the newest version", err)
	}
	from.lineage, into.lineage = from.lineage.At(head.Version), into.lineage.At(head.Version)
	c := &comparison{
		access: a, space: s, source: from, target: into, at: head.Version, namespaces: namespaces,
		keys: map[store.Key]bool{}, shared: map[string]mergeBase{},
	}
	return c, c.learn(ctx, "")
}

// learn determines the common history of a namespace, once.
func (c *comparison) learn(ctx context.Context, namespace string) error {
	if _, ok := c.shared[namespace]; ok {
		return nil
	}
	catalogue := c.space.catalogue
	from, into := catalogue.Knows(c.source.lineage, namespace), catalogue.Knows(c.target.lineage, namespace)
	both := from.Common(into)
	delete(into, c.target.branch.ID)
	bases, err := catalogue.Bases(both, namespace, func(b store.BranchID, after, to uint64) (bool, error) {
		return c.space.written(ctx, b, namespace, after, to)
	})
	c.shared[namespace] = mergeBase{both: both, bases: bases, from: from, into: into}
	return c.space.translate("compare branches", err)
}

// ground returns the result of learn.
func (c *comparison) ground(namespace string) mergeBase { return c.shared[namespace] }

// written reports whether a namespace of a branch, or any if it is empty, was written after one version and up to another. Where the change
// log was trimmed, it examines the entries: the newest entry of each key is kept at versions that other branches depend on.
func (s *Space) written(ctx context.Context, b store.BranchID, namespace string, after, to uint64) (bool, error) {
	for from := after; ; {
		changes, next, err := s.engine.Changes(ctx, b, from, to, changesPage)
		if _, trimmed := asTrimmed(err); trimmed {
			return s.versionsAfter(ctx, store.Segment{Branch: b, At: to}, namespace, after)
		}
		if err != nil || slices.ContainsFunc(changes, func(c store.Change) bool { return namespace == "" || c.Key.Namespace == namespace }) {
			return err == nil, err
		}
		if next == 0 {
			return false, nil
		}
		from = next
	}
}

// versionsAfter reports whether a namespace of a segment has an entry newer than a version.
func (s *Space) versionsAfter(ctx context.Context, segment store.Segment, namespace string, after uint64) (bool, error) {
	for e, err := range store.Entries(ctx, s.engine.Versions, store.Lineage{segment}, store.Range{Namespace: namespace}, fillPage) {
		if err != nil || e.Version > after {
			return err == nil, err
		}
	}
	return false, nil
}

// findChanges adds the keys that one side wrote and the other does not know.
func (c *comparison) findChanges(ctx context.Context, side view) error {
	for _, segment := range side.lineage {
		from := c.sharedByAll(segment.Branch)
		if from >= segment.At {
			continue
		}
		if err := c.addChanges(ctx, segment, from); err != nil {
			return err
		}
	}
	catalogue := c.space.catalogue
	for _, key := range catalogue.Silent(catalogue.Knows(side.lineage, ""), c.ground("").both) {
		if err := c.add(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// sharedByAll returns the version up to which both sides know a branch in every namespace. Partial merges count only in their namespaces, so
// keys are checked again one by one.
func (c *comparison) sharedByAll(b store.BranchID) uint64 {
	return c.ground("").both[b]
}

func (c *comparison) addChanges(ctx context.Context, segment store.Segment, from uint64) error {
	for {
		changes, next, err := c.space.engine.Changes(ctx, segment.Branch, from, segment.At, changesPage)
		if _, trimmed := asTrimmed(err); trimmed {
			return c.addAllKeys(ctx, segment)
		}
		if err != nil {
			return c.space.translate("compare branches", err)
		}
		for _, change := range changes {
			if err := c.addKey(ctx, change.Key, change.Version, segment.Branch); err != nil {
				return err
			}
		}
		if next == 0 {
			return nil
		}
		from = next
	}
}

// addAllKeys replaces a trimmed change log: every key of the segment may have changed.
func (c *comparison) addAllKeys(ctx context.Context, segment store.Segment) error {
	for e, err := range store.Entries(ctx, c.space.engine.Versions, store.Lineage{segment}, store.Range{}, fillPage) {
		if err != nil {
			return c.space.translate("compare branches", err)
		}
		if err := c.addKey(ctx, e.Key, e.Version, segment.Branch); err != nil {
			return err
		}
	}
	return nil
}

func (c *comparison) addKey(ctx context.Context, key store.Key, version uint64, b store.BranchID) error {
	if err := c.learn(ctx, key.Namespace); err != nil {
		return err
	}
	if version <= c.ground(key.Namespace).both[b] {
		return nil // both sides know the change
	}
	return c.add(ctx, key)
}

func (c *comparison) add(ctx context.Context, key store.Key) error {
	if err := c.learn(ctx, key.Namespace); err != nil {
		return err
	}
	if key.Collection == events || feed.IsEmitted(key.Collection) || isExchange(key.Collection) && (!c.origins || key.Collection == exchanges) || !namespace.Selects(c.namespaces, key.Namespace) {
		return nil
	}
	c.keys[key] = true
	if len(c.keys) > c.space.limits.MergeKeys {
		return &Error{Code: Exhausted, Message: "the branches differ in too many keys to compare at once: compare or merge one namespace at a time",
			Details: map[string]any{"limit": c.space.limits.MergeKeys}}
	}
	return nil
}

// triple is a key's state at the bases and on both sides. Entries may be missing or tombstones.
type triple struct {
	key            store.Key
	bases          []store.Entry
	source, target store.Entry
	states         threeway.States
}

const (
	comparePage = 1000   // keys read at once
	changesPage = 10_000 // changes read at once
)

// sorted returns every key that may differ, in order.
func (c *comparison) sorted() []store.Key {
	keys := make([]store.Key, 0, len(c.keys))
	for key := range c.keys {
		keys = append(keys, key)
	}
	sortKeys(keys)
	return keys
}

func sortKeys(keys []store.Key) {
	slices.SortFunc(keys, compareKeys)
}

func compareKeys(a, b store.Key) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Collection, b.Collection), cmp.Compare(a.Name, b.Name))
}

// each visits sorted keys.
func (c *comparison) each(ctx context.Context, keys []store.Key, do func(triple) error) error {
	for start := 0; start < len(keys); {
		end := start
		for end < len(keys) && end-start < comparePage && keys[end].Namespace == keys[start].Namespace {
			end++
		}
		triples, err := c.triples(ctx, keys[start:end])
		if err != nil {
			return err
		}
		for _, t := range triples {
			if err := do(t); err != nil {
				return err
			}
		}
		start = end
	}
	return nil
}

// triples reads keys of one namespace.
func (c *comparison) triples(ctx context.Context, keys []store.Key) ([]triple, error) {
	list := make([]triple, len(keys))
	for i, key := range keys {
		list[i].key = key
	}
	read := func(l store.Lineage, put func(t *triple, e store.Entry)) error {
		entries, err := c.space.engine.GetAt(ctx, l, keys)
		for i, e := range entries {
			put(&list[i], e)
		}
		return c.space.translate("compare branches", err)
	}
	for _, base := range c.ground(keys[0].Namespace).bases {
		if err := read(base, func(t *triple, e store.Entry) { t.bases = append(t.bases, e) }); err != nil {
			return nil, err
		}
	}
	err := read(c.source.lineage, func(t *triple, e store.Entry) { t.source = e })
	if err == nil {
		err = read(c.target.lineage, func(t *triple, e store.Entry) { t.target = e })
	}
	for i := 0; err == nil && i < len(list); i++ {
		err = list[i].findStates(c.origins)
	}
	return list, err
}

// findStates sets the states. With origins, they do not matter if the target is unchanged: the source is written in any case.
func (t *triple) findStates(brought bool) (err error) {
	if brought && t.source.Version > t.target.Version && t.isAsItWas() {
		t.states.Source = "="
		for range t.bases {
			t.states.Bases = append(t.states.Bases, "")
		}
		return nil
	}
	for _, b := range t.bases {
		state, err := stateOf(b)
		if err != nil {
			return err
		}
		t.states.Bases = append(t.states.Bases, state)
	}
	if t.states.Source, err = stateOf(t.source); err != nil {
		return err
	}
	t.states.Target, err = stateOf(t.target)
	return err
}

// isAsItWas reports whether the target is unchanged: it has the entry of each base, or there is neither.
func (t *triple) isAsItWas() bool {
	if len(t.bases) == 0 {
		return t.target.Version == 0
	}
	return !slices.ContainsFunc(t.bases, func(b store.Entry) bool { return b.Version != t.target.Version || b.Branch != t.target.Branch })
}

// stateOf returns the content of an entry without its author, for comparison; empty if missing.
func stateOf(e store.Entry) (string, error) {
	if !e.Exists() {
		return "", nil
	}
	if e.Collection == events {
		return "=" + string(e.Value), nil
	}
	r, err := record.Decode(e)
	if err != nil {
		return "", err
	}
	value, err := r.Content().Encode()
	return "=" + string(value), err
}

// base returns the newest base's entry.
func (t triple) base() store.Entry {
	if len(t.bases) == 0 {
		return store.Entry{}
	}
	return t.bases[0]
}

func (t triple) difference() (Difference, error) {
	d := Difference{Namespace: t.key.Namespace, Key: t.key.Name, Clash: t.states.Clash()}
	if t.key.Collection != memories {
		d.Collection = t.key.Collection
	}
	for _, side := range []struct {
		entry store.Entry
		into  **Memory
	}{{t.base(), &d.Base}, {t.source, &d.Source}, {t.target, &d.Target}} {
		if !side.entry.Exists() {
			continue
		}
		m, err := decodeMemory(side.entry)
		if err != nil {
			return d, err
		}
		*side.into = &m
	}
	return d, nil
}
