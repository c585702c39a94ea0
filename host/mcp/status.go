package mcp

import "context"

func statusTool() tool {
	return tool{
		name:        "memory_status",
		description: "Where you are (branch, namespace), how much is stored there, and whether the server is well.",
		docs: "keys and events count what is in the namespace and branch. health is ok, indexing while searches wait for the index after a start, or says why nothing can be stored. " +
			"embedders tell how far embedding is: versions that have a vector, that wait for one, that the embedder refuses, and what is wrong.",
		input: `{
			"type": "object",
			"properties": {
				"namespace": {"type": "string", "description": "What to count; the session's namespace when left out."},
				"branch": {"type": "string", "description": "On which branch; the session's branch when left out."}
			}
		}`,
		output: `{
			"type": "object",
			"properties": {
				"version": {"type": "string", "description": "Of the program."},
				"branch": {"type": "string"},
				"namespace": {"type": "string"},
				"branches": {"type": "integer"},
				"keys": {"type": "integer"},
				"events": {"type": "integer"},
				"embedders": {"type": "array", "items": {"type": "object"}},
				"health": {"type": "string"}
			},
			"required": ["version", "branch", "namespace", "health"]
		}`,
		hints: hints{readOnly: true, idempotent: true},
		run:   status,
	}
}

type state struct {
	Version   string `json:"version"`
	Branch    string `json:"branch"`
	Namespace string `json:"namespace"`
	AutoEmbed bool   `json:"auto_embed"`
	Branches  int    `json:"branches"`
	Keys      int    `json:"keys"`
	Events    int    `json:"events"`
	Latest    uint64 `json:"latest_version"` // of the space: as_of=vN
	ReadOnly  bool   `json:"read_only,omitempty"`
	Health    string `json:"health"`

	Embedders []embedderState `json:"embedders,omitempty"`
}

// embedderState is what there is of an embedder's vectors.
type embedderState struct {
	Name       string `json:"name"`
	Standard   bool   `json:"standard,omitempty"` // of searches that name none
	Dimensions int    `json:"dimensions"`
	Vectors    int    `json:"vectors"`
	Waiting    int    `json:"waiting"`
	Refused    int    `json:"refused,omitempty"`
	Making     bool   `json:"making,omitempty"` // these take the place of those in use when they are complete
	Error      string `json:"error,omitempty"`
}

func status(ctx context.Context, c *call) (answer, error) {
	place := c.place()
	if err := c.arguments.err(); err != nil {
		return answer{}, err
	}
	st, err := c.space.Status(ctx, place)
	if err != nil {
		return answer{}, err
	}
	s := state{
		Version: c.version, Branch: st.Branch, Namespace: st.Namespace, Branches: st.Branches, Keys: st.Keys,
		Events: st.Events, Latest: st.Version, ReadOnly: c.readOnly, Health: "ok",
	}
	for _, e := range st.Embedders {
		s.Embedders = append(s.Embedders, embedderState(e))
		s.AutoEmbed = s.AutoEmbed || e.Standard
	}
	if !st.Searchable {
		s.Health = "indexing"
	}
	if err := c.server.writable(); err != nil {
		s.Health = "refuses writes: " + err.Error()
	}
	return answer{structured: s, plain: s}, nil
}
