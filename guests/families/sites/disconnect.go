package sites

import (
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// SiteDisconnect withdraws the tools of a website.
//
// Its temporary agents end as failed. Memories stay (keep), are answered as lines of JSON in file as well (export), or are archived. What was
// pinned stays pinned: a site that is connected again cannot change its tools unseen.
//
//alcove:title Disconnect a website
//alcove:description Disconnect a website: its tools go.
//alcove:tool memory_site_disconnect idempotent destructive
type SiteDisconnect struct {
	Slug     string `alcove:"required"`
	Memories string `alcove:"enum=keep|export|archive,default=keep"`
}

type siteDisconnected struct {
	Removed []string
	File    string `json:"file,omitzero"` // Memories as lines of JSON.
}

// longestExport bounds an export, in bytes.
const longestExport = 1 << 20

// Call disconnects it.
func (in SiteDisconnect) Call(c *alcove.Call, cfg Config) (out siteDisconnected, err error) {
	slug, s, err := connectedSite(c, in.Slug)
	if err != nil {
		return out, err
	}
	k, err := readCatalogue(c, slug)
	if err != nil {
		return out, err
	}
	out.Removed = k.tools()
	for _, tool := range out.Removed {
		if err := withdraw(c, tool); err != nil {
			return out, err
		}
	}
	if err := endAll(c, cfg, slug); err != nil {
		return out, err
	}
	switch in.Memories {
	case "export":
		if out.File, err = export(c, slug); err != nil {
			return out, err
		}
	case "archive":
		if err := archive(c, home(slug), "the site was disconnected"); err != nil {
			return out, err
		}
	}
	s.Status = disconnected
	if err := s.save(c, slug); err != nil {
		return out, err
	}
	return out, emit(c, "site_disconnected", changes{Site: slug, Tools: len(out.Removed)})
}

// export is the memories of a site, one in a line.
func export(c *alcove.Call, slug string) (string, error) {
	var out []byte
	for m, err := range c.Memories(alcove.MemoryListRequest{Namespace: home(slug), Limit: page, Counters: true, Created: true}) {
		if err != nil {
			return "", err
		}
		if m.State != active {
			continue
		}
		w := &scan.Writer{}
		shownOf(m, 1).write(w)
		line, err := w.Bytes()
		if err != nil {
			return "", err
		}
		if out = append(append(out, line...), '\n'); len(out) > longestExport {
			return "", alcove.Errorf(alcove.Exhausted, "the memories of %s have more than %d bytes, which is the limit of an export in an answer: export the namespace %s with alcove export", slug, longestExport, home(slug))
		}
	}
	return string(out), nil
}

// archive archives all memories of a namespace. memory_archive_restore restores each.
func archive(c *alcove.Call, namespace, reason string) error {
	var patches []alcove.MemoryPatch
	for m, err := range c.Memories(alcove.MemoryListRequest{Namespace: namespace, Filter: &alcove.MemoryFilter{States: []string{active}}, Limit: page}) {
		if err != nil {
			return err
		}
		p, err := m.Edit(c).State(archived).Metadata("lifecycle", mark{At: c.Now, Reason: reason, By: c.Caller}).Patch()
		if err != nil {
			return err
		}
		patches = append(patches, p)
	}
	_, err := c.PatchMemories(patches)
	return err
}

// mark is what the family lifecycle notes of memories that it archives.
//
//alcove:json
type mark struct{ At, Reason, By string }

const (
	active   = "active"
	archived = "archived"
	page     = 1000
)
