package memory

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/internal/namespace"
	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// Kind is the subject of a Notice.
type Kind string

// The kinds of notices.
const (
	MemoryStored    Kind = "memory_stored"
	MemoryForgotten Kind = "memory_forgotten"
	EventLogged     Kind = "event_logged"
)

// familyNotice marks a notice whose kind a family chose, until that is read.
const familyNotice Kind = ""

// Notice reports an event on a branch.
type Notice struct {
	Kind      Kind
	Namespace string
	Key       string // of the memory; the event's sequence number for an event
	Watermark uint64 // its version
	Timestamp time.Time
	Payload   json.RawMessage // of a family's notice; nil: none
	Agent     string          // the author; empty: unknown
	Family    string          // its sender; empty: not a family's notice, or an old one
	To        []string        // the agents that see it, beside its author; nil: all that may read the namespace

	perSpace   bool // on every branch
	restricted bool // to some agents
}

// Sequence returns the number in the log of the event that a notice of kind EventLogged is about.
func (n Notice) Sequence() uint64 {
	sequence, _ := store.ParseSequence(n.Key) // the log has no other keys
	return sequence
}

// Feed is a page of notices.
type Feed struct {
	Notices   []Notice
	Watermark uint64 // After of the next page; unchanged without news
	Within    int    // Within of the next page
	More      bool   // more is available
	Expired   bool   // notices after the requested watermark are gone; this page begins where the feed does
	Oldest    uint64 // the feed is complete after this watermark
	Latest    uint64 // the newest version of the space: no feed has a later watermark
	Passed    int    // notices that were examined and not selected
}

// FeedQuery selects notices. Empty fields match everything.
type FeedQuery struct {
	Branch     string
	Namespaces []string // nil: all
	Kinds      []string // one that ends in ".*" matches all kinds of a family
	Agents     []string
	After      uint64 // a watermark
	Limit      int    // about so many notices, never part of a commit; 0: Limits.Page
	// Most bounds the notices of one commit in a page: of a larger one, a page has a part, and Within of its Feed says where the
	// next begins. 0: unbounded.
	Most   int
	Within int // notices of the first commit after After that were read; 0: none

	viewer string // the agent that reads
}

func (q FeedQuery) selects(n Notice) bool {
	return n.Kind != familyNotice && n.isFor(q.viewer) && (len(q.Kinds) == 0 || slices.ContainsFunc(q.Kinds, n.isOf)) && (len(q.Agents) == 0 || slices.Contains(q.Agents, n.Agent))
}

// isFor reports whether an agent sees a notice of a namespace that it may read.
func (n Notice) isFor(agent string) bool {
	return n.To == nil || agent != "" && (agent == n.Agent || slices.Contains(n.To, agent))
}

// isOf reports whether a notice has a kind, or one of a family's kinds.
func (n Notice) isOf(kind string) bool {
	family, all := strings.CutSuffix(kind, ".*")
	return string(n.Kind) == kind || all && n.Family == family && family != ""
}

const (
	mostFiltered  = 10_000  // notices that one page examines for those selected
	mostPassed    = 100_000 // changes that one page reads for notices
	feedChunk     = 1000    // changes read at once
	mostCompleted = 64      // notices of one commit completed at once
	feedBytes     = 1 << 20 // of payloads, after which a page ends
)

// Feed reads the notices of a branch after a watermark, oldest first. namespaces nil means all.
func (a *Access) Feed(ctx context.Context, name string, namespaces []string, after uint64, limit int) (Feed, error) {
	return a.ReadFeed(ctx, FeedQuery{Branch: name, Namespaces: namespaces, After: after, Limit: limit})
}

// ReadFeed reads a page of the notices of a branch that match a query, oldest first. A branch's feed begins at its fork, and goes
// FeedAge back. A page may have fewer notices than there are, or none, with More.
func (a *Access) ReadFeed(ctx context.Context, q FeedQuery) (feed Feed, err error) {
	s := a.space
	if q.Namespaces, err = a.readable(q.Namespaces); err != nil {
		return Feed{}, err
	}
	q.viewer = a.caller.Agent
	b, err := s.branch(q.Branch)
	if err != nil {
		return Feed{}, err
	}
	page := &feedPage{query: q, limit: s.page(q.Limit)}
	if page.Oldest, page.Latest, err = s.feedBounds(ctx, b); err != nil {
		return Feed{}, err
	}
	page.Watermark, page.within, page.Expired = q.After, q.Within, q.After < page.Oldest
	if page.Expired {
		page.Watermark, page.within = page.Oldest, 0
	}
	known, ok, err := s.tails.of(b).since(ctx, s, page.Watermark)
	switch {
	case err != nil:
	case ok:
		page.addKnown(known)
	default:
		err = s.readFeed(ctx, b, page)
	}
	if err != nil {
		return Feed{}, err
	}
	return page.Feed, nil
}

// FeedEnd returns the watermark of a branch's feed after everything that was written.
func (a *Access) FeedEnd(ctx context.Context, name string) (uint64, error) {
	if _, err := a.branch(name); err != nil {
		return 0, err
	}
	head, err := a.space.engine.Head(ctx)
	return head.Version, a.space.translate("read the feed", err)
}

// readFeed fills a page from the engine.
func (s *Space) readFeed(ctx context.Context, b *lineage.Branch, page *feedPage) error {
	complete := func(notices []Notice) error { return s.complete(ctx, b, notices) }
	from, passed := page.Watermark, 0
	for size := page.limit; ; size = feedChunk {
		changes, next, scanned, err := s.feedChanges(ctx, b, from, page.Latest, size)
		if err != nil {
			return s.translate("read the feed", err)
		}
		page.More = next != 0
		for version, commit := range commits(changes) {
			if err := page.add(version, commit, complete); err != nil {
				return err
			}
			if page.full() {
				page.More = page.More || page.Within > 0 || version < changes[len(changes)-1].Version
				return nil
			}
		}
		if !page.More {
			return nil
		}
		if from, passed = next, passed+scanned; passed >= mostPassed {
			page.Watermark = next
			return nil
		}
	}
}

// commits groups changes by version, each with its notices, which are incomplete.
func commits(changes []feedChange) iter.Seq2[uint64, []Notice] {
	return func(yield func(uint64, []Notice) bool) {
		for len(changes) > 0 {
			version, n := changes[0].Version, 0
			var notices []Notice
			for ; n < len(changes) && changes[n].Version == version; n++ {
				if notice, ok := notice(changes[n]); ok {
					notices = append(notices, notice)
				}
			}
			if !yield(version, notices) {
				return
			}
			changes = changes[n:]
		}
	}
}

// feedPage is a page that is being filled.
type feedPage struct {
	Feed
	query  FeedQuery
	limit  int
	within int // notices to skip of the first commit that has any
	bytes  int // of payloads
}

func (p *feedPage) full() bool {
	return p.Within > 0 || len(p.Notices) >= p.limit || p.bytes >= feedBytes || p.Passed >= mostFiltered
}

// add adds the notices of a commit that the query selects. complete fills in what notices made of changes lack; nil: nothing.
func (p *feedPage) add(version uint64, commit []Notice, complete func([]Notice) error) error {
	if len(commit) == 0 {
		p.Watermark = version
		return nil
	}
	before, done := len(p.Notices), min(p.within, len(commit))
	p.within = 0
	for done < len(commit) {
		chunk := commit[done:min(done+mostCompleted, len(commit))]
		if added := len(p.Notices) - before; p.query.Most > 0 && added > 0 && added+len(chunk) > p.query.Most {
			p.Within = done
			return nil
		}
		if err := p.choose(chunk, complete); err != nil {
			return err
		}
		done += len(chunk)
	}
	p.Watermark = version
	return nil
}

// addKnown adds complete notices, and what else is known to be new.
func (p *feedPage) addKnown(known recent) {
	for rest := known.notices; len(rest) > 0; {
		version, n := rest[0].Watermark, 0
		for n < len(rest) && rest[n].Watermark == version {
			n++
		}
		p.add(version, rest[:n], nil) // without complete it cannot fail
		if rest = rest[n:]; p.full() {
			p.More = p.Within > 0 || len(rest) > 0
			if p.More {
				return
			}
		}
	}
	p.Watermark = max(p.Watermark, known.upTo)
}

// choose adds those of some notices that the query selects.
func (p *feedPage) choose(notices []Notice, complete func([]Notice) error) error {
	var mine []Notice
	for _, n := range notices {
		if selected(p.query.Namespaces, n.Namespace) {
			mine = append(mine, n)
		}
	}
	p.Passed += len(notices)
	if complete != nil && len(mine) > 0 {
		if err := complete(mine); err != nil {
			return err
		}
	}
	for _, n := range mine {
		if p.query.selects(n) {
			p.Notices, p.bytes = append(p.Notices, n), p.bytes+len(n.Payload)
			p.Passed--
		}
	}
	return nil
}

// complete fills in payloads, authors and times.
func (s *Space) complete(ctx context.Context, b *lineage.Branch, notices []Notice) error {
	if err := s.payloads(ctx, b, notices); err != nil {
		return err
	}
	if err := s.date(ctx, notices); err != nil {
		return err
	}
	return s.credit(ctx, b, notices)
}

// changesAfter returns the version after which the changes of a branch can be read: after, or a later one if retention dropped those.
func (s *Space) changesAfter(ctx context.Context, b *lineage.Branch, after uint64) (uint64, error) {
	_, _, err := s.engine.Changes(ctx, b.ID, after, after, 1)
	if trimmed, ok := asTrimmed(err); ok {
		return trimmed.Floor.Version, nil
	}
	return after, s.translate("read the changes of a branch", err)
}

func notice(c feedChange) (Notice, bool) {
	n := Notice{Namespace: c.Key.Namespace, Key: c.Key.Name, Watermark: c.Version, perSpace: c.perSpace, restricted: c.Key.Collection == emittedTo}
	switch {
	case c.Key.Collection == memories && c.Deleted:
		n.Kind = MemoryForgotten
	case c.Key.Collection == memories:
		n.Kind = MemoryStored
	case c.Key.Collection == events:
		n.Kind = EventLogged
	case isEmitted(c.Key.Collection) && !c.Deleted:
		n.Kind = familyNotice
	default:
		return n, false
	}
	return n, true
}

func selected(names []string, name string) bool {
	return names == nil || namespace.Covers(names, name)
}

// credit fills in the authors of notices. Those of families have theirs.
func (s *Space) credit(ctx context.Context, b *lineage.Branch, notices []Notice) (err error) {
	for i := range notices {
		if n := &notices[i]; n.Kind == MemoryStored || n.Kind == EventLogged {
			if n.Agent, err = s.authorOf(ctx, b, *n); err != nil {
				return err
			}
		}
	}
	return s.creditCommits(ctx, notices)
}

// authorOf returns the author of a notice's memory or event; empty: its past is not kept.
func (s *Space) authorOf(ctx context.Context, b *lineage.Branch, n Notice) (string, error) {
	collection := memories
	if n.Kind == EventLogged {
		collection = events
	}
	found, err := s.engine.GetAt(ctx, b.Lineage.At(n.Watermark), []store.Key{{Namespace: n.Namespace, Collection: collection, Name: n.Key}})
	if _, trimmed := asTrimmed(err); trimmed {
		return "", nil
	}
	if err != nil || !found[0].Exists() {
		return "", s.translate("read the feed", err)
	}
	if n.Kind == EventLogged {
		r, err := record.DecodeEvent(found[0])
		return r.Agent, err
	}
	r, err := record.Decode(found[0])
	return r.Agent, err
}

// date fills in the commit times of notices.
func (s *Space) date(ctx context.Context, notices []Notice) error {
	var last store.Point
	for i := range notices {
		if notices[i].Watermark != last.Version {
			point, err := s.engine.PointOf(ctx, notices[i].Watermark)
			if err != nil {
				return s.translate("read the feed", err)
			}
			last = point
		}
		notices[i].Timestamp = last.Time
	}
	return nil
}
