// Package recalls keeps what a recall by query found, so that feedback can refer to it.
package recalls

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
)

// Bounds of what is kept.
const (
	Kept        = 90 // days
	mostRecalls = 100_000
	mostBytes   = 64 << 20
	dropped     = 100 // one in so many recalls, the oldest, make room for a new one
	perPage     = 1000
	attempts    = 4 // to record a recall while others are recorded
)

// namespace of the records. They belong to no caller and no family.
const namespace = memory.Default

// Fact is a memory that was found.
type Fact struct {
	Namespace string `json:"namespace"`
	Key       string `json:"key"`
}

// ID returns the fact's id, as tools show and accept it.
func (f Fact) ID() string { return f.Namespace + "#" + f.Key }

// Recall is a search and what it found, best first.
type Recall struct {
	ID        string    `json:"-"`
	Branch    string    `json:"branch"`
	Query     string    `json:"query"`
	Facts     []Fact    `json:"facts"`
	Agent     string    `json:"agent,omitempty"` // who searched
	Key       string    `json:"key,omitempty"`   // the id of its API key; empty: none
	Timestamp time.Time `json:"-"`
	ExpiresAt time.Time `json:"-"`
}

// Options configures Recalls.
type Options struct {
	Space *memory.Space
	Quota memory.Quota // zero: 100,000 recalls and 64 MiB
}

// Recalls keeps recalls for a space. Its methods may be called concurrently.
type Recalls struct {
	o    Options
	kept memory.Collection
}

// New returns the recalls of a space.
func New(o Options) *Recalls {
	if o.Quota == (memory.Quota{}) {
		o.Quota = memory.Quota{Records: mostRecalls, Bytes: mostBytes}
	}
	return &Recalls{o, memory.Collection{Name: "core/recall", PerSpace: true, Internal: true, Expires: Kept * 24 * time.Hour, Quota: o.Quota}}
}

// Record keeps a recall for 90 days, and returns its id. The oldest recalls make room if there are too many.
func (k *Recalls) Record(ctx context.Context, who memory.Caller, r Recall) (id string, err error) {
	r.Agent, r.Key = who.Agent, who.Key
	value, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("encode a recall: %w", err)
	}
	for range attempts {
		if id, err = k.put(ctx, who, value); !has(err, memory.Exhausted) {
			break
		}
		if err = k.drop(ctx); err != nil {
			break
		}
	}
	if err != nil {
		return "", fmt.Errorf("record a recall: %w", err)
	}
	return id, nil
}

// put keeps a recall under a new id, of the moment at which it is written by the clock of the space.
func (k *Recalls) put(ctx context.Context, who memory.Caller, value json.RawMessage) (id string, err error) {
	stage, err := k.o.Space.As(who).Stage(ctx, memory.Default)
	if err != nil {
		return "", err
	}
	id = newID(stage.Now())
	if err := stage.PutRecord(ctx, k.kept, namespace, id, value, nil); err != nil {
		return "", err
	}
	_, err = stage.Commit(ctx, memory.Commit{})
	return id, err
}

// drop deletes the oldest recalls: ids are in the order of time.
func (k *Recalls) drop(ctx context.Context) error {
	stage, err := k.own().Stage(ctx, memory.Default)
	if err != nil {
		return err
	}
	oldest, _, err := stage.ListRecords(ctx, k.kept, namespace, "", "", int(k.o.Quota.Records/dropped)+1)
	if err != nil {
		return err
	}
	ids := make([]string, len(oldest))
	for i, r := range oldest {
		ids[i] = r.Key
	}
	if _, err := stage.DeleteRecords(ctx, k.kept, namespace, ids); err != nil {
		return err
	}
	_, err = stage.Commit(ctx, memory.Commit{})
	if has(err, memory.Conflict) { // another call dropped them
		return nil
	}
	return err
}

func (k *Recalls) own() *memory.Access {
	return k.o.Space.As(memory.Caller{Rights: memory.FullRights()})
}

// Get returns a recall, or nil if there is none that the caller may read: its own, of memories that it may still read. A caller with
// the right to act as others may read theirs, too.
func (k *Recalls) Get(ctx context.Context, who memory.Caller, id string) (*Recall, error) {
	if len(id) > longestID || !strings.HasPrefix(id, prefix) {
		return nil, nil
	}
	stage, err := k.own().Stage(ctx, memory.Default)
	if err != nil {
		return nil, err
	}
	found, err := stage.Records(ctx, k.kept, namespace, []string{id})
	if err != nil || found[0] == nil {
		return nil, err
	}
	r, err := recallOf(*found[0])
	if err != nil {
		return nil, err
	}
	if !r.readable(k.o.Space.As(who).Caller()) { // with its present rights
		return nil, nil
	}
	return &r, nil
}

func recallOf(kept memory.Record) (Recall, error) {
	r := Recall{ID: kept.Key, Timestamp: kept.Timestamp, ExpiresAt: kept.ExpiresAt}
	if err := json.Unmarshal(kept.Value, &r); err != nil {
		return Recall{}, fmt.Errorf("read recall %s: %w", r.ID, err)
	}
	return r, nil
}

// Finding returns the newest recalls that found a memory on a branch, the newest first, of those that the caller may read.
func (k *Recalls) Finding(ctx context.Context, who memory.Caller, branch string, f Fact, most int) (list []Recall, err error) {
	stage, err := k.own().Stage(ctx, memory.Default)
	if err != nil {
		return nil, err
	}
	reader := k.o.Space.As(who).Caller() // with its present rights
	for after, more := "", true; more; more = after != "" {
		var page []memory.Record
		if page, after, err = stage.ListRecords(ctx, k.kept, namespace, "", after, perPage); err != nil {
			return nil, err
		}
		for _, kept := range page {
			r, err := recallOf(kept)
			if err != nil {
				return nil, err
			}
			if r.Branch == branch && slices.Contains(r.Facts, f) && r.readable(reader) {
				list = append(list, r)
			}
		}
		list = list[max(0, len(list)-most):]
	}
	slices.Reverse(list)
	return list, nil
}

// readable reports whether a caller may read a recall.
func (r Recall) readable(who memory.Caller) bool {
	if own := r.Agent == who.Agent && r.Key == who.Key; !own && !who.Rights.May(memory.ToActAs) {
		return false
	}
	for _, f := range r.Facts {
		if !who.Rights.MayRead(f.Namespace) {
			return false
		}
	}
	return who.Rights.ReadsAnything()
}

func has(err error, code memory.Code) bool {
	var known *memory.Error
	return errors.As(err, &known) && known.Code == code
}
