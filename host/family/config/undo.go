package config

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/host/memory"
)

// changeID names a change after one of its keys, and the version that it made. Keys contain no @.
func changeID(key string, version uint64) string { return fmt.Sprintf("%s@%d", key, version) }

// parseChange reads the id of a change.
func parseChange(id string) (key string, version uint64, err error) {
	key, number, _ := strings.Cut(id, "@")
	version, err = strconv.ParseUint(number, 10, 64)
	if err != nil || key == "" || version == 0 {
		return "", 0, invalid("%.80q is not a change: give KEY@VERSION, as config.history or alcove config history KEY shows it", id)
	}
	return key, version, nil
}

// together names the change after its first key, in the records of all, and lists the keys in that of the first.
func (p *put) together() {
	if len(p.logged) < 2 {
		return
	}
	first := &p.logged[0]
	id := changeID(first.key, first.Version.Version)
	first.together = map[string]uint64{}
	for i := range p.logged {
		l := &p.logged[i]
		l.Change, first.together[l.key] = id, l.Version.Version
	}
	for i := range p.done {
		if p.done[i].Change != "" {
			p.done[i].Change = id
		}
	}
}

// Undo stages the values that the keys of a change had in a scope before it, as new versions: all, or none if any was changed since. The id is
// the change's, or KEY@VERSION of any of its keys. may checks the right to change a key.
func (s Settings) Undo(ctx context.Context, scope Scope, id string, by By, may func(key string) error) ([]Changed, error) {
	p, err := s.begin(ctx, scope, by)
	if err != nil {
		return nil, err
	}
	keys, err := p.keysOf(ctx, id)
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(keys))
	for _, key := range names {
		if err := may(key); err != nil {
			return nil, err
		}
	}
	for _, key := range names {
		if err := p.undo(ctx, key, keys[key]); err != nil {
			return nil, err
		}
	}
	return p.finish(ctx)
}

// keysOf returns the keys that a change set, with the versions that it made.
func (p *put) keysOf(ctx context.Context, id string) (map[string]uint64, error) {
	key, version, err := parseChange(id)
	if err != nil {
		return nil, err
	}
	if p.key(key) == nil {
		return nil, p.Unknown(key)
	}
	v, err := p.version(ctx, p.scope, key, version, p.set[key].Version)
	if err != nil {
		return nil, err
	}
	if v.Change == "" {
		return map[string]uint64{key: version}, nil
	}
	if first, at, err := parseChange(v.Change); err == nil && first != key {
		if v, err = p.version(ctx, p.scope, first, at, p.set[first].Version); err != nil {
			return nil, err
		}
	}
	if v.Together[key] != version {
		return nil, fmt.Errorf("read change %s: its record does not list %s", v.Change, key)
	}
	return v.Together, nil
}

// undo puts a key back to before a version, or records why it cannot.
func (p *put) undo(ctx context.Context, key string, version uint64) error {
	now := p.set[key].Version
	newest, err := p.recorded(ctx, key, now)
	if err != nil {
		return err
	}
	set, err := p.behindRollbacks(ctx, key, newest, version)
	if err != nil {
		return err
	}
	switch {
	case set.Version.Version > version:
		p.fault(key, memory.Conflict, "%s changed it since, with %s: undo that first, or set the values that you want", set.author(), set.Change)
		return nil
	case set.Version.Version < version:
		p.fault(key, memory.Conflict, "%s rolled it back to version %d already", newest.author(), set.Version.Version)
		return nil
	}
	to := version - 1
	c := Change{Key: key, Value: json.RawMessage("null")}
	if len(set.Before) > 0 {
		c.Value = set.Before
	}
	if p.scope.Kind != System && to > 0 && len(set.Before) > 0 {
		earlier, err := p.version(ctx, p.scope, key, to, now)
		if err != nil {
			return err
		}
		c.Priority = &earlier.Priority
	}
	p.change(c, &to)
	return nil
}

// behindRollbacks returns the change that set the value which a key has after a change: that change, or the one that rollbacks lead back to;
// version, if they lead there.
func (p *put) behindRollbacks(ctx context.Context, key string, v record, version uint64) (record, error) {
	for v.RolledBackTo != nil && v.Version.Version != version {
		var err error
		if v, err = p.recorded(ctx, key, *v.RolledBackTo); err != nil {
			return v, err
		}
	}
	return v, nil
}

// recorded returns a change of a key from the history; one that the history does not have any more has no author.
func (p *put) recorded(ctx context.Context, key string, version uint64) (v record, err error) {
	v.Version.Version = version
	if version == 0 {
		return v, nil
	}
	records, err := p.Stage.Records(ctx, changes, namespace, []string{changeName(p.scope, key, version)})
	if err != nil || records[0] == nil {
		return v, err
	}
	if err := json.Unmarshal(records[0].Value, &v); err != nil {
		return v, fmt.Errorf("read the history of %s: %w", key, err)
	}
	v.Change = cmp.Or(v.Change, changeID(key, version))
	return v, nil
}

func (v record) author() string { return cmp.Or(v.Agent, "somebody") }
