package lifecycle

import (
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/moment"
	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// ForgetMatching archives everything that matches.
//
// It previews unless dry_run is false. pattern is text that the memory or its key contains, without case, where * stands for anything. All
// conditions that are given hold for what is archived. Pinned memories are not. One call archives 10,000 memories at most; truncated says
// that more match.
//
//alcove:title Forget all that matches
//alcove:description Archive everything that matches a tag, pattern, type or age; previews unless dry_run is false.
//alcove:tool destructive
type ForgetMatching struct {
	Pattern   string
	Type      string   `alcove:"alias=factType"`
	Tags      []string `alcove:"many"`
	OlderThan string   `alcove:"alias=older_than,name=olderThan"`
	DryRun    bool     `alcove:"default=true"`
}

type forgotten struct {
	Matched   int
	Archived  int
	Sample    []sampled
	Truncated bool `json:"truncated,omitzero"`
}

type sampled struct {
	ID      alcove.ID
	Content string
}

const (
	mostSampled  = 10
	mostArchived = 10_000
)

// Call archives them, or lists some.
func (in ForgetMatching) Call(c *alcove.Call) (out forgotten, err error) {
	if strings.Trim(in.Pattern, "* ") == "" && in.Type == "" && len(in.Tags) == 0 && in.OlderThan == "" {
		return out, alcove.Errorf(alcove.InvalidArgument, "everything would match: give a pattern, type, tags or olderThan")
	}
	filter := &alcove.MemoryFilter{States: []string{active}, Tags: in.Tags}
	if in.Type != "" {
		filter.Types = []string{in.Type}
	}
	if at, err := moment.Of(c, in.OlderThan, moment.Begin); err != nil {
		return out, err
	} else if at != 0 {
		filter.CreatedUntil = at.String()
	}
	var patches []alcove.MemoryPatch
	for m, err := range c.Memories(alcove.MemoryListRequest{Filter: filter, Order: "oldest", Limit: page}) {
		if err != nil {
			return out, err
		}
		if pinned(m) || !matches(in.Pattern, m) {
			continue
		}
		if out.Matched == mostArchived {
			out.Truncated = true
			break
		}
		if out.Matched++; len(out.Sample) < mostSampled {
			out.Sample = append(out.Sample, sampled{m.ID(), words.Text(m.Value, mostShown)})
		}
		if !in.DryRun {
			p, err := leave(c, m, archived, mark{Reason: "matched"})
			if err != nil {
				return out, err
			}
			patches = append(patches, p)
		}
	}
	out.Archived = len(patches)
	return out, archiveAll(c, patches, "matched")
}

// archiveAll stages changes that archive memories, and announces each.
func archiveAll(c *alcove.Call, patches []alcove.MemoryPatch, reason string) error {
	if len(patches) == 0 {
		return nil
	}
	if _, err := c.PatchMemories(patches); err != nil {
		return err
	}
	for i := range patches {
		if err := emit(c, "fact_archived", alcove.ID{Namespace: patches[i].Namespace, Key: patches[i].Key}, changes{State: archived, Reason: reason}); err != nil {
			return err
		}
	}
	return nil
}

// matches reports whether a memory, or its key, contains the parts of a pattern in their order.
func matches(pattern string, m *alcove.Memory) bool {
	parts := strings.Split(strings.ToLower(pattern), "*")
	return contains(strings.ToLower(words.Text(m.Value, mostSearched)), parts) || contains(strings.ToLower(m.Key), parts)
}

// mostSearched is how much of a memory a pattern is looked for in, in bytes.
const mostSearched = 1 << 20

func contains(text string, parts []string) bool {
	for _, part := range parts {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return true
}
