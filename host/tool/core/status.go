package core

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

func (k *kit) statusTool() tool.Spec {
	return declared(k, tool.Spec{
		Name:        "memory_status",
		Aliases:     strata("status"),
		Description: "Status: current branch and namespace, how many memories there are, and whether the server is healthy.",
		Docs: "keys and events count what is in the namespace and branch. health is ok, indexing while searches wait for the index after a start, or says why nothing can be stored. following tells what a copy follows, and how far it is. " +
			"embedders tell how far embedding is: versions that have a vector, that wait for one, that the embedder refuses, and what is wrong.",
		Output: json.RawMessage(`{
			"type": "object",
			"properties": {
				"version": {"type": "string", "description": "Of the program."},
				"branch": {"type": "string"},
				"namespace": {"type": "string"},
				"branches": {"type": "integer"},
				"keys": {"type": "integer"},
				"events": {"type": "integer"},
				"embedders": {"type": "array", "items": {"type": "object"}},
				"namespaces": {"type": "array", "items": {"type": "object"}, "description": "name and memories of each, if they are asked for; namespaces_more is how many are left out."},
				"health": {"type": "string"}
			},
			"required": ["version", "branch", "namespace", "health"]
		}`),
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true},
	}, status)
}

type statusRequest struct {
	Namespace  string `json:"namespace" alcove:"alias=scope|scopeId" doc:"What to count; the session's namespace when left out."`
	Branch     string `json:"branch" doc:"On which branch; the session's branch when left out."`
	Namespaces bool   `json:"namespaces" alcove:"advanced" doc:"List the namespaces that may be read, with the number of memories in each."`
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
	Locked    bool   `json:"locked,omitempty"`
	Following string `json:"following,omitempty"` // what this is a copy of, and how far it is
	Health    string `json:"health"`

	Embedders  []embedderState  `json:"embedders,omitempty"`
	Namespaces []namespaceState `json:"namespaces,omitempty"`
	More       int              `json:"namespaces_more,omitempty"`
}

// mostNamespaces bounds the namespaces that are listed.
const mostNamespaces = 500

// namespaceState describes a namespace.
type namespaceState struct {
	Name     string `json:"name"`
	Memories int    `json:"memories"`
}

// namespaces lists the namespaces that the caller may read.
func (s *state) namespaces(ctx context.Context, c *call) error {
	list, err := c.access().Namespaces(ctx, s.Branch)
	if err != nil {
		return err
	}
	s.More = max(len(list)-mostNamespaces, 0)
	for _, n := range list[:len(list)-s.More] {
		s.Namespaces = append(s.Namespaces, namespaceState{n.Name, n.N})
	}
	return nil
}

// embedderState describes an embedder's vectors.
type embedderState struct {
	Name       string `json:"name"`
	Standard   bool   `json:"standard,omitempty"` // used by searches that name none
	Dimensions int    `json:"dimensions"`
	Vectors    int    `json:"vectors"`
	Waiting    int    `json:"waiting"`
	Refused    int    `json:"refused,omitempty"`
	Making     bool   `json:"making,omitempty"` // they replace those in use once complete
	Error      string `json:"error,omitempty"`
}

func status(ctx context.Context, c *call, r statusRequest) (tool.Answer, error) {
	location := c.location(r.Namespace, r.Branch)
	st, err := c.access().Status(ctx, location)
	var known *memory.Error
	if errors.As(err, &known) && known.Code == memory.Denied && r.Namespace == "" && c.Caller.Rights.ReadsAnything() {
		c.Note(known.Message + ". These are the totals of what it may read.")
		st, err = c.access().Status(ctx, memory.Location{Branch: location.Branch, Namespace: memory.AllNamespaces})
	}
	if err != nil {
		return tool.Answer{}, err
	}
	s := state{
		Version: c.kit.Version, Branch: st.Branch, Namespace: st.Namespace, Branches: st.Branches, Keys: st.Keys,
		Events: st.Events, Latest: st.Version, ReadOnly: c.ReadOnly(), Locked: c.kit.Locked != nil && c.kit.Locked(), Health: "ok",
	}
	for _, e := range st.Embedders {
		s.Embedders = append(s.Embedders, embedderState(e))
		s.AutoEmbed = s.AutoEmbed || e.Standard
	}
	if !st.Searchable {
		s.Health = "indexing"
	}
	if c.kit.Writable != nil {
		if err := c.kit.Writable(); err != nil {
			s.Health = "refuses writes: " + err.Error()
		}
	}
	if c.kit.Following != nil {
		s.Following = c.kit.Following()
	}
	if r.Namespaces {
		if err := s.namespaces(ctx, c); err != nil {
			return tool.Answer{}, err
		}
	}
	return tool.Answer{Structured: s, Plain: s}, nil
}
