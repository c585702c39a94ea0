package tagging

import (
	"cmp"
	"slices"

	"github.com/alcove-memory/alcove/guests/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/reflected"
)

type mergeIn struct {
	From      []string `json:"from"`
	Into      string   `json:"into"`
	Namespace string   `json:"namespace"`
}

type mergeOut struct {
	Into    string  `json:"into,omitempty"`
	Changed int     `json:"changed"` // memories
	Groups  []group `json:"groups"`  // of tags that mean the same: what could be merged
}

// group is a tag, and others that seem to mean the same.
type group struct {
	Into string   `json:"into"`
	From []string `json:"from"`
	Uses int      `json:"uses"`
}

// mergeTags puts one tag in the place of others, in the memories and in the vocabulary. Without tags it proposes
// which to merge, and changes nothing.
func (t *tagger) mergeTags(c *alcove.Call, in mergeIn) (mergeOut, error) {
	namespace := or(in.Namespace, c.Namespace)
	switch {
	case in.Into == "" && len(in.From) == 0:
		return t.propose(c, namespace)
	case in.Into == "" || len(in.From) == 0:
		return mergeOut{}, alcove.Errorf(alcove.InvalidArgument, "give both from and into, or neither to see what could be merged")
	}
	patches, err := merging(c, namespace, in)
	if err != nil {
		return mergeOut{}, err
	}
	for part := range slices.Chunk(patches, maxKeys) {
		if _, err := c.MemoryPatch(alcove.MemoryPatchRequest{Patches: part}); err != nil {
			return mergeOut{}, err
		}
	}
	merged := map[string]any{}
	for _, tag := range append([]string{in.Into}, in.From...) {
		if fold := words.Fold(tag); fold != "" {
			merged[fold] = word{Tag: in.Into, Uses: len(patches), Merged: true}
		}
	}
	return mergeOut{Into: in.Into, Changed: len(patches), Groups: []group{}}, reflected.PutRecords(c, vocabulary, namespace, merged)
}

// merging are the patches of all memories that have one of the tags.
func merging(c *alcove.Call, namespace string, in mergeIn) ([]alcove.MemoryPatch, error) {
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
	p.Metadata = alcove.Metadata{markName: old.append(nil)}
	return p
}

// propose finds tags that mean the same: forms that fold to one, and slips of a key.
func (t *tagger) propose(c *alcove.Call, namespace string) (mergeOut, error) {
	counted, err := t.count(c, namespace)
	if err != nil {
		return mergeOut{}, err
	}
	now, _ := counted.vocabulary(nil)
	byTag := map[string]*group{}
	for _, fold := range sortedKeys(counted.forms) {
		into := now[fold].Tag
		g := byTag[into]
		if g == nil {
			g = &group{Into: into}
			byTag[into] = g
		}
		for _, form := range sortedKeys(counted.forms[fold]) {
			g.Uses += counted.forms[fold][form]
			if form != into {
				g.From = append(g.From, form)
			}
		}
	}
	out := mergeOut{Groups: []group{}}
	for _, tag := range sortedKeys(byTag) {
		if g := byTag[tag]; len(g.From) > 0 {
			out.Groups = append(out.Groups, *g)
		}
	}
	slices.SortStableFunc(out.Groups, func(a, b group) int { return cmp.Compare(b.Uses, a.Uses) })
	out.Groups = out.Groups[:min(len(out.Groups), 50)]
	return out, nil
}
