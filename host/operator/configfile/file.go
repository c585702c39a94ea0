// Package configfile compares a server with the configuration file of its operator, and changes what differs.
package configfile

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/operator"
)

// File is what a configuration file says. What it does not mention stays as it is, unless its section is pruned.
type File struct {
	Version int              `json:"version"`
	Server  map[string]Value `json:"server,omitempty"` // flags of alcove serve, with _ for -; read when a server starts
	// Issuer says how tokens of the server's issuer become keys; read when a server starts.
	Issuer    *operator.IssuerRules `json:"issuer,omitempty"`
	Trust     *Trust                `json:"trust,omitempty"`
	Endpoints *Endpoints            `json:"endpoints,omitempty"`
	Roots     *Roots                `json:"roots,omitempty"`
	Families  *Families             `json:"families,omitempty"`
	Embedders *Embedders            `json:"embedders,omitempty"`
	Settings  *Settings             `json:"settings,omitempty"`
	Retention *Retention            `json:"retention,omitempty"`
	Quotas    *Quotas               `json:"quotas,omitempty"`
	Keys      *Keys                 `json:"keys,omitempty"`
}

// Endpoints are the servers outside.
type Endpoints struct {
	Prune   bool                         `json:"prune,omitempty"`
	Servers map[string]operator.Endpoint `json:"servers,omitempty"`
}

// Roots are the directories outside.
type Roots struct {
	Prune       bool                     `json:"prune,omitempty"`
	Directories map[string]operator.Root `json:"directories,omitempty"`
}

// Embedders are those of semantic search. Members of one that the file does not mention may be anything.
type Embedders struct {
	Prune bool `json:"prune,omitempty"`
	// Default is a name, builtin, or none.
	Default string                             `json:"default,omitempty"`
	Models  map[string]operator.EmbedderConfig `json:"models,omitempty"`
}

// Settings are those of families, by scope as in system, namespace:work or family:notes. Pruning concerns the scopes that are named.
type Settings struct {
	Prune  bool                                  `json:"prune,omitempty"`
	Scopes map[string]map[string]json.RawMessage `json:"scopes,omitempty"`
}

// Retention is how much past is kept. Ages are as in 90d, 48h or forever. Pruning concerns branches and namespaces.
type Retention struct {
	Prune      bool                     `json:"prune,omitempty"`
	Keep       *string                  `json:"keep,omitempty"`
	Versions   *int                     `json:"versions,omitempty"`
	Branches   map[string]string        `json:"branches,omitempty"`
	Namespaces map[string]NamespaceKept `json:"namespaces,omitempty"`
}

// NamespaceKept is what stays in the histories of a namespace.
type NamespaceKept struct {
	Keep     string `json:"keep,omitempty"` // empty: nothing by age
	Versions int    `json:"versions,omitempty"`
}

// Quotas bound what each agent stores in a namespace.
type Quotas struct {
	Prune      bool             `json:"prune,omitempty"`
	Namespaces map[string]Quota `json:"namespaces,omitempty"`
}

// Quota is that of each agent in a namespace; 0: unlimited.
type Quota struct {
	Memories int64 `json:"memories,omitempty"` // a day
	Links    int64 `json:"links,omitempty"`    // a day
	Bytes    int64 `json:"bytes,omitempty"`
	// Total is how much the namespace holds, whoever wrote it.
	Total operator.QuotaTotal `json:"total,omitzero"`
}

// Keys are the API keys of agents, and the limits of those without their own.
type Keys struct {
	Prune  bool                `json:"prune,omitempty"`
	Limits *operator.KeyLimits `json:"limits,omitempty"`
	Agents map[string]Key      `json:"agents,omitempty"`
}

// Key is the policy of an agent's key.
type Key struct {
	Namespaces []string         `json:"namespaces"`
	Rights     []operator.Right `json:"rights"`
	// Expires is an instant, a date, or a span from the key's creation.
	Expires string             `json:"expires,omitempty"`
	Limits  operator.KeyLimits `json:"limits,omitzero"`
}

// seconds reads an age; 0: for ever.
func seconds(age string) (int64, error) {
	if age == "forever" {
		return 0, nil
	}
	if days, ok := strings.CutSuffix(age, "d"); ok {
		if n, err := strconv.ParseInt(days, 10, 32); err == nil && n > 0 {
			return n * 24 * 3600, nil
		}
	}
	d, err := time.ParseDuration(age)
	if err != nil || d < time.Second {
		return 0, fmt.Errorf("%.40q is not an age: use 90d, 48h, 30m or forever", age)
	}
	return int64(d / time.Second), nil
}

// age is what seconds reads.
func age(seconds int64) string {
	const day = 24 * 3600
	switch {
	case seconds == 0:
		return "forever"
	case seconds%day == 0:
		return fmt.Sprintf("%dd", seconds/day)
	}
	return (time.Duration(seconds) * time.Second).String()
}
