package governance

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// What a list of changes shows of them.
const (
	mostShown    = 20       // memories of a change
	longestShown = 400      // bytes of a value
	mostPreview  = 32 << 10 // bytes of previews in one answer: the changes after these are listed without
)

// shownChange is a memory that an approval changes.
type shownChange struct {
	Key    string
	Change string     // added, changed or deleted
	Before alcove.Raw `json:"before,omitzero"` // the value on the branch that it is merged into; a text with the beginning of a long one
	After  alcove.Raw `json:"after,omitzero"`
	Also   []string   `json:"also,omitzero"`  // what changes beside the value
	Clash  string     `json:"clash,omitzero"` // why it cannot be merged
}

// previewer tells what the approval of changes merges, while there is room in the answer.
type previewer struct {
	call *alcove.Call
	room int
}

// of returns what a change merges, and of how many more memories the answer has no room to tell.
func (v *previewer) of(branch string, p pending) (list []shownChange, more int, err error) {
	if v.room <= 0 {
		return nil, len(p.Keys), nil
	}
	out, err := v.call.BranchDiff(alcove.BranchDiffRequest{Source: branch, Target: p.Into, Namespaces: []string{v.call.Namespace},
		SourceOnly: true, Limit: mostShown, Longest: longestShown})
	if code := alcove.CodeOf(err); code == alcove.Denied || code == alcove.NotFound { // a branch was dropped, or is not the caller's to read
		return nil, len(p.Keys), nil
	}
	if err != nil {
		return nil, 0, err
	}
	more = max(0, out.Added+out.Changed+out.Removed-len(out.Differences))
	for i := range out.Differences {
		d := &out.Differences[i]
		if d.Collection != "" && !strings.Contains(d.Collection, "/") { // the family's own
			continue
		}
		if v.room <= 0 {
			more++
			continue
		}
		shown := show(d)
		v.room -= shown.size()
		list = append(list, shown)
	}
	return list, more, nil
}

func show(d *alcove.Difference) shownChange {
	shown := shownChange{Key: d.Key, Change: "changed", Clash: d.Clash}
	if d.Collection != "" {
		shown.Key = d.Collection + "/" + d.Key
	}
	before, after := alcove.Memory{State: "active"}, alcove.Memory{}
	if d.Target != nil {
		before = *d.Target
	} else {
		shown.Change = "added"
	}
	if d.Source != nil {
		after = *d.Source
		shown.Also = differing(&before, &after)
	} else {
		shown.Change = "deleted"
	}
	shown.Before, shown.After = before.Value, after.Value
	return shown
}

func (s *shownChange) size() int {
	n := len(s.Key) + len(s.Before) + len(s.After) + len(s.Clash) + 64
	for _, text := range s.Also {
		n += len(text)
	}
	return n
}

// differing returns the fields beside the value that differ, with what they are before and after.
func differing(before, after *alcove.Memory) (list []string) {
	add := func(field, was, is string) {
		if was != is {
			list = append(list, field+": "+brief(was)+" → "+brief(is))
		}
	}
	add("tags", strings.Join(before.Tags, ", "), strings.Join(after.Tags, ", "))
	add("type", before.Type, after.Type)
	add("state", before.State, after.State)
	add("importance", number(before.Importance), number(after.Importance))
	add("expires_at", before.ExpiresAt, after.ExpiresAt)
	add("links", strings.Join(before.Links, ", "), strings.Join(after.Links, ", "))
	add("supersedes", strings.Join(before.Supersedes, ", "), strings.Join(after.Supersedes, ", "))
	add("metadata", members(before.Metadata), members(after.Metadata))
	return list
}

func number(n *float64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatFloat(*n, 'g', -1, 64)
}

func members(metadata map[string]alcove.Raw) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(metadata)) {
		list = append(list, name+"="+string(metadata[name]))
	}
	return strings.Join(list, ", ")
}

func brief(text string) string {
	if text == "" {
		return "none"
	}
	if len(text) > longestShown {
		return strings.ToValidUTF8(text[:longestShown], "") + "…"
	}
	return text
}
