package family

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
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/sandbox"
)

// Longest times that hooks may take, whatever their manifests ask for: by the clock, and of a processor.
const (
	storeWithin = 2 * time.Second
	storeCPU    = 250 * time.Millisecond
	rankWithin  = 500 * time.Millisecond
	rankCPU     = 100 * time.Millisecond
)

// A hook that failed so often in a row is not asked for a while: each failure may cost its limit of time.
const (
	failuresInRow = 3
	pause         = 30 * time.Second
)

// asked notes what became of asking a hook.
func (x *family) asked(f *Families, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err == nil {
		x.failed = 0
		return
	}
	if x.failed++; x.failed >= failuresInRow {
		x.failed, x.paused = 0, f.o.Clock().Add(pause)
	}
}

func (x *family) pause(f *Families) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.failed, x.paused = 0, f.o.Clock().Add(pause)
}

// resting reports whether a hook is not asked for a while. A pause that would go on for longer than any does is over: the clock was
// put back.
func (x *family) resting(f *Families) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	left := x.paused.Sub(f.o.Clock())
	return left > 0 && left <= pause
}

// within lowers a limit of processor time.
func within(limits abi.Limits, manifest abi.Limits, most time.Duration) abi.Limits {
	asked := manifest.CPUMS
	if limits.CPUMS > 0 && (asked == 0 || limits.CPUMS < asked) {
		asked = limits.CPUMS
	}
	if asked == 0 || asked > most.Milliseconds() {
		asked = most.Milliseconds()
	}
	limits.CPUMS = asked
	return limits
}

// hook is a family whose hook is on.
type hook struct {
	family    *family
	onFailure abi.OnFailure
	redacts   bool
}

// storeHooks are the hooks that are asked before a store, in the order of their families' names, those that redact last. It is
// an error when a hook without which nothing may be stored cannot be asked.
func (f *Families) storeHooks(collection string) ([]hook, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	var list []hook
	for _, x := range f.known {
		if h, on := f.storeHookOf(x); on {
			list = append(list, h)
		}
	}
	for _, name := range f.serving() {
		g := f.guards[name]
		if g.family == nil || g.family.manifest.Hooks.Store == nil {
			return nil, f.missing(name, g)
		}
		list = append(list, hook{g.family, abi.OnFailureRefuse, g.family.manifest.Hooks.Store.Redacts})
	}
	list = slices.DeleteFunc(list, func(h hook) bool { return !about(h.family.manifest.Hooks.Store.Collections, collection) })
	slices.SortFunc(list, func(a, b hook) int {
		if a.redacts != b.redacts {
			if a.redacts {
				return 1
			}
			return -1
		}
		return strings.Compare(a.family.name, b.family.name)
	})
	return list, nil
}

// about reports whether a hook is about a collection; without a list it is about memories.
func about(collections []string, collection string) bool {
	if len(collections) == 0 {
		return collection == "memory"
	}
	return slices.Contains(collections, collection)
}

// Storing asks the store hooks. A hook that fails is skipped, or put off, or keeps the write out, as the operator said.
func (f *Families) Storing(ctx context.Context, s memory.Storing) ([]memory.Item, []string, error) {
	hooks, err := f.storeHooks("memory")
	if err != nil {
		return nil, nil, err
	}
	items, notes := s.Items, []string(nil)
	var put []hook // off
	for _, h := range hooks {
		if s.Staged && h.onFailure != abi.OnFailureRefuse {
			continue
		}
		sent := memory.EffectsOf(ctx).Count()
		changed, err := f.storeHookNow(ctx, h, s, items)
		if err == nil {
			items = changed
			continue
		}
		once := memory.EffectsOf(ctx).Count() > sent || memory.EffectsOf(ctx).Earlier(ctx) != nil // asked again, it would send that again
		var refused *refusal
		switch {
		case errors.As(err, &refused):
			return nil, nil, &memory.Error{Code: memory.Denied, Message: fmt.Sprintf("family %s refused it: %s", h.family.name, refused.reason)}
		case ctx.Err() != nil:
			return nil, nil, &memory.Error{Code: memory.Timeout, Retryable: true, Message: "the store was given up while family " + h.family.name + " was asked: nothing was stored"}
		case h.onFailure == abi.OnFailureRefuse:
			return nil, nil, &memory.Error{Code: memory.Unavailable, Retryable: !once,
				Message: fmt.Sprintf("nothing was stored, because family %s has to be asked first and failed: %v", h.family.name, err)}
		case h.onFailure == abi.OnFailureDefer && !once:
			put = append(put, h)
			notes = append(notes, fmt.Sprintf("family %s is asked later: %v", h.family.name, err))
		default:
			notes = append(notes, fmt.Sprintf("family %s was skipped: %v", h.family.name, err))
		}
	}
	for _, h := range put { // now that all were asked, so that what it is to be asked about is soon there
		if err := f.putOff(ctx, h, s, items); err != nil {
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

// storeHookNow asks one family about what is to be stored. When another version takes its place before it is asked, that which
// has the hook then is asked; when none has it any more, nothing changes.
func (f *Families) storeHookNow(ctx context.Context, h hook, s memory.Storing, items []memory.Item) ([]memory.Item, error) {
	changed, err := f.storeHook(ctx, h, s, items)
	for attempt := 2; attempt <= attempts && errors.As(err, new(replaced)) && ctx.Err() == nil; attempt++ {
		hooks, missing := f.storeHooks("memory")
		if missing != nil {
			return nil, missing
		}
		i := slices.IndexFunc(hooks, func(now hook) bool { return now.family.name == h.family.name })
		if i < 0 {
			return items, nil
		}
		changed, err = f.storeHook(ctx, hooks[i], s, items)
	}
	return changed, err
}

// storeHook asks one family about what is to be stored.
func (f *Families) storeHook(ctx context.Context, h hook, s memory.Storing, items []memory.Item) ([]memory.Item, error) {
	if h.onFailure != abi.OnFailureRefuse && h.family.resting(f) {
		return nil, &memory.Error{Code: memory.Unavailable, Retryable: true, Message: fmt.Sprintf("it failed again and again, and is not asked for %v", pause)}
	}
	if f.reachesOutside(h.family) {
		if err := memory.EffectsOf(ctx).Earlier(ctx); err != nil {
			return nil, err
		}
	}
	m, release, err := f.ready(ctx, h)
	if err != nil {
		return nil, err
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, storeWithin)
	defer cancel()
	stage, err := f.spaceFor(s.Caller, h.family).Stage(ctx, s.Branch)
	if err != nil {
		return nil, err
	}
	w := f.newRequest(h.family, stage, s.Caller, s.Namespace, s.RequestID)
	w.DryRun = s.DryRun
	changes, err := w.askStore(ctx, m, s.Namespace, items)
	switch {
	case errors.As(err, new(*refusal)): // it did what it is for
		h.family.asked(f, nil)
		return nil, err
	case err != nil:
		h.family.asked(f, err)
		return nil, err
	}
	changed, err := f.apply(items, changes)
	h.family.asked(f, err)
	if err != nil {
		return nil, err
	}
	f.commitBehind(w)
	return changed, nil
}

// ready is the module of a hook. One that is not loaded is being loaded, and waited for only where the write must not go on
// without it.
func (f *Families) ready(ctx context.Context, h hook) (Guest, func(), error) {
	if m := h.family.hold(f); m != nil {
		return m, func() { h.family.release(f) }, nil
	}
	if h.onFailure == abi.OnFailureRefuse {
		return f.acquire(ctx, h.family)
	}
	f.loadBehind(h.family)
	return nil, nil, &memory.Error{Code: memory.Unavailable, Retryable: true, Message: "it is being loaded"}
}

// loadBehind loads a family while nobody waits for it, once at a time. One that could not be loaded is left alone for a while.
func (f *Families) loadBehind(x *family) {
	if !x.coming.CompareAndSwap(false, true) {
		return
	}
	begun := f.behind(func() {
		defer x.coming.Store(false)
		_, release, err := f.acquire(context.Background(), x)
		if err == nil {
			release()
			return
		}
		f.o.Logger.Warn("a family whose hooks are on could not be loaded", "family", x.name, "error", err)
		x.pause(f)
	})
	if !begun {
		x.coming.Store(false)
	}
}

// askStore asks the guest what to change.
func (w *request) askStore(ctx context.Context, m Guest, namespace string, items []memory.Item) ([]*abi.Change, error) {
	config, err := w.configJSON(ctx)
	if err != nil {
		return nil, err
	}
	entries := make([]abi.Entry, len(items))
	for i, it := range items {
		entries[i] = abi.Entry{Namespace: namespace, Collection: "memory", Key: it.Key, Value: it.Value, Tags: it.Tags, Type: it.Type, Importance: it.Importance, Metadata: it.Metadata}
	}
	request, err := json.Marshal(abi.HookRequest{Hook: abi.HookStore, Entries: entries, Config: config, Context: w.Context()})
	if err != nil {
		return nil, fmt.Errorf("ask about a store: %w", err)
	}
	limits := within(limitsOf(w.families.grantOf(w.family)), w.family.manifest.Limits, storeCPU)
	result, err := m.Call(ctx, sandbox.Request{Kind: abi.KindHook, Payload: request, Host: w.Call, Limits: limits})
	if err != nil {
		return nil, asMemory(err)
	}
	if result.Class != abi.ClassOK {
		return nil, w.failure(result)
	}
	answer, err := abi.ParseStoreResult(result.Output, len(items))
	switch {
	case err != nil:
		return nil, &memory.Error{Code: memory.Unavailable, Message: err.Error()}
	case answer.Refuse != nil:
		return nil, refused(*answer.Refuse)
	}
	return answer.Entries, nil
}

// apply makes the changes that a hook answered with, if what comes out can be stored.
func (f *Families) apply(items []memory.Item, changes []*abi.Change) ([]memory.Item, error) {
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
		if err := f.o.Space.CheckItem(*it); err != nil {
			return nil, &memory.Error{Code: memory.Unavailable, Message: fmt.Sprintf("what it made of %.64q cannot be stored: %v", it.Key, err)}
		}
	}
	return changed, nil
}

// commitBehind commits what a hook staged of its own, without making the write wait for it. What others changed meanwhile
// is not overwritten: then it is lost, as if the hook had not run.
func (f *Families) commitBehind(w *request) {
	if w.DryRun || w.Stage.Changes() == 0 || w.Stage.ChangesMemories() {
		return // memories are changed by what the hook answers
	}
	commit := func() {
		if _, err := w.commitStage(context.Background(), memory.Commit{}); err != nil {
			f.o.Logger.Info("what a hook kept for itself was not committed", "family", w.family.name, "error", err)
			return
		}
		w.FinishUnseen(context.Background())
	}
	if f.o.Stepwise {
		commit()
		return
	}
	f.behind(commit)
}

// deferral is what a hook that was put off is to be asked about.
type deferral struct {
	Keys []string `json:"keys"`
}

// putOff queues the asking of a hook.
func (f *Families) putOff(ctx context.Context, h hook, s memory.Storing, items []memory.Item) error {
	if s.DryRun {
		return nil
	}
	keys := make([]string, len(items))
	for i, it := range items {
		keys[i] = it.Key
	}
	payload, err := json.Marshal(deferral{keys})
	if err != nil {
		return err
	}
	stage, err := f.ownSpace(h.family).Stage(ctx, s.Branch)
	if err != nil {
		return err
	}
	now := f.o.Clock()
	job := jobs.Job{ID: f.newID(now), Family: h.family.name, Name: deferredStore, Payload: payload, Branch: s.Branch, Namespace: s.Namespace,
		State: jobs.Queued, Due: now.Add(f.o.Retry), Created: now}
	job.SetCaller(s.Caller)
	if err := f.jobs.Put(ctx, stage, job); err != nil {
		return err
	}
	_, err = f.jobs.Commit(ctx, stage, memory.Commit{}, []jobs.Job{job})
	return err
}

// deferred asks a hook about memories that were stored without it, and stages what it changes in them.
func (w *request) deferred(ctx context.Context, m Guest, payload json.RawMessage) error {
	var d deferral
	if err := json.Unmarshal(payload, &d); err != nil {
		return fmt.Errorf("read what to ask about: %w", err)
	}
	found, err := w.Stage.Get(ctx, w.Namespace, d.Keys)
	if err != nil {
		return err
	}
	var items []memory.Item
	for _, f := range found {
		if f != nil {
			items = append(items, memory.Item{Key: f.Key, Value: f.Value, Tags: f.Tags, Type: f.Type, Importance: f.Importance, Metadata: f.Metadata})
		}
	}
	if len(items) == 0 {
		return nil // forgotten since
	}
	changes, err := w.askStore(ctx, m, w.Namespace, items)
	var refused *refusal
	if errors.As(err, &refused) { // too late, and not to be tried again
		return &memory.Error{Code: memory.Denied, Message: "family " + w.family.name + " would have refused what is stored already: " + refused.reason}
	}
	if err != nil {
		return err
	}
	for i, c := range changes {
		if c == nil {
			continue
		}
		patch := memory.Patch{Key: items[i].Key, Value: c.Value, Tags: c.Tags, Type: c.Type, Importance: c.Importance, Metadata: c.Metadata}
		if _, err := w.Stage.Patch(ctx, w.Namespace, []memory.Patch{patch}); err != nil {
			return err
		}
	}
	return nil
}
