package core

import (
	"context"
	"encoding/json"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

func (k *kit) forgetTool() tool.Spec {
	return declared(k, tool.Spec{
		Name:        "memory_forget",
		Aliases:     strata("forget"),
		Description: "Forget, delete or remove the memory under a key, or several keys. archive: set it aside instead, out of searches. The past still shows it.",
		Docs: "A forgotten memory is gone from recall and search at once; memory_history and as_of still show it. " +
			"An archived one can still be recalled, and is found with state=archived; storing it again makes it active.",
		Output: json.RawMessage(`{
			"type": "object",
			"properties": {
				"deleted": {"type": "boolean", "description": "Whether there was anything to delete."},
				"archived": {"type": "boolean", "description": "With archive: whether there was anything to set aside."},
				"count": {"type": "integer", "description": "How many memories there were."},
				"note": {"type": "string", "description": "What keys without a memory may have meant."}
			},
			"required": ["deleted"]
		}`),
		Annotations: tool.Annotations{Destructive: true, Idempotent: true},
		Staged:      true,
	}, forget)
}

type forgetRequest struct {
	Keys      []string `json:"key" alcove:"alias=id|ids|keys|memory_id|factId|factIds" schema:"'anyOf':[{'type':'string'},{'type':'array','items':{'type':'string'}}]" need:"the key to forget, or a list of keys" doc:"The key to forget, or several."`
	Archive   bool     `json:"archive" doc:"Set it aside instead of deleting it."`
	Namespace string   `json:"namespace" alcove:"alias=scope|scopeId" doc:"Where it is; the session's namespace when left out."`
	Branch    string   `json:"branch" doc:"On which branch; the session's branch when left out."`
}

type forgotten struct {
	Deleted  bool   `json:"deleted"`
	Archived *bool  `json:"archived,omitempty"`
	Count    int    `json:"count"`
	Note     string `json:"note,omitempty"` // on keys without a memory
}

func forget(ctx context.Context, c *call, r forgetRequest) (tool.Answer, error) {
	location, keys, err := c.locate(ctx, c.location(r.Namespace, r.Branch), r.Keys)
	if err != nil {
		return tool.Answer{}, err
	}
	found, err := c.forget(ctx, location, keys, r.Archive)
	if err != nil {
		return tool.Answer{}, err
	}
	if c.DryRun {
		return rehearsed(map[string]any{"forget": append([]string{}, found...)}), nil
	}
	note, err := c.allMissing(ctx, location, keys, found)
	if err != nil {
		return tool.Answer{}, err
	}
	f, any := forgotten{Count: len(found), Note: note}, len(found) > 0 && c.Proposal() == ""
	if r.Archive {
		f.Archived = &any
	} else {
		f.Deleted = any
	}
	return tool.Answer{Structured: f, Plain: f}, nil
}

// forget deletes or archives memories, and returns the keys of those that existed.
func (c *call) forget(ctx context.Context, location memory.Location, keys []string, archive bool) ([]string, error) {
	if archive {
		return c.memories().SetState(ctx, location, keys, memory.Archived, c.Write())
	}
	return c.memories().Forget(ctx, location, keys, c.Write())
}
