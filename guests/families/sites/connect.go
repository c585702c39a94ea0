package sites

import alcove "github.com/alcove-memory/alcove/sdk/go"

// SiteConnect connects a website that the operator set up.
//
// It publishes a tool for each action of the site, and four for its memory. What the site changed since it was connected first stays
// pending. warnings tell what of the site cannot be a tool.
//
//alcove:title Connect a website
//alcove:description Connect a website that the operator set up: its actions become tools.
//alcove:tool memory_site_connect idempotent open-world
type SiteConnect struct {
	Slug string `alcove:"required"`
}

type siteConnected struct {
	Slug     string
	Tools    []string
	Pending  []waiting `json:"pending,omitempty"`
	Warnings []string  `json:"warnings,omitempty"`
}

// Call connects it.
func (in SiteConnect) Call(c *alcove.Call, cfg Config) (out siteConnected, err error) {
	slug, err := known(c, in.Slug)
	if err != nil {
		return out, err
	}
	s, err := stateOf(c, slug)
	if err != nil {
		return out, err
	}
	offered, err := get(c, cfg, slug)
	if err != nil {
		return out, noted(c, slug, err)
	}
	k, err := readCatalogue(c, slug)
	if err != nil {
		return out, err
	}
	if err := publishMemoryTools(c, slug); err != nil {
		return out, err
	}
	k.pin(offered, s.ConnectedAt == 0, false)
	if err := k.publish(true); err != nil {
		return out, err
	}
	s.Status, s.Name, s.Version, s.Digest, s.LastError, s.ConnectedAt = connected, offered.name, offered.version, k.digest(), "", c.Time()
	if err := s.save(c, slug); err != nil {
		return out, err
	}
	out = siteConnected{Slug: slug, Tools: k.tools(), Warnings: offered.warnings}
	for _, e := range k.pending() {
		out.Pending = append(out.Pending, e.waiting())
	}
	for _, name := range k.names() {
		if e := k.entries[name]; e.Fault != "" {
			out.Warnings = append(out.Warnings, name+": "+e.Fault)
		}
	}
	return out, emit(c, "site_connected", changes{Site: slug, Tools: len(out.Tools)})
}
