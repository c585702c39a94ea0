package operator

import (
	"slices"
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
	Seen    time.Duration   `json:"seen_ns"`           // since that server reached the database: all else here is as it was then
	Failure string          `json:"failure,omitempty"` // why it cannot renew
	Servers []ClusterServer `json:"servers"`
	Spaces  []ClusterSpace  `json:"spaces"` // those that a server leads
}

// Asked returns the server that was asked; the zero value: it is not among the servers yet.
func (c Cluster) Asked() (asked ClusterServer) {
	for _, s := range c.Servers {
		if s.ID == c.Self {
			asked = s
		}
	}
	return asked
}

// Stranded reports whether no server takes the spaces of the server that was asked, which takes none itself.
func (c Cluster) Stranded() bool {
	return c.Asked().Draining && !slices.ContainsFunc(c.Servers, func(s ClusterServer) bool { return !s.Gone && !s.Draining })
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
