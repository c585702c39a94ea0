package memory

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory/provenance"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// Limits of received data.
const (
	mostOrigins    = 64     // of one version
	longestReplica = 128    // bytes of a name
	mostKnown      = 20_000 // replicas in the knowledge of a space
	mostScopes     = 64
	mostWithheld   = 1000           // namespaces
	clocksApart    = 24 * time.Hour // the most that a version may be ahead of this clock
	longestState   = 64 << 10       // bytes of the state of an exchange
)

// Received is versions from another space.
type Received struct {
	Branch   string      // the branch that tracks the other space; without State, the exchanged branch
	Versions []Exchanged // at most Limits.Batch
	Known    provenance.Knowledge
	Scope    provenance.Scope
	Strategy Strategy
	// State is the position of the exchange, stored with the versions. Complete means that the branch then has all of Known.
	State    json.RawMessage
	Complete bool
}

// ReceivedResult counts received versions by outcome.
type ReceivedResult struct {
	Taken     int // written
	Known     int // known before, or superseded
	Events    int // of logs, written
	Version   uint64
	Conflicts []ExchangeConflict
}

// ExchangeConflict is a memory that both spaces changed concurrently.
type ExchangeConflict struct {
	Namespace string `json:"namespace"`
	Key       string `json:"key"`
	Kept      string `json:"kept"` // "theirs", "ours" or "both"; empty: neither yet
}

// ExchangeState returns the last Received.State of a branch; nil: it receives from no other space. The caller must have the right to read all
// namespaces.
func (a *Access) ExchangeState(ctx context.Context, branch string) (json.RawMessage, error) {
	if !a.caller.Rights.readsAll() {
		return nil, &Error{Code: Denied, Message: "how far an exchange is, only a caller is told that may read every namespace"}
	}
	b, err := a.branch(branch)
	if err != nil {
		return nil, err
	}
	found, err := a.space.engine.GetAt(ctx, b.Lineage[:1], []store.Key{exchangeKey()})
	if err != nil || !found[0].Exists() {
		return nil, a.space.translate("read the state of an exchange", err)
	}
	r, err := record.Decode(found[0])
	return r.Value, err
}

// Receive writes versions of another space in one commit. Hooks decide about them as about stores, and the caller needs the right to write
// each namespace. It omits versions that the branch knows. The error is a retryable conflict if the exchanged branch changed meanwhile.
func (a *Access) Receive(ctx context.Context, in Received, w Write) (ReceivedResult, error) {
	w = a.sign(w)
	b, err := a.space.branch(in.Branch)
	if err != nil {
		return ReceivedResult{}, err
	}
	if err := a.space.CheckScope(in.Scope); err != nil {
		return ReceivedResult{}, err
	}
	if in.Scope, err = a.permitted(in.Scope, ToWrite); err != nil {
		return ReceivedResult{}, err
	}
	head, err := a.space.engine.Head(ctx)
	if err != nil {
		return ReceivedResult{}, a.space.translate("receive", err)
	}
	r := &receiving{stage: a.begin(b, fromCaller), in: in, head: head.Version, sent: map[string]vectors{}, origin: map[site][]provenance.Version{}, staged: map[site]*record.Record{}}
	r.stage.expiry = WithExpired
	if r.known, err = a.space.knowledgeAt(ctx, b, head.Version); err != nil {
		return ReceivedResult{}, err
	}
	if err := r.check(); err != nil {
		return ReceivedResult{}, err
	}
	if err := r.all(ctx); err != nil {
		return ReceivedResult{}, a.space.translate("receive", err)
	}
	err = r.commit(ctx, w)
	if in.State == nil && errors.Is(err, store.ErrConflict) {
		err = &Error{Code: Conflict, Retryable: true, Cause: err, Message: "memories were changed while they were received: synchronise again"}
	}
	return r.result, err
}

// receiving is the execution of a Receive.
type receiving struct {
	stage  *Stage
	in     Received
	head   uint64
	known  provenance.Knowledge // to the branch
	sent   map[string]vectors
	origin map[site][]provenance.Version
	staged map[site]*record.Record // before hooks
	result ReceivedResult
}

// vectors are the version vectors of both sides in a namespace.
type vectors struct{ ours, theirs provenance.Vector }

func (r *receiving) vectors(namespace string) vectors {
	v, ok := r.sent[namespace]
	if !ok {
		v = vectors{r.known.In(namespace), r.in.Known.In(namespace)}
		r.sent[namespace] = v
	}
	return v
}

func (r *receiving) check() error {
	limits := r.stage.space.limits
	if len(r.in.Versions) > limits.Batch {
		return invalid("%d versions: at most %d can be received at once", len(r.in.Versions), limits.Batch)
	}
	if len(r.in.State) > longestState {
		return invalid("the state of an exchange has %d bytes: at most %d are allowed", len(r.in.State), longestState)
	}
	if err := r.stage.space.CheckKnown(r.in.Known, r.head); err != nil {
		return err
	}
	seen := map[store.Key]bool{}
	for _, e := range r.in.Versions {
		if err := r.checkOne(e); err != nil {
			return fmt.Errorf("receive %q of namespace %q: %w", clip(e.Key, 64), clip(e.Namespace, 64), err)
		}
		if seen[e.key()] {
			return invalid("%q of namespace %q is sent twice at once", clip(e.Key, 64), clip(e.Namespace, 64))
		}
		seen[e.key()] = true
	}
	return nil
}

// CheckScope returns why a received scope is invalid.
func (s *Space) CheckScope(scope provenance.Scope) error {
	if len(scope.Withheld) > mostWithheld || len(scope.Namespaces) > mostWithheld {
		return invalid("a scope names %d namespaces: at most %d are allowed", max(len(scope.Withheld), len(scope.Namespaces)), mostWithheld)
	}
	for _, name := range append(scope.Namespaces, scope.Withheld...) {
		if name == AllNamespaces {
			continue
		}
		if err := s.limits.checkName("namespace", strings.TrimSuffix(name, "/"+AllNamespaces)); err != nil {
			return err
		}
	}
	return nil
}

// CheckKnown returns why received knowledge is impossible. head is the newest version of this space.
func (s *Space) CheckKnown(known provenance.Knowledge, head uint64) error {
	if len(known) > mostScopes || known.Size() > mostKnown {
		return invalid("the other space announces %d replicas in %d scopes: at most %d in %d are allowed", known.Size(), len(known), mostKnown, mostScopes)
	}
	for _, k := range known {
		if err := s.CheckScope(k.Scope); err != nil {
			return err
		}
		for name, version := range k.Versions {
			if name == "" || len(name) > longestReplica {
				return invalid("the name of a replica has %d bytes: it has 1 to %d", len(name), longestReplica)
			}
			if s.invents(provenance.Version{Replica: name, Version: version}, head) {
				return conflict("the other space knows version %d of this one, which has written %d: this data directory is an older copy. Restore copies with alcove restore, which tells them apart", version, head)
			}
		}
	}
	return nil
}

func (r *receiving) checkOne(e Exchanged) error {
	s := r.stage.space
	if _, err := r.stage.writing(e.Namespace); err != nil {
		return err
	}
	if !r.in.Scope.Covers(e.Namespace) {
		return invalid("the namespace is not part of the exchange")
	}
	if e.Event == nil {
		if err := s.limits.checkKey(e.Key); err != nil {
			return err
		}
	}
	if len(e.Origins) == 0 || len(e.Origins) > mostOrigins {
		return invalid("it has %d origins: it has 1 to %d", len(e.Origins), mostOrigins)
	}
	for _, v := range e.Origins {
		if err := r.checkOrigin(v); err != nil {
			return err
		}
	}
	switch {
	case e.Event != nil:
		return r.checkEvent(e)
	case e.Deleted:
		return nil
	}
	if err := s.limits.checkText("agent", e.Agent, s.limits.Key); err != nil {
		return err
	}
	return s.limits.checkItem(imported(e.Memory))
}

const longestHash = 64 // bytes of a digest and of a hash, hexadecimal

func (r *receiving) checkEvent(e Exchanged) error {
	s, event := r.stage.space, e.Event
	if len(e.Origins) != 1 || event.Sequence == 0 || strings.Contains(e.Origins[0].Replica, "/") {
		return invalid("event %d of a log has %d origins: it has one", event.Sequence, len(e.Origins))
	}
	if len(event.Digest) != longestHash || len(event.Hash) != longestHash {
		return invalid("event %d of a log has no digest or no hash of %d bytes", event.Sequence, longestHash)
	}
	if err := s.limits.checkText("agent", event.Agent, s.limits.Key); err != nil {
		return err
	}
	if event.Data == nil { // it was purged
		return s.limits.checkText("event", event.Event.Event, s.limits.Name)
	}
	if _, err := s.limits.checkEvent(event.Event.Event, event.Data); err != nil {
		return err
	}
	if record.Digest(event.Data) != event.Digest {
		return invalid("the data of event %d of a log differ from what was logged", event.Sequence)
	}
	return nil
}

// logged stages an event of another replica's log, unless it is already stored.
func (r *receiving) logged(e Exchanged, entry store.Entry) error {
	if entry.Version != 0 {
		r.result.Known++
		return nil
	}
	kept, err := recorded(keptEvent{*e.Event, e.Origins[0]})
	r.stage.set(site{Key: e.key()}, kept)
	r.result.Events++
	return err
}

func (r *receiving) checkOrigin(v provenance.Version) error {
	s := r.stage.space
	if v.Replica == "" || len(v.Replica) > longestReplica || v.Version == 0 {
		return invalid("its origin %.64q v%d is none", v.Replica, v.Version)
	}
	if s.invents(v, r.head) {
		return conflict("it is version %d of this space, which has written %d: this data directory is an older copy. Restore copies with alcove restore, which tells them apart", v.Version, r.head)
	}
	if ahead := v.Time().Sub(s.clock()); ahead > clocksApart {
		return invalid("it was written at %s, and it is %s here: set the clock that is wrong", FormatTime(v.Time()), FormatTime(s.clock()))
	}
	return nil
}

// all decides about each version.
func (r *receiving) all(ctx context.Context) error {
	n := len(r.in.Versions)
	keys := make([]store.Key, 2*n)
	for i, e := range r.in.Versions {
		keys[i], keys[n+i] = e.key(), originKey(e.key())
	}
	var found []store.Entry
	var err error
	if n > 0 {
		if found, err = r.stage.space.engine.GetAt(ctx, r.stage.branch.Lineage.At(r.head), keys); err != nil {
			return err
		}
	}
	if r.in.State == nil { // the branch has other writers
		for i, e := range found[:n] {
			expected := uint64(0)
			if e.Exists() {
				expected = e.Version
			}
			remember(&r.stage.seen, site{Key: keys[i]}, expected)
		}
	}
	for i, e := range r.in.Versions {
		if err := r.one(ctx, e, found[i], found[n+i]); err != nil {
			return err
		}
	}
	if r.in.Complete {
		if err := r.learn(knowledge); err != nil {
			return err
		}
	}
	if r.in.State == nil {
		return nil
	}
	state, err := recorded(r.in.State)
	r.stage.set(site{Key: exchangeKey()}, state)
	return err
}

// local is the present version of a memory here.
type local struct {
	entry   store.Entry
	record  *record.Record // nil: there is none
	origins []provenance.Version
}

func (r *receiving) one(ctx context.Context, e Exchanged, entry, noted store.Entry) error {
	if e.Event != nil {
		return r.logged(e, entry)
	}
	ours, err := r.stage.space.originsOf(entry, noted)
	if err != nil {
		return err
	}
	l := local{entry: entry, origins: ours}
	if entry.Exists() {
		if l.record, err = record.Of(entry); err != nil {
			return err
		}
	}
	theirs, err := r.record(e)
	if err != nil {
		return err
	}
	v := r.vectors(e.Namespace)
	known := v.ours.HasAll(e.Origins) || provenance.Same(provenance.Union(ours, nil), provenance.Union(e.Origins, nil))
	switch {
	case known, erased(l.record, theirs), entry.Version == 0 && e.Deleted:
		r.result.Known++
	case entry.Version == 0 || v.theirs.HasAll(ours):
		r.take(e, theirs, e.Origins)
	case l.equals(theirs):
		r.take(e, l.record, provenance.Union(ours, e.Origins))
	default:
		return r.conflict(ctx, e, theirs, l)
	}
	return nil
}

// record returns the record of a version; nil: it is a deletion.
func (r *receiving) record(e Exchanged) (*record.Record, error) {
	if e.Deleted {
		return nil, nil
	}
	is, err := newRecord(imported(e.Memory), e.Agent)
	if is.Created > r.stage.now.UnixMicro() {
		is.Created = 0
	}
	return &is, err
}

func (l local) equals(theirs *record.Record) bool {
	if l.record == nil || theirs == nil {
		return l.record == nil && theirs == nil
	}
	return l.record.SameContent(*theirs)
}

// erased reports whether a purge erased the content of a version here.
func erased(here, theirs *record.Record) bool {
	if here == nil || here.Purged == "" || theirs == nil {
		return false
	}
	value, err := theirs.Encode()
	return err == nil && record.Digest(value) == here.Purged
}

// take writes a version; with origins nil, as one of this space.
func (r *receiving) take(e Exchanged, is *record.Record, origins []provenance.Version) {
	at := site{Key: e.key()}
	r.stage.set(at, is)
	if r.result.Taken++; origins != nil {
		r.origin[at] = origins
		r.staged[at] = is
	}
}

// conflict resolves a memory that both sides changed. The result is a new version, which other spaces take in place of both, unless the
// conflict stays unresolved.
func (r *receiving) conflict(ctx context.Context, e Exchanged, theirs *record.Record, l local) error {
	kept, is, err := r.decide(ctx, e, theirs, l)
	if err != nil {
		return err
	}
	r.result.Conflicts = append(r.result.Conflicts, ExchangeConflict{e.Namespace, e.Key, kept})
	if kept != "" {
		r.take(e, is, nil)
	}
	return nil
}

func (r *receiving) decide(ctx context.Context, e Exchanged, theirs *record.Record, l local) (kept string, is *record.Record, err error) {
	switch r.in.Strategy {
	case Source:
		return "theirs", theirs, nil
	case Target:
		return "ours", l.record, nil
	case Strict:
		return "", nil, nil
	case Fields:
		merged, err := r.fields(ctx, e, theirs, l)
		if merged != nil || err != nil {
			return "both", merged, err
		}
	}
	if provenance.Latest(e.Origins).Compare(provenance.Latest(l.origins)) > 0 {
		return "theirs", theirs, nil
	}
	return "ours", l.record, nil
}

// fields merges a memory by field. The base is the newest version that the other space knows. nil: both changed the same field.
func (r *receiving) fields(ctx context.Context, e Exchanged, theirs *record.Record, l local) (*record.Record, error) {
	if theirs == nil || l.record == nil || l.record.Purged != "" {
		return nil, nil
	}
	base, err := r.base(ctx, e)
	if err != nil {
		return nil, err
	}
	merged, ok := record.Merge(base, *theirs, *l.record)
	if !ok {
		return nil, nil
	}
	merged.Agent = r.stage.agent
	merged.Succeed(l.record, l.entry)
	return &merged, nil
}

// base returns the newest version here that the other space knows, or the zero Record.
func (r *receiving) base(ctx context.Context, e Exchanged) (record.Record, error) {
	past, err := r.stage.space.past(ctx, r.stage.branch.Lineage, e.key(), mostPast)
	if err != nil {
		return record.Record{}, err
	}
	for _, v := range past {
		if !r.vectors(e.Namespace).theirs.HasAll(v.origins) {
			continue
		}
		is, err := record.Of(v.Entry)
		if is == nil || is.Purged != "" {
			return record.Record{}, err
		}
		return *is, err
	}
	return record.Record{}, nil
}

// learn stages the knowledge of the other space, within the scope of the exchange, in a collection: knowledge or pastKnown.
func (r *receiving) learn(collection string) error {
	for _, k := range r.in.Known {
		scope := k.Scope.Within(r.in.Scope)
		had := r.known.Throughout(scope)
		for name, version := range k.Versions {
			if version <= had[name] {
				continue
			}
			known := knownReplica{scope, name, version}
			value, err := recorded(known)
			if err != nil {
				return err
			}
			r.stage.set(site{Key: known.key(collection)}, value)
		}
	}
	return nil
}

// commit asks the hooks and writes everything.
func (r *receiving) commit(ctx context.Context, w Write) error {
	if len(r.result.Conflicts) > 0 && r.in.Strategy == Strict {
		return r.refused()
	}
	t := r.stage
	if err := t.askAboutReceived(ctx, w); err != nil {
		return err
	}
	for at, list := range r.origin {
		if is := r.staged[at]; is != nil && !is.SameContent(*t.changed[at]) {
			continue // a hook changed it: it becomes a version of this space
		}
		noted, err := recorded(list)
		if err != nil {
			return err
		}
		t.set(site{Key: originKey(at.Key)}, noted)
	}
	done, err := t.finish(ctx, Commit{Write: w}, store.Request{}, "receive")
	r.result.Version = done.Version
	return err
}

// conflictsListed is how many conflicts an error names.
const conflictsListed = 20

func (r *receiving) refused() error {
	list := r.result.Conflicts
	names := &bytes.Buffer{}
	for i, c := range list[:min(len(list), conflictsListed)] {
		if i > 0 {
			names.WriteString(", ")
		}
		fmt.Fprintf(names, "%s#%s", c.Namespace, clip(c.Key, 64))
	}
	return &Error{Code: Conflict, Message: fmt.Sprintf("nothing was merged: both sides changed %d memories: %s. Choose a side with --strategy newest, source, target or fields", len(list), names),
		Details: map[string]any{"conflicts": len(list)}}
}

// Track begins an exchange: it forks a branch that tracks another space, with a first state, or returns the state of an exchange under way.
func (a *Access) Track(ctx context.Context, from, name string, state json.RawMessage, w Write) (json.RawMessage, error) {
	was, err := a.ExchangeState(ctx, name)
	switch {
	case err == nil && was != nil:
		return was, nil
	case err == nil:
		return nil, conflict("branch %q tracks no other space: rename or delete it, because an exchange uses that name", name)
	case !isMissing(err):
		return nil, err
	}
	if _, err := a.Fork(ctx, from, name, AsOf{}, w); err != nil {
		return nil, err
	}
	_, err = a.Receive(ctx, Received{Branch: name, State: state}, w)
	return nil, err
}

func isMissing(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == NotFound
}
