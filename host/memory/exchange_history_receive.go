package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/memory/provenance"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// mostElsewhere bounds the versions of other spaces that are kept of a memory.
const mostElsewhere = 10_000

// ReceivedHistory is a page of the histories of another space.
type ReceivedHistory struct {
	Space    string               // that sent them
	Branch   string               // of both
	Versions []Exchanged          // at most Limits.Batch
	Known    provenance.Knowledge // the histories that the other space has
	Scope    provenance.Scope
	At       uint64 // the version of the other space that they are of
	Next     string // continues; empty: the branch then has all of Known
	More     bool   // further parts of the page follow
}

// HistoryResult counts received versions by outcome.
type HistoryResult struct {
	Taken   int
	Known   int // had before
	Left    int // not taken: a hook refused or would have changed them, or there are too many of one memory
	Version uint64
}

// ReceiveHistory stores versions of another space beside those of this one, in one commit. The caller needs the right to write each namespace.
// It omits versions that the branch has, that were purged here or have expired, and that a hook would refuse or change.
func (a *Access) ReceiveHistory(ctx context.Context, in ReceivedHistory, w Write) (HistoryResult, error) {
	w = a.sign(w)
	s := a.space
	b, err := s.branch(in.Branch)
	if err != nil {
		return HistoryResult{}, err
	}
	if err := s.CheckScope(in.Scope); err != nil {
		return HistoryResult{}, err
	}
	permitted, err := a.permitted(in.Scope, ToWrite)
	if err != nil {
		return HistoryResult{}, err
	}
	place := historyPlaceKey(in.Space, in.Scope)
	in.Scope = permitted
	head, err := s.engine.Head(ctx)
	if err != nil {
		return HistoryResult{}, s.translate("receive histories", err)
	}
	r := &receivingHistory{in: in, receiving: receiving{stage: a.begin(b, fromCaller), in: Received{Branch: in.Branch, Versions: in.Versions, Known: in.Known, Scope: in.Scope}, head: head.Version}}
	if r.known, err = s.historiesAt(ctx, b, head.Version); err == nil {
		err = r.checkHistory()
	}
	if err == nil {
		err = r.keep(ctx, w)
	}
	if err == nil {
		err = r.savePosition(ctx, place)
	}
	if err != nil {
		return HistoryResult{}, s.translate("receive histories", err)
	}
	return r.done, s.translate("receive histories", r.finish(ctx, w))
}

// receivingHistory is the execution of a ReceiveHistory.
type receivingHistory struct {
	receiving
	in   ReceivedHistory
	has  map[store.Key]*receivedState
	done HistoryResult
}

// receivedState is what a branch has of a memory.
type receivedState struct {
	origins map[provenance.Version]bool
	purged  map[string]bool // digests
	others  int             // versions of other spaces
}

func (r *receivingHistory) checkHistory() error {
	limits := r.stage.space.limits
	if len(r.in.Versions) > limits.Batch {
		return invalid("%d versions: at most %d can be received at once", len(r.in.Versions), limits.Batch)
	}
	if len(r.in.Next)+len(r.in.Space) > longestState {
		return invalid("the state of an exchange has %d bytes: at most %d are allowed", len(r.in.Next)+len(r.in.Space), longestState)
	}
	if err := r.stage.space.CheckKnown(r.in.Known, r.head); err != nil {
		return err
	}
	for _, e := range r.in.Versions {
		err := r.checkOne(e)
		if err == nil && e.Event != nil {
			err = invalid("it is an event of a log, and no version of a memory")
		}
		if err == nil && slices.ContainsFunc(e.Origins, func(v provenance.Version) bool { return strings.ContainsRune(v.Replica, 0) || v.At < 0 }) {
			err = invalid("its origin has a NUL character, or is older than 1970")
		}
		if err != nil {
			return fmt.Errorf("receive a version of %q of namespace %q: %w", clip(e.Key, 64), clip(e.Namespace, 64), err)
		}
	}
	return nil
}

// arrival is a version that may be kept.
type arrival struct {
	at store.Key
	of store.Key // the memory
	is *record.Record
}

// keep stages the versions that are kept.
func (r *receivingHistory) keep(ctx context.Context, w Write) error {
	var list []arrival
	r.has = map[store.Key]*receivedState{}
	for _, e := range r.in.Versions {
		key := memoryKey(e.Namespace, e.Key)
		has, err := r.hadOf(ctx, key)
		if err != nil {
			return err
		}
		is, err := r.pastRecord(e)
		if err != nil {
			return err
		}
		list = append(list, r.arrivals(e, key, is, has)...)
	}
	list, err := r.unchangedByHooks(ctx, list, w)
	for _, c := range list {
		r.stage.set(site{Key: c.at}, c.is)
	}
	r.done.Taken = len(list)
	return err
}

// arrivals returns the versions of a memory in a received one, which may have several origins.
func (r *receivingHistory) arrivals(e Exchanged, key store.Key, is *record.Record, has *receivedState) (list []arrival) {
	for _, from := range e.Origins {
		switch {
		case has.origins[from], r.isOwn(from), r.isGone(is, has):
			r.done.Known++
			continue
		case has.others >= mostElsewhere:
			r.done.Left++
			continue
		}
		has.origins[from] = true
		has.others++
		list = append(list, arrival{pastKey(key, from), key, is})
	}
	return list
}

// isOwn reports whether this space wrote a version.
func (r *receivingHistory) isOwn(v provenance.Version) (own bool) {
	s := r.stage.space
	s.incarnations(r.head, func(id string, _, last uint64) bool {
		own = own || v.Version <= last && len(v.Replica) > len(id) && v.Replica[:len(id)+1] == id+"."
		return true
	})
	return own
}

// isGone reports whether a version has expired or was purged here.
func (r *receivingHistory) isGone(is *record.Record, has *receivedState) bool {
	if is.Expires != 0 && is.Expires <= r.stage.now.UnixMicro() {
		return true
	}
	if len(has.purged) == 0 {
		return false
	}
	value, err := is.Encode()
	return err == nil && has.purged[record.Digest(value)]
}

// pastRecord returns the stored form of a version.
func (r *receivingHistory) pastRecord(e Exchanged) (*record.Record, error) {
	if e.Deleted {
		return &record.Record{Value: json.RawMessage("null"), State: record.Forgotten}, nil
	}
	return r.record(e)
}

// hadOf reads what the branch has of a memory.
func (r *receivingHistory) hadOf(ctx context.Context, key store.Key) (*receivedState, error) {
	if has := r.has[key]; has != nil {
		return has, nil
	}
	has := &receivedState{origins: map[provenance.Version]bool{}, purged: map[string]bool{}}
	r.has[key] = has
	s, view := r.stage.space, r.stage.branch.Lineage.At(r.head)
	past, err := s.past(ctx, view, key, mostLooked)
	if err != nil {
		return nil, err
	}
	for _, v := range past {
		has.origins[provenance.Latest(v.origins)] = true
		if err := has.notePurged(v.Entry); err != nil {
			return nil, err
		}
	}
	for e, err := range store.Entries(ctx, s.engine.Versions, view, pastOf(key), exchangeStep) {
		if err != nil {
			return nil, err
		}
		_, from, err := namedPast(e.Name)
		if err == nil {
			err = has.notePurged(e)
		}
		if err != nil {
			return nil, err
		}
		has.origins[from] = true
		has.others++
	}
	return has, nil
}

func (h *receivedState) notePurged(e store.Entry) error {
	r, err := record.Of(e)
	if err == nil && r != nil && r.Purged != "" {
		h.purged[r.Purged] = true
	}
	return err
}

// unchangedByHooks asks the hooks about versions as if they were stored, and returns those that they would not refuse or change. Versions
// of one memory are checked one after the other.
func (r *receivingHistory) unchangedByHooks(ctx context.Context, list []arrival, w Write) (kept []arrival, err error) {
	if r.stage.space.currentHooks() == nil {
		return list, nil
	}
	for len(list) > 0 {
		var later, now []arrival
		asked := map[store.Key]bool{}
		for _, c := range list {
			switch {
			case c.is.State == record.Forgotten:
				kept = append(kept, c)
			case asked[c.of]:
				later = append(later, c)
			default:
				asked[c.of], now = true, append(now, c)
			}
		}
		agreed, err := r.agreed(ctx, now, w)
		if err != nil {
			return nil, err
		}
		kept, list = append(kept, agreed...), later
	}
	return kept, nil
}

// agreed returns the versions, each of another memory, that hooks would not refuse or change.
func (r *receivingHistory) agreed(ctx context.Context, list []arrival, w Write) ([]arrival, error) {
	if len(list) == 0 {
		return nil, nil
	}
	asking := r.stage.access.begin(r.stage.branch, fromCaller)
	asking.expiry = WithExpired
	for _, c := range list {
		asking.set(site{Key: c.of}, c.is)
	}
	proposal, err := asking.askHooks(ctx, w)
	refused := (*Error)(nil)
	switch {
	case err == nil && proposal == "":
		kept := slices.DeleteFunc(slices.Clone(list), func(c arrival) bool { return !c.is.SameContent(*asking.changed[site{Key: c.of}]) })
		r.done.Left += len(list) - len(kept)
		return kept, nil
	case err != nil && !(errors.As(err, &refused) && (refused.Code == Denied || refused.Code == Exhausted)):
		return nil, err
	case len(list) == 1:
		r.done.Left++
		return nil, nil
	}
	first, err := r.agreed(ctx, list[:len(list)/2], w)
	if err != nil {
		return nil, err
	}
	rest, err := r.agreed(ctx, list[len(list)/2:], w)
	return append(first, rest...), err
}

// savePosition stages the position of the exchange, or at its end the knowledge of the branch.
func (r *receivingHistory) savePosition(ctx context.Context, place store.Key) error {
	s := r.stage.space
	if r.in.More {
		return nil
	}
	if r.in.Next != "" {
		p, err := recorded(HistoryPlace{Branch: r.stage.branch.Name, At: r.in.At, Next: r.in.Next})
		r.stage.set(site{Key: place}, p)
		return err
	}
	found, err := s.engine.GetAt(ctx, r.stage.branch.Lineage.At(r.head), []store.Key{place})
	if err != nil {
		return err
	}
	continued := found[0].Exists()
	if continued {
		r.stage.set(site{Key: place}, nil)
	}
	if len(r.in.Versions) == 0 && !continued && !r.isCheckpointDue() {
		return nil // otherwise two spaces that watch each other would exchange for ever
	}
	return r.learn(pastKnown)
}

// idleVersions is how many new versions of another space can bring nothing before the branch records them as known.
const idleVersions = 5000

func (r *receivingHistory) isCheckpointDue() bool {
	had := r.known.Throughout(r.in.Scope)
	for name, version := range r.in.Known.Throughout(r.in.Scope) {
		if version > had[name]+idleVersions {
			return true
		}
	}
	return false
}

func (r *receivingHistory) finish(ctx context.Context, w Write) error {
	if len(r.stage.order) == 0 {
		return nil
	}
	if err := r.stage.room(); err != nil {
		return err
	}
	done, err := r.stage.finish(ctx, Commit{Write: w}, store.Request{}, "receive histories")
	r.done.Version = done.Version
	return err
}
