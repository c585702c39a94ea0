package autotag

import (
	"cmp"
	"slices"

	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// MergeTags puts one tag in the stead of others.
//
// All memories of the namespace that have one of from get into instead. From then on auto-tag writes into wherever it would have written
// one of them. Without from and into nothing changes, and groups lists tags that seem to mean the same.
//
//alcove:tool destructive idempotent
//alcove:title Merge tags
//alcove:description Replace tags by one of the same meaning; without arguments, propose which to merge.
type MergeTags struct {
	reader
	From      []string `alcove:"max=64,items.min=1,items.max=128"`
	Into      string   `alcove:"max=128"`
	Namespace string
}

// MergedTags is what was merged, or could be.
type MergedTags struct {
	Into    string `json:",omitempty"`
	Changed int    // How many memories.
	Groups  []Group
}

// Group is a tag, and others that seem to mean the same.
type Group struct {
	Into string
	From []string
	Uses int
}

// Call merges the tags in the memories and in the vocabulary, or proposes which to merge.
func (in MergeTags) Call(c *alcove.Call) (MergedTags, error) {
	namespace := or(in.Namespace, c.Namespace)
	switch {
	case in.Into == "" && len(in.From) == 0:
		return in.propose(c, namespace)
	case in.Into == "" || len(in.From) == 0:
		return MergedTags{}, alcove.Errorf(alcove.InvalidArgument, "give both from and into, or neither to see what could be merged")
	}
	patches, err := merging(c, namespace, in)
	if err != nil {
		return MergedTags{}, err
	}
	if _, err := c.PatchMemories(patches); err != nil {
		return MergedTags{}, err
	}
	merged := map[string]word{}
	for _, tag := range append([]string{in.Into}, in.From...) {
		if fold := words.Fold(tag); fold != "" {
			merged[fold] = word{Tag: in.Into, Uses: len(patches), Merged: true}
		}
	}
	return MergedTags{Into: in.Into, Changed: len(patches)}, vocabulary.In(namespace).PutAll(c, records(merged))
}

// merging are the patches of all memories that have one of the tags.
func merging(c *alcove.Call, namespace string, in MergeTags) ([]alcove.MemoryPatch, error) {
	var patches []alcove.MemoryPatch
	for m, err := range c.Memories(alcove.MemoryListRequest{Namespace: namespace, Limit: learnPage}) {
		if err != nil {
			return nil, err
		}
		var remove []string
		for _, tag := range m.Tags {
			if tag != in.Into && slices.Contains(in.From, tag) {
				remove = append(remove, tag)
			}
		}
		if len(remove) > 0 {
			patches = append(patches, renamed(m, remove, in.Into))
		}
	}
	return patches, nil
}

// renamed puts a tag in the place of others; a tag that the family gave stays one.
func renamed(m *alcove.Memory, remove []string, into string) alcove.MemoryPatch {
	p := alcove.MemoryPatch{Key: m.Key, Namespace: m.Namespace, AddTags: []string{into}, RemoveTags: remove, IfVersion: new(m.Version)}
	old, own := of(m).mark()
	if !own || len(old.Tags) == 0 {
		return p
	}
	given := slices.ContainsFunc(remove, func(tag string) bool { return !slices.Contains(old.Tags, tag) })
	old.Tags = slices.DeleteFunc(old.Tags, func(tag string) bool { return slices.Contains(remove, tag) || tag == into })
	if !given && !slices.Contains(m.Tags, into) {
		old.Tags = append(old.Tags, into)
	}
	p.Metadata = alcove.Metadata{markName: alcove.JSON(old)}
	return p
}

// propose finds tags that mean the same: forms that fold to one, and slips of a key.
func (r reader) propose(c *alcove.Call, namespace string) (MergedTags, error) {
	counted, err := r.count(c, namespace, learnMost, true)
	if err != nil {
		return MergedTags{}, err
	}
	now, _ := counted.vocabulary(nil)
	byTag := map[string]*Group{}
	for _, fold := range sortedKeys(counted.forms) {
		into := now[fold].Tag
		g := byTag[into]
		if g == nil {
			g = &Group{Into: into}
			byTag[into] = g
		}
		for _, form := range sortedKeys(counted.forms[fold]) {
			g.Uses += counted.forms[fold][form]
			if form != into {
				g.From = append(g.From, form)
			}
		}
	}
	out := MergedTags{}
	for _, tag := range sortedKeys(byTag) {
		if g := byTag[tag]; len(g.From) > 0 {
			out.Groups = append(out.Groups, *g)
		}
	}
	slices.SortStableFunc(out.Groups, func(a, b Group) int { return cmp.Compare(b.Uses, a.Uses) })
	out.Groups = out.Groups[:min(len(out.Groups), 50)]
	return out, nil
}
