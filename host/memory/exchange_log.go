package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/provenance"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// Chain is a received log of a branch of another space.
type Chain struct {
	Namespace   string
	ID          string   // for ChainQuery.Chain
	Remote      string   // the name of its remote here; empty: it has none
	Agents      []string // who logged, at most agentsNamed
	Events      int      // number of events here
	Purged      int      // number of events that were purged
	First, Last uint64   // sequence numbers
	From, Until time.Time
	Broken      uint64 // the first event that is missing or altered; 0: none of those that were checked
	Fault       string // what is wrong with it
	Checked     int    // events; fewer than Events if a call could not check more
}

const (
	agentsNamed   = 8
	chainsListed  = 200     // in a namespace
	eventsChecked = 200_000 // in a call
)

// replicasOf yields the replicas with received logs of a namespace in a view.
func (s *Space) replicasOf(ctx context.Context, view store.Lineage, namespace string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for within := (store.Range{Namespace: namespace, Collection: logs}); ; {
			found, _, err := s.engine.ScanAt(ctx, view, within, "", 1)
			if err != nil {
				yield("", s.translate("list the logs of other spaces", err))
				return
			}
			if len(found) == 0 {
				return
			}
			replica, _, _ := strings.Cut(found[0].Name, "/")
			if !yield(replica, nil) {
				return
			}
			within.From = replica + "0" // "0" is behind "/"
		}
	}
}

// Chains lists the received logs of a namespace on a branch, and verifies the chain of each.
func (a *Access) Chains(ctx context.Context, p Location) (list []Chain, err error) {
	v, p, err := a.viewLogs(ctx, p)
	if err != nil {
		return nil, err
	}
	names, err := a.space.namedSpaces(ctx)
	if err != nil {
		return nil, err
	}
	left := eventsChecked
	for replica, err := range a.space.replicasOf(ctx, v.lineage, p.Namespace) {
		if err != nil {
			return list, err
		}
		if len(list) == chainsListed {
			return list, nil
		}
		c := Chain{Namespace: p.Namespace, ID: replica, Remote: names[incarnationOf(replica)]}
		if err := a.space.checkChain(ctx, v.lineage, &c, &left); err != nil {
			return list, err
		}
		list = append(list, c)
	}
	return list, nil
}

// checkChain verifies a received log. left is the number of events that can still be checked.
func (s *Space) checkChain(ctx context.Context, view store.Lineage, c *Chain, left *int) error {
	within := store.Range{Namespace: c.Namespace, Collection: logs, Prefix: logPrefix(c.ID)}
	var before *keptEvent
	for entry, err := range store.Entries(ctx, s.engine.ScanAt, view, within, verifyPage) {
		if err != nil {
			return s.translate("read the log of another space", err)
		}
		sequence, e, err := keptAt(entry)
		if err != nil {
			return err
		}
		if c.Events+c.Purged == 0 {
			c.First = sequence
		}
		wrong := ""
		if *left > 0 && c.Broken == 0 {
			if wrong, err = s.checkLink(ctx, view, c, before, sequence, e); err != nil {
				return err
			}
			*left--
			c.Checked++
		}
		if wrong != "" {
			if c.Broken, c.Fault = sequence, wrong; c.Events+c.Purged > 0 {
				c.Broken = c.Last + 1
			}
		}
		c.count(sequence, e)
		before = e
	}
	return nil
}

func (c *Chain) count(sequence uint64, e *keptEvent) {
	c.Last = sequence
	if e == nil {
		c.Purged++
		return
	}
	c.Events++
	c.Until = e.Origin.Time()
	if c.From.IsZero() {
		c.From = c.Until
	}
	if !slices.Contains(c.Agents, e.Agent) && len(c.Agents) < agentsNamed && e.Agent != "" {
		c.Agents = append(c.Agents, e.Agent)
	}
}

// checkLink returns the fault of an event after its predecessor in a chain; empty: none. e is nil if it was purged.
func (s *Space) checkLink(ctx context.Context, view store.Lineage, c *Chain, before *keptEvent, sequence uint64, e *keptEvent) (string, error) {
	first := c.Events+c.Purged == 0
	switch {
	case !first && sequence != c.Last+1:
		return missing(c.Last+1, sequence-1), nil
	case e == nil:
		return "", nil
	case e.Sequence != sequence:
		return fmt.Sprintf("event %d says that it is event %d", sequence, e.Sequence), nil
	case before != nil:
		return faultOf(e.verify(before.Hash)), nil
	case first && sequence == 1:
		return faultOf(e.verify("")), nil
	case !first: // the one before it was purged, and its hash with it
		return faultOf(e.Unaltered(sequence)), nil
	}
	return s.continuesAnother(ctx, view, c.Namespace, e)
}

func missing(first, last uint64) string {
	if first == last {
		return fmt.Sprintf("event %d is missing", first)
	}
	return fmt.Sprintf("events %d to %d are missing", first, last)
}

func faultOf(err error) string {
	if err == nil {
		return ""
	}
	return strings.TrimPrefix(err.Error(), "verify log: ")
}

// continuesAnother returns the fault of the first event of a branch's part of a log, which continues the log of another branch, or of the
// space of which this one is a copy.
func (s *Space) continuesAnother(ctx context.Context, view store.Lineage, namespace string, e *keptEvent) (string, error) {
	if err := e.Unaltered(e.Sequence); err != nil {
		return faultOf(err), nil
	}
	at := []store.Key{{Namespace: namespace, Collection: events, Name: store.SequenceName(e.Sequence - 1)}}
	for replica, err := range s.replicasOf(ctx, view, namespace) {
		if err != nil {
			return "", err
		}
		at = append(at, exchangedEvent{Sequence: e.Sequence - 1}.key(namespace, replica))
		if len(at) > chainsListed {
			break
		}
	}
	found, err := s.engine.GetAt(ctx, view, at)
	if err != nil {
		return "", s.translate("read the log of another space", err)
	}
	here := false
	for _, entry := range found {
		if !entry.Exists() {
			continue
		}
		hash, err := hashOf(entry)
		if err != nil {
			return "", err
		}
		if hash == "" || e.verify(hash) == nil { // it was purged, or is the one before
			return "", nil
		}
		here = true
	}
	if here {
		return fmt.Sprintf("event %d does not continue the chain", e.Sequence), nil
	}
	return missing(1, e.Sequence-1), nil
}

// hashOf returns the hash of an event of this space or another; empty: it was purged.
func hashOf(entry store.Entry) (string, error) {
	if entry.Collection == events {
		e, err := record.DecodeEvent(entry)
		return e.Hash, err
	}
	e, err := readKept(entry)
	if e == nil || err != nil {
		return "", err
	}
	return e.Hash, nil
}

// keptAt reads a stored event of another space's log, with its sequence number.
func keptAt(entry store.Entry) (sequence uint64, e *keptEvent, err error) {
	_, name, _ := strings.Cut(entry.Name, "/")
	if sequence, err = store.ParseSequence(name); err != nil {
		return 0, nil, fmt.Errorf("read event %s of another space's log: %w", entry.Key, err)
	}
	e, err = readKept(entry)
	return sequence, e, err
}

// ChainQuery selects events of the log of another space.
type ChainQuery struct {
	Location
	Chain        string // its id, a prefix of the id, or the name of its remote
	Agents       []string
	Types        []string // of events
	Since, Until time.Time
	Oldest       bool   // first, instead of the newest
	After        uint64 // only events after this sequence number; 0: all
	Limit        int    // 0: Limits.Page
}

func (q ChainQuery) admits(e *keptEvent) bool {
	at := e.Origin.Time()
	return (len(q.Agents) == 0 || slices.Contains(q.Agents, e.Agent)) && (len(q.Types) == 0 || slices.Contains(q.Types, e.Event.Event)) &&
		!at.Before(q.Since) && (q.Until.IsZero() || at.Before(q.Until))
}

// ChainPage are events of the log of another space.
type ChainPage struct {
	Chain  string // its id
	Events []Event
	Next   uint64 // ChainQuery.After of the next page; 0: this is the last
	Fault  string // a missing or altered event in the part that was read; empty: there is none
}

// EventsOf lists events of the log of another space, and verifies the part that it reads.
func (a *Access) EventsOf(ctx context.Context, q ChainQuery) (page ChainPage, err error) {
	v, p, err := a.viewLogs(ctx, q.Location)
	if err != nil {
		return page, err
	}
	s := a.space
	if page.Chain, err = s.chainNamed(ctx, v.lineage, p, q.Chain); err != nil {
		return page, err
	}
	within := store.Range{Namespace: p.Namespace, Collection: logs, Prefix: logPrefix(page.Chain), Reverse: !q.Oldest}
	switch {
	case q.After > 0 && q.Oldest:
		within.From = logPrefix(page.Chain) + store.SequenceName(q.After+1)
	case q.After == 1:
		return page, nil
	case q.After > 0:
		within.From = logPrefix(page.Chain) + store.SequenceName(q.After-1)
	}
	limit, read := s.page(q.Limit), chainRead{}
	for entry, err := range store.Entries(ctx, s.engine.ScanAt, v.lineage, within, verifyPage) {
		if err != nil {
			return page, s.translate("read the log of another space", err)
		}
		sequence, e, err := keptAt(entry)
		if err != nil {
			return page, err
		}
		if page.Fault == "" {
			page.Fault = read.fault(sequence, e)
		}
		read = chainRead{sequence, e}
		if e == nil || !q.admits(e) {
			continue
		}
		if len(page.Events) == limit {
			page.Next = page.Events[limit-1].Sequence
			break
		}
		page.Events = append(page.Events, Event{Namespace: p.Namespace, Sequence: sequence, Event: e.Event.Event, Data: e.Data, Agent: e.Agent, Version: e.Origin.Version,
			Timestamp: e.Origin.Time(), Digest: e.Digest, Hash: e.Hash, Branch: page.Chain})
	}
	return page, nil
}

// chainRead is the previously read event, in either order.
type chainRead struct {
	sequence uint64 // 0: none
	event    *keptEvent
}

// fault returns the fault between the previously read event and its neighbour; empty: none.
func (r chainRead) fault(sequence uint64, e *keptEvent) string {
	older, newer, from, to := r.event, e, r.sequence, sequence
	if from > to {
		older, newer, from, to = e, r.event, to, from
	}
	switch {
	case r.sequence != 0 && to != from+1:
		return missing(from+1, to-1)
	case newer != nil && older != nil:
		return faultOf(newer.verify(older.Hash))
	case e != nil:
		return faultOf(e.Unaltered(sequence))
	}
	return ""
}

// chainNamed resolves ChainQuery.Chain to the id of a log.
func (s *Space) chainNamed(ctx context.Context, view store.Lineage, p Location, name string) (string, error) {
	names, err := s.namedSpaces(ctx)
	if err != nil {
		return "", err
	}
	var there, meant []string
	for replica, err := range s.replicasOf(ctx, view, p.Namespace) {
		if err != nil {
			return "", err
		}
		if replica == name {
			return replica, nil
		}
		remote, shown := names[incarnationOf(replica)], replica
		if remote != "" {
			shown = remote + " (" + replica + ")"
		}
		if there = append(there, shown); name != "" && (remote == name || strings.HasPrefix(replica, name)) {
			meant = append(meant, replica)
		}
		if len(there) == chainsListed {
			break
		}
	}
	switch {
	case len(meant) == 1:
		return meant[0], nil
	case len(there) == 0:
		return "", &Error{Code: NotFound, Message: fmt.Sprintf("namespace %q has no log of another space on branch %q: a pull or a sync brings them", clip(p.Namespace, 64), p.Branch)}
	case len(meant) > 1:
		return "", invalid("%q are %d logs: choose one by its id: %s", clip(name, 64), len(meant), strings.Join(meant[:min(len(meant), 20)], ", "))
	}
	return "", &Error{Code: NotFound, Message: fmt.Sprintf("namespace %q has no log of %q from another space on branch %q: it has those of %s", clip(p.Namespace, 64), clip(name, 64), p.Branch, strings.Join(there[:min(len(there), 20)], ", "))}
}

// incarnationOf returns the incarnation of the space in a replica's name.
func incarnationOf(replica string) string {
	incarnation, _, _ := strings.Cut(replica, ".")
	return incarnation
}

// namedPrefix is the prefix of the keys for the spaces of remotes on the default branch.
const namedPrefix = "remote/"

// namedSpaces returns the names of remotes by the ids of their spaces.
func (s *Space) namedSpaces(ctx context.Context) (map[string]string, error) {
	b, err := s.branch(Default)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	within := store.Range{Namespace: lineage.Namespace, Collection: exchanges, Prefix: namedPrefix}
	for e, err := range store.Entries(ctx, s.engine.ScanAt, b.Lineage, within, fillPage) {
		if err != nil {
			return nil, s.translate("read the names of other spaces", err)
		}
		r, err := record.Decode(e)
		if err != nil {
			return nil, err
		}
		var space string
		if err := json.Unmarshal(r.Value, &space); err != nil {
			return nil, fmt.Errorf("read the names of other spaces: %w", err)
		}
		names[space] = strings.TrimPrefix(e.Name, namedPrefix)
	}
	return names, nil
}

// NameSpace records the space of a remote, so that its logs can be found by the name of the remote.
func (a *Access) NameSpace(ctx context.Context, remote, space string, w Write) error {
	if len(space) > longestReplica {
		return invalid("the id of a space has %d bytes: it has at most %d", len(space), longestReplica)
	}
	if _, err := a.permitted(provenance.Scope{}, ToWrite); err != nil {
		return err
	}
	names, err := a.space.namedSpaces(ctx)
	if err != nil || names[space] == remote {
		return err
	}
	b, err := a.space.branch(Default)
	if err != nil {
		return err
	}
	named, err := recorded(space)
	if err != nil {
		return err
	}
	t := a.begin(b, fromCaller)
	t.set(site{Key: store.Key{Namespace: lineage.Namespace, Collection: exchanges, Name: namedPrefix + remote}}, named)
	_, err = t.finish(ctx, Commit{Write: a.sign(w)}, store.Request{}, "name another space")
	return a.space.translate("name another space", err)
}

func (a *Access) viewLogs(ctx context.Context, p Location) (view, Location, error) {
	p, err := a.reading(p)
	if err != nil {
		return view{}, p, err
	}
	v, err := a.space.view(ctx, p.Branch, AsOf{})
	return v, p, err
}

// verifyChains checks the logs of a namespace that were received on a branch.
func (s *Space) verifyChains(ctx context.Context, b *lineage.Branch, namespace string) (checked int, err error) {
	for replica, err := range s.replicasOf(ctx, b.Lineage[:1], namespace) {
		if err != nil {
			return checked, err
		}
		c, left := Chain{Namespace: namespace, ID: replica}, math.MaxInt
		if err := s.checkChain(ctx, b.Lineage, &c, &left); err != nil {
			return checked, err
		}
		if checked += c.Events; c.Broken != 0 {
			return checked, fmt.Errorf("verify the log of %s that was received: %s", replica, c.Fault)
		}
	}
	return checked, nil
}
