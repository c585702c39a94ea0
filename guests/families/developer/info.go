package developer

import (
	"strconv"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Info tells about the store, and points to the operator for what a program may not do.
//
// ping tells that it answers, info what it holds, time_range how far as_of reaches on this branch, durability what was made durable since
// the server started, for callers who may read every namespace.
//
//alcove:tool memory_store_info read-only
//alcove:title Store information
//alcove:description The database itself: ping, information, time range, durability counters.
//alcove:alias strata_db_ping action=ping
//alcove:alias strata_db_info action=info
//alcove:alias strata_db_time_range action=time_range
//alcove:alias strata_db_flush action=flush
//alcove:alias strata_db_compact action=compact
//alcove:alias strata_durability_counters action=durability
//alcove:alias strata_retention_apply action=retention_apply
type Info struct {
	Action string `alcove:"required,enum=ping|info|time_range|durability|flush|compact|retention_apply"`
}

// infoAnswer is what memory_store_info answers.
type infoAnswer struct {
	OK            bool       `json:"ok,omitzero"`
	Version       uint64     `json:",omitzero"` // The newest; as_of=v123 reads it.
	Branch        string     `json:",omitzero"`
	Namespace     string     `json:",omitzero"`
	Branches      int        `json:",omitzero"`
	Memories      *int       `json:",omitzero"`
	Events        *int       `json:",omitzero"`
	Searchable    *bool      `json:",omitzero"`
	Embedders     []embedder `json:",omitzero"`
	Oldest        string     `json:",omitzero"`
	OldestVersion uint64     `json:",omitzero"`
	Latest        string     `json:",omitzero"`
	LatestVersion uint64     `json:",omitzero"`
	Durability    *counters  `json:",omitzero"`
}

// counters count what was made durable.
type counters struct {
	Commits       uint64 // Durable ones.
	Syncs         uint64 // Writes to the disk.
	Failed        uint64
	LastSyncNs    int
	SlowestSyncNs int
	DatabaseBytes int
}

// embedder is what makes vectors of stored text.
type embedder struct {
	Name    string
	Vectors int
	Waiting int // Texts that wait for a vector.
	Refused int
}

// Call does what the action says.
func (in Info) Call(c *alcove.Call) (out infoAnswer, err error) {
	switch in.Action {
	case "flush":
		return out, denied("flushing", "what is acknowledged is durable; access counts are written by: alcove flush")
	case "compact":
		return out, denied("compaction", "alcove compact")
	case "retention_apply":
		return out, denied("retention", "alcove retention run")
	}
	now, err := c.StatusGet(alcove.StatusGetRequest{Details: in.Action != "ping"})
	if err != nil {
		return out, err
	}
	switch in.Action {
	case "ping":
		out.OK, out.Version = true, now.Version
	case "time_range":
		out.Branch = now.Branch
		if now.Oldest != nil {
			out.Oldest, out.OldestVersion = now.Oldest.Timestamp, now.Oldest.Version
		}
		if now.Latest != nil {
			out.Latest, out.LatestVersion = now.Latest.Timestamp, now.Latest.Version
		}
	case "durability":
		d := now.Durability
		if d == nil {
			return out, denied("durability", "it is shown to callers who may read every namespace, and by: alcove durability")
		}
		out.Durability = &counters{d.Commits, d.Syncs, d.Failed, d.LastSyncNs, d.SlowestSyncNs, d.DatabaseBytes}
	default:
		out.Version, out.Branch, out.Namespace, out.Branches, out.Memories, out.Events = now.Version, now.Branch, now.Namespace, now.Branches, &now.Memories, now.Events
		out.Searchable, out.Embedders = &now.Searchable, embeddersOf(&now)
	}
	return out, nil
}

func embeddersOf(now *alcove.StatusGetResponse) []embedder {
	out := make([]embedder, 0, len(now.Embedders))
	for i := range now.Embedders {
		e := &now.Embedders[i]
		out = append(out, embedder{e.Name, e.Vectors, e.Waiting, e.Refused})
	}
	return out
}

// versionText is a version as as_of takes it.
func versionText(v uint64) string { return "v" + strconv.FormatUint(v, 10) }
