package config

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
)

const (
	standardPriority = 100
	mostPriority     = 1000
	longestValue     = 16 << 10 // bytes
	longestReason    = 1000     // bytes
	keptVersions     = 1000     // changes in the history of a key in a scope
)

// Change is a change of a key.
type Change struct {
	Key       string          `json:"key"`
	Value     json.RawMessage `json:"value"`              // null unsets it in the scope
	Priority  *int            `json:"priority,omitempty"` // nil: 100
	IfVersion *uint64         `json:"if_version,omitempty"`
}

// By is the author of changes, and the reason.
type By struct {
	Agent  string `json:"agent,omitempty"`
	Family string `json:"family,omitempty"` // the family it was made through
	Reason string `json:"reason,omitempty"`
}

// Changed is a change that was made.
type Changed struct {
	Key     string          `json:"key"`
	Version uint64          `json:"version"`
	Before  json.RawMessage `json:"before,omitempty"` // absent: not set
	After   json.RawMessage `json:"after,omitempty"`
	Change  string          `json:"change,omitempty"` // the id of the change that made it, for Undo; empty: nothing was changed
}

// Version is a change in the history of a key in a scope.
type Version struct {
	Version  uint64          `json:"version"`
	Before   json.RawMessage `json:"before,omitempty"`
	After    json.RawMessage `json:"after,omitempty"`
	Priority int             `json:"priority,omitempty"`
	At       time.Time       `json:"at"`
	By
	RolledBackTo *uint64 `json:"rolled_back_to,omitempty"`
	Change       string  `json:"change,omitempty"` // the same for all keys that were changed together; see Undo
}

// Fault is the fault of a change.
type Fault struct {
	Fault string `json:"fault"`
	Key   string `json:"key"`
	Rule  string `json:"rule,omitempty"` // the rule that the values break together

	code memory.Code
}

// put changes several keys of a scope.
type put struct {
	Settings
	scope  Scope
	by     By
	set    document // including the changes so far
	faults []Fault
	done   []Changed
	logged []historyEntry
}

// historyEntry is a change to log in the history.
type historyEntry struct {
	key string
	Version
	together map[string]uint64 // see record
}

// Put stages changes of keys in a scope: all, or none if any is at fault.
func (s Settings) Put(ctx context.Context, scope Scope, list []Change, by By) ([]Changed, error) {
	p, err := s.begin(ctx, scope, by)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, c := range list {
		if seen[c.Key] {
			p.fault(c.Key, memory.InvalidArgument, "it is changed twice")
			continue
		}
		seen[c.Key] = true
		p.change(c, nil)
	}
	return p.finish(ctx)
}

// Rollback stages the value that a key had in a scope at a version, as a new version.
func (s Settings) Rollback(ctx context.Context, scope Scope, key string, to uint64, ifVersion *uint64, by By) (Changed, error) {
	if s.key(key) == nil {
		return Changed{}, s.Unknown(key)
	}
	p, err := s.begin(ctx, scope, by)
	if err != nil {
		return Changed{}, err
	}
	c := Change{Key: key, Value: json.RawMessage("null"), IfVersion: ifVersion}
	if to > 0 {
		v, err := s.version(ctx, scope, key, to, p.set[key].Version)
		if err != nil {
			return Changed{}, err
		}
		if len(v.After) > 0 {
			c.Value, c.Priority = v.After, &v.Priority
		}
	}
	p.change(c, &to)
	done, err := p.finish(ctx)
	if err != nil {
		return Changed{}, err
	}
	return done[0], nil
}

func (s Settings) begin(ctx context.Context, scope Scope, by By) (*put, error) {
	if err := scope.check(); err != nil {
		return nil, err
	}
	if len(by.Reason) > longestReason {
		return nil, invalid("the reason has %d bytes: at most %d are allowed", len(by.Reason), longestReason)
	}
	found, err := readOne(ctx, s.Stage, scope)
	if err != nil {
		return nil, err
	}
	p := &put{Settings: s, scope: scope, by: by, set: document{}}
	maps.Copy(p.set, found)
	return p, nil
}

func (p *put) fault(key string, code memory.Code, format string, args ...any) {
	p.faults = append(p.faults, Fault{Key: key, Fault: fmt.Sprintf(format, args...), code: code})
}

// change makes a change in the document, or records its fault. rolledBackTo is the version of the value; nil: no
// rollback, and a change without effect is no version.
func (p *put) change(c Change, rolledBackTo *uint64) {
	k, before := p.key(c.Key), p.set[c.Key]
	switch {
	case k == nil:
		p.fault(c.Key, memory.NotFound, "no manifest declares it")
		return
	case !k.Shared && p.scope.Kind != OfFamily:
		p.fault(c.Key, memory.NotFound, "family %s does not share it", k.Families[0])
		return
	case len(c.Value) == 0:
		p.fault(c.Key, memory.InvalidArgument, "its value is missing: null unsets it")
		return
	case len(c.Value) > longestValue:
		p.fault(c.Key, memory.InvalidArgument, "its value has %d bytes: at most %d are allowed", len(c.Value), longestValue)
		return
	case c.Priority != nil && (*c.Priority < 0 || *c.Priority > mostPriority):
		p.fault(c.Key, memory.InvalidArgument, "its priority is %d: it must be from 0 to %d", *c.Priority, mostPriority)
		return
	case c.IfVersion != nil && *c.IfVersion != before.Version:
		p.fault(c.Key, memory.Conflict, "it has version %d and not %d: read it again", before.Version, *c.IfVersion)
		return
	}
	next := entry{Version: before.Version, At: p.Stage.Now(), By: p.by.Agent}
	if !bytes.Equal(bytes.TrimSpace(c.Value), []byte("null")) {
		if err := k.Check(c.Value); err != nil {
			p.fault(c.Key, memory.InvalidArgument, "%v", err)
			return
		}
		next.Value, next.Priority = compacted(c.Value), p.priority(c)
	}
	if rolledBackTo == nil && bytes.Equal(next.Value, before.Value) && next.Priority == before.Priority {
		p.done = append(p.done, Changed{Key: c.Key, Version: before.Version, Before: before.Value, After: before.Value})
		return
	}
	next.Version++
	p.set[c.Key] = next
	p.changed(c.Key, before, next, p.by, rolledBackTo)
}

// changed records that a key was changed.
func (p *put) changed(key string, before, next entry, by By, rolledBackTo *uint64) {
	p.done = append(p.done, Changed{Key: key, Version: next.Version, Before: before.Value, After: next.Value, Change: changeID(key, next.Version)})
	p.logged = append(p.logged, historyEntry{key: key, Version: Version{Version: next.Version, Before: before.Value, After: next.Value, Priority: next.Priority, At: next.At, By: by, RolledBackTo: rolledBackTo}})
}

// priority returns the priority of a value; system values have none.
func (p *put) priority(c Change) int {
	if p.scope.Kind == System {
		return 0
	}
	if c.Priority == nil {
		return standardPriority
	}
	return *c.Priority
}

func compacted(value json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	if err := json.Compact(&out, value); err != nil {
		return value // validated before
	}
	return out.Bytes()
}

// checkRules records the rules that the scope's values break, combined with the system's.
func (p *put) checkRules(ctx context.Context) error {
	r := &resolver{all: p.Keys, own: p.Own, layers: []layer{{p.scope, p.set}}}
	if p.scope.Kind != System {
		system, err := readOne(ctx, p.Stage, Scope{Kind: System})
		if err != nil {
			return err
		}
		r.layers = append(r.layers, layer{Scope{Kind: System}, system})
	}
	for _, rule := range r.rules() {
		i := slices.IndexFunc(p.done, func(c Changed) bool { return slices.Contains(rule.Keys, c.Key) })
		if i < 0 {
			continue
		}
		values := map[string]json.RawMessage{}
		for _, name := range rule.Keys {
			if k := r.key(name); k != nil {
				list, _ := r.candidates(k)
				values[name] = list[0].entry.Value
			}
		}
		if fault := rule.broken(values); fault != "" {
			p.faults = append(p.faults, Fault{fmt.Sprintf("it breaks the rule that %s: %s", rule, fault), p.done[i].Key, rule.String(), memory.InvalidArgument})
		}
	}
	return nil
}

// finish stages all changes if none is at fault.
func (p *put) finish(ctx context.Context) ([]Changed, error) {
	if len(p.faults) == 0 {
		if err := p.checkRules(ctx); err != nil {
			return nil, err
		}
	}
	if len(p.faults) > 0 {
		return nil, p.refusal()
	}
	if len(p.logged) == 0 {
		return p.done, nil
	}
	p.together()
	return p.done, p.store(ctx)
}

// store stages the document and the changes for the history.
func (p *put) store(ctx context.Context) error {
	if err := write(ctx, p.Stage, p.scope, p.set); err != nil {
		return err
	}
	for _, l := range p.logged {
		if err := p.log(ctx, p.scope, l); err != nil {
			return err
		}
	}
	return nil
}

// refusal returns the error that lists the faults.
func (p *put) refusal() error {
	texts, code := make([]string, len(p.faults)), p.faults[0].code
	for i, f := range p.faults {
		texts[i] = fmt.Sprintf("%.64s: %s", f.Key, f.Fault)
		if f.code != code {
			code = memory.InvalidArgument
		}
	}
	// Not retryable, conflicts included: versions only grow, so the same request would be refused again.
	return &memory.Error{Code: code, Message: "nothing was changed: " + strings.Join(texts, "; "), Details: map[string]any{"faults": p.faults}}
}

// Unknown returns the error for an undeclared key.
func (s Settings) Unknown(key string) error {
	return &memory.Error{Code: memory.NotFound, Message: fmt.Sprintf("no manifest declares a shared setting %.64q: list them with config.list, or alcove config list", key)}
}

// changeName returns the key of the record of a change. Keys of settings contain no slash.
func changeName(s Scope, key string, version uint64) string {
	return fmt.Sprintf("%s/%s/%020d", s, key, version)
}

// record is a change as the history keeps it.
type record struct {
	Version
	// Together has the keys that were changed together, with the versions that they got, in the record of the key that the change is named
	// after; nil: the change has one key, or the record of that key lists them.
	Together map[string]uint64 `json:"together,omitempty"`
}

// log adds a change to the history, and drops the oldest.
func (s Settings) log(ctx context.Context, scope Scope, l historyEntry) error {
	value, err := json.Marshal(record{l.Version, l.together})
	if err != nil {
		return err
	}
	if l.Version.Version > keptVersions {
		if _, err := s.Stage.DeleteRecords(ctx, changes, namespace, []string{changeName(scope, l.key, l.Version.Version-keptVersions)}); err != nil {
			return err
		}
	}
	return s.Stage.PutRecord(ctx, changes, namespace, changeName(scope, l.key, l.Version.Version), value, nil)
}

// History lists the changes of a key in a scope, newest first, from before version before; 0: from the newest. next is the before of
// the next page; 0: the last page.
func (s Settings) History(ctx context.Context, scope Scope, key string, before uint64, limit int) (list []Version, next uint64, err error) {
	if s.key(key) == nil {
		return nil, 0, s.Unknown(key)
	}
	if err := scope.check(); err != nil {
		return nil, 0, err
	}
	found, err := readOne(ctx, s.Stage, scope)
	if err != nil {
		return nil, 0, err
	}
	newest := found[key].Version
	from, oldest := min(cmp.Or(before, newest), newest), uint64(1)
	if newest > keptVersions {
		oldest = newest - keptVersions + 1
	}
	var names []string
	for v := from; v >= oldest && len(names) < limit; v-- {
		names = append(names, changeName(scope, key, v))
	}
	if len(names) == 0 {
		return nil, 0, nil
	}
	records, err := s.Stage.Records(ctx, changes, namespace, names)
	if err != nil {
		return nil, 0, err
	}
	for _, r := range records {
		if r == nil {
			continue
		}
		var v Version
		if err := json.Unmarshal(r.Value, &v); err != nil {
			return nil, 0, fmt.Errorf("read the history of %s: %w", key, err)
		}
		v.Change = cmp.Or(v.Change, changeID(key, v.Version))
		list = append(list, v)
	}
	if last := from - uint64(len(names)) + 1; last > oldest {
		next = last - 1
	}
	return list, next, nil
}

// version reads a change of a key in a scope, whose newest version is given.
func (s Settings) version(ctx context.Context, scope Scope, key string, version, newest uint64) (record, error) {
	var v record
	records, err := s.Stage.Records(ctx, changes, namespace, []string{changeName(scope, key, version)})
	if err != nil {
		return v, err
	}
	if records[0] == nil {
		return v, &memory.Error{Code: memory.NotFound, Message: fmt.Sprintf("%s has no version %d in scope %s: it is at version %d, and the newest %d versions are kept", key, version, scope, newest, keptVersions)}
	}
	return v, json.Unmarshal(records[0].Value, &v)
}
