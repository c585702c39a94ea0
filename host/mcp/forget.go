package mcp

import (
	"context"

	"github.com/alcove-memory/alcove/host/memory"
)

func forgetTool() tool {
	return tool{
		name:        "memory_forget",
		description: "Delete the memory under a key, or several keys. archive: set it aside instead, out of searches. The past still shows it.",
		docs: "A forgotten memory is gone from recall and search at once; memory_history and as_of still show it. " +
			"An archived one can still be recalled, and is found with state=archived; storing it again makes it active.",
		input: `{
			"type": "object",
			"properties": {
				"key": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}], "description": "The key to forget, or several."},
				"archive": {"type": "boolean", "description": "Set it aside instead of deleting it."},
				"namespace": {"type": "string", "description": "Where it is; the session's namespace when left out."},
				"branch": {"type": "string", "description": "On which branch; the session's branch when left out."}
			},
			"required": ["key"]
		}`,
		output: `{
			"type": "object",
			"properties": {
				"deleted": {"type": "boolean", "description": "Whether there was anything to delete."},
				"archived": {"type": "boolean", "description": "With archive: whether there was anything to set aside."},
				"count": {"type": "integer", "description": "How many memories there were."}
			},
			"required": ["deleted"]
		}`,
		hints: hints{destructive: true, idempotent: true},
		run:   forget,
	}
}

type forgotten struct {
	Deleted  bool  `json:"deleted"`
	Archived *bool `json:"archived,omitempty"`
	Count    int   `json:"count"`
}

func forget(ctx context.Context, c *call) (answer, error) {
	place, keys, archive := c.place(), c.arguments.texts("key"), c.arguments.flag("archive")
	if _, given := c.arguments.get("key"); !given || len(keys) == 0 && c.arguments.err() == nil {
		c.arguments.missing("key", "the key to forget, or a list of keys")
	}
	if err := c.arguments.err(); err != nil {
		return answer{}, err
	}
	if c.dryRun {
		return rehearseForget(ctx, c, place, keys)
	}
	if !archive {
		count, err := c.space.Forget(ctx, place, keys, c.write())
		f := forgotten{Deleted: count > 0, Count: count}
		return answer{structured: f, plain: f}, err
	}
	count, err := c.space.SetState(ctx, place, keys, memory.Archived, c.write())
	aside := count > 0
	f := forgotten{Archived: &aside, Count: count}
	return answer{structured: f, plain: f}, err
}
