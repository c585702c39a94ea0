package lifecycle

import alcove "github.com/alcove-memory/alcove/sdk/go"

// ArchiveFact archives one memory.
//
// It leaves search and keeps its text: memory_archive_restore makes it active again.
//
//alcove:camel
//alcove:title Archive a memory
//alcove:description Archive one memory.
//alcove:tool idempotent
type ArchiveFact struct {
	FactID alcove.ID `alcove:"required"`
	Reason string
}

//alcove:camel
type archivedFact struct {
	FactID  alcove.ID
	Version uint64 `json:"version,omitzero" alcove:"committed"`
}

// Call archives it.
func (in ArchiveFact) Call(c *alcove.Call) (out archivedFact, err error) {
	m, err := c.Memory(in.FactID)
	if err != nil {
		return out, err
	}
	out.FactID = m.ID()
	if m.State == archived {
		out.Version = m.Version
		return out, nil
	}
	return out, put(c, m, archived, in.Reason)
}
