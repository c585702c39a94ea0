package lifecycle

import alcove "github.com/alcove-memory/alcove/sdk/go"

// ArchiveRestore makes an archived memory active again.
//
// Pruned ones, too. It does not expire any more, and is not forgotten for 30 days.
//
//alcove:title Restore a memory
//alcove:description Make an archived or pruned memory active again.
//alcove:tool idempotent
type ArchiveRestore struct {
	ID alcove.ID `alcove:"required,alias=factId"`
}

type restored struct {
	ID      alcove.ID
	Version uint64 `json:"version,omitzero" alcove:"committed"`
}

// Call restores it.
func (in ArchiveRestore) Call(c *alcove.Call) (out restored, err error) {
	m, err := c.Memory(in.ID)
	if err != nil {
		return out, err
	}
	out.ID = m.ID()
	switch m.State {
	case active:
		out.Version = m.Version
		return out, nil
	case merged:
		return out, alcove.Errorf(alcove.InvalidArgument, "%s was merged into %s, which stands for it", m.ID().String(), note(m).MergedInto.String())
	}
	if err := m.Edit(c).State(active).Clear("expires_at").Metadata(noted, mark{RestoredAt: c.Now}).Metadata(expiredAt, nil).Apply(); err != nil {
		return out, err
	}
	return out, emit(c, "fact_restored", m.ID(), changes{State: active})
}
