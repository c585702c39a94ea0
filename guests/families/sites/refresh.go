package sites

import alcove "github.com/alcove-memory/alcove/sdk/go"

// SiteRefresh reads again what a website offers.
//
// Actions that it has no more lose their tools at once. Those that it added or changed are shown in pending, and callers keep the tools that
// they have. accept publishes what an earlier call, memory_site_status or the job showed as pending, if the site still offers just
// that; it needs the right site.admin.
//
//alcove:title Show changes of a website
//alcove:description Show what a website's actions changed; accept publishes it.
//alcove:tool memory_site_refresh idempotent open-world
type SiteRefresh struct {
	Slug   string `alcove:"required"`
	Accept bool
}

type siteRefreshed struct {
	Added    []string
	Changed  []string
	Removed  []string
	Pending  []waiting
	Warnings []string `json:"warnings,omitempty"`
}

// Call refreshes it.
func (in SiteRefresh) Call(c *alcove.Call, cfg Config) (out siteRefreshed, err error) {
	slug, s, err := connectedSite(c, in.Slug)
	if err != nil {
		return out, err
	}
	if in.Accept {
		admin, err := c.CallerCan(alcove.CallerCanRequest{Action: "site.admin"})
		if err != nil {
			return out, err
		}
		if !admin.Allowed {
			return out, alcove.Errorf(alcove.Denied, "accepting changes of a site needs the right site.admin, which this key lacks")
		}
	}
	d, warnings, k, err := refresh(c, cfg, slug, &s, in.Accept)
	if err != nil {
		return out, noted(c, slug, err)
	}
	s.LastError = ""
	out = siteRefreshed{Added: d.added, Changed: d.changed, Removed: d.removed, Warnings: warnings}
	for _, e := range k.pending() {
		out.Pending = append(out.Pending, e.waiting())
	}
	return out, s.save(c, slug)
}

// refresh compares a site with its catalogue, and publishes what it may.
func refresh(c *alcove.Call, cfg Config, slug string, s *site, accept bool) (d difference, warnings []string, k catalogue, err error) {
	offered, err := get(c, cfg, slug)
	if err != nil {
		return d, nil, k, err
	}
	if k, err = readCatalogue(c, slug); err != nil {
		return d, nil, k, err
	}
	d = k.pin(offered, false, accept)
	if err = k.publish(false); err != nil {
		return d, nil, k, err
	}
	s.Name, s.Version, s.Digest = offered.name, offered.version, k.digest()
	if d.news {
		err = emit(c, "site_schema_changed", changes{Site: slug, Added: d.added, Changed: d.changed, Removed: d.removed})
	}
	return d, offered.warnings, k, err
}
