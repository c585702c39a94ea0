package alcovetest

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/abi"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// selected lists memories by their fields. Its pages are numbered by the memories before them.
func (h *host) selected(in abi.MemoryListRequest, memories map[address]*alcove.Memory) (any, error) {
	f := cmp.Or(in.Filter, &abi.MemoryFilter{})
	if in.AsOf != "" && (f.MinAccesses != nil || f.MaxAccesses != nil || f.MinHealth != nil || f.MaxHealth != nil || in.Order == "accesses" || in.Order == "accessed") {
		return nil, alcove.Errorf(alcove.InvalidArgument, "counters are of the present: leave as_of out")
	}
	from, err := strconv.Atoi(cmp.Or(in.After, "0"))
	if err != nil || from < 0 {
		return nil, alcove.Errorf(alcove.InvalidArgument, "after is not what the page before answered as next: begin again without it")
	}
	if _, err := h.admits(f, &alcove.Memory{}); err != nil { // also where there is nothing
		return nil, err
	}
	found := []alcove.Memory{}
	for at, m := range memories {
		if at.collection != "memory" || at.namespace != h.namespace(in.Namespace) || !strings.HasPrefix(at.key, in.Prefix) {
			continue
		}
		ok, err := h.admits(f, m)
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, *m)
		}
	}
	slices.SortFunc(found, func(a, b alcove.Memory) int {
		return cmp.Or(h.compare(in.Order, &a, &b), cmp.Compare(a.Key, b.Key))
	})
	out := alcove.MemoryListResponse{}
	if total := len(found); in.Count != "" {
		out.Total = &total
	}
	if in.Count == "only" {
		found = nil
	}
	to := min(from+cmp.Or(in.Limit, 100), len(found))
	if to < len(found) {
		out.Next = strconv.Itoa(to)
	}
	out.Memories = []alcove.Memory{}
	for _, m := range found[min(from, to):to] {
		out.Memories = append(out.Memories, *shown(&m, in.Counters))
	}
	return out, nil
}

// compare orders memories, apart from their keys.
func (h *host) compare(order string, a, b *alcove.Memory) int {
	importance := func(m *alcove.Memory) float64 {
		if m.Importance == nil {
			return -1
		}
		return *m.Importance
	}
	switch order {
	case "newest":
		return cmp.Compare(h.created(b), h.created(a))
	case "oldest":
		return cmp.Compare(h.created(a), h.created(b))
	case "updated":
		return cmp.Compare(h.updated(b), h.updated(a))
	case "importance":
		return cmp.Compare(importance(b), importance(a))
	case "accesses":
		return cmp.Compare(countersOf(b).Accesses, countersOf(a).Accesses)
	case "accessed":
		return cmp.Compare(countersOf(b).LastAccess, countersOf(a).LastAccess)
	}
	return 0
}

func countersOf(m *alcove.Memory) alcove.Counters {
	if m.Counters == nil {
		return alcove.Counters{}
	}
	return *m.Counters
}

// updated is when a memory was written; of a staged one, after everything else.
func (h *host) updated(m *alcove.Memory) string { return cmp.Or(m.Timestamp, "staged") }

// created is when the first version was written since the key was last deleted.
func (h *host) created(m *alcove.Memory) string {
	created := ""
	for _, version := range h.history[address{"memory", m.Namespace, m.Key}] {
		switch {
		case version.Deleted:
			created = ""
		case created == "":
			created = version.Timestamp
		}
	}
	return cmp.Or(created, h.updated(m))
}

func (h *host) admits(f *abi.MemoryFilter, m *alcove.Memory) (bool, error) {
	has := func(tag string) bool { return slices.Contains(m.Tags, tag) }
	one := func(list []string, value string) bool { return len(list) == 0 || slices.Contains(list, value) }
	c := countersOf(m)
	if f.MinImportance != nil && f.MaxImportance != nil && *f.MinImportance > *f.MaxImportance {
		return false, alcove.Errorf(alcove.InvalidArgument, "filter: the range of importance is empty")
	}
	for _, tag := range f.Tags {
		if !has(tag) {
			return false, nil
		}
	}
	ok := one(f.Types, m.Type) && one(f.States, m.State) && one(f.Writers, m.Agent) && !slices.ContainsFunc(f.NoTags, has) &&
		(len(f.AnyTags) == 0 || slices.ContainsFunc(f.AnyTags, has)) && within(m.Importance, f.MinImportance, f.MaxImportance) &&
		within(&c.Accesses, f.MinAccesses, f.MaxAccesses) && within(&c.Health, f.MinHealth, f.MaxHealth)
	expired := m.ExpiresAt != "" && m.ExpiresAt <= h.Now.UTC().Format(time.RFC3339Nano)
	ok = ok && (f.Expired == "include" || expired == (f.Expired == "only"))
	for _, span := range [][3]string{{c.LastAccess, f.AccessedSince, f.AccessedUntil}, {h.created(m), f.CreatedSince, f.CreatedUntil}, {h.updated(m), f.UpdatedSince, f.UpdatedUntil}} {
		in, err := spans(span[0], span[1], span[2])
		if err != nil {
			return false, err
		}
		ok = ok && in
	}
	for _, test := range f.Fields {
		in, err := meets(test, m)
		if err != nil {
			return false, err
		}
		ok = ok && in
	}
	return ok, nil
}

func within[T cmp.Ordered](value, least, most *T) bool {
	if least == nil && most == nil {
		return true
	}
	return value != nil && (least == nil || *value >= *least) && (most == nil || *value <= *most)
}

// spans reports whether an instant is from since on, and before until. Bounds are instants as answers have them.
func spans(at, since, until string) (bool, error) {
	for _, bound := range []string{since, until} {
		if _, err := time.Parse(time.RFC3339Nano, bound); bound != "" && err != nil {
			return false, alcove.Errorf(alcove.Unavailable, "the host of alcovetest reads bounds in RFC 3339: give memory.list with Space.Ops")
		}
	}
	return since == "" && until == "" || at != "" && at >= since && (until == "" || at < until), nil
}

// meets tests a field.
func meets(test abi.FieldTest, m *alcove.Memory) (bool, error) {
	var fields map[string]json.RawMessage
	name, ok := strings.CutPrefix(test.Field, "metadata.")
	if fields = m.Metadata; !ok {
		if name, ok = strings.CutPrefix(test.Field, "value."); ok {
			fields = nil
			if json.Unmarshal(m.Value, &fields) != nil {
				fields = nil // no object
			}
		}
	}
	if !ok {
		there, ok := map[string]bool{"type": m.Type != "", "importance": m.Importance != nil, "tags": len(m.Tags) > 0, "agent": m.Agent != "",
			"expires_at": m.ExpiresAt != "", "links": len(m.Links) > 0, "supersedes": len(m.Supersedes) > 0}[test.Field]
		if !ok || test.Equals != nil {
			return false, alcove.Errorf(alcove.InvalidArgument, "filter: %q is no field of a memory that can be tested so", test.Field)
		}
		return there == (test.Exists == nil || *test.Exists), nil
	}
	var have, want any
	if json.Unmarshal(fields[name], &have) != nil {
		have = nil // there is none
	}
	if test.Equals == nil {
		return (have != nil) == (test.Exists == nil || *test.Exists), nil
	}
	if err := json.Unmarshal(test.Equals, &want); err != nil || want == nil {
		return false, alcove.Errorf(alcove.InvalidArgument, "filter: field %s cannot equal that", test.Field)
	}
	return reflect.DeepEqual(have, want), nil
}
