package sites

import alcove "github.com/alcove-memory/alcove/sdk/go"

// States of a site.
const (
	available    = "available" // the operator set it up, and nobody connected it
	connected    = "connected"
	disconnected = "disconnected"
)

const (
	root    = "site/" // of namespaces, and of the names of endpoints
	keeper  = "ora"   // the agent that remembers a site for all
	theSite = "site"  // the key of the record
)

// site is the state of a site, in the namespace of its keeper.
type site struct {
	Status      string
	Name        string      `json:"name,omitzero"`    // as the site calls itself
	Version     string      `json:"version,omitzero"` // as the site says
	Digest      string      `json:"digest,omitzero"`  // of its pinned tools
	ConnectedAt alcove.Time `json:"connected_at,omitzero"`
	TriedAt     alcove.Time `json:"tried_at,omitzero"` // to synchronize
	SyncedAt    alcove.Time `json:"synced_at,omitzero"`
	Since       string      `json:"since,omitzero"` // the latest change that the site told of, by its clock
	LastError   string      `json:"last_error,omitzero"`
	Spawned     int         `json:"spawned,omitzero"` // how many agents there ever were: two that are spawned at once collide here
}

var sites = alcove.Records[site]{Name: "site", Per: "space"}

// home is the namespace of what is remembered about a site.
func home(slug string) string { return root + slug + "/" + keeper }

func endpoint(slug string) string { return root + slug }

// normal is the slug of a site, which may be given as its host.
func normal(slug string) string {
	out := []byte(slug)
	for i, b := range out {
		switch {
		case b == '.':
			out[i] = '-'
		case 'A' <= b && b <= 'Z':
			out[i] = b + 'a' - 'A'
		}
	}
	return string(out)
}

// isSlug reports whether a text can begin the names of tools.
func isSlug(text string) bool {
	for i := range len(text) {
		if b := text[i]; !('a' <= b && b <= 'z' || i > 0 && ('0' <= b && b <= '9' || b == '-')) {
			return false
		}
	}
	return text != "" && len(text) <= longestSlug
}

const longestSlug = 40

// configured are the slugs of the sites that the operator set up, in order.
func configured(c *alcove.Call) (slugs []string, err error) {
	me, err := c.CallerGet()
	if err != nil {
		return nil, err
	}
	for _, p := range me.Capabilities {
		if p.Name != "http" {
			continue
		}
		for _, name := range p.Scope {
			if slug, ok := after(name, root); ok && isSlug(slug) {
				slugs = append(slugs, slug)
			}
		}
	}
	sortTexts(slugs)
	return slugs, nil
}

// may reports whether the caller may read or write a namespace.
func may(c *alcove.Call, action, namespace string) (bool, error) {
	out, err := c.CallerCan(alcove.CallerCanRequest{Action: action, Namespace: namespace})
	return out.Allowed, err
}

// known is the slug of a site that the operator set up and the caller may read. To others, it does not exist.
func known(c *alcove.Call, given string) (slug string, err error) {
	slug = normal(given)
	if !isSlug(slug) {
		return "", alcove.Errorf(alcove.NotFound, "there is no site %q", plain(given, 100))
	}
	slugs, err := configured(c)
	if err != nil {
		return "", err
	}
	readable, err := may(c, "read", home(slug))
	if err != nil {
		return "", err
	}
	if !readable || !contains(slugs, slug) {
		return "", alcove.Errorf(alcove.NotFound, "there is no site %q: an operator can add one, with alcove site add", slug)
	}
	return slug, nil
}

// stateOf is the state of a site.
func stateOf(c *alcove.Call, slug string) (s site, err error) {
	s, ok, err := sites.In(home(slug)).Get(c, theSite)
	if !ok {
		s.Status = available
	}
	return s, err
}

func (s site) save(c *alcove.Call, slug string) error { return sites.In(home(slug)).Put(c, theSite, s) }

// noted has the status of a site show its failure, although what a failed call stages is dropped. What callers got wrong is none; nor is it
// noted where the state of the site changed meanwhile.
func noted(c *alcove.Call, slug string, failure error) error {
	switch alcove.CodeOf(failure) {
	case alcove.Denied, alcove.Exhausted, alcove.Unavailable, alcove.Timeout, alcove.Internal:
	default:
		return failure
	}
	s, version := site{Status: available}, uint64(0)
	found, err := c.RecordGet(alcove.RecordGetRequest{Collection: sites.Name, Namespace: home(slug), Keys: []string{theSite}})
	if err == nil && len(found.Records) == 1 && found.Records[0] != nil {
		var item alcove.Item[site]
		item, err = sites.Item(found.Records[0])
		s, version = item.Value, item.Version
	}
	if err == nil {
		s.LastError = plain(failure.Error(), longestMessage)
		err = sites.In(home(slug)).PutNow(c, theSite, s, version)
	}
	if err != nil {
		c.Log("the failure of the site %s is not in its status: %v", slug, err)
	}
	return failure
}

// connectedSite is the state of a connected site.
func connectedSite(c *alcove.Call, given string) (slug string, s site, err error) {
	if slug, err = known(c, given); err != nil {
		return slug, s, err
	}
	if s, err = stateOf(c, slug); err == nil && s.Status != connected {
		err = alcove.Errorf(alcove.InvalidArgument, "the site %s is not connected: call memory_site_connect", slug)
	}
	return slug, s, err
}

// event is the payload of events.
//
//alcove:camel
//alcove:json
type event struct {
	AgentID string
	ScopeID string
	Changes changes
}

//alcove:camel
type changes struct {
	Site       string   `json:"site"`
	Agent      string   `json:"agent,omitzero"`
	Tools      int      `json:"tools,omitzero"`
	Added      []string `json:"added,omitempty"`
	Changed    []string `json:"changed,omitempty"`
	Removed    []string `json:"removed,omitempty"`
	Uploaded   int      `json:"uploaded,omitzero"`
	Downloaded int      `json:"downloaded,omitzero"`
	Conflicts  int      `json:"conflicts,omitzero"`
	Extracted  int      `json:"extracted,omitzero"`
}

func emit(c *alcove.Call, kind string, what changes) error {
	at := home(what.Site)
	return c.FeedEmit(alcove.FeedEmitRequest{Kind: kind, Namespace: at, Payload: alcove.JSON(event{AgentID: c.Caller, ScopeID: at, Changes: what})})
}
