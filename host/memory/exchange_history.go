package memory

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/provenance"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// Versions of other spaces that were never the newest here are kept apart from the past of the branch. Each is an entry, named by its memory
// and its origin, so that the newest version of a memory sorts first.

// mostLooked bounds the own versions of a memory that are compared with those of other spaces; the newest count.
const mostLooked = 1000

// FirstElsewhere begins a list of Elsewhere, like the empty string.
const FirstElsewhere = "-"

func originOf(v provenance.Version) *Origin {
	space, _, _ := strings.Cut(v.Replica, ".")
	return &Origin{Space: space, Version: v.Version, Time: v.Time()}
}

// pastPrefix returns the prefix of the names of a memory's versions.
func pastPrefix(key string) string { return key + "\x00" }

// pastKey is the key of a version of a memory.
func pastKey(memory store.Key, v provenance.Version) store.Key {
	place := fmt.Sprintf("%016x\x00%s\x00%d", ^uint64(max(v.At, 0)), v.Replica, v.Version)
	return store.Key{Namespace: memory.Namespace, Collection: pasts, Name: pastPrefix(memory.Name) + place}
}

// pastOf selects the versions of a memory.
func pastOf(memory store.Key) store.Range {
	return store.Range{Namespace: memory.Namespace, Collection: pasts, Prefix: pastPrefix(memory.Name)}
}

// namedPast returns the memory and the origin in the name of a version.
func namedPast(name string) (key string, v provenance.Version, err error) {
	parts := strings.Split(name, "\x00")
	if len(parts) != 4 {
		return "", v, fmt.Errorf("%.64q names no version of another space", name)
	}
	at, err := strconv.ParseUint(parts[1], 16, 64)
	if err != nil {
		return "", v, err
	}
	v.Replica, v.At = parts[2], int64(^at)
	v.Version, err = strconv.ParseUint(parts[3], 10, 64)
	return parts[0], v, err
}

// historiesAt returns the histories that a branch has at a version: those of its own lineage and those that it received.
func (s *Space) historiesAt(ctx context.Context, b *lineage.Branch, at uint64) (provenance.Knowledge, error) {
	view, own := b.Lineage.At(at), provenance.Vector{}
	for _, segment := range view {
		s.incarnations(segment.At, func(incarnation string, _, last uint64) bool {
			own[replica(incarnation, segment.Branch)] = last
			return true
		})
	}
	return s.withReceived(ctx, view, own, pastKnown)
}

// HistoryPeer is Peer for an exchange of histories: Known is the histories that the branch has.
func (a *Access) HistoryPeer(ctx context.Context, branch string, at uint64, within provenance.Scope, to Right) (Peer, error) {
	p, err := a.Peer(ctx, branch, at, within, to)
	if err != nil {
		return p, err
	}
	b, err := a.space.branch(branch)
	if err != nil {
		return p, err
	}
	known, err := a.space.historiesAt(ctx, b, p.At)
	p.Known = known.Within(p.Scope)
	return p, err
}

// HistoryPlace is the position of an interrupted exchange of histories.
type HistoryPlace struct {
	Branch string `json:"branch"` // of the other space
	At     uint64 `json:"at"`     // the version of the other space that they are of
	Next   string `json:"next"`   // continues
}

func historyPlaceKey(space string, scope provenance.Scope) store.Key {
	return store.Key{Namespace: lineage.Namespace, Collection: exchanges, Name: "history." + scope.Key() + "." + space}
}

// HistoryPlace returns the position of an interrupted exchange of histories, or the zero HistoryPlace.
func (a *Access) HistoryPlace(ctx context.Context, branch, space string, scope provenance.Scope) (p HistoryPlace, err error) {
	if _, err := a.permitted(scope, ToWrite); err != nil {
		return p, err
	}
	b, err := a.space.branch(branch)
	if err != nil {
		return p, err
	}
	found, err := a.space.engine.GetAt(ctx, b.Lineage, []store.Key{historyPlaceKey(space, scope)})
	if err != nil || !found[0].Exists() {
		return p, a.space.translate("read how far histories were received", err)
	}
	r, err := record.Decode(found[0])
	if err == nil {
		err = json.Unmarshal(r.Value, &p)
	}
	if p.Branch != b.Name { // the branch was forked, and inherited it
		return HistoryPlace{}, err
	}
	return p, err
}

// Elsewhere lists at most limit versions of a key from other spaces that were never the newest here, latest first. They have no version of
// this space, have the time of their space, and AsOf does not show them. next continues the list; empty: the end.
func (a *Access) Elsewhere(ctx context.Context, p Location, key string, at AsOf, after string, limit int) (list []Memory, next string, err error) {
	s := a.space
	if p, err = a.readingKey(p, key); err != nil {
		return nil, "", err
	}
	v, err := s.view(ctx, p.Branch, at)
	if err != nil {
		return nil, "", err
	}
	within := pastOf(memoryKey(p.Namespace, key))
	if after != "" && after != FirstElsewhere {
		from, err := base64.RawURLEncoding.DecodeString(after)
		if err != nil {
			return nil, "", invalid("%q continues no list: pass the next of the page before", clip(after, 64))
		}
		within.From = within.Prefix + string(from) + "\x00"
	}
	var own map[provenance.Version]bool
	limit = s.page(limit)
	for e, err := range store.Entries(ctx, s.engine.ScanAt, v.lineage, within, limit+1) {
		if err == nil && own == nil {
			own, err = s.ownOrigins(ctx, v.lineage, memoryKey(p.Namespace, key))
		}
		if err != nil {
			return nil, "", s.translate("read the history of "+clip(key, 64), err)
		}
		m, origin, err := pastMemory(e)
		switch {
		case err != nil:
			return nil, "", err
		case own[origin]:
			continue
		case len(list) == limit:
			return list, next, nil
		}
		next = base64.RawURLEncoding.EncodeToString([]byte(strings.TrimPrefix(e.Name, within.Prefix)))
		m.Origin.Next = next
		list = append(list, m)
	}
	return list, "", nil
}

// ownOrigins returns the origins of the versions of a memory in a view. Of a version that several spaces wrote with the same content, it is
// the last one, which histories show.
func (s *Space) ownOrigins(ctx context.Context, view store.Lineage, key store.Key) (map[provenance.Version]bool, error) {
	own := map[provenance.Version]bool{}
	past, err := s.past(ctx, view, key, mostLooked)
	for _, v := range past {
		own[provenance.Latest(v.origins)] = true
	}
	return own, err
}

// pastMemory is a version of another space.
func pastMemory(e store.Entry) (Memory, provenance.Version, error) {
	key, origin, err := namedPast(e.Name)
	if err != nil {
		return Memory{}, origin, err
	}
	r, err := record.Decode(e)
	if err != nil {
		return Memory{}, origin, err
	}
	m := memoryOf(e, r)
	m.Key, m.Version, m.Timestamp, m.Origin = key, 0, origin.Time(), originOf(origin)
	if m.Deleted = m.State == record.Forgotten; m.Deleted {
		m.State, m.Value = Active, nil
	}
	return m, origin, nil
}

// findOrigins sets the origins of versions of a memory, newest first.
func (s *Space) findOrigins(ctx context.Context, view store.Lineage, list []Memory) error {
	if len(list) == 0 {
		return nil
	}
	of := memoryKey(list[0].Namespace, list[0].Key)
	notes, err := s.notesOf(ctx, view, of, list[len(list)-1].Version)
	for i := range list {
		n, ok := notes[list[i].Version]
		if !ok || err != nil {
			continue
		}
		var from []provenance.Version
		if from, err = s.originsOf(store.Entry{Key: of, Point: n.Point, Branch: n.Branch}, n); err == nil {
			list[i].Origin = originOf(provenance.Latest(from))
		}
	}
	return err
}

// notesOf returns the stored origins of the versions of a memory from one version on.
func (s *Space) notesOf(ctx context.Context, view store.Lineage, memory store.Key, from uint64) (map[uint64]store.Entry, error) {
	notes := map[uint64]store.Entry{}
	for n, err := range store.Entries(ctx, s.engine.Versions, view, exactly(originKey(memory)), notesPage) {
		if err != nil {
			return nil, err
		}
		if n.Version < from {
			break
		}
		notes[n.Version] = n
	}
	return notes, nil
}

const notesPage = 20
