package settings

import (
	"cmp"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// ConfigHistory tells who changed a setting, when, from what and why, the newest change first. With scopeId, the override of that scope.
//
//alcove:description Who changed a setting, when, from what.
//alcove:tool read-only
//alcove:title History of a setting
//alcove:camel
type ConfigHistory struct {
	Key       string `alcove:"required"`
	ScopeID   string
	Namespace string `alcove:"advanced"` // The scope, unless scopeId names one.
	Limit     int    `alcove:"default=20,max=1000,alias=k"`
	Cursor    uint64
}

// Versions are the changes of a setting.
//
//alcove:camel
type Versions struct {
	Versions   []Version
	NextCursor uint64 `json:"next_cursor,omitzero"`
	Truncated  bool   `json:"truncated,omitzero"` // There are more.
}

// Version is a change of a setting.
//
//alcove:camel
type Version struct {
	Version      uint64
	From         alcove.Raw // null: it was not set.
	To           alcove.Raw // null: it was unset.
	UpdatedAt    string
	UpdatedBy    string
	Family       string  `json:",omitzero"`
	Reason       string  `json:",omitzero"`
	RolledBackTo *uint64 `json:",omitzero"`
	Change       string  `json:",omitzero"` // The same for settings that were changed together.
}

// Call lists the changes.
func (in ConfigHistory) Call(c *alcove.Call) (out Versions, err error) {
	scope, name := scopeOf(in.ScopeID, in.Namespace)
	page, err := c.ConfigHistory(alcove.ConfigHistoryRequest{Key: in.Key, Scope: scope, Name: name, Limit: max(in.Limit, 1), Before: in.Cursor})
	for _, v := range page.Versions {
		out.Versions = append(out.Versions, Version{v.Version, or(v.Before), or(v.After), v.Timestamp, v.Agent, v.Family, v.Reason, v.RolledBackTo, v.Change})
	}
	out.NextCursor, out.Truncated = page.Next, page.Next != 0
	return out, err
}

// scopeOf is the scope of the host for a scope here, by either of its names; empty: the system.
func scopeOf(id, namespace string) (scope, name string) {
	if name = cmp.Or(id, namespace); name == "" {
		return "", ""
	}
	return scopeNamespace, name
}
