package purge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// Copies are records, memories and events that have what was purged.
type Copies struct {
	Records int    `json:"records"` // all of them
	List    []Copy `json:"list"`    // the first
}

// ListLimit is how many copies a result lists.
const ListLimit = 200

// Copy is a record, a memory or an event with what was purged, on a branch.
type Copy struct {
	Family     string `json:"family,omitempty"` // that keeps it; empty: not known, or none
	Collection string `json:"collection"`       // memory and _log are no family's; _answers are what requests were answered with, _commits whose commits were
	Namespace  string `json:"namespace"`
	Key        string `json:"key"` // the sequence number of an event
	Branch     string `json:"branch"`
	Why        string `json:"why,omitempty"` // it may be one
}

func (c *Copies) add(found Copy) {
	c.Records++
	if len(c.List) < ListLimit {
		c.List = append(c.List, found)
	}
}

// copies searches every version for the traces so far. A certain copy that a family made, and an answer with one, is erased; what
// others wrote, and a possible copy, is only listed.
func (r *purgeRun) copies(ctx context.Context) error {
	for _, b := range r.space.Branches.Kept() {
		var key store.Key // the last one; listed and named are about it
		var listed, named bool
		err := r.space.eachVersion(ctx, b, store.Range{}, func(e store.Entry) error {
			if e.Key != key {
				key, listed, named = e.Key, false, false
			}
			verdict, why := r.judge(e)
			found := copyOf(e, b, why)
			switch {
			case verdict == isCopy:
				if !listed {
					r.done.Copies.add(found)
				}
				listed = true
				left, purge := purgedCopy(e)
				if !purge {
					return nil
				}
				return r.erase(ctx, e, left)
			case verdict == mayBeCopy && !named:
				named = true
				r.done.Possible.add(found)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return errors.Join(r.flush(ctx), r.notes(ctx), r.elsewhere())
}

// elsewhere has files beside the store searched for the traces so far.
func (r *purgeRun) elsewhere() error {
	if r.space.Elsewhere == nil {
		return nil
	}
	return r.space.Elsewhere(func(text []byte) bool {
		found := r.plan.traces.Find(text)
		return found.Copy() || found.Explanation() != ""
	})
}

// notesPage is how many notes of commits are read at once.
const notesPage = 500

// notes searches the notes of commits for the traces so far. One with a certain copy is dropped.
func (r *purgeRun) notes(ctx context.Context) error {
	var drop []uint64
	system := r.space.Branches.System()
	for n, err := range store.Notes(ctx, r.space.Engine.Notes, 0, store.Latest, notesPage) {
		if err != nil {
			return err
		}
		e := store.Entry{Key: store.Key{Namespace: lineage.Namespace, Collection: record.CommitNotes, Name: strconv.FormatUint(n.Version, 10)}, Point: n.Point, Value: n.Note}
		verdict, why := r.judge(e)
		switch {
		case verdict == isCopy:
			r.done.Copies.add(copyOf(e, system, why))
			drop = append(drop, n.Version)
		case verdict == mayBeCopy:
			r.done.Possible.add(copyOf(e, system, why))
		}
	}
	return r.space.Engine.PurgeNotes(ctx, drop)
}

// judgement is how a purge treats a version.
type judgement int

const (
	isNone judgement = iota
	mayBeCopy
	isCopy
)

// judge decides whether a version is a copy of what is being purged, and says why it may be one.
func (r *purgeRun) judge(e store.Entry) (judgement, string) {
	if e.Deleted {
		return isNone, ""
	}
	switch e.Collection {
	case record.Memories, record.Past:
		return r.judgeMemory(e)
	case record.Events:
		return r.judgeEvent(e)
	}
	if kept, err := record.Decode(e); err == nil && kept.Purged != "" {
		return isNone, ""
	}
	found := r.plan.traces.Find(e.Value)
	named := r.plan.traces.Find(fmt.Appendf(nil, "%q", e.Name))
	found.Key = found.Key || named.Key
	switch {
	case found.Copy(), e.Collection == record.Answers && (found.Value || found.Part):
		return isCopy, ""
	case e.Collection == record.Answers: // which go with the day
		return isNone, ""
	case found.Explanation() != "":
		return mayBeCopy, found.Explanation()
	case named.Text || named.Part:
		return mayBeCopy, "its name has a text that was purged, and names stay"
	}
	return isNone, ""
}

// judgeMemory treats other memories with the same text as possible copies: callers wrote them.
func (r *purgeRun) judgeMemory(e store.Entry) (judgement, string) {
	if _, purge := r.plan.replace(e); purge && r.plan.isOf(e.Key) {
		return isNone, ""
	}
	for _, payload := range payloadsOf(e) {
		if r.plan.traces.Find(payload).Text {
			return mayBeCopy, "a memory has a text that was purged"
		}
	}
	return isNone, ""
}

// judgeEvent treats a copy in an event as certain only if a family logged the event.
func (r *purgeRun) judgeEvent(e store.Entry) (judgement, string) {
	logged, err := record.DecodeEvent(e)
	if _, purge := r.plan.replace(e); err != nil || logged.Data == nil || purge && r.plan.isOf(e.Key) {
		return isNone, ""
	}
	found := r.plan.traces.Find(logged.Data)
	switch {
	case ofFamily(logged.Agent) != "" && found.Copy():
		return isCopy, ""
	case found.Text:
		return mayBeCopy, "an event of the log has a text that was purged"
	}
	return isNone, ""
}

// isOf reports whether a key names the purged original, rather than a copy.
func (p Plan) isOf(key store.Key) bool {
	return slices.ContainsFunc(p.within, func(r store.Range) bool {
		return key.Namespace == r.Namespace && key.Collection == r.Collection && (key.Name == r.Prefix || !r.Exact && strings.HasPrefix(key.Name, r.Prefix))
	})
}

// ofFamily is the family that an agent's name stands for; empty when it is not a family's.
func ofFamily(agent string) string {
	name, is := strings.CutPrefix(agent, "family:")
	if !is {
		return ""
	}
	return name
}

func copyOf(e store.Entry, b *lineage.Branch, why string) Copy {
	found := Copy{Family: familyOf(e), Collection: e.Collection, Namespace: e.Namespace, Key: e.Name, Why: why}
	if b != nil {
		found.Branch = b.Name
	}
	if e.Collection == record.Events {
		if sequence, err := store.ParseSequence(e.Name); err == nil {
			found.Key = fmt.Sprint(sequence)
		}
		if logged, err := record.DecodeEvent(e); err == nil {
			found.Family = ofFamily(logged.Agent)
		}
	}
	return found
}

// familyOf is the family that an entry belongs to; empty when none is known.
func familyOf(e store.Entry) string {
	switch family, _, own := strings.Cut(e.Collection, "/"); {
	case own:
		return family
	case e.Collection == "_settings", e.Collection == "_settings_log":
		scope, _, _ := strings.Cut(e.Name, "/")
		name, _ := strings.CutPrefix(scope, "family:")
		if name == scope {
			return "" // it is set for all families
		}
		return name
	case e.Collection == "_config", e.Collection == "_tools", e.Collection == "_schedules", e.Collection == "_stored":
		name, _, _ := strings.Cut(e.Name, "/")
		return name
	case e.Collection == "_jobs":
		var job struct {
			Value struct {
				Family string `json:"family"`
			} `json:"v"`
		}
		_ = json.Unmarshal(e.Value, &job) // an unreadable one belongs to none
		return job.Value.Family
	}
	return ""
}

// payloadsOf are the value of a memory and the data of an event.
func payloadsOf(e store.Entry) []json.RawMessage {
	var payload struct {
		Value json.RawMessage `json:"v"` // of a memory
		Data  json.RawMessage `json:"d"` // of an event
	}
	if json.Unmarshal(e.Value, &payload) != nil {
		return nil
	}
	return []json.RawMessage{payload.Value, payload.Data}
}

// purgedCopy is what is left of a copy.
func purgedCopy(e store.Entry) ([]byte, bool) {
	switch e.Collection {
	case record.Answers:
		return purgedAnswer(e)
	case record.Events:
		return purgedEvent(e)
	}
	return purgedMemory(e)
}

// purgedAnswer keeps only that a request had outside effects, so that a retry does not repeat them.
func purgedAnswer(e store.Entry) ([]byte, bool) {
	var was, left record.Answer
	if json.Unmarshal(e.Value, &was) == nil && len(was.Sent) > 0 {
		left = record.Answer{Sent: []string{fmt.Sprintf("%d requests were sent, which a purge erased", len(was.Sent))}, Expires: was.Expires}
	}
	value, err := json.Marshal(left)
	return value, err == nil
}
