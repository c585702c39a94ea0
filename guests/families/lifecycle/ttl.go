package lifecycle

import (
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// The metadata that say how long a memory is kept, and when it expired.
const (
	tiered    = "tier"
	expiredAt = "expired_at"
)

// tier is how long a memory is kept: it expires after its life, and an access keeps it for at least extend longer.
type tier struct {
	name   string
	life   alcove.Duration // 0: without end
	extend alcove.Duration
}

const (
	short = "short"
	mid   = "mid"
	long  = "long"
)

// tiers are all there are.
func tiers() []tier {
	return []tier{{short, 6 * alcove.Hour, alcove.Hour}, {mid, 7 * alcove.Day, alcove.Day}, {long, 0, 0}}
}

// tierOf is the tier of a memory; one without a name for none.
func tierOf(m *alcove.Memory) tier {
	if raw := m.Metadata[tiered]; len(raw) > 0 {
		s := scan.New(raw)
		name := s.String()
		for _, t := range tiers() {
			if s.End() == nil && t.name == name {
				return t
			}
		}
	}
	return tier{}
}

// SetTTL gives memories a lifetime.
//
// A memory of tier short expires after 6 hours, of mid after 7 days, of long never. An access keeps a short one for an hour more, a mid one for
// a day; after promote_after_accesses accesses a mid one becomes long. Instead of a tier, expires_at gives the time. What has expired is
// archived, not deleted.
//
//alcove:title Give memories a lifetime
//alcove:description Give memories a lifetime: a tier (6 hours, 7 days, no end) or a time at which they expire.
//alcove:tool idempotent
type SetTTL struct {
	IDs       []alcove.ID `alcove:"required,many,alias=id"`
	Tier      string      `alcove:"enum=short|mid|long"`
	ExpiresAt string      `alcove:"alias=expires"`
}

type updated struct{ Updated int }

// Call sets the lifetimes.
func (in SetTTL) Call(c *alcove.Call) (out updated, err error) {
	if (in.Tier == "") == (in.ExpiresAt == "") {
		return out, alcove.Errorf(alcove.InvalidArgument, "give either tier or expires_at")
	}
	for _, id := range in.IDs {
		m, err := c.Memory(id)
		if err != nil {
			return out, err
		}
		if err := in.edit(c, m).Apply(); err != nil {
			return out, err
		}
		out.Updated++
	}
	return out, nil
}

func (in SetTTL) edit(c *alcove.Call, m *alcove.Memory) *alcove.Edit {
	e := m.Edit(c)
	if in.ExpiresAt != "" {
		return e.Expires(alcove.Some(in.ExpiresAt)).Metadata(tiered, nil)
	}
	for _, t := range tiers() {
		if t.name == in.Tier && t.life > 0 {
			return e.Expires(alcove.Some(c.Time().Add(t.life).String())).Metadata(tiered, t.name)
		}
	}
	return e.Clear("expires_at").Metadata(tiered, in.Tier)
}
