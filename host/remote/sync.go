// Package remote exchanges memories with other spaces: it pulls, pushes, and serves pulls and pushes.
//
// An exchange copies the newest versions that one branch lacks to a tracking branch, which is then merged. Package provenance determines
// which are missing. With histories, older versions follow.
package remote

import (
	"cmp"
	"context"
	"errors"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/provenance"
)

// Peer is another space.
type Peer interface {
	// Introduce exchanges introductions with the other space.
	Introduce(ctx context.Context, r introduction) (introduced, error)
	// Versions returns a page of versions that this space lacks.
	Versions(ctx context.Context, r request) (page, error)
	// Receive sends a page of versions to the other space.
	Receive(ctx context.Context, p page) (Result, error)
	// Counts returns a page of the other space's counters.
	Counts(ctx context.Context, r countRequest) (page, error)
	// Count sends a page of counters to the other space.
	Count(ctx context.Context, p page) (Result, error)
	// Records returns a page of changed records of families.
	Records(ctx context.Context, r recordRequest) (page, error)
	// Record sends a page of records to the other space.
	Record(ctx context.Context, p page) (Result, error)
	// History returns a page of older versions that this space lacks.
	History(ctx context.Context, r request) (page, error)
	// KnownHistories returns the histories that the other space has.
	KnownHistories(ctx context.Context, r introduction) (knownHistories, error)
	// ReceiveHistories sends a page of older versions to the other space.
	ReceiveHistories(ctx context.Context, p page) (Result, error)
}

// introduction is the request that begins an exchange.
type introduction struct {
	Space  string               `json:"space"`
	Branch string               `json:"branch"`
	Scope  provenance.Scope     `json:"scope"`
	Push   bool                 `json:"push,omitempty"` // it will send
	Known  provenance.Knowledge `json:"known,omitempty"`
	// Records are the collections of families whose records it exchanges.
	Records []string `json:"records,omitempty"`
}

// introduced is the answer to an introduction.
type introduced struct {
	Space  string               `json:"space"`
	Branch string               `json:"branch"`
	At     uint64               `json:"at"`
	Scope  provenance.Scope     `json:"scope"` // that the key has a right to
	Known  provenance.Knowledge `json:"known"`
	// Received is the position of an interrupted push.
	Received *progress `json:"received,omitempty"`
	// Counts is the present mark of the counters, or of a push the one up to which those of the sender are known.
	Counts memory.CountMark `json:"counts,omitempty"`
	// Records are those of the collections that the other space exchanges, too, with this key, and RecordMarks their marks, as Counts is one.
	Records     []string    `json:"records,omitempty"`
	RecordMarks recordMarks `json:"record_marks,omitzero"`
}

// request asks for a page of versions.
type request struct {
	Branch string               `json:"branch"`
	At     uint64               `json:"at"`
	Scope  provenance.Scope     `json:"scope"`
	Known  provenance.Knowledge `json:"known"`
	From   string               `json:"from,omitempty"`
}

// Exchange configures an exchange.
type Exchange struct {
	Remote     string // its name, from which the name of the tracking branch is derived
	Branch     string // of both spaces; empty: memory.Default
	Namespaces []string
	Never      []string        // namespaces that stay here, as names and patterns
	Strategy   memory.Strategy // of conflicts; empty: memory.Newest
	History    Histories       // empty: NewestVersions
}

func (e Exchange) scope() provenance.Scope {
	return provenance.Scope{Namespaces: e.Namespaces}.Withhold(e.Never)
}

// Space exchanges versions of a space with others.
type Space struct {
	Memory *memory.Space
	Caller memory.Caller // who pulls and pushes
	Page   int           // versions in a page; 0: 500
	turns  turns
}

// Pull receives the versions that a branch lacks from another space.
func (s *Space) Pull(ctx context.Context, from Peer, e Exchange) (Result, error) {
	return repeated(func() (Result, error) { return s.pull(ctx, from, e.withDefaults()) })
}

// Push sends the versions of a branch that another space lacks. The other space receives them with the rights of the key.
func (s *Space) Push(ctx context.Context, to Peer, e Exchange) (Result, error) {
	return repeated(func() (Result, error) { return s.push(ctx, to, e.withDefaults()) })
}

// repeated restarts an exchange that another one overtook.
func repeated(do func() (Result, error)) (done Result, err error) {
	for range again {
		if done, err = do(); !isOvertaken(err) {
			break
		}
	}
	return done, err
}

func (e Exchange) withDefaults() Exchange {
	e.Branch, e.Strategy = cmp.Or(e.Branch, memory.Default), cmp.Or(e.Strategy, memory.Newest)
	return e
}

func (s *Space) pull(ctx context.Context, from Peer, e Exchange) (done Result, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &receiver{s.Memory, s.Caller, e.Branch, trackingBranch(e.Remote, e.Branch), e.Strategy}
	end, err := s.turns.take(ctx, r.tracking)
	if err != nil {
		return done, err
	}
	defer end()
	ours, theirs, err := s.handshake(ctx, from, e, false)
	if err != nil {
		return done, err
	}
	if done, err = s.pullVersions(ctx, from, r, ours, theirs); err == nil && e.History == AllVersions {
		err = s.pullHistories(ctx, from, e, theirs, &done)
	}
	if err == nil && e.Branch == memory.Default {
		done.Counted, err = s.pullCounts(ctx, from, theirs)
	}
	if err == nil {
		done.Records, err = s.pullRecords(ctx, from, e, ours.Space, theirs)
	}
	if err == nil && done.Events > 0 {
		err = s.Memory.As(s.Caller).NameSpace(ctx, e.Remote, theirs.Space, memory.Write{})
	}
	return done, err
}

func (s *Space) pullVersions(ctx context.Context, from Peer, r *receiver, ours memory.Peer, theirs introduced) (done Result, err error) {
	p := progress{Space: theirs.Space, Branch: r.branch, Scope: theirs.Scope}
	was, underway := r.state(ctx)
	underway = underway && was.continues(p)
	if p.At = theirs.At; underway && was.Next != "" {
		p = was
	}
	ask := func(next string) <-chan answer {
		return asked(ctx, from, request{Branch: r.branch, At: p.At, Scope: p.Scope, Known: ours.Known, From: next})
	}
	coming := ask(p.Next)
	for first := true; first || p.Next != ""; first = false {
		a := <-coming
		if a.err != nil {
			return done, a.err
		}
		if first && !underway && s.idle(a.page, ours, theirs) {
			return done, nil
		}
		if first && !underway {
			if got, ok, err := r.whole(ctx, p.Scope, a.page); ok || err != nil {
				return got, err
			}
		}
		if first {
			if p, err = r.begin(ctx, p); err != nil {
				return done, err
			}
		}
		if a.next != "" {
			coming = ask(a.next) // while this one is received
		}
		var got Result
		if p, got, err = r.take(ctx, p, a.page); err != nil {
			return done, err
		}
		done.add(got)
	}
	return done, nil
}

// answer is a page or an error.
type answer struct {
	page
	err error
}

// asked requests a page in the background.
func asked(ctx context.Context, from Peer, r request) <-chan answer {
	c := make(chan answer, 1)
	go func() {
		pg, err := from.Versions(ctx, r)
		c <- answer{pg, err}
	}()
	return c
}

// idleVersions is how many new versions of another space can bring nothing before they are recorded as known.
const idleVersions = 5000

// idle reports whether a pull would bring nothing. It then writes nothing; otherwise two spaces that watch each other would exchange for ever.
func (s *Space) idle(pg page, ours memory.Peer, theirs introduced) bool {
	if len(pg.versions) > 0 || pg.next != "" {
		return false
	}
	had, news := ours.Known.Throughout(theirs.Scope), false
	for replica, version := range theirs.Known.Throughout(theirs.Scope) {
		news = news || version > had[replica]+idleVersions
	}
	return !news
}

// errItself is the error of an exchange of a space with itself.
var errItself = errors.New("the remote is this data directory itself: name another server")

// handshake exchanges introductions, and makes the branch here if it is missing.
func (s *Space) handshake(ctx context.Context, peer Peer, e Exchange, push bool) (ours memory.Peer, theirs introduced, err error) {
	us, scope := s.Memory.As(s.Caller), e.scope()
	own, err := us.Peer(ctx, memory.Default, 0, scope, memory.ToRead)
	if err != nil {
		return ours, theirs, err
	}
	hello := introduction{Space: own.Space, Branch: e.Branch, Scope: own.Scope, Push: push}
	direction := memory.ToWrite
	if push {
		direction = memory.ToRead
	}
	hello.Records = us.SyncedCollections(direction)
	if push {
		if own, err = us.Peer(ctx, e.Branch, 0, scope, memory.ToRead); err != nil {
			return ours, theirs, err
		}
		hello.Known = own.Known
	}
	if theirs, err = peer.Introduce(ctx, hello); err != nil {
		return ours, theirs, err
	}
	if theirs.Space == own.Space {
		return ours, theirs, errItself
	}
	if err := s.Memory.CheckScope(theirs.Scope); err != nil {
		return ours, theirs, err
	}
	if err := s.Memory.CheckKnown(theirs.Known, own.At); err != nil {
		return ours, theirs, err
	}
	theirs.Scope = own.Scope.Within(theirs.Scope) // the other space cannot widen the scope
	if !push {
		if err := us.Adopt(ctx, e.Branch, theirs.Known, theirs.Scope, memory.Write{}); err != nil {
			return ours, theirs, err
		}
	}
	ours, err = us.Peer(ctx, e.Branch, 0, theirs.Scope, memory.ToRead)
	return ours, theirs, err
}

func (s *Space) push(ctx context.Context, to Peer, e Exchange) (done Result, err error) {
	end, err := s.turns.take(ctx, "push "+trackingBranch(e.Remote, e.Branch))
	if err != nil {
		return done, err
	}
	defer end()
	ours, theirs, err := s.handshake(ctx, to, e, true)
	if err != nil {
		return done, err
	}
	if done, err = s.pushVersions(ctx, to, e, ours, theirs); err == nil && e.History == AllVersions {
		err = s.pushHistories(ctx, to, e, ours, theirs, &done)
	}
	if err == nil && e.Branch == memory.Default {
		done.Counted, err = s.pushCounts(ctx, to, ours, theirs)
	}
	if err == nil {
		done.Records, err = s.pushRecords(ctx, to, e, ours, theirs)
	}
	return done, err
}

func (s *Space) pushVersions(ctx context.Context, to Peer, e Exchange, ours memory.Peer, theirs introduced) (done Result, err error) {
	from := ""
	if r := theirs.Received; r != nil && r.Next != "" && r.Space == ours.Space && r.Scope.Key() == theirs.Scope.Key() && r.At <= ours.At {
		if ours, err = s.Memory.As(s.Caller).Peer(ctx, e.Branch, r.At, theirs.Scope, memory.ToRead); err != nil {
			return done, err
		}
		from = r.Next
	}
	for first := true; first || from != ""; first = false {
		pg, err := listed(ctx, s.Memory.As(s.Caller), ours, theirs.Known, from, s.Page)
		if err != nil {
			return done, err
		}
		if first && theirs.Received == nil && len(pg.versions) == 0 && pg.next == "" {
			return done, nil
		}
		pg.Strategy = e.Strategy
		got, err := to.Receive(ctx, pg)
		if err != nil {
			return done, err
		}
		done.add(got)
		from = pg.next
	}
	return done, nil
}

// listed is a page of versions that another space lacks.
func listed(ctx context.Context, us *memory.Access, ours memory.Peer, known provenance.Knowledge, from string, most int) (page, error) {
	at, err := placeOf(from)
	if err != nil {
		return page{}, err
	}
	list, err := us.Versions(ctx, memory.ExchangeQuery{Peer: ours, Known: known, From: at, Limit: cmp.Or(most, 500), Bytes: pageBytes})
	if err != nil {
		return page{}, err
	}
	next, err := token(list.Next)
	return page{header: header{Space: ours.Space, Branch: ours.Branch, At: ours.At, Scope: ours.Scope, Known: ours.Known}, versions: list.Versions, next: next}, err
}
