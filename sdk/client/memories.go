package client

import (
	"context"
	"encoding/json"
	"time"
)

// Memory is a memory as it is stored. A nil or empty field is left out.
type Memory struct {
	Key        string         `json:"key,omitempty"` // derived from the value when left out
	Value      any            `json:"value"`
	Type       string         `json:"type,omitempty"`
	Tags       []string       `json:"tags,omitempty"`
	Importance *float64       `json:"importance,omitempty"` // from 0 to 1
	Metadata   map[string]any `json:"metadata,omitempty"`
	Expires    string         `json:"expires,omitempty"` // a time, or a span such as "2h"
	Links      []string       `json:"links,omitempty"`   // keys
	Supersedes []string       `json:"supersedes,omitempty"`
	IfVersion  *uint64        `json:"if_version,omitempty"` // stored only if the key is at this version now; 0: only if there is none
	Namespace  string         `json:"namespace,omitempty"`  // empty: the client's
	Branch     string         `json:"branch,omitempty"`     // empty: the client's
}

// Receipt confirms that a memory is stored and searchable.
type Receipt struct {
	Key       string    `json:"key"`
	Version   uint64    `json:"version"`
	Timestamp time.Time `json:"timestamp"`
	Notes     []string  `json:"notes"`
}

// Stored is a memory that was recalled.
type Stored struct {
	Key        string          `json:"key"`
	Value      json.RawMessage `json:"value"`
	Version    uint64          `json:"version"`
	Timestamp  time.Time       `json:"timestamp"`
	Agent      string          `json:"agent"`
	Type       string          `json:"type"`
	Tags       []string        `json:"tags"`
	Importance *float64        `json:"importance"`
	Metadata   json.RawMessage `json:"metadata"`
	Expires    string          `json:"expires_at"`
	Links      []string        `json:"links"`
}

// Hit is a result of a search.
type Hit struct {
	Stored
	Namespace string  `json:"namespace"`
	Score     float64 `json:"score"`
	Snippet   string  `json:"snippet"`
	Omitted   bool    `json:"value_omitted"` // Recall has the value
}

// Store stores a memory.
func (c *Client) Store(ctx context.Context, m Memory) (Receipt, error) {
	var r Receipt
	err := c.Call(ctx, "memory_store", m, &r)
	return r, err
}

// Recall returns a memory. The error's code is NotFound if there is none.
func (c *Client) Recall(ctx context.Context, key string) (Stored, error) {
	var r struct {
		Found bool `json:"found"`
		Stored
	}
	err := c.Call(ctx, "memory_recall", map[string]string{"key": key}, &r)
	if err == nil && !r.Found {
		err = &Error{Code: NotFound, Message: "there is no memory with the key " + key}
	}
	return r.Stored, err
}

// Search returns the memories that fit a query best, at most limit; 0: as many as the server chooses.
func (c *Client) Search(ctx context.Context, query string, limit int) ([]Hit, error) {
	params := map[string]any{"query": query}
	if limit > 0 {
		params["k"] = limit
	}
	var r struct {
		Results []Hit `json:"results"`
	}
	err := c.Call(ctx, "memory_search", params, &r)
	return r.Results, err
}

// Forget deletes a memory. It reports whether there was one.
func (c *Client) Forget(ctx context.Context, key string) (bool, error) {
	var r struct {
		Deleted bool `json:"deleted"`
	}
	err := c.Call(ctx, "memory_forget", map[string]string{"key": key}, &r)
	return r.Deleted, err
}
