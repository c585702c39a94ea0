package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/host/internal/namespace"
	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/portable"
	"github.com/alcove-memory/alcove/host/memory/provenance"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// A branch keeps its data about other spaces in collections, so that forks inherit it. Knowledge and exchange states are in the namespace of
// the catalogue, which callers cannot name.
const (
	origins   = "_origin"    // by memory key: the origin of the present version; valid if both were written in one commit
	knowledge = "_known"     // the versions of other spaces that the branch has
	exchanges = "_exchange"  // on a receiving branch: the state of the exchange
	logs      = "_logs"      // events of the logs of other replicas, by replica and sequence number
	pasts     = record.Past  // versions of memories that other spaces wrote, by key and origin
	pastKnown = "_pastknown" // the histories of other spaces that the branch has, up to which version
)

// Tracking is the prefix of the names of branches that receive from other spaces.
const Tracking = lineage.Tracking

// isExchange reports whether a collection has the data of exchanges.
func isExchange(collection string) bool {
	return slices.Contains([]string{origins, knowledge, exchanges, logs, pasts, pastKnown}, collection) || strings.HasPrefix(collection, stampPrefix)
}

// Exchanged is a version of a memory, a deletion, or an event of a log, in the form that spaces exchange.
type Exchanged struct {
	portable.Memory
	Deleted bool                 `json:"deleted,omitempty"`
	Event   *exchangedEvent      `json:"event,omitempty"`
	Origins []provenance.Version `json:"origins"` // several if spaces wrote the same content independently
}

// key returns its key in the store.
func (e Exchanged) key() store.Key {
	if e.Event != nil && len(e.Origins) > 0 {
		return e.Event.key(e.Namespace, e.Origins[0].Replica)
	}
	return memoryKey(e.Namespace, e.Key)
}

// exchangedEvent is an event of a log in an exchange. Each replica has its own log, which is exchanged with its hash chain.
type exchangedEvent struct {
	Sequence uint64 `json:"sequence"`
	record.Event
}

// keptEvent is the stored form of an event of another replica's log.
type keptEvent struct {
	exchangedEvent
	Origin provenance.Version `json:"origin"`
}

// logPrefix returns the prefix of the names of a replica's events.
func logPrefix(replica string) string { return replica + "/" }

func (e exchangedEvent) key(namespace, replica string) store.Key {
	return store.Key{Namespace: namespace, Collection: logs, Name: logPrefix(replica) + store.SequenceName(e.Sequence)}
}

// verify checks the hash of the event; before is the hash of the preceding event.
func (e keptEvent) verify(before string) error {
	return e.Verify(before, e.Sequence, store.Point{Version: e.Origin.Version, Time: e.Origin.Time()})
}

// readKept reads an event of another replica's log; nil: it was purged.
func readKept(e store.Entry) (*keptEvent, error) {
	r, err := record.Decode(e)
	if err != nil || r.Purged != "" {
		return nil, err
	}
	var kept keptEvent
	return &kept, json.Unmarshal(r.Value, &kept)
}

func originKey(memory store.Key) store.Key {
	return store.Key{Namespace: memory.Namespace, Collection: origins, Name: memory.Name}
}

func exchangeKey() store.Key {
	return store.Key{Namespace: lineage.Namespace, Collection: exchanges, Name: "state"}
}

// incarnationsOf yields the incarnations of the space that wrote versions up to one, each with the first and the last of them.
func (s *Space) incarnations(upTo uint64, yield func(id string, first, last uint64) bool) {
	for i, part := range s.history {
		last := upTo
		if i+1 < len(s.history) {
			last = min(last, s.history[i+1].From)
		}
		if last > part.From && !yield(part.ID, part.From+1, last) {
			return
		}
	}
}

// replica returns the name of a branch in other spaces.
func replica(incarnation string, b store.BranchID) string {
	return incarnation + "." + strconv.FormatUint(uint64(b), 10)
}

// invents reports whether a version claims to be of this space, which has not written it. Versions of an earlier incarnation, from after the
// copy that this incarnation continues, are genuine.
func (s *Space) invents(v provenance.Version, head uint64) bool {
	now := s.history[len(s.history)-1]
	return v.Version > head && strings.HasPrefix(v.Replica, now.ID+".")
}

// originsOf returns the origins of a version. noted is the entry under its originKey.
func (s *Space) originsOf(e, noted store.Entry) ([]provenance.Version, error) {
	if e.Version == 0 {
		return nil, nil
	}
	if noted.Exists() && noted.Version == e.Version && noted.Branch == e.Branch {
		r, err := record.Decode(noted)
		if err != nil {
			return nil, err
		}
		var list []provenance.Version
		if err := json.Unmarshal(r.Value, &list); err != nil {
			return nil, fmt.Errorf("read where %s comes from: %w", e.Key, err)
		}
		return list, nil
	}
	own := provenance.Version{Version: e.Version, At: e.Time.UnixMicro()}
	s.incarnations(e.Version, func(id string, _, _ uint64) bool {
		own.Replica = replica(id, e.Branch)
		return true
	})
	return []provenance.Version{own}, nil
}

// recorded encodes a value for a collection of exchanges.
func recorded(v any) (*record.Record, error) {
	value, err := json.Marshal(v)
	return &record.Record{Value: value}, err
}

// knownReplica is the stored form of a branch's knowledge of a replica.
type knownReplica struct {
	Scope   provenance.Scope `json:"scope"`
	Replica string           `json:"replica"`
	Version uint64           `json:"version"`
}

// key returns its key in a collection: knowledge or pastKnown.
func (k knownReplica) key(collection string) store.Key {
	return store.Key{Namespace: lineage.Namespace, Collection: collection, Name: k.Scope.Key() + "." + k.Replica}
}

// knowledgeAt returns the knowledge of a branch at a version: what it wrote, inherited, merged, and received from other spaces.
func (s *Space) knowledgeAt(ctx context.Context, b *lineage.Branch, at uint64) (provenance.Knowledge, error) {
	view := b.Lineage.At(at)
	own := provenance.Vector{}
	for id, upTo := range s.catalogue.Knows(view, "") {
		if named := s.catalogue.ByID(id); !view.Has(id) && (named == nil || named.Deleted) {
			continue // nobody else knows of it
		}
		s.incarnations(upTo, func(incarnation string, _, last uint64) bool {
			own[replica(incarnation, id)] = last
			return true
		})
	}
	return s.withReceived(ctx, view, own, knowledge)
}

// withReceived adds the knowledge of other spaces in a collection, knowledge or pastKnown, to that of the branch's own writes.
func (s *Space) withReceived(ctx context.Context, view store.Lineage, own provenance.Vector, collection string) (provenance.Knowledge, error) {
	list := provenance.Knowledge{{Versions: own}}
	within := store.Range{Namespace: lineage.Namespace, Collection: collection}
	for e, err := range store.Entries(ctx, s.engine.ScanAt, view, within, fillPage) {
		if err != nil {
			return nil, s.translate("read what is known of other spaces", err)
		}
		if list, err = addKnown(list, e); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func addKnown(list provenance.Knowledge, e store.Entry) (provenance.Knowledge, error) {
	r, err := record.Decode(e)
	if err != nil {
		return nil, err
	}
	var k knownReplica
	if err := json.Unmarshal(r.Value, &k); err != nil {
		return nil, fmt.Errorf("read what is known of other spaces: %w", err)
	}
	key := k.Scope.Key()
	i := slices.IndexFunc(list[1:], func(known provenance.Known) bool { return known.Scope.Key() == key })
	if i < 0 {
		return append(list, provenance.Known{Scope: k.Scope, Versions: provenance.Vector{k.Replica: k.Version}}), nil
	}
	list[i+1].Versions[k.Replica] = k.Version
	return list, nil
}

// Peer describes this space and one of its branches to another space.
type Peer struct {
	Space  string // the present incarnation of the other's history
	Branch string
	At     uint64               // the version of the space that Known describes
	Scope  provenance.Scope     // what the caller may exchange
	Known  provenance.Knowledge // the knowledge of the branch within Scope
}

// Peer describes a branch at a version (0: the newest) to another space for an exchange of versions within a scope. The scope is limited to
// what the caller may read when it sends, and may write when it receives.
func (a *Access) Peer(ctx context.Context, branch string, at uint64, within provenance.Scope, to Right) (Peer, error) {
	s := a.space
	if len(s.history) == 0 {
		return Peer{}, &Error{Code: Unavailable, Message: "this store has no history by which spaces are told apart: it cannot exchange versions with others"}
	}
	if s.follows != "" {
		return Peer{}, &Error{Code: Unavailable, Message: "this server follows " + s.follows + ": exchange versions with the server that is backed up there"}
	}
	scope, err := a.permitted(within, to)
	if err != nil {
		return Peer{}, err
	}
	b, err := s.branch(branch)
	if err != nil {
		return Peer{}, err
	}
	head, err := s.engine.Head(ctx)
	if err != nil {
		return Peer{}, s.translate("read the newest version", err)
	}
	if at == 0 {
		at = head.Version
	}
	if at > head.Version {
		return Peer{}, invalid("version %d does not exist: the newest is %d", at, head.Version)
	}
	known, err := s.knowledgeAt(ctx, b, at)
	return Peer{Space: s.history[len(s.history)-1].ID, Branch: b.Name, At: at, Scope: scope, Known: known.Within(scope)}, err
}

// permitted returns the part of a scope within the caller's rights. Exceptions become withheld namespaces, which stay secret.
func (a *Access) permitted(within provenance.Scope, to Right) (provenance.Scope, error) {
	permit := a.readable
	if to == ToWrite {
		permit = a.writable
	}
	list, err := permit(within.Namespaces)
	if err != nil || list == nil {
		return within, err
	}
	var except []string
	for _, name := range list {
		if namespace.IsException(name) {
			except = append(except, strings.TrimPrefix(name, namespace.Except("")))
		}
	}
	within.Namespaces = namespace.Names(list)
	return within.Withhold(except), nil
}

// exactly selects the versions of a key.
func exactly(key store.Key) store.Range {
	return store.Range{Namespace: key.Namespace, Collection: key.Collection, Prefix: key.Name, Exact: true}
}

// pastVersion is a version of a memory, with its origin.
type pastVersion struct {
	store.Entry
	origins []provenance.Version
}

// mostPast bounds the versions of a memory that are examined.
const mostPast = 100

// past lists at most mostPast versions of a memory in a view, newest first.
func (s *Space) past(ctx context.Context, view store.Lineage, key store.Key, most int) ([]pastVersion, error) {
	notes, _, err := s.engine.Versions(ctx, view, exactly(originKey(key)), "", most)
	if err != nil {
		return nil, err
	}
	from := map[uint64]store.Entry{}
	for _, n := range notes {
		from[n.Version] = n
	}
	entries, _, err := s.engine.Versions(ctx, view, exactly(key), "", most)
	if err != nil {
		return nil, err
	}
	list := make([]pastVersion, len(entries))
	for i, e := range entries {
		list[i].Entry = e
		if list[i].origins, err = s.originsOf(e, from[e.Version]); err != nil {
			return nil, err
		}
	}
	return list, nil
}
