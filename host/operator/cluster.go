package operator

import (
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// ListedSpace is a space of a database.
type ListedSpace = store.ListedSpace

// SpaceName names a space of a database.
type SpaceName struct {
	Name string `json:"name"`
}

// SpaceRename gives a space another name.
type SpaceRename struct {
	Name string `json:"name"`
	To   string `json:"to"`
}

// Cluster is the servers that share a database.
type Cluster struct {
	Self    string          `json:"self"`              // the id of the server that was asked
	Term    time.Duration   `json:"term_ns"`           // in which a server renews its leases
	Left    time.Duration   `json:"left_ns"`           // until the server that was asked answers nothing as a leader, unless it renews
	Failure string          `json:"failure,omitempty"` // why it cannot renew
	Servers []ClusterServer `json:"servers"`
	Spaces  []ClusterSpace  `json:"spaces"` // those that a server leads
}

// ClusterServer is one of the servers.
type ClusterServer struct {
	ID       string        `json:"id"`
	Address  string        `json:"address"`
	Version  string        `json:"version"`
	Started  time.Time     `json:"started"`
	Draining bool          `json:"draining,omitempty"`
	Gone     bool          `json:"gone,omitempty"` // it has not renewed in time
	Lag      time.Duration `json:"lag_ns"`         // since its last renewal
	Leads    int           `json:"leads"`          // spaces
}

// ClusterSpace is a space that a server leads.
type ClusterSpace struct {
	Name    string    `json:"name"`
	Server  string    `json:"server"`
	Address string    `json:"address"`
	Gone    bool      `json:"gone,omitempty"` // the server is, and no other one leads the space yet
	Since   time.Time `json:"since"`
	Epoch   uint64    `json:"epoch"`
	Version uint64    `json:"version"` // the newest
}
