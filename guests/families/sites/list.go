package sites

import alcove "github.com/alcove-memory/alcove/sdk/go"

// SiteList lists the websites.
//
// Those that an operator set up and that the caller may read, connected or not.
//
//alcove:title List connected websites
//alcove:description Connected websites.
//alcove:tool memory_site_list read-only
//alcove:alias ora.site.list
type SiteList struct{}

type siteList struct{ Sites []listed }

type listed struct {
	Slug       string
	Status     string
	Name       string `json:"name,omitzero"`
	LastSyncAt string `json:"last_sync_at,omitzero"`
}

// Call lists them.
func (in SiteList) Call(c *alcove.Call) (out siteList, err error) {
	slugs, err := configured(c)
	if err != nil {
		return out, err
	}
	for _, slug := range slugs {
		readable, err := may(c, "read", home(slug))
		if err != nil {
			return out, err
		}
		if !readable {
			continue
		}
		s, err := stateOf(c, slug)
		if err != nil {
			return out, err
		}
		out.Sites = append(out.Sites, listed{slug, s.Status, s.Name, instant(s.SyncedAt)})
	}
	return out, nil
}

func instant(t alcove.Time) string {
	if t == 0 {
		return ""
	}
	return t.String()
}
