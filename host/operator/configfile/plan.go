package configfile

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/operator"
)

// What is done to something that differs.
const (
	Create = "create"
	Alter  = "change"
	Remove = "remove"
)

// Change is a difference between a server and a file, which an act of an operator ends.
type Change struct {
	Does    string   `json:"does"`
	Section string   `json:"section"`
	Name    string   `json:"name,omitempty"`
	Details []string `json:"details,omitempty"` // as in "memories: 100, was 200"
	// OfLock means that the lock file changes, which a locked server refuses.
	OfLock bool `json:"of_lock,omitempty"`

	act func(context.Context, operator.Server) (Made, error)
}

func (c Change) String() string {
	text := strings.TrimSpace(c.Does + " " + c.Section + " " + c.Name)
	if len(c.Details) > 0 {
		text += ": " + strings.Join(c.Details, "; ")
	}
	return text
}

// Made is what a change gave.
type Made struct {
	Secret string `json:"secret,omitempty"` // of a new key, which is not shown again
	// Narrowed means that the posture was personal and is careful now, because the server has a key.
	Narrowed bool `json:"narrowed,omitempty"`
}

// Make makes the change.
func (c Change) Make(ctx context.Context, s operator.Server) (Made, error) {
	return c.act(ctx, s)
}

// Plan returns what differs, in the order in which to change it: names before what refers to them, limits before the keys that they bound,
// and removals last, in the opposite order.
func (f *File) Plan(ctx context.Context, s operator.Server) ([]Change, error) {
	var sets, removals []Change
	for _, compare := range []func(context.Context, operator.Server) ([]Change, error){
		f.trust, f.endpoints, f.roots, f.families, f.embedders, f.settings, f.retention, f.quotas, f.keys,
	} {
		found, err := compare(ctx, s)
		if err != nil {
			return nil, err
		}
		for _, c := range found {
			if c.Does == Remove {
				removals = append(removals, c)
			} else {
				sets = append(sets, c)
			}
		}
	}
	slices.Reverse(removals)
	return append(sets, removals...), nil
}

// compared compares what a section names with what there is. set is called with nil to remove.
func compared[T any](section string, want, have map[string]T, prune bool, set func(ctx context.Context, s operator.Server, name string, to *T) error) []Change {
	var list []Change
	for _, name := range slices.Sorted(maps.Keys(want)) {
		to, does := want[name], Create
		was, known := have[name]
		if known {
			does = Alter
		}
		details := differences(was, to)
		if known && len(details) == 0 {
			continue
		}
		list = append(list, Change{Does: does, Section: section, Name: name, Details: details, act: func(ctx context.Context, s operator.Server) (Made, error) {
			return Made{}, set(ctx, s, name, &to)
		}})
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		if _, wanted := want[name]; wanted || !prune {
			continue
		}
		list = append(list, Change{Does: Remove, Section: section, Name: name, act: func(ctx context.Context, s operator.Server) (Made, error) {
			return Made{}, set(ctx, s, name, nil)
		}})
	}
	return list
}

// differences says how the members of two values of a type differ.
func differences[T any](was, to T) []string {
	before, after := membersOf(was), membersOf(to)
	names := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.Sort(names)
	var list []string
	for _, name := range slices.Compact(names) {
		old, now := string(before[name]), string(after[name])
		switch {
		case old == now:
		case old == "":
			list = append(list, name+": "+now)
		case now == "":
			list = append(list, name+": none, was "+old)
		default:
			list = append(list, name+": "+now+", was "+old)
		}
	}
	return list
}

// membersOf are the members of a value that are not zero. JSON has each in one form.
func membersOf(v any) map[string]json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("configfile: %T cannot be marshalled: %v", v, err)) // types of this package and of operator
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		panic(fmt.Sprintf("configfile: %T is not an object: %v", v, err))
	}
	maps.DeleteFunc(members, func(_ string, m json.RawMessage) bool {
		return slices.Contains([]string{`""`, "0", "false", "null"}, string(m))
	})
	return members
}

// ofLock marks changes of the lock file.
func ofLock(list []Change) []Change {
	for i := range list {
		list[i].OfLock = true
	}
	return list
}
