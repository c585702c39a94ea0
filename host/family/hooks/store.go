package hooks

import (
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
)

// Longest times that a store hook may take, whatever its manifest asks for: by the clock, and of a processor.
const (
	storeWithin = 2 * time.Second
	storeCPU    = 250 * time.Millisecond
)

// attempts is how often a store hook is asked whose family is replaced.
const attempts = 8

// storing are the families that are asked before a store, in the order of their names, those that redact last.
func (h *Hooks) storing(collection string) ([]Store, error) {
	list, err := h.o.Families.Storing()
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(s Store) bool { return !about(s.Manifest().Hooks.Store.Collections, collection) })
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

// Storing implements memory.Hooks. A hook that fails is skipped, or put off, or keeps the write out, as the operator said.
func (h *Hooks) Storing(ctx context.Context, s memory.Storing) ([]memory.Item, []string, error) {
	list, err := h.storing("memory")
	if err != nil {
		return nil, nil, err
	}
	items, notes := s.Items, []string(nil)
	var put []Store // off
	for _, x := range list {
		if s.Staged && x.OnFailure != abi.OnFailureRefuse {
			continue
		}
		sent := memory.EffectsOf(ctx).Count()
		changed, err := h.askNow(ctx, x, s, items)
		if err == nil {
			items = changed
			continue
		}
		once := memory.EffectsOf(ctx).Count() > sent || memory.EffectsOf(ctx).Earlier(ctx) != nil // asked again, it would send that again
		var refused *refusal
		switch {
		case errors.As(err, &refused):
			return nil, nil, &memory.Error{Code: memory.Denied, Message: fmt.Sprintf("family %s refused it: %s", x.Name(), refused.reason)}
		case ctx.Err() != nil:
			return nil, nil, &memory.Error{Code: memory.Timeout, Retryable: true, Message: "the store was given up while family " + x.Name() + " was asked: nothing was stored"}
		case x.OnFailure == abi.OnFailureRefuse:
			return nil, nil, &memory.Error{Code: memory.Unavailable, Retryable: !once,
				Message: fmt.Sprintf("nothing was stored, because family %s has to be asked first and failed: %v", x.Name(), err)}
		case x.OnFailure == abi.OnFailureDefer && !once:
			put = append(put, x)
			notes = append(notes, fmt.Sprintf("family %s is asked later: %v", x.Name(), err))
		default:
			notes = append(notes, fmt.Sprintf("family %s was skipped: %v", x.Name(), err))
		}
	}
	for _, x := range put { // now that all were asked, so that what it is to be asked about is soon there
		if err := putOff(ctx, x, s, items); err != nil {
			return nil, nil, err
		}
	}
	return items, notes, nil
}

// refusal is a guest's own decision to keep something out. It is no failure of the guest.
type refusal struct{ reason string }

func (r *refusal) Error() string { return "it was refused: " + r.reason }

// refused is the refusal for a reason that a guest gave: a line of bounded length that steers no terminal.
func refused(reason string) *refusal {
	reason = strings.TrimSpace(strings.Map(printable, strings.ToValidUTF8(reason, "\uFFFD")))
	if most := int(abi.DefaultLimits().RefuseBytes); len(reason) > most {
		reason = strings.ToValidUTF8(reason[:most], "") + "…"
	}
	if reason == "" {
		reason = "it gave no reason"
	}
	return &refusal{reason}
}

// printable is a character as it may be shown: white space is a blank, and what is unseen or changes the direction of a text is
// replaced.
func printable(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs):
		return unicode.ReplacementChar
	}
	return r
}

// askNow asks one family about what is to be stored. When another version takes its place before it is asked, that which has the
// hook then is asked; when none has it any more, nothing changes.
func (h *Hooks) askNow(ctx context.Context, x Store, s memory.Storing, items []memory.Item) ([]memory.Item, error) {
	changed, err := h.ask(ctx, x, s, items)
	for attempt := 2; attempt <= attempts && errors.Is(err, ErrReplaced) && ctx.Err() == nil; attempt++ {
		list, missing := h.storing("memory")
		if missing != nil {
			return nil, missing
		}
		i := slices.IndexFunc(list, func(now Store) bool { return now.Name() == x.Name() })
		if i < 0 {
			return items, nil
		}
		changed, err = h.ask(ctx, list[i], s, items)
	}
	return changed, err
}

// ask asks one family about what is to be stored, and makes the changes that it answers.
func (h *Hooks) ask(ctx context.Context, x Store, s memory.Storing, items []memory.Item) ([]memory.Item, error) {
	if x.OnFailure != abi.OnFailureRefuse && x.Rest().resting(h.o.Clock()) {
		return nil, &memory.Error{Code: memory.Unavailable, Retryable: true, Message: fmt.Sprintf("it failed again and again, and is not asked for %v", Pause)}
	}
	if x.ReachesOutside() {
		if err := memory.EffectsOf(ctx).Earlier(ctx); err != nil {
			return nil, err
		}
	}
	guest, err := x.guest(ctx)
	if err != nil {
		return nil, err
	}
	defer guest.Release()
	ctx, cancel := context.WithTimeout(ctx, storeWithin)
	defer cancel()
	stage, err := h.as(s.Caller, x).Stage(ctx, s.Branch)
	if err != nil {
		return nil, err
	}
	r := guest.Begin(stage, s.Caller, s.Namespace, s.RequestID)
	r.Operations().DryRun = s.DryRun
	changes, err := askStore(ctx, r, s.Namespace, items)
	switch {
	case errors.As(err, new(*refusal)): // it did what it is for
		x.Rest().asked(nil, h.o.Clock())
		return nil, err
	case err != nil:
		x.Rest().asked(err, h.o.Clock())
		return nil, err
	}
	changed, err := h.apply(items, changes)
	x.Rest().asked(err, h.o.Clock())
	if err != nil {
		return nil, err
	}
	h.commitBehind(x, r)
	return changed, nil
}

// guest is the guest of a store hook. One that is not loaded is waited for only where the write must not go on without it.
func (s Store) guest(ctx context.Context) (Guest, error) {
	if g, ok := s.Loaded(); ok {
		return g, nil
	}
	if s.OnFailure == abi.OnFailureRefuse {
		return s.Load(ctx)
	}
	return nil, &memory.Error{Code: memory.Unavailable, Retryable: true, Message: "it is being loaded"}
}

// askStore asks a guest what to change.
func askStore(ctx context.Context, r Request, namespace string, items []memory.Item) ([]*abi.Change, error) {
	config, err := r.Config(ctx)
	if err != nil {
		return nil, err
	}
	entries := make([]abi.Entry, len(items))
	for i, it := range items {
		entries[i] = abi.Entry{Namespace: namespace, Collection: "memory", Key: it.Key, Value: it.Value, Tags: it.Tags, Type: it.Type, Importance: it.Importance, Metadata: it.Metadata}
	}
	request, err := json.Marshal(abi.HookRequest{Hook: abi.HookStore, Entries: entries, Config: config, Context: r.Operations().Context()})
	if err != nil {
		return nil, fmt.Errorf("ask about a store: %w", err)
	}
	output, err := r.Ask(ctx, abi.KindHook, request, storeCPU)
	if err != nil {
		return nil, err
	}
	answer, err := abi.ParseStoreResult(output, len(items))
	switch {
	case err != nil:
		return nil, &memory.Error{Code: memory.Unavailable, Message: err.Error()}
	case answer.Refuse != nil:
		return nil, refused(*answer.Refuse)
	}
	return answer.Entries, nil
}

// apply makes the changes that a hook answered with, if what comes out can be stored.
func (h *Hooks) apply(items []memory.Item, changes []*abi.Change) ([]memory.Item, error) {
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
		if err := h.o.Space.CheckItem(*it); err != nil {
			return nil, &memory.Error{Code: memory.Unavailable, Message: fmt.Sprintf("what it made of %.64q cannot be stored: %v", it.Key, err)}
		}
	}
	return changed, nil
}
