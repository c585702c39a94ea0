package hooks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/effect"
)

// Limits of a store hook, whatever its manifest asks for: of elapsed and of processor time.
const (
	storeWithin = 2 * time.Second
	storeCPU    = 250 * time.Millisecond
)

// mostAnswered is the highest generation of records about which a store hook is asked and keeps something for itself. Hooks that
// are asked about each other's records would go on without end.
const mostAnswered = 1

// attempts limits how often a store hook is called when its family is replaced.
const attempts = 8

// storing returns the families to call for a change, by name, redacting ones last.
func (h *Hooks) storing(what memory.Storing) ([]Store, error) {
	list, err := h.o.Families.Storing()
	if err != nil && blocks(err, what.Collection) {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(s Store) bool { return !s.covers(what) })
	slices.SortFunc(list, func(a, b Store) int {
		if redacts := a.Manifest().Hooks.Store.Redacts; redacts != b.Manifest().Hooks.Store.Redacts {
			if redacts {
				return 1
			}
			return -1
		}
		return strings.Compare(a.Name(), b.Name())
	})
	return list, nil
}

// Asks implements memory.Hooks. A missing family blocks stores, but no deletions: it is unknown whether its hook covers
// those. What calls for a hook (abi.When) depends on the namespace, the caller and the entries, so Storing alone looks at it.
func (h *Hooks) Asks(c memory.Change, collection string) bool {
	list, err := h.o.Families.Storing()
	if collection == "" {
		return err == nil && slices.ContainsFunc(list, func(s Store) bool { return asksAbout(s.Manifest().Hooks.Store, c) })
	}
	return err != nil && c == memory.ChangeStore && blocks(err, collection) ||
		slices.ContainsFunc(list, func(s Store) bool { return asksAbout(s.Manifest().Hooks.Store, c) && s.sees(collection) })
}

// Storing implements memory.Hooks. A failed hook is skipped, or deferred, or blocks the write, as the operator chose.
func (h *Hooks) Storing(ctx context.Context, s memory.Storing) (memory.Decision, error) {
	list, err := h.storing(s)
	if err != nil {
		return memory.Decision{}, err
	}
	d := memory.Decision{Items: s.Items}
	var put []*deferred
	for _, x := range list {
		later, err := h.askSome(ctx, x, s, &d)
		if err != nil {
			return memory.Decision{}, err
		}
		if later != nil {
			put = append(put, later)
		}
	}
	for _, x := range put { // after all others, so that the memories are stored soon
		if err := putOff(ctx, x.family, s, x.items); err != nil {
			return memory.Decision{}, err
		}
	}
	return d, nil
}

// askOne calls one family, and adds its answer to a decision. later reports that the call is to be deferred.
func (h *Hooks) askOne(ctx context.Context, x Store, s memory.Storing, d *memory.Decision) (later bool, err error) {
	sent := effect.Of(ctx).Count()
	said, err := h.askNow(ctx, x, s, d.Items)
	if err == nil {
		d.Items = said.items
		if said.proposes {
			d.Notes = append(d.Notes, fmt.Sprintf("family %s proposes it: %s", x.Name(), said.reason))
			d.Proposal = said.proposal(x, d.Proposal, h)
		}
		return false, nil
	}
	once := effect.Of(ctx).Count() > sent || effect.Of(ctx).Earlier(ctx) != nil // a repeated call would send it again
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		return false, &memory.Error{Code: memory.Denied, Message: fmt.Sprintf("family %s refused it: %s", x.Name(), refused.reason)}
	case ctx.Err() != nil:
		return false, &memory.Error{Code: memory.Timeout, Retryable: true, Message: fmt.Sprintf("the %s was given up while family %s was asked: nothing was %s", s.Change, x.Name(), done(s.Change))}
	case x.OnFailure == abi.OnFailureRefuse:
		return false, &memory.Error{Code: memory.Unavailable, Retryable: !once, Details: detailsOf(err),
			Message: fmt.Sprintf("nothing was %s, because family %s has to be asked first and failed: %v", done(s.Change), x.Name(), err)}
	case x.OnFailure == abi.OnFailureDefer && !once && s.Change == memory.ChangeStore && s.Collection == "":
		d.Notes = append(d.Notes, fmt.Sprintf("family %s is asked later: %v", x.Name(), err))
		return true, nil
	case errors.As(err, new(loadingError)) && h.isNotified(x):
		return false, nil // of what it does not see now
	}
	d.Notes = append(d.Notes, fmt.Sprintf("family %s was skipped: %v", x.Name(), err))
	return false, nil
}

// loadingError means that a guest is being loaded.
type loadingError struct{ error }

func (e loadingError) Unwrap() error { return e.error }

// isNotified reports whether a family is told of memories after they were stored.
func (h *Hooks) isNotified(x Family) bool {
	_, on := h.named(abi.HookStored, x.Name())
	return on
}

// detailsOf returns the details of a guest's failure, such as the text of its panic.
func detailsOf(err error) map[string]any {
	var known *memory.Error
	if errors.As(err, &known) {
		return known.Details
	}
	return nil
}

// done describes what a failed change did not do.
func done(c memory.Change) string {
	if c == memory.ChangeStore {
		return "stored"
	}
	return "changed"
}

// refusal is a guest's decision to reject a store. It is no failure of the guest.
type refusal struct{ reason string }

func (r *refusal) Error() string { return "it was refused: " + r.reason }

// refused returns the refusal for a guest's reason.
func refused(reason string) *refusal { return &refusal{oneLine(reason)} }

// oneLine formats a guest's reason for display: a line of bounded length without terminal control.
func oneLine(reason string) string {
	reason = strings.TrimSpace(strings.Map(printable, strings.ToValidUTF8(reason, "\uFFFD")))
	if most := int(abi.DefaultLimits().RefuseBytes); len(reason) > most {
		reason = strings.ToValidUTF8(reason[:most], "") + "…"
	}
	if reason == "" {
		reason = "it gave no reason"
	}
	return reason
}

// printable returns a character for display: white space becomes a blank, and invisible characters and those that change the text's
// direction are replaced.
func printable(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs):
		return unicode.ReplacementChar
	}
	return r
}

// askNow calls one family about a store. If another version replaces it before the call, that version is called, if it
// has the hook; otherwise nothing changes.
func (h *Hooks) askNow(ctx context.Context, x Store, s memory.Storing, items []memory.Item) (verdict, error) {
	said, err := h.ask(ctx, x, s, items)
	for attempt := 2; attempt <= attempts && errors.Is(err, ErrReplaced) && ctx.Err() == nil; attempt++ {
		list, missing := h.storing(s)
		if missing != nil {
			return verdict{}, missing
		}
		i := slices.IndexFunc(list, func(now Store) bool { return now.Name() == x.Name() })
		if i < 0 {
			return verdict{items: items}, nil
		}
		said, err = h.ask(ctx, list[i], s, items)
	}
	return said, err
}

// verdict is one family's answer to a change.
type verdict struct {
	items    []memory.Item
	proposes bool
	reason   string // why to propose it
	branch   string // for it; empty: any name
}

// proposal returns the branch for a change. That of a required family counts, which alone may merge it.
func (v verdict) proposal(x Store, present string, h *Hooks) string {
	if v.branch != "" {
		return v.branch
	}
	return cmp.Or(present, h.o.Proposal(x.Name(), h.o.Clock()))
}

// approves reports whether a family decides about its proposals itself: it is required, and keeps what waits in a collection named pending.
func (s Store) approves() bool {
	return s.OnFailure == abi.OnFailureRefuse && slices.ContainsFunc(s.Manifest().Collections, func(c abi.Collection) bool { return c.Name == "pending" })
}

// GuardBranch implements memory.BranchGuard: proposals of a family that approves are merged and deleted by that family alone, and not forked.
func (h *Hooks) GuardBranch(branch string, by memory.Caller) error {
	name, isProposal := strings.CutPrefix(branch, memory.Proposals)
	family, _, _ := strings.Cut(name, "/")
	if !isProposal || by.Family == family {
		return nil
	}
	list, missing := h.o.Families.Storing()
	if missing == nil && !slices.ContainsFunc(list, func(s Store) bool { return s.Name() == family && s.approves() }) {
		return nil
	}
	return &memory.Error{Code: memory.Denied, Message: fmt.Sprintf("branch %s holds changes that family %s has to approve: it cannot be merged, forked or deleted in another way", branch, family)}
}

// ask calls one family about a store, and applies the changes that it answers.
func (h *Hooks) ask(ctx context.Context, x Store, s memory.Storing, items []memory.Item) (said verdict, err error) {
	if x.OnFailure != abi.OnFailureRefuse && x.Breaker().Open(h.o.Clock()) {
		return said, &memory.Error{Code: memory.Unavailable, Retryable: true, Message: fmt.Sprintf("it failed repeatedly and is suspended for %v", Pause)}
	}
	if x.ReachesOutside() {
		if err := effect.Of(ctx).Earlier(ctx); err != nil {
			return said, err
		}
	}
	guest, err := x.guest(ctx)
	if err != nil {
		return said, err
	}
	defer guest.Release()
	ctx, cancel := context.WithTimeout(ctx, storeWithin)
	defer cancel()
	caller := s.Caller
	if s.Collection != "" { // what it keeps for itself are records, about which others may be asked
		caller.Generation++
	}
	stage, err := h.as(caller, x).Stage(ctx, s.Branch)
	if err != nil {
		return said, err
	}
	r := guest.Begin(abi.HookStore, stage, caller, s.Namespace, s.RequestID)
	r.Operations().DryRun = s.DryRun
	if x.OnFailure == abi.OnFailureRefuse {
		said.branch = h.proposalFor(x, s)
		r.Operations().Proposal = said.branch
	}
	answer, err := askStore(ctx, r, question{x.change(s), s.Collection, s.Namespace, items})
	switch {
	case errors.As(err, new(*refusal)): // a decision, not a failure
		x.Breaker().record(nil, h.o.Clock())
		return said, err
	case err != nil:
		x.Breaker().record(err, h.o.Clock())
		return said, err
	}
	said.items, err = apply(items, answer.Entries, s.Check)
	x.Breaker().record(err, h.o.Clock())
	if err != nil {
		return said, err
	}
	if answer.Propose != nil {
		said.proposes, said.reason = true, oneLine(*answer.Propose)
		if s.Resolved {
			return said, nil
		}
		return said, h.commitProposal(ctx, r)
	}
	if s.Collection == "" || s.Caller.Generation <= mostAnswered {
		h.commitBehind(x, r)
	}
	return said, nil
}

// proposalFor returns the branch for a change that a required family may propose: that of earlier parts of the change, if it is the family's.
func (h *Hooks) proposalFor(x Store, s memory.Storing) string {
	if strings.HasPrefix(s.Proposal, memory.Proposals+x.Name()+"/") {
		return s.Proposal
	}
	return h.o.Proposal(x.Name(), h.o.Clock())
}

// commitProposal commits what a hook keeps about a change that it proposes, before the change: no proposal is there of which its family
// knows nothing.
func (h *Hooks) commitProposal(ctx context.Context, r Request) error {
	call := r.Operations()
	if call.DryRun || call.Stage.Changes() == 0 || call.Stage.ChangesMemories() {
		return nil
	}
	return r.Commit(ctx)
}

// change returns the change for a family: one that does not ask about states sees a staged one as a store.
func (s Store) change(what memory.Storing) memory.Change {
	if asksAbout(s.Manifest().Hooks.Store, what.Change) {
		return what.Change
	}
	return memory.ChangeStore
}

// firstWithin bounds how long a write waits for a hook that may be skipped, and that is loaded only when a memory of its types comes.
const firstWithin = 2 * time.Second

// guest returns the guest of a store hook. It waits for loading if the write must not proceed without it, and a while if nobody loads it before
// it is asked.
func (s Store) guest(ctx context.Context) (Guest, error) {
	if g, ok := s.Loaded(); ok {
		return g, nil
	}
	if s.OnFailure == abi.OnFailureRefuse {
		return s.Load(ctx)
	}
	if len(s.Manifest().Hooks.Store.Types) > 0 {
		short, cancel := context.WithTimeout(ctx, firstWithin)
		defer cancel()
		if g, err := s.Load(short); err == nil || short.Err() == nil || ctx.Err() != nil {
			return g, err
		}
	}
	return nil, loadingError{&memory.Error{Code: memory.Unavailable, Retryable: true, Message: "it is being loaded"}}
}

// question is a change that a guest is asked about.
type question struct {
	change     memory.Change
	collection string // as memory.Storing has it
	namespace  string
	items      []memory.Item
}

// check returns an error if a guest may not make the changes that it answers.
func (q question) check(changes []*abi.Change) error {
	for _, c := range changes {
		switch {
		case c == nil:
		case q.change != memory.ChangeStore:
			return &memory.Error{Code: memory.Unavailable, Message: fmt.Sprintf("the result of the store hook changes an entry whose change is %q: that can only be refused or proposed", q.change)}
		case q.collection != "" && (c.Tags != nil || c.Type != nil || c.Importance != nil || len(c.Metadata) > 0):
			return &memory.Error{Code: memory.Unavailable, Message: "the result of the store hook changes more of a record than its value, which is all that it has"}
		}
	}
	return nil
}

// askStore calls a guest about a change.
func askStore(ctx context.Context, r Request, q question) (answer abi.StoreResult, err error) {
	config, err := r.Config(ctx)
	if err != nil {
		return answer, err
	}
	entries := make([]abi.Entry, len(q.items))
	for i, it := range q.items {
		entries[i] = abi.Entry{Namespace: q.namespace, Collection: cmp.Or(q.collection, "memory"), Key: it.Key, Value: it.Value, Tags: it.Tags, Type: it.Type,
			Importance: it.Importance, Metadata: it.Metadata, State: stateText(it.State), Links: it.Links, Supersedes: it.Supersedes}
		if q.change != memory.ChangeStore {
			entries[i].Change = string(q.change)
		}
	}
	request, err := json.Marshal(abi.HookRequest{Hook: abi.HookStore, Entries: entries, Config: config, Context: r.Operations().Context()})
	if err != nil {
		return answer, fmt.Errorf("ask about a store: %w", err)
	}
	output, err := r.Ask(ctx, abi.KindHook, request, storeCPU)
	if err != nil {
		return answer, err
	}
	answer, err = abi.ParseStoreResult(output, len(q.items))
	switch {
	case err != nil:
		return answer, &memory.Error{Code: memory.Unavailable, Message: err.Error()}
	case answer.Refuse != nil:
		return answer, refused(*answer.Refuse)
	}
	return answer, q.check(answer.Entries)
}

// stateText formats a state for guests: empty for active.
func stateText(s memory.State) string {
	if s == memory.Active {
		return ""
	}
	return string(s)
}

// apply applies the changes of a hook's answer, if the result can be stored.
func apply(items []memory.Item, changes []*abi.Change, check func(memory.Item) error) ([]memory.Item, error) {
	changed := slices.Clone(items)
	for i, c := range changes {
		if c == nil {
			continue
		}
		it := &changed[i]
		if c.Value != nil {
			it.Value = c.Value
		}
		if c.Tags != nil {
			it.Tags = c.Tags
		}
		if c.Type != nil {
			it.Type = *c.Type
		}
		if c.Importance != nil {
			it.Importance = c.Importance
		}
		if len(c.Metadata) > 0 {
			merged := map[string]json.RawMessage{}
			for name, value := range it.Metadata {
				merged[name] = value
			}
			for name, value := range c.Metadata {
				merged[name] = value
			}
			it.Metadata = merged
		}
		if err := check(*it); err != nil {
			return nil, &memory.Error{Code: memory.Unavailable, Message: fmt.Sprintf("its result for %.64q cannot be stored: %v", it.Key, err)}
		}
	}
	return changed, nil
}
